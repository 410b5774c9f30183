"""push: moves weights along paths toward the start or the final states."""

from __future__ import annotations

from typing import Literal

from .._core import push as _push
from ._arguments import limit, native, number
from .checks import checked_flag
from .errors import FstError
from .fst import Fst


def push(
    fst: Fst,
    *,
    reweight_type: Literal["to_initial", "to_final"] = "to_initial",
    remove_total_weight: bool = False,
    delta: float = 1e-6,
    max_visits: int = 10_000,
) -> Fst:
    """An equivalent machine with weights as near the start (or the final states) as they can be.

    Toward the start, the arcs and the final weight of every state then add up to one, but for the start, whose arcs
    carry the total weight; where an arc enters the start, a copy of it becomes the start (OpenFst adds an epsilon arc).
    `remove_total_weight` divides every path by the total weight. Weights of arcs
    on no accepted path mean nothing afterwards.

    Complexity, and the errors where cycles have no total weight, are those of `shortestdistance`. Source: Mohri,
    "Weighted automata algorithms" (2009).
    """
    if reweight_type not in ("to_initial", "to_final"):
        raise FstError(f'push: reweight_type must be "to_initial" or "to_final", got {reweight_type!r}')
    return Fst._wrap(
        _push(
            native("push", fst),
            reweight_type == "to_final",
            checked_flag("push", "remove_total_weight", remove_total_weight),
            number("push", "delta", delta),
            limit("push", "max_visits", max_visits),
        )
    )
