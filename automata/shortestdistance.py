"""shortestdistance: the total weight of all paths to or from each state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._core import shortestdistance as _shortestdistance
from ._arguments import limit, native, number
from .checks import checked_flag
from .fst import Fst


def shortestdistance(
    fst: Fst, *, reverse: bool = False, delta: float = 1e-6, max_visits: int = 10_000
) -> NDArray[np.float32]:
    """For each state, the semiring sum of the weights of all paths from the start to it: float32 [states].

    With `reverse`, of all paths from it to the final states, final weights included. The semiring's zero where there is
    no path. A cycle of negative tropical weight raises FstError. Over the log semiring, strongly connected components
    of up to 32 states are solved, and a sum without a finite value (the cycles' probabilities add up to one or more)
    raises FstError; in larger ones sums are taken to a relative error of about `delta`, and LimitError is raised where
    that is not reached within `max_visits` visits of a state.

    Complexity: O(V + E) where the machine is acyclic; components with cycles O(E log V) over weights of at least 0,
    O(V E) with negative ones. Source: Mohri, "Semiring frameworks and algorithms for shortest-distance problems"
    (2002).
    """
    distances: NDArray[np.float32] = _shortestdistance(
        native("shortestdistance", fst),
        checked_flag("shortestdistance", "reverse", reverse),
        number("shortestdistance", "delta", delta),
        limit("shortestdistance", "max_visits", max_visits),
    )
    return distances
