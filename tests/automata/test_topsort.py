"""topsort: every arc goes up, the relation stays, cycles are refused."""

from __future__ import annotations

import random

import pytest
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_equivalent
from tokamata.automata import Fst, FstError, properties, topsort


def shuffled(rng, fst):
    order = list(fst.states())
    rng.shuffle(order)
    out = Fst(fst.semiring)
    out.add_states(len(order))
    for s in fst.states():
        out.set_final(order[s], fst.final(s))
        for arc in fst.arcs(s):
            out.add_arc(order[s], arc._replace(nextstate=order[arc.nextstate]))
    if fst.start() >= 0:
        out.set_start(order[fst.start()])
    return out


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(40))
def test_arcs_go_up(semiring, seed):
    rng = random.Random(seed)
    fst = shuffled(rng, random_fst(rng, semiring, states=8, arcs=14, acyclic=True))
    got = topsort(fst)
    assert all(a.nextstate > s for s in got.states() for a in got.arcs(s)), f"seed {seed}"
    assert (got.num_states(), got.num_arcs()) == (fst.num_states(), fst.num_arcs())
    if fst.start() >= 0 and all(a.nextstate != fst.start() for s in fst.states() for a in fst.arcs(s)):
        assert got.start() == 0
    assert properties(got, compute=False).top_sorted
    assert_equivalent(got, fst, 3, f"seed {seed}")
    theirs = to_openfst(fst)
    assert theirs.topsort() or fst.start() < 0
    assert_equivalent(got, from_openfst(theirs, semiring), 3, f"seed {seed}")


@pytest.mark.parametrize("seed", range(40))
def test_cycles_are_refused(seed):
    fst = random_fst(random.Random(seed), states=6, arcs=8)
    if properties(fst).cyclic:
        with pytest.raises(FstError, match=r"topsort: expected an acyclic Fst, but state \d+ lies on a cycle") as info:
            topsort(fst)
        state = int(str(info.value).split("but state ")[1].split()[0])
        reached = {a.nextstate for a in fst.arcs(state)}
        for _ in fst.states():
            reached |= {a.nextstate for s in reached for a in fst.arcs(s)}
        assert state in reached
    else:
        topsort(fst)
