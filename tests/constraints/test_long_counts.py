"""Counts of large lengths, by recurrences, against sums length by length and closed forms."""

from __future__ import annotations

import random
import time

import pytest
from oracle.random_constraint import random_constraint
from tokamata.automata import Fst, minimize
from tokamata.constraints import long_counts

import tokamata


def brute_force(fst: Fst, length: int) -> int:
    reached = {fst.start(): 1} if fst.num_states() else {}
    for _ in range(length):
        after: dict[int, int] = {}
        for state, number in reached.items():
            for arc in fst.arcs(state):
                after[arc.nextstate] = after.get(arc.nextstate, 0) + number
        reached = after
    return sum(number for state, number in reached.items() if fst.is_final(state))


@pytest.mark.parametrize("seed", range(40))
def test_recurrences_count_what_walks_do(seed: int) -> None:
    rng = random.Random(seed)
    constraint = random_constraint(rng, rng.randrange(2, 5))[0]
    fst = minimize(constraint.to_fst())
    if fst.num_states() > 20:
        fst = tokamata.regex("(ab|c{2,3}|[d-g]a)*x?").to_fst()
    for length in (0, 1, 2, 3, 7, 30, rng.randrange(100, 200)):
        assert long_counts.count_of_length(fst, length, 60, 2**28) == brute_force(fst, length), f"seed {seed}"


def test_large_lengths_take_little_time() -> None:
    start = time.thread_time()
    assert tokamata.regex("(a|b)*").count(10**6) == 2**10**6
    assert tokamata.regex("(a|b){5000}").count(10**4) == 0
    assert tokamata.regex("x(a|b)*|y{4096}").count(4096) == 2**4095 + 1
    assert tokamata.regex("a|b").count(10**18) == 0
    three = (~tokamata.regex("G...")).repeat(3, 3)
    assert three.count(5000) % (2**61 - 1) == three.minimize().count(5000) % (2**61 - 1)
    assert three.count(30_000).bit_length() > 200_000
    assert time.thread_time() - start < 10


def test_limits_of_large_lengths() -> None:
    small, short = tokamata.Limits(count_bytes=10_000), tokamata.Limits(search_seconds=0.2)
    with pytest.raises(tokamata.LimitError, match=r"^count: the limit count_bytes=10000 .*\(count_bytes=\.\.\.\)$"):
        tokamata.regex("(a|bc)*", limits=small).count(10**6)
    with pytest.raises(
        tokamata.LimitError, match=r"^count: the limit search_seconds=0\.2 .*\(search_seconds=\.\.\.\)$"
    ):
        tokamata.regex("(a|bc|.x)*", limits=short).count(10**9)
    many = tokamata.regex("(a|b)*c(a|b){40}", limits=tokamata.Limits(count_bytes=10_000))  # too many states for these
    with pytest.raises(tokamata.LimitError, match=r"^count: the limit count_bytes=10000 was reached"):
        many.count(10**5)


def test_examples_have_a_limit_of_memory() -> None:
    constraint = tokamata.regex("[a-z]*", limits=tokamata.Limits(count_bytes=100_000))
    assert len(constraint.examples(100)) == 100
    with pytest.raises(
        tokamata.LimitError, match=r"^examples: the limit count_bytes=100000 was reached by \d+ texts; "
    ):
        constraint.examples(10**7)
