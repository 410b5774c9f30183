"""ConstrainedLogitsProcessor with tiny randomly initialised models: every text that generate returns is a member."""

from __future__ import annotations

import copy
import random
import string

import numpy as np
import pytest
import torch
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton
from tokamata.decode.transformers import ConstrainedLogitsProcessor, apply_masks
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

import tokamata

LETTERS = [c.encode() for c in string.ascii_lowercase + string.digits + "-"]
TOKENS: list[bytes | None] = [None, None, None, *LETTERS, b"ab", b"abc", b"12", b"no", b"yes", b"", b"ab"]
PAD, EOS, EOS2 = 0, 1, 2


@pytest.fixture(scope="module")
def vocabulary() -> tokamata.Vocabulary:
    return tokamata.Vocabulary(TOKENS, eos_token_ids=[EOS])


DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
DEVICE = DEVICES[-1]  # of the models


def model_of(kind: str, width: int, eos: int | list[int] = EOS, seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    common = {"vocab_size": width, "bos_token_id": None, "eos_token_id": eos, "pad_token_id": PAD}
    if kind == "gpt2":
        config = GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=128, **common)
        model: torch.nn.Module = GPT2LMHeadModel(config)
    else:
        config = LlamaConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            **common,
        )
        model = LlamaForCausalLM(config)
    return model.eval().to(DEVICE)


def text_of(ids: torch.Tensor, eos: tuple[int, ...] = (EOS,)) -> tuple[bytes, bool]:
    text = b""
    for token in ids.tolist():
        if token in eos:
            return text, True
        text += TOKENS[token] or b""
    return text, False


def prompts(rows: int, columns: int = 5) -> torch.Tensor:
    ids = [[random.Random(r).randrange(3, 30) for _ in range(columns)] for r in range(rows)]
    return torch.tensor(ids, device=DEVICE)


def allowed_after(automaton: tokamata.TokenAutomaton, written: list[int]) -> set[int]:
    state = automaton.start()
    for token in written:
        if not state.is_finished:
            state.advance(token)
    return {EOS} if state.is_finished else {t for t in range(len(TOKENS)) if state.allows(t)}


