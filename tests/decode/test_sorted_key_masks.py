"""Masks of objects with sorted keys agree with the texts that can be extended, token by token; budgets are used up."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from oracle import mask_walk

import tokamata

WORDS = (
    "aa", "ab", "ba", "id", 'a"', '":', '","', '{"', '"a":', '"b":1', ',"a":2', ',"b":', '","":1', ',"x":0}', "\\u00",
    "\\u006", "\\u0061", "61", "é", "日", "\\ud83d", "\\ude00", "😀", '":1,"', '1,"a', '"}', ',"é":1', ', "a": 1',
    '{"a":1,"b":1}', ',"a"', ',"aa" :', ',"a', '":1,"a', '":1,"b":1', '"b":0,"', ',"":', '":1,', '"b":1,', "0,",
    '{"a":1,',
)  # fmt: skip
TOKENS = [bytes([b]) for b in range(256)] + [word.encode() for word in WORDS]
KEYS = ["a", "b", "aa", "ab", "", "id", "é", "日", "😀", "x", "bb", "ba", "\x7f"]
NUMBERS = {"type": "integer"}
SCHEMAS: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "object", "additionalProperties": NUMBERS}, {}),
    ({"type": "object", "properties": {"aa": NUMBERS, "b": True, "id": False}, "required": ["b"]}, {}),
    ({"type": "object", "patternProperties": {"^a": NUMBERS, "b$": {"enum": [0, 1]}}}, {"strings": "canonical"}),
    ({"type": "object", "propertyNames": {"enum": ["a", "b", "日"]}, "minProperties": 2}, {}),
    ({"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 3}, {}),
    ({"type": "object", "not": {"patternProperties": {"^a": {"const": 0}}}, "minProperties": 2}, {}),
    ({"type": "object", "patternProperties": {"^b+$": NUMBERS}, "additionalProperties": False, "maxProperties": 2}, {}),
    ({"type": "object", "properties": {"b": NUMBERS}, "additionalProperties": NUMBERS}, {"unique_keys": False}),
    ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "properties": {"b": {"enum": [1]}}}]}, {}),
]


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_masks_are_what_can_be_extended(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.json_schema(schema, key_order="sorted", **options)
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    for case in range(8):
        keys = rng.sample(KEYS, rng.randrange(1, 6))
        value = {key: rng.choice([0, 1, {"b": 0, "a": 1}]) for key in (keys if case % 4 == 0 else sorted(keys))}
        text = json.dumps(value, ensure_ascii=case % 3 == 0, separators=(",", ":") if case % 2 else None).encode()
        mask_walk.walk(constraint, automaton, TOKENS, text, rng)


@pytest.mark.parametrize("number", [1, 6, 7, 8])
def test_budgets_are_used_up(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.json_schema({"allOf": [schema], "type": "object"}, key_order="sorted", **options)
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    for _ in range(4):
        mask_walk.spend(constraint, automaton, TOKENS, 40, rng)
