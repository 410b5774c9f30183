"""concat: laws by brute force, and OpenFst."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import _Algebra, assert_equivalent, assert_same, relation
from tokamata.automata import Fst, FstError, concat


def product(semiring, a, b, length):
    k = _Algebra(semiring)
    sums: dict = {}
    for (x, y), v in a.items():
        for (x2, y2), w in b.items():
            pair = x + x2, y + y2
            if len(pair[0]) <= length and len(pair[1]) <= length:
                value = k.times(k.of(v), k.of(w))
                sums[pair] = k.plus(sums[pair], value) if pair in sums else value
    return {pair: k.back(v) for pair, v in sums.items()}


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(40))
def test_weights_multiply(semiring, seed):
    rng = random.Random(seed)
    a, b = (random_fst(rng, semiring, states=4, arcs=7, labels=2) for _ in range(2))
    want = product(semiring, relation(a, 3), relation(b, 3), 3)
    got = concat(a, b)
    assert_same(relation(got, 3), want, f"seed {seed}")
    theirs = to_openfst(a)
    theirs.concat(to_openfst(b))
    assert_equivalent(got, from_openfst(theirs, semiring), 3, f"seed {seed}")


def test_many_operands_are_pairwise_concatenation():
    rng = random.Random(5)
    a, b, c = (random_fst(rng, states=3, arcs=5) for _ in range(3))
    assert_equivalent(concat(a, b, c), concat(concat(a, b), c))
    assert_equivalent(concat(a, b, c), concat(a, concat(b, c)))
    assert_equivalent(concat(a), a)


def test_an_empty_operand_makes_it_empty():
    fst = random_fst(random.Random(2))
    assert concat(fst, Fst()).num_states() == 0
    assert concat(Fst(), fst).num_states() == 0


def test_semirings_must_agree():
    with pytest.raises(FstError, match=r"concat: both Fsts must have the same semiring, got boolean and log"):
        concat(Fst("boolean"), Fst("log"))
