"""union: laws by brute force, and OpenFst."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import _Algebra, assert_equivalent, assert_same, relation
from tokamata.automata import Fst, FstError, SymbolTable, union


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(40))
def test_weights_add_up(semiring, seed):
    rng = random.Random(seed)
    fsts = [random_fst(rng, semiring) for _ in range(rng.randint(1, 4))]
    k = _Algebra(semiring)
    want: dict = {}
    for fst in fsts:
        for pair, w in relation(fst, 3).items():
            want[pair] = k.back(k.plus(k.of(want[pair]), k.of(w))) if pair in want else w
    before = [f.to_bytes() for f in fsts]
    got = union(*fsts)
    assert_same(relation(got, 3), want, f"seed {seed}")
    assert before == [f.to_bytes() for f in fsts]
    if fsts[0].start() < 0:  # OpenFst then starts somewhere in the first operand
        return
    theirs = to_openfst(fsts[0])
    if len(fsts) > 1:
        theirs.union(*(to_openfst(f) for f in fsts[1:]))
    assert_equivalent(got, from_openfst(theirs, semiring), 3, f"seed {seed}")


def test_one_operand_and_empty_operands():
    fst = random_fst(random.Random(1))
    assert_equivalent(union(fst), fst)
    assert_equivalent(union(Fst(), fst, Fst()), fst)
    assert relation(union(Fst(), Fst())) == {}


def test_semirings_must_agree():
    with pytest.raises(FstError, match=r"union: both Fsts must have the same semiring, got tropical and log"):
        union(Fst("tropical"), Fst("log"))


def test_symbols_are_kept_and_must_agree():
    a, b, table, other = Fst(), Fst(), SymbolTable("t"), SymbolTable("o")
    table.add("<eps>")
    other.add("x")
    a.input_symbols = table
    assert list(union(b, a).input_symbols) == [(0, "<eps>")]
    assert union(b, a).output_symbols is None
    b.input_symbols = other
    with pytest.raises(FstError, match=r'union: the symbol tables "t" and "o" give labels different names'):
        union(a, b)
