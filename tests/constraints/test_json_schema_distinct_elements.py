"""Arrays of distinct elements of any kind, beside jsonschema; what is spelled differently may be equal."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

import tokamata

CLOSED: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False}
ELEMENTS: list[Any] = [
    {"type": "integer"},
    {"type": "number"},
    {"type": "integer", "minimum": 0, "maximum": 300, "not": {"const": 7}},
    {"type": "number", "multipleOf": 0.5},
    {"type": ["string", "integer"]},
    {"type": ["string", "null", "boolean"], "maxLength": 1},
    {"type": ["integer", "boolean"], "maximum": 2},
    {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^[ab]+$"}]},
    {"type": "object"},
    CLOSED,
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "number"}}, "additionalProperties": False},
    {"type": "object", "patternProperties": {"^[ab]$": {"type": ["integer", "string"]}}, "additionalProperties": False},
    {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
    {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    {"type": ["array", "integer", "string"], "items": {"type": "boolean"}},
    {},
    True,
]


def spelled(value: Any, rng: random.Random, numbers: str) -> str:
    """A JSON text of a value: characters escaped, members in any order, numbers with zeros and exponents."""
    if isinstance(value, list):
        return "[" + ", ".join(spelled(v, rng, numbers) for v in value) + "]"
    if isinstance(value, dict):
        members = rng.sample(list(value.items()), len(value))
        return "{" + ", ".join(f"{json.dumps(k)}: {spelled(v, rng, numbers)}" for k, v in members) + "}"
    if isinstance(value, bool) or value is None or not isinstance(value, (int, float, str)):
        return json.dumps(value)
    if isinstance(value, str):
        return '"' + "".join(f"\\u{ord(c):04x}" if rng.random() < 0.3 else c for c in value) + '"'
    text = json.dumps(value)
    if isinstance(value, float):
        return text + "0" * rng.randrange(3)
    return rng.choice([text, text, f"{text}.0", f"{text}e0", f"{text}.00E+0"]) if numbers == "any" else text


def random_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(9 if depth < 2 else 7)
    if kind < 3:
        return rng.choice([0, 1, 2, 7, 10, 12, -1])
    if kind == 3:
        return rng.choice([0.5, 1.5, 2.25])
    if kind == 4:
        return rng.choice([None, True, False])
    if kind < 7:
        return rng.choice(["", "a", "b", "ab", "1"])
    if kind == 7:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return {key: random_value(rng, depth + 1) for key in rng.sample("abc", rng.randrange(3))}


def random_case(rng: random.Random) -> tuple[dict[str, Any], list[Any]]:
    """A schema with arrays of distinct elements somewhere, and values for it."""
    elements = rng.choice(ELEMENTS)
    array: dict[str, Any] = {"type": "array", "items": elements, "uniqueItems": True}
    if rng.random() < 0.3:
        array["minItems"] = rng.choice([1, 2])
    if rng.random() < 0.3:
        array["maxItems"] = rng.choice([2, 3])
    if rng.random() < 0.2 and elements is not CLOSED:
        array["prefixItems"] = [rng.choice([elements, {"type": ["integer", "string"]}, {"enum": [None, "a"]}])]
    validator = jsonschema.Draft202012Validator(elements)
    arrays = []
    for _ in range(60):
        drawn = [v for v in (random_value(rng) for _ in range(12)) if validator.is_valid(v) or rng.random() < 0.05]
        arrays.append(drawn[: rng.randrange(5)])
    kind = rng.randrange(4)
    if kind == 0:
        return {"type": "object", "properties": {"a": array}, "required": ["a"]}, [{"a": a, "z": 1} for a in arrays]
    if kind == 1:
        return {"type": "array", "items": array}, [[a, b] for a, b in itertools.pairwise(arrays)]
    if kind == 2:
        return {"anyOf": [array, {"type": "object", "additionalProperties": array}]}, [*arrays, {"k": arrays[0]}]
    return array, arrays


@pytest.mark.parametrize("seed", range(60))
def test_arrays_of_distinct_elements(seed: int) -> None:
    rng = random.Random(seed)
    schema, values = random_case(rng)
    validator = jsonschema.Draft202012Validator(schema)
    numbers = rng.choice(["canonical", "any"])
    constraint = tokamata.json_schema(schema, key_order="any", numbers=numbers)
    for value in values:
        text = spelled(value, rng, numbers)
        assert constraint.accepts(text) == validator.is_valid(json.loads(text)), (seed, schema, numbers, text)
    for text in constraint.examples(3, seed=seed):
        if "inf" not in repr(json.loads(text)):
            assert validator.is_valid(json.loads(text)), (seed, schema, text)


def test_elements_that_remember_their_own_are_compared() -> None:
    pairs: dict[str, Any] = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 3}, "maxItems": 2}
    pairs["uniqueItems"] = True
    constraint = tokamata.json_schema({"type": "array", "items": pairs, "uniqueItems": True}, numbers="any")
    assert constraint.accepts("[[2.0, 1.0], [1], [3E+0, 2.0], [3, 1]]")
    assert not constraint.accepts("[[2.0, 1.0], [1], [3E+0, 2.0], [3, 2.00]]")
    assert constraint.accepts_prefix("[[3, 2], [3, 1.00")
    assert not constraint.accepts_prefix("[[3, 2], [3, 2.00")


@pytest.mark.parametrize("order", ["schema", "any", "sorted"])
def test_an_element_with_its_members_in_another_order_is_the_same(order: Any) -> None:
    """It has no end, so its last value, or its key, is known to be another one's before it is written."""
    pairs = {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 2}
    schema = {"type": "array", "items": pairs, "uniqueItems": True}
    in_json = tokamata.json_schema(schema, whitespace="compact", key_order=order)
    in_yaml = tokamata.yaml_schema(schema, key_order=order)
    backwards = order != "sorted"
    for key, other in (("a", "b"), ("b", "a")) if backwards else (("a", "b"),):
        first = f'[{{"a":true,"b":true}},{{"{key}":true,"{other}":'
        assert [c for c in "tf" if in_json.accepts_prefix(first + c)] == ["f"], (key, order)
    for key, other in (("a", "b"), ("b", "a")):
        first = f"- a: true\n  b: true\n- {key}: true\n  {other}: "
        assert [c for c in "tf" if in_yaml.accepts_prefix(first + c)] == ["f"], (key, order)


