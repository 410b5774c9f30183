"""Masks of arrays of distinct strings agree with a parser of its own, and with the texts that can be extended."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import numpy as np
import pytest

import tokamata

WORDS = (
    "aa", "ab", "ba", 'a"', '","', '",', '["', '["a"', ',"b"', ',"a","', '"]', '"a"]', "\\u00", "\\u006", "\\u0061", "61",
    "é", "日", "\\ud83d", "\\ude00", "😀", '"b","a"', '","b"]', '"",', '","",', '\\"', '\\",', "b]", '"a","ab"', 'b","a',
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


def viable(written: bytes, low: int, high: float) -> bool:
    """Whether a compact text begins an array of between low and high distinct strings, which may be any."""
    try:
        text = written.decode()
    except UnicodeDecodeError as error:
        if "unexpected end" not in error.reason:
            return False
        head = viable(written[: error.start] + b"\xe6\x97\xa5", low, high)  # another character does as well
        rest = written[error.start :]
        return head and any(rest.ljust(n, b"\x80").decode(errors="ignore") or rest[:1] in b"\xe0\xf0" for n in (2, 3, 4))
    unit = r'[^\x00-\x1f"\\]|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})'
    found: list[str] = []
    if text in ("", "["):
        return True
    if text == "[]":
        return low == 0
    if not text.startswith("["):
        return False
    place = 1
    while True:
        whole = re.compile(rf'"(?:{unit})*"').match(text, place)
        if whole is None:
            begun = rf'(?:"(?:{unit})*(?:\\|\\u[0-9a-fA-F]{{0,3}}|\\u[dD][89abAB][0-9a-fA-F]{{2}}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?)?)?'
            rest = text[place:]
            if re.fullmatch(r'.*\\u(?:[dD][c-fC-F].?)', rest[-4:]) and not re.search(r"\\u[dD][89abAB]..\\u[dD].{0,2}$", rest):
                return False
            return len(found) < high and re.fullmatch(begun, rest, re.DOTALL) is not None
        element = json.loads(whole[0])
        if element in found:
            return False
        found.append(element)
        place = whole.end()
        if len(found) > high:
            return False
        if place == len(text):
            return True
        if text[place:] == "]":
            return len(found) >= low
        if text[place] != ",":
            return False
        place += 1
        if len(found) >= high:
            return False


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_masks_are_what_can_be_extended(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.json_schema(distinct(schema), **{"whitespace": "compact", **options})
    automaton = tokamata.compile(constraint, tokamata.Vocabulary([*TOKENS, None], eos_token_ids=[len(TOKENS)]))
    numbers = np.arange(len(TOKENS) + 1)
    rng = random.Random(number)
    for case in range(8):
        value = [rng.choice(TEXTS[:6] if case % 2 else TEXTS) for _ in range(rng.randrange(1, 6))]
        indent = 2 if options.get("whitespace") == "pretty" else None
        text = json.dumps(value, ensure_ascii=case % 3 == 0, separators=None if indent else (",", ":"), indent=indent).encode()
        state, written = automaton.start(), b""
        while True:
            mask = state.mask()
            allowed = (mask[numbers // 32] >> (numbers % 32)) & 1
            expected = [constraint.accepts_prefix(written + token) for token in TOKENS]
            wrong = [t for t, a, e in zip(TOKENS, allowed, expected, strict=False) if bool(a) != e]
            assert not wrong, (number, case, written, wrong)
            if number < 2:
                low, high = schema.get("minItems", 0), schema.get("maxItems", float("inf"))
                ours = [t for t, e in zip(TOKENS, expected, strict=True) if e != viable(written + t, low, high)]
                assert not ours, (number, case, written, ours)
            assert any(expected) or constraint.accepts(written), (number, case, written)
            rest = text[len(written) :]
            fits = [i for i, token in enumerate(TOKENS) if rest.startswith(token) and expected[i]]
            if not fits:
                break
            pick = rng.choice(fits)
            state.advance(pick)
            written += TOKENS[pick]
        assert (written == text) == constraint.accepts(text)


@pytest.mark.parametrize("number", [0, 1, 3, 4])
def test_budgets_are_used_up(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.json_schema(distinct(schema), **{"whitespace": "compact", **options})
    automaton = tokamata.compile(constraint, tokamata.Vocabulary([*TOKENS, None], eos_token_ids=[len(TOKENS)]))
    rng = random.Random(number)
    for budget in (20, 30, 40):
        state, text = automaton.start(max_tokens=budget), b""
        for _ in range(budget):
            mask = state.mask()
            ids = [i for i in range(len(TOKENS) + 1) if mask[i // 32] >> (i % 32) & 1]
            assert ids, (number, text)
            pick = rng.choice([i for i in ids if i != len(TOKENS)] or ids)
            if pick == len(TOKENS):
                break
            state.advance(pick)
            text += TOKENS[pick]
        found = json.loads(text)
        assert len(set(found)) == len(found)
        assert constraint.accepts(text), (number, text)
