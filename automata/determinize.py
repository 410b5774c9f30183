"""determinize: an equivalent machine with at most one arc per state and input label."""

from __future__ import annotations

from .._core import DelayedFst as _NativeDelayed
from .._core import determinize as _determinize
from ._arguments import checked_label, limit, native, number
from .checks import checked_count, cut
from .delayed import DelayedFst
from .errors import FstError
from .fst import Fst


def determinize(
    fst: Fst,
    *,
    delta: float = 1 / 1024,
    weight: float | None = None,
    nstate: int | None = None,
    subsequential_label: int = 0,
    max_states: int = 20_000_000,
    max_arcs: int = 200_000_000,
    max_elements: int = 100_000_000,
    max_delay: int = 1000,
) -> Fst:
    """An equivalent machine in which no state has two arcs with one input label.

    Epsilon counts as a label: apply `rmepsilon` first where that is not meant. A transducer must be functional (one
    output string for each input string), else FstError; outputs are written as early as possible, and what is left at
    the end of a string is written by arcs with input `subsequential_label`, which should be no label of `fst`: beside
    arcs that have it, epsilon by default, a state may have two with it. Arcs come out sorted by input label.

    Over tropical and log weights the result can be infinite, where cycles with the same labels have different weights
    (no twins property), and so can a transducer's where outputs stay apart for ever: more than `max_states` states,
    `max_arcs` arcs, `max_elements` states of `fst` in all subsets together (12 bytes each), or `max_delay` labels of
    output held back raise LimitError. With `weight` (tropical), only what
    lies on paths within `weight` of the best one is made, best first, and then at most `nstate` states are expanded;
    the result is connected and always finite where cycles have positive weight.

    Weights of the subsets that round to the same multiple of `delta` are held equal.

    Complexity: exponential in the worst case; O(arcs log arcs) where the machine is deterministic already. Source:
    Mohri, "Finite-state transducers in language and speech processing" (1997).
    """
    if nstate is not None and (nstate := checked_count("determinize", "nstate", nstate)) < 0:
        raise FstError(f"determinize: nstate must not be negative, got {cut(nstate)}; leave it out for no limit")
    return Fst._wrap(
        _determinize(
            native("determinize", fst),
            number("determinize", "delta", delta),
            None if weight is None else number("determinize", "weight", weight),
            None if nstate is None else min(nstate, 1 << 62),
            checked_label("determinize", "subsequential_label", subsequential_label),
            limit("determinize", "max_states", max_states),
            limit("determinize", "max_arcs", max_arcs),
            limit("determinize", "max_elements", max_elements),
            limit("determinize", "max_delay", max_delay),
        )
    )


class DeterminizeFst(DelayedFst):
    """The determinization of `determinize`, made state by state; preconditions and errors are the same.

    Use it where only a part of a large or infinite result is visited.
    """

    __slots__ = ()

    def __init__(
        self,
        fst: Fst,
        *,
        delta: float = 1 / 1024,
        subsequential_label: int = 0,
        max_states: int = 20_000_000,
        max_arcs: int = 200_000_000,
        max_elements: int = 100_000_000,
        max_delay: int = 1000,
    ) -> None:
        self._native = _NativeDelayed.determinize(
            native("DeterminizeFst", fst),
            number("DeterminizeFst", "delta", delta),
            checked_label("DeterminizeFst", "subsequential_label", subsequential_label),
            limit("DeterminizeFst", "max_states", max_states),
            limit("DeterminizeFst", "max_arcs", max_arcs),
            limit("DeterminizeFst", "max_elements", max_elements),
            limit("DeterminizeFst", "max_delay", max_delay),
        )
