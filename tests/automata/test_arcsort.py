"""arcsort: sorted, stable, the same arcs."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from tokamata.automata import Fst, FstError, arcsort, properties


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(30))
def test_sorted_and_stable(semiring, side, seed):
    fst = random_fst(random.Random(seed), semiring, arcs=40, labels=4)

    def key(arc):
        return (arc.ilabel, arc.olabel) if side == "input" else (arc.olabel, arc.ilabel)

    got = arcsort(fst, side)
    for s in fst.states():
        assert list(got.arcs(s)) == sorted(fst.arcs(s), key=key), f"seed {seed}"
        assert got.final(s) == fst.final(s)
    assert got.start() == fst.start()
    known = properties(got, compute=False)
    assert known.i_label_sorted if side == "input" else known.o_label_sorted
    theirs = to_openfst(fst)
    theirs.arcsort("ilabel" if side == "input" else "olabel")
    theirs = from_openfst(theirs, semiring)
    for s in fst.states():
        assert [key(a) for a in theirs.arcs(s)] == [key(a) for a in got.arcs(s)], f"seed {seed}"


def test_known_properties_survive():
    fst = random_fst(random.Random(3), arcs=30)
    want = properties(fst)
    known = properties(arcsort(fst, "output"), compute=False)
    assert (known.i_label_sorted, known.o_label_sorted) == (None, True)
    assert known.cyclic == want.cyclic
    assert known.i_deterministic == want.i_deterministic


def test_unknown_side():
    with pytest.raises(FstError, match=r"arcsort: unknown side 'ilabel'; expected \"input\" or \"output\""):
        arcsort(Fst(), "ilabel")
