"""Documents with an element that occurs twice, which tell schemas apart where ``uniqueItems`` cannot be negated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .constraint import Constraint

EXAMPLES = 100  # of the one schema, in which elements are repeated


def repeating_example(schema: Constraint, other: Constraint) -> bytes | None:
    """A text of one JSON Schema but not of another: one of its examples, or such a one with an element repeated.

    The shortest that is found; None where there is none among those, which says nothing about others.
    """
    best: bytes | None = None
    for text in schema.examples(EXAMPLES):
        for changed in _repeats(text):
            if best is not None and len(changed) >= len(best):
                continue
            if schema.accepts(changed) and not other.accepts(changed):
                best = changed
    return best


def _simple(text: str) -> int | float:
    value = float(text)
    if value.is_integer():
        return int(value)
    return value if repr(value).strip("-.0123456789") == "" else 0.5


def _repeats(text: bytes) -> Iterator[bytes]:
    """The value of a text, with each element of an array once more, and each in the place of the next one.

    Numbers are those that are spelled in one way only: that of a value decides whether other spellings differ from it.
    """
    try:
        root = json.loads(text, parse_float=_simple)
    except (ValueError, RecursionError):  # a number of too many digits for Python, or arrays inside of too many others
        return

    def written() -> bytes:
        return json.dumps(root, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

    yield written()
    below: list[Any] = [root]
    while below:
        value = below.pop()
        if isinstance(value, dict):
            below.extend(value.values())
        if not isinstance(value, list):
            continue
        below.extend(value)
        for i, element in enumerate(list(value)):
            value.insert(i, element)
            yield written()
            del value[i]
            if i + 1 < len(value):
                next_one, value[i + 1] = value[i + 1], element
                yield written()
                value[i + 1] = next_one
