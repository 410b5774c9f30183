"""replace: expands arcs that stand for other machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from .._core import DelayedFst as _NativeDelayed
from .._core import Fst as _NativeFst
from .._core import replace as _replace
from ._arguments import checked_label, checked_pairs, limit, native
from .delayed import DelayedFst
from .errors import FstError
from .fst import Fst

Labeling = Literal["input", "output", "both", "neither"]


def replace(
    pairs: Iterable[tuple[int, Fst]],
    *,
    root: int | None = None,
    call_arc_labeling: Labeling = "input",
    max_states: int = 20_000_000,
    max_arcs: int = 200_000_000,
) -> Fst:
    """The machine of the root label, with every arc whose output label has a machine replaced by that machine.

    `pairs` gives a machine for each label; the root is the first one's label unless given. The arc that enters a
    machine keeps, by OpenFst's default, its input label (so an acceptor becomes a transducer); "neither" makes it an
    epsilon arc. The arc that returns is an epsilon arc. Weights multiply along the way.

    Label 0, a label twice, a root without machine, different semirings or symbol tables raise FstError. A machine that
    calls itself has no finite expansion: more than `max_states` states or `max_arcs` arcs raise LimitError.

    Complexity: linear in the result, whose size can be exponential in the depth of calls.
    """
    return Fst._wrap(_replace(*_arguments("replace", pairs, root, call_arc_labeling, max_states, max_arcs)))


class ReplaceFst(DelayedFst):
    """The result of `replace`, made state by state: a machine may call itself. Arguments and errors are the same."""

    __slots__ = ()

    def __init__(
        self,
        pairs: Iterable[tuple[int, Fst]],
        *,
        root: int | None = None,
        call_arc_labeling: Labeling = "input",
        max_states: int = 20_000_000,
        max_arcs: int = 200_000_000,
    ) -> None:
        self._native = _NativeDelayed.replace(
            *_arguments("ReplaceFst", pairs, root, call_arc_labeling, max_states, max_arcs)
        )


def _arguments(
    operation: str,
    pairs: Iterable[tuple[int, Fst]],
    root: int | None,
    call_arc_labeling: str,
    max_states: int,
    max_arcs: int,
) -> tuple[list[tuple[int, _NativeFst]], int, bool, bool, int, int]:
    machines = [
        (checked_label(operation, "a machine's label", name), native(operation, fst))
        for name, fst in checked_pairs(operation, "machines and their labels", pairs)
    ]
    if not machines:
        raise FstError(f"{operation}: expected at least one pair (label, machine), got none")
    if call_arc_labeling not in ("input", "output", "both", "neither"):
        raise FstError(
            f'{operation}: call_arc_labeling must be "input", "output", "both" or "neither", got {call_arc_labeling!r}'
        )
    return (
        machines,
        machines[0][0] if root is None else checked_label(operation, "root", root),
        call_arc_labeling in ("input", "both"),
        call_arc_labeling in ("output", "both"),
        limit(operation, "max_states", max_states),
        limit(operation, "max_arcs", max_arcs),
    )
