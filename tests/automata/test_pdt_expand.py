"""Pdt.expand against expansion by brute force and against pynini; limits, truncation and pruning."""

from __future__ import annotations

import math
import random
import time

import pynini
import pytest
from oracle.machines import machine
from oracle.openfst import from_openfst
from oracle.random_fst import SEMIRINGS
from oracle.random_pdt import expanded, nested, random_pdt, to_pynini, weights
from oracle.relation import assert_equivalent, assert_same, relation
from tokamata.automata import Fst, FstError, LimitError, Pdt, connect, prune, shortestdistance


def total(fst: Fst) -> float:
    return float(shortestdistance(fst, reverse=True)[fst.start()]) if fst.start() >= 0 else math.inf


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines_against_brute_force_and_pynini(semiring):
    compared = unbounded = 0
    for seed in range(700):
        rng = random.Random(seed)
        pdt = random_pdt(rng, semiring, acyclic=rng.random() < 0.4, epsilon_cycles=False)
        keep = rng.random() < 0.5
        note = f"{semiring} seed {seed} keep {keep}"
        want = expanded(pdt, keep=keep)
        if want is None:
            unbounded += 1
            continue
        want = connect(want)
        got = pdt.expand(keep_parentheses=keep)
        assert (got.num_states(), got.num_arcs()) == (want.num_states(), want.num_arcs()), note
        words = weights(want, 3)
        if words is None:
            continue
        assert_same(weights(got, 3), words, note)
        theirs = from_openfst(pynini.pdt_expand(*to_pynini(pdt), keep_parentheses=keep), semiring)
        assert (got.num_states(), got.num_arcs()) == (theirs.num_states(), theirs.num_arcs()), note
        assert_same(weights(theirs, 3), words, note)
        compared += got.num_states() > 3
    assert compared > 80
    assert unbounded > 60


def test_unbounded_stacks_that_no_path_needs():
    # The brackets at state 0 never close; those at state 1 are entered only where they cannot close.
    fst = machine(
        [
            (0, 100, 100, None, 0),
            (0, 1, 1, None, 2),
            (0, 101, 101, None, 1),
            (1, 100, 100, None, 1),
            (1, 2, 2, None, 2),
        ],
        [2],
    )
    assert relation(Pdt(fst, [(100, 200), (101, 201)]).expand(), 3) == {((1,), (1,)): 0}


def test_contexts_are_told_apart():
    # State 1 is entered from 0 and, with the other pair, from itself, which closes only into a dead end.
    arcs = [
        (0, 100, 100, None, 1),
        (1, 101, 101, None, 1),
        (1, 1, 1, None, 2),
        (2, 200, 200, None, 3),
        (2, 201, 201, None, 4),
    ]
    pdt = Pdt(machine(arcs, [3]), [(100, 200), (101, 201)])
    assert pdt.depth() == 1
    assert relation(pdt.expand(), 4) == {((1,), (1,)): 0}
    arcs[4] = (2, 201, 201, None, 2)
    pdt = Pdt(machine(arcs, [3]), [(100, 200), (101, 201)])
    assert pdt.depth() is None
    assert relation(pdt.expand(max_depth=9, truncate=True), 4) == {((1,), (1,)): 0}


def test_unbounded_machines_end_at_once():
    began = time.process_time()
    with pytest.raises(LimitError, match=r"Pdt.expand: no max_depth is great enough: the stack grows without bound"):
        nested().expand()
    with pytest.raises(LimitError, match=r"Pdt.expand: reached max_depth \(8/7\): the stack gets deeper"):
        nested().expand(max_depth=7)
    # Binary trees: 2^n paths to each stack of depth n.
    arcs = [(0, x, x, None, 0) for x in (100, 101)] + [(0, 1, 1, None, 1)] + [(1, x, x, None, 1) for x in (200, 201)]
    tree = Pdt(machine(arcs, [1]), [(100, 200), (101, 201)])
    with pytest.raises(LimitError, match=r"Pdt.expand: no max_depth is great enough"):
        tree.expand()
    assert tree.expand(max_depth=3, truncate=True).num_states() == 2 * (2**4 - 1)
    with pytest.raises(LimitError, match=r"Pdt.expand: reached max_states \(5001/5000\): the expansion is too large"):
        tree.expand(max_depth=40, truncate=True, max_states=5000)
    with pytest.raises(LimitError, match=r"Pdt.expand: reached max_arcs \(5001/5000\)"):
        tree.expand(max_depth=40, truncate=True, max_arcs=5000)
    with pytest.raises(LimitError, match=r"Pdt.expand: reached max_states"):
        tree.expand(weight=1, max_states=5000)  # every path costs nothing
    assert time.process_time() - began < 5


