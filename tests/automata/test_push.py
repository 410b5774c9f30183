"""push keeps every weight and leaves each state's weights adding up to one."""

from __future__ import annotations

import math
import random

import pytest
from oracle.machines import machine, ring
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import Fst, FstError, LimitError, push, shortestdistance


def total(fst: Fst) -> float:
    return float(shortestdistance(fst, reverse=True)[fst.start()]) if fst.start() >= 0 else math.inf


@pytest.mark.parametrize("reweight_type", ["to_initial", "to_final"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines(semiring, reweight_type):
    checked = 0
    for seed in range(200):
        rng = random.Random(seed)
        fst = random_fst(rng, semiring, states=6, arcs=14, labels=2, acyclic=semiring == "log" and rng.random() < 0.8)
        note = f"{semiring} {reweight_type} seed {seed}"
        try:
            got = push(fst, reweight_type=reweight_type)
            before = shortestdistance(fst, reverse=True)
        except FstError:  # no finite total weight
            assert semiring == "log", note
            continue
        assert_same(relation(got, 3), relation(fst, 3), note, 1e-3)
        if semiring == "boolean" or fst.start() < 0 or math.isinf(before[fst.start()]):
            continue
        unit = push(fst, reweight_type=reweight_type, remove_total_weight=True)
        assert total(unit) == pytest.approx(0, abs=1e-3), note
        assert_same({p: w + before[fst.start()] for p, w in relation(unit, 3).items()}, relation(fst, 3), note, 1e-3)
        checked += 1
        if reweight_type == "to_initial":
            after = shortestdistance(unit, reverse=True)
            assert all(after[s] == pytest.approx(0, abs=1e-3) for s in unit.states() if not math.isinf(after[s])), note
            theirs = to_openfst(fst)
            theirs.push(remove_total_weight=True)
            if semiring == "tropical":
                assert_same(relation(from_openfst(theirs), 3), relation(unit, 3), f"{note} (OpenFst)", 1e-3)
    assert checked > 60 or semiring == "boolean"


def test_start_that_is_entered_is_copied():
    got = push(machine([(0, 1, 1, 1.0, 0)], {0: 2.0}))
    assert got.num_states() == 2
    assert got.final(got.start()) == 2
    assert [a.weight for a in got.arcs(got.start())] == [3]
    assert [(a.weight, a.nextstate) for a in got.arcs(0)] == [(1, 0)]
    assert got.final(0) == 0


def test_refused_arguments():
    with pytest.raises(FstError, match='push: reweight_type must be "to_initial" or "to_final", got 1'):
        push(Fst(), reweight_type=1)
    with pytest.raises(FstError, match=r"push: a cycle of negative total weight"):
        push(machine([(0, 1, 1, -1.0, 0)], [0]))
    with pytest.raises(LimitError, match=r"push: reached max_visits"):
        push(ring(40, 0.0))
    with pytest.raises(FstError, match=r"push: the sum over the cycles through state 0 has no finite value"):
        push(ring(1, 0.0))
    assert push(Fst()).num_states() == 0
