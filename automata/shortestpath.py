"""shortestpath: the best paths of a machine."""

from __future__ import annotations

from .._core import shortestpath as _shortestpath
from ._arguments import amount, limit, native, number
from .checks import checked_flag
from .fst import Fst


def shortestpath(
    fst: Fst, *, nshortest: int = 1, unique: bool = False, weight: float | None = None, max_states: int = 20_000_000
) -> Fst:
    """A machine that accepts by the `nshortest` best paths of `fst`, or by all where there are fewer.

    One path comes out as a chain from state 0; several as the tree of their common beginnings. `unique` counts paths
    with the same string as one, with its best weight (epsilon-free acceptors only). `weight` leaves out paths worse
    than the best by more than that. Needs the path property: tropical or boolean, else FstError; a cycle of negative
    weight on accepted paths raises FstError too. More than `max_states` kept beginnings of paths raise LimitError.

    Complexity: one path as `shortestdistance`; n paths O(n E log(n E)). Source: Mohri and Riley, "An efficient
    algorithm for the n-best-strings problem" (2002).
    """
    return Fst._wrap(
        _shortestpath(
            native("shortestpath", fst),
            amount("shortestpath", "nshortest", nshortest, 1 << 62),
            checked_flag("shortestpath", "unique", unique),
            None if weight is None else number("shortestpath", "weight", weight),
            limit("shortestpath", "max_states", max_states),
        )
    )
