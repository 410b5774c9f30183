"""shortestpath against the enumeration of all paths, and against OpenFst."""

from __future__ import annotations

import random

import numpy as np
import pytest
import pywrapfst
from oracle.machines import chain, machine, rebuilt, shuffled
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import random_fst
from oracle.relation import assert_equivalent, relation
from tokamata.automata import (
    Fst,
    FstError,
    LimitError,
    determinize,
    prune,
    rmepsilon,
    shortestdistance,
    shortestpath,
)


def paths(fst: Fst) -> list[tuple[float, tuple[tuple[int, int], ...]]]:
    """Weight and labels of every accepted path of an acyclic machine, best first."""
    out = []
    pending = [(fst.start(), 0.0, ())] if fst.start() >= 0 else []
    while pending:
        s, weight, labels = pending.pop()
        if fst.is_final(s):
            out.append((weight + fst.final(s), labels))
        pending += [(a.nextstate, weight + a.weight, (*labels, (a.ilabel, a.olabel))) for a in fst.arcs(s)]
    return sorted(out)


def test_acyclic_machines_against_enumeration():
    several = 0
    for seed in range(400):
        rng = random.Random(seed)
        fst = random_fst(rng, states=7, arcs=18, acyclic=True)
        n = rng.choice([1, 1, 2, 3, 5, 20, 1000])
        want = paths(fst)
        got = paths(shortestpath(fst, nshortest=n))
        note = f"seed {seed}, n = {n}"
        assert [w for w, _ in got] == [w for w, _ in want[:n]], note
        every = list(want)
        for path in got:
            every.remove(path)  # each is a path of its own
        several += len(got) > 1
    assert several > 60


def test_cyclic_machines_against_openfst():
    for seed in range(200):
        rng = random.Random(seed)
        fst = random_fst(rng, states=6, arcs=14)
        for n in (1, 2, 7):
            theirs = from_openfst(pywrapfst.shortestpath(to_openfst(fst), nshortest=n))
            got = shortestpath(fst, nshortest=n)
            assert [w for w, _ in paths(got)] == [w for w, _ in paths(theirs)], f"seed {seed}, n = {n}"
            total = shortestdistance(fst, reverse=True)[fst.start()] if fst.start() >= 0 else None
            assert all(w >= total for w, _ in paths(got)), f"seed {seed}"


def test_unique_strings():
    fewer = 0
    for seed in range(300):
        rng = random.Random(seed)
        fst = rmepsilon(random_fst(rng, states=6, arcs=16, labels=2, acceptor=True, acyclic=True))
        n = rng.choice([1, 2, 4, 100])
        strings = relation(fst, 6)
        got = paths(shortestpath(fst, nshortest=n, unique=True))
        note = f"seed {seed}, n = {n}"
        assert [w for w, _ in got] == sorted(strings.values())[:n], note
        spelled = [tuple(i for i, _ in labels) for _, labels in got]
        assert len(set(spelled)) == len(spelled), note
        assert all(strings[x, x] == w for x, (w, _) in zip(spelled, got, strict=True)), note
        fewer += len(paths(fst)) > len(strings)
    assert fewer > 40


def test_unique_where_determinization_is_endless():
    arcs = [(0, 1, 1, 1.0, 1), (0, 1, 1, 2.0, 2), (1, 2, 2, 1.0, 1), (2, 2, 2, 2.0, 2)]
    got = shortestpath(machine(arcs, [1, 2]), nshortest=4, unique=True)
    assert sorted(relation(got, 5).values()) == [1, 2, 3, 4]


def test_threshold():
    fst = machine([(0, x, x, x / 2, 1) for x in range(1, 9)], [1])
    assert [w for w, _ in paths(shortestpath(fst, nshortest=8, weight=1.5))] == [0.5, 1, 1.5, 2]


