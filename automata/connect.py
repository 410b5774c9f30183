"""Connection: dropping states that no accepting path visits."""

from __future__ import annotations

from .._core import connect as _connect
from ._arguments import native
from .fst import Fst


def connect(fst: Fst) -> Fst:
    """The machine with only the states on a path from the start to a final state, in the same order.

    Where no path is accepting, the result has no states. Arcs of weight zero count as arcs. O(states + arcs).
    """
    return Fst._wrap(_connect(native("connect", fst)))
