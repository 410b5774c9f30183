"""Random JSON Schemas of few values, and the compact texts of these."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

MANY = 2000
_VALUES = [1, 12, "a", "ab", True, None, [1], {"a": 1}]


def finite(rng: random.Random, depth: int = 2) -> tuple[Any, set[str]]:
    """A schema and all its texts; members have an order of their own, so that equal values may have texts apart."""
    kind = rng.randrange(6 if depth else 3)
    if kind == 0:
        values = rng.sample(_VALUES, rng.randint(1, 4))
        return {"enum": values}, {json.dumps(value, separators=(",", ":")) for value in values}
    if kind == 1:
        most = rng.randint(0, 2)
        strings = ("".join(letters) for n in range(most + 1) for letters in itertools.product("ab", repeat=n))
        return {"type": "string", "pattern": "^[ab]*$", "maxLength": most}, {f'"{s}"' for s in strings}
    if kind == 2:
        texts = {"integer": {"9", "10", "11"}, "boolean": {"true", "false"}, "null": {"null"}}
        types = rng.sample(sorted(texts), 2)
        return {"type": types, "minimum": 9, "maximum": 11}, texts[types[0]] | texts[types[1]]
    if kind == 3:
        (a, texts_a), (b, texts_b) = finite(rng, depth - 1), finite(rng, depth - 1)
        return {"anyOf": [a, b]}, texts_a | texts_b
    if kind == 4:
        (items, inner), most = finite(rng, depth - 1), rng.randint(0, 2)
        most = min(most, 1) if len(inner) ** 2 > MANY else most
        lists = (elements for n in range(most + 1) for elements in itertools.product(sorted(inner), repeat=n))
        return {"type": "array", "items": items, "maxItems": most}, {f"[{','.join(elements)}]" for elements in lists}
    members, every, required = {}, [[]], []  # type: ignore[var-annotated]
    for key in rng.sample("abc", rng.randint(0, 2)):
        members[key], inner = finite(rng, depth - 1)
        with_it = [[*before, f'"{key}":{text}'] for before in every for text in sorted(inner)]
        if rng.random() < 0.5:
            required.append(key)
            every = with_it
        else:
            every = every + with_it
    schema = {"type": "object", "properties": members, "required": required, "additionalProperties": False}
    return schema, {"{" + ",".join(chosen) + "}" for chosen in every}
