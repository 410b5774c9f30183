"""DeviceAutomaton: tables on a device say what decoding states say."""

from __future__ import annotations

import importlib
import random
import sys

import numpy as np
import pytest
import torch
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.decode import DeviceAutomaton
from tokamata.decode.masked_logits import mask_logits_

import tokamata

TOKENS = [*(bytes([b]) for b in range(256)), b"ab", b"ba", b"aab", b'"a', None, b"", b"ab"]
EOS = 260
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[EOS])


@pytest.fixture(params=["torch", "triton"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "triton":
        pytest.importorskip("triton", reason="triton is not installed")
        if not torch.cuda.is_available():
            monkeypatch.setenv("TRITON_INTERPRET", "1")
        sys.modules.pop("tokamata.decode.kernels", None)
        importlib.import_module("tokamata.decode.kernels")
    return str(request.param)


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def check_walk(automaton: tokamata.TokenAutomaton, device: DeviceAutomaton, rng: random.Random, where: str) -> None:
    rows, size = 5, len(automaton.vocabulary)
    states = [automaton.start() for _ in range(rows)]
    dead = [False] * rows
    s = device.start(rows)
    for _ in range(14):
        logits = device.apply(torch.zeros(rows, size + 3, device=DEVICE), s).cpu()
        kept = torch.isfinite(logits)
        assert not kept[:, size:].any(), where
        final, finished = device.is_final(s).tolist(), device.is_finished(s).tolist()
        ids = []
        for row, state in enumerate(states):
            ended = dead[row] or state.is_finished
            mine = {t for t in range(size) if state.allows(t)}
            expected = set(automaton.vocabulary.eos_token_ids) if ended else mine
            assert set(kept[row].nonzero()[:, 0].tolist()) == expected, where
            assert final[row] == (state.is_final and not ended), where
            assert finished[row] == (state.is_finished and not dead[row]), where
            token = rng.choice(sorted(expected)) if rng.random() < 0.93 else rng.randrange(-2, size + 2)
            ids.append(token)
            if ended or token < 0:
                continue
            if token in mine:
                state.advance(token)
            else:
                dead[row] = True
        before = s.clone()
        s = device.advance(s, torch.tensor(ids, device=DEVICE))
        assert torch.equal(s == 0, torch.tensor(dead, device=DEVICE)), where
        assert torch.equal(device.advance(before, torch.tensor(ids, device=DEVICE).int(), out=before), s), where


def test_like_decoding_states(kernels: str) -> None:
    tried = 0
    for seed in range(24 if kernels == "torch" else 8):
        rng = random.Random(seed)
        tokens, eos = random_vocabulary(rng, complete=rng.random() < 0.6)
        constraint, _, text = random_constraint(rng)
        try:
            automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
            device = automaton.to(DEVICE, kernels=kernels, max_states=2_000)  # type: ignore[arg-type]
        except (tokamata.ConstraintError, tokamata.LimitError):
            continue
        tried += 1
        check_walk(automaton, device, rng, f"seed {seed}: {text}")
    assert tried > 5


PATTERNS = [
    r"\d{4}-\d{2}-\d{2}",
    r'"[^"\\]{0,20}"',
    "(?s:.*)",
    "(ab|ba)*a?",
    r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?",
    "é{1,3}|日本|yes|no",
    r"[^\x00]{3}",
    "(?!ab)[ab]{0,9}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str, kernels: str) -> None:
    automaton = tokamata.compile(tokamata.regex(pattern), VOCABULARY)
    device = automaton.to(DEVICE, kernels=kernels)  # type: ignore[arg-type]
    check_walk(automaton, device, random.Random(pattern), pattern)


def test_schemas_and_special_tokens() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "ab"]}, "c": {"type": "string", "maxLength": 4}},
        "required": ["a"],
        "additionalProperties": False,
    }
    automaton = tokamata.compile(tokamata.json_schema(schema), VOCABULARY)
    check_walk(automaton, automaton.to(DEVICE), random.Random(1), "schema")
    marked = tokamata.Vocabulary(TOKENS, eos_token_ids=[EOS], special_tokens={"<tool>": 261})
    call = tokamata.special_token("<tool>") + tokamata.regex("a[ab]*")
    automaton = tokamata.compile(call, marked)
    device = automaton.to(DEVICE)
    check_walk(automaton, device, random.Random(2), "special")
    states = device.start(1)
    for token in (261, 97):
        states = device.advance(states, torch.tensor([token], device=DEVICE))
    assert device.is_final(states)


