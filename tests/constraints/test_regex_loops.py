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


@pytest.mark.parametrize("seed", range(80))
def test_turns_between_assertions_are_counted(seed: int) -> None:
    """Whatever the turns look at before and behind them, and whether they may be empty there."""
    rng = random.Random(seed)
    asks = [r"\b", r"\B(?!\A\Z)", "^", "$", "(?=a)", "(?!ab)", "(?<=a)", "(?<! )", "(?<!ba)", "(?= |$)", "(?!\n)", ""]
    parts = [r"\w+", "a", "b?", " ?", r"\n?", "[^a]{1,3}", ".{0,2}", "(?:a|b )", r"\W*", "(?:a{2,3}|b)", "(?:%sb)?"]
    parts.append("(?:%s.){2,4}")
    turn = "".join(rng.choice(asks) + rng.choice(parts) for _ in range(rng.choice([1, 2, 2, 3]))) + rng.choice(asks)
    turn = turn.replace("%s", rng.choice(asks))
    counts = ["{0,9}", "{2,10}", "{9}", "{9,}", "{1,12}", "{3,11}", "{1,2}", "{2}", "*", "+", "{2,}", "?", "{,3}"]
    after = ["", "", "a", "b?", r"\b.?", "(?!a).*", " "]
    before = rng.choice(["", "(?m)"]) + rng.choice(["", "a?", "b| "])
    pattern = before + f"(?:{turn}){rng.choice(counts)}{rng.choice(after)}"
    constraint, reference = tokamata.regex(pattern), re.compile(pattern)
    texts = ["".join(t) for n in range(6) for t in itertools.product("ab \n", repeat=n)]
    texts += ["".join(rng.choices("aab  \n", k=rng.randint(6, 12))) for _ in range(150)]
    texts += [(t * n)[:n] + e for n in range(7, 20) for t in ("a", "a ", "ab ", "b\n") for e in ("", "b", " ")]
    for text in texts:
        assert constraint.accepts(text) == bool(reference.fullmatch(text)), (seed, pattern, text)


def test_turns_with_too_many_contexts_are_copied() -> None:
    for word in ("a" * 250, "ab" * 150):
        constraint = tokamata.regex(rf"(?:(?!{word})[ab]+ ){{3,9}}")
        for text, expected in (("b ab ba ", True), ("b ab ", False), (f"b b{word} a ", True), (f"b {word} a ", False)):
            assert constraint.accepts(text) == expected, text


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?:\b\w+\b ?){1,100000}", "ab "),
        (r"(?:\W*\b\w+\b){1,100000} ?", "ab "),
        (r"(?m)(?:^.{0,80}$\n?){1,100000}", "ab\n"),
        (r"(?:(?<!-)-?\w){99999,100000}", "-a"),
        (r"(?:[ab]+\s?(?!\s)){1,100000}", "ab "),
        (r"(?:(?:^|(?<=,))[^,]*,?){1,100000}", "ab,"),
    ],
)
def test_counted_turns_take_no_copies(pattern: str, text: str) -> None:
    constraint = tokamata.regex(pattern)
    assert constraint.accepts((text * 100_000).rstrip(" "))
    assert not constraint.accepts((text * 100_001).rstrip(" "))


def test_long_turns_that_share_out_a_text_in_many_ways_are_compared() -> None:
    pattern = "(?:a{1,100}b?){1,100}"
    assert tokamata.regex(pattern).equivalent(tokamata.regex(f"{pattern}|a{{3,7}}"))
    assert tokamata.regex(pattern).counterexample(tokamata.regex(f"{pattern}|b")) == b"b"
