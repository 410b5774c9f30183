"""Kleene closure."""

from __future__ import annotations

from typing import Literal

from .._core import closure as _closure
from ._arguments import native
from .errors import FstError
from .fst import Fst


def closure(fst: Fst, *, kind: Literal["star", "plus"] = "star") -> Fst:
    """Any number of pairs of the machine in turn: none included (``"star"``), or at least one (``"plus"``).

    Final states get an epsilon arc back to the start; star adds a new start state, the last one. O(states + arcs).
    Where the machine accepts the empty string, the result has epsilon cycles: over the log semiring their sums
    converge only if the empty string's weight is above 0.
    """
    if kind not in ("star", "plus"):
        raise FstError(f'closure: unknown kind {kind!r}; expected "star" or "plus"')
    return Fst._wrap(_closure(native("closure", fst), kind == "plus"))
