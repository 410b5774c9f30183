"""BatchState: the same masks and steps as one state after another, whatever happens in some rows."""

from __future__ import annotations

import os
import random
import threading
import time

import numpy as np
import pytest
import torch
from oracle.mask_walk import allowed
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.decode import BatchState, HostMasks
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton

import tokamata

TOKENS = [*(bytes([b]) for b in range(256)), b"ab", b"ba", b"aab", b'"a', None]
EOS = len(TOKENS) - 1
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[EOS])
WORD = tokamata.compile(tokamata.regex("[ab]{2,6}"), VOCABULARY)


def test_like_states_one_by_one() -> None:
    for seed in range(14):
        rng = random.Random(seed)
        alone = []
        for _ in range(rng.randint(1, 9)):  # few and many rows, over vocabularies of different sizes
            tokens, eos = random_vocabulary(rng, complete=rng.random() < 0.7)
            constraint = random_constraint(rng)[0]
            try:
                automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
            except tokamata.ConstraintError:  # empty, or not writable with these tokens
                continue
            alone += [automaton.start() for _ in range(rng.randint(1, 3))]
        batch = BatchState([s.copy() for s in alone], threads=1 + seed % 3)
        out = np.full((len(alone) + 1, batch.words + 2), 7, np.int32)
        for _ in range(12):
            batch.fill_masks(out)
            assert (out[len(alone)] == 7).all()
            ids = []
            for row, state in zip(out[: len(alone)], alone, strict=True):
                if state.is_finished:
                    ids.append(rng.choice([0, -1, 10**6]))  # padding
                    assert row.any(), seed
                    continue
                own = state.mask()
                assert (row[: len(own)] == own).all(), seed
                assert not row[len(own) :].any(), seed
                ids.append(rng.choice(allowed(own)))
                state.advance(ids[-1])
            assert batch.advance(ids).all(), seed
            assert not batch.errors, seed
            assert batch.finished.tolist() == [s.is_finished for s in alone], seed


def test_rows_join_and_leave() -> None:
    batch = BatchState([None], threads=2)
    assert (batch.words, len(batch)) == (0, 1)
    first, second = WORD.start(), WORD.start()
    assert [batch.join(first), batch.join(second)] == [0, 1]
    assert batch.words == WORD.words
    assert batch.advance([ord("a"), ord("b")]).tolist() == [True, True]
    assert batch.leave(0) is first
    out = batch.masks()
    batch.fill_masks(out)
    assert (out[0] == -1).all()
    assert allowed(out[1]) == allowed(second.mask())
    assert batch.advance([10**9, -1]).all()
    batch[0] = third = WORD.start()
    assert list(batch) == [third, second]
    assert batch[1] is second
    batch.reorder([1, 1, 0])
    assert batch[0] is second
    assert batch[2] is third
    batch.advance([ord("a"), ord("b"), ord("a")])
    assert [s.num_tokens for s in batch if s is not None] == [2, 2, 1]
    batch.rollback([1, 2, 0])
    assert [s.num_tokens for s in batch if s is not None] == [1, 0, 1]
    with pytest.raises(IndexError, match="expected 0 <= n <= 0, got 1"):
        batch.rollback(1)
    assert [s.num_tokens for s in batch if s is not None] == [1, 0, 1]
    assert repr(batch) == "<tokamata.decode.BatchState of 3 rows, 3 with a state>"
    with pytest.raises(ValueError, match="one state cannot be in two rows"):
        batch.assign([first, first])
    assert list(batch)[2] is third
    batch.advance([-1, -1, ord("x")])
    batch.assign([None, first])
    assert list(batch) == [None, first]
    assert not batch.errors
    batch.fill_masks(out)
    assert (out[0] == -1).all()
    assert allowed(out[1]) == allowed(first.mask())


def test_errors_stay_in_their_row() -> None:
    states = [WORD.start() for _ in range(3)]
    batch = BatchState(states, threads=2)
    assert batch.advance([ord("a"), ord("x"), EOS]).tolist() == [True, False, False]
    assert [s.num_tokens for s in states] == [1, 0, 0]
    assert {row: type(error) for row, error in batch.errors.items()} == dict.fromkeys((1, 2), tokamata.TokenRejected)
    assert "token 120 is not allowed after 0 tokens" in str(batch.errors[1])
    assert "the text after 0 tokens is not complete" in str(batch.errors[2])
    out = batch.masks()
    batch.fill_masks(out)
    assert [allowed(row) for row in out] == [allowed(s.mask()) for s in states]
    batch.leave(1)
    batch[2] = states[2]
    assert not batch.errors


