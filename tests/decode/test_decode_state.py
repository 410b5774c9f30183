"""DecodeState: advancing, taking back, forced text, buffers, and refusals."""

from __future__ import annotations

import copy
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from oracle.mask_walk import allowed
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.decode import BatchState

import tokamata

BYTES = [bytes([b]) for b in range(256)]
TOKENS: list[bytes | None] = [*BYTES, b"yes", b"ye", b"no", b"", None, b"yes", None]
EOS = 262


@pytest.fixture
def vocabulary() -> tokamata.Vocabulary:
    return tokamata.Vocabulary(TOKENS, eos_token_ids=[EOS])


@pytest.fixture
def state(vocabulary: tokamata.Vocabulary) -> tokamata.DecodeState:
    return tokamata.compile(tokamata.choice(["yes", "no", "yes!"]), vocabulary).start()


def test_steps(state: tokamata.DecodeState) -> None:
    assert allowed(state.mask()) == [ord("n"), ord("y"), 256, 257, 258, 261]  # duplicates both, never empty or special
    state.advance(257)
    assert allowed(state.mask()) == [ord("s")]
    assert not state.is_final
    state.advance(ord("s"))
    assert state.is_final
    assert allowed(state.mask()) == [ord("!"), EOS]
    state.advance(EOS)
    assert (state.is_finished, state.is_final, state.num_tokens) == (True, False, 3)
    assert allowed(state.mask()) == []
    with pytest.raises(tokamata.TokenRejected, match=r"advance: token 33 comes after the end-of-sequence token"):
        state.advance(ord("!"))
    state.rollback(2)
    assert allowed(state.mask()) == [ord("s")]
    state.reset()
    assert state.num_tokens == 0


def test_numbers_of_states(vocabulary: tokamata.Vocabulary) -> None:
    state = tokamata.compile(tokamata.regex("(aa|bb)*(c|dc)"), vocabulary).start()
    start = state.state_id
    state.advance(ord("a"))
    inside = state.state_id
    state.advance(ord("a"))
    assert state.state_id == start != inside
    state.advance(ord("c"))
    end = state.state_id
    state.rollback(1)
    state.advance(ord("d"))
    state.advance(ord("c"))
    assert state.state_id == end
    state.advance(EOS)
    assert state.state_id == -1


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (ord("x"), r"advance: token 120 is not allowed after 0 tokens"),
        (EOS, r"advance: token 262 ends the sequence, but the text after 0 tokens is not complete"),
        (259, r"advance: token 259 is special or empty"),
        (260, r"advance: token 260 is special or empty"),
        (263, r"advance: token 263 is outside the vocabulary's ids 0..262"),
        (-1, r"advance: token -1 is outside"),
        (2**40, r"is outside the vocabulary's ids"),
    ],
)
def test_rejections_leave_the_state(state: tokamata.DecodeState, token: int, text: str) -> None:
    before = state.mask()
    assert not state.allows(token)
    with pytest.raises(tokamata.TokenRejected, match=text):
        state.advance(token)
    assert state.num_tokens == 0
    assert (state.mask() == before).all()


