"""Random members of a machine."""

from __future__ import annotations

from typing import Literal

from .._core import randgen as _randgen
from ._arguments import amount, native
from .errors import FstError, LimitError
from .fst import Fst

_MOST_PATHS = 10_000_000


def randgen(
    fst: Fst,
    n: int = 1,
    *,
    seed: int = 0,
    select: Literal["uniform", "log_prob"] = "uniform",
    max_length: int = 10_000,
) -> Fst:
    """Draw n random accepting paths; the result has them as chains of arcs of weight one out of one start state.

    At each state the ways on (arcs, or stopping where it is final) are equally likely (``"uniform"``) or have
    probability proportional to exp(-weight) (``"log_prob"``; over the boolean semiring the same as uniform). Only ways
    are taken from which a final state is at most `max_length` arcs from the start, so every path is accepting; near
    that limit the choice is narrower. Arcs of weight zero are never taken. The same seed gives the same paths.
    O(states + arcs), plus the arcs of the states visited.

    Where nothing is accepted the result has no states. Raises LimitError where every member is longer than
    `max_length`, and for more than 10 million paths.
    """
    if select not in ("uniform", "log_prob"):
        raise FstError(f'randgen: unknown select {select!r}; expected "uniform" or "log_prob"')
    if (n := amount("randgen", "the number of paths", n, _MOST_PATHS + 1)) > _MOST_PATHS:
        raise LimitError(f"randgen: the limit of {_MOST_PATHS:,} paths was reached; draw fewer, with several seeds")
    return Fst._wrap(_randgen(native("randgen", fst), n, seed, select == "log_prob", max_length))
