"""key_order="sorted": all keys by code point, as json.dumps(sort_keys=True) writes, those that no schema names too."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

import tokamata

KEYS = [
    "a",
    "b",
    "aa",
    "ab",
    "",
    "id",
    "é",
    "日",
    "😀",
    "\ue000",
    "x",
    "bb",
    "ba",
    "\0",
    "a\0",
    "z",
    '"',
    "\\",
    "\x7f",
    "A",
]
VALUES: list[Any] = [True, {"enum": [0, 1]}, {"const": 0}, False]
PATTERNS = ["^a", "b$", "^[ab]$", "^(é|b|a)$", "^a*b?$", "^a+$", "^x?z*$"]


def random_object(rng: random.Random) -> dict[str, Any]:
    """A schema of objects in which keys run out, are owed, follow patterns."""
    schema: dict[str, Any] = {"type": "object"}
    if rng.random() < 0.7:
        schema["properties"] = {key: rng.choice(VALUES) for key in rng.sample(KEYS, rng.randrange(4))}
    if rng.random() < 0.5:
        schema["required"] = rng.sample(KEYS, rng.randrange(3))
    if rng.random() < 0.4:
        schema["patternProperties"] = {rng.choice(PATTERNS): rng.choice(VALUES) for _ in range(rng.randrange(1, 3))}
    if rng.random() < 0.3:
        schema["additionalProperties"] = rng.choice(VALUES)
    if rng.random() < 0.3:
        schema["minProperties"] = rng.randrange(4)
    if rng.random() < 0.3:
        schema["maxProperties"] = rng.randrange(1, 4)
    if rng.random() < 0.2:
        names = [{"pattern": "^[ab]{1,2}$"}, {"enum": ["a", "b", "é"]}, {"maxLength": 1}, {"pattern": "^a*$"}]
        schema["propertyNames"] = rng.choice(names)
    if rng.random() < 0.2:
        values = {"const": 0}
        violated = [
            {"properties": {"a": values}},
            {"patternProperties": {"^a": values}},
            {"propertyNames": {"pattern": "^a"}},
        ]
        schema["not"] = rng.choice(violated)
    return schema


@pytest.mark.parametrize("seed", range(120))
def test_members_are_valid_and_sorted(seed: int) -> None:
    rng = random.Random(seed)
    schema = random_object(rng)
    validator = jsonschema.Draft202012Validator(schema)
    options = {"strings": "canonical"} if seed % 3 == 0 else {"numbers": "any"}
    try:
        constraint = tokamata.json_schema(schema, key_order="sorted", **options)
    except tokamata.ConstraintError:  # the schema contradicts itself: no object is valid
        constraint = tokamata.regex("(?!)")
    for _ in range(40):
        keys = rng.sample(KEYS, rng.randrange(5))
        if rng.random() < 0.7:
            keys.sort()
        value = {key: rng.choice([0, 1, "x"]) for key in keys}
        valid = validator.is_valid(value) and keys == sorted(keys)
        assert constraint.accepts(json.dumps(value, ensure_ascii=False)) == valid, (seed, schema, value)
    for text in constraint.examples(3) if not constraint.is_empty() else []:
        assert list(json.loads(text)) == sorted(json.loads(text)), (seed, schema, text)


def test_order_is_by_code_point_at_any_depth() -> None:
    constraint = tokamata.json_schema({"properties": {"m": True}, "required": ["m"]}, key_order="sorted")
    value = {"a": {"\ue000": 1, "😀": [{"b": 1, "c": 2}]}, "m": 1, "n": {"": 1, "x": 2}}
    assert constraint.accepts(json.dumps(value, sort_keys=True))
    for wrong in ('{"n": 1, "m": 1}', '{"m": 1, "a": 1}', '{"m": 1, "z": 1, "y": 1}', '{"m": {"b": 1, "a": 1}}'):
        assert not constraint.accepts(wrong)
    assert not constraint.accepts('{"m": {"\\ud83d\\ude00": 1, "\\ue000": 1}}')  # less only in UTF-16
    assert constraint.accepts('{"\\u0061": 1, "b": 1, "\\u006d": 1}')


def test_report_of_the_order() -> None:
    schema = {"type": "object"}
    found = {(e.subject, e.status) for e in tokamata.json_schema(schema, key_order="sorted").report}
    assert ("key_order", "enforced") in found
    free = tokamata.json_schema(schema, key_order="sorted", unique_keys=False)
    assert ("key_order", "widened") in {(e.subject, e.status) for e in free.report}
    assert free.accepts('{"b": 1, "a": 1}')
    both = tokamata.json_schema(schema, key_order="sorted") & tokamata.regex("(?s:.*)")
    assert ("key_order", "widened") in {(e.subject, e.status) for e in both.report}
    yaml = tokamata.yaml_schema(schema, key_order="sorted")
    assert [e.detail for e in yaml.report if e.subject == "key_order"] == [
        "keys that no schema names come after the others, in any order"
    ]
    closed = tokamata.json_schema({"type": "object", "additionalProperties": False}, key_order="sorted")
    assert "key_order" not in {e.subject for e in closed.report}


def test_keys_that_no_schema_names_stand_between_named_ones_without_memory() -> None:
    schema = {"type": "object", "properties": {"b": True, "d": True}, "required": ["b"], "additionalProperties": True}
    free = tokamata.json_schema(schema, key_order="sorted", unique_keys=False, whitespace="compact")
    assert free.accepts('{"aa":1,"a":1,"b":1,"c":1,"d":1,"e":1}')
    assert not free.accepts('{"c":1,"b":1}')
    assert not free.accepts('{"b":1,"e":1,"d":1}')


@pytest.mark.parametrize("long", ["a" + "xyz " * 750, "\U0010ffff" * 450, "a" * 199, "é" * 200, "b" * 201, 'q"' * 700])
def test_long_keys_are_compared(long: str) -> None:
    """Each character was a level of nesting, of which there may be a thousand."""
    constraint = tokamata.json_schema({"additionalProperties": {"type": "integer"}}, key_order="sorted")
    cut = len(long) // 2
    for other in (long + "a", long[:-1], long[:cut], long[:cut] + "\0", long[:cut] + "\U0010ffff" * 999, "b" + long):
        assert constraint.accepts(json.dumps({long: 1, other: 2})) == (other > long), other
        assert constraint.accepts(json.dumps({other: 1, long: 2})) == (long > other), other
