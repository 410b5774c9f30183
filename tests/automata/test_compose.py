"""compose against the join of two relations by brute force, and against OpenFst."""

from __future__ import annotations

import math
import random

import pytest
import pywrapfst
from oracle.machines import by_label, chain, machine
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import ComposeFst, Fst, FstError, LimitError, SymbolTable, compose


def join(first, second, semiring):
    out = {}
    for (x, y), w in first.items():
        for (y2, z), v in second.items():
            if y == y2:
                out.setdefault((x, z), []).append(w + v)
    if semiring == "boolean":
        return dict.fromkeys(out, 1.0)
    if semiring == "tropical":
        return {pair: min(values) for pair, values in out.items()}
    return {pair: -math.log(sum(math.exp(-v) for v in values)) for pair, values in out.items()}


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_acyclic_machines_against_brute_force(semiring):
    pairs = 0
    for seed in range(400):
        rng = random.Random(seed)
        a = random_fst(rng, semiring, states=5, arcs=14, labels=2, acyclic=True)
        b = random_fst(rng, semiring, states=5, arcs=14, labels=2, acyclic=True)
        want = join(relation(a, 4), relation(b, 4), semiring)
        pairs += len(want)
        a_sorted, b_sorted = by_label(a, "olabel"), by_label(b, "ilabel")
        for x, y in [(a_sorted, b), (a, b_sorted), (a_sorted, b_sorted)]:
            assert_same(relation(compose(x, y), 4), want, f"{semiring} seed {seed}")
    assert pairs > 100


@pytest.mark.parametrize("semiring", ["tropical", "boolean"])
def test_cyclic_machines_against_openfst(semiring):
    for seed in range(300):
        rng = random.Random(seed)
        a = by_label(random_fst(rng, semiring, states=4, arcs=9, labels=2), "olabel")
        b = random_fst(rng, semiring, states=4, arcs=9, labels=2)
        want = relation(from_openfst(pywrapfst.compose(to_openfst(a), to_openfst(b)), semiring), 3)
        assert_same(relation(compose(a, b), 3), want, f"{semiring} seed {seed}")


def test_log_counts_every_pair_of_paths_once():
    for seed in range(200):
        rng = random.Random(seed)
        a = by_label(random_fst(rng, "log", acyclic=True, labels=1, states=5, arcs=10), "olabel")
        b = random_fst(rng, "log", acyclic=True, labels=1, states=5, arcs=10)
        theirs = from_openfst(pywrapfst.compose(to_openfst(a), to_openfst(b)))
        assert_same(relation(compose(a, b), 4), relation(theirs, 4), f"seed {seed}")


def test_associative():
    for seed in range(300):
        rng = random.Random(seed)
        a, b, c = (random_fst(rng, states=4, arcs=10, labels=2, epsilon_cycles=False) for _ in range(3))
        left = compose(by_label(compose(by_label(a, "olabel"), b), "olabel"), c)
        right = compose(by_label(a, "olabel"), compose(by_label(b, "olabel"), c))
        assert_same(relation(left, 2), relation(right, 2), f"seed {seed}")


def test_connect_only_drops_what_no_path_needs():
    for seed in range(200):
        rng = random.Random(seed)
        a, b = by_label(random_fst(rng), "olabel"), random_fst(rng)
        full, trim = compose(a, b, connect=False), compose(a, b)
        assert trim.num_states() <= full.num_states()
        assert_same(relation(full, 2), relation(trim, 2), f"seed {seed}")


def test_wide_states_are_searched_from_either_side():
    wide = machine([(0, x, x + 1, x / 8, 1) for x in range(1, 3000)], [1])
    narrow = machine([(0, x, 7, 1.0, 1) for x in (5, 2500, 4000)], [1])
    want = {((4,), (7,)): 1.5, ((2499,), (7,)): 2499 / 8 + 1}
    assert relation(compose(wide, narrow), 1) == want
    back = relation(compose(by_label(machine([(0, 7, x, 1.0, 1) for x in (5, 2500, 4000)], [1]), "olabel"), wide), 1)
    assert back == {((7,), (6,)): 1 + 5 / 8, ((7,), (2501,)): 1 + 2500 / 8}


def test_refused_operands():
    unsorted = machine([(0, 2, 2, None, 1), (0, 1, 1, None, 1)], [1])
    with pytest.raises(FstError, match=r"compose: expected .* sorted .* got neither; apply arcsort\(first, .output.\)"):
        compose(unsorted, unsorted)
    with pytest.raises(FstError, match=r"compose: .*same semiring|compose: .*one semiring"):
        compose(Fst("log"), Fst("tropical"))
    a, b = chain([1]), chain([1])
    a.output_symbols, b.input_symbols = SymbolTable("x"), SymbolTable("x")
    assert compose(a, b).num_states() == 2
    x, y = SymbolTable("x"), SymbolTable("y")
    x.add("one", 1)
    y.add("uno", 1)
    a.output_symbols, b.input_symbols = x, y
    with pytest.raises(FstError, match=r"compose: .*same symbol table, got label 1 named 'one' and 'uno'; relabel"):
        compose(a, b)
    a.input_symbols, b.output_symbols, b.input_symbols = x, y, x
    got = compose(a, b)
    assert got.input_symbols is not None
    assert got.output_symbols is not None
    assert (got.input_symbols.find("one"), got.output_symbols.find("uno")) == (1, 1)
    with pytest.raises(TypeError, match=r"expected a tokamata.automata.Fst, got builtins.str"):
        compose(a, "b")


def test_limits():
    a = machine([(s, 1, 1, None, (s + 1) % 40) for s in range(40)], [0])
    b = machine([(s, 1, 1, None, (s + 1) % 41) for s in range(41)], [0])
    assert compose(a, b).num_states() == 40 * 41
    with pytest.raises(LimitError, match=r"compose: reached max_states \(101/100\).*raise it with max_states="):
        compose(a, b, max_states=100)
    with pytest.raises(LimitError, match=r"compose: reached max_arcs \(101/100\)"):
        compose(a, b, max_arcs=100)
    with pytest.raises(FstError, match=r"the limit max_states must be at least 1, got 0"):
        compose(a, b, max_states=0)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_delayed(semiring):
    for seed in range(200):
        rng = random.Random(seed)
        a, b = by_label(random_fst(rng, semiring, acyclic=True), "olabel"), random_fst(rng, semiring, acyclic=True)
        delayed = ComposeFst(a, b)
        want = relation(compose(a, b), 3)
        if delayed.start() >= 0:
            assert delayed.num_known_states() == 1
            list(delayed.arcs(delayed.start()))
        a.delete_arcs(0) if a.num_states() else None  # the operands were copied
        assert_same(relation(delayed.expand(), 3), want, f"{semiring} seed {seed}")


def test_delayed_states_are_checked():
    delayed = ComposeFst(chain([1, 2]), chain([1, 2]))
    assert delayed.semiring == "tropical"
    assert delayed.final(delayed.start()) == math.inf
    (arc,) = delayed.arcs(delayed.start())
    assert (arc.ilabel, arc.olabel, arc.weight) == (1, 1, 0)
    with pytest.raises(IndexError, match=r"ComposeFst: state 5 has not been reached \(2 states have\)"):
        delayed.arcs(5)
    with pytest.raises(IndexError, match=r"state -1 has not been reached"):
        delayed.final(-1)
    limited = ComposeFst(chain([1] * 9), chain([1] * 9), max_states=3)
    with pytest.raises(LimitError, match=r"ComposeFst: reached max_states \(4/3\)"):
        limited.expand()