def test_a_mask_that_cannot_be_computed_allows_eos() -> None:
    hard = tokamata.regex("[ab]*a[ab]{18}c", limits=tokamata.Limits(states=2))
    states = [tokamata.compile(hard, VOCABULARY).start(), *(WORD.start() for _ in range(7))]
    batch = BatchState(states, threads=2)
    out = batch.masks()
    batch.fill_masks(out)
    assert list(batch.errors) == [0]
    assert isinstance(batch.errors[0], tokamata.LimitError)
    assert "limit states=2" in str(batch.errors[0])
    assert allowed(out[0]) == [EOS]
    assert all(allowed(row) == allowed(WORD.start().mask()) for row in out[1:])
    batch.advance([EOS] + [ord("a")] * 7)
    assert isinstance(batch.errors[0], tokamata.LimitError)  # the first one is kept


def test_canonical_rows() -> None:
    tokens = [b"a", b"b", b"ab", b"aab", None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[4])
    pairs = BytePairs(4, [(0, 1, 2), (0, 2, 3)], range(2))
    automaton = CanonicalAutomaton(tokamata.compile(tokamata.regex("[ab]{4}"), vocabulary), pairs)
    alone = automaton.start()
    batch = BatchState([WORD.start(), automaton.start(), None], threads=2)
    out = np.full((3, batch.words), 7, np.int32)
    for token in (3, 1, 4):
        batch.fill_masks(out)
        assert allowed(out[1]) == allowed(alone.mask())
        assert allowed(out[0]) == allowed(batch[0].mask())
        assert batch.advance([ord("a"), token, 0]).all()
        alone.advance(token)
    assert batch.finished.tolist() == [False, True, False]
    batch.fill_masks(out)
    assert allowed(out[1]) == [4]
    batch.rollback([0, 2, 0])
    assert batch.advance([-1, 2, -1]).tolist() == [True, False, True]  # "aab", "ab": too long
    assert isinstance(batch.errors[1], tokamata.TokenRejected)
    batch.reorder([1, 1])
    assert batch[0] is not batch[1]


def test_tensors_and_pinned_buffers() -> None:
    batch = BatchState([WORD.start() for _ in range(3)])
    numbers, tensor = batch.masks(), batch.masks(pinned=True)
    batch.fill_masks(numbers)
    batch.fill_masks(tensor)
    assert (tensor.numpy() == numbers).all()
    assert batch.advance(torch.tensor([97, 98, -1])).all()
    assert batch.advance(np.array([97, 98, -1], np.int32)).all()


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((2, 9), np.int32),
        np.zeros((3, 8), np.int32),
        np.zeros((3, 9), np.int64),
        np.zeros(27, np.int32),
        np.zeros((9, 3), np.int32).T,
        np.zeros((3, 18), np.int32)[:, ::2],
        torch.zeros((3, 9), dtype=torch.float32),
        [[0] * 9] * 3,
    ],
)
def test_bad_buffers(out: object) -> None:
    batch = BatchState([WORD.start() for _ in range(3)])
    with pytest.raises(ValueError, match=r"BatchState\.fill_masks: expected .*; make one with batch\.masks"):
        batch.fill_masks(out)  # type: ignore[arg-type]


def test_misuse_is_told() -> None:
    state = WORD.start()
    with pytest.raises(ValueError, match="one state cannot be in two rows"):
        BatchState([state, state])
    batch = BatchState([state, None])
    with pytest.raises(ValueError, match="one state cannot be in two rows"):
        batch[1] = state
    with pytest.raises(
        TypeError, match=r"expected a DecodeState, DynamicState, CanonicalState or None, got TokenAutomaton"
    ):
        BatchState([WORD])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="expected threads >= 1, got 0"):
        BatchState([], 0)
    with pytest.raises(ValueError, match=r"expected one token for each of 2 rows, got shape \(3,\)"):
        batch.advance([1, 2, 3])
    with pytest.raises(ValueError, match="expected integers, got float64"):
        batch.advance([0.5, 1.0])
    with pytest.raises(IndexError, match="expected 0 <= row < 2, got 2"):
        batch[2]