def test_validate_and_drafts(state: tokamata.DecodeState) -> None:
    draft = [ord("y"), ord("e"), ord("s"), ord("!"), EOS, ord("x")]
    assert state.validate(draft) == 5
    assert state.validate([ord("x")]) == 0
    assert state.validate([]) == 0
    masks = state.draft_masks(draft)
    assert masks.shape == (7, (len(TOKENS) + 31) // 32)
    assert masks.dtype == np.int32
    walker = state.copy()
    for i, token in enumerate(draft[:5]):
        assert (masks[i] == walker.mask()).all()
        walker.advance(token)
    assert not masks[5:].any()
    assert state.num_tokens == 0
    assert not state.draft_masks([ord("x"), ord("y")])[1:].any()


def test_draft_trees() -> None:
    for seed in range(30):
        rng = random.Random(seed)
        tokens, eos = random_vocabulary(rng, complete=rng.random() < 0.7)
        constraint, _, text = random_constraint(rng)
        try:
            automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
            state = automaton.start(rng.choice([None, 40]))
        except (tokamata.ConstraintError, tokamata.BudgetError):
            continue
        draft, parents, ways = [], [], [state.copy()]
        for i in range(12):
            parents.append(rng.randrange(-1, i))
            before = ways[parents[i] + 1]
            likely = allowed(before.mask()) if before is not None else []
            draft.append(rng.choice(likely) if likely and rng.random() < 0.8 else rng.randrange(-1, len(tokens) + 1))
            after = None if before is None or not before.allows(draft[i]) else before.copy()
            if after is not None:
                after.advance(draft[i])
            ways.append(after)
        masks = state.draft_masks(draft, parents)
        assert masks.shape == (13, state.words)
        for way, mask in zip(ways, masks, strict=True):
            assert (mask == (0 if way is None else way.mask())).all(), (seed, text)
        assert state.num_tokens == 0
        chain = state.draft_masks(draft, range(-1, 11))
        assert (chain == state.draft_masks(draft)).all(), (seed, text)


def test_draft_parents_are_checked(state: tokamata.DecodeState) -> None:
    for parents in ([0], [-2], [-1, 0], [], ["a"], [1.5], [None], [2**70], 5):
        with pytest.raises(ValueError, match="expected for each token the number of an earlier one, or -1"):
            state.draft_masks([ord("y")], parents)


def test_copies_are_independent(state: tokamata.DecodeState) -> None:
    state.advance(257)
    for other in (state.copy(), copy.copy(state)):
        other.advance(ord("s"))
        assert (state.num_tokens, other.num_tokens) == (1, 2)
    with pytest.raises(IndexError, match=r"rollback: expected 0 <= n <= 1 \(the tokens so far\), got 2"):
        state.rollback(2)
    with pytest.raises(IndexError, match="rollback"):
        state.rollback(-1)


def test_forced(vocabulary: tokamata.Vocabulary) -> None:
    state = tokamata.compile(tokamata.literal("q=") + tokamata.choice(["1", "2"]) + "ab", vocabulary).start()
    assert state.forced_bytes() == b"q="
    assert state.forced_tokens() == [ord("q"), ord("=")]
    assert state.forced_bytes(limit=1) == b"q"
    state.advance(ord("q"))
    state.advance(ord("="))
    assert state.forced_bytes() == b""
    assert state.forced_tokens() == []
    state.advance(ord("1"))
    assert state.forced_bytes() == b"ab"
    ambiguous = tokamata.compile(tokamata.literal("yes"), vocabulary).start()
    assert ambiguous.forced_bytes() == b"yes"
    assert ambiguous.forced_tokens() == []  # three tokens spell a beginning of it
    optional = tokamata.compile(tokamata.choice(["q", "qq"]), vocabulary).start()
    assert optional.forced_bytes() == b"q"  # the text may end there


def test_buffers(state: tokamata.DecodeState) -> None:
    words = (len(TOKENS) + 31) // 32
    want = state.mask()
    flat = np.full(words, -1, np.int32)
    state.fill_mask(flat)
    assert (flat == want).all()
    rows = np.zeros((3, words), np.int32)
    state.fill_mask(rows, 1)
    assert (rows[1] == want).all()
    assert not rows[[0, 2]].any()
    tensor = torch.full((2, words), -1, dtype=torch.int32)
    state.fill_mask(tensor, row=1)
    assert (tensor[1].numpy() == want).all()
    assert (tensor[0] == -1).all()


WORDS = (len(TOKENS) + 31) // 32


class Subclass(np.ndarray):
    """An array that is looked into by the buffer protocol."""


def test_kinds_of_arrays(state: tokamata.DecodeState) -> None:
    want = state.mask()
    memory = bytearray(4 * 2 * WORDS)
    for rows in (
        np.zeros((2, WORDS), np.int32).view(Subclass),
        np.frombuffer(memory, np.int32).reshape(2, WORDS),
        np.zeros((4, WORDS), np.int32)[2:],
        np.zeros((2, WORDS), np.dtype("i4", metadata={"dtype": "with metadata"})),
    ):
        state.fill_mask(rows, 1)
        assert (rows[1] == want).all()
        assert not rows[0].any()


def read_only() -> np.ndarray:
    array = np.zeros(WORDS, np.int32)
    array.setflags(write=False)
    return array


@pytest.mark.parametrize(
    ("buffer", "text"),
    [
        (np.zeros(WORDS, np.int64), r"expected a writable C-contiguous int32 array .* got items of format"),
        (np.zeros(WORDS, np.float32), r"got items of format 'f'"),
        (np.zeros(WORDS, np.uint32), r"got items of format 'I'"),
        (np.zeros(WORDS + 1, np.int32), rf"got shape \[{WORDS + 1}\]"),
        (np.zeros((2, 2, WORDS), np.int32), r"got shape"),
        (read_only(), r"read-only or not contiguous"),
        (np.zeros(WORDS, np.dtype(np.int32).newbyteorder()), r"got items of format '>i'"),
        (np.zeros((), np.int32), r"got shape \[\]"),
        (np.frombuffer(bytearray(4 * WORDS + 1), np.int32, WORDS, 1), r"begins between two words of memory"),
        (np.zeros((WORDS, 2), np.int32).T, r"read-only or not contiguous"),
        (torch.zeros(WORDS, dtype=torch.int64), r"another item type than int32"),
        (torch.zeros((WORDS, 2), dtype=torch.int32).T, r"not contiguous"),
        (torch.zeros(WORDS - 1, dtype=torch.int32), rf"got shape \[{WORDS - 1}\]"),
        (bytes(4 * WORDS), r"read-only or not contiguous"),
        ([0] * WORDS, r"got an object of type list"),
        (None, r"got an object of type NoneType"),
    ],
)
def test_wrong_buffers(state: tokamata.DecodeState, buffer: object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        state.fill_mask(buffer)


def test_tensors_without_memory(state: tokamata.DecodeState) -> None:
    emptied = torch.zeros(1, WORDS, dtype=torch.int32)
    emptied.untyped_storage().resize_(0)
    letters = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], [256])
    dynamic = tokamata.compile(tokamata.dynamic(lambda text: "x"), letters).start()
    for one in (state, dynamic):
        with pytest.raises(ValueError, match="got one without memory"):
            one.fill_mask(emptied)
    with pytest.raises(ValueError, match="expected a writable C-contiguous int32 array"):
        BatchState([state.copy()]).fill_masks(emptied)


