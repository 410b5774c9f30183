"""substring_of: any piece of a text."""

from __future__ import annotations

from typing import Literal

from .._core import substrings as _native_substrings
from ..automata.errors import ConstraintError
from .constraint import Constraint, Limits, Text, native_limits, to_bytes

Unit = Literal["characters", "words", "lines"]


def substring_of(text: Text, by: Unit = "characters", *, limits: Limits | None = None) -> Constraint:
    r"""Any piece of a text that is made of whole units of it; the empty one as well (``- ""`` leaves it out).

    ``by="characters"``: any substring. ``by="words"``: from the beginning of a word to the end of a word, with what
    stands between them, where words are runs of anything but ASCII white space. ``by="lines"``: consecutive lines (they
    end with ``\n``), the last one with or without its newline.

    Held as the suffix automaton of the units, at most 2n states and 3n arcs for n of them: a megabyte takes less than a
    second and about 40 MB by characters; a mask costs what a walk through the vocabulary along the text costs. Raises
    ConstraintError for bytes that are no UTF-8, LimitError past 2**28 units or ``search_seconds``.
    Source: Blumer et al., "The smallest
    automaton recognizing the subwords of a text" (1985).
    """
    if by not in ("characters", "words", "lines"):
        raise ValueError(f'substring_of: expected by="characters", "words" or "lines", got {by!r}; pass one of them')
    data = to_bytes(text, "substring_of")
    try:
        shown = data.decode()
    except UnicodeDecodeError as error:
        raise ConstraintError(
            f"substring_of: expected UTF-8, got the byte 0x{data[error.start]:02x} at position {error.start}; "
            "decode the text first"
        ) from None
    native = _native_substrings(data, by, native_limits(limits, "substring_of"))
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    return Constraint(native, source=f"substring_of({shown!r}, by={by!r})")
