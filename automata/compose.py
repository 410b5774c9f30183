"""compose: the relation that leads from one machine's input to another's output."""

from __future__ import annotations

from .._core import DelayedFst as _NativeDelayed
from .._core import compose as _compose
from ._arguments import limit, native
from .checks import checked_flag
from .delayed import DelayedFst
from .fst import Fst


def compose(a: Fst, b: Fst, *, connect: bool = True, max_states: int = 20_000_000, max_arcs: int = 200_000_000) -> Fst:
    """The composition: if `a` maps x to y and `b` maps y to z, the result maps x to z, with the product of weights.

    Epsilons pass the epsilon-sequencing filter, so each pair of paths counts once and weights are right in every
    semiring. The operands must have one semiring, the arcs of `a` sorted by output or those of `b` by input label (see
    `arcsort`; both is faster), and no different symbol tables in the middle: else FstError. `connect` drops states that
    lie on no accepted path. More than `max_states` states or `max_arcs` arcs (before connecting) raise LimitError.

    Complexity: O(V1 V2 D1 (log D2 + M2)) time where `b` is searched: V states visited, D arcs per state, M arcs of a
    state with one label. Source: Mohri, Pereira, Riley, "Weighted automata in text and speech processing" (1996).
    """
    return Fst._wrap(
        _compose(
            native("compose", a),
            native("compose", b),
            checked_flag("compose", "connect", connect),
            limit("compose", "max_states", max_states),
            limit("compose", "max_arcs", max_arcs),
        )
    )


class ComposeFst(DelayedFst):
    """The composition of `compose`, made state by state; preconditions and errors are the same.

    States that lie on no accepted path are not dropped. Each new state costs one hash entry of about 16 bytes.
    """

    __slots__ = ()

    def __init__(self, a: Fst, b: Fst, *, max_states: int = 20_000_000, max_arcs: int = 200_000_000) -> None:
        self._native = _NativeDelayed.compose(
            native("ComposeFst", a),
            native("ComposeFst", b),
            limit("ComposeFst", "max_states", max_states),
            limit("ComposeFst", "max_arcs", max_arcs),
        )
