"""minimize: the smallest deterministic machine equivalent to a deterministic one."""

from __future__ import annotations

from .._core import minimize as _minimize
from ._arguments import limit, native, number
from .fst import Fst


def minimize(fst: Fst, *, delta: float = 1e-6, max_visits: int = 10_000) -> Fst:
    """The smallest machine that is deterministic and equivalent to `fst`, which must be deterministic (else FstError).

    Weights are pushed toward the start first (see `push`), and those that then round to the same multiple of `delta`
    are held equal; merged states have the weights of one of them, so where weights lie close to where rounding changes,
    minimizing the result can merge more. The total weight goes onto the start's arcs, or, where an arc enters the
    start, onto the final weights: so no state is added. A transducer is minimized as an acceptor of label pairs,
    deterministic in these: outputs are not moved along paths. Where cycles have no total weight, errors are those of
    `shortestdistance`.

    Complexity: O(states + arcs log arcs), and a shortest distance where there are weights. Source: Valmari and
    Lehtinen, "Efficient minimization of DFAs with partial transition functions" (2008), after Hopcroft (1971).
    """
    return Fst._wrap(
        _minimize(
            native("minimize", fst), number("minimize", "delta", delta), limit("minimize", "max_visits", max_visits)
        )
    )