NAMES = tokamata.choice(["yes", "no", "never", "always"])
WORDS = (
    tokamata.choice(["ab", "abc", "x"]).repeat(2, 4)
    + tokamata.literal("-")
    + tokamata.choice(list("0123456789")).repeat(1, 3)
)
CASES = {
    "greedy": {"do_sample": False},
    "sampled": {"do_sample": True, "temperature": 1.5, "top_k": 0},
    "top-p": {"do_sample": True, "top_p": 0.3, "top_k": 3},
    "beams": {"num_beams": 4, "num_return_sequences": 3, "do_sample": False},
    "sampled beams": {"num_beams": 3, "do_sample": True, "top_k": 0},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_generated_texts_are_members(kind: str, case: str, vocabulary: tokamata.Vocabulary) -> None:
    model = model_of(kind, len(TOKENS))
    inputs = prompts(3)
    processor = ConstrainedLogitsProcessor(tokamata.compile(WORDS, vocabulary), inputs.shape[1])
    for seed in range(3):  # one processor, several calls
        torch.manual_seed(seed)
        out = model.generate(inputs, logits_processor=[processor], max_new_tokens=24, **CASES[case])
        assert out.shape[0] == 3 * CASES[case].get("num_return_sequences", 1)
        for row in out:
            text, ended = text_of(row[inputs.shape[1] :])
            assert ended, (seed, text)
            assert WORDS.accepts(text), (seed, text)


@pytest.mark.parametrize("case", CASES)
def test_with_a_budget_every_row_ends(case: str, vocabulary: tokamata.Vocabulary) -> None:
    endless = tokamata.regex("(ab|abc|x)*-[0-9]+")
    model = model_of("llama", len(TOKENS), seed=3)
    inputs = prompts(3)
    automaton = tokamata.compile(endless, vocabulary)
    ended = 0
    for max_tokens in (3, 4, 9):
        processor = ConstrainedLogitsProcessor(automaton, inputs.shape[1], max_tokens=max_tokens)
        torch.manual_seed(max_tokens)
        out = model.generate(inputs, logits_processor=[processor], max_new_tokens=max_tokens, **CASES[case])
        for row in out:
            text, end = text_of(row[inputs.shape[1] :])
            if "beams" in case and not end:
                continue  # beams that leave the constraint have score -inf and fill up the list
            ended += 1
            assert end, text
            assert endless.accepts(text), text
    assert ended >= 9
    with pytest.raises(tokamata.BudgetError, match="pass max_tokens=3 or more"):
        ConstrainedLogitsProcessor(automaton, max_tokens=2)


def test_greedy_follows_the_largest_allowed_logit(vocabulary: tokamata.Vocabulary) -> None:
    model = model_of("llama", len(TOKENS))
    inputs = prompts(2)
    automaton = tokamata.compile(WORDS, vocabulary)
    out = model.generate(
        inputs, logits_processor=[ConstrainedLogitsProcessor(automaton, 5)], max_new_tokens=24, do_sample=False
    )
    for prompt, row in zip(inputs, out, strict=True):
        state, ids = automaton.start(), prompt[None]
        while not state.is_finished:
            with torch.no_grad():
                logits = model(ids).logits[0, -1]
            allowed = [t for t in range(len(TOKENS)) if state.allows(t)]
            best = max(allowed, key=lambda t: float(logits[t]))
            state.advance(best)
            ids = torch.cat([ids, torch.tensor([[best]], device=DEVICE)], 1)
        assert row[: ids.shape[1]].tolist() == ids[0].tolist()
        assert set(row[ids.shape[1] :].tolist()) <= {PAD}


def test_fewer_members_than_beams(vocabulary: tokamata.Vocabulary) -> None:
    two = tokamata.choice(["no", "yes"])
    model = model_of("llama", len(TOKENS))
    inputs = prompts(2)
    processor = ConstrainedLogitsProcessor(tokamata.compile(two, vocabulary), 5)
    out = model.generate(
        inputs, logits_processor=[processor], max_new_tokens=10, num_beams=6, num_return_sequences=2, do_sample=False
    )
    assert {text_of(row[5:]) for row in out} <= {(b"no", True), (b"yes", True)}


def test_several_end_tokens_and_padded_logits() -> None:
    vocabulary = tokamata.Vocabulary(TOKENS, eos_token_ids=[EOS, EOS2])
    model = model_of("llama", len(TOKENS) + 13, eos=[EOS, EOS2])
    inputs = prompts(8)
    processor = ConstrainedLogitsProcessor(tokamata.compile(NAMES, vocabulary), 5)
    torch.manual_seed(1)
    out = model.generate(inputs, logits_processor=[processor], max_new_tokens=12, do_sample=True, top_k=0)
    ends = set()
    for row in out:
        text, ended = text_of(row[5:], (EOS, EOS2))
        assert ended
        assert NAMES.accepts(text)
        ends |= {t for t in row[5:].tolist() if t in (EOS, EOS2)}
    assert ends == {EOS, EOS2}


def test_left_padded_prompts(vocabulary: tokamata.Vocabulary) -> None:
    model = model_of("llama", len(TOKENS))
    inputs = prompts(3)
    attention = torch.ones_like(inputs)
    for row, padding in enumerate((0, 2, 4)):
        inputs[row, :padding], attention[row, :padding] = PAD, 0
    processor = ConstrainedLogitsProcessor(tokamata.compile(NAMES, vocabulary), [5, 5, 5])
    out = model.generate(
        inputs, attention_mask=attention, logits_processor=[processor], max_new_tokens=12, do_sample=False, num_beams=2
    )
    assert all(NAMES.accepts(text_of(row[5:])[0]) for row in out)


def test_no_prompt_length_means_the_width_of_each_first_call(vocabulary: tokamata.Vocabulary) -> None:
    model = model_of("llama", len(TOKENS))
    processor = ConstrainedLogitsProcessor(tokamata.compile(NAMES, vocabulary))
    for columns in (5, 3, 9, 9, 4):
        inputs = prompts(2, columns)
        out = model.generate(inputs, logits_processor=[processor], max_new_tokens=12, do_sample=False)
        assert all(NAMES.accepts(text_of(row[columns:])[0]) for row in out)


def test_rows_may_be_reordered_dropped_and_repeated(vocabulary: tokamata.Vocabulary) -> None:
    automaton = tokamata.compile(WORDS, vocabulary)
    processor = ConstrainedLogitsProcessor(automaton, 1)
    rng = random.Random(5)
    rows = [[7]] * 4
    for _ in range(8):
        out = processor(torch.tensor(rows), torch.zeros(len(rows), len(TOKENS)))
        following = []
        for row, scores in zip(rows, out, strict=True):
            expected = allowed_after(automaton, row[1:])
            assert set(torch.isfinite(scores).nonzero()[:, 0].tolist()) == expected
            following.append([*row, rng.choice(sorted(expected))])
        rows = [rng.choice(following) for _ in range(rng.randint(2, 5))]


@pytest.mark.parametrize("device", DEVICES)
def test_many_rows_and_a_copy(vocabulary: tokamata.Vocabulary, device: str) -> None:
    """Threads fill the masks; rows that are the same share one state; the next call has fewer rows, then more."""
    automaton, rng = tokamata.compile(NAMES, vocabulary), random.Random(2)
    processor = ConstrainedLogitsProcessor(automaton, 1)
    rows: list[list[int]] = [[5]] * 48
    for count in (48, 20, 48, 33, 9, 1):
        scores = processor(torch.tensor(rows, device=device), torch.zeros(len(rows), len(TOKENS), device=device))
        kept = torch.isfinite(scores).cpu()
        following = []
        for row, allows in zip(rows, kept, strict=True):
            expected = allowed_after(automaton, row[1:])
            assert set(allows.nonzero()[:, 0].tolist()) == expected
            following.append([*row, rng.choice(sorted(expected - {EOS} or expected))])
        processor = copy.deepcopy(processor)
        rows = [rng.choice(following) for _ in range(count)]


@pytest.mark.parametrize("told", [False, True])
def test_prompts_that_differ_and_memory_that_is_used_again(vocabulary: tokamata.Vocabulary, told: bool) -> None:
    """What a row has written decides, not its prompt; rows change places in the memory that the last call saw."""
    automaton, rng = tokamata.compile(WORDS, vocabulary), random.Random(8)
    processor, rows = ConstrainedLogitsProcessor(automaton), 6
    memory = torch.zeros(rows, 20, dtype=torch.int64, device=DEVICE)
    for trial, columns in enumerate((2, 1, 3, 4, 4, 2)):
        if told:
            processor = ConstrainedLogitsProcessor(automaton, columns)
        ids = memory[:, : columns + 8]
        for row in range(rows):
            ids[row, :columns] = 3 + 4 * trial + row % 4
        for width in range(columns, columns + 8):
            out = processor(ids[:, :width], torch.zeros(rows, len(TOKENS), device=DEVICE)).cpu()
            for row in range(rows):
                expected = allowed_after(automaton, ids[row, columns:width].tolist())
                assert set(torch.isfinite(out[row]).nonzero()[:, 0].tolist()) == expected, (trial, width, row)
                ids[row, width] = rng.choice(sorted(expected))
            ids[:] = ids[rng.sample(range(rows), rows)]
            if rng.random() < 0.3:
                ids[0, columns if told else 0 :] = ids[1, columns if told else 0 :]


def test_a_batch_that_goes_on_in_some_rows_alone_is_a_new_one(vocabulary: tokamata.Vocabulary) -> None:
    processor = ConstrainedLogitsProcessor(tokamata.compile(WORDS, vocabulary))
    a, scores = TOKENS.index(b"a"), torch.zeros(2, len(TOKENS))
    first = processor(torch.tensor([[7], [8]]), scores)
    assert not torch.equal(processor(torch.tensor([[8, a], [7, a]]), scores), first)
    assert torch.equal(processor(torch.tensor([[7, a, a], [9, a, a]]), scores), first)
    goes_on = torch.tensor([[9, a, a, a], [7, a, a, a]], dtype=torch.int32)  # of another type
    assert not torch.equal(processor(goes_on, scores), first)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("size", "width"), [(1, 1), (31, 40), (64, 64), (65, 65), (1000, 1003)])
