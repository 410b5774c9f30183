"""A schema that is written twice is one schema, but for annotations and the order of members."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from oracle.json_schema_random import DRAFTS, RandomSchema, random_instance

import tokamata

DISTINCT = {
    "type": "array",
    "items": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}, "required": ["a"]},
    "uniqueItems": True,
}
NAME = {
    "type": "string",
    "pattern": r'^[^\.\s\\/:\*\?"<>\|\x01-\x1f]{1,32}(\.[^\.\s\\/:\*\?"<>\|\x01-\x1f]{1,32}){1,3}$',
    "maxLength": 128,
}


def rewritten(schema: Any, rng: random.Random) -> Any:
    """The same schema, its members in another order."""
    if isinstance(schema, list):
        return [rewritten(part, rng) for part in schema]
    if not isinstance(schema, dict):
        return schema
    members = [(key, part if key in ("enum", "const") else rewritten(part, rng)) for key, part in schema.items()]
    rng.shuffle(members)
    return dict(members)


@pytest.mark.parametrize("shared", [DISTINCT, NAME, {"properties": {"y": DISTINCT}, "minProperties": 1}])
def test_branches_of_one_of_may_repeat_a_schema(shared: dict[str, Any]) -> None:
    again = {"description": "the same", **dict(reversed(list(shared.items())))}
    schema = {
        "type": "object",
        "oneOf": [
            {"properties": {"x": shared, "a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}, "x": again}, "required": ["b"]},
        ],
    }
    constraint = tokamata.json_schema(schema, key_order="any")
    validator = jsonschema.Draft202012Validator(schema)
    values = [None, "", "a.b", "a", [], [{"a": ""}], [{"a": ""}, {"a": ""}], [{"a": "", "n": 1}, {"a": ""}], {"y": []}]
    for x in values:
        for rest in ({}, {"a": ""}, {"b": 1}, {"a": "", "b": 1}, {"a": "", "b": ""}, {"a": 1, "b": 1}):
            value = {"x": x, **rest}
            assert constraint.accepts(json.dumps(value)) == validator.is_valid(value), value


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_value_is_valid_against_a_schema_and_not_against_its_copy(draft: str) -> None:
    for seed in range(100):
        rng = random.Random(f"{draft} {seed}")
        makes = RandomSchema(rng, draft)
        makes.definitions = "definitions"
        member = makes.schema(3)
        schema = {
            "$schema": DRAFTS[draft][0],
            "definitions": {"x": {"type": "string"}, "y": {"items": {"$ref": "#/definitions/y"}}},
            "allOf": [
                {"type": "object", "properties": {"a": member}},
                {"not": {"properties": {"a": rewritten(member, rng)}}},
            ],
        }
        with pytest.raises(tokamata.ConstraintError, match="no JSON value"):
            tokamata.json_schema(schema)


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_copy_with_one_other_part_is_another_schema(draft: str) -> None:
    uri, validators = DRAFTS[draft]
    both = 0
    for seed in range(60):
        rng = random.Random(f"other {draft} {seed}")
        makes = RandomSchema(rng, draft)
        part, other = makes.schema(1), makes.schema(0)
        around = {"properties": {"a": part, "b": {"type": "string"}}, "minProperties": 1, "type": "object"}
        changed = rewritten(around, rng)
        changed["properties"][rng.choice(["a", "b", "c"])] = other
        schema = {"$schema": uri, "definitions": {"x": {}, "y": {}}, "allOf": [around, {"not": changed}]}
        if '"$ref"' in json.dumps([part, other]):
            continue
        validator = validators(schema)
        try:
            constraint = tokamata.json_schema(schema, key_order="any", numbers="any")
        except tokamata.UnsupportedError:
            continue
        except tokamata.ConstraintError:
            constraint = None
        for _ in range(20):
            value = {key: random_instance(rng, around["properties"].get(key, {})) for key in rng.sample("abc", 2)}
            text = json.dumps(value)
            if draft == "4" and "." in text:
                continue
            valid = validator.is_valid(value)
            both += valid
            assert (constraint is not None and constraint.accepts(text)) == valid, (seed, schema, text)
    assert both > 20


def test_equal_texts_mean_different_things_in_different_schemas() -> None:
    shared = {"type": "object", "properties": {"p": {"items": {"$ref": "#/$defs/x"}}}}
    first = {"$id": "http://example.com/a", "$defs": {"x": {"type": "string"}}, "allOf": [shared]}
    second = {"$id": "http://example.com/b", "$defs": {"x": {"type": "integer"}}, "allOf": [shared]}
    constraint = tokamata.json_schema({"allOf": [first, {"not": second}]})
    assert constraint.accepts('{"p": ["a"]}')
    assert not constraint.accepts('{"p": []}')
    assert not constraint.accepts('{"p": [1]}')
    lists = {"items": [{"type": "string"}], "prefixItems": [{"type": "integer"}]}
    old = {"$id": "http://example.com/c", "$schema": "http://json-schema.org/draft-07/schema#", "allOf": [lists]}
    new = {"allOf": [{"prefixItems": [{"type": "integer"}]}]}
    assert tokamata.json_schema({"allOf": [old, {"not": new}]}).accepts('["a"]')
