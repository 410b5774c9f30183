"""Pdt.connect keeps what lies on an accepted path, and nothing else."""

from __future__ import annotations

import random

import pytest
from oracle.machines import machine
from oracle.random_fst import SEMIRINGS
from oracle.random_pdt import expanded, nested, random_pdt, weights
from tokamata.automata import Arc, Fst, LimitError, Pdt, connect


def used(pdt: Pdt) -> set[tuple[int, Arc]]:
    """The arcs of a Pdt that its expansion by brute force uses between states on accepted paths."""
    numbered = Fst(pdt.semiring)
    numbered.add_states(pdt.fst.num_states())
    numbered.set_start(0)
    # Each arc writes its own number, so that the expansion tells which ones are left.
    arcs = [(s, arc) for s in pdt.fst.states() for arc in pdt.fst.arcs(s)]
    for s in pdt.fst.states():
        numbered.set_final(s, pdt.fst.final(s))
    copies = []
    for i, (s, arc) in enumerate(arcs):
        middle = numbered.add_state()
        copies.append(middle)
        numbered.add_arc(s, arc._replace(nextstate=middle))
        numbered.add_arc(middle, 1000 + i, 1000 + i, None, arc.nextstate)
    whole = expanded(Pdt(numbered, pdt.parens), max_depth=12, max_states=5000)
    if whole is None:
        return set()
    trim = connect(whole)
    return {arcs[arc.ilabel - 1000] for s in trim.states() for arc in trim.arcs(s) if arc.ilabel >= 1000}


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines(semiring):
    smaller = 0
    for seed in range(500):
        pdt = random_pdt(random.Random(seed), semiring, epsilon_cycles=False)
        got = pdt.connect()
        note = f"{semiring} seed {seed}"
        assert got.parens == pdt.parens, note
        assert got.depth() == pdt.depth(), note
        truncation = {} if pdt.depth() is not None else {"max_depth": 2, "truncate": True}
        words = weights(pdt.expand(**truncation), 3)
        if words is not None:
            assert weights(got.expand(**truncation), 3) == pytest.approx(words), note
        again = got.connect()
        assert again.fst.to_text() == got.fst.to_text(), note
        left = used(pdt)
        if left:
            assert got.fst.num_arcs() == len(
                [a for s in pdt.fst.states() for a in pdt.fst.arcs(s) if (s, a) in left]
            ), note
            assert got.fst.num_states() == len({s for s, _ in left} | {arc.nextstate for _, arc in left}), note
            smaller += 0 < got.fst.num_arcs() < connect(pdt.fst).num_arcs()
    assert smaller > 30


def test_brackets_that_do_not_close():
    arcs = [(0, 100, 100, None, 1), (1, 1, 1, None, 2), (2, 201, 201, None, 3), (0, 2, 2, None, 3)]
    pdt = Pdt(machine(arcs, [3]), [(100, 200), (101, 201)])
    assert pdt.connect().fst.to_text() == "0\t1\t2\t2\n1\n"
    assert connect(pdt.fst).num_arcs() == 4
    assert nested().connect().fst.to_text() == nested().fst.to_text()
    assert Pdt(Fst(), []).connect().fst.num_states() == 0
    assert Pdt(machine(arcs[:3], [3]), [(100, 200), (101, 201)]).connect().fst.num_states() == 0
    with pytest.raises(LimitError, match=r"Pdt.connect: reached max_states \(3/2\)"):
        nested().connect(max_states=2)
