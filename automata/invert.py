"""Inversion."""

from __future__ import annotations

from .._core import invert as _invert
from ._arguments import native
from .fst import Fst


def invert(fst: Fst) -> Fst:
    """The machine with input and output labels, and symbol tables, exchanged. O(states + arcs)."""
    return Fst._wrap(_invert(native("invert", fst)))
