"""Delimited lists and subsequences, against joined lists."""

from __future__ import annotations

import itertools
import time

import pytest

import tokamata


def test_lists() -> None:
    element = tokamata.regex("[ab]")
    for low, high in [(0, 2), (1, 3), (2, 2), (0, 1)]:
        want = {";".join(t) for n in range(low, high + 1) for t in itertools.product("ab", repeat=n)}
        assert tokamata.delimited_list(element, ";", low, high).equivalent(tokamata.choice(sorted(want)))
    assert tokamata.delimited_list("a").equivalent(tokamata.regex("a(, a)*"))
    assert tokamata.delimited_list("a", tokamata.regex(" *, *"), 0).equivalent(tokamata.regex("(a( *, *a)*)?"))


def test_subsequences() -> None:
    for options in (["red", "green", "blue"], ["a", "ab", "", "a"], ["x"], ["a;b", "b", "c"]):
        want = {";".join(t) for n in range(1, len(options) + 1) for t in itertools.combinations(options, n)}
        made = tokamata.delimited_subsequence_of(options, ";")
        assert made.equivalent(tokamata.choice(sorted(want))), options
        assert tokamata.delimited_subsequence_of(options, ";", empty=True).equivalent(tokamata.choice([*want, ""]))
    numbers = tokamata.delimited_subsequence_of([tokamata.regex("[0-9]+"), "x"], tokamata.regex(",|;"))
    assert numbers.equivalent(tokamata.regex("[0-9]+([,;]x)?|x"))


def test_many_options() -> None:
    options = [f"option {i}" for i in range(2000)]
    begin = time.process_time()
    made = tokamata.delimited_subsequence_of(options)
    assert made.accepts(", ".join(options[::7]))
    assert not made.accepts("option 8, option 7")
    assert time.process_time() - begin < 5


def test_arguments() -> None:
    with pytest.raises(
        ValueError, match=r"delimited_list: expected 0 <= low <= high < .*, got low=2, high=1; pass high=None"
    ):
        tokamata.delimited_list("a", ",", 2, 1)
    with pytest.raises(ValueError, match="expected at least one option, got none"):
        tokamata.delimited_subsequence_of([])
    with pytest.raises(TypeError, match="expected several options, got one"):
        tokamata.delimited_subsequence_of("abc")
