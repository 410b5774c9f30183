"""closure: the fixpoint by brute force, and OpenFst."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import _Algebra, assert_equivalent, assert_same, relation
from tokamata.automata import Fst, FstError, closure, concat


def without_empty_pair(rng, semiring):
    """A machine that does not relate the empty strings, so that powers above the length add nothing."""
    while True:
        fst = random_fst(rng, semiring, states=4, arcs=7, labels=2)
        if ((), ()) not in relation(fst, 0):
            return fst


@pytest.mark.parametrize("kind", ["star", "plus"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(25))
def test_sum_of_powers(semiring, kind, seed):
    rng = random.Random(seed)
    fst = without_empty_pair(rng, semiring)
    k = _Algebra(semiring)
    want: dict = {((), ()): k.back(k.one)} if kind == "star" else {}
    power = fst
    for _ in range(4):  # a pair within (2, 2) has at most four factors that are not empty on both sides
        for pair, w in relation(power, 2).items():
            want[pair] = k.back(k.plus(k.of(want[pair]), k.of(w))) if pair in want else w
        power = concat(power, fst)
    got = closure(fst, kind=kind)
    assert_same(relation(got, 2), want, f"seed {seed}")
    theirs = to_openfst(fst)
    theirs.closure(kind)
    assert_equivalent(got, from_openfst(theirs, semiring), 2, f"seed {seed}")


@pytest.mark.parametrize("semiring", ["tropical", "boolean"])
@pytest.mark.parametrize("seed", range(25))
def test_star_and_plus_of_anything(semiring, seed):
    rng = random.Random(seed)
    fst = random_fst(rng, semiring)
    for kind in ("star", "plus"):
        theirs = to_openfst(fst)
        theirs.closure(kind)
        assert_equivalent(closure(fst, kind=kind), from_openfst(theirs, semiring), 3, f"seed {seed}")
    assert_equivalent(closure(closure(fst)), closure(fst), 3, f"seed {seed}")


def test_without_a_start():
    assert relation(closure(Fst())) == {((), ()): 0.0}
    assert relation(closure(Fst(), kind="plus")) == {}


def test_unknown_kind():
    with pytest.raises(FstError, match=r"closure: unknown kind 'question'; expected \"star\" or \"plus\""):
        closure(Fst(), kind="question")