@pytest.mark.parametrize("device", DEVICES)
def test_apply_masks(dtype: torch.dtype, size: int, width: int, device: str) -> None:
    rng = np.random.default_rng(size)
    bits = rng.integers(0, 2, (3, size)).astype(bool)
    packed = np.packbits(np.pad(bits, ((0, 0), (0, -size % 32))), axis=1, bitorder="little").view(np.int32)
    scores = torch.randn(3, width, device=device).to(dtype)
    before = scores.clone()
    out = apply_masks(scores, packed, size)
    assert out.dtype == dtype
    assert torch.equal(scores, before)
    kept = torch.from_numpy(np.pad(bits, ((0, 0), (0, width - size)))).to(device)
    assert torch.equal(out[kept], scores[kept])
    assert torch.isneginf(out[~kept]).all()


def test_misuse_is_told(vocabulary: tokamata.Vocabulary) -> None:
    automaton = tokamata.compile(NAMES, vocabulary)
    with pytest.raises(TypeError, match=r"expected a TokenAutomaton, got Constraint; make one with tokamata\.compile"):
        ConstrainedLogitsProcessor(NAMES, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="prompt_length must be a number of columns"):
        ConstrainedLogitsProcessor(automaton, "5")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="prompt_length must be a number of columns"):
        ConstrainedLogitsProcessor(automaton, -1)
    scores = torch.zeros(1, len(TOKENS))
    with pytest.raises(ValueError, match=r"logits are 3 wide, the vocabulary has \d+ tokens; build it with"):
        ConstrainedLogitsProcessor(automaton, 1)(torch.tensor([[7]]), scores[:, :3])
    with pytest.raises(ValueError, match=r"expected input_ids \[rows, columns\]"):
        ConstrainedLogitsProcessor(automaton, 1)(torch.tensor([7]), scores)
    with pytest.raises(ValueError, match="prompt_length is 4, input_ids has 1 columns"):
        ConstrainedLogitsProcessor(automaton, 4)(torch.tensor([[7]]), scores)
    with pytest.raises(ValueError, match="prompt_length has 2 entries, input_ids 1 rows"):
        ConstrainedLogitsProcessor(automaton, [1, 1])(torch.tensor([[7]]), scores)
    with pytest.raises(
        tokamata.ConstraintError, match="token 30 in column 1 is not allowed after a prompt of 1 columns"
    ):
        ConstrainedLogitsProcessor(automaton, 1)(torch.tensor([[7, 30]]), scores)


