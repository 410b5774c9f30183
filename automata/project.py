"""Projection."""

from __future__ import annotations

from typing import Literal

from .._core import project as _project
from ._arguments import native
from .errors import FstError
from .fst import Fst


def project(fst: Fst, side: Literal["input", "output"]) -> Fst:
    """The acceptor of the input or output side: its labels, and its symbol table, are on both. O(states + arcs).

    A string's weight is the sum of the weights of all pairs that it is the side of.
    """
    if side not in ("input", "output"):
        raise FstError(f'project: unknown side {side!r}; expected "input" or "output"')
    return Fst._wrap(_project(native("project", fst), side == "output"))
