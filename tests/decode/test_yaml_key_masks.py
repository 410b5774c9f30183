"""YAML objects whose keys occur once: masks are what can be extended, and PyYAML finds no key twice."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml
from oracle import mask_walk
from oracle.yaml_schema_random import DuplicateKey, StrictLoader

import tokamata

TOKENS = [bytes([b]) for b in range(256)] + [
    text.encode()
    for text in (
        "😀",
        "aa", "ab", "ba", "a:", "a: ", ": 1", ": 1\n", ":\n", "\n  ", "\n  a", "\na:", "\na: ", "\nb: 0\n", "1\na",
        "a: 1\nb", "a: 1\na", "a: 1\na: ", "b: 0\na: 0", "'a'", '"a"', "'a':", '"a": 0', "''", "'''", "\\x", "\\xe9",
        "\\u00e9", "\\n", "é", "日", "日本", ': 1\n"', ": 1\n'", "\n  a: 1\n  b", "\n  b: 1\na", ":a", "::", ": a",
        "yes", "no: 1", "it's", "it''s", "- a", "- a: 1\n  a", "- a: 1\n- a", ' {"a": 1, "b": 0}', '{"a', '", "',
        '": 1, "a', '": 1, "a"', ', "a": 1', ', "', "}\n", "a: {}\na", '"\\x', '"a": 1\n"a', "a b", " a", "\n\n",
    )
]  # fmt: skip
SCHEMAS: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "object"}, {}),
    ({"type": "object", "additionalProperties": {"enum": [0, 1]}, "minProperties": 2}, {}),
    ({"type": "object", "properties": {"a": {"type": "integer"}, "ab": True}, "required": ["a"]}, {}),
    ({"type": "object", "properties": {"a:b": {"type": "integer"}, "日本": True}}, {"key_order": "any"}),
    ({"type": "object", "patternProperties": {"^a": {"type": "integer"}, "b$": {"enum": [0, 1]}}}, {}),
    ({"type": "object", "propertyNames": {"enum": ["a", "b", "日", "yes", "it's", "\n"]}, "minProperties": 3}, {}),
    ({"type": "object", "propertyNames": {"pattern": "^[ab:]{1,2}$"}, "additionalProperties": {"enum": [0]}}, {}),
    ({"type": "object", "propertyNames": {"pattern": "^(a|b|a\nb+)$"}, "additionalProperties": {"enum": [0]}}, {}),
    ({"type": "object", "patternProperties": {"^['ab]{2}$": {"enum": [0]}}, "additionalProperties": False}, {}),
    ({"type": "object", "additionalProperties": {"type": "object"}}, {"max_depth": 0}),
    ({"type": "object", "additionalProperties": {"propertyNames": {"enum": ["a", "b", "aa"]}}}, {"max_depth": 0}),
    ({"type": "array", "items": {"type": "object", "maxProperties": 2}}, {"sequences": "flush"}),
    ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "properties": {"b": {"enum": [1]}}}]}, {}),
    ({"type": "object", "not": {"required": ["a"]}, "minProperties": 1}, {}),
    ({"type": "object", "not": {"additionalProperties": {"type": "integer"}}}, {}),
    ({"type": "object", "propertyNames": {"maxLength": 1}, "additionalProperties": {"enum": [0]}}, {}),
]
KEYS = ["a", "b", "aa", "ab", "a:b", "é", "è", "日", "日本", "😀", "\n", "it's", "yes", "'", "a:", "a b", "''", '"']


def key_text(rng: random.Random, key: str, flow: bool) -> str:
    """The key in some style, with some escapes."""
    quoted = "".join(
        f"\\u{ord(c):04x}" if 0x7E < ord(c) < 0x10000 and rng.random() < 0.5 else c for c in key.replace('"', '\\"')
    ).replace("\n", "\\n")
    styles = [f'"{quoted}"']
    if not flow and "\n" not in key:
        styles.append("'" + key.replace("'", "''") + "'")
        styles += [] if key[-1] == ":" else [key, key]
    return rng.choice(styles)


def object_text(rng: random.Random, level: int, deepest: int) -> str:
    """An object that may repeat keys, from behind the colon or at the top."""
    pool = rng.sample(KEYS, 3)
    members, flow = [], level > deepest
    for _ in range(rng.randrange(1, 5)):
        key = key_text(rng, rng.choice(pool), flow)
        if level < 3 and rng.random() < 0.25:
            members.append(f"{key}:{object_text(rng, level + 1, deepest)}")
        else:
            members.append(f"{key}: {rng.choice(['0', '1', '{}'])}")
    if flow:
        return " {" + ", ".join(members) + "}"
    line = "\n" + "  " * level
    return (line if level else "") + line.join(members)


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_masks_are_what_can_be_extended(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.yaml_schema(schema, **options)
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    for _ in range(4):
        text = object_text(rng, 0, options.get("max_depth", 16)).encode()
        if schema.get("type") == "array":
            text = b"- " + text.replace(b"\n", b"\n  ")
        written = mask_walk.walk(constraint, automaton, TOKENS, text, rng)
        assert (written == text) >= constraint.accepts(text)
        if constraint.accepts(text):
            yaml.load(text.decode(), StrictLoader)


@pytest.mark.parametrize("either", [False, True])
def test_keys_of_json_beside_those_of_yaml(either: bool) -> None:
    """Before and after it, or instead of it: keys occur once in either."""
    schema = {"type": "object", "additionalProperties": {"type": ["integer", "object"]}}
    in_json, in_yaml = tokamata.json_schema(schema), tokamata.yaml_schema(schema, max_depth=1)
    constraint = in_json | in_yaml if either else in_json + "\n---\n" + in_yaml + "\n...\n" + in_json
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(either)
    for _ in range(12):
        before, lines, after = (object_text(rng, level, 1).strip() for level in (3, 0, 3))
        text = rng.choice([lines, after]) if either else f"{before}\n---\n{lines}\n...\n{after}"
        mask_walk.walk(constraint, automaton, TOKENS, text.encode(), rng)


def test_no_keys_where_some_would_be_remembered() -> None:
    constraint = tokamata.yaml_schema({"type": "array", "items": {"type": "string", "minLength": 1}})
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(0)
    for text in (
        "- ab\n- a:b é:\n- 'a: 1'",
        '- "a: b"\n- abaa\\u00e9:a',
        "- '''a'\n- ''",
        '- 日本:日\n- a b\n- "a": 0',
    ):
        mask_walk.walk(constraint, automaton, TOKENS, text.encode(), rng)


def texts_only(value: Any) -> bool:
    """Whether all keys are strings."""
    return not isinstance(value, dict) or all(isinstance(k, str) and texts_only(v) for k, v in value.items())


def test_a_text_is_refused_where_a_key_comes_twice() -> None:
    """Whatever the styles are; all others that PyYAML reads, with keys that are strings, are allowed."""
    anything = {depth: tokamata.yaml_schema({"type": "object"}, key_order="any", max_depth=depth) for depth in (0, 16)}
    rng = random.Random(0)
    counts = {True: 0, False: 0}
    for _ in range(1500):
        depth = rng.choice([0, 16])
        text = object_text(rng, 0, depth)
        try:
            valid = texts_only(yaml.load(text, StrictLoader))
        except (DuplicateKey, yaml.YAMLError):
            valid = False
        assert anything[depth].accepts(text) == valid, text
        counts[valid] += 1
    assert min(counts.values()) > 300


@pytest.mark.parametrize("number", [0, 1, 2, 4, 8, 9, 13])
def test_budgets_are_used_up(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.yaml_schema(schema, **options)
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    for budget in (25, 40):
        text = mask_walk.spend(constraint, automaton, TOKENS, budget, rng)
        assert texts_only(yaml.load(text.decode(), StrictLoader)), (number, text)


def test_one_token_may_lead_into_flow_style() -> None:
    """And write a key twice, or an element, there."""
    pieces = [b'{"a": 1, "a"', b'{"a": 1, "b"', b"[1, 1", b"[1, 2"]
    tokens = [bytes([b]) for b in range(256)] + [p + t for p in (b"", b" ", b"a: ", b"- ") for t in pieces]
    distinct = {"type": "array", "items": {"type": "array", "uniqueItems": True}}
    for schema in ({"type": "object"}, {"type": "array"}, distinct):
        constraint = tokamata.yaml_schema(schema, max_depth=0)
        automaton = mask_walk.compiled(constraint, tokens)
        for text in (b"a: {}", b"- 1\n- {}", b"- [1]"):
            mask_walk.walk(constraint, automaton, tokens, text, random.Random(0))
