"""connect: exactly OpenFst's machine, nothing useless left, the same relation."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_equivalent
from tokamata.automata import Fst, connect, properties


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(60))
def test_exactly_openfst(semiring, seed):
    fst = random_fst(random.Random(seed), semiring, states=8, arcs=10)
    got = connect(fst)
    known = properties(got, compute=False)
    assert (known.accessible, known.coaccessible) == (True, True)
    assert_equivalent(got, fst, 3, f"seed {seed}")
    assert connect(got).to_bytes() == got.to_bytes()
    if fst.start() < 0:  # OpenFst leaves such a machine as it is
        assert got.num_states() == 0
        return
    theirs = to_openfst(fst)
    theirs.connect()
    assert got.to_bytes() == from_openfst(theirs, semiring).to_bytes(), f"seed {seed}"


def test_nothing_accepted():
    fst = Fst()
    fst.add_states(3)
    fst.add_arc(0, 1, 1, None, 1)
    assert connect(fst).num_states() == 0
    fst.set_start(0)
    fst.set_final(2)
    assert connect(fst).num_states() == 0
    assert connect(fst).start() == -1


def test_a_long_chain_needs_no_stack():
    n = 300_000
    fst = Fst()
    fst.add_states(n)
    fst.set_start(0)
    for s in range(n - 1):
        fst.add_arc(s, 1, 1, None, s + 1)
    fst.set_final(n - 1)
    assert connect(fst).num_states() == n
    assert properties(fst).string