@pytest.mark.parametrize("row", [-1, 2])
def test_wrong_rows(state: tokamata.DecodeState, row: int) -> None:
    with pytest.raises(IndexError, match=rf"fill_mask: expected 0 <= row < 2, got row={row}"):
        state.fill_mask(np.zeros((2, WORDS), np.int32), row)


def test_compile_refuses(vocabulary: tokamata.Vocabulary) -> None:
    empty = tokamata.literal("a") & "b"
    with pytest.raises(tokamata.ConstraintError, match="compile: the constraint is empty"):
        tokamata.compile(empty, vocabulary)
    with pytest.raises(tokamata.ConstraintError, match="compile: no text of the constraint can be written"):
        tokamata.compile(tokamata.literal("abc"), tokamata.Vocabulary([b"ab", None], eos_token_ids=[1]))
    with pytest.raises(TypeError, match="compile: expected a Constraint first, got str"):
        tokamata.compile("a", vocabulary)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="compile: expected a Vocabulary second, got list"):
        tokamata.compile(empty, [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="compile: expected cache_bytes >= 0"):
        tokamata.compile(tokamata.literal("a"), vocabulary, cache_bytes=-1)


def test_a_full_cache_changes_nothing(vocabulary: tokamata.Vocabulary) -> None:
    constraint = (tokamata.choice(["yes", "no"]) + "\n").repeat(1)
    kept, none = (tokamata.compile(constraint, vocabulary, cache_bytes=n) for n in (1 << 20, 0))
    a, b = kept.start(), none.start()
    for token in [256, 10, 110, 111, 10]:
        assert (a.mask() == b.mask()).all()
        a.advance(token)
        b.advance(token)
    assert (kept.cached_masks > 0, none.cached_masks) == (True, 0)


@pytest.mark.parametrize("cache_bytes", [1, 100, 5_000, 20_000, 50_000])
def test_finished_masks_stay_within_their_budget(cache_bytes: int) -> None:
    """Many different masks, until nothing fits: the memory they have is at most what was allowed."""
    numbers = (b"%04d" % i for i in range(8000))
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), *numbers, None], eos_token_ids=[8256])
    constraint = tokamata.regex("".join(f"[{i % 10}a-e]{{1,2}}[f-h]" for i in range(1000)))
    free, bound = (tokamata.compile(constraint, vocabulary, cache_bytes=n) for n in (None, cache_bytes))
    a, b = free.start(), bound.start()
    for i in range(1000):
        for token in (b"abcde"[i % 5], b"fgh"[i % 3]):
            assert (a.mask() == b.mask()).all()
            assert bound._native.mask_bytes <= cache_bytes
            a.advance(token)
            b.advance(token)
    assert free._native.mask_bytes > 50_000
    assert bound.cached_masks < free.cached_masks


def test_threads_share_an_automaton() -> None:
    """Many threads decode under one fresh automaton; each sees what a lone one sees."""
    for seed in range(12):
        rng = random.Random(seed)
        constraint, _, text = random_constraint(rng, algebra=seed % 2 == 0)
        tokens, eos = random_vocabulary(rng, complete=True)
        if constraint.is_empty():
            continue
        vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=eos)

        def decode(automaton: tokamata.TokenAutomaton, walk: int) -> list[bytes]:
            pick, state, masks = random.Random(walk), automaton.start(), []
            for _ in range(12):
                mask = state.mask()
                masks.append(mask.tobytes())
                choices = allowed(mask)
                if state.is_finished or not choices:
                    break
                state.advance(pick.choice(choices))
            return masks

        alone = [decode(tokamata.compile(constraint, vocabulary), walk) for walk in range(16)]
        shared = tokamata.compile(constraint, vocabulary)
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda walk, shared=shared: decode(shared, walk), range(16)))
        assert together == alone, f"seed {seed}: {text}"


def test_steps_taken_again_lead_to_the_same_states() -> None:
    """More steps by long tokens than are remembered, taken twice, against the same bytes one by one."""
    tokens = [bytes([b]) for b in range(256)] + [b"a" * n for n in range(3, 33)]
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    at = [tokamata.compile(tokamata.regex("a{0,200}b?"), vocabulary).start()]
    for _ in range(150):
        at.append(at[-1].copy())
        at[-1].advance(ord("a"))
    for _ in range(2):
        for k in range(0, 115):
            for word in range(256, len(tokens)):
                after = at[k].copy()
                after.advance(word)
                assert after.state_id == at[k + len(tokens[word])].state_id
