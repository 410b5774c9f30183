"""intersect against the intersection of weighted languages by brute force, and against OpenFst."""

from __future__ import annotations

import math
import random

import pytest
import pywrapfst
from oracle.machines import by_label, chain, machine
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import Fst, FstError, IntersectFst, LimitError, intersect


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_acceptors(semiring):
    shared = 0
    for seed in range(300):
        rng = random.Random(seed)
        # Over log, epsilon cycles (of the product too) may have no finite sum.
        epsilons = semiring != "log" or rng.random() < 0.5
        acyclic = semiring == "log" and epsilons
        a, b = (
            random_fst(rng, semiring, states=6, arcs=14, labels=2, acceptor=True, epsilons=epsilons, acyclic=acyclic)
            for _ in range(2)
        )
        x, y = relation(a, 4), relation(b, 4)
        want = {s: 1.0 if semiring == "boolean" else x[s] + y[s] for s in x.keys() & y.keys()}
        shared += len(want)
        note = f"{semiring} seed {seed}"
        a = by_label(a, "olabel")
        got = relation(intersect(a, b), 4)
        assert_same(got, want, note)
        assert_same(relation(intersect(by_label(b, "ilabel"), a), 4), want, note)
        theirs = from_openfst(pywrapfst.intersect(to_openfst(a), to_openfst(b)), semiring)
        assert_same(relation(theirs, 4), got, f"{note} (OpenFst)")
    assert shared > 300


def test_result_is_an_acceptor():
    got = intersect(machine([(0, 0, 0, 1.0, 1), (1, 3, 3, 2.0, 1)], {1: 4.0}), chain([3, 3]))
    assert all(a.ilabel == a.olabel for s in got.states() for a in got.arcs(s))
    assert relation(got, 3) == {((3, 3), (3, 3)): 9.0}


def test_refused_operands():
    transducer = machine([(0, 1, 2, None, 0)], [0])
    with pytest.raises(FstError, match=r"intersect: the second operand must be an acceptor .*project"):
        intersect(chain([1]), transducer)
    with pytest.raises(FstError, match=r"intersect: the first operand must be an acceptor"):
        intersect(transducer, chain([1]))
    with pytest.raises(FstError, match=r"intersect: .*got log and tropical"):
        intersect(Fst("log"), Fst())
    with pytest.raises(LimitError, match=r"intersect: reached max_states \(3/2\)"):
        intersect(chain([1, 2, 3]), chain([1, 2, 3]), max_states=2)
    assert intersect(chain([1]), chain([2])).num_states() == 0
    assert math.isinf(intersect(chain([1]), chain([2]), connect=False).final(0))


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_delayed(semiring):
    for seed in range(100):
        rng = random.Random(seed)
        a, b = (random_fst(rng, semiring, acceptor=True, acyclic=True) for _ in range(2))
        a = by_label(a, "olabel")
        assert_same(relation(IntersectFst(a, b).expand(), 4), relation(intersect(a, b), 4), f"{semiring} seed {seed}")
    with pytest.raises(FstError, match=r"IntersectFst: the first operand must be an acceptor"):
        IntersectFst(machine([(0, 1, 2, None, 0)], [0]), chain([1]))
