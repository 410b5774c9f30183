"""Small machines for tests, built arc by arc, without the operations under test."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from tokamata.automata import Arc, Fst, Semiring

ArcLike = tuple[int, int, int, "float | None", int]


def machine(
    arcs: Iterable[ArcLike],
    finals: dict[int, float | None] | Iterable[int],
    *,
    states: int | None = None,
    start: int = 0,
    semiring: Semiring = "tropical",
) -> Fst:
    """A machine from (source, ilabel, olabel, weight, target) and final states; weight None is one."""
    arcs = list(arcs)
    finals = dict(finals) if isinstance(finals, dict) else dict.fromkeys(finals)
    count = max([start, *finals, *(a[0] for a in arcs), *(a[4] for a in arcs)]) + 1 if states is None else states
    fst = Fst(semiring)
    fst.add_states(count)
    fst.set_start(start)
    for s, weight in finals.items():
        fst.set_final(s, weight)
    for s, ilabel, olabel, weight, target in arcs:
        fst.add_arc(s, ilabel, olabel, weight, target)
    return fst


def chain(labels: Sequence[int], semiring: Semiring = "tropical", weight: float | None = None) -> Fst:
    """The acceptor of one string, a state after the other; `weight` is that of each arc."""
    return machine([(i, x, x, weight, i + 1) for i, x in enumerate(labels)], [len(labels)], semiring=semiring)


def ring(n: int, weight: float, semiring: Semiring = "log", label: int = 1) -> Fst:
    """A cycle of n states with arcs of this weight; the start is final."""
    return machine([(s, label, label, weight, (s + 1) % n) for s in range(n)], [0], semiring=semiring)


def rebuilt(fst: Fst, arcs: dict[int, list[Arc]] | None = None, *, semiring: Semiring | None = None) -> Fst:
    """A copy whose states have the given arcs instead, or, over another semiring, weights one."""
    out = Fst(semiring or fst.semiring)
    out.add_states(fst.num_states())
    if fst.start() >= 0:
        out.set_start(fst.start())
    for s in fst.states():
        if fst.is_final(s):
            out.set_final(s, None if semiring else fst.final(s))
        for arc in fst.arcs(s) if arcs is None else arcs[s]:
            out.add_arc(s, arc.ilabel, arc.olabel, None if semiring else arc.weight, arc.nextstate)
    return out


def by_label(fst: Fst, side: str) -> Fst:
    """A copy with the arcs of each state in order of their "ilabel" or "olabel"."""
    return rebuilt(fst, {s: sorted(fst.arcs(s), key=lambda arc: getattr(arc, side)) for s in fst.states()})


def shuffled(fst: Fst, rng: random.Random) -> Fst:
    """A copy with renumbered states and arcs in random order."""
    number = list(fst.states())
    rng.shuffle(number)
    out = Fst(fst.semiring)
    out.add_states(fst.num_states())
    if fst.start() >= 0:
        out.set_start(number[fst.start()])
    for s in fst.states():
        out.set_final(number[s], fst.final(s))
        arcs = list(fst.arcs(s))
        rng.shuffle(arcs)
        for arc in arcs:
            out.add_arc(number[s], arc.ilabel, arc.olabel, arc.weight, number[arc.nextstate])
    return out


def turned_around(fst: Fst) -> Fst:
    """A machine for the reversed strings without new epsilons: a fresh start state has the arcs of all final ones.

    The empty string is left out. A deterministic transducer becomes a functional one that need not be deterministic.
    """
    n = fst.num_states()
    out = Fst(fst.semiring)
    out.add_states(n + 1)
    out.set_start(n)
    if fst.start() >= 0:
        out.set_final(fst.start())
    for s in fst.states():
        for arc in fst.arcs(s):
            out.add_arc(arc.nextstate, arc.ilabel, arc.olabel, arc.weight, s)
            if fst.is_final(arc.nextstate):
                final = fst.final(arc.nextstate)
                weight = arc.weight if fst.semiring == "boolean" else arc.weight + final
                out.add_arc(n, arc.ilabel, arc.olabel, weight, s)
    return out


def is_deterministic(fst: Fst) -> bool:
    """Whether no state has two arcs with one input label."""
    return all(len({a.ilabel for a in fst.arcs(s)}) == fst.num_arcs(s) for s in fst.states())


def has_epsilons(fst: Fst) -> bool:
    """Whether some arc has epsilon on both sides."""
    return any(a.ilabel == 0 == a.olabel for s in fst.states() for a in fst.arcs(s))
