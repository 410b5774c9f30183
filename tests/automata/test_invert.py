"""invert: pairs exchanged, and exactly OpenFst's machine."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import Fst, SymbolTable, invert


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(30))
def test_pairs_exchanged(semiring, seed):
    fst = random_fst(random.Random(seed), semiring)
    got = invert(fst)
    assert_same(relation(got, 3), {(y, x): w for (x, y), w in relation(fst, 3).items()}, f"seed {seed}")
    assert invert(got).to_bytes() == fst.to_bytes()
    theirs = to_openfst(fst)
    theirs.invert()
    assert got.to_bytes() == from_openfst(theirs, semiring).to_bytes(), f"seed {seed}"


def test_symbols_change_places():
    fst, table = Fst(), SymbolTable("left")
    fst.input_symbols = table
    assert invert(fst).input_symbols is None
    assert invert(fst).output_symbols.name == "left"
