"""A walk along a text by tokens, at which masks are what can be extended."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

import tokamata


def walk(
    constraint: tokamata.Constraint,
    automaton: tokamata.TokenAutomaton,
    tokens: Sequence[bytes],
    text: bytes,
    rng: random.Random,
) -> Iterator[tuple[bytes, list[bool]]]:
    """What was written before each step, and which tokens may follow; tokens are drawn as long as they write the text.

    Asserts that masks allow exactly the tokens with which the constraint accepts a beginning, and that some token may
    follow wherever the text so far is no member.
    """
    numbers = np.arange(len(tokens))
    state, written = automaton.start(), b""
    while True:
        mask = state.mask()
        allowed = (mask[numbers // 32] >> (numbers % 32)) & 1
        expected = [constraint.accepts_prefix(written + token) for token in tokens]
        wrong = [t for t, a, e in zip(tokens, allowed, expected, strict=True) if bool(a) != e]
        assert not wrong, (text, written, wrong)
        assert any(expected) or constraint.accepts(written), (text, written)
        yield written, expected
        rest = text[len(written) :]
        fits = [i for i, token in enumerate(tokens) if rest.startswith(token) and expected[i]]
        if not fits:
            return
        pick = rng.choice(fits)
        state.advance(pick)
        written += tokens[pick]
