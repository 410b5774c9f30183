"""uncounted_keys: places of a schema where it matters that YAML lets keys be written twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_DATA = ("const", "enum", "default", "examples")
_BOTH = ("oneOf", "if")
_EITHER = (False, True)
_VALUES = ("additionalProperties", "patternProperties", "unevaluatedProperties")


def uncounted_keys(text: bytes) -> Iterator[tuple[str, str]]:
    """JSON Pointer and reason of each keyword that a repeated key can make wrong.

    PyYAML takes the last of equal keys. So there are fewer members than were written, where ``minProperties`` asks for
    more than the required names and one other; and where ``not`` asks that some member of any name is not of a schema,
    that member can be replaced. Below ``oneOf`` and ``if`` what is asked may hold or not. ``text``: a JSON document.
    O(its size).
    """
    if not any(word in text for word in (b'Properties"', b'"not"')):
        return
    todo: list[tuple[str, Any, tuple[bool, ...]]] = [("", json.loads(text), (False,))]
    while todo:
        place, schema, negated = todo.pop()
        if isinstance(schema, list):
            todo += [(f"{place}/{i}", item, negated) for i, item in enumerate(schema)]
        if not isinstance(schema, dict):
            continue
        yield from _found(place, schema, negated)
        for key, inside in schema.items():
            if key not in _DATA:
                step = key.replace("~", "~0").replace("/", "~1")
                asked = tuple(not n for n in negated) if key == "not" else _EITHER if key in _BOTH else negated
                todo.append((f"{place}/{step}", inside, asked))


def _found(place: str, schema: dict[str, Any], negated: tuple[bool, ...]) -> Iterator[tuple[str, str]]:
    required = schema.get("required")
    names = len(set(map(str, required))) if isinstance(required, list) else 0
    closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
    objects = schema.get("type", "object")
    if closed or not (objects == "object" or (isinstance(objects, list) and "object" in objects)):
        return
    for not_so in negated:
        name = "maxProperties" if not_so else "minProperties"
        count = schema.get(name)
        if isinstance(count, (int, float)) and count + not_so > names + 1:
            yield f"{place}/{name}", "which asks for several members of any name"
    for name in _VALUES if negated == (True,) else ():
        if isinstance(schema.get(name), dict):
            yield f"{place}/{name}", "of which some member of any name must not be"