def test_negative_weights():
    fst = machine([(0, 1, 1, 2.0, 1), (1, 2, 2, -3.0, 2), (0, 3, 3, 0.0, 2), (2, 4, 4, 1.5, 0)], [2])
    assert paths(shortestpath(fst)) == [(-1.0, ((1, 1), (2, 2)))]
    assert [w for w, _ in paths(shortestpath(fst, nshortest=3))] == [-1, -0.5, 0]
    fst.add_arc(1, 5, 5, -4.0, 0)
    for n in (1, 2):
        with pytest.raises(FstError, match=r"shortestpath: a cycle of negative total weight"):
            shortestpath(fst, nshortest=n)


def with_useless_parts(rng: random.Random, fst: Fst) -> Fst:
    """A copy with cycles of negative weight that cannot be reached or do not reach the end, beside great weights."""
    out = rebuilt(fst)
    before, behind = out.add_state(), out.add_state()
    for s in rng.sample(list(fst.states()), min(2, fst.num_states())):
        out.add_arc(before, 1, 1, rng.choice([-1e6, -1.0, 1e6]), s)
        out.add_arc(s, 2, 2, rng.choice([-1e6, -1.0, 1e6]), behind)
    for s in (before, behind):
        out.add_arc(s, 1, 1, rng.choice([-2.0, 0.5]), s)
    return shuffled(out, rng)


def test_parts_on_no_accepted_path_do_not_count():
    negative = finite = 0
    for seed in range(300):
        rng = random.Random(seed)
        fst = rmepsilon(random_fst(rng, states=6, arcs=14, acceptor=True))
        more = with_useless_parts(rng, fst)
        negative += any(a.weight < 0 for s in more.states() for a in more.arcs(s))
        for n, unique in ((1, False), (2, False), (7, False), (3, True)):
            got, want = (
                [w for w, _ in paths(shortestpath(f, nshortest=n, unique=unique, weight=2))] for f in (more, fst)
            )
            assert got == want, f"seed {seed}, n = {n}, unique {unique}"
        one, other = (prune(f, weight=1) for f in (more, fst))
        assert_equivalent(one, other, 5, f"seed {seed}")
        try:
            other = determinize(fst, weight=1, max_states=2000)
        except LimitError:  # cycles of weight 0 whose states stay apart
            continue
        finite += 1
        assert_equivalent(determinize(more, weight=1, max_states=2000), other, 5, f"seed {seed}")
    assert negative > 100
    assert finite > 200


def test_great_weights_on_no_accepted_path_are_no_rounding():
    """What is kept within a threshold does not depend on a state that nothing leads to."""
    fst = machine([(0, 1, 1, 1.0, 1), (0, 2, 2, 1.5, 1), (2, 3, 3, 1e6, 1)], [1])
    for kept in (shortestpath(fst, nshortest=2, weight=0), determinize(fst, weight=0), prune(fst, weight=0)):
        assert relation(kept, 2) == {((1,), (1,)): 1.0}


def test_boolean_paths():
    fst = machine([(0, 1, 1, None, 1), (1, 2, 2, None, 2), (0, 3, 3, None, 0)], [2], semiring="boolean")
    assert relation(shortestpath(fst), 4) == {((1, 2), (1, 2)): 1.0}
    many = relation(shortestpath(fst, nshortest=3), 9)
    assert len(many) == 3
    assert many.items() <= relation(fst, 9).items()


def test_zero_weight_cycles_end():
    fst = machine([(0, 0, 0, 0.0, 1), (1, 0, 0, 0.0, 0), (0, 1, 1, 1.0, 2)], [2])
    assert [w for w, _ in paths(shortestpath(fst, nshortest=5))] == [1] * 5
    assert len(paths(shortestpath(fst))) == 1


