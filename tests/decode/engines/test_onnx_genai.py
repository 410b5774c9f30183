"""The generator for ONNX Runtime GenAI against a stand-in for Generator of onnxruntime-genai 0.18, and the real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokamata.decode.engines.onnx_genai import ConstrainedGenerator

import tokamata

TOKENS: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), b"ab", b"12", None]
EOS, PAD, WIDTH = 0, 259, 264
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[EOS])
PATTERN = "(ab|a|b|12){1,9}"


class Generator:
    """What the loop of onnxruntime-genai 0.18 uses: random logits, the likeliest token, padding behind EOS.

    EOS that ends the whole batch is not appended. After `rewind_to` the token behind the new end comes again, unless
    others are appended; several rows go back to the beginning only.
    """

    def __init__(self, rows: int, seed: int, most: int = 40) -> None:
        self.random = np.random.default_rng(seed)
        self.rows, self.most = rows, most
        self.tokens = np.zeros((rows, 0), np.int32)
        self.ended = np.zeros(rows, bool)
        self.logits: NDArray[np.float32] | None = None
        self.next = np.zeros(rows, np.int32)
        self.behind: NDArray[np.int32] | None = None
        self.computed = 0  # columns that the model has seen

    def append_tokens(self, tokens: Any) -> None:
        if self.rows > 1 and self.tokens.shape[1]:
            raise RuntimeError("AppendTokens can only be called once for batch_size > 1")
        self.behind, self.logits = None, None
        self.tokens = np.concatenate([self.tokens, np.array(tokens, np.int32).reshape(self.rows, -1)], 1)
        self.computed = self.tokens.shape[1]

    def is_done(self) -> bool:
        return bool(self.ended.all()) or self.tokens.shape[1] >= self.most

    def get_logits(self) -> NDArray[np.float32]:
        if self.behind is not None:
            self.tokens = np.concatenate([self.tokens, self.behind], 1)
            self.behind = None
        if self.logits is None:
            self.logits = self.random.normal(size=(self.rows, 1, WIDTH)).astype(np.float32)
        self.computed = self.tokens.shape[1]
        return self.logits.copy()

    def set_logits(self, logits: NDArray[np.float32]) -> None:
        assert logits.dtype == np.float32
        assert logits.shape == (self.rows, 1, WIDTH)
        assert logits.flags.c_contiguous
        self.logits = logits.copy()

    def generate_next_token(self) -> None:
        self.next = self.get_logits()[:, 0].argmax(1).astype(np.int32)
        self.next[self.ended] = PAD
        self.ended |= self.next == EOS
        if not self.ended.all():
            self.tokens = np.concatenate([self.tokens, self.next[:, None]], 1)
        self.logits = None

    def get_next_tokens(self) -> NDArray[np.int32]:
        return self.next

    def token_count(self) -> int:
        return self.tokens.shape[1]

    def get_sequence(self, row: int) -> NDArray[np.int32]:
        return self.tokens[row]

    def rewind_to(self, length: int) -> None:
        if length == self.tokens.shape[1]:
            return
        if self.rows > 1 and length:
            raise RuntimeError("RewindToLength must be called with new_length=0 when batch_size > 1")
        if length >= self.computed:
            raise RuntimeError("Requested length of rewind is greater than the current length.")
        self.behind = self.tokens[:, length : length + 1] if length else None
        self.tokens, self.computed, self.logits = self.tokens[:, :length], length, None
        self.ended[:] = False


def text(row: NDArray[np.int32], prompt: int) -> bytes:
    """What was written before EOS, which a sequence lacks where it ends the whole batch."""
    ids = [*row[prompt:].tolist(), EOS]
    return b"".join(TOKENS[t] or b"" for t in ids[: ids.index(EOS)])


def test_rows_with_constraints_of_their_own() -> None:
    patterns = [PATTERN, "[0-9]{3}x", "a{5,7}"]
    automata = [tokamata.compile(tokamata.regex(p), VOCABULARY) for p in patterns]
    free = set()
    for seed in range(20):
        inner = Generator(4, seed)
        generator = ConstrainedGenerator(inner, [*(a.start() for a in automata), None], threads=2)
        generator.append_tokens([7, 8, 9, 7, 8, 9, 7, 8, 9, 7, 8, 9])
        while not generator.is_done():
            generator.generate_next_token()
        assert generator.batch.finished.tolist() == [True] * 3 + [False]
        for row, pattern in enumerate(patterns):
            assert tokamata.regex(pattern).accepts(text(inner.tokens[row], 3)), seed
        assert not generator.batch.errors
        free |= set(inner.tokens[3, 3:].tolist())
    assert max(free) > PAD  # a row without a constraint has all logits, padding included


def goes_back(inner: Any, automaton: tokamata.TokenAutomaton, seed: int, steps: int) -> int:
    """Draw and rewind at random; the state is always where the text is. How often the text was complete."""
    random, ends = np.random.default_rng(seed), 0
    generator = ConstrainedGenerator(inner, [automaton.start()])
    generator.append_tokens(np.array([[7, 8]], np.int32))
    for _ in range(steps):
        done = generator.is_done()
        ends += done
        if done or random.random() < 0.3:
            length = int(random.integers(2, len(generator.get_sequence(0)) + 1))
            generator.rewind_to(length)
            assert len(generator.get_sequence(0)) == length
        if not generator.is_done():
            generator.generate_next_token()
        written = np.asarray(generator.get_sequence(0))[2:].tolist()
        state = generator.batch[0]
        assert automaton.start().validate(written) == len(written)
        assert state is not None
        assert state.num_tokens == len(written) + state.is_finished  # EOS is not part of the text
    assert not generator.batch.errors
    return ends


@pytest.mark.parametrize("pattern", [PATTERN, "a{2}", "(ab)*x", PATTERN + "[xyz]{6}"])
def test_rewinding(pattern: str) -> None:
    automaton = tokamata.compile(tokamata.regex(pattern), VOCABULARY)
    assert sum(goes_back(Generator(1, seed), automaton, seed, 60) for seed in range(5)) > 5


def test_rewinding_that_is_refused() -> None:
    automaton = tokamata.compile(tokamata.regex("[a-z]{9}"), VOCABULARY)
    generator = ConstrainedGenerator(Generator(1, 3), [automaton.start()])
    generator.append_tokens([7, 8])
    for _ in range(3):
        generator.generate_next_token()
    for length in (1, 6):
        with pytest.raises(IndexError, match=f"expected a length from 2 to 5, got {length}"):
            generator.rewind_to(length)
    generator.append_tokens([9, 9])  # a prompt in the middle, which is not gone back behind
    for _ in range(2):
        generator.generate_next_token()
    with pytest.raises(IndexError, match="expected a length from 7 to 9, got 6"):
        generator.rewind_to(6)
    assert generator.batch[0].num_tokens == 5
    generator.rewind_to(7)
    assert generator.batch[0].num_tokens == 3
    several = ConstrainedGenerator(Generator(2, 3), [automaton.start(), automaton.start()])
    several.append_tokens([7, 8, 7, 8])
    several.generate_next_token()
    several.generate_next_token()
    with pytest.raises(RuntimeError, match="new_length=0 when batch_size > 1"):
        several.rewind_to(3)
    assert [state.num_tokens for state in several.batch] == [2, 2]


def test_errors_stay_in_their_row() -> None:
    hard = tokamata.regex("[ab]*a[ab]{18}", limits=tokamata.Limits(states=2))
    inner = Generator(2, 1)
    states = [tokamata.compile(c, VOCABULARY).start() for c in (hard, tokamata.regex("[0-9]{5}"))]
    generator = ConstrainedGenerator(inner, states)
    generator.append_tokens([7, 8])
    while not generator.is_done():
        generator.generate_next_token()
    assert list(generator.batch.errors) == [0]
    assert set(text(inner.tokens[0], 1)) <= set(b"ab")  # cut off
    assert text(inner.tokens[1], 1).isdigit()


def test_logits_that_do_not_fit() -> None:
    automaton = tokamata.compile(tokamata.literal("a"), VOCABULARY)
    generator = ConstrainedGenerator(Generator(2, 1), [automaton.start()])
    with pytest.raises(ValueError, match=r"expected logits \[1, 1, width\] .* got \[2, 1, 264\]"):
        generator.generate_next_token()
    wide = tokamata.Vocabulary([*TOKENS, *(f"<{i}>".encode() for i in range(60))], eos_token_ids=[EOS])
    generator = ConstrainedGenerator(Generator(1, 1), [tokamata.compile(tokamata.literal("a"), wide).start()])
    with pytest.raises(ValueError, match="the model's own vocabulary"):
        generator.generate_next_token()


def save_model(folder: Path, seed: int) -> None:
    """A model in ONNX whose logits depend on the last token only, and what GenAI has to know of it."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(seed)
    float_, cache = TensorProto.FLOAT, ["rows", 1, "past", 4]
    names = ["past_key_values.0.key", "past_key_values.0.value"]
    present = ["present.0.key", "present.0.value"]
    constants = {
        "table": random.normal(size=(WIDTH, WIDTH)).astype(np.float32),
        "axes": np.array([1, 3], np.int64),
        "heads": np.array([1, 1, 1, 4], np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["logits"]),
        helper.make_node("Cast", ["input_ids"], ["numbers"], to=float_),
        helper.make_node("Unsqueeze", ["numbers", "axes"], ["one"]),
        helper.make_node("Tile", ["one", "heads"], ["new"]),
        *(helper.make_node("Concat", [a, "new"], [b], axis=2) for a, b in zip(names, present, strict=True)),
    ]
    ids = [helper.make_tensor_value_info(n, TensorProto.INT64, ["rows", m]) for n, m in
           (("input_ids", "columns"), ("attention_mask", "all"))]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "tiny",
        ids + [helper.make_tensor_value_info(n, float_, cache) for n in names],
        [helper.make_tensor_value_info("logits", float_, ["rows", "columns", WIDTH])]
        + [helper.make_tensor_value_info(n, float_, ["rows", 1, "all", 4]) for n in present],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    decoder: dict[str, Any] = {"session_options": {"provider_options": []}, "filename": "model.onnx"}
    decoder |= {"head_size": 4, "hidden_size": 4, "num_attention_heads": 1, "num_key_value_heads": 1}
    decoder |= {"num_hidden_layers": 1}
    decoder["inputs"] = {"input_ids": "input_ids", "attention_mask": "attention_mask"}
    decoder["inputs"] |= {"past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"}
    decoder["outputs"] = {"logits": "logits", "present_key_names": "present.%d.key"}
    decoder["outputs"] |= {"present_value_names": "present.%d.value"}
    config: dict[str, Any] = {"type": "llama", "vocab_size": WIDTH, "context_length": 64, "decoder": decoder}
    config |= {"bos_token_id": 1, "eos_token_id": EOS, "pad_token_id": PAD}
    (folder / "genai_config.json").write_text(json.dumps({"model": config, "search": {"max_length": 64}}))


