"""capture and hidden: named parts of what is written, and parts that names leave out."""

from __future__ import annotations

from .constraint import Constraint, Text, parts_of, to_bytes
from .dynamic import DynamicConstraint
from .literal import as_constraint


def capture(name: str, part: Constraint | Text) -> Constraint:
    """The same texts; what this part of a larger constraint reads has a name.

    `Constraint.captures` and `DecodeState.captures` tell it. In a regular expression ``(?P<name>...)`` does the same.
    Raises ValueError for an empty name.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(
            f"capture: expected a name of at least one character, got {name!r}; pass the name first, then the part"
        )
    to_bytes(name, "capture")
    return _with_name(name, as_constraint("capture", part), f"capture({name!r}, ")


def hidden(part: Constraint | Text) -> Constraint:
    """The same texts; what this part reads is left out of the named parts around it."""
    return _with_name("", as_constraint("hidden", part), "hidden(")


def _with_name(name: str, inner: Constraint, source: str) -> Constraint:
    if isinstance(inner, DynamicConstraint):
        return inner._with_name(name, f"{source}{inner.source})")
    made = inner._combined(inner._native, f"{source}{inner.source})")
    made._speaking_of(inner.special_tokens, inner._has_raw_bytes)
    made._parts = parts_of(inner).named(name)
    return made