def test_a_row_that_left_the_constraint_may_only_end(vocabulary: tokamata.Vocabulary) -> None:
    # Beam search keeps such rows, with score -inf, when there are fewer members than beams.
    processor = ConstrainedLogitsProcessor(tokamata.compile(NAMES, vocabulary), 1)
    scores = torch.zeros(1, len(TOKENS))
    processor(torch.tensor([[7]]), scores)
    for row in ([7, 30], [7, 30, EOS]):
        out = processor(torch.tensor([row]), scores)
        assert torch.isfinite(out).nonzero()[:, 1].tolist() == [EOS]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_assisted_generation_writes_what_the_model_alone_does(kind: str, vocabulary: tokamata.Vocabulary) -> None:
    model, assistant = model_of(kind, len(TOKENS)), model_of("llama", len(TOKENS), seed=5)
    automaton = tokamata.compile(WORDS, vocabulary)
    for row in prompts(2).split(1):
        written = [
            model.generate(
                row,
                max_new_tokens=20,
                do_sample=False,
                logits_processor=[ConstrainedLogitsProcessor(automaton, row.shape[1])],
                **more,
            )[0, row.shape[1] :]
            for more in ({}, {"assistant_model": assistant})
        ]
        assert written[0].tolist() == written[1].tolist()
        text, ended = text_of(written[1])
        assert ended
        assert WORDS.accepts(text)


def test_places_that_callbacks_fill_in() -> None:
    tokens = tokamata.Vocabulary([None, None, None, *(bytes([b]) for b in range(256))], eos_token_ids=[EOS])
    made = tokamata.regex("[ab]{1,3}") + "-" + tokamata.dynamic(lambda text: text[:-1][::-1]) + "!"
    processor = ConstrainedLogitsProcessor(tokamata.compile(made, tokens), prompt_length=5)
    model = model_of("llama", 259)
    ids = model.generate(
        prompts(2), max_new_tokens=10, num_beams=2, do_sample=False, logits_processor=[processor], pad_token_id=PAD
    )
    for row in ids[:, 5:].tolist():
        text = bytes(t - 3 for t in row if t > 2).decode()
        first, _, second = text.partition("-")
        assert second == first[::-1] + "!"
        assert row[len(text)] == EOS


@pytest.mark.parametrize("case", ["greedy", "sampled", "beams"])
def test_only_the_tokens_that_the_tokenizer_writes(case: str) -> None:
    tokens = tokamata.Vocabulary([None, None, b"a", b"b", b"ab"], eos_token_ids=[EOS])
    made = tokamata.compile(tokamata.regex("(ab|b){6}"), tokens)
    automaton = CanonicalAutomaton(made, BytePairs(5, [(2, 3, 4)], [2, 3]))
    assert automaton.vocabulary is tokens
    ids = model_of("llama", 5).generate(
        torch.tensor([[2, 2], [3, 4]], device=DEVICE),
        max_new_tokens=12,
        logits_processor=[ConstrainedLogitsProcessor(automaton, 2)],
        **CASES[case],
    )
    for row in ids[:, 2:].tolist():
        assert set(row) <= {PAD, EOS, 3, 4}  # never a, which merges with the b behind it
        assert row.index(EOS) == 6
    with pytest.raises(tokamata.UnsupportedError, match="start: a canonical automaton keeps no budget"):
        ConstrainedLogitsProcessor(automaton, 2, max_tokens=12)
