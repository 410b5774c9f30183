"""Whether schemas that list strings exclude one another: seen by trying these, and judged by a validator."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

import tokamata

DRAFTS = {
    "4": ("http://json-schema.org/draft-04/schema#", jsonschema.Draft4Validator),
    "7": ("http://json-schema.org/draft-07/schema#", jsonschema.Draft7Validator),
    "2020-12": ("https://json-schema.org/draft/2020-12/schema", jsonschema.Draft202012Validator),
}
TEXTS = ["", "a", "b", "ab", "é", 'q"']
VALUES: list[Any] = [*TEXTS, "c", 1, None, ["a"]]
DEFINITIONS: dict[str, Any] = {"any": {}, "a": {"enum": ["a"]}, "ab": {"type": "string", "enum": ["a", "b"]}}


def leaf(rng: random.Random) -> Any:
    """What mostly lists strings, alone or beside what says more of them."""
    schema: dict[str, Any] = {"enum": rng.sample([*TEXTS, 1, None], rng.randint(1, 5))}
    kind = rng.randrange(12)
    if kind < 4:
        return schema
    if kind == 4:
        types = rng.choice(["string", "integer", ["string", "null"]])
        return rng.choice([{"const": rng.choice(TEXTS)}, {"type": types}])
    if kind == 5:
        return {"$ref": f"#/definitions/{rng.choice(list(DEFINITIONS))}"}
    if kind == 6:  # which hides what is beside it up to draft 7
        return {"$ref": f"#/definitions/{rng.choice(list(DEFINITIONS))}", **schema}
    more: list[dict[str, Any]] = [
        {"type": "string"},
        {"type": ["string", "integer"]},
        {"type": "integer"},
        {"maxLength": rng.randint(0, 2)},
        {"minLength": 1},
        {"pattern": rng.choice(["^a", "b", "^.$"])},
        {"minimum": 1, "title": "t"},
        {"not": {"const": rng.choice(TEXTS)}},
        {"enum": rng.sample(TEXTS, 3)},
        {"allOf": [{"enum": rng.sample(TEXTS, 3)}]},
    ]
    return {**schema, **rng.choice(more)} if rng.random() < 0.7 else rng.choice(more)


def compound(rng: random.Random, depth: int) -> Any:
    """Alternatives, conjunctions and complements of these."""
    if depth == 0 or rng.random() < 0.2:
        return leaf(rng)
    keyword = rng.choice(["oneOf", "oneOf", "anyOf", "allOf", "not"])
    if keyword == "not":
        return {"not": compound(rng, depth - 1)}
    branches = [compound(rng, depth - 1) for _ in range(rng.randint(2, 4))]
    return {keyword: branches, **(leaf(rng) if rng.random() < 0.3 else {})}


def judge(schema: dict[str, Any], draft: str, values: list[Any], seed: str) -> None:
    uri, validator = DRAFTS[draft]
    schema = {"$schema": uri, "definitions": DEFINITIONS, **schema}
    expected = [validator(schema).is_valid(value) for value in values]
    try:
        constraint = tokamata.json_schema(schema, key_order="any")
    except tokamata.ConstraintError:  # it contradicts itself
        assert not any(expected), (seed, schema)
        return
    for value, valid in zip(values, expected, strict=True):
        text = json.dumps(value, ensure_ascii=False)
        assert constraint.accepts(text) == valid, (seed, text, schema)
        if valid:
            assert all(constraint.accepts_prefix(text[:n]) for n in range(len(text))), (seed, text, schema)


@pytest.mark.parametrize("draft", DRAFTS)
def test_listed_strings_agree_with_a_validator(draft: str) -> None:
    for number in range(250):
        seed = f"{draft} {number}"
        rng = random.Random(seed)
        judge({"allOf": [{"enum": VALUES}, compound(rng, 3)]}, draft, VALUES, seed)


@pytest.mark.parametrize("numbers", [range(40), pytest.param(range(40, 120), marks=pytest.mark.slow)], ids=["", "more"])
@pytest.mark.parametrize("draft", DRAFTS)
def test_members_with_listed_strings_agree_with_a_validator(draft: str, numbers: range) -> None:
    """Branches of objects with two members, which may be required, closed, or both."""
    documents: list[Any] = [{}, *({k: v} for k in "kt" for v in VALUES)]
    documents += [{"k": v, "t": w} for v, w in itertools.product(VALUES, VALUES)]
    for number in numbers:
        seed = f"members {draft} {number}"
        rng = random.Random(seed)

        def branch(rng: random.Random) -> dict[str, Any]:
            schema: dict[str, Any] = {"properties": {k: leaf(rng) for k in rng.sample("kt", rng.randint(1, 2))}}
            schema["required"] = rng.sample("kt", rng.randint(1, 2))
            if rng.random() < 0.5:
                del schema["required"]
            if rng.random() < 0.5:
                schema["additionalProperties"] = False
            if rng.random() < 0.2:
                schema["anyOf"] = [branch(rng) for _ in range(2)]
            return schema

        branches = [branch(rng) for _ in range(rng.randint(2, 5))]
        judge({"type": "object", rng.choice(["oneOf", "anyOf"]): branches}, draft, documents, seed)


def test_a_string_without_a_spelling_is_none() -> None:
    """Lone surrogates: what only they have in common is nothing."""
    both = {"allOf": [{"enum": ["\ud800", "a"]}, {"enum": ["\ud800", "b"]}]}
    with pytest.raises(tokamata.ConstraintError, match="no JSON value"):
        tokamata.json_schema(both)
    assert tokamata.json_schema({"oneOf": [{"enum": ["\ud800", "a"]}, {"enum": ["\ud800", "b"]}]}).accepts('"a"')
    members = tokamata.json_schema({"type": "object", "allOf": [{"properties": {"k": part}} for part in both["allOf"]]})
    assert members.accepts('{"l":1}')
    assert not members.accepts_prefix('{"k"')


@pytest.mark.parametrize("strings", ["any", "canonical"])
def test_branches_of_many_listed_strings(strings: Any) -> None:
    """Ten countries with states of their own, some of which have one name, in open objects; nothing is required."""
    rng = random.Random(7)
    names = [a + b for a, b in itertools.product("ABCDEFGHIJ", repeat=2)]
    states = [rng.sample(names, 30) for _ in range(10)]
    branches = [{"properties": {"country": {"enum": [f"C{i}"]}, "state": {"enum": states[i]}}} for i in range(10)]
    schema = {"type": "object", "oneOf": branches}
    constraint = tokamata.json_schema(schema, strings=strings)
    validator = jsonschema.Draft202012Validator(schema)
    seen = [0, 0]
    for country, state in itertools.product([None, "C0", "C3", "C9", "X"], [None, *rng.sample(names, 40)]):
        value = {k: v for k, v in (("country", country), ("state", state)) if v is not None}
        valid = validator.is_valid(value)
        seen[valid] += 1
        assert constraint.accepts(json.dumps(value)) == valid, value
    assert min(seen) > 10


MANY = 1_500


def test_a_thousand_branches_of_listed_strings() -> None:
    """Their product would reach expression_nodes."""
    constraint = tokamata.json_schema({"oneOf": [{"enum": [f"a{i}", f"b{i}", i]} for i in range(MANY)]})
    assert constraint.accepts('"b700"')
    assert not constraint.accepts('"c700"')


def test_hundreds_of_closed_branches_that_require_other_keys() -> None:
    branches = [{"properties": {f"k{i}": {"type": "string"}}, "required": [f"k{i}"]} for i in range(MANY // 3)]
    closed = [{"type": "object", "additionalProperties": False, **branch} for branch in branches]
    constraint = tokamata.json_schema({"oneOf": closed})
    assert constraint.accepts('{"k400": ""}')
    assert not constraint.accepts_prefix('{"k400": "", "k')


def test_branches_that_multiply_end_in_time() -> None:
    """Every other one requires its tag: no pair of the others excludes one another."""
    tagged = [{"properties": {"t": {"const": f"v{i}"}}, "required": ["t"] if i % 2 else []} for i in range(2 * MANY)]
    with pytest.raises(tokamata.LimitError, match="seconds=1 was reached"):
        tokamata.json_schema({"type": "object", "oneOf": tagged})
