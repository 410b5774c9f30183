"""randgen: members only, the right frequencies, repeatable."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import relation
from tokamata.automata import Fst, FstError, LimitError, connect, properties, randgen


def paths(fst: Fst) -> list[tuple]:
    """The chains out of the start state as pairs of strings, epsilons left out."""
    out = [((), ())] if fst.num_states() and fst.is_final(fst.start()) else []
    for arc in fst.arcs(fst.start()) if fst.num_states() else ():
        x, y = [], []
        while True:
            x += [arc.ilabel] if arc.ilabel else []
            y += [arc.olabel] if arc.olabel else []
            if fst.is_final(arc.nextstate):
                out.append((tuple(x), tuple(y)))
                break
            (arc,) = fst.arcs(arc.nextstate)
    return out


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("select", ["uniform", "log_prob"])
@pytest.mark.parametrize("seed", range(25))
def test_members_only(semiring, select, seed):
    fst = random_fst(random.Random(seed), semiring, states=4)
    if connect(fst).num_states() == 0:
        assert randgen(fst, 3).num_states() == 0
        return
    try:
        got = randgen(fst, 30, seed=seed, select=select, max_length=4)
    except LimitError:
        return
    assert got.to_bytes() == randgen(fst, 30, seed=seed, select=select, max_length=4).to_bytes()
    members = relation(fst, 4)
    found = paths(got)
    empty = got.is_final(got.start())
    assert len(found) == 30 or (empty and len(found) < 30)
    assert all(pair in members for pair in found), f"seed {seed}"
    assert not properties(got).weighted


def loop() -> Fst:
    fst = Fst("log")
    fst.add_states(2)
    fst.set_start(0)
    fst.add_arc(0, 1, 1, -math.log(0.9), 1)
    fst.add_arc(0, 2, 2, -math.log(0.1), 1)
    fst.set_final(1)
    return fst


def test_frequencies():
    n = 20_000
    uniform = Counter(paths(randgen(loop(), n, seed=1)))
    assert abs(uniform[(1,), (1,)] / n - 0.5) < 0.02
    weighted = Counter(paths(randgen(loop(), n, seed=1, select="log_prob")))
    assert abs(weighted[(1,), (1,)] / n - 0.9) < 0.01


def test_seeds_differ():
    assert len({randgen(loop(), 20, seed=s).to_bytes() for s in range(10)}) > 5


def test_every_path_ends_within_max_length():
    fst = Fst()
    fst.add_states(3)
    fst.set_start(0)
    fst.set_final(2)
    fst.add_arc(0, 1, 1, None, 0)
    fst.add_arc(0, 1, 1, None, 1)
    fst.add_arc(1, 1, 1, None, 2)
    fst.add_arc(2, 1, 1, None, 0)
    lengths = [len(x) for x, _ in paths(randgen(fst, 500, max_length=5))]
    assert len(lengths) == 500
    assert set(lengths) == {2, 3, 4, 5}
    with pytest.raises(
        LimitError, match=r"limit max_length 1 reached: the shortest path has 2 arcs; pass max_length=2"
    ):
        randgen(fst, max_length=1)


def test_refused():
    with pytest.raises(FstError, match=r"number of paths must not be negative, got -1"):
        randgen(loop(), -1)
    with pytest.raises(FstError, match=r"max_length must not be negative"):
        randgen(loop(), max_length=-1)
    with pytest.raises(FstError, match=r"unknown select 'best'"):
        randgen(loop(), select="best")
    with pytest.raises(
        FstError, match=r"^randgen: the number of paths must not be negative, got -1000\d+...; pass 0 or"
    ):
        randgen(loop(), -(10**50))
    for n in (10_000_001, 2**31, 10**30):
        with pytest.raises(LimitError, match=r"^randgen: the limit of 10,000,000 paths was reached; draw fewer"):
            randgen(loop(), n)
    assert randgen(loop(), 0).num_states() == 0
