"""Schemas that lead to themselves inside arrays, and what nested schemas have evaluated, against jsonschema."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

import tokamata


def verdicts(schema: Any, values: list[Any]) -> list[bool]:
    try:
        constraint = tokamata.json_schema(schema, key_order="any")
    except tokamata.ConstraintError as error:
        if "no JSON value" not in str(error):
            raise
        return [False] * len(values)
    return [constraint.accepts(json.dumps(value)) for value in values]


def check(schema: Any, values: list[Any]) -> int:
    """The values that are valid are accepted, and no others; how many there are of the rarer kind."""
    validator = jsonschema.Draft202012Validator(schema)
    expected = [validator.is_valid(value) for value in values]
    found = verdicts(schema, values)
    assert found == expected, (schema, [v for v, a, b in zip(values, found, expected, strict=True) if a != b])
    return min(sum(expected), len(expected) - sum(expected))


# ---- arrays that lead to themselves
SHALLOW: list[Any] = [0, [], [0], [[]], [0, 0], [[0], 0], [0, [0]], [[[0]]]]
ARRAYS = [0, *([*elements] for n in range(4) for elements in itertools.product(SHALLOW, repeat=n))]


class Circles:
    """Schemas of arrays in which some elements are ones of the whole schema again."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def element(self, depth: int = 1) -> Any:
        rng = self.rng
        kind = rng.randrange(8)
        if kind < 3:
            return {"$ref": "#"}
        if kind == 3:
            return {"$ref": "#", "type": "array"}
        if kind == 4 and depth:
            return {"not": self.element(depth - 1)}
        if kind == 5 and depth:
            return {rng.choice(["anyOf", "allOf"]): [self.element(depth - 1), self.element(depth - 1)]}
        return rng.choice([{"type": "array"}, {"minItems": 1}, True, {"type": "integer"}])

    def schema(self) -> dict[str, Any]:
        rng = self.rng
        made: dict[str, Any] = {}
        if rng.random() < 0.8:
            made["contains"] = self.element()
            if rng.random() < 0.4:
                made[rng.choice(["minContains", "maxContains"])] = rng.randrange(3)
        if rng.random() < 0.7:
            made["prefixItems"] = [self.element() for _ in range(rng.randrange(1, 3))]
        if rng.random() < 0.5:
            made[rng.choice(["items", "unevaluatedItems"])] = self.element()
        if rng.random() < 0.3:
            made["not"] = {"items": self.element()}
        return made


def test_elements_that_rest_on_a_place_further_on() -> None:
    """The second element is an array again, which the question whether one can be there met while it was open."""
    schema = {"contains": {"$ref": "#"}, "prefixItems": [{}, {"type": "array"}]}
    assert check(schema, ARRAYS) > 100
    accepts = tokamata.json_schema(schema).accepts
    assert accepts('[[], ["a"]]')
    assert accepts('[["", 1], [[1]]]')
    assert not accepts("[[], []]")


@pytest.mark.parametrize("part", range(4))
def test_arrays_that_lead_to_themselves(part: int) -> None:
    rare = 0
    for seed in range(part, 240, 4):
        rng = random.Random(seed)
        print("seed", seed)
        rare += check(Circles(rng).schema(), [0, *rng.sample(ARRAYS, 60)])
    assert rare > 200


# ---- what counts as evaluated
class Nested:
    """Schemas with unevaluated* inside not, if and the others, beside one that counts what they have evaluated."""

    def __init__(self, rng: random.Random, rest: str) -> None:
        self.rng = rng
        self.rest = rest

    def leaf(self) -> dict[str, Any]:
        rng = self.rng
        if self.rest == "unevaluatedItems":
            made = rng.choice(
                [{"prefixItems": [{}]}, {"prefixItems": [{}, {"type": "array"}]}, {"contains": {"type": "array"}}]
            )
        else:
            made = rng.choice(
                [{"properties": {"a": {}}}, {"properties": {"b": {"type": "array"}}}, {"patternProperties": {"^c": {}}}]
            )
        return {**made, self.rest: rng.choice([False, {"type": "array"}])} if rng.random() < 0.6 else made

    def schema(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return self.leaf()
        kind = rng.choice(["not", "not", "if", "oneOf", "anyOf", "allOf"])
        if kind in ("not", "if"):
            made = {kind: self.schema(depth - 1)}
            if kind == "if" and rng.random() < 0.5:
                made[rng.choice(["then", "else"])] = self.schema(depth - 1)
        else:
            made = {kind: [self.schema(depth - 1), rng.choice([True, {}, self.schema(depth - 1)])]}
        if rng.random() < 0.3:
            made[self.rest] = rng.choice([False, {"type": "array"}])
        return made


@pytest.mark.parametrize("rest", ["unevaluatedItems", "unevaluatedProperties"])
def test_what_a_schema_counts_for_itself_is_not_evaluated_for_those_around_a_not(rest: str) -> None:
    """Not even inside of two of them."""
    leaf = {"prefixItems": [{}]} if rest == "unevaluatedItems" else {"properties": {"a": {}}}
    value: Any = [1] if rest == "unevaluatedItems" else {"a": 1}
    for inner in (leaf, {**leaf, rest: False}):
        for around in (
            {"not": {"not": inner}},
            {"if": {"oneOf": [inner, {}]}},
            {"anyOf": [{"not": {"not": inner}}, True]},
        ):
            assert verdicts({**around, rest: False}, [value, [], {}]) == [False, True, True], around
        assert verdicts({"if": inner, rest: False}, [value]) == [True]


@pytest.mark.parametrize("rest", ["unevaluatedItems", "unevaluatedProperties"])
def test_schemas_that_count_inside_schemas_that_count(rest: str) -> None:
    elements: list[Any] = [1, []]
    values: list[Any] = [[*v] for n in range(4) for v in itertools.product(elements, repeat=n)]
    if rest == "unevaluatedProperties":
        values = [dict(zip(keys, v, strict=False)) for keys in ("abc", "bca", "cd", "da") for v in values]
    rare = limits = 0
    for seed in range(300):
        rng = random.Random(seed)
        print("seed", seed)
        schema = {**Nested(rng, rest).schema(3), rest: rng.choice([False, {"type": "array"}])}
        try:
            rare += check(schema, values)
        except tokamata.LimitError:
            limits += 1
    assert rare > 300
    assert limits < 5
