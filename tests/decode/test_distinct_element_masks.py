"""Masks of arrays of distinct elements of any kind agree with what can be extended, and with a parser of its own."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import regex as regex_package
from oracle import mask_walk

import tokamata

WORDS = (
    "12", "11", "10", "1,", "1,1", ",1", ",1,", ",0", "0,0", "0]", "1]", "[1", "[1,1", "1,2,1", '"a"', '"a",', ',"a"',
    '"a","a"', '"a",1', '1,"a"', ',"a",', '"]', "null", "true", "false", ",null", "null,null", "null,", "null]", "{}",
    "{},{}", ",{}", "{}]", "[]", "[],[]", ",[]", '{"a"', '{"a":', ":true", "true}", "true},", "},", '},{"a"',
    '{"a":true}', ',{"a":true}', "1.0", ".0", "0.", "1e", "e1", "-1", "-", "[{",
    '"}', '":"', '","', '{"a":"', ', ', ",\n", "\\u0061",
)  # fmt: skip
TOKENS = [bytes([b]) for b in range(256)] + [word.encode() for word in WORDS]
CLOSED: dict[str, Any] = {"properties": {"a": {"type": "boolean"}}, "additionalProperties": False}
NAMED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
VALUES: list[Any] = [1, 0, 12, 10, -1, None, True, "a", "b", {}, [], {"a": True}, {"a": False}, {"a": "b"}, [1], 1.5]
# A schema of elements, of the array beside, options, and values to draw elements from.
CASES: list[tuple[Any, dict[str, Any], dict[str, Any], list[Any]]] = [
    ({"type": "integer"}, {}, {}, [0, 1, 11, 12, 1, -1, 0]),
    ({"type": "integer"}, {"minItems": 2, "maxItems": 3}, {"whitespace": "flexible"}, [0, 1, 12, 2]),
    ({"type": "integer"}, {}, {"numbers": "any"}, [0, 1, 10, 12]),
    ({"type": "integer", "minimum": 0, "maximum": 11}, {"minItems": 12}, {}, list(range(12))),
    ({"type": ["number", "null"]}, {}, {}, [0, 1, 1.5, None, 10]),
    ({"type": ["number"]}, {}, {"numbers": "any"}, [0, 1, 1.5, 10]),
    ({"type": ["string", "integer", "null"]}, {}, {}, [1, "1", None, "a", "b", 12, 0]),
    ({"type": ["string", "integer"], "pattern": "^[ab]$"}, {"minItems": 1}, {}, [1, "a", "b", 12]),
    ({"type": ["string", "boolean", "integer"], "maxLength": 1}, {}, {"strings": "canonical"}, [True, "a", "b", 12]),
    ({"type": "object", **CLOSED}, {}, {}, [{}, {"a": True}, {"a": False}]),
    ({"type": "object", **CLOSED}, {"minItems": 3}, {"whitespace": "pretty"}, [{}, {"a": True}, {"a": False}]),
    (NAMED, {}, {}, [{"a": "b"}, {"a": "b", "b": 1}, {"a": "a"}, {"a": "b", "b": 12}]),
    (NAMED, {"minItems": 1}, {"key_order": "any"}, [{"a": "b"}, {"b": 1, "a": "b"}, {"a": "a"}, {"a": "b", "b": 12}]),
    ({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, {}, {}, [[], [1], [1, 1], [12], [1, 12]]),
    ({}, {}, {}, VALUES),
    ({}, {"maxItems": 4}, {"key_order": "sorted"}, VALUES),
    ({"anyOf": [{"type": "integer"}, {**NAMED, "required": []}]}, {}, {}, [1, {}, {"a": "b"}, 12]),
    ({"type": "array", "uniqueItems": True, "items": {"type": "integer"}}, {}, {}, [[], [1], [1, 12], [12, 1]]),
]  # fmt: skip


def made(number: int) -> tokamata.Constraint:
    elements, array, options, _ = CASES[number]
    schema = {"type": "array", "items": elements, "uniqueItems": True, **array}
    return tokamata.json_schema(schema, **{"whitespace": "compact", **options})


PLAIN = regex_package.compile(rb"[\[\],\"0-9a-z-]+")
STRINGS_WITH_COMMAS = regex_package.compile(rb'^[^"]*(?:"[^",\]]*"[^"]*)*"[^"]*[,\]]')
INTEGERS = regex_package.compile(r"\[(?:(?:0|-?[1-9][0-9]*)(?:,(?:0|-?[1-9][0-9]*))*)?\]")
SCALARS = regex_package.compile(r'\[(?:(?:0|-?[1-9][0-9]*|null|"[^"\\]*")(?:,(?:0|-?[1-9][0-9]*|null|"[^"\\]*"))*)?\]')


def begins_distinct(text: str, pattern: Any) -> bool:
    """Whether a compact text without escapes begins an array of distinct integers, strings without commas and nulls."""
    if pattern.fullmatch(text, partial=True) is None:
        return False
    *whole, last = text[1:].split(",") if len(text) > 1 else [""]
    closed = last.endswith("]")
    if len(set(whole)) < len(whole):
        return False
    if closed:
        return last == "]" or last[:-1] not in whole
    # What is complete with its first characters must be another one; all else can go on.
    if last == "0" or (last[:1] == '"' and last[-1:] == '"' and len(last) > 1):
        return last not in whole
    return not (last and "null".startswith(last) and "null" in whole)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_masks_are_what_can_be_extended(number: int) -> None:
    constraint = made(number)
    options, values = CASES[number][2:]
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)

    def viable(written: bytes, token: bytes) -> bool | None:
        longer = written + token
        if not PLAIN.fullmatch(token) or STRINGS_WITH_COMMAS.search(longer):
            return None
        return begins_distinct(longer.decode(), INTEGERS if number == 0 else SCALARS)

    indent = 2 if options.get("whitespace") == "pretty" else None
    for value in mask_walk.elements(values, 4, rng):
        text = json.dumps(value, separators=None if indent else (",", ":"), indent=indent).encode()
        known = viable if number in (0, 6) else None
        written = mask_walk.walk(constraint, automaton, TOKENS, text, rng, known)
        assert (written == text) == constraint.accepts(text), (number, written, text)


@pytest.mark.parametrize("number", [0, 1, 3, 6, 9, 11, 14])
def test_budgets_are_used_up(number: int) -> None:
    constraint = made(number)
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    for budget in (30, 45):
        text = mask_walk.spend(constraint, automaton, TOKENS, budget, rng)
        found = [json.dumps(v, sort_keys=True) for v in json.loads(text)]
        assert len(set(found)) == len(found)


def test_a_list_of_names_is_not_read_to_its_end() -> None:
    """An element that holds a free string beside one of many names: only a few names are looked at."""
    rng = random.Random(1)
    names = ["".join(rng.choices("abcdefghijlmnop_", k=30)) for _ in range(1500)]
    properties = {"name": {"enum": names}, "value": {"type": "string"}}
    items = {"type": "object", "properties": properties, "required": ["name", "value"]}
    few = tokamata.Limits(expression_nodes=50_000)
    schema = {"type": "array", "uniqueItems": True, "items": items}
    constraint = tokamata.json_schema(schema, key_order="any", limits=few)
    tokens = tokamata.Vocabulary([bytes([b]) for b in range(256)] + [None], eos_token_ids=[256])
    state = tokamata.compile(constraint, tokens).start()
    first = json.dumps({"name": names[7], "value": "x"})
    for byte in f"[{first}, {first[:-1]}".encode():
        state.mask()
        state.advance(byte)
    assert state.allows(ord(","))
    assert not state.allows(ord("}"))
