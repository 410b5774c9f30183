"""Arrays that owe many things: elements are told apart by what they settle, and some must settle several."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

import tokamata

MANY = 20
CONSTANTS = [{"const": i} for i in range(MANY)]
RANGES = [{"type": "integer", "minimum": i, "maximum": i + 4} for i in range(MANY)]
AT_LEAST = [{"type": "integer", "minimum": i} for i in range(MANY)]
TAGGED = [{"type": "object", "properties": {"k": {"const": i}}, "required": ["k"]} for i in range(MANY)]


def some(schemas: list[Any], **keywords: Any) -> list[Any]:
    return [{"contains": schema, **keywords} for schema in schemas]


def not_all(schemas: list[Any]) -> list[Any]:
    return [{"not": {"items": schema}} for schema in schemas]


LISTED = {"items": {"enum": list(range(MANY + 3))}}
# Beside allOf: what else is asked, then arrays some of which are valid and some are not.
DOZENS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "constants": (some(CONSTANTS), {}),
    "constants, exactly as many elements": (some(CONSTANTS), {"maxItems": MANY}),
    "constants, twice": (some(CONSTANTS, minContains=2), {}),
    "constants, at most twice": (some(CONSTANTS, maxContains=2), {"minItems": MANY + 3}),
    "constants, not more than": (some(CONSTANTS, maxContains=2), {"minItems": MANY + 3, "items": CONSTANTS[3]}),
    "strings": (some([{"const": f"w{i}"} for i in range(MANY)]), {}),
    "ranges": (some(RANGES), {}),
    "ranges, few elements": (some(RANGES), {"maxItems": 4}),
    "nested ranges": (some(AT_LEAST), {}),
    "nested ranges, one element": (some(AT_LEAST), {"maxItems": 1}),
    "tags": (some(TAGGED), {}),
    "negated constants": (not_all(CONSTANTS), {}),
    "negated constants, one element": (not_all(CONSTANTS), {"maxItems": 1}),
    "negated ranges": (not_all(RANGES), {"maxItems": 2}),
    "negated nested ranges": (not_all(AT_LEAST), {}),
    "negated tags": (not_all(TAGGED), {}),
    "both": (some(CONSTANTS[:12]) + not_all(AT_LEAST[4:]), {}),
    "distinct": (some(CONSTANTS), {**LISTED, "uniqueItems": True}),
    "distinct, few elements": (some(RANGES), {**LISTED, "uniqueItems": True, "maxItems": 4}),
    "repeated": ([*some(CONSTANTS), {"not": {"uniqueItems": True}}], {**LISTED}),
    "places": (some(CONSTANTS), {"prefixItems": [{"type": "string"}, {"enum": [0, 1, 2]}]}),
    "places only": (
        some(CONSTANTS),
        {"prefixItems": [{"enum": [i, (i + 1) % MANY]} for i in range(MANY)], "items": False},
    ),
    "evaluated": (some(CONSTANTS), {"unevaluatedItems": {"type": "string"}}),
}


def nearby(rng: random.Random) -> list[Any]:
    """Arrays near the valid ones."""
    numbers = [*range(MANY), *rng.choices(range(MANY), k=rng.choice([0, 1, MANY]))]
    if rng.random() < 0.5:
        rng.shuffle(numbers)
    elements: list[Any] = rng.choice(
        [
            numbers,
            [*numbers, *numbers, *range(MANY)],
            [f"w{i}" for i in numbers],
            [{"k": i} for i in numbers],
            rng.choices(range(-2, MANY + 5), k=rng.randrange(1, 5)),
            [4, 9, 14, 19],
            [MANY, -1][: rng.choice([1, 2])],
            [i % MANY for i in range(1, MANY + 1)],
            ["a", rng.randrange(4), *numbers],
        ]
    )
    elements = list(elements)
    for _ in range(rng.choice([0, 0, 1, 3])):
        elements[rng.randrange(len(elements))] = rng.choice([0, 1, 5, MANY + 1, "x", {"k": 3}])
    if rng.random() < 0.3:
        elements.pop()
    return elements


@pytest.mark.parametrize("name", DOZENS)
def test_dozens_of_demands_agree_with_jsonschema(name: str) -> None:
    """Two to the power of their number would be more states than any limit."""
    parts, beside = DOZENS[name]
    schema = {"type": "array", "allOf": parts, **beside}
    check = jsonschema.Draft202012Validator(schema)
    if name == "constants, not more than":
        with pytest.raises(tokamata.ConstraintError, match="no JSON value is valid"):
            tokamata.json_schema(schema)
        return
    constraint = tokamata.json_schema(schema)
    rng, found = random.Random(name), set()
    for _ in range(150):
        value = nearby(rng)
        valid = check.is_valid(value)
        assert constraint.accepts(json.dumps(value)) == valid, (name, value)
        if valid:
            text = json.dumps(value)
            assert constraint.accepts_prefix(text[: rng.randrange(len(text))]), (name, value)
        found.add(valid)
    assert len(found) == 2, "only one kind of value was tried"


def test_too_many_elements_are_needed() -> None:
    with pytest.raises(tokamata.ConstraintError, match="no JSON value is valid"):
        tokamata.json_schema({"type": "array", "allOf": some(CONSTANTS), "maxItems": MANY - 1})
    with pytest.raises(tokamata.ConstraintError, match="no JSON value is valid"):
        tokamata.json_schema({"type": "array", "allOf": some(CONSTANTS), "prefixItems": [{}] * 19, "items": False})
    constraint = tokamata.json_schema({"type": "array", "allOf": some(CONSTANTS), "maxItems": MANY})
    assert not constraint.accepts_prefix("[0, 0")
    assert not constraint.accepts_prefix("[7, 1, 20")
    assert constraint.accepts_prefix("[7, 1, 2")


def test_many_elements_of_many_kinds() -> None:
    """They are counted, not looked at one after the other, which would end in seconds=1."""
    constraint = tokamata.json_schema({"type": "array", "allOf": some(CONSTANTS[:5], minContains=20_000)})
    assert constraint.accepts_prefix("[1, 2, 3, 4")
    constraint = tokamata.json_schema(
        {"type": "array", "allOf": some(CONSTANTS[:5], minContains=200, maxContains=300), "maxItems": 1000}
    )
    assert constraint.accepts_prefix("[1, 2, 3, 4")
    assert not constraint.accepts_prefix("[1, 2, 3, 5")
    assert constraint.accepts(json.dumps([i % 5 for i in range(1000)]))


def test_kinds_of_elements_that_multiply_end_in_time() -> None:
    """Objects that settle any of them together: each subset is a kind, and their number is what ends it."""
    several = [{"type": "object", "required": [f"a{i}"]} for i in range(24)]
    with pytest.raises(tokamata.LimitError, match=r"kinds=16384 was reached at '/allOf/0/contains': elements that"):
        tokamata.json_schema({"type": "array", "allOf": some(several)}, limits=tokamata.Limits(seconds=8))
    constraint = tokamata.json_schema({"type": "array", "allOf": some(several[:8])}, key_order="any")
    assert constraint.accepts(json.dumps([{f"a{i}": 1 for i in range(4)}, {f"a{i}": 1 for i in range(3, 8)}]))
    assert not constraint.accepts(json.dumps([{f"a{i}": 1 for i in range(4)}, {f"a{i}": 1 for i in range(4, 7)}]))


@pytest.mark.parametrize("key_order", ["schema", "any"])
def test_elements_that_settle_nothing_have_keys_in_any_order(key_order: Any) -> None:
    """A few schemas of elements do not say in which order the keys of others come."""
    constraint = tokamata.json_schema({"type": "array", "allOf": some(TAGGED[:3])}, key_order=key_order)
    assert constraint.accepts('[{"z": 1, "k": 9}, {"k": 0}, {"k": 1}, {"z": 1, "k": 1}, {"k": 2}]')
    assert not constraint.accepts('[{"z": 1, "k": 9}, {"k": 0}, {"k": 1}, {"z": 1, "k": 1}]')


def test_no_element_follows_a_schema() -> None:
    """That is asked of each of them, and so beside distinct ones that are remembered."""
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string"}, "not": {"contains": {"minLength": 3}}}
    constraint = tokamata.json_schema(schema)
    assert constraint.accepts('["a", "ab"]')
    assert not constraint.accepts('["a", "a"]')
    assert not constraint.accepts('["a", "abc"]')


VALUES: list[Any] = [0, 1, "x", {"a": 1}]
LONGEST = 4
ARRAYS = [list(some) for n in range(LONGEST + 1) for some in itertools.product(VALUES, repeat=n)]
TEXTS = [json.dumps(value, separators=(",", ":")) for value in ARRAYS]
PREFIXES = sorted({text[:n] for text in TEXTS for n in range(len(text) + 1)})


def random_element(rng: random.Random, depth: int = 1) -> Any:
    kinds: list[Any] = [
        {"const": rng.choice(VALUES)},
        {"enum": rng.sample(VALUES, rng.choice([2, 3]))},
        {"type": rng.choice(["integer", "string", "null", "object", ["integer", "null"]])},
        {"minimum": rng.randrange(3)},
        {"type": "integer", "maximum": rng.randrange(3)},
        {"not": random_element(rng, 0)} if depth else True,
        {"type": "object", "required": [rng.choice("ab")]},
        {"properties": {"a": {"const": rng.choice([1, 2])}}, "required": ["a"]},
        rng.choice([True, False, {"anyOf": [{"const": 0}, {"const": "x"}]}, {"multipleOf": 2}]),
    ]
    return rng.choice(kinds)


def random_demand(rng: random.Random, depth: int = 1) -> dict[str, Any]:
    kind = rng.randrange(10 if depth else 9)
    if kind < 4:
        demand = {"contains": random_element(rng)}
        if rng.random() < 0.3:
            demand["minContains"] = rng.randrange(3)
        if rng.random() < 0.25:
            demand["maxContains"] = rng.randrange(1, 4)
        return demand
    if kind < 6:
        return {"not": {"items": random_element(rng)}}
    if kind < 7:
        return {"not": {"prefixItems": [random_element(rng), random_element(rng)]}}
    if kind < 8:
        return {"not": {"prefixItems": [random_element(rng)], "items": random_element(rng)}}
    if kind < 9:
        return {"not": {"contains": random_element(rng), "minContains": rng.choice([1, 2])}}
    return {rng.choice(["oneOf", "anyOf"]): [random_demand(rng, 0), random_demand(rng, 0)]}


def random_array(rng: random.Random) -> dict[str, Any]:
    parts = [random_demand(rng) for _ in range(rng.choice([3, 3, 4, 5, 6, 8]))]
    schema: dict[str, Any] = {"type": "array", "allOf": parts, "maxItems": rng.choice([LONGEST, LONGEST, 3, 2])}
    parts.append({"items": {"enum": VALUES}})
    if rng.random() < 0.3:
        schema["prefixItems"] = [random_element(rng) for _ in range(rng.choice([1, 2, 3]))]
    if rng.random() < 0.3:
        schema["minItems"] = rng.randrange(1, 5)
    distinct = rng.random()
    if distinct < 0.25:
        schema["uniqueItems"] = True
    elif distinct < 0.4:
        parts.append({"not": {"uniqueItems": True}})
    return schema


@pytest.mark.parametrize("seed", range(8))
def test_arrays_and_prefixes_agree_with_jsonschema(seed: int) -> None:
    """On every array of a few values, and every beginning of its text."""
    rng, decided = random.Random(seed), 0
    for _ in range(15):
        schema = random_array(rng)
        check = jsonschema.Draft202012Validator(schema)
        valid = [check.is_valid(value) for value in ARRAYS]
        try:
            constraint = tokamata.json_schema(schema, whitespace="compact")
        except tokamata.ConstraintError:  # it is empty
            assert not any(valid), (seed, schema)
            continue
        decided += 1
        for text, member in zip(TEXTS, valid, strict=True):
            assert constraint.accepts(text) == member, (seed, schema, text)
        begun = {text[:n] for text, member in zip(TEXTS, valid, strict=True) if member for n in range(len(text) + 1)}
        for prefix in PREFIXES:
            assert constraint.accepts_prefix(prefix) == (prefix in begun), (seed, schema, prefix)
    assert decided >= 3, seed


def test_in_yaml() -> None:
    schema = {"type": "array", "allOf": some(CONSTANTS), "maxItems": MANY}
    constraint = tokamata.yaml_schema(schema)
    text = "".join(f"- {i}\n" for i in reversed(range(MANY)))
    assert constraint.accepts(text.rstrip("\n"))
    assert not constraint.accepts_prefix("- 1\n- 1\n")


def test_places_that_are_looked_at_one_inside_the_other_have_a_limit() -> None:
    """A search along thousands of places with schemas of their own would need a stack as deep."""
    half = 4000
    asked = [{"contains": {"const": 1}, "minContains": half}, {"contains": {"const": 2}, "minContains": half}]
    schema = {
        "type": "array",
        "prefixItems": [{"const": 1}, {"const": 2}] * half,
        "allOf": [*asked, {"contains": {"const": 3}}],
    }
    with pytest.raises(tokamata.LimitError, match=r"the limit ahead=3000 was reached at '/allOf/0/contains'"):
        tokamata.json_schema(schema, limits=tokamata.Limits(seconds=100))
