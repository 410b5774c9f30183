"""lenient: patterns that are not regular are left out, wherever they stand, so that nothing valid is refused."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from tokamata.automata import UnsupportedError

import tokamata

AGAIN = r"(a+|b)\1"
VALUES: list[Any] = [
    "aa", "ab", "xbbx", "", 1, None, {}, {"aa": 1}, {"aa": "x"}, {"ab": 1}, {"ab": "x"}, {"x": None}, {"x": 1},
    {"x": None, "bb": 2, "n1": 5}, {"n1": "s"},
]  # fmt: skip
SCHEMAS: list[Any] = [
    {"type": "string", "pattern": AGAIN},
    {"not": {"type": "string", "pattern": AGAIN}},
    {"type": ["string", "object"], "not": {"pattern": AGAIN}},
    {"propertyNames": {"pattern": AGAIN}},
    {"patternProperties": {AGAIN: {"type": "integer"}}},
    {"patternProperties": {AGAIN: {"type": "integer"}, "^n": {"type": "integer"}}, "additionalProperties": False},
    {"not": {"type": "object", "patternProperties": {AGAIN: {"type": "integer"}}}},
    {"properties": {"x": {"type": "null"}}, "patternProperties": {AGAIN: True}, "unevaluatedProperties": False},
    {"oneOf": [{"type": "string", "pattern": AGAIN}, {"type": "string", "maxLength": 2}, {"type": "object"}]},
    {"if": {"pattern": AGAIN}, "then": {"minLength": 3}, "else": {"type": "string"}},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_valid_values_stay_members(schema: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"backreference .*, or pass lenient=True"):
        tokamata.json_schema(schema)
    constraint = tokamata.json_schema(schema, lenient=True, key_order="any")
    for value in VALUES:
        if jsonschema.Draft202012Validator(schema).is_valid(value):
            assert constraint.accepts(json.dumps(value)), value
    assert any(e.status == "widened" and "backreference" in e.detail for e in constraint.report)


def test_all_else_is_enforced() -> None:
    constraint = tokamata.json_schema({"type": "string", "pattern": AGAIN, "maxLength": 3}, lenient=True)
    assert [constraint.accepts(text) for text in ('"xyz"', '"wxyz"', "1")] == [True, False, False]
    schema = {
        "properties": {"x": {"type": "null"}},
        "patternProperties": {AGAIN: {"type": "integer"}, "^n": {"type": "integer"}},
        "additionalProperties": False,
    }
    constraint = tokamata.json_schema(schema, lenient=True)
    assert constraint.accepts('{"x": null, "aa": 1, "n1": 2}')
    assert not any(constraint.accepts(text) for text in ('{"x": 1}', '{"n1": null}'))
    found = {e.place: e.status for e in constraint.report}
    assert found["/patternProperties"] == found["/additionalProperties"] == "widened"
    assert found["/patternProperties/^n/type"] == "enforced"
