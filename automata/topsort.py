"""Topological order of states."""

from __future__ import annotations

from .._core import topsort as _topsort
from ._arguments import native
from .fst import Fst


def topsort(fst: Fst) -> Fst:
    """The machine renumbered so that every arc leads to a higher state (Kahn 1962). O(states + arcs).

    The start state is 0 unless an arc leads to it. Raises FstError where the machine is cyclic.
    """
    return Fst._wrap(_topsort(native("topsort", fst)))
