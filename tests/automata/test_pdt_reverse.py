"""Pdt.reverse: reversal and expansion commute, twice is the machine itself, and pynini agrees."""

from __future__ import annotations

import random

import pynini
import pytest
from oracle.openfst import from_openfst
from oracle.random_fst import SEMIRINGS
from oracle.random_pdt import nested, random_pdt, to_pynini, weights
from oracle.relation import assert_same, relation
from tokamata.automata import FstError, reverse


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines(semiring):
    compared = 0
    for seed in range(300):
        rng = random.Random(seed)
        pdt = random_pdt(rng, semiring, epsilon_cycles=False)
        truncation = {} if pdt.depth() is not None else {"max_depth": 2, "truncate": True}
        note = f"{semiring} seed {seed}"
        words = weights(pdt.expand(**truncation), 3)
        if words is None:
            continue
        backwards = weights(reverse(pdt.expand(**truncation)), 3)
        got = pdt.reverse()
        assert got.depth() == pdt.depth(), note
        assert_same(weights(got.expand(**truncation), 3), backwards, note, 1e-3)
        assert backwards.keys() == {(x[::-1], y[::-1]) for x, y in words}, note
        assert_same(weights(got.reverse().expand(**truncation), 3), words, note, 1e-3)
        compared += len(words) > 1
    assert compared > 60


def test_acyclic_machines_against_pynini():
    for seed in range(200):
        pdt = random_pdt(random.Random(seed), acyclic=True)
        fst, parens = to_pynini(pdt)
        theirs = from_openfst(pynini.pdt_expand(pynini.pdt_reverse(fst, parens), parens))
        assert_same(relation(pdt.reverse().expand(), 4), relation(theirs, 4), f"seed {seed}")


def test_parentheses_change_sides():
    assert nested().reverse().accepts([2, 2, 1, 1])
    assert not nested().reverse().accepts([1, 1, 2, 2])
    pdt = nested()
    pdt.fst.add_arc(0, 3, 100, None, 0)
    with pytest.raises(FstError, match=r"Pdt.reverse: expected a parenthesis on both sides"):
        pdt.reverse()
