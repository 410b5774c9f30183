"""rmepsilon: an equivalent machine without epsilon arcs."""

from __future__ import annotations

from .._core import rmepsilon as _rmepsilon
from ._arguments import limit, native, number
from .checks import checked_flag
from .fst import Fst


def rmepsilon(
    fst: Fst,
    *,
    connect: bool = True,
    delta: float = 1e-6,
    max_visits: int = 10_000,
    max_arcs: int = 200_000_000,
) -> Fst:
    """An equivalent machine without arcs that have epsilon on both sides.

    Without `connect` the states keep their ids; those that only epsilons entered lose their arcs. Arcs of one state
    with the same labels and target become one. Sums over epsilon cycles of the log semiring, and their errors, are
    those of `shortestdistance`; a tropical epsilon cycle of negative weight raises FstError, more than `max_arcs`
    arcs LimitError.

    Complexity: the sizes of the epsilon closures of the start and of all states that other arcs enter, times the log
    of their arcs; O(V^2 + V E) at worst. Source: Mohri, "Generic epsilon-removal and input epsilon-normalization
    algorithms for weighted transducers" (2002).
    """
    return Fst._wrap(
        _rmepsilon(
            native("rmepsilon", fst),
            checked_flag("rmepsilon", "connect", connect),
            number("rmepsilon", "delta", delta),
            limit("rmepsilon", "max_visits", max_visits),
            limit("rmepsilon", "max_arcs", max_arcs),
        )
    )
