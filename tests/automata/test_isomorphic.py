"""isomorphic on renumbered machines, on changed ones, and against OpenFst."""

from __future__ import annotations

import random

import pytest
import pywrapfst
from oracle.machines import chain, machine, rebuilt, shuffled
from oracle.openfst import to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from tokamata.automata import Fst, FstError, isomorphic


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines(semiring):
    refused = changed = 0
    for seed in range(400):
        rng = random.Random(seed)
        fst = random_fst(rng, semiring, states=6, arcs=10)
        note = f"{semiring} seed {seed}"
        try:
            assert isomorphic(fst, shuffled(fst, rng)), note
        except FstError:
            refused += 1
            continue
        if not fst.num_arcs():
            continue
        arcs = {s: list(fst.arcs(s)) for s in fst.states()}
        s = rng.choice([s for s in fst.states() if arcs[s]])
        if rng.random() < 0.5:
            arcs[s][0] = arcs[s][0]._replace(olabel=arcs[s][0].olabel + 5)
        else:
            arcs[s][0] = arcs[s][0]._replace(nextstate=rng.randrange(fst.num_states()))
        other = shuffled(rebuilt(fst, arcs), rng)
        try:
            got = isomorphic(fst, other)
        except FstError:
            refused += 1
            continue
        changed += not got
        if fst.start() >= 0:
            assert pywrapfst.isomorphic(to_openfst(fst), to_openfst(other)) == got, note
    assert changed > 80
    assert refused < 150


def test_weights_compare_up_to_delta():
    a, b = chain([1, 2], weight=1.0), chain([1, 2], weight=1.0005)
    assert isomorphic(a, b)
    assert not isomorphic(a, b, delta=1e-6)
    b.set_final(2, 0.5)
    assert not isomorphic(a, b)
    assert isomorphic(Fst(), machine([(0, 1, 1, None, 0)], [0]).__class__())


def test_equivalent_but_not_isomorphic():
    loop = machine([(0, 1, 1, None, 0)], [0])
    two = machine([(0, 1, 1, None, 1), (1, 1, 1, None, 0)], [0, 1])
    assert not isomorphic(loop, two)
    assert not isomorphic(two, loop)
    assert isomorphic(loop, machine([(2, 1, 1, None, 2)], [2], start=2))


def test_the_mapping_is_one_to_one():
    # OpenFst 1.8 holds these isomorphic in one order of the operands: it does not check that states stay apart.
    two_ends = machine([(0, 1, 1, None, 1), (0, 2, 2, None, 2)], [0])
    one_end = machine([(0, 1, 1, None, 1), (0, 2, 2, None, 1)], [0])
    assert not isomorphic(two_ends, one_end)
    assert not isomorphic(one_end, two_ends)


def test_refused_operands():
    arcs = [(0, 1, 1, None, 1), (0, 1, 1, None, 2)]
    with pytest.raises(FstError, match=r"isomorphic: expected .* to lead to one state, got several.*determinize"):
        isomorphic(machine(arcs, [1]), machine(arcs, [1]))
    with pytest.raises(FstError, match=r"isomorphic: .*semiring"):
        isomorphic(Fst(), Fst("boolean"))