def test_joined_constraints(kernels: str) -> None:
    patterns = PATTERNS[:5]
    automata = [tokamata.compile(tokamata.regex(p), VOCABULARY) for p in patterns]
    device = DeviceAutomaton.joined([a.to(DEVICE, kernels=kernels) for a in automata])  # type: ignore[arg-type]
    assert device.num_states == sum(a.to(DEVICE).num_states for a in automata)
    rng = random.Random(4)
    which = [rng.randrange(len(automata)) for _ in range(8)]
    states = [automata[i].start() for i in which]
    s = device.start(8, which)
    for _ in range(12):
        kept = torch.isfinite(device.apply(torch.zeros(8, len(TOKENS), device=DEVICE), s)).cpu()
        ids = []
        for row, state in enumerate(states):
            mine = [EOS] if state.is_finished else [t for t in range(len(TOKENS)) if state.allows(t)]
            assert kept[row].nonzero()[:, 0].tolist() == mine, (patterns[which[row]], ids)
            ids.append(rng.choice(mine))
            if not state.is_finished:
                state.advance(ids[-1])
        s = device.advance(s, torch.tensor(ids, device=DEVICE))
    assert torch.equal(device.start(3), device.start(3, [0, 0, 0]))
    other = tokamata.compile(tokamata.regex("a"), tokamata.Vocabulary(TOKENS, eos_token_ids=[EOS])).to(DEVICE)
    with pytest.raises(ValueError, match="over the same Vocabulary object"):
        DeviceAutomaton.joined([device, other])
    with pytest.raises(ValueError, match="expected at least one automaton"):
        DeviceAutomaton.joined([])
    with pytest.raises(ValueError, match="expected 2 integers"):
        device.start(2, [0])


def test_masks_are_kept_once() -> None:
    device = tokamata.compile(tokamata.regex("[ab]{0,400}"), VOCABULARY).to("cpu")
    assert device.num_states == 401
    assert device.num_masks == 4  # three or more letters left, two, one, none; that of ended rows is the last one
    assert int(device.class_of.max()) == 1
    assert device.nbytes < 1 << 16
    assert "401 states, 4 masks, 2 classes of bytes" in repr(device)


