"""reverse: every pair backwards, and OpenFst."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_equivalent, assert_same, relation
from tokamata.automata import Fst, reverse


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(40))
def test_pairs_backwards(semiring, seed):
    rng = random.Random(seed)
    fst = random_fst(rng, semiring)
    got = reverse(fst)
    want = {(x[::-1], y[::-1]): w for (x, y), w in relation(fst, 3).items()}
    assert_same(relation(got, 3), want, f"seed {seed}")
    assert_equivalent(reverse(got), fst, 3, f"seed {seed}")
    assert (got.num_states(), got.start()) == (fst.num_states() + 1, 0)
    if semiring != "log":
        import pywrapfst

        theirs = pywrapfst.reverse(to_openfst(fst))
        assert_equivalent(got, from_openfst(theirs, semiring), 3, f"seed {seed}")


def test_empty():
    assert relation(reverse(Fst())) == {}
