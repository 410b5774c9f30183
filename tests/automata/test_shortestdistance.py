"""shortestdistance against OpenFst, against the closed form over real numbers, and at its limits."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import pywrapfst
from oracle.machines import chain, machine, rebuilt, ring
from oracle.openfst import to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from tokamata.automata import Arc, Fst, FstError, LimitError, shortestdistance


def edges(fst: Fst, reverse: bool) -> list[tuple[int, int, float]]:
    out = [(s, a.nextstate, a.weight) for s in fst.states() for a in fst.arcs(s)]
    return [(t, s, w) for s, t, w in out] if reverse else out


def sources(fst: Fst, reverse: bool) -> dict[int, float]:
    if reverse:
        return {s: fst.final(s) for s in fst.states() if fst.is_final(s)}
    return {fst.start(): 1.0 if fst.semiring == "boolean" else 0.0} if fst.start() >= 0 else {}


def bellman_ford(fst: Fst, reverse: bool) -> list[float]:
    distance = [math.inf] * fst.num_states()
    for s, w in sources(fst, reverse).items():
        distance[s] = w
    for _ in fst.states():
        for s, t, w in edges(fst, reverse):
            distance[t] = min(distance[t], distance[s] + w)
    return distance


def log_sums(fst: Fst, reverse: bool) -> list[float] | None:
    """By matrix inversion over what is reached; None where the sums diverge or nearly do."""
    n = fst.num_states()
    reached = set(sources(fst, reverse))
    for _ in range(n):
        reached |= {t for s, t, _ in edges(fst, reverse) if s in reached}
    matrix, first = np.zeros((n, n)), np.zeros(n)
    for s, t, w in edges(fst, reverse):
        if s in reached:
            matrix[s, t] += math.exp(-w)
    for s, w in sources(fst, reverse).items():
        first[s] += math.exp(-w)
    if n and max(abs(np.linalg.eigvals(matrix))) > 0.99:
        return None
    values = first @ np.linalg.inv(np.eye(n) - matrix)
    return [-math.log(v) if v > 1e-30 else math.inf for v in values]


def close(got, want, note, tolerance=1e-4):
    got = np.asarray(got, dtype=float)
    assert got.shape == (len(want),), note
    for s, (g, w) in enumerate(zip(got, want, strict=True)):
        assert g == w or abs(g - w) <= tolerance * max(1, abs(w)), f"{note}: state {s}: got {g}, want {w}"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_machines(semiring, reverse):
    compared = 0
    for seed in range(400):
        rng = random.Random(seed)
        fst = random_fst(rng, semiring, states=7, arcs=14, acyclic=rng.random() < 0.3)
        note = f"{semiring} reverse={reverse} seed {seed}"
        if semiring == "log":
            want = log_sums(fst, reverse)
            if want is None:
                continue
        else:
            want = bellman_ford(rebuilt(fst, semiring="tropical") if semiring == "boolean" else fst, reverse)
        if semiring == "boolean":
            want = [0.0 if math.isinf(w) else 1.0 for w in want]
        got = shortestdistance(fst, reverse=reverse)
        assert got.dtype == np.float32
        close(got, want, note)
        compared += any(w not in (0, math.inf) for w in want)
        if fst.start() < 0 or semiring == "boolean":
            continue
        openfst = [
            float(w.to_string().replace("Infinity", "inf"))
            for w in pywrapfst.shortestdistance(to_openfst(fst), reverse=reverse, delta=1e-6)
        ]
        openfst += [math.inf] * (fst.num_states() - len(openfst))
        close(got, openfst, f"{note} (OpenFst)", 1e-3)
    assert compared > 50


def test_total_weight_is_the_same_from_both_ends():
    for seed in range(300):
        fst = random_fst(random.Random(seed))
        if fst.start() < 0:
            continue
        ahead, back = shortestdistance(fst), shortestdistance(fst, reverse=True)
        total = min((ahead[s] + fst.final(s) for s in fst.states()), default=math.inf)
        assert back[fst.start()] == total, f"seed {seed}"


def test_negative_weights_without_negative_cycles():
    for seed in range(400):
        rng = random.Random(seed)
        fst = random_fst(rng, states=6, arcs=14)
        shift = [rng.randint(-12, 12) / 4 for _ in fst.states()]
        arcs = {
            s: [Arc(a.ilabel, a.olabel, a.weight + shift[s] - shift[a.nextstate], a.nextstate) for a in fst.arcs(s)]
            for s in fst.states()
        }
        fst = rebuilt(fst, arcs)
        for reverse in (False, True):
            close(shortestdistance(fst, reverse=reverse), bellman_ford(fst, reverse), f"seed {seed}", 0)


def test_a_negative_cycle_is_an_error_only_where_it_is_reached():
    arcs = [(0, 1, 1, 1.0, 1), (2, 1, 1, -3.0, 3), (3, 1, 1, 2.0, 2)]
    assert list(shortestdistance(machine(arcs, [1]))) == [0, 1, math.inf, math.inf]
    with pytest.raises(FstError, match=r"cycle of negative total weight passes through or leads to state .*reweight"):
        shortestdistance(machine([*arcs, (1, 1, 1, None, 2)], [1]))
    with pytest.raises(FstError, match=r"negative total weight"):
        shortestdistance(machine([(0, 1, 1, -0.25, 0)], [0]), reverse=True)


def test_log_loops():
    assert shortestdistance(machine([(0, 1, 1, 1.0, 0)], [0], semiring="log"))[0] == pytest.approx(
        math.log(1 - math.exp(-1)), abs=1e-5
    )
    slow = shortestdistance(machine([(0, 1, 1, 1e-6, 0)], [0], semiring="log"))
    assert slow[0] == pytest.approx(math.log(1e-6), rel=1e-5)
    for weight in (0.0, -0.5):
        with pytest.raises(FstError, match=r"shortestdistance: the sum .* through state 0 has no finite value.*raise"):
            shortestdistance(machine([(0, 1, 1, weight, 0)], [0], semiring="log"))
    # A component that leads nowhere but is not reached with any weight does not matter.
    apart = machine([(0, 1, 1, math.inf, 1), (1, 1, 1, -1.0, 1)], [0], semiring="log")
    assert list(shortestdistance(apart)) == [0, math.inf]


def test_large_log_components():
    for n in (33, 500):
        got = shortestdistance(ring(n, 1 / n))
        assert got[0] == pytest.approx(math.log(1 - math.exp(-1)), abs=1e-4)
        assert got[n - 1] == pytest.approx(got[0] + 1 - 1 / n, abs=1e-4)
        for weight in (0.0, -0.5):
            with pytest.raises(LimitError, match=r"shortestdistance: reached max_visits \(101/100\).*no finite value"):
                shortestdistance(ring(n, weight), max_visits=100)
    compared = 0
    for seed in range(30):
        rng = random.Random(seed)
        arcs = [(s, 1, 1, rng.randint(12, 24) / 4, rng.randrange(60)) for s in range(60) for _ in range(4)]
        fst = machine(arcs, [rng.randrange(60)], states=60, semiring="log")
        want = log_sums(fst, False)
        if want is not None:
            close(shortestdistance(fst), want, f"seed {seed}")
            compared += 1
    assert compared > 20


def test_long_machines():
    n = 200_000
    fst = chain([1] * n, weight=1.0)
    assert list(shortestdistance(fst)[[0, 1, n]]) == [0, 1, n]
    fst.add_arc(n, 1, 1, 0.0, 0)
    assert list(shortestdistance(fst, reverse=True)[[0, 1, n]]) == [n, n - 1, 0]


def test_refused_arguments():
    assert shortestdistance(Fst()).shape == (0,)
    with pytest.raises(FstError, match=r"delta must be at least 0, got -1"):
        shortestdistance(Fst(), delta=-1)
    for delta in (math.inf, math.nan):
        with pytest.raises(FstError, match=r"delta must be (finite|at least 0), got (inf|nan)"):
            shortestdistance(Fst(), delta=delta)
    with pytest.raises(FstError, match=r"limit max_visits must be at least 1, got 0"):
        shortestdistance(Fst(), max_visits=0)
    with pytest.raises(TypeError, match=r"shortestdistance: expected a tokamata.automata.Fst, got builtins.int"):
        shortestdistance(3)
