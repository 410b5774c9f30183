"""Concatenation of machines."""

from __future__ import annotations

from .._core import concat as _concat
from ._arguments import native
from .fst import Fst


def concat(fst: Fst, *others: Fst) -> Fst:
    """The machine that relates a pair of the first operand followed by a pair of the next one, and so on.

    The operands' states follow in order; final states of one have an epsilon arc to the start of the next one. Where
    an operand has no start state, the result has no states. O(states + arcs) for any number of operands.

    Raises FstError where the semirings differ, or symbol tables of one tape disagree.
    """
    return Fst._wrap(_concat([native("concat", fst), *(native("concat", f) for f in others)]))
