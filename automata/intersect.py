"""intersect: the strings that two acceptors share."""

from __future__ import annotations

from .._core import DelayedFst as _NativeDelayed
from .._core import intersect as _intersect
from ._arguments import limit, native
from .checks import checked_flag
from .delayed import DelayedFst
from .fst import Fst


def intersect(
    a: Fst, b: Fst, *, connect: bool = True, max_states: int = 20_000_000, max_arcs: int = 200_000_000
) -> Fst:
    """The strings that both acceptors accept, each with the product of its two weights.

    Preconditions (else FstError), limits (LimitError) and complexity are those of `compose`, and both operands must be
    acceptors.
    """
    return Fst._wrap(
        _intersect(
            native("intersect", a),
            native("intersect", b),
            checked_flag("intersect", "connect", connect),
            limit("intersect", "max_states", max_states),
            limit("intersect", "max_arcs", max_arcs),
        )
    )


class IntersectFst(DelayedFst):
    """The result of `intersect`, made state by state; preconditions and errors are the same.

    States that lie on no accepted path are not dropped.
    """

    __slots__ = ()

    def __init__(self, a: Fst, b: Fst, *, max_states: int = 20_000_000, max_arcs: int = 200_000_000) -> None:
        self._native = _NativeDelayed.intersect(
            native("IntersectFst", a),
            native("IntersectFst", b),
            limit("IntersectFst", "max_states", max_states),
            limit("IntersectFst", "max_arcs", max_arcs),
        )