# ---- arrays that must not be others, too
def closed(*names: str) -> dict[str, Any]:
    properties = {name: {"type": ["string", "boolean"]} for name in names}
    return {"type": "object", "properties": properties, "additionalProperties": False}


KINDS: list[Any] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": ["integer", "boolean"]},
    {"type": ["string", "null"]},
    {"anyOf": [{"type": "string"}, closed("a")]},
    closed("a"),
    closed("b", "c"),
    {**closed("a", "c"), "required": ["c"]},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
    {"enum": [1, 2, "a"]},
]


def random_array(rng: random.Random) -> dict[str, Any]:
    array: dict[str, Any] = {"type": "array", "items": rng.choice(KINDS), "uniqueItems": True}
    if rng.random() < 0.3:
        array["minItems"] = rng.choice([1, 2])
    if rng.random() < 0.3:
        array["maxItems"] = rng.choice([1, 3])
    if rng.random() < 0.2:
        array["prefixItems"] = [rng.choice(KINDS)]
    return array


def random_pair(rng: random.Random) -> dict[str, Any]:
    kind = rng.randrange(4)
    if kind == 0:
        return {"oneOf": [random_array(rng), random_array(rng)]}
    if kind == 1:
        return {"oneOf": [random_array(rng), rng.choice(KINDS), random_array(rng), {"type": "boolean"}]}
    if kind == 2:
        return {"allOf": [random_array(rng), {"not": random_array(rng)}, {"not": {"items": rng.choice(KINDS)}}]}
    return {**random_array(rng), "not": {"items": rng.choice(KINDS)}}