def test_truncation():
    words = relation(nested().expand(max_depth=3, truncate=True), 12)
    assert words.keys() == {((1,) * n + (2,) * n,) * 2 for n in range(1, 5)}
    assert nested().expand(max_depth=0, truncate=True).num_states() == 4
    for seed in range(300):
        pdt = random_pdt(random.Random(seed))
        truncated = pdt.expand(max_depth=3, truncate=True)
        assert connect(truncated).num_states() == truncated.num_states(), f"seed {seed}"
        depth = pdt.depth()
        if depth is not None and depth <= 3:
            assert truncated.num_states() == pdt.expand().num_states(), f"seed {seed}"
            assert pdt.expand(max_depth=depth).num_states() == truncated.num_states(), f"seed {seed}"
        else:
            with pytest.raises(LimitError, match=r"max_depth \(4/3\)"):
                pdt.expand(max_depth=3)


@pytest.mark.parametrize("semiring", ["tropical", "boolean"])
def test_pruning(semiring):
    smaller = unbounded = 0
    for seed in range(300):
        rng = random.Random(seed)
        pdt = random_pdt(rng, semiring)
        weight = rng.choice([0, 0.5, 1.25, 3])
        note = f"seed {seed} weight {weight}"
        bounded = pdt.depth() is not None
        if not bounded and semiring == "boolean":
            continue
        try:
            got = pdt.expand(weight=weight, max_states=2000)
        except LimitError:
            assert not bounded, note
            continue
        # Deep paths are heavy here, mostly: what truncation leaves out shows as a difference.
        try:
            whole = pdt.expand() if bounded else pdt.expand(max_depth=6, truncate=True, max_states=300)
        except LimitError:
            assert not bounded, note
            continue
        if not bounded and total(whole) > total(pdt.shortestpath()):
            continue
        want = prune(whole, weight=weight)
        if bounded:
            assert (got.num_states(), got.num_arcs()) == (want.num_states(), want.num_arcs()), note
        words, kept = relation(want, 3), relation(got, 3)
        assert_same({pair: w for pair, w in kept.items() if bounded or pair in words}, words, note)
        smaller += got.num_states() < whole.num_states()
        unbounded += not bounded
    if semiring == "tropical":
        assert smaller > 60
        assert unbounded > 20
    pruned = nested(weight=1.0).expand(weight=3)
    assert relation(pruned, 10).keys() == {((1,) * n + (2,) * n,) * 2 for n in range(1, 5)}


def test_deep_stacks():
    n = 100_000
    arcs = [(s, 100, 100, None, s + 1) for s in range(n)] + [(s, 200, 200, None, s + 1) for s in range(n, 2 * n)]
    pdt = Pdt(machine(arcs, [2 * n]), [(100, 200)])
    got = pdt.expand(max_depth=n)
    assert (got.num_states(), got.num_arcs()) == (2 * n + 1, 2 * n)
    with pytest.raises(LimitError, match=r"max_depth \(100000/99999\)"):
        pdt.expand(max_depth=n - 1)


def test_empty_and_plain_machines():
    pdt = nested()
    assert pdt.expand(max_depth=2, truncate=True, keep_parentheses=True).num_arcs() == 13
    assert Pdt(Fst(), [(1, 2)]).expand().num_states() == 0
    assert Pdt(machine([(0, 1, 1, None, 0)], []), [(1, 2)]).expand().num_states() == 0
    plain = machine([(0, 1, 1, 0.5, 1), (1, 2, 3, None, 0)], {1: 0.25})
    assert_equivalent(Pdt(plain, []).expand(), plain)


def test_refused_arguments():
    pdt = nested()
    with pytest.raises(FstError, match=r"Pdt.expand: truncate needs max_depth"):
        pdt.expand(truncate=True)
    with pytest.raises(FstError, match=r"Pdt.expand: the limit max_depth must be at least 0, got -1"):
        pdt.expand(max_depth=-1)
    with pytest.raises(FstError, match=r"Pdt.expand: weight must be at least 0"):
        pdt.expand(weight=-1)
    with pytest.raises(FstError, match=r"Pdt.expand: the semiring must have the path property"):
        nested("log").expand(weight=1)
    with pytest.raises(FstError, match=r"Pdt.expand: expected weights of at least 0 where weight is given, got -1"):
        nested(weight=-1).expand(weight=1)
    pdt.fst.add_arc(0, 100, 1, None, 0)
    with pytest.raises(FstError, match=r"Pdt.expand: expected a parenthesis on both sides .* got 100:1 at state 0"):
        pdt.expand()
