"""Grammars with repetitions, counted or written out, against their short texts by brute force, in all notations."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from oracle import grammar_texts

import tokamata

LONGEST = 6
TEXTS = ["".join(letters) for n in range(LONGEST + 1) for letters in itertools.product("ab", repeat=n)]
NOTATIONS: dict[grammar_texts.Syntax, Callable[[list[grammar_texts.Body]], str]] = {
    "gbnf": grammar_texts.gbnf,
    "ebnf": grammar_texts.ebnf,
    "lark": grammar_texts.lark,
}


def made(text: str, syntax: grammar_texts.Syntax) -> tuple[tokamata.Constraint | None, str]:
    """The constraint, or why there is none."""
    try:
        return tokamata.grammar(text, syntax=syntax, lexer="none"), ""
    except tokamata.ConstraintError as error:
        return None, str(error)


def compare(seed: int) -> int:
    """One grammar in all notations: how many of the short texts are its members."""
    rng = random.Random(seed)
    rules = rng.randrange(1, 5)
    bodies = [grammar_texts.random_body(rng, rules, rng.randrange(1, 4)) for _ in range(rules)]
    members = grammar_texts.short_texts(bodies, LONGEST)
    beginnings = {member[:i] for member in members for i in range(len(member) + 1)}
    for syntax, write in NOTATIONS.items():
        text = write(bodies)
        constraint, why = made(text, syntax)
        if constraint is None:
            assert (members, "no text" in why) == (set(), True), (seed, text, why)
            continue
        for candidate in TEXTS:
            assert constraint.accepts(candidate) == (candidate in members), (seed, text, candidate)
        for beginning in beginnings:
            assert constraint.accepts_prefix(beginning), (seed, text, beginning)
    return len(members)


def compare_many(count: int) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    found = [compare(seed + i) for i in range(count)]
    assert sum(n > 1 for n in found) > count // 5
    assert sum(1 < n < len(TEXTS) for n in found) > count // 8


def test_random_repetitions() -> None:
    compare_many(600)


@pytest.mark.slow
def test_many_random_repetitions() -> None:
    compare_many(20_000)
