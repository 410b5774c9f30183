"""Patterns that say how a string begins, beside other conditions: against ``re``, and the intersection of both."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

import tokamata

ANY_OTHER = [
    "[aé]",
    '(?:b|")',
    "(?:a|\\n|c)",
    "(?:a|\\u0001)",
    "(?:a|\\\\)b",
]  # characters that are not plain may begin, too
BEGINNINGS = [
    "a",
    "b",
    "ab",
    "a?b",
    "(?:a|ba)",
    "[ab]",
    "ab?/",
    "https?:",
    "é",
    'a"',
    "a\\\\",
    "\\n",
    "a/",
    "a+b",
    *ANY_OTHER,
]
OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"pattern": "b$"}, "[^]*b$"),
    ({"pattern": "^[ab]*$"}, "^[ab]*$"),
    ({"pattern": "^ab?[^b]"}, "^ab?[^b]"),
    ({"pattern": '[/"]'}, '[/"]'),
    ({"maxLength": 3}, "^[^]{0,3}$"),
    ({"minLength": 3}, "^[^]{3}"),
    ({"pattern": "^(?:a|https)", "maxLength": 7}, "^(?=[^]{0,7}$)(?:a|https)"),
    ({"not": {"pattern": "^ab"}}, "^(?!ab)"),
    ({"enum": ["ab", "a/b", 'a"', "https:", "b"]}, '^(?:ab|a/b|a"|https:|b)$'),
]


def spelled(text: str, rng: random.Random) -> str:
    """A JSON string, with some characters as escapes."""
    return '"' + "".join(f"\\u{ord(c):04x}" if rng.random() < 0.3 else json.dumps(c)[1:-1] for c in text) + '"'


@pytest.mark.parametrize("seed", range(120))
def test_beginnings_beside_other_conditions(seed: int) -> None:
    rng = random.Random(seed)
    beginning = "^" + "".join(rng.choices(BEGINNINGS, k=rng.randint(1, 2)))
    other, pattern = rng.choice(OTHERS)
    strings = rng.choice(["any", "canonical"])
    negated = rng.random() < 0.4
    parts = [{"type": "string", **({"not": {"pattern": beginning}} if negated else {"pattern": beginning})}, other]
    rng.shuffle(parts)
    separate = [tokamata.json_schema({"type": "string", **part}, strings=strings) for part in parts]
    both = separate[0] & separate[1]
    if both.is_empty():
        with pytest.raises(tokamata.ConstraintError, match="no JSON value is valid"):
            tokamata.json_schema({"type": "string", "allOf": parts}, strings=strings)
        return
    constraint = tokamata.json_schema({"type": "string", "allOf": parts}, strings=strings)
    assert constraint.equivalent(both), f"seed {seed}: {parts}"
    begins, has_other = (re.compile(p.replace("[^]", r"[\s\S]").replace("$", r"\Z")) for p in (beginning, pattern))
    for _ in range(200):
        text = "".join(
            rng.choices(
                ["a", "b", "ab", "c", "/", '"', "\\", "\n", "é", "\x01", "https:", "http:"], k=rng.randint(0, 5)
            )
        )
        wanted = bool(begins.search(text)) != negated and bool(has_other.search(text))
        written = spelled(text, rng) if strings == "any" else json.dumps(text, ensure_ascii=False)
        assert constraint.accepts(written) == wanted, f"seed {seed}: {parts} {written}"


@pytest.mark.parametrize("format", ["uri", "email", "regex", "date-time"])
def test_beginnings_that_are_barred_from_formats(format: str) -> None:
    """They are found out within few steps, whatever the format has left after them."""
    limits = tokamata.Limits(expression_nodes=3_000)
    schema = {"type": "string", "format": format, "not": {"pattern": "^[x2]"}}
    constraint = tokamata.json_schema(schema, limits=limits)
    assert not constraint.accepts_prefix('"x')
    assert not constraint.accepts_prefix('"\\u0032')
    text = {"uri": "s:/y", "email": "s@y.org", "regex": "^s[xy]+$", "date-time": "1999-12-31T23:59:60Z"}[format]
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    state = tokamata.compile(constraint, vocabulary).start()
    for byte in json.dumps(text).encode():
        mask = state.mask()
        assert mask[byte >> 5] >> (byte & 31) & 1
        state.advance(byte)
    assert state.is_final


def test_beginnings_need_no_intersection() -> None:
    """What a format has left after a beginning is a part of it: no more expressions than of the format are made."""
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])

    def memory(**beside: str) -> int:
        schema = {"type": "string", "format": "uri", "maxLength": 2048, **beside}
        constraint = tokamata.json_schema(schema)
        state = tokamata.compile(constraint, vocabulary).start()
        for byte in b'"https://example.com/a/b?c=d#e"':
            assert state.mask()[byte >> 5] >> (byte & 31) & 1
            state.advance(byte)
        assert state.is_final
        return constraint._native.memory_bytes()

    for pattern in ("^https://", "^https?://"):
        assert memory(pattern=pattern) < 1.6 * memory()  # three times as many as an intersection
