"""Union of machines."""

from __future__ import annotations

from .._core import union_all as _union
from ._arguments import native
from .fst import Fst


def union(fst: Fst, *others: Fst) -> Fst:
    """The machine that relates what any of the operands relates; weights of a pair add up with plus.

    The result has a new start state 0 with an epsilon arc to each operand's start; the operands' states follow in
    order. An operand without a start state adds nothing. O(states + arcs) for any number of operands.

    Raises FstError where the semirings differ, or symbol tables of one tape disagree.
    """
    return Fst._wrap(_union([native("union", fst), *(native("union", f) for f in others)]))
