"""Counts inside of loops, beside assertions, against Python's re."""

from __future__ import annotations

import itertools
import random
import re

import pytest

import tokamata


@pytest.mark.parametrize("seed", range(60))
def test_counts_inside_of_loops_with_assertions(seed: int) -> None:
    """(x{1,3}|y)* is (x|y)*, whatever the assertions beside."""
    rng = random.Random(seed)
    asserted = rng.choice([r"\b", r"\B(?!\A\Z)", "^", "$", "(?=a)", "(?!b)", "(?<=a)", "(?<! )"])
    counted = rng.choice(["a", "[^a]", r"\w", "(?:a|b )", rf"(?:{asserted}.)", "(?:a{2,3}|b)"])
    counted += rng.choice(["{1,3}", "?", "{,2}", "{1,}", "{2,3}", "{1,3}?"])
    inside = [rf"{asserted}{rng.choice(['.', 'b', ' '])}", counted, rng.choice([r"^\W$", "ab", "(?:b{1,2}|a)"])]
    rng.shuffle(inside)
    pattern = rng.choice(["(?m)", "", "(?s)"]) + "(?:" + "|".join(inside) + ")" + rng.choice(["*", "+", "{2,}"])
    constraint, reference = tokamata.regex(pattern), re.compile(pattern)
    for text in ("".join(t) for n in range(6) for t in itertools.product("ab \n", repeat=n)):
        assert constraint.accepts(text) == bool(reference.fullmatch(text)), (seed, pattern, text)


@pytest.mark.parametrize(
    ("counted", "single"),
    [
        (r"(?:\b |[^a]{1,3})*", r"(?:\b |[^a])*"),
        (r"(?m)(?:\b .|[^a]{1,3}|^\W$)*", r"(?m)(?:\b .|[^a]|^\W$)*"),
        (r"(?:\b |(?:[^a]{0,3}|b){1,2})+", r"(?:\b |[^a]|b)*"),
    ],
)
def test_counts_inside_of_loops_take_no_states(counted: str, single: str) -> None:
    one, other = (tokamata.regex(pattern) for pattern in (counted, single))
    assert one.to_fst().num_states() == other.to_fst().num_states()
    assert one.equivalent(other)
