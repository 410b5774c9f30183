"""oneOf of objects that a required key tells apart: found by what the key can be, and only where it surely is that."""

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
TEXTS = ["a", "b", "ab", "é", 'q"', "\\"]
# Of each kind some; those of one kind mostly differ in the text.
FAMILIES: list[list[dict[str, Any]]] = [
    [{"const": text} for text in TEXTS],
    [{"enum": [text]} for text in TEXTS],
    [{"enum": ["a", "b"]}, {"enum": ["a", 1]}, {"enum": ["b", 1]}, {"enum": ["é", 1]}, {"enum": [1]}],
    [{"type": "string", "pattern": pattern} for pattern in ("^a$", "^b$", "^ab?$", "^é$", '^q"$', "a", "^[ab]$")],
    [{"pattern": pattern} for pattern in ("^a$", "^b$", "^é$", "^(a|b)$")],
    [{"type": ["string", "null"], "pattern": pattern} for pattern in ("^a$", "^b$", "^é$")],
    [{"$ref": "#/definitions/any", "type": "string", "pattern": pattern} for pattern in ("^a$", "^b$", "^é$")],
    [{"not": {"type": "string"}, "pattern": pattern} for pattern in ("^a$", "^b$", "^é$")],
    [{"$ref": "#/definitions/a"}, {"$ref": "#/definitions/a", "const": "b"}, {"allOf": [{"const": "b"}]}],
    [{"anyOf": [{"const": "a"}, {"const": "b"}]}, {"not": {"const": "a"}}, {"type": "string"}, {}, {"const": None}],
]
VALUES: list[Any] = [*TEXTS, 1, None, ["a"], "abc", 2.5]


def member(rng: random.Random, tags: list[dict[str, Any]]) -> dict[str, Any]:
    """A schema of objects, mostly with a tag that is required."""
    names = ["kind", "type"][: rng.randint(1, 2)]
    required = names if rng.random() < 0.8 else rng.sample(names, rng.randint(0, len(names)))
    schema: dict[str, Any] = {"type": "object", "required": required}
    where = rng.choice(["properties"] * 4 + ["patternProperties", "additionalProperties"])
    if where == "additionalProperties":
        schema[where] = rng.choice(tags)
    else:
        schema[where] = {name if where == "properties" else f"^{name}": rng.choice(tags) for name in names}
    more = {"required": ["kind"], "properties": {"kind": {"$ref": "#/definitions/any", "type": "string"}}}
    return {"allOf": [schema, more]} if rng.random() < 0.4 else schema


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("seed", range(60))
def test_one_of_objects_agrees_with_a_validator(seed: int, draft: str) -> None:
    rng = random.Random(f"{seed} {draft}")
    uri, validator = DRAFTS[draft]
    tags = [tag for family in rng.choices(FAMILIES, k=rng.randint(1, 2)) for tag in family]
    schema = {
        "$schema": uri,
        "definitions": {"a": {"enum": ["a"]}, "any": {}},
        "oneOf": [member(rng, tags) for _ in range(rng.randint(2, 4))],
    }
    judge = validator(schema)
    documents: list[dict[str, Any]] = [{name: v} for name in ("kind", "type") for v in VALUES]
    documents += [{"kind": v, "type": w} for v, w in itertools.product(VALUES, VALUES)] + [{}, {"x": "a"}, {"x": "b"}]
    expected = [judge.is_valid(document) for document in documents]
    try:
        constraint = tokamata.json_schema(schema, key_order="any")
    except tokamata.ConstraintError:  # it contradicts itself
        assert not any(expected), schema
        return
    for document, valid in zip(documents, expected, strict=True):
        assert constraint.accepts(json.dumps(document)) == valid, (seed, document, schema)


@pytest.mark.parametrize("seed", range(120))
def test_keys_that_are_required_beside_one_of(seed: int) -> None:
    """They tell branches apart that do not require them, also where the schema is negated, and not elsewhere."""
    rng = random.Random(seed)
    tags = rng.choice(FAMILIES[:3] + FAMILIES[4:5])
    branches: list[dict[str, Any]] = [
        {"properties": {"kind": rng.choice(tags), "size": {"minimum": rng.randint(0, 2)}}}
        for _ in range(rng.randint(2, 5))
    ]
    inner: dict[str, Any] = {"type": "object", "required": rng.choice([["kind"], ["kind", "size"], ["size"]])}
    inner |= rng.choice(
        [{"oneOf": branches}, {"allOf": [{}, {"oneOf": branches}]}, {"allOf": [{"allOf": [{"oneOf": branches}]}]}]
    )
    wrapped = [inner, {"not": inner}, {"anyOf": [inner, {"required": ["x"]}]}, {"oneOf": [inner, {"oneOf": branches}]}]
    schema = rng.choice([*wrapped, {"$ref": "#/allOf/0", "allOf": [{"oneOf": branches}, inner]}])
    judge = jsonschema.Draft202012Validator(schema)
    documents: list[Any] = [{"kind": v, "size": n} for v in VALUES for n in range(3)] + [{"kind": v} for v in VALUES]
    documents += [{"size": n} for n in range(3)] + [{}, {"x": 1}, {"x": 1, "kind": "a"}, 1, "a"]
    expected = [judge.is_valid(document) for document in documents]
    try:
        constraint = tokamata.json_schema(schema, key_order="any")
    except tokamata.ConstraintError:
        assert not any(expected), schema
        return
    for document, valid in zip(documents, expected, strict=True):
        assert constraint.accepts(json.dumps(document)) == valid, (seed, document, schema)


def test_many_branches_with_a_key_that_is_required_beside_them() -> None:
    """Without it each branch is read without each other one, as far as these are not too many."""
    branches = [{"properties": {"kind": {"enum": [f"k{i}"]}, f"f{i}": {"type": "integer"}}} for i in range(40)]
    schema: dict[str, Any] = {"type": "object", "required": ["kind"]}
    for more in ({"oneOf": branches}, {"allOf": [{"oneOf": branches}]}):
        constraint = tokamata.json_schema(schema | more)
        assert constraint.accepts('{"kind": "k7", "f7": 1}')
        assert not constraint.accepts('{"kind": "k7", "f7": "a"}')
        assert constraint.accepts('{"kind": "k7", "f8": "a"}')
        assert not constraint.accepts("{}")
    constraint = tokamata.json_schema({"type": "object", "oneOf": branches})
    assert constraint.accepts('{"kind": "k7", "f7": 1}')
    assert not constraint.accepts("{}")
    branches += [{"properties": {"kind": {"enum": [f"l{i}"]}, f"g{i}": {"type": "integer"}}} for i in range(40)]
    with pytest.raises(tokamata.LimitError, match="the limit owed=63 was reached at '/oneOf/79'"):
        tokamata.json_schema({"type": "object", "oneOf": branches})


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_type_beside_a_reference(draft: str) -> None:
    """It says nothing before draft 2019-09: a number is of both members."""
    uri, validator = DRAFTS[draft]
    hidden = {"required": ["kind"], "properties": {"kind": {"$ref": "#/definitions/any", "type": "string"}}}
    members = [{"allOf": [hidden, {"properties": {"kind": {"pattern": f"^{text}$"}}}]} for text in "ab"]
    schema = {"$schema": uri, "type": "object", "definitions": {"any": {"maxLength": 9}}, "oneOf": members}
    constraint = tokamata.json_schema(schema)
    for value in ("a", "b", "c", 1, None):
        document = {"kind": value}
        assert constraint.accepts(json.dumps(document)) == validator(schema).is_valid(document), value
