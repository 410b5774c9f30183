"""difference against brute force enumeration, against OpenFst, and by the laws of sets."""

from __future__ import annotations

import random

import pytest
import pywrapfst
from oracle.machines import by_label, chain, machine
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import DifferenceFst, Fst, FstError, LimitError, difference, intersect


def operands(rng: random.Random, semiring) -> tuple[Fst, Fst]:
    a = random_fst(rng, semiring, states=6, arcs=14, labels=2, acceptor=True, epsilon_cycles=semiring != "log")
    b = random_fst(rng, semiring, states=5, arcs=12, labels=2, acceptor=True, weighted=False, deterministic=True)
    return a, by_label(b, "ilabel")


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_acceptors(semiring):
    kept = dropped = 0
    for seed in range(300):
        rng = random.Random(seed)
        a, b = operands(rng, semiring)
        x, y = relation(a, 4), relation(b, 4)
        want = {s: w for s, w in x.items() if s not in y}
        kept, dropped = kept + len(want), dropped + len(x) - len(want)
        note = f"{semiring} seed {seed}"
        got = relation(difference(a, b), 4)
        assert_same(got, want, note)
        assert_same(relation(difference(a, b, connect=False), 4), want, f"{note}, not connected")
        assert_same(got | relation(intersect(a, b), 4), x, f"{note}: (a - b) | (a & b) = a")
        if b.start() < 0:
            continue  # OpenFst makes the difference with an empty machine empty
        theirs = from_openfst(pywrapfst.difference(to_openfst(a), to_openfst(b)), semiring)
        assert_same(relation(theirs, 4), got, f"{note} (OpenFst)")
    assert kept > 300
    assert dropped > 300


def test_nothing_taken_away():
    a = machine([(0, 1, 1, 0.5, 1)], {1: 1.0})
    assert relation(difference(a, Fst()), 2) == {((1,), (1,)): 1.5}
    assert difference(a, chain([1])).num_states() == 0
    assert difference(Fst(), a := chain([1])).num_states() == 0 == difference(a, a).num_states()


def test_refused_operands():
    a = chain([1])
    for bad, remedy in [
        (machine([(0, 1, 2, None, 0)], [0]), "must be an acceptor .*project"),
        (machine([(0, 0, 0, None, 0)], [0]), "must be epsilon-free, got epsilon arcs; apply rmepsilon"),
        (machine([(0, 1, 1, None, 0), (0, 1, 1, None, 1)], [0]), "must be deterministic, .*apply determinize"),
        (machine([(0, 1, 1, 2.0, 0)], [0]), "must be unweighted"),
        (machine([(0, 1, 1, None, 0)], {0: 2.0}), "must be unweighted"),
        (machine([(0, 2, 2, None, 0), (0, 1, 1, None, 0)], [0]), "sorted by input label; apply arcsort"),
    ]:
        with pytest.raises(FstError, match=rf"difference: the second operand.*{remedy}"):
            difference(a, bad)
    with pytest.raises(FstError, match=r"difference: the first operand must be an acceptor"):
        difference(machine([(0, 1, 2, None, 0)], [0]), a)
    with pytest.raises(FstError, match=r"difference: .*semiring"):
        difference(Fst("log"), a)
    with pytest.raises(LimitError, match=r"difference: reached max_states \(3/2\)"):
        difference(chain([1, 2, 3]), chain([2]), max_states=2)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_delayed(semiring):
    for seed in range(100):
        a, b = operands(random.Random(seed), semiring)
        delayed = DifferenceFst(a, b)
        assert_same(relation(delayed.expand(), 3), relation(difference(a, b), 3), f"{semiring} seed {seed}")
    with pytest.raises(FstError, match=r"DifferenceFst: the second operand must be epsilon-free"):
        DifferenceFst(chain([1]), chain([0]))
    with pytest.raises(LimitError, match=r"DifferenceFst: reached max_states \(3/2\)"):
        DifferenceFst(chain([1, 2, 3]), chain([2]), max_states=2).expand()
