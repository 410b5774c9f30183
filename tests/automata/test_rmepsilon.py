"""rmepsilon keeps every weight, leaves no epsilon arc, and agrees with OpenFst."""

from __future__ import annotations

import math
import random

import pytest
from oracle.machines import chain, has_epsilons, machine, ring
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import Fst, FstError, LimitError, SymbolTable, rmepsilon, shortestdistance


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines(semiring):
    for seed in range(400):
        rng = random.Random(seed)
        fst = random_fst(rng, semiring, states=6, arcs=14, labels=2, acceptor=rng.random() < 0.5)
        note = f"{semiring} seed {seed}"
        want = relation(fst, 3)
        got = rmepsilon(fst)
        assert not has_epsilons(got), note
        assert_same(relation(got, 3), want, note)
        kept = rmepsilon(fst, connect=False)
        assert (kept.num_states(), kept.start()) == (fst.num_states(), fst.start()), note
        assert_same(relation(kept, 3), want, f"{note}, not connected")
        theirs = to_openfst(fst)
        theirs.rmepsilon()
        assert_same(relation(from_openfst(theirs, semiring), 3), relation(got, 3), f"{note} (OpenFst)", 1e-3)


def test_arcs_are_not_repeated():
    arcs = [(0, 0, 0, 1.0, 1), (0, 0, 0, 2.0, 2), (1, 5, 5, 3.0, 3), (2, 5, 5, 1.0, 3)]
    got = rmepsilon(machine(arcs, [3]))
    assert [tuple(a) for a in got.arcs(got.start())] == [(5, 5, 3.0, 1)]
    got = rmepsilon(machine(arcs, [3], semiring="log"))
    assert next(got.arcs(0)).weight == pytest.approx(-math.log(math.exp(-4) + math.exp(-3)), abs=1e-6)


def test_log_epsilon_cycles_are_summed_in_full():
    for seed in range(200):
        rng = random.Random(seed)
        arcs = [(rng.randrange(4), x, x, rng.randint(6, 16) / 4, rng.randrange(4)) for x in [0] * 6 + [1, 2, 1]]
        fst = machine(arcs, {rng.randrange(4): 0.5}, states=4, semiring="log")
        try:
            want = relation(fst, 3)
        except ValueError:
            continue
        assert_same(relation(rmepsilon(fst), 3), want, f"seed {seed}", 1e-4)


def test_endless_sums_are_refused():
    with pytest.raises(LimitError, match=r"rmepsilon: reached max_visits \(10001/10000\)"):
        rmepsilon(ring(40, 0.0, label=0))
    with pytest.raises(FstError, match=r"rmepsilon: the sum over the cycles through state 0 has no finite value"):
        rmepsilon(ring(2, 0.0, label=0))
    with pytest.raises(FstError, match=r"rmepsilon: a cycle of negative total weight"):
        rmepsilon(machine([(0, 0, 0, 1.0, 1), (1, 0, 0, -2.0, 0)], [0]))


def test_limit_of_arcs():
    n = 60
    arcs = [(s, 0, 0, None, s + 1) for s in range(n)] + [(s, 1, 1, None, (7 * s) % n) for s in range(n)]
    fst = machine(arcs, [n])
    assert rmepsilon(fst).num_arcs() > 1000
    with pytest.raises(LimitError, match=r"rmepsilon: reached max_arcs \(1001/1000\).*raise it with max_arcs="):
        rmepsilon(fst, max_arcs=1000)


def test_long_chain_of_epsilons():
    n = 200_000
    got = rmepsilon(chain([0] * n + [1], weight=0.5))
    assert (got.num_states(), got.num_arcs()) == (2, 1)
    assert shortestdistance(got, reverse=True)[0] == 0.5 * (n + 1)


def test_operand_and_symbols_are_kept():
    fst = chain([0, 1])
    names = SymbolTable("letters")
    names.add("a", 1)
    fst.input_symbols = names
    got = rmepsilon(fst)
    assert fst.num_states() == 3
    assert got.input_symbols is not None
    assert got.input_symbols.find("a") == 1
    assert got.output_symbols is None
    assert rmepsilon(Fst()).num_states() == 0