def random_element(rng: random.Random) -> Any:
    small = {name: rng.choice(["x", True, 1]) for name in rng.sample("abc", rng.choice([0, 0, 1, 2]))}
    return rng.choice([small, small, 1, 1.0, 2, 3, "a", "b", "", True, None, [], [1], [1, 2]])


@pytest.mark.parametrize("part", range(4))
def test_arrays_of_distinct_elements_that_must_not_be_others_too(part: int) -> None:
    exact = 0
    for seed in range(part, 160, 4):
        rng = random.Random(seed)
        schema = random_pair(rng)
        try:
            constraint = tokamata.json_schema(schema, key_order="any", numbers="any")
        except tokamata.UnsupportedError:
            continue
        except tokamata.ConstraintError:  # it contradicts itself
            continue
        exact += 1
        validator = jsonschema.Draft202012Validator(schema)
        for _ in range(80):
            value = [random_element(rng) for _ in range(rng.randrange(5))]
            text = spelled(value, rng, "any")
            assert constraint.accepts(text) == validator.is_valid(json.loads(text)), (seed, schema, text)
        written = tokamata.json_schema(schema, key_order="any")
        for example in written.examples(6, seed=seed):  # ends in an error where there is no way out
            if "inf" not in repr(json.loads(example)):
                assert validator.is_valid(json.loads(example)), (seed, schema, example)
        in_yaml = tokamata.yaml_schema(schema, key_order="any")
        for example in in_yaml.examples(3, seed=seed):
            assert validator.is_valid(in_yaml.parse(example)), (seed, schema, example)
    assert exact >= 20


def test_one_of_lists_of_different_kinds() -> None:
    secret = {"oneOf": [{"type": "string"}, closed("secure")]}
    options = closed("enabled", "rooms")

    def several(items: Any) -> dict[str, Any]:
        return {"type": "array", "uniqueItems": True, "minItems": 1, "items": items}

    schema = {"oneOf": [secret, several(secret), {"type": "boolean"}, options, several(options)]}
    constraint = tokamata.json_schema(schema, key_order="any")
    validator = jsonschema.Draft202012Validator(schema)
    rooms: list[Any] = [{}, {"secure": "x"}, {"secure": "y"}, {"rooms": "x"}, {"enabled": True, "rooms": "x"}, "a", "b"]
    for count in (0, 1, 2, 3):
        for value in itertools.product(rooms, repeat=count):
            assert constraint.accepts(json.dumps(value)) == validator.is_valid(list(value)), value
    assert constraint.accepts_prefix("[{}, ")
    assert not constraint.accepts_prefix("[{}]")
    assert not constraint.accepts_prefix('[{}, {"rooms": "x"}, "')
    assert not constraint.accepts_prefix('[{}, {"rooms": "x"}, {"rooms": "x"}')
    with pytest.raises(tokamata.UnsupportedError, match="asks for an element which many others may come before"):
        tokamata.json_schema({"oneOf": [several({"type": "string"}), several({"type": "string", "minLength": 1})]})


def test_arrays_of_distinct_arrays_of_the_same_kind_have_a_report() -> None:
    """Each is counted by its elements, which are such arrays."""
    same: dict[str, Any] = {"type": "array", "uniqueItems": True, "items": {"$ref": "#"}}
    for schema in (same, {"properties": {"a": {"type": "array", "uniqueItems": True, "items": {"$ref": "#"}}}}):
        assert not [entry for entry in tokamata.json_schema(schema).report if entry.status == "empty"]
    nested = tokamata.json_schema({**same, "items": same})
    assert all(len(json.loads(text)) < 2 for text in (nested - tokamata.json_schema({"minItems": 2})).examples(5))
    check = jsonschema.Draft202012Validator({**same, "items": same})
    for value in ([], [[]], [[], [[]]], [[], []], [[[], [[]]], []], [1], [[[], []]]):
        assert nested.accepts(json.dumps(value)) == check.is_valid(value), value
    with pytest.raises(tokamata.ConstraintError, match="no JSON value is valid"):
        tokamata.json_schema({**same, "minItems": 2})
