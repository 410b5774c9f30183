"""Examples of schemas whose members come to an end far from where walks stop: against jsonschema."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema
import pytest

import tokamata

Schema = dict[str, Any]
# Four conditions, none of which tells how many characters all of them take together.
STRONG: Schema = {"type": "string", "pattern": "^(?=.*[0-9]{4})(?=.*[A-Z]{4})(?=.*[a-z]{4})(?=.*[-+]).*$"}


def nested(depth: int, width: int) -> Schema:
    """Objects in objects, the last property of each required: most schemas in it are of no use for a short member."""
    if not depth:
        return {"type": "string"}
    properties = {f"property{i}": nested(depth - 1, width) for i in range(width)}
    return {"type": "object", "properties": properties, "required": [f"property{width - 1}"]}


def required(count: int, value: Schema) -> Schema:
    properties = {f"key{i}": value for i in range(count)}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


SCHEMAS: dict[str, Schema] = {
    "deep": nested(5, 6),
    "several": {"type": "array", "contains": nested(3, 6), "minContains": 5, "items": {"type": ["object", "string"]}},
    "either": {"type": "array", "minItems": 6, "items": {"oneOf": [nested(3, 5), required(2, STRONG)]}},
    "conditions": required(12, STRONG),
    "elements": {"type": "array", "minItems": 40, "items": STRONG},
    "names": {
        "type": "object",
        "patternProperties": {"^[a-f]{3}-[0-9]{6}$": STRONG, "^x-": nested(2, 6)},
        "additionalProperties": False,
        "minProperties": 12,
    },
    "dependent": {
        "type": "object",
        "properties": {f"p{i}": STRONG for i in range(12)},
        "dependentRequired": {f"p{i}": [f"p{i + 1}"] for i in range(11)},
        "required": ["p0"],
    },
    "distinct": {
        "type": "object",
        "properties": {
            "first": {"type": "array", "items": {"enum": [f"choice {i}" for i in range(17)]}, "uniqueItems": True},
            "second": {"type": "array", "items": {"enum": [f"option {i}" for i in range(17)]}, "uniqueItems": True},
            "third": nested(4, 6),
        },
        "required": ["third", "second"],
    },
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_examples_come_to_an_end(name: str) -> None:
    """As many as were asked for, distinct, valid, not long, the same for the same seed, and in no time."""
    validator = jsonschema.Draft202012Validator(SCHEMAS[name])
    constraint = tokamata.json_schema(SCHEMAS[name])
    began = time.process_time()
    examples = constraint.examples(4, seed=3)
    assert time.process_time() - began < 2
    assert len(set(examples)) == 4
    assert examples == constraint.examples(4, seed=3)
    for example in examples:
        assert constraint.accepts(example)
        validator.validate(json.loads(example))
        assert len(example) < 2000, example


@pytest.mark.parametrize(
    "options", [{}, {"key_order": "any"}, {"key_order": "sorted"}, {"whitespace": "pretty"}], ids=str
)
def test_examples_of_very_many_schemas(options: dict[str, Any]) -> None:
    """Fifty thousand schemas, of which nearly none is of use: most are not looked at."""
    schema = nested(6, 6)
    constraint = tokamata.json_schema(schema, **options)
    began = time.process_time()
    examples = constraint.examples(3)
    assert time.process_time() - began < 3
    assert len(set(examples)) == 3
    for example in examples:
        assert constraint.accepts(example)
        jsonschema.Draft202012Validator(schema).validate(json.loads(example))


@pytest.mark.parametrize("count", [2, 6, 12, 30])
def test_examples_of_keys_in_any_order(count: int) -> None:
    """All keys are required, in whatever order: as many orders as there may be are not looked at."""
    schema = required(count, {"type": "array", "minItems": 2, "items": {"type": "integer"}})
    constraint = tokamata.json_schema(schema, key_order="any")
    examples = constraint.examples(5)
    assert len({tuple(json.loads(example)) for example in examples}) > 1
    for example in examples:
        jsonschema.Draft202012Validator(schema).validate(json.loads(example))


def test_examples_of_distinct_values_that_are_shortest() -> None:
    """The end of an array of distinct values is looked for among any values, which may repeat: members do not."""
    schema = {"type": "array", "items": {"enum": [*range(20), *"abcdefgh"]}, "uniqueItems": True, "minItems": 26}
    constraint = tokamata.json_schema(schema)
    for example in constraint.examples(8):
        values = json.loads(example)
        assert len(set(values)) == len(values) >= 26