def test_limits_are_named() -> None:
    nested = tokamata.compile(tokamata.json_value(), VOCABULARY)
    expected = (
        r"to: limit max_states=500 reached: .*perhaps infinitely many \(.*unique_keys.*\); pass a larger max_states"
    )
    with pytest.raises(tokamata.LimitError, match=expected):
        nested.to("cpu", max_states=500)
    big = tokamata.compile(tokamata.regex("[ab]{0,400}"), VOCABULARY)
    with pytest.raises(tokamata.LimitError, match=r"to: limit max_bytes=1000 reached: 403 states over 2 classes"):
        big.to("cpu", max_bytes=1000)
    with pytest.raises(ValueError, match="expected max_states >= 3"):
        big.to("cpu", max_states=1)
    with pytest.raises(ValueError, match=r'expected kernels "auto", "torch" or "triton", got .cuda.; pass one'):
        big.to("cpu", kernels="cuda")  # type: ignore[arg-type]
    assert nested.num_states < 50  # exploring leaves nothing behind


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("size", "width"), [(1, 1), (31, 40), (64, 64), (65, 65), (1000, 1003), (2049, 2100), (100, 4128), (9000, 9008)]
)
def test_packed_masks(dtype: torch.dtype, size: int, width: int, kernels: str) -> None:
    rng = np.random.default_rng(size)
    bits = rng.random((3, size)) < np.repeat(rng.choice([0, 0.3, 0.95, 1], (3, size // 8 + 1)), 8, 1)[:, :size]
    packed = torch.from_numpy(
        np.packbits(np.pad(bits, ((0, 0), (0, -size % 32))), axis=1, bitorder="little").view(np.int32)
    )
    whole = torch.randn(3, 2 * width, device=DEVICE).to(dtype)
    for logits in (whole[:, :width].contiguous(), whole[:, :width], whole[:, ::2], whole.t()[:width, :3].t()):
        before = logits.clone()
        if kernels == "triton":
            importlib.import_module("tokamata.decode.kernels").mask_logits(logits, packed.to(DEVICE))
        else:
            assert mask_logits_(logits, packed.to(DEVICE), size) is logits
        kept = torch.from_numpy(np.pad(bits, ((0, 0), (0, width - size)))).to(DEVICE)
        assert torch.equal(logits[kept], before[kept])
        assert torch.isneginf(logits[~kept]).all()
        whole = torch.randn(3, 2 * width, device=DEVICE).to(dtype)


def test_no_rows(kernels: str) -> None:
    device = tokamata.compile(tokamata.regex("a*"), VOCABULARY).to(DEVICE)
    none = device.start(0)
    logits = torch.zeros(0, len(TOKENS), device=DEVICE)
    device.apply(logits, none)
    assert device.advance(none, torch.zeros(0, dtype=torch.int64, device=DEVICE)).shape == (0,)


def test_states_that_are_none_of_the_automaton() -> None:
    """On the CPU; -1 was read as the last state."""
    device = tokamata.compile(tokamata.regex("a*"), VOCABULARY).to("cpu")
    most = device.num_states + 1
    logits, tokens = torch.zeros(3, len(TOKENS)), torch.zeros(3, dtype=torch.int64)
    for wrong in (-1, -(2**31), most + 1, 2**31 - 1):
        for states in (torch.tensor([2, wrong, 2], dtype=torch.int32), torch.tensor([2, 9, wrong, 9, 2, 9]).int()[::2]):
            for name, call in (
                ("apply", lambda states=states: device.apply(logits, states)),
                ("advance", lambda states=states: device.advance(states, tokens)),
                ("masks", lambda states=states: device.masks(states)),
                ("is_final", lambda states=states: device.is_final(states)),
                ("is_finished", lambda states=states: device.is_finished(states)),
            ):
                expected = rf"^DeviceAutomaton\.{name}: expected states 0\.\.{most}, got {wrong}; pass what start or"
                with pytest.raises(IndexError, match=expected):
                    call()
    assert device.is_finished(torch.tensor([1, most], dtype=torch.int32)).tolist() == [True, False]


def test_misuse_is_told() -> None:
    device = tokamata.compile(tokamata.regex("a*"), VOCABULARY).to("cpu")
    s = device.start(2)
    with pytest.raises(ValueError, match=r"logits are 3 wide, the vocabulary has \d+ tokens; build it with"):
        device.apply(torch.zeros(2, 3), s)
    with pytest.raises(ValueError, match=r"expected floating logits \[2, width\]"):
        device.apply(torch.zeros(3, len(TOKENS)), s)
    with pytest.raises(ValueError, match=r"expected int32 states \[rows\] on cpu, got torch\.int64"):
        device.apply(torch.zeros(2, len(TOKENS)), s.long())
    with pytest.raises(ValueError, match=r"expected int64 or int32 token_ids \[2\] on cpu"):
        device.advance(s, torch.tensor([1]))
    with pytest.raises(
        ValueError, match=r"expected out like states, int32 \[2\] on cpu, got torch\.int64 \[2\] on cpu"
    ):
        device.advance(s, torch.tensor([1, 2]), out=s.long())
    with pytest.raises(ValueError, match=r"expected int32 masks \[2, words\] on cpu, got torch\.int32 \[3, 1\] on cpu"):
        mask_logits_(torch.zeros(2, 9), torch.zeros(3, 1, dtype=torch.int32))


def test_states_and_masks_of_any_strides(kernels: str) -> None:
    automaton = tokamata.compile(tokamata.regex("(ab|ba)*[0-9]{2,9}"), VOCABULARY)
    device = automaton.to(DEVICE, kernels=kernels)  # type: ignore[arg-type]
    rng = random.Random(5)
    states = torch.tensor(
        [rng.randrange(2, device.num_states + 2) for _ in range(12)], dtype=torch.int32, device=DEVICE
    )
    tokens = torch.tensor([rng.randrange(-1, len(TOKENS)) for _ in range(12)], device=DEVICE)
    expected = device.advance(states[::3].clone(), tokens[::3].clone())
    assert torch.equal(device.advance(states[::3], tokens[::3]), expected)
    wide = torch.zeros(8, dtype=torch.int32, device=DEVICE)
    assert torch.equal(device.advance(states[::3], tokens[::3], out=wide[::2]), expected)
    assert torch.equal(wide, torch.stack([expected, torch.zeros_like(expected)], 1).reshape(-1))
    logits = torch.randn(4, len(TOKENS), dtype=torch.bfloat16, device=DEVICE)
    plain = device.apply(logits.clone(), states[::3].clone())
    assert torch.equal(device.apply(logits.t().contiguous().t(), states[::3]), plain)
    masks = torch.cat([device.masks(states[::3]), torch.zeros(4, 3, dtype=torch.int32, device=DEVICE)], 1)[:, :-3]
    assert torch.equal(mask_logits_(logits.clone(), masks, len(TOKENS), kernels), plain)  # type: ignore[arg-type]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_step_in_a_cuda_graph_waits_for_nothing() -> None:
    automaton = tokamata.compile(tokamata.regex("(ab|ba)*[0-9]{2,9}"), VOCABULARY)
    device = automaton.to("cuda")
    logits = torch.randn(4, len(TOKENS), device="cuda")
    states, tokens = device.start(4), torch.zeros(4, dtype=torch.int64, device="cuda")
    work = logits.clone()

    def step() -> None:
        work.copy_(logits)
        device.apply(work, states)
        tokens.copy_(work.argmax(1))
        device.advance(states, tokens, out=states)

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        step()  # compiles the kernels
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    states.copy_(device.start(4))
    state = automaton.start()
    for _ in range(6):
        graph.replay()
        best = max((t for t in range(len(TOKENS)) if state.allows(t)), key=lambda t: float(logits[0, t]))
        assert int(tokens[0]) == best
        state.advance(best)
        if state.is_finished:
            break
