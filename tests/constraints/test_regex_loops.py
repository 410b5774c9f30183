"""Counts inside of loops, beside assertions, against Python's re."""

from __future__ import annotations

import itertools
import random
import re

import pytest

import tokamata
from tokamata import automata


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


@pytest.mark.parametrize("seed", range(60))
def test_turns_that_share_out_a_text_in_many_ways(seed: int) -> None:
    rng = random.Random(seed)

    def counted(letters: str) -> str:
        low = rng.randrange(3)
        return f"{letters}{{{low},{low + rng.randrange(1, 4)}}}"

    turn = counted(rng.choice(["a", "[ab]", "."])) + rng.choice(["b?", "c?", "(?:cb)?", "c", counted("b"), "(?:b|ca)"])
    pattern = counted(f"(?:{turn})") + rng.choice(["", "b", counted("[bc]"), "(?:a{2}|c)"])
    constraint, reference = tokamata.regex(pattern), re.compile(pattern)
    members = {t for n in range(8) for t in map("".join, itertools.product("abc", repeat=n)) if reference.fullmatch(t)}
    begun = {t[:n] for t in members for n in range(len(t) + 1)}
    for text in ("".join(t) for n in range(8) for t in itertools.product("abc", repeat=n)):
        assert constraint.accepts(text) == (text in members), (seed, pattern, text)
        assert text not in begun or constraint.accepts_prefix(text), (seed, pattern, text)


@pytest.mark.parametrize(
    "pattern", ["(?:[ab]{1,30}c?){1,20}", "(?:[ab]{1,6}c{0,2}){1,5}b{1,4}", "(?:[^,]{1,4}(?:, )?){1,4}"]
)
def test_turns_that_share_out_a_text_in_many_ways_take_few_states(pattern: str) -> None:
    """Of the ways, those that leave less to come than others are not kept."""
    made = tokamata.regex(pattern).to_fst()
    assert made.num_states() <= 1.1 * automata.minimize(made).num_states()


def test_long_turns_that_share_out_a_text_in_many_ways_are_compared() -> None:
    pattern = "(?:a{1,100}b?){1,100}"
    assert tokamata.regex(pattern).equivalent(tokamata.regex(f"{pattern}|a{{3,7}}"))
    assert tokamata.regex(pattern).counterexample(tokamata.regex(f"{pattern}|b")) == b"b"
