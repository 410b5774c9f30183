"""Branches that are told apart by a key: where it does not occur, or has other values, is one case."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

import tokamata

KEYS = ["a", "b", "c"]
VALUES: list[Any] = ["x", 1, 2, None]
SCHEMAS: list[Any] = [True, False, {"type": "string"}, {"type": "integer"}, {"const": 1}, {"enum": [1, "x"]}]
ABSENT = "absent"
OBJECTS: list[dict[str, Any]] = [
    {key: value for key, value in zip(KEYS, values, strict=True) if value != ABSENT}
    for values in itertools.product([*VALUES, ABSENT], repeat=len(KEYS))
]


def random_branch(rng: random.Random) -> dict[str, Any]:
    """Mostly one member that there must be."""
    branch: dict[str, Any] = {}
    if rng.random() < 0.5:
        branch["type"] = rng.choice(["object", ["object", "null"]])
    keys = rng.sample(KEYS, rng.choice([1, 1, 1, 2]))
    branch["properties"] = {key: rng.choice(SCHEMAS) for key in keys}
    if rng.random() < 0.8:
        branch["required"] = rng.sample(KEYS, 2) if rng.random() < 0.2 else keys[:1]
    if rng.random() < 0.15:
        branch["additionalProperties"] = rng.choice([False, {"type": "integer"}])
    if rng.random() < 0.1:
        branch["patternProperties"] = {"^[ab]": rng.choice(SCHEMAS)}
    return branch


def random_schema(rng: random.Random) -> dict[str, Any]:
    """Branches, negated here and there."""
    some = [random_branch(rng) for _ in range(rng.randrange(1, 5))]
    schema: dict[str, Any] = rng.choice(
        [
            {"oneOf": some},
            {"not": {"anyOf": some}},
            {"not": {"oneOf": some}},
            {"if": some[0], "then": some[-1], "else": {"not": random_branch(rng)}},
            {"allOf": [{"not": branch} for branch in some]},
        ]
    )
    if rng.random() < 0.3:
        schema |= random_branch(rng)
    if rng.random() < 0.2:
        schema["unevaluatedProperties"] = rng.choice([False, {"type": "integer"}])
    return {"not": schema} if rng.random() < 0.3 else schema


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_jsonschema(seed: int) -> None:
    """On every object of a few keys and values."""
    rng, decided = random.Random(seed), 0
    for _ in range(25):
        schema = {"allOf": [random_schema(rng), {"type": "object"}]}
        check = jsonschema.Draft202012Validator(schema)
        try:
            constraint = tokamata.json_schema(schema, key_order="any")
        except tokamata.ConstraintError:  # it is empty
            assert not any(map(check.is_valid, OBJECTS)), (seed, schema)
            continue
        except tokamata.LimitError:  # what unevaluated keywords leave open, negated
            continue
        for value in OBJECTS:
            assert constraint.accepts(json.dumps(value)) == check.is_valid(value), (seed, schema, value)
        decided += 1
    assert decided >= 15, seed


def random_condition(rng: random.Random) -> dict[str, Any]:
    """What is asked where members have some of a few values."""
    keys = rng.sample(KEYS, rng.choice([1, 1, 2]))
    lists: list[Any] = [
        {"const": rng.choice(VALUES)},
        {"enum": rng.sample(VALUES, 2)},
        {"type": "string", "const": "x"},
    ]
    lists += [
        {"type": ["string", "null"], "enum": ["x", None, 1]},
        {"enum": [1.0, "x"]},
        {"const": "x", "enum": [1, "x"]},
    ]
    condition: dict[str, Any] = {"properties": {key: rng.choice(lists) for key in keys}}
    if rng.random() < 0.7:
        condition["required"] = keys
    asked = {"if": condition, "then": random_branch(rng)}
    return asked | {"else": random_branch(rng)} if rng.random() < 0.3 else asked


@pytest.mark.parametrize("seed", range(12))
def test_conditions(seed: int) -> None:
    """So many that the cases that list no value are left out."""
    rng, decided = random.Random(100 + seed), 0
    for _ in range(12):
        schema: dict[str, Any] = {
            "type": "object",
            "allOf": [random_condition(rng) for _ in range(rng.randrange(4, 9))],
        }
        if rng.random() < 0.5:
            schema["required"] = rng.sample(KEYS, rng.randrange(1, 3))
        if rng.random() < 0.2:
            schema["properties"] = {key: {"enum": rng.sample(VALUES, 3)} for key in KEYS}
        if rng.random() < 0.2:
            schema = {"type": "object", "not": schema}
        check = jsonschema.Draft202012Validator(schema)
        try:
            constraint = tokamata.json_schema(schema, key_order="any", numbers="any")
        except tokamata.ConstraintError:
            assert not any(map(check.is_valid, OBJECTS)), (seed, schema)
            decided += 1
            continue
        except tokamata.LimitError:
            continue
        for value in OBJECTS:
            assert constraint.accepts(json.dumps(value)) == check.is_valid(value), (seed, schema, value)
        decided += 1
    assert decided >= 6, seed


@pytest.mark.parametrize("form", ["allOf", "else"])
def test_many_conditions(form: str) -> None:
    """One for each value of a member, side by side or one in the other: as many cases as values."""
    values = [f"v{i}" for i in range(40)]
    conditions: list[dict[str, Any]] = [
        {"if": {"properties": {"kind": {"const": value}}}, "then": {"required": [f"of_{value}"]}} for value in values
    ]
    chain: Any = True
    for condition in reversed(conditions):
        chain = condition | {"else": chain}
    schema = {"type": "object", "required": ["kind"], "allOf": conditions if form == "allOf" else [chain]}
    constraint = tokamata.json_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for kind, other in itertools.product(["v0", "v7", "v39", "none", 3], ["of_v0", "of_v7", "of_v39", "x"]):
        value = {"kind": kind, other: 0}
        assert constraint.accepts(json.dumps(value)) == check.is_valid(value), value
    assert not constraint.accepts('{"of_v0": 0}')


def test_many_branches() -> None:
    """A oneOf of open objects, as of operators by their names: as many cases as branches, no power of 2."""
    operators = [f"op{i}" for i in range(100)]
    schema = {
        "oneOf": [
            {"type": "object", "required": [key], "properties": {key: {"type": "array", "minItems": i}}}
            for i, key in enumerate(operators)
        ]
    }
    constraint = tokamata.json_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for value in [
        {},
        {"op7": [0] * 7},
        {"op7": [0] * 6},
        {"op0": [], "op1": []},
        {"op0": [], "op1": [0]},
        {"op2": 1, "x": 0},
    ]:
        assert constraint.accepts(json.dumps(value)) == check.is_valid(value), value
