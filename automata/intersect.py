"""intersect: the strings that two acceptors share."""

from __future__ import annotations

from .._core import intersect as _intersect
from ._arguments import limit, native
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
            connect,
            limit("intersect", "max_states", max_states),
            limit("intersect", "max_arcs", max_arcs),
        )
    )
