"""delimited_list: elements of one kind with a delimiter between them."""

from __future__ import annotations

from ..automata.checks import checked_bounds
from .constraint import Constraint, Limits, Text, native_limits, to_bytes
from .literal import as_constraint, literal


def delimited_list(
    element: Constraint | Text,
    delimiter: Constraint | Text = ", ",
    low: int = 1,
    high: int | None = None,
    *,
    limits: Limits | None = None,
) -> Constraint:
    """Between ``low`` and ``high`` elements, the delimiter between neighbours; ``low=0`` allows the empty text.

    In `regex`: ``(?P<DELIMITED_LIST>, |element)``, the delimiter first. Counters are symbolic. Raises ValueError
    for bounds that are no bounds. Source: Koo et al. (2024), Table 1.
    """
    low, high = checked_bounds("delimited_list", low, high)
    if high == 0:
        raise ValueError(f"delimited_list: expected high >= 1, got low={low}, high=0; pass high=None for no bound")
    native_limits(limits, "delimited_list")
    if isinstance(element, (str, bytes)):
        to_bytes(element, "delimited_list")
        element = literal(element, limits=limits)
    first = as_constraint("delimited_list", element)
    between = as_constraint("delimited_list", delimiter)
    made = first + (between + first).repeat(max(low - 1, 0), None if high is None else high - 1)
    if low == 0:
        made = made | ""
    bounds = "" if (low, high) == (1, None) else f", {low}, {high}"
    made.source = f"delimited_list({first.source}, {between.source}{bounds})"
    return made
