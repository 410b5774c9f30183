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
