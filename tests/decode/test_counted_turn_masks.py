"""Masks of counted repetitions with assertions inside, against walking the vocabulary."""

from __future__ import annotations

import random

import pytest
from oracle import mask_walk

import tokamata

PATTERNS = [
    r"(?:\w*\b ?){1,60}",
    r"(?:\b\w*\b[ ,]?){2,9}",
    r"(?:(?!foo)\w* ?){1,30}",
    r"(?:(?!foo)\w+ ?){1,30}x",
    r"(?:[a-z]+(?<!ab)\.?){1,40}",
    r"(?:.*(?<!ab)){3,30}",
    r"(?:\w*(?=.*\.)[ .]?){2,30}",
    r"(?!.*\bfoo\b)(?:(?<!-)[^.] ?){1,40}",
    r"""(["'])(?:\S{1,8}(?![A-Z])\n?){5,20}\1""",
    r"(?:(?:(?=.b+?)|b+){2,7}\w{0,2}){2,7}",
]
PIECES = [b"a", b"b", b"foo", b"o", b"A", b" ", b".", b",", b"-", b"'", b"\n", "é".encode()]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_masks_agree_with_walking(pattern: str) -> None:
    rng = random.Random(pattern)
    made = {b"".join(rng.choices(PIECES, k=rng.randint(1, 12))) for _ in range(3000)}
    automaton = tokamata.compile(tokamata.regex(pattern), mask_walk.with_bytes(made))
    compared = 0
    for long in (0.0, 0.5, 0.9):
        state = mask_walk.begun(automaton, b"")
        for _ in range(12):
            tokens = mask_walk.agreed(automaton, state, pattern)
            compared += 1
            if not tokens:
                break
            some = rng.choices(tokens, k=10 if rng.random() < long else 1)
            state.advance(max(some, key=lambda i: len(automaton.vocabulary.token_bytes(i) or b"")))
    assert compared > 10


def test_budgets_of_turns() -> None:
    """With so many tokens left, exactly what can be completed with them may come."""
    vocabulary = mask_walk.with_bytes({b"ab", b"ab ", b"ab ab ", b"..", b"foo"})
    automaton = tokamata.compile(tokamata.regex(r"(?:\w+\b ?){6,60}(?<= )\."), vocabulary)
    with pytest.raises(tokamata.BudgetError, match=r"max_tokens=4 is too small.*takes 5"):
        automaton.start(max_tokens=4)
    state = automaton.start(max_tokens=5)
    for token in (b"ab ab ", b"ab ab ", b"ab ab ", b"."):
        allowed = [i for i in range(len(vocabulary)) if state.allows(i)]
        assert [vocabulary.token_bytes(i) for i in allowed] == [token]
        state.advance(allowed[0])
