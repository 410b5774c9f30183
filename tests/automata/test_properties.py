"""properties: every claimed bit recomputed by a slow function, and the bits of OpenFst."""

from __future__ import annotations

import random
from dataclasses import asdict

import pytest
import pywrapfst
from oracle.openfst import to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from tokamata.automata import (
    Arc,
    Fst,
    arcsort,
    closure,
    concat,
    connect,
    invert,
    project,
    properties,
    randgen,
    reverse,
    topsort,
    union,
)


def slow(fst: Fst) -> dict[str, bool]:
    """All properties from their definitions, by closing the arc relation under steps."""
    n = fst.num_states()
    arcs = [(s, a) for s in fst.states() for a in fst.arcs(s)]
    zero, one = (0.0, 1.0) if fst.semiring == "boolean" else (float("inf"), 0.0)
    reach = [[False] * n for _ in range(n)]  # by one arc or more
    for s, a in arcs:
        reach[s][a.nextstate] = True
    for k in range(n):
        for i in range(n):
            for j in range(n):
                reach[i][j] |= reach[i][k] and reach[k][j]
    start = fst.start()
    finals = [s for s in range(n) if fst.final(s) != zero]
    weights = [fst.final(s) for s in range(n)] + [a.weight for _, a in arcs]

    def differ(side: str) -> bool:
        return all(len({getattr(a, side) for a in fst.arcs(s)}) == fst.num_arcs(s) for s in range(n))

    def rise(side: str) -> bool:
        return all(labels == sorted(labels) for labels in ([getattr(a, side) for a in fst.arcs(s)] for s in range(n)))

    one_path = all(
        ([a.nextstate for a in fst.arcs(s)], s in finals) == (([s + 1], False) if s + 1 < n else ([], True))
        for s in range(n)
    )
    return {
        "acceptor": all(a.ilabel == a.olabel for _, a in arcs),
        "i_deterministic": differ("ilabel"),
        "o_deterministic": differ("olabel"),
        "epsilons": any(a.ilabel == 0 == a.olabel for _, a in arcs),
        "i_epsilons": any(a.ilabel == 0 for _, a in arcs),
        "o_epsilons": any(a.olabel == 0 for _, a in arcs),
        "i_label_sorted": rise("ilabel"),
        "o_label_sorted": rise("olabel"),
        "weighted": any(w not in (zero, one) for w in weights),
        "cyclic": any(reach[s][s] for s in range(n)),
        "initial_cyclic": start >= 0 and reach[start][start],
        "top_sorted": all(a.nextstate > s for s, a in arcs),
        "accessible": all(s == start or (start >= 0 and reach[start][s]) for s in range(n)),
        "coaccessible": all(s in finals or any(reach[s][f] for f in finals) for s in range(n)),
        "string": n == 0 or (one_path and start <= 0),
        "weighted_cycles": any(a.weight not in (zero, one) and reach[a.nextstate][s] for s, a in arcs),
    }


def check(fst: Fst, note: str) -> None:
    """Known bits first (before anything is computed), then all of them."""
    want = slow(fst)
    known = {k: v for k, v in asdict(properties(fst, compute=False)).items() if v is not None}
    assert known == {k: want[k] for k in known}, note
    assert asdict(properties(fst)) == want, note
    assert asdict(properties(fst, compute=False)) == want, note


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(60))
def test_every_bit_of_every_result(semiring, seed):
    rng = random.Random(seed)
    fst = random_fst(
        rng,
        semiring,
        states=rng.randint(1, 7),
        arcs=rng.randint(0, 12),
        labels=4,
        acyclic=seed % 3 == 0,
        epsilons=seed % 2 == 0,
        acceptor=seed % 5 == 0,
        weighted=seed % 4 != 0,
    )
    other = random_fst(rng, semiring)
    check(fst, f"seed {seed}")
    results = {
        "arcsort": arcsort(fst),
        "arcsort output": arcsort(fst, "output"),
        "invert": invert(fst),
        "project": project(fst, "input"),
        "connect": connect(fst),
        "reverse": reverse(fst),
        "union": union(fst, other),
        "concat": concat(fst, other),
        "closure": closure(fst),
        "copy": fst.copy(),
        "read": Fst.read(fst.to_bytes("const"), semiring=semiring),
    }
    if not properties(fst).cyclic:
        results["topsort"] = topsort(fst)
        results["randgen"] = randgen(fst, 3)
    for name, result in results.items():
        check(result, f"{name}, seed {seed}")


@pytest.mark.parametrize("seed", range(20))
def test_changes_forget(seed):
    rng = random.Random(seed)
    fst = random_fst(rng, states=6)
    for _ in range(30):
        properties(fst)
        n = fst.num_states()
        change = rng.randrange(5)
        if n == 0 or change == 0:
            fst.add_state()
        elif change == 1:
            fst.add_arc(
                rng.randrange(n), Arc(rng.randint(0, 3), rng.randint(0, 3), rng.randint(0, 1), rng.randrange(n))
            )
        elif change == 2:
            fst.set_final(rng.randrange(n), rng.choice([None, 2.0, float("inf")]))
        elif change == 3:
            fst.set_start(rng.randrange(n))
        else:
            fst.delete_arcs(rng.randrange(n))
        check(fst, f"seed {seed}")


@pytest.mark.parametrize("seed", range(150))
def test_the_bits_of_openfst(seed):
    semiring = SEMIRINGS[seed % 3]
    fst = random_fst(random.Random(seed), semiring, states=6, arcs=seed % 12)
    if fst.start() < 0 and fst.num_states():  # OpenFst's own search fails on such a machine
        return
    theirs = to_openfst(fst).properties(pywrapfst.FstProperties(0xFFFFFFFF0000), True).value
    ours = int.from_bytes(fst.to_bytes()[34:42] if semiring != "log" else fst.to_bytes()[29:37], "little")
    assert ours & 0xFFFFFFFF0000 == theirs & 0xFFFFFFFF0000, f"seed {seed}"
