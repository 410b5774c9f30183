"""replace against substitution by brute force and against OpenFst; recursion ends at a limit."""

from __future__ import annotations

import random

import pytest
import pywrapfst
from oracle.machines import chain, machine
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import Fst, FstError, LimitError, ReplaceFst, SymbolTable, replace


@pytest.mark.parametrize("labeling", ["input", "output", "both", "neither"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines_against_openfst(semiring, labeling):
    replaced = 0
    for seed in range(100):
        rng = random.Random(seed)
        # Labels 1..3 are letters or calls: each machine calls only later ones.
        machines = []
        for i in range(3):
            fst = random_fst(rng, semiring, states=4, arcs=8, labels=2, acyclic=True)
            for s in list(fst.states())[:-1]:
                if i < 2 and rng.random() < 0.6:
                    fst.add_arc(s, rng.randint(1, 2), 10 + rng.randint(i + 1, 2), None, s + 1)
            machines.append((10 + i, fst))
        got = replace(machines, call_arc_labeling=labeling)
        note = f"{semiring} {labeling} seed {seed}"
        if any(fst.start() < 0 for _, fst in machines):
            continue
        theirs = pywrapfst.replace([(i, to_openfst(f)) for i, f in machines], call_arc_labeling=labeling)
        assert_same(relation(got, 4), relation(from_openfst(theirs, semiring), 4), note, 1e-3)
        replaced += got.num_arcs() > machines[0][1].num_arcs()
    assert replaced > 30


def test_expansion():
    root = machine([(0, 1, 1, 0.5, 1), (1, 9, 9, 1.0, 2), (2, 9, 9, None, 3)], {3: 0.25})
    inner = machine([(0, 5, 5, 2.0, 1), (0, 6, 6, None, 1)], {1: 0.5})
    got = replace([(8, root), (9, inner)], call_arc_labeling="neither")
    words = {(1, x, y): 2.75 + 2 * (x == 5) + 2 * (y == 5) for x in (5, 6) for y in (5, 6)}
    assert relation(got, 3) == {(x, x): w for x, w in words.items()}
    assert {x for x, _ in relation(replace([(8, root), (9, inner)]), 5)} == {(1, 9, x, 9, y) for _, x, y in words}
    assert relation(replace([(9, inner), (8, root)], root=8, call_arc_labeling="neither"), 3).keys() == {
        (x, x) for x in words
    }


def test_recursion():
    # a^n b^n: finite only in its beginnings.
    nested = machine([(0, 1, 1, None, 1), (1, 9, 9, None, 2), (2, 2, 2, None, 3), (1, 2, 2, None, 3)], [3])
    with pytest.raises(LimitError, match=r"replace: reached max_states \(1001/1000\): .*calls itself"):
        replace([(9, nested)], max_states=1000)
    with pytest.raises(LimitError, match=r"replace: reached max_arcs \(1001/1000\)"):
        replace([(9, nested)], max_arcs=1000)
    # A machine that is never called may be recursive, and a call of an empty machine is a dead end.
    assert replace([(7, chain([1])), (9, nested)]).num_states() == 2
    assert relation(replace([(7, chain([9])), (9, Fst())]), 2) == {}


def test_refused_arguments():
    with pytest.raises(FstError, match=r"replace: expected at least one pair"):
        replace([])
    with pytest.raises(FstError, match=r"replace: a machine's label must not be 0"):
        replace([(0, chain([1]))])
    with pytest.raises(FstError, match=r"replace: expected one machine for each label, got two for label 3"):
        replace([(3, chain([1])), (3, chain([2]))])
    with pytest.raises(FstError, match=r"replace: the root label 4 has no machine"):
        replace([(3, chain([1]))], root=4)
    with pytest.raises(FstError, match=r"replace: .*semiring"):
        replace([(3, chain([1])), (4, Fst("log"))])
    with pytest.raises(FstError, match=r"replace: call_arc_labeling must be"):
        replace([(3, chain([1]))], call_arc_labeling="none")
    a, b = chain([1]), chain([1])
    x, y = SymbolTable("x"), SymbolTable("y")
    x.add("one", 1)
    a.input_symbols, b.input_symbols = x, y
    with pytest.raises(FstError, match=r"replace: the input sides of all machines must have the same symbol table"):
        replace([(3, a), (4, b)])


def test_delayed_recursion():
    nested = machine([(0, 1, 1, None, 1), (1, 9, 9, 0.5, 2), (2, 2, 2, None, 3), (1, 2, 2, None, 3)], [3])
    delayed = ReplaceFst([(9, nested)], call_arc_labeling="neither")

    def accepts(word):
        states = {delayed.start()}
        for label in word:
            pending, closure = list(states), set(states)
            while pending:
                for arc in delayed.arcs(pending.pop()):
                    if arc.ilabel == 0 and arc.nextstate not in closure:
                        closure.add(arc.nextstate)
                        pending.append(arc.nextstate)
            states = {arc.nextstate for s in closure for arc in delayed.arcs(s) if arc.ilabel == label}
        pending, closure = list(states), set(states)
        while pending:
            more = {arc.nextstate for arc in delayed.arcs(pending.pop()) if arc.ilabel == 0} - closure
            closure |= more
            pending += more
        return any(delayed.final(s) == 0 for s in closure)

    for n in range(1, 8):
        assert accepts([1] * n + [2] * n)
        assert not accepts([1] * n + [2] * (n + 1))
        assert not accepts([1] * (n + 1) + [2] * n)
    with pytest.raises(LimitError, match=r"ReplaceFst: reached max_states \(51/50\)"):
        ReplaceFst([(9, nested)], max_states=50).expand()
    with pytest.raises(FstError, match=r"ReplaceFst: expected at least one pair"):
        ReplaceFst([])
