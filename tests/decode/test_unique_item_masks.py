"""Masks of arrays of distinct strings agree with a parser of its own, and with the texts that can be extended."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import regex as regex_package
from oracle import mask_walk

import tokamata

WORDS = (
    "aa", "ab", "ba", 'a"', '","', '",', '["', '["a"', ',"b"', ',"a","', '"]', '"a"]', "\\u00", "\\u006", "\\u0061",
    "61", "é", "日", "\\ud83d", "\\ude00", "😀", '"b","a"', '","b"]', '"",', '","",', '\\"', '\\",', "b]", '"a","ab"',
    'b","a',
)  # fmt: skip
TOKENS = [bytes([b]) for b in range(256)] + [word.encode() for word in WORDS]
TEXTS = ["a", "b", "aa", "ab", "", "ba", "é", "日", "😀", '"', "\\", "bb", "\x7f", "\n"]
STRING = {"type": "string"}
SCHEMAS: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "array", "items": STRING}, {}),
    ({"type": "array", "items": STRING, "minItems": 2, "maxItems": 3}, {}),
    ({"type": "array", "items": STRING}, {"strings": "canonical"}),
    ({"type": "array", "items": {"type": "string", "pattern": "^[ab]{0,2}$"}, "minItems": 3}, {}),
    ({"type": "array", "items": {"type": "string", "pattern": "^[ab]$"}, "minItems": 2}, {"key_order": "sorted"}),
    ({"type": "array", "items": {"type": "string", "maxLength": 1}}, {"key_order": "any"}),
    ({"type": "array", "items": {"enum": [f"a{i}" for i in range(300)] + TEXTS}, "maxItems": 4}, {}),
    ({"type": "array", "prefixItems": [STRING], "items": STRING, "minItems": 1}, {"whitespace": "pretty"}),
]


def distinct(schema: Any) -> Any:
    return {**schema, "uniqueItems": True}


UNIT = (
    r'(?:[^\x00-\x1f"\\]|\\["\\/bfnrt]|\\u(?:[0-9a-cA-CefEF][0-9a-fA-F]|[dD][0-7])[0-9a-fA-F]{2}|'
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
STRING_TEXT = regex_package.compile(rf'"{UNIT}*"')
ARRAY_TEXT = regex_package.compile(rf'\[(?:"{UNIT}*"(?:,"{UNIT}*")*)?\]')


def viable(written: bytes, low: int, high: float) -> bool:
    """Whether a compact text begins an array of between low and high distinct strings, which may be any."""
    try:
        text = written.decode()
    except UnicodeDecodeError as error:
        if "unexpected end" not in error.reason:
            return False
        return viable(written[: error.start] + "日".encode(), low, high)  # any other character does as well
    if ARRAY_TEXT.fullmatch(text, partial=True) is None:
        return False
    found, place = [], 1
    while (whole := STRING_TEXT.match(text, place)) is not None:
        found.append(json.loads(whole[0]))
        place = whole.end() + 1
    if len(set(found)) < len(found):
        return False
    rest = text[place - 1 :] if found else text[1:]
    if rest == "]":
        return low <= len(found) <= high
    return len(found) + (rest != "") <= high


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_masks_are_what_can_be_extended(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.json_schema(distinct(schema), **{"whitespace": "compact", **options})
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    low, high = schema.get("minItems", 0), schema.get("maxItems", float("inf"))

    def known(written: bytes, token: bytes) -> bool:
        return viable(written + token, low, high)

    for case in range(8):
        value = [rng.choice(TEXTS[:6] if case % 2 else TEXTS) for _ in range(rng.randrange(1, 6))]
        indent = 2 if options.get("whitespace") == "pretty" else None
        text = json.dumps(
            value, ensure_ascii=case % 3 == 0, separators=None if indent else (",", ":"), indent=indent
        ).encode()
        written = mask_walk.walk(constraint, automaton, TOKENS, text, rng, known if number < 2 else None)
        assert (written == text) == constraint.accepts(text)


@pytest.mark.parametrize("number", [0, 1, 3, 4])
def test_budgets_are_used_up(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.json_schema(distinct(schema), **{"whitespace": "compact", **options})
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    for budget in (20, 30, 40):
        text = mask_walk.spend(constraint, automaton, TOKENS, budget, rng)
        found = json.loads(text)
        assert len(set(found)) == len(found)
