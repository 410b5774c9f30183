"""Errors for contradictory schemas name the keywords that contradict each other, and each branch that is empty."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

import tokamata

LIMITS = {"type": "number", "minimum": 3, "maximum": 1}
CASES: list[tuple[Any, str]] = [
    (False, "at the root, which is false"),
    ({"title": "x", "minLength": 1, **LIMITS}, "at '/type' with '/minimum' with '/maximum'"),
    (
        {"type": "object", "required": ["b", "a"], "properties": {"a": False, "b": {"minimum": 3}}},
        "at '/type' with '/required' (\"a\") with '/properties/a', which is false",
    ),
    (
        {"anyOf": [LIMITS, {"type": "string", "minLength": 4, "maxLength": 2}, False], "title": "x"},
        "at '/anyOf', whose branches are all empty ('/anyOf/0': '/anyOf/0/type' with '/anyOf/0/minimum' with "
        "'/anyOf/0/maximum'; '/anyOf/1': '/anyOf/1/type' with '/anyOf/1/minLength' with '/anyOf/1/maxLength'; "
        "'/anyOf/2' is false)",
    ),
    (
        {"type": "null", "anyOf": [{"type": "string"}, {"enum": [1]}]},
        "at '/type' with '/anyOf', whose branches are all empty ('/anyOf/0': '/type' with '/anyOf/0/type'; "
        "'/anyOf/1': '/type' with '/anyOf/1/enum')",
    ),
    (
        {"oneOf": [{"type": "null"}, {"enum": [None]}]},
        "('/oneOf/0' holds only where another one does; '/oneOf/1' holds only where another one does)",
    ),
    ({"enum": ["\ud800", {"a\udfff": 1}]}, "at '/enum' (no text has lone surrogates)"),
    ({"const": 1, "if": {"minimum": 0}, "then": {"maximum": 0}}, "at '/const' with '/if' with '/then'"),
    ({"allOf": [{"type": "null"}, {"title": "x"}, {"enum": [1]}]}, "at '/allOf/0/type' with '/allOf/2/enum'"),
    (
        {"type": "object", "properties": {"x/y": {"$ref": "#/$defs/n"}}, "required": ["x/y"], "$defs": {"n": LIMITS}},
        "at '/type' with '/required' (\"x/y\") with '/$defs/n/type' with '/$defs/n/minimum' with '/$defs/n/maximum'",
    ),
    (
        {"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/n"}}}},
        "at '/$defs/n/type' with '/$defs/n/minItems' with '/$defs/n/items/$ref'",
    ),
    (
        {"type": "array", "contains": {"type": "string"}, "items": {"type": "null"}},
        "'/contains/type' with '/items/type'",
    ),
]


@pytest.mark.parametrize(("schema", "reason"), CASES)
def test_the_keywords_that_contradict_each_other(schema: Any, reason: str) -> None:
    with pytest.raises(
        tokamata.ConstraintError, match=re.escape("it contradicts itself " * (reason[:3] == "at ") + reason)
    ):
        tokamata.json_schema(schema)


def test_other_documents_and_yaml() -> None:
    far = {"https://example.org/n": LIMITS}
    with pytest.raises(tokamata.ConstraintError, match=r"itself at '/\$ref'; drop or widen one"):
        tokamata.json_schema({"$ref": "https://example.org/n", "title": "x"}, registry=far)
    with pytest.raises(tokamata.ConstraintError, match=r"^yaml_schema: .*itself at '/type' with '/minimum'"):
        tokamata.yaml_schema(LIMITS)


def test_large_schemas_are_named_by_their_root() -> None:
    schema = {"$comment": "x" * 100_000, **LIMITS}
    with pytest.raises(tokamata.ConstraintError, match="contradicts itself at the root"):
        tokamata.json_schema(schema)


@pytest.mark.parametrize("seed", range(60))
def test_none_of_the_keywords_named_can_be_left_out(seed: int) -> None:
    rng = random.Random(seed)
    parts: list[tuple[str, Any]] = [
        ("type", rng.choice(["string", "integer", "object"])),
        ("enum", rng.choice([["a", 1], [{}], [2, "bcd"]])),
        ("minLength", 2),
        ("maximum", rng.choice([0, 1])),
        ("not", rng.choice([{"type": "string"}, {"minimum": 1}, {"type": "object"}])),
        ("pattern", "^b"),
        ("required", ["a"]),
        ("title", "t"),
    ]
    rng.shuffle(parts)
    schema = dict(parts)
    try:
        tokamata.json_schema(schema)
    except tokamata.ConstraintError as error:
        named = [key for key in schema if f"'/{key}'" in str(error)]
        kept = {key: schema[key] for key in named}
        with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
            tokamata.json_schema(kept)
        for key in named:
            tokamata.json_schema({k: v for k, v in kept.items() if k != key})
    else:
        assert tokamata.json_schema(json.dumps(schema)).examples(1)


def test_a_schema_that_is_refused_as_a_whole_has_a_place() -> None:
    with pytest.raises(tokamata.ConstraintError, match="it contradicts itself at the root; drop or widen"):
        tokamata.json_schema({"not": True})