def test_the_real_generator(tmp_path: Path) -> None:
    genai = pytest.importorskip("onnxruntime_genai", reason="`make engines` installs it and runs this test")
    pytest.importorskip("onnx", reason="`make engines` installs it and runs this test")
    save_model(tmp_path, 11)
    model = genai.Model(str(tmp_path))
    automata = [tokamata.compile(tokamata.regex(p), VOCABULARY) for p in (PATTERN, "[0-9]{3}x")]
    texts = set()
    for seed in range(6):
        params = genai.GeneratorParams(model)
        params.set_search_options(batch_size=3, max_length=40, do_sample=True, temperature=1.5, random_seed=seed)
        generator = ConstrainedGenerator(genai.Generator(model, params), [*(a.start() for a in automata), None])
        generator.append_tokens(np.array([[7, 8, 9]] * 3, np.int32))
        while not generator.is_done():
            generator.generate_next_token()
        assert generator.batch.finished.tolist() == [True, True, False]
        rows = [np.asarray(generator.get_sequence(row)) for row in range(2)]
        texts |= {text(row, 3) for row in rows}
        assert tokamata.regex(PATTERN).accepts(text(rows[0], 3))
        assert tokamata.regex("[0-9]{3}x").accepts(text(rows[1], 3))
        assert not generator.batch.errors
    assert len(texts) > 6


def test_the_real_generator_goes_back(tmp_path: Path) -> None:
    genai = pytest.importorskip("onnxruntime_genai", reason="`make engines` installs it and runs this test")
    pytest.importorskip("onnx", reason="`make engines` installs it and runs this test")
    save_model(tmp_path, 12)
    model = genai.Model(str(tmp_path))
    automaton = tokamata.compile(tokamata.regex(PATTERN), VOCABULARY)
    ends = 0
    for seed in range(5):
        params = genai.GeneratorParams(model)
        params.set_search_options(batch_size=1, max_length=40, do_sample=True, temperature=1.5, random_seed=seed)
        ends += goes_back(genai.Generator(model, params), automaton, seed, 60)
    assert ends > 5
