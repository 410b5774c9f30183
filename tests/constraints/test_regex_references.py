"""Backreferences and conditional groups of Python's syntax, where they stand for a few texts, against ``re``."""

from __future__ import annotations

import datetime
import itertools
import random
import re

import pytest

import tokamata

# Dates with one separator, and the days that there are (a pattern of many web pages).
DATE = (
    r"(?:(?:31(\/|-|\.)(?:0?[13578]|1[02]))\1|(?:(?:29|30)(\/|-|\.)(?:0?[13-9]|1[0-2])\2))(?:(?:1[6-9]|[2-9]\d)?\d{2})"
    r"|(?:29(\/|-|\.)0?2\3(?:(?:(?:1[6-9]|[2-9]\d)?(?:0[48]|[2468][048]|[13579][26])|(?:(?:16|[2468][048]|[3579][26])00))))"
    r"|(?:0?[1-9]|1\d|2[0-8])(\/|-|\.)(?:(?:0?[1-9])|(?:1[0-2]))\4(?:(?:1[6-9]|[2-9]\d)?\d{2})"
)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(['\"])a*\1",
        r"(?:(['\"])a*\1,?)*",
        r"(a|b)c\1",
        r"(a|ab)(c|bc)\1",
        r"(a|b)?c\1",
        r"(?:(a)|b)c\1",
        r"(?:(a)|b)(?(1)c|a)",
        r"(a)?(b)?(?(1)c|a)(?(2)c)",
        r"(\()?a(?(1)\))",
        r"(a|b)(c|a)\1\2",
        r"((a|b)c\2)b",
        r"(a{1,2}?)b*\1",
        r"(?i)(a|b)c\1",
        r"(a|b)(?i:\1)",
        r"(?i:(a|b))\1",
        r"(a|b)(?!\1)[abc]",
        r"(a|b)c(?<=\1c)",
        r"(a|b)(?>\1|ac)c?",
        r"(a|b)\1{2,3}",
        r"(a?)b\1c",
        r"([abc])(?:(?!\1).)*\1",
        r"(?:([ab])(?!\1))+",
        r"(?P<q>a|b)c(?P=q)",
    ],
)
def test_short_texts_are_re_s(pattern: str) -> None:
    constraint, expected = tokamata.regex(pattern), re.compile(pattern)
    accepted = 0
    for text in ("".join(t) for n in range(6) for t in itertools.product("abcA'\"()", repeat=n)):
        assert constraint.accepts(text) == bool(expected.fullmatch(text)), text
        accepted += constraint.accepts(text)
    assert accepted


@pytest.mark.parametrize("seed", range(3))
def test_dates_with_one_separator(seed: int) -> None:
    rng, constraint, expected = random.Random(seed), tokamata.regex(DATE), re.compile(DATE)
    first, accepted = datetime.date(1996, 1, 1), 0
    for _ in range(2000):
        day = first + datetime.timedelta(rng.randrange(4000))
        parts = [str(day.day + rng.choice([0, 0, 0, 1])), str(day.month), str(day.year)]
        separators = rng.choices("/-.", k=2)
        text = parts[0] + separators[0] + parts[1] + rng.choice(separators) + parts[2]
        assert constraint.accepts(text) == bool(expected.fullmatch(text)), text
        accepted += constraint.accepts(text)
    assert accepted > 500


@pytest.mark.parametrize(
    ("pattern", "alphabet"),
    [
        (r"(?P<q>['\"])(?P<body>.*?)(?P=q)(?P<rest>.*)", "ab'\""),
        (r"(?P<open>a|ab)(?P<inside>b*)(?P=open)(?P<after>b?)", "ab"),
        (r"(?P<q>a{1,2}?)(?P<x>a*)(?P=q)", "ab"),
        (r"(?P<q>a{,2})(?P<x>a*)(?P=q)", "ab"),
    ],
)
def test_captures_are_re_s(pattern: str, alphabet: str) -> None:
    constraint, expected = tokamata.regex(pattern), re.compile(pattern)
    found = 0
    for text in ("".join(t) for n in range(7) for t in itertools.product(alphabet, repeat=n)):
        match = expected.fullmatch(text)
        assert constraint.accepts(text) == bool(match), text
        if match:
            assert constraint.captures(text) == {k: v.encode() for k, v in match.groupdict().items()}, text
            found += 1
    assert found > 3
