"""isomorphic: whether two machines are one up to the numbering of states."""

from __future__ import annotations

from .._core import isomorphic as _isomorphic
from ._arguments import native, number
from .fst import Fst


def isomorphic(a: Fst, b: Fst, *, delta: float = 1 / 1024) -> bool:
    """Whether two machines differ only in the numbers of states and the order of arcs; weights compare up to `delta`.

    Only states that the start leads to count. Where a state has two arcs with the same labels and weight that lead to
    different states, the question is hard, and FstError is raised. Complexity: O(states + arcs log arcs).
    """
    return bool(_isomorphic(native("isomorphic", a), native("isomorphic", b), number("isomorphic", "delta", delta)))
