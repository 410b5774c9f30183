"""Pdt.shortestdistance against the expansion, and against closed forms where the stack has no bound."""

from __future__ import annotations

import math
import random

import pytest
from oracle.machines import machine, rebuilt
from oracle.random_fst import SEMIRINGS
from oracle.random_pdt import nested, random_pdt, random_rules
from tokamata.automata import Fst, FstError, LimitError, Pdt, shortestdistance


def total(fst: Fst) -> float:
    zero = 0.0 if fst.semiring == "boolean" else math.inf
    return float(shortestdistance(fst, reverse=True)[fst.start()]) if fst.start() >= 0 else zero


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines_against_the_expansion(semiring):
    compared = 0
    for seed in range(1000):
        rng = random.Random(seed)
        pdt = random_pdt(rng, semiring, acyclic=rng.random() < 0.5)
        if pdt.depth() is None:
            continue
        whole = pdt.expand()
        try:
            want = total(whole)
        except FstError:
            with pytest.raises(FstError, match=r"Pdt.shortestdistance: the sum over the cycles .* no finite value"):
                pdt.shortestdistance()
            continue
        assert pdt.shortestdistance() == pytest.approx(want, rel=1e-4, abs=1e-4), f"{semiring} seed {seed}"
        compared += (pdt.depth() or 0) > 0
    assert compared > 60


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_rules_against_the_expansion(semiring):
    compared = 0
    for seed in range(600):
        pdt = Pdt.from_rules(10, random_rules(random.Random(seed), semiring, recursive=False))
        want = total(pdt.expand())
        assert pdt.shortestdistance() == pytest.approx(want, rel=1e-4, abs=1e-4), f"{semiring} seed {seed}"
        compared += (pdt.depth() or 0) > 0
    assert compared > 60


def branching(p: float) -> Pdt:
    """S = S S with probability p, x with 1 - p: the sum over all derivations is the chance that S ends."""
    both, one = -math.log(p), -math.log(1 - p)
    arcs = [(0, 9, 9, both, 1), (1, 9, 9, None, 2), (0, 1, 1, one, 2)]
    return Pdt.from_rules(9, [(9, machine(arcs, [2], semiring="log"))])


@pytest.mark.parametrize("p", [0.1, 0.3, 0.45, 0.6, 0.9])
def test_chance_that_a_branching_rule_ends(p):
    assert math.exp(-branching(p).shortestdistance()) == pytest.approx(min(1, (1 - p) / p), rel=1e-4)


def test_sums_over_unbounded_depth():
    # The sum of q^n for n > 0.
    q = 0.7
    assert math.exp(-nested("log", -math.log(q)).shortestdistance()) == pytest.approx(q / (1 - q), rel=1e-4)
    compared = 0
    for seed in range(400):
        pdt = random_pdt(random.Random(seed), "log", labels=1)
        heavier = Pdt(
            rebuilt(
                pdt.fst, {s: [a._replace(weight=a.weight + 2.0) for a in pdt.fst.arcs(s)] for s in pdt.fst.states()}
            ),
            pdt.parens,
        )
        if pdt.depth() is not None:
            continue
        # Deep derivations weigh little: truncation approaches the sum from below.
        got = math.exp(-heavier.shortestdistance())
        parts = [math.exp(-total(heavier.expand(max_depth=depth, truncate=True))) for depth in (1, 4)]
        assert parts[0] <= parts[1] * (1 + 1e-5), f"seed {seed}"
        assert parts[1] <= got * (1 + 1e-5), f"seed {seed}"
        assert got == pytest.approx(parts[1], rel=0.05), f"seed {seed}"
        compared += parts[0] < parts[1]
    assert compared > 20


def test_sums_without_finite_value():
    # S = S S or x, both with probability one: infinitely many derivations of weight one.
    arcs = [(0, 9, 9, 0.0, 1), (1, 9, 9, None, 2), (0, 1, 1, 0.0, 2)]
    pdt = Pdt.from_rules(9, [(9, machine(arcs, [2], semiring="log"))])
    with pytest.raises((FstError, LimitError), match=r"Pdt.shortestdistance: .* no finite value"):
        pdt.shortestdistance()
    with pytest.raises(LimitError, match=r"Pdt.shortestdistance: reached max_visits \(4/3\)"):
        branching(0.45).shortestdistance(max_visits=3)


def test_trivial_machines():
    assert Pdt(Fst(), []).shortestdistance() == math.inf
    assert Pdt(Fst("boolean"), []).shortestdistance() == 0
    assert Pdt(Fst("log"), []).shortestdistance() == math.inf
    assert nested("boolean").shortestdistance() == 1
    assert nested(weight=0.5).shortestdistance() == 0.5
    lowered = machine([(0, 100, 100, -1.0, 0), (0, 1, 1, None, 1), (1, 200, 200, 0.5, 1)], [1])
    with pytest.raises(FstError, match=r"Pdt.shortestdistance: a balanced cycle of negative total weight"):
        Pdt(lowered, [(100, 200)]).shortestdistance()
