"""prune keeps near-best paths with their weights, as OpenFst does."""

from __future__ import annotations

import random

import pytest
from oracle.machines import machine
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import Fst, FstError, isomorphic, prune, shortestdistance


def test_random_machines():
    dropped = 0
    for seed in range(300):
        rng = random.Random(seed)
        fst = random_fst(rng, states=6, arcs=16, labels=2)
        threshold = rng.randint(0, 24) / 4
        got, note = prune(fst, weight=threshold), f"seed {seed}"
        theirs = to_openfst(fst)
        theirs.prune(weight=threshold)
        assert_same(relation(got, 3), relation(from_openfst(theirs), 3), f"{note} (OpenFst)")
        assert (got.num_states(), got.num_arcs()) == (theirs.num_states(), from_openfst(theirs).num_arcs()), note
        if fst.start() >= 0:
            limit = shortestdistance(fst, reverse=True)[fst.start()] + threshold
            kept = relation(got, 3)
            want = relation(fst, 3)
            near = {p: w for p, w in want.items() if w <= limit}
            assert_same({p: w for p, w in kept.items() if w <= limit}, near, note)
            dropped += len(kept) < len(want)
    assert dropped > 50


def test_parts_of_good_paths_stay():
    fst = machine([(0, 1, 1, 0.0, 1), (0, 2, 2, 1.0, 1), (1, 3, 3, 0.0, 2), (1, 4, 4, 1.0, 2)], [2])
    assert relation(prune(fst, weight=1), 2) == relation(fst, 2)
    assert relation(prune(fst, weight=0.5), 2) == {((1, 3), (1, 3)): 0}


def test_the_best_path_stays_where_its_parts_are_long():
    arcs = [(0, 1, 1, 1000.0, 1), (0, 2, 2, 999.0, 2), (2, 3, 3, 0.9995, 1), (1, 4, 4, -1.0, 0)]
    fst = machine(arcs, [])
    fst.set_final(1, -999.9995)
    for threshold in (0, 0.0004):
        assert ((2, 3), (2, 3)) in relation(prune(fst, weight=threshold), 3)


def test_refused_arguments():
    with pytest.raises(FstError, match=r"prune: the semiring must have the path property .*got log"):
        prune(Fst("log"), weight=1)
    with pytest.raises(FstError, match=r"prune: weight must be at least 0, got -1"):
        prune(Fst(), weight=-1)
    with pytest.raises(FstError, match=r"prune: a cycle of negative total weight"):
        prune(machine([(0, 1, 1, -1.0, 0)], [0]), weight=1)
    loop = machine([(0, 1, 1, None, 0)], [0], semiring="boolean")
    assert isomorphic(prune(loop, weight=0), loop)
