"""difference: the strings of one acceptor that another does not accept."""

from __future__ import annotations

from .._core import DelayedFst as _NativeDelayed
from .._core import difference as _difference
from ._arguments import limit, native
from .checks import checked_flag
from .delayed import DelayedFst
from .fst import Fst


def difference(
    a: Fst, b: Fst, *, connect: bool = True, max_states: int = 20_000_000, max_arcs: int = 200_000_000
) -> Fst:
    """The strings that `a` accepts and `b` does not, with their weights in `a`.

    `a` is an acceptor; `b` an unweighted, epsilon-free, deterministic acceptor with arcs sorted by input label, over
    the same semiring: else FstError, which names what to apply. `connect` drops states that lie on no accepted path.
    More than `max_states` states or `max_arcs` arcs (before connecting) raise LimitError.

    Complexity: O(V1 V2 D1 log D2) time and O(V1 V2) space: V states visited, D arcs per state.
    """
    return Fst._wrap(
        _difference(
            native("difference", a),
            native("difference", b),
            checked_flag("difference", "connect", connect),
            limit("difference", "max_states", max_states),
            limit("difference", "max_arcs", max_arcs),
        )
    )


class DifferenceFst(DelayedFst):
    """The result of `difference`, made state by state; preconditions and errors are the same.

    States that lie on no accepted path are not dropped.
    """

    __slots__ = ()

    def __init__(self, a: Fst, b: Fst, *, max_states: int = 20_000_000, max_arcs: int = 200_000_000) -> None:
        self._native = _NativeDelayed.difference(
            native("DifferenceFst", a),
            native("DifferenceFst", b),
            limit("DifferenceFst", "max_states", max_states),
            limit("DifferenceFst", "max_arcs", max_arcs),
        )
