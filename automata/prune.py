"""prune: drops what lies only on paths much worse than the best."""

from __future__ import annotations

from .._core import prune as _prune
from ._arguments import native, number
from .fst import Fst


def prune(fst: Fst, *, weight: float) -> Fst:
    """The machine without states, arcs and final weights that lie only on paths more than `weight` worse than the best.

    Tropical (over boolean weights, where all paths are equal, it only connects); log raises FstError, as do a negative
    threshold and a cycle of negative weight. Paths that are worse can remain where they are made of good parts.
    Complexity: that of `shortestdistance`.
    """
    return Fst._wrap(_prune(native("prune", fst), number("prune", "weight", weight)))
