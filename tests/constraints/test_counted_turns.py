"""Counted repetitions with assertions inside, whose turns may be empty or lead from any context to any other."""

from __future__ import annotations

import itertools
import random
import re

import pytest

import tokamata

TEXTS = ["".join(t) for n in range(6) for t in itertools.product("ab .", repeat=n)]
ATOMS = ["a", "b", r"\w", ".", " ", "[ab]", "[a.]", "[^b]"]
COUNTS = ["", "", "?", "*", "+", "{0,2}", "{1,2}", "{2}"]


def assertion(rng: random.Random) -> str:
    ahead = "".join(rng.choice(ATOMS) + rng.choice(["", "", "*", "?"]) for _ in range(rng.randint(1, 2)))
    behind = "".join(rng.choices(ATOMS, k=rng.randint(1, 2)))
    kinds = [rf"(?={ahead})", rf"(?!{ahead})", rf"(?<={behind})", rf"(?<!{behind})", rf"(?=.*{rng.choice(ATOMS)})"]
    return rng.choice([r"\b", r"\B(?!\A\Z)", *kinds])


def turn(rng: random.Random, nested: bool = False) -> str:
    parts = []
    for _ in range(rng.randint(1, 3)):
        what = rng.random()
        if what < 0.4:
            parts.append(assertion(rng))
        elif what < 0.48 and not nested:
            parts.append(f"(?:{turn(rng, True)}){rng.choice(['?', '*', '{0,3}', '{1,3}', '{2,4}'])}")
        else:
            parts.append(rng.choice(ATOMS) + rng.choice(COUNTS))
    return "".join(parts)


@pytest.mark.parametrize("seed", range(150))
def test_turns_agree_with_re(seed: int) -> None:
    rng = random.Random(seed)
    low = rng.choice([0, 0, 1, 1, 2, 3, 4])
    high = rng.choice([3, 4, 7, 25, ""])
    begin, end = rng.choice(["", "a", "b?"]), rng.choice(["", "b", r"\b(?!\A\Z)", "(?<=a)", "a*", "$"])
    pattern = f"{begin}(?:{turn(rng)}){{{low},{max(low, high) if isinstance(high, int) else high}}}{end}"
    print(f"seed {seed}: {pattern}")
    try:
        constraint, reference = tokamata.regex(pattern), re.compile(pattern)
    except (tokamata.UnsupportedError, tokamata.LimitError):  # as the message says
        pytest.skip("too large")
    members = {text for text in TEXTS if reference.fullmatch(text)}
    begun = {text[:n] for text in members for n in range(len(text) + 1)}
    for text in TEXTS:
        assert constraint.accepts(text) == (text in members), (seed, pattern, text)
        assert text not in begun or constraint.accepts_prefix(text), (seed, pattern, text)
    longer = tokamata.regex(".{3,9}")
    for text in rng.sample(TEXTS, 100):  # copied into other constraints
        assert (constraint & longer).accepts(text) == (text in members and len(text) > 2), (seed, pattern, text)
        assert (~constraint).accepts(text) == (text not in members), (seed, pattern, text)


TURNS = [
    r"\w*\b ?",
    r"\b\w*\b[ ,]?",
    r"(?!foo)\w* ?",
    r"(?!foo)\w+ ?",
    r"[a-z]+(?<!ab)",
    r".*(?<!ab)",
    r"\w*(?=.*\.)[ .]?",
    r"(?:b|a?(?=.* ))",
    r"[ab]{1,3}(?!b) ?",
    r"(?:(?=a)b|\b\w?)+ ?",
    r"(?:a|aaa|b)(?<!ab)",
    r"(?:a|aaa|b\b)(?<!bb)",
    r"(?=a)[ab]+ ?",
    r"(?![.])[ab.]+ ?",
    r"(?!.*\.)[ab.]+ ?",
]


@pytest.mark.parametrize("body", TURNS)
@pytest.mark.parametrize(("low", "high"), [(0, 3), (1, 4), (2, 3), (4, 4), (3, 5)])
def test_turns_are_copies(body: str, low: int, high: int) -> None:
    """x{2,4} is xx, xxx and xxxx."""
    counted = tokamata.regex(f"(?:{body}){{{low},{high}}}x?")
    copies = "|".join(f"(?:{body})" * n for n in range(low, high + 1))
    written = tokamata.regex(f"(?:{copies})x?")
    assert counted.counterexample(written) is None, (body, low, high)


@pytest.mark.parametrize("body", TURNS[:7])
def test_many_turns_take_few_states(body: str) -> None:
    """Where a text can be shared out among turns in many ways, states know the most that may be left."""
    few, many = (
        (tokamata.regex(f"(?:{body}){{1,{n}}}") & tokamata.regex("[ab]{0,40}")).to_fst().num_states() for n in (50, 90)
    )
    assert few == many < 1500, body


def test_turns_that_have_to_be_and_may_be_empty() -> None:
    constraint = tokamata.regex(r"(?:b|a?(?=.* )){2,50}.*")  # empty ones before a blank
    for text, member in (("b", False), ("bb", True), ("b ", True), ("a", False), ("a ", True), (" ", True)):
        assert constraint.accepts(text) == member, text
    exact = tokamata.regex(r"(?:(?=.*!)b?|\bb){3}!?")
    for text in map("".join, itertools.product("b! ", repeat=4)):
        assert exact.accepts(text) == bool(re.fullmatch(r"(?:(?=.*!)b?|\bb){3}!?", text)), text


def test_very_many_turns() -> None:
    many = tokamata.regex(r"(?:.\b..){100000}")
    assert many.accepts_prefix("a-b" * 2000)
    assert not many.accepts("a-b" * 2000)
    assert not many.accepts_prefix("a-b" * 10 + "aab")
    bounded = tokamata.regex(r"(?:\w*\b ?){1,3000}")
    assert bounded.accepts("ab " * 2990)
    assert not bounded.accepts("ab " * 3001)