def test_cycles_whose_total_is_rounding():
    """Sums of 32-bit floats around a cycle of total weight 0, or hardly more, may come out below 0."""
    for seed in range(400):
        rng = random.Random(seed)
        scale = rng.choice([1, 10, 100, 1000])
        weights = [float(np.float32(rng.uniform(-scale, scale))) for _ in range(rng.choice([1, 2, 5, 30]))]
        weights.append(float(np.float32(1e-7 * scale - sum(weights))))
        n, first = len(weights), round(rng.uniform(0, 2), 2)
        arcs = [(0, 1, 1, first, 1)] + [(1 + i, 2, 2, w, 1 + (i + 1) % n) for i, w in enumerate(weights)]
        fst = machine(arcs, [1])
        best = shortestpath(fst)
        assert best.num_states() <= fst.num_states(), seed
        assert shortestdistance(best, reverse=True)[0] == pytest.approx(first, abs=1e-5 * n * scale), seed


def test_improvements_as_small_as_rounding_count():
    arcs = [(0, 1, 1, 1000.0, 1), (0, 2, 2, 999.0, 2), (2, 3, 3, 0.9995, 1), (1, 4, 4, -1.0, 0)]
    fst = machine(arcs, [1])
    assert list(relation(shortestpath(fst), 3)) == [((2, 3), (2, 3))]
    theirs = [float(w.to_string()) for w in pywrapfst.shortestdistance(to_openfst(fst))]
    assert shortestdistance(fst).tolist() == pytest.approx(theirs, rel=1e-8)


def test_circles_of_parents_end():
    """A negative cycle beside weights of its rounding is told, by whatever order states are looked at."""
    arcs = [(0, -33917.0, 4), (0, 0.08, 4), (1, -40359.0, 4), (1, 0.14, 2), (1, 0.01, 2), (2, 0.13, 1), (2, 0.07, 2)]
    arcs += [(3, 5.0, 1), (4, 0.0, 3), (4, -4.0, 0), (5, -5007.0, 4)]
    with pytest.raises(FstError, match="a cycle of negative total weight"):
        shortestpath(machine([(s, 1, 1, w, t) for s, w, t in arcs], [2]))


def test_the_only_path_is_the_best():
    """Also where its parts are much longer than it is."""
    for seed in range(300):
        rng = random.Random(seed)
        weights = [float(np.float32(rng.uniform(-1e5, 1e5))) for _ in range(rng.randint(2, 6))]
        fst = machine([(i, i + 1, i + 1, w, i + 1) for i, w in enumerate(weights)], [len(weights)])
        for kept in (
            shortestpath(fst, weight=0),
            shortestpath(fst, nshortest=2, weight=0),
            prune(fst, weight=0),
            determinize(fst, weight=0),
        ):
            assert kept.num_arcs() == len(weights), seed


def test_long_path():
    n = 100_000
    got = shortestpath(chain([1] * n, weight=1.0))
    assert (got.num_states(), got.num_arcs(), got.start()) == (n + 1, n, 0)


def test_refused_operands():
    with pytest.raises(FstError, match=r"shortestpath: the semiring must have the path property .*got log"):
        shortestpath(Fst("log"))
    with pytest.raises(FstError, match=r"shortestpath with unique: .*must be an acceptor"):
        shortestpath(machine([(0, 1, 2, None, 0)], [0]), nshortest=2, unique=True)
    with pytest.raises(FstError, match=r"shortestpath with unique: expected an epsilon-free .*rmepsilon"):
        shortestpath(chain([0]), nshortest=2, unique=True)
    with pytest.raises(FstError, match=r"nshortest must not be negative, got -1"):
        shortestpath(Fst(), nshortest=-1)
    wide = machine([(0, x, x, None, 0) for x in range(1, 100)], [0])
    with pytest.raises(LimitError, match=r"shortestpath: reached max_states \(501/500\)"):
        shortestpath(wide, nshortest=1000, max_states=500)
    assert shortestpath(wide, nshortest=0).num_states() == 0
    assert shortestpath(Fst()).num_states() == 0
    assert shortestpath(machine([(0, 1, 1, None, 0)], []), nshortest=2).num_states() == 0
