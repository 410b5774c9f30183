"""Sorting arcs."""

from __future__ import annotations

from typing import Literal

from .._core import arcsort as _arcsort
from ._arguments import native
from .errors import FstError
from .fst import Fst


def arcsort(fst: Fst, side: Literal["input", "output"] = "input") -> Fst:
    """The machine with the arcs of each state sorted by input label, then output label, or the other way round.

    Arcs with equal labels keep their order. O(d log d) for a state of d arcs, O(d) where they are sorted already.
    """
    if side not in ("input", "output"):
        raise FstError(f'arcsort: unknown side {side!r}; expected "input" or "output"')
    return Fst._wrap(_arcsort(native("arcsort", fst), side == "output"))
