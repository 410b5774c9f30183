"""project: sums over the other side, and exactly OpenFst's machine."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import _Algebra, assert_same, relation
from tokamata.automata import Fst, FstError, SymbolTable, project, properties


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(30))
def test_exactly_openfst(semiring, side, seed):
    fst = random_fst(random.Random(seed), semiring)
    got = project(fst, side)
    assert properties(got, compute=False).acceptor
    theirs = to_openfst(fst)
    theirs.project(side)
    assert got.to_bytes() == from_openfst(theirs, semiring).to_bytes(), f"seed {seed}"


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(30))
def test_sums_over_the_other_side(semiring, seed):
    fst = random_fst(random.Random(seed), semiring, acyclic=True)
    k = _Algebra(semiring)
    for side in (0, 1):
        sums: dict = {}
        for pair, w in relation(fst, 5).items():
            key = pair[side], pair[side]
            sums[key] = k.plus(sums[key], k.of(w)) if key in sums else k.of(w)
        want = {key: k.back(v) for key, v in sums.items()}
        assert_same(relation(project(fst, ("input", "output")[side]), 5), want, f"seed {seed}")


def test_symbols_follow_the_side():
    fst = Fst()
    fst.output_symbols = SymbolTable("out")
    assert project(fst, "output").input_symbols.name == "out"
    assert project(fst, "input").output_symbols is None


def test_unknown_side():
    with pytest.raises(FstError, match=r"project: unknown side 'left'; expected \"input\" or \"output\""):
        project(Fst(), "left")
