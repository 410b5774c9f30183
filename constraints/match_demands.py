"""match_demands: what a match demands of the text ahead of it, as conjunctions of lookaheads."""

from __future__ import annotations

from collections.abc import Iterable

# Whether the text ahead must not match, and where in the program (see preferred_match) the lookahead's threads are.
Demand = tuple[bool, frozenset[int]]


def contraries(others: tuple[Demand, ...], demands: tuple[Demand, ...]) -> list[tuple[Demand, ...]]:
    """Demands, and that some of others are not met: all ways."""
    ways = (conjunction([*others, (not negated, places)]) for negated, places in demands)
    return [way for way in ways if way is not None]


def conjunction(demands: Iterable[Demand]) -> tuple[Demand, ...] | None:
    """All of some demands, negated ones as one; None where they contradict each other."""
    forbidden: frozenset[int] = frozenset()
    wanted: set[frozenset[int]] = set()
    for negated, places in demands:
        if negated:
            forbidden |= places
        else:
            wanted.add(places)
    if any(places <= forbidden for places in wanted):
        return None
    kept = [(False, places) for places in sorted(wanted, key=sorted) if not any(other < places for other in wanted)]
    return (*kept, (True, forbidden)) if forbidden else tuple(kept)


def implies(demands: tuple[Demand, ...], weaker: tuple[Demand, ...]) -> bool:
    """Whether demands imply weaker ones, as far as their places tell."""
    return all(
        any(own == negated and (places <= those if negated else those <= places) for own, those in demands)
        for negated, places in weaker
    )
