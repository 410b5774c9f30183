"""Reversal."""

from __future__ import annotations

from .._core import reverse as _reverse
from ._arguments import native
from .fst import Fst


def reverse(fst: Fst) -> Fst:
    """The machine that relates each pair read backwards, with the same weight.

    State 0 is a new start with epsilon arcs to the states that were final; state s becomes s + 1. O(states + arcs).
    """
    return Fst._wrap(_reverse(native("reverse", fst)))
