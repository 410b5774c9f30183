"""sequence and optional: constraints one after another."""

from __future__ import annotations

from functools import reduce
from itertools import groupby
from operator import add, or_

from .._core import Language
from .constraint import Constraint, Text, joined_parts
from .dynamic import DynamicConstraint
from .literal import as_constraint, literal


def sequence(*parts: Constraint | Text) -> Constraint:
    """A text of each part, one after another; str and bytes are literals. Without parts, the empty text.

    The same as ``a + b + c``, linear in the number of parts. Raises TypeError for anything else.
    """
    joined: list[Constraint | Text] = []  # neighbouring texts as one
    for kind, group in groupby(parts, type):
        if kind is str:
            joined.append("".join(text for text in group if isinstance(text, str)))
        elif kind is bytes:
            joined.append(b"".join(text for text in group if isinstance(text, bytes)))
        else:
            joined += group
    constraints = [as_constraint("sequence", part) for part in joined]
    if len(constraints) < 2:
        return constraints[0] if constraints else literal("")
    if any(isinstance(part, DynamicConstraint) for part in constraints):
        return reduce(add, constraints)
    first, rest = constraints[0], constraints[1:]
    source = "(" + " + ".join(part.source for part in constraints) + ")"
    made = first._combined(Language.concat([part._native for part in constraints]), source, *rest)
    made._parts = joined_parts(constraints)
    return made


def optional(part: Constraint | Text) -> Constraint:
    """A text of the part, or nothing."""
    return as_constraint("optional", part).repeat(0, 1)


def any_of(parts: list[Constraint]) -> Constraint:
    """A text of any of one or more parts; linear in their number."""
    if any(isinstance(part, DynamicConstraint) for part in parts):
        return reduce(or_, parts)
    first, rest = parts[0], parts[1:]
    if not rest:
        return first
    source = "(" + " | ".join(part.source for part in parts) + ")"
    made = first._combined(Language.union_([part._native for part in parts]), source, *rest)
    made._parts = joined_parts(parts, alternatives=True)
    return made
