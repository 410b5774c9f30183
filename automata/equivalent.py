"""equivalent: whether two deterministic acceptors give every string the same weight."""

from __future__ import annotations

from .._core import equivalent as _equivalent
from ._arguments import limit, native, number
from .fst import Fst


def equivalent(a: Fst, b: Fst, *, delta: float = 1 / 1024, max_visits: int = 10_000) -> bool:
    """Whether two acceptors accept the same strings with the same weights.

    Both must be deterministic and epsilon-free acceptors over one semiring, else FstError, which names what to apply.
    Weights are compared after pushing toward the start, up to `delta` on each arc.

    Complexity: O(V a(V) + E log D) and a shortest distance where there are weights (a: inverse Ackermann, D: arcs of a
    state). Source: Hopcroft and Karp, "A linear algorithm for testing equivalence of finite automata" (1971).
    """
    return bool(
        _equivalent(
            native("equivalent", a),
            native("equivalent", b),
            number("equivalent", "delta", delta),
            limit("equivalent", "max_visits", max_visits),
        )
    )