def test_the_gil_is_free_and_a_fork_still_works() -> None:
    automata = [tokamata.compile(tokamata.regex(f"(?:.|\\n){{0,{n}}}x"), VOCABULARY) for n in range(300, 340)]
    batch = BatchState([a.start() for a in automata], threads=2)
    out = batch.masks()
    stop, turns = threading.Event(), [0]

    def count() -> None:
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    for _ in range(20):
        batch.fill_masks(out)
    stop.set()
    thread.join()
    assert turns[0] > 0
    expected = out.copy()
    child = os.fork()
    if not child:
        status = 1
        try:
            out[:] = 0
            batch.fill_masks(out)  # the child has no worker threads
            status = 0 if (out == expected).all() else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_many_batches_from_many_threads() -> None:
    shared = tokamata.compile(tokamata.regex('"[^"]{0,40}"|[ab]{3,90}'), VOCABULARY)
    wrong: list[str] = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        batch = BatchState([shared.start() for _ in range(8)], threads=2)
        alone = [shared.start() for _ in range(8)]
        out = batch.masks()
        for _ in range(30):
            batch.fill_masks(out)
            ids = [rng.choice(allowed(row)) for row in out]
            for i, state in enumerate(alone):
                if not state.is_finished:
                    if (state.mask() != out[i]).any():
                        wrong.append(f"seed {seed}")
                    state.advance(ids[i])
            batch.advance(ids)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("device", ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"])
def test_host_masks(device: str) -> None:
    batch = BatchState([WORD.start(), None, WORD.start()], threads=2)
    width = len(TOKENS) + 5
    rng = random.Random(1)
    with HostMasks(batch, device, width) as masks:
        for step in range(6):
            if step % 2:
                masks.begin()
            logits = masks.apply(torch.zeros(3, width, device=device))
            for row in (0, 2):
                state = batch[row]
                assert state is not None
                assert torch.isfinite(logits[row]).nonzero()[:, 0].tolist() == (allowed(state.mask()) or [EOS])
            assert torch.isfinite(logits[1]).all()
            batch.advance([rng.choice(torch.isfinite(row).nonzero()[:, 0].tolist()) for row in logits])
        masks.begin()
        with pytest.raises(RuntimeError, match="being filled already"):
            masks.begin()
        with pytest.raises(ValueError, match=r"expected logits \[3, 266\], got torch.float32 \[2, 266\]"):
            masks.apply(torch.zeros(2, width, device=device))
    with pytest.raises(ValueError, match="logits of width 100 are narrower"), HostMasks(batch, device, 100) as masks:
        masks.begin()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("behind", ["forward passes", "copies"])
def test_a_device_that_is_behind_gets_each_step_its_own_masks(behind: str) -> None:
    rng, width = random.Random(3), len(TOKENS)
    batch = BatchState([WORD.start() for _ in range(8)], threads=2)
    given, expected = [], []
    with HostMasks(batch, "cuda", width) as masks:
        for step in range(24):
            if step % 5 == 0:
                for _ in range(4):
                    batch.join(WORD.start())  # buffers grow
            with torch.cuda.stream(masks._copies if behind == "copies" else None):
                torch.cuda._sleep(10_000_000)  # cycles: milliseconds
            masks.begin()
            given.append(masks.apply(torch.zeros(len(batch), width, device="cuda")))
            out = batch.masks()
            batch.fill_masks(out)
            expected.append([allowed(row) for row in out])
            batch.advance([rng.choice(tokens) for tokens in expected[-1]])
    for logits, tokens in zip(given, expected, strict=True):
        assert [torch.isfinite(row).nonzero()[:, 0].tolist() for row in logits] == tokens


def test_rows_that_ask_callbacks() -> None:
    """Beside native rows, with the masks and steps of the states alone; what a callback raises stays in its row."""

    def word(text: str) -> tokamata.Constraint:
        if text.startswith("b"):
            raise KeyError(text)
        return tokamata.regex("[ab]{2}")

    dynamic = tokamata.compile(tokamata.regex("[abc]") + "=" + tokamata.dynamic(word), VOCABULARY)
    alone = [dynamic.start(), WORD.start(), dynamic.start()]
    batch = BatchState([alone[0].copy(), WORD.start(), None])
    assert batch.join(alone[2].copy()) == 2
    out = batch.masks()
    for texts in ("aac", "=a=", "bab", "aba"):
        batch.fill_masks(out)
        for row, state, letter in zip(out, alone, texts, strict=True):
            assert (row == state.mask()).all()
            state.advance(ord(letter))
        assert batch.advance([*map(ord, texts)]).all()
    assert batch.advance([ord("a"), -1, -1]).tolist() == [False, True, True]
    assert isinstance(batch.errors[0], tokamata.TokenRejected)
    batch.rollback([2, 0, 1])
    alone[2].rollback(1)
    assert batch.advance([-1, EOS, ord("b")]).all()
    assert batch.advance([-1, -1, EOS]).all()
    assert batch.finished.tolist() == [False, True, True]
    batch.fill_masks(out)
    assert [allowed(row) for row in out[1:]] == [[EOS], [EOS]]

    batch = BatchState([dynamic.start(), WORD.start()])
    assert batch.advance([ord("a"), ord("a")]).all()
    batch.rollback([1, 0])
    assert batch.advance([ord("b"), -1]).all()
    batch.fill_masks(out := batch.masks())  # the callback is asked behind "b="
    assert "KeyError" in str(batch.errors[0])
    assert allowed(out[0]) == [EOS]
    assert (out[1] == batch[1].mask()).all()
    batch.reorder([1, 1, 0])
    assert [type(state).__name__ for state in batch] == ["DecodeState", "DecodeState", "DynamicState"]


@pytest.mark.parametrize("token", [2**62, 2**63, 2**64 - 1])
def test_ids_past_what_64_bits_hold_are_outside_of_the_vocabulary(token: int) -> None:
    """As unsigned integers they would wrap to the id of no token."""
    vocabulary = tokamata.Vocabulary([b"a", None], [1])
    batch = tokamata.BatchState([tokamata.compile(tokamata.regex("a*"), vocabulary).start()])
    assert batch.advance([token]) == [False]
