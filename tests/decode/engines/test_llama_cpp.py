"""The logits processor for llama-cpp-python in its loop: called with all tokens so far and the next one's scores.

And in the package itself, where it is installed (`make llama`), with a made-up model of one layer.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from tokamata.decode.engines.llama_cpp import LogitsProcessor

import tokamata

TOKENS: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), b"ab", b"12", None]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[0])


def complete(processor: LogitsProcessor, prompt: list[int], rng: np.random.Generator, most: int = 50) -> bytes:
    """Write a text as Llama.generate does, with random scores, EOS included among the tokens that are asked for."""
    ids = list(prompt)
    for _ in range(most):
        scores = rng.normal(size=len(TOKENS) + 5).astype(np.single)
        ids.append(int(np.argmax(processor(np.array(ids, np.intc), scores))))
        if ids[-1] == 0:
            return b"".join(TOKENS[t] or b"" for t in ids[len(prompt) : -1])
    raise AssertionError("no end")


def test_completions_one_after_another_are_members() -> None:
    seed = 20261121
    rng = np.random.default_rng(seed)
    constraint = tokamata.regex("(ab|a|b|12){1,9}")
    processor = LogitsProcessor(tokamata.compile(constraint, VOCABULARY))
    written = set()
    for turn in range(60):
        text = complete(processor, [5, 6, 7][: 1 + turn % 3], rng)
        assert constraint.accepts(text), (seed, text)
        written.add(text)
    assert len(written) > 20


def test_a_prompt_that_begins_with_the_last_text() -> None:
    processor = LogitsProcessor(tokamata.compile(tokamata.regex("ab[xy]"), VOCABULARY))
    scores = np.zeros(len(TOKENS), np.single)
    processor(np.array([9], np.intc), scores.copy())
    after = processor(np.array([9, 257], np.intc), scores.copy())  # "ab": one step of the text
    assert np.flatnonzero(after == 0).tolist() == [1 + ord("x"), 1 + ord("y")]
    longer = processor(np.array([9, 257, 9, 9], np.intc), scores.copy())  # not allowed: the prompt of another text
    assert np.flatnonzero(longer == 0).tolist() == [1 + ord("a"), 257]


def test_turns_of_a_chat() -> None:
    """The next prompt begins with the last one, its answer and EOS."""
    rng = np.random.default_rng(20261125)
    constraint = tokamata.regex("(a|b){3}")
    processor = LogitsProcessor(tokamata.compile(constraint, VOCABULARY))
    prompt = [5, 6]
    for _ in range(20):
        text = complete(processor, prompt, rng)
        assert constraint.accepts(text)
        prompt += [*(1 + b for b in text), 0, *rng.integers(1, 257, int(rng.integers(1, 4))).tolist()]


def test_a_budget_is_kept() -> None:
    constraint = tokamata.regex("(a|b|12)*x")
    processor = LogitsProcessor(tokamata.compile(constraint, VOCABULARY), max_tokens=6)
    for seed in range(20):
        text = complete(processor, [5], np.random.default_rng(seed), 6)
        assert constraint.accepts(text)
    with pytest.raises(tokamata.BudgetError, match="2"):
        LogitsProcessor(tokamata.compile(constraint, VOCABULARY), max_tokens=1)


@pytest.mark.parametrize("call", ["advance", "fill_mask"])
def test_a_limit_ends_the_text(call: str) -> None:
    """The package calls from C: an error is printed, and a token is drawn from the scores as they are then."""
    processor = LogitsProcessor(tokamata.compile(tokamata.regex("ab[xy]"), VOCABULARY))
    scores = np.zeros(len(TOKENS), np.single)
    processor(np.array([9], np.intc), scores.copy())
    full = Mock(side_effect=tokamata.LimitError("full"))
    processor._state = SimpleNamespace(**{"is_finished": False, "advance": Mock(), "fill_mask": Mock(), call: full})
    after = scores.copy()
    with pytest.raises(tokamata.LimitError):
        processor(np.array([9, 1 + ord("a")], np.intc), after)
    assert np.flatnonzero(after == 0).tolist() == [0]
    assert isinstance(processor.error, tokamata.LimitError)
    after = processor(np.array([9, 1 + ord("a"), 0], np.intc), scores.copy())
    assert np.flatnonzero(after == 0).tolist() == [0]
    after = processor(np.array([9], np.intc), scores.copy())  # another text
    assert np.flatnonzero(after == 0).tolist() == [1 + ord("a"), 257]
    assert processor.error is None


def test_drafts_are_among_the_tokens_of_a_call() -> None:
    """As Llama.generate does with a draft_model: all tokens that the model has seen, drafts too, at each position."""
    rng = np.random.default_rng(7)
    constraint = tokamata.regex("(ab|a|b|12){3,9}x")
    automaton = tokamata.compile(constraint, VOCABULARY)
    kept = 0
    for turn in range(60):
        processor = LogitsProcessor(automaton, drafts=True)
        prompt = rng.integers(1, 257, int(rng.integers(1, 4))).tolist()
        ids, at = list(prompt), len(prompt)
        while True:
            scores = rng.normal(size=len(TOKENS)).astype(np.single)
            token = int(np.argmax(processor(np.array(ids, np.intc), scores)))
            kept += at < len(ids) and ids[at] == token
            if token == 0:
                break
            if at >= len(ids) or ids[at] != token:  # the drafts behind are given up, new ones are made
                ids = [
                    *ids[:at],
                    token,
                    *rng.choice([1 + ord("a"), 1 + ord("b"), 257], int(rng.integers(0, 4))).tolist(),
                ]
            at += 1
        assert constraint.accepts(b"".join(TOKENS[t] or b"" for t in ids[len(prompt) : at])), turn
    assert kept > 20


def test_scores_that_are_too_few() -> None:
    processor = LogitsProcessor(tokamata.compile(tokamata.literal("a"), VOCABULARY))
    scores = np.zeros(3, np.single)
    with pytest.raises(ValueError, match="3 scores for a vocabulary of 260 tokens"):
        processor(np.array([1], np.intc), scores)
    assert np.flatnonzero(scores == 0).tolist() == [0]  # the text ends, where the error is not heard


def write_model(path: Path, seed: int) -> None:
    """One layer of random weights over single bytes, "ab" and "12"."""
    import gguf

    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    letters = {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}
    names = [letters[b] for b in range(256)] + ["<end>", "ab", "12"]
    rng = np.random.default_rng(seed)
    width = inner = 32
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(256)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // 2)
    writer.add_vocab_size(len(names))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(names)
    writer.add_token_merges(["a b", "1 2"])
    writer.add_token_types([1] * 256 + [3, 1, 1])
    writer.add_eos_token_id(256)
    writer.add_bos_token_id(256)
    shapes = {"token_embd": (len(names), width), "output": (len(names), width), "output_norm": (width,)}
    shapes |= {f"blk.0.attn_{part}": (width, width) for part in ("q", "k", "v", "output")}
    shapes |= {f"blk.0.ffn_{part}": (inner, width) for part in ("gate", "up", "down")}
    shapes |= {"blk.0.attn_norm": (width,), "blk.0.ffn_norm": (width,)}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", rng.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_the_package_itself(tmp_path: Path) -> None:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed; make llama compiles it")
    path = tmp_path / "model.gguf"
    write_model(path, 3)
    model = llama_cpp.Llama(str(path), n_ctx=256, verbose=False)
    constraint = tokamata.regex(r'\{"name": "[a-z]{2,9}", "born": (12)?[0-9]{2}\}( |\n){0,3}')
    processor = LogitsProcessor(tokamata.compile(constraint, tokamata.Vocabulary.from_file(path)))
    allowed = llama_cpp.LogitsProcessorList([processor])
    written, free = set(), set()
    for seed in range(12):
        asked = {"max_tokens": 80, "temperature": 1.0, "seed": seed}
        free.add(model.create_completion("hello", **asked)["choices"][0]["text"])
        (choice,) = model.create_completion("hello", logits_processor=allowed, **asked)["choices"]
        assert choice["finish_reason"] == "stop"
        assert constraint.accepts(choice["text"]), (seed, choice)
        written.add(choice["text"])
        pieces = model.create_completion("hello", logits_processor=allowed, stream=True, **asked)
        assert "".join(piece["choices"][0]["text"] for piece in pieces) == choice["text"], seed
    assert len(written) > 2
    assert not any(constraint.accepts(text) for text in free)
