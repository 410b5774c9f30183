"""Seeded random machines. Weights lie on a grid that float32 adds exactly."""

from __future__ import annotations

import random

from tokamata.automata import Fst, Semiring

SEMIRINGS: tuple[Semiring, ...] = ("tropical", "log", "boolean")


def random_fst(
    rng: random.Random,
    semiring: Semiring = "tropical",
    *,
    states: int = 5,
    arcs: int = 10,
    labels: int = 3,
    acyclic: bool = False,
    epsilons: bool = True,
    epsilon_cycles: bool | None = None,
    acceptor: bool = False,
    weighted: bool = True,
    deterministic: bool = False,
) -> Fst:
    """A random Fst with up to `states` states (sometimes none, sometimes no start) and about `arcs` arcs.

    Labels are 1..labels, and 0 with probability 1/4 on each tape where `epsilons`. Weights are multiples of 1/4 from
    0 to 4. `acyclic`: arcs lead to higher states. `epsilon_cycles` False: arcs with epsilon on both tapes do (the
    default over the log semiring, where sums over such cycles need not converge). `deterministic`: no two arcs of a
    state share an input label, and none is epsilon on the input side.
    """
    if epsilon_cycles is None:
        epsilon_cycles = semiring != "log"
    n = rng.randint(0, 1) if rng.random() < 0.05 else rng.randint(1, states)
    fst = Fst(semiring)
    fst.add_states(n)
    if n == 0:
        return fst

    def weight() -> float | None:
        if semiring == "boolean" or not weighted or rng.random() < 0.2:
            return None
        return rng.randint(0, 16) / 4

    def label() -> int:
        return 0 if epsilons and rng.random() < 0.25 else rng.randint(1, labels)

    if rng.random() < 0.97:
        fst.set_start(0 if acyclic or rng.random() < 0.7 else rng.randrange(n))
    for s in range(n):
        if rng.random() < 0.35:
            fst.set_final(s, weight())
    seen: set[tuple[int, int]] = set()
    for _ in range(rng.randint(arcs // 2, arcs)):
        source, target = rng.randrange(n), rng.randrange(n)
        ilabel = label()
        olabel = ilabel if acceptor else label()
        if acyclic or (ilabel == olabel == 0 and not epsilon_cycles):
            if source == target:
                continue
            source, target = min(source, target), max(source, target)
        if deterministic:
            if ilabel == 0 or (source, ilabel) in seen:
                continue
            seen.add((source, ilabel))
        fst.add_arc(source, ilabel, olabel, weight(), target)
    return fst
