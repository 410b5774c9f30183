"""Branches and schemas that no value comes from are in the report, where others have values."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import jsonschema
import pytest
from oracle.json_schema_random import RandomSchema

import tokamata


def empties(constraint: tokamata.Constraint) -> set[str]:
    return {entry.place for entry in constraint.report if entry.status == "empty"}


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        ({"anyOf": [{"type": "integer", "minimum": 3, "maximum": 2}, {"type": "string"}]}, {"/anyOf/0"}),
        ({"type": "string", "anyOf": [{"type": "integer"}, {"type": "string"}, False]}, {"/anyOf/0"}),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, {"/oneOf/0"}),
        ({"properties": {"a": {"minLength": 2, "maxLength": 1, "type": "string"}, "b": False}}, {"/properties/a"}),
        ({"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"enum": []}}}, {"/items", "/$defs/x"}),
        ({"$defs": {"y": {"type": "object", "required": ["y"], "properties": {"y": {"$ref": "#/$defs/y"}}}},
          "properties": {"y": {"$ref": "#/$defs/y"}}}, {"/properties/y", "/$defs/y", "/$defs/y/properties/y"}),
        ({"properties": {"a": {"type": "string"}, "b": {"anyOf": [{"const": 1}, {"const": "x"}]}}}, set()),
    ],
)  # fmt: skip
def test_what_is_empty_is_reported(schema: dict[str, Any], places: set[str]) -> None:
    constraint = tokamata.json_schema(schema)
    assert empties(constraint) == places
    assert all("no value comes from here" in e.detail for e in constraint.report if e.status == "empty")


@pytest.mark.parametrize("seed", range(40))
def test_branches_are_empty_exactly_when_what_is_left_of_the_schema_with_them_is(seed: int) -> None:
    rng = random.Random(seed)
    branches = [RandomSchema(rng, "2020-12").schema(1, guarded=True) for _ in range(3)]
    around = RandomSchema(rng, "2020-12").schema(1, guarded=True)
    schema = {**(around if isinstance(around, dict) else {}), "anyOf": branches}
    try:
        found = empties(tokamata.json_schema(schema, key_order="any"))
    except (tokamata.ConstraintError, tokamata.UnsupportedError):
        return  # all of them are empty, or something is refused
    for i, branch in enumerate(branches):
        if not isinstance(branch, dict):
            continue
        try:
            tokamata.json_schema({"allOf": [schema, branch]}, key_order="any")
            empty = False
        except tokamata.ConstraintError as error:
            empty = "contradicts itself" in str(error)
        assert (f"/anyOf/{i}" in found) == empty, (seed, i, json.dumps(schema))


def test_branches_that_overlap_end_in_time() -> None:
    """Each member that keeps some of the other branches away leaves the others open; no expression is searched."""
    branches = [
        {
            "type": "object",
            "properties": {
                "t": {"type": "string", "enum": [f"x{i}"]},
                "q": {"type": "object", "properties": {f"a{i}": {}}, "additionalProperties": False},
            },
        }
        for i in range(18)
    ]
    begun = time.process_time()
    schema = {"required": ["p"], "properties": {"p": {"oneOf": branches}}, "type": "object"}
    constraint = tokamata.json_schema(schema)
    assert time.process_time() - begun < 4
    check = jsonschema.Draft202012Validator(schema)
    for value in ({"t": "x3"}, {"t": "x3", "q": {"a3": 1}}, {"q": {"a3": 1}}, {"t": "y"}, {}, 1):
        assert constraint.accepts(json.dumps({"p": value})) == check.is_valid({"p": value}), value
