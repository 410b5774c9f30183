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


# ---- definitions that lead to one another, in arrays and objects
VALUES: list[Any] = [
    {}, {"a": 0}, {"a": []}, {"a": {"a": 0}}, {"b": 0}, {"a": [], "b": []}, {"c": []}, {"a": [{}]}, {"a": {"a": []}},
    [{}], [{"a": 0}], [{"a": []}, []], *SHALLOW, *([a, b] for a in SHALLOW for b in SHALLOW),
]  # fmt: skip


def member(rng: random.Random, depth: int = 1) -> Any:
    kind = rng.randrange(9)
    reference = {"$ref": rng.choice(["#/$defs/x", "#/$defs/y", "#/$defs/z", "#"])}
    if kind < 4:
        return reference
    if kind == 4:
        return {**reference, "type": rng.choice(["array", "object"])}
    if kind == 5 and depth:
        return {"not": member(rng, depth - 1)}
    if kind == 6 and depth:
        return {rng.choice(["anyOf", "allOf", "oneOf"]): [member(rng, depth - 1), member(rng, depth - 1)]}
    return rng.choice([{"type": "array"}, {"minItems": 1}, True, {"type": "integer"}, {"type": ["array", "object"]}])


def definition(rng: random.Random) -> dict[str, Any]:
    likely = {
        "type": (0.5, lambda: rng.choice(["array", "array", "object", ["array", "object"]])),
        "contains": (0.6, lambda: member(rng)),
        "minContains": (0.15, lambda: rng.randrange(3)),
        "maxContains": (0.15, lambda: rng.randrange(3)),
        "prefixItems": (0.5, lambda: [member(rng) for _ in range(rng.randrange(1, 3))]),
        "minItems": (0.3, lambda: rng.randrange(3)),
        rng.choice(["items", "unevaluatedItems"]): (0.4, lambda: member(rng)),
        "required": (0.4, lambda: rng.choice([["a"], ["a", "b"]])),
        "properties": (0.4, lambda: {"a": member(rng), "b": member(rng)}),
        "additionalProperties": (0.3, lambda: member(rng)),
        "not": (0.2, lambda: rng.choice([{"items": member(rng)}, {"properties": {"a": member(rng)}}])),
        "minProperties": (0.2, lambda: 1),
    }
    return {keyword: make() for keyword, (often, make) in likely.items() if rng.random() < often}


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_definitions_that_lead_to_one_another(count: int) -> None:
    """Whether some of them have values rests on whether others have, and all answers come in time."""
    rare = 0
    for seed in range(count):
        rng = random.Random(seed)
        print("seed", seed)
        schema = {**definition(rng), "$defs": {name: definition(rng) for name in "xyz"}}
        rare += check(schema, VALUES)
    assert rare > count


def test_circles_without_values_are_found_in_time() -> None:
    """What is "no" for now is not asked again on each of the many ways that lead there."""
    count = 6
    inner = [[{"$ref": f"#/$defs/d{(7 * i + 3 * j + 1) % count}"} for j in range(3)] for i in range(count)]
    of_arrays = {"type": "array", "prefixItems": [True, {"type": "array"}]}
    definitions = {f"d{i}": {**of_arrays, "contains": {"anyOf": inner[i]}} for i in range(count)}
    with pytest.raises(tokamata.ConstraintError, match="no JSON value"):
        tokamata.json_schema({"$ref": "#/$defs/d0", "$defs": definitions})


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


@pytest.mark.parametrize(
    "definitions",
    [
        {"x": {"$ref": "#/$defs/x"}},
        {"x": {"allOf": [{"$ref": "#/$defs/y"}]}, "y": {"not": {"$ref": "#/$defs/x"}}},
        {"x": {"anyOf": [{"type": "null"}, {"if": True, "then": {"$ref": "#/$defs/x"}}]}},
    ],
)
def test_references_that_lead_back_without_end_are_refused_where_the_schema_is_read(
    definitions: dict[str, Any],
) -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": definitions}
    with pytest.raises(
        tokamata.ConstraintError, match=r'reference at "/properties/a" leads to asks "/\$defs/x" .* without end'
    ):
        tokamata.json_schema(schema)
    through = {
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"items": {"$ref": "#/$defs/x"}, "allOf": [True]}},
    }
    assert tokamata.json_schema(through).accepts('{"a": [[[]]]}')
