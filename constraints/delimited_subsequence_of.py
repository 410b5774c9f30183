"""delimited_subsequence_of: some of a row of options, in its order, with a delimiter between them."""

from __future__ import annotations

from collections.abc import Iterable

from .._core import delimited_subsequence as _native_subsequence
from ..automata.checks import checked_flag, checked_several
from ..automata.errors import UnsupportedError
from .constraint import Constraint, Limits, Text, native_limits
from .literal import as_constraint


def delimited_subsequence_of(
    options: Iterable[Constraint | Text],
    delimiter: Constraint | Text = ", ",
    *,
    empty: bool = False,
    limits: Limits | None = None,
) -> Constraint:
    """Some of the options, each at most once and in the order given, the delimiter between neighbours.

    At least one of them; with ``empty``, or none. The expression is linear in the options. In `regex`:
    ``(?P<DELIMITED_SUBSEQUENCE_OF>, |red|green|blue)``, the delimiter first. Raises ValueError where there are no
    options. Source: Koo et al. (2024), Table 1.
    """
    if isinstance(options, (str, bytes, Constraint)):
        raise TypeError("delimited_subsequence_of: expected several options, got one; see delimited_list for elements")
    options = checked_several("delimited_subsequence_of", "options", options)
    items = [as_constraint("delimited_subsequence_of", option) for option in options]
    if not items:
        raise ValueError(
            'delimited_subsequence_of: expected at least one option, got none; literal("") is the empty text alone'
        )
    if any(item._parts for item in items):
        raise UnsupportedError(
            "delimited_subsequence_of: options with named parts inside; name the whole of it, or write the order out "
            "with + and optional"
        )
    between = as_constraint("delimited_subsequence_of", delimiter)
    native = _native_subsequence(
        [item._native for item in items], between._native, native_limits(limits, "delimited_subsequence_of")
    )
    shown = ", ".join(item.source for item in items[:3]) + (", ..." if len(items) > 3 else "")
    made = items[0]._combined(native, f"delimited_subsequence_of([{shown}], {between.source})", *items[1:], between)
    made = made._between_texts()
    return made | "" if checked_flag("delimited_subsequence_of", "empty", empty) else made
