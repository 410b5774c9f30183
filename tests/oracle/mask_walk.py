"""Walks by tokens: along a text, at which masks are what can be extended, and to the end of a budget."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import tokamata


def allowed(mask: np.ndarray) -> list[int]:
    """The tokens of a mask, in order."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()


def with_bytes(words: Iterable[bytes]) -> tokamata.Vocabulary:
    """A vocabulary of all bytes (each one's token is its value), of the words behind them, and of end-of-sequence."""
    singles = [bytes([b]) for b in range(256)]
    tokens = [*singles, *sorted(set(words).difference(singles)), None]
    return tokamata.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1])


def agreed(automaton: tokamata.TokenAutomaton, state: tokamata.DecodeState, *where: object) -> list[int]:
    """The tokens that the mask of a state allows, in order, but end-of-sequence.

    Asserts that they are the ones which walking the whole vocabulary byte by byte finds.
    """
    mask = state.mask()
    vocabulary = automaton.vocabulary
    different = allowed(mask ^ automaton._native.mask_by_walking(automaton._native.state_of(state)))
    assert not different, (*where, state.num_tokens, [(i, vocabulary.token_bytes(i)) for i in different[:5]])
    return [i for i in allowed(mask) if i not in vocabulary.eos_token_ids]


def begun(automaton: tokamata.TokenAutomaton, opening: bytes) -> tokamata.DecodeState:
    """The state behind some bytes, of a vocabulary :func:`with_bytes`."""
    state = automaton.start()
    for byte in opening:
        state.advance(byte)
    return state


def wander(automaton: tokamata.TokenAutomaton, rng: random.Random, walks: int, steps: int, *where: object) -> None:
    """Random walks of up to so many tokens, at each place of which masks are :func:`agreed`."""
    for _ in range(walks):
        state = automaton.start()
        for _ in range(steps):
            tokens = agreed(automaton, state, *where)
            if not tokens:
                break
            state.advance(rng.choice(tokens))


def compiled(
    constraint: tokamata.Constraint, tokens: Sequence[bytes], cache_bytes: int | None = None
) -> tokamata.TokenAutomaton:
    """An automaton over the tokens, and end-of-sequence behind them."""
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    return tokamata.compile(constraint, vocabulary, cache_bytes=cache_bytes)


def walk(
    constraint: tokamata.Constraint,
    automaton: tokamata.TokenAutomaton,
    tokens: Sequence[bytes],
    text: bytes,
    rng: random.Random,
    viable: Callable[[bytes, bytes], bool | None] | None = None,
) -> bytes:
    """Draws tokens as long as they write a text and may follow; what they have written.

    Asserts that masks allow exactly the tokens with which the constraint accepts a beginning, and that some token may
    follow wherever the text so far is no member. ``viable`` is asked which ones these are, too: of what was written and
    a token; None where it does not know.
    """
    state, written = automaton.start(), b""
    while True:
        now = set(allowed(state.mask()))
        expected = [constraint.accepts_prefix(written + token) for token in tokens]
        wrong = [token for i, token in enumerate(tokens) if (i in now) != expected[i]]
        assert not wrong, (text, written, wrong)
        assert any(expected) or constraint.accepts(written), (text, written)
        for token, follows in zip(tokens, expected, strict=True) if viable else ():
            assert viable(written, token) in (None, follows), (text, written, token)
        rest = text[len(written) :]
        fits = [i for i, token in enumerate(tokens) if rest.startswith(token) and expected[i]]
        if not fits:
            return written
        pick = rng.choice(fits)
        state.advance(pick)
        written += tokens[pick]


def elements(values: Sequence[Any], most: int, rng: random.Random) -> list[list[Any]]:
    """Four lists of up to so many of the values, in any order; the first has one of them twice."""
    drawn = [rng.sample(values, min(len(values), rng.randrange(1, most + 1))) for _ in range(4)]
    drawn[0].append(drawn[0][0])
    return drawn


def spend(
    constraint: tokamata.Constraint,
    automaton: tokamata.TokenAutomaton,
    tokens: Sequence[bytes],
    budget: int,
    rng: random.Random,
) -> bytes:
    """A member that some tokens of a budget write: those that masks allow, the end where there is no other."""
    state, written = automaton.start(max_tokens=budget), b""
    while not state.is_finished:
        ids = allowed(state.mask())
        assert ids, (budget, written)
        pick = rng.choice([i for i in ids if i != len(tokens)] or ids)
        state.advance(pick)
        if pick != len(tokens):
            written += tokens[pick]
    assert constraint.accepts(written), (budget, written)
    return written
