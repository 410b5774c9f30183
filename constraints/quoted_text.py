"""quoted_text: text in quotes, with backslash escapes."""

from __future__ import annotations

import re

from .constraint import Constraint, Limits, native_limits
from .regex import regex


def quoted_text(quote: str = '"', *, limits: Limits | None = None) -> Constraint:
    r"""One line of text in quotes; a backslash takes the next character along, whatever it is.

    Between the quotes stand any characters but the quote, backslashes and newlines, and pairs of a backslash and any
    character but a newline: ``"a \"b\" \\"``. What the pairs mean is up to the reader; JSON strings are
    ``json_schema({"type": "string"})``. In `regex`: ``(?P<QUOTED_TEXT>)``. Source: Koo et al. (2024), Table 1.
    """
    if not isinstance(quote, str) or len(quote) != 1 or quote in "\\\n":
        raise ValueError(
            f"quoted_text: expected one character other than a backslash or newline, got {quote!r}; pass the quotation "
            "mark"
        )
    native_limits(limits, "quoted_text")
    q = re.escape(quote)
    made = regex(rf"{q}(?:[^{q}\\\n]|\\[^\n])*{q}", limits=limits)
    made.source = "quoted_text()" if quote == '"' else f"quoted_text({quote!r})"
    return made
