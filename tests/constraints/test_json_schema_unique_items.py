"""Arrays of distinct strings, beside jsonschema; strings that are spelled differently may be equal."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

import jsonschema
import pytest

import tokamata

STRINGS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "maxLength": 2},
    {"type": "string", "minLength": 1, "not": {"const": "a"}},
    {"type": "string", "pattern": "^[ab]{1,2}$"},
    {"type": "string", "pattern": "^(a|ab|abc)$"},
    {"enum": [f"s{i}" for i in range(300)] + ["a", "b", "ab", "aa", ""]},
    {"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]},
]


def spelled(value: Any, rng: random.Random) -> str:
    """A JSON text of a value, some of its characters escaped."""
    if isinstance(value, list):
        return "[" + ", ".join(spelled(v, rng) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {spelled(v, rng)}" for k, v in value.items()) + "}"
    if not isinstance(value, str):
        return json.dumps(value)
    return '"' + "".join(f"\\u{ord(c):04x}" if rng.random() < 0.3 else c for c in value) + '"'


def random_array(rng: random.Random) -> list[str]:
    words = ["".join(rng.choice("abc") for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))) for _ in range(4)]
    return words[: rng.randrange(5)]


def random_case(rng: random.Random) -> tuple[dict[str, Any], list[Any]]:
    """A schema with arrays of distinct strings somewhere, and values for it."""
    array: dict[str, Any] = {"type": "array", "items": rng.choice(STRINGS), "uniqueItems": True}
    if rng.random() < 0.4:
        array["minItems"] = rng.choice([1, 2, 3, 5])
    if rng.random() < 0.4:
        array["maxItems"] = rng.choice([1, 2, 3, 6])
    if rng.random() < 0.2:
        array["prefixItems"] = [array["items"]]
    arrays = [random_array(rng) for _ in range(40)]
    kind = rng.randrange(4)
    if kind == 0:
        members = {"a": array, "b": {"type": "integer"}}
        return {"type": "object", "properties": members, "required": ["a"]}, [{"a": a, "z": 1} for a in arrays]
    if kind == 1:
        return {"type": "array", "items": array}, [[a, b] for a, b in pairwise(arrays)]
    if kind == 2:
        return {"anyOf": [array, {"type": "object", "additionalProperties": array}]}, [*arrays, {"k": arrays[0]}]
    return array, arrays


def contradicts(schema: dict[str, Any], options: dict[str, Any]) -> bool:
    try:
        tokamata.json_schema(schema, **options)
    except tokamata.ConstraintError as error:
        return "contradicts itself" in str(error)
    return False


@pytest.mark.parametrize("seed", range(60))
def test_arrays_of_distinct_strings(seed: int) -> None:
    rng = random.Random(seed)
    schema, values = random_case(rng)
    validator = jsonschema.Draft202012Validator(schema)
    options: dict[str, Any] = {"key_order": rng.choice(["schema", "any", "sorted"])}
    if not any(validator.is_valid(value) for value in values) and contradicts(schema, options):
        return
    constraint = tokamata.json_schema(schema, **options)
    for value in values:
        text = spelled(value, rng)
        assert constraint.accepts(text) == validator.is_valid(value), (seed, schema, text)
    for text in constraint.examples(3, seed=seed):
        assert validator.is_valid(json.loads(text)), (seed, schema, text)


def test_more_than_there_are_is_a_contradiction() -> None:
    letters = {"type": "array", "items": {"type": "string", "pattern": "^[a-c]$"}, "uniqueItems": True}
    assert tokamata.json_schema({**letters, "minItems": 3}).accepts('["c", "a", "b"]')
    with pytest.raises(tokamata.ConstraintError, match=r"contradicts itself at .*'/uniqueItems' with '/minItems'"):
        tokamata.json_schema({**letters, "minItems": 4})


def test_schemas_with_distinct_strings_compare() -> None:
    old = tokamata.json_schema({"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 3})
    new = tokamata.json_schema({"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 2})
    found = old.counterexample(new)
    assert found is not None
    assert len(set(json.loads(found))) == 3
    assert (old & new).equivalent(new)


def test_reports_say_where_elements_may_be_equal() -> None:
    constraint = tokamata.json_schema({"type": "array", "items": {"type": "string"}, "uniqueItems": True})
    entries = {e.subject: (e.status, e.detail) for e in constraint.report}
    assert entries["uniqueItems"] == ("enforced", "no two elements are equal")
    between = constraint & tokamata.regex(r'\[("[ab]"(, )?)*\]')
    (widened,) = [e for e in between.report if e.status == "widened"]
    assert (widened.place, widened.subject) == ("/uniqueItems", "uniqueItems")
    assert between.accepts('["a", "a"]')
    assert not between.accepts('["a", "c"]')


@pytest.mark.parametrize(("least", "of"), [(25, 30), (30, 30), (31, 30)])
def test_many_distinct_elements_of_a_list(least: int, of: int) -> None:
    """Whether enough of them are left is counted; trying all subsets would never end."""
    schema = {"type": "array", "uniqueItems": True, "minItems": least, "items": {"enum": list(range(of))}}
    if least > of:
        with pytest.raises(tokamata.ConstraintError, match="no JSON value is valid against the schema"):
            tokamata.json_schema(schema)
        return
    constraint = tokamata.json_schema(schema)
    assert constraint.accepts(json.dumps(list(range(least))))
    assert not constraint.accepts(json.dumps(list(range(least - 1))))
    assert not constraint.accepts(json.dumps([*range(least - 1), 3]))


def test_subsets_that_are_many_are_not_tried() -> None:
    schema = {"uniqueItems": True, "minItems": 25, "items": {"enum": list(range(30))}, "contains": {"enum": [3]}}
    constraint = tokamata.json_schema({"type": "array", **schema})
    assert constraint.accepts(json.dumps(list(range(25))))
    assert not constraint.accepts(json.dumps([*range(3), *range(4, 30)]))
    assert not constraint.accepts(json.dumps(list(range(24))))


@pytest.mark.parametrize("seed", range(10))
def test_elements_of_a_list_are_counted(seed: int) -> None:
    """Those that are valid, each once; a lone surrogate has no spelling."""
    rng = random.Random(seed)
    size = rng.choice([3, 70, 250, 300, 300])
    words = list(dict.fromkeys("".join(rng.choice('ab"é😀') for _ in range(rng.randrange(9))) for _ in range(2 * size)))
    del words[size:]
    listed: list[Any] = words + rng.sample(words, 2) + rng.choice([[], ["\ud800"], ["\ud800"], [1, None, 1.0]])
    rng.shuffle(listed)
    asked = rng.choice([{}, {"pattern": "^[^b]"}, {"not": {"enum": words[:2]}}, {"maxLength": 4}, {"minLength": 1}])
    asked = rng.choice([{}, asked])
    items = {"enum": listed, **asked}
    if rng.random() < 0.5:
        items["type"] = "string"
    validator = jsonschema.Draft202012Validator(items)
    valid: list[Any] = []
    for value in listed:
        if value != "\ud800" and value not in valid and validator.is_valid(value):
            valid.append(value)
    rng.shuffle(valid)
    for make in (tokamata.json_schema, tokamata.yaml_schema):
        array = {"type": "array", "uniqueItems": True, "items": items}
        constraint = make({**array, "minItems": len(valid)})
        text = json.dumps(valid, ensure_ascii=make is tokamata.json_schema)
        if make is tokamata.yaml_schema:
            text = "".join(f"- {json.dumps(v, ensure_ascii=False)}\n" for v in valid) if valid else "[]"
        assert constraint.accepts(text), (seed, make)
        with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
            make({**array, "minItems": len(valid) + 1})


def test_listed_texts_without_a_spelling_do_not_count() -> None:
    listed = [f"x{i}" for i in range(300)]
    array = {"type": "array", "uniqueItems": True, "items": {"enum": [*listed, "\ud800", "x0"]}}
    assert tokamata.json_schema({**array, "minItems": 300}).accepts(json.dumps(listed))
    with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
        tokamata.json_schema({**array, "minItems": 301})


REFUSED: Any = {"type": "array", "uniqueItems": True, "items": {"type": "string"}, "contains": {"minLength": 2}}
AROUND: dict[str, Any] = {
    "properties": {"properties": {"a": REFUSED, "b": {"type": "string"}}},
    "patternProperties": {"patternProperties": {"^a": {"type": "null"}, "b": REFUSED}},
    "additionalProperties": {"patternProperties": {"^a": True}, "additionalProperties": REFUSED},
    "unevaluatedProperties": {"properties": {"a": True}, "unevaluatedProperties": REFUSED},
    "oneOf": {"oneOf": [{"type": "string"}, {"properties": {"a": REFUSED}}]},
    "not": {"type": "object", "not": {"properties": {"a": {"not": REFUSED}}}},
    "if": {"if": {"properties": {"a": True}}, "then": {"properties": {"a": REFUSED}}},
    "dependentSchemas": {"dependentSchemas": {"a": {"properties": {"b": REFUSED}}}},
    "prefixItems": {"prefixItems": [True, REFUSED]},
    "items": {"items": {"items": REFUSED}},
    "unevaluatedItems": {"prefixItems": [True], "unevaluatedItems": REFUSED},
    "$ref": {
        "additionalProperties": {"$ref": "#/$defs/b"},
        "$defs": {"b": {"items": {"$ref": "#/$defs/a"}}, "a": REFUSED},
    },
    "$dynamicRef": {
        "$id": "http://x/outer",
        "$ref": "inner",
        "$defs": {
            "a": {"$dynamicAnchor": "node", **REFUSED},
            "inner": {
                "$id": "inner",
                "items": {"$dynamicRef": "#node"},
                "$defs": {"n": {"$dynamicAnchor": "node", "type": "null"}},
            },
        },
    },
    "recursion": {"properties": {"a": {"$ref": "#"}, "b": {"items": {"properties": {"c": REFUSED}}}}},
}


@pytest.mark.parametrize("where", AROUND)
def test_what_cannot_be_enforced_is_refused_wherever_it_stands(where: str) -> None:
    with pytest.raises(tokamata.UnsupportedError, match=r"uniqueItems at .* cannot be enforced"):
        tokamata.json_schema(AROUND[where])
    allowed = json.loads(json.dumps(AROUND[where]).replace('"uniqueItems": true', '"uniqueItems": false'))
    assert tokamata.json_schema(allowed).examples(2)
