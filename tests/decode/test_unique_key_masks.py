"""Objects whose other keys do not occur twice: masks agree with the texts that can be extended, token by token."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from oracle import mask_walk

import tokamata

TOKENS = [bytes([b]) for b in range(256)] + [
    text.encode()
    for text in (
        "aa", "ab", "ba", "id", "i", 'a"', '":', '": ', '","', '{"', '"a":', '"b":1', ',"a":2', ',"b":', '","":1',
        ',"x":0}', "\\u00", "\\u006", "\\u0061", "61", '\\n', "é", "日", "日本", "\\ud83d", "\\ude00", "😀", '":1,"',
        '1,"a', "}}", '"}', ',"é":1', ', "a": 1', '{"a":1,"a":1}', '{"a":1,"b":1}', 'a":{"a',
        ',"a"', ',"aa" :', ', "b" ', ',"\\u0061":', ',"a', '":1,"a', '":1,"b":1', '"b":0,"', ',"":', ',"\\""',
        '":1 , "b', '":1,', '"b":1,', "0,", '":0 , ', '{"a":1,', '":1,"', "a\u2028", "\u3000b", "\u00a0",
    )
]  # fmt: skip
SCHEMAS: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "object"}, {}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"whitespace": "compact"}),
    ({"type": "object", "properties": {"a": {"type": "integer"}, "ab": True}, "required": ["a"]}, {}),
    (
        {"type": "object", "properties": {"id": {"type": "integer"}, "日本": True}, "minProperties": 2},
        {"key_order": "any"},
    ),
    ({"type": "object", "patternProperties": {"^a": {"type": "integer"}, "b$": {"enum": [0, 1]}}}, {}),
    ({"type": "object", "propertyNames": {"enum": ["a", "b", "日"]}, "additionalProperties": {"type": "integer"}}, {}),
    ({"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 3}, {}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"strings": "canonical"}),
    ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "properties": {"b": {"enum": [1]}}}]}, {}),
    ({"type": "array", "items": {"type": "object", "additionalProperties": {"type": "object"}}}, {}),
    ({"type": "object", "maxProperties": 2, "additionalProperties": {"enum": [0]}}, {}),
    ({"type": "object", "not": {"required": ["a"]}, "minProperties": 1}, {}),
    ({"type": "object", "patternProperties": {"^[éèab]$": {"enum": [0, 1]}}, "additionalProperties": False}, {}),
    ({"type": "object", "propertyNames": {"pattern": "^(é|è|😀|a|ab|aa)$"}}, {"strings": "canonical"}),
    ({"type": "object", "properties": {"a": True}, "propertyNames": {"pattern": "^[^b]*$"}}, {"key_order": "any"}),
    ({"type": "object", "patternProperties": {"^a.*$|^b": {"enum": [0, 1]}}, "additionalProperties": False}, {}),
    ({"type": "object", "propertyNames": {"pattern": "^[a-q]{2}$|^a$"}, "minProperties": 2}, {}),
    ({"oneOf": [{"type": "object", "required": [k], "properties": {k: {"const": 0}}} for k in ("a", "b", "aa")]}, {}),
    # no end of keys, of which some are beginnings of nothing else
    ({"type": "object", "patternProperties": {"^a$|^b|^é": {"enum": [0, 1]}}, "additionalProperties": False}, {}),
    (
        {"type": "object", "properties": {"a": {"enum": [1]}}, "patternProperties": {"^a|日": {"enum": [0, 1]}}},
        {"key_order": "any", "strings": "canonical"},
    ),
    ({"type": "object", "propertyNames": {"pattern": "^(x*|aa|ab)$"}, "maxProperties": 3, "minProperties": 2}, {}),
    ({"patternProperties": {"a": {"patternProperties": {"b": {"enum": [1]}}}, "x": {}}, "type": "object"}, {}),
]
KEYS = ["a", "b", "aa", "ab", "", "id", "é", "è", "é", "è", "日", "日本", "😀", "\n", "x", "bb", "ba"]


def object_text(rng: random.Random, depth: int = 0) -> str:
    """An object that may repeat keys, in some spelling."""
    members = []
    for _ in range(rng.randrange(5)):
        key = rng.choice(KEYS)
        if rng.random() < 0.3:
            quoted = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else json.dumps(c)[1:-1] for c in key)
        else:
            quoted = json.dumps(key, ensure_ascii=rng.random() < 0.3)[1:-1]
        value = object_text(rng, depth + 1) if depth < 2 and rng.random() < 0.2 else rng.choice(["0", "1", '"a"', "{}"])
        members.append(f'"{quoted}":{value}')
    return "{" + ",".join(members) + "}"


def repeats(text: str) -> bool:
    """Whether some object of a JSON text has a key twice."""
    found = False

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        found = found or len(dict(members)) < len(members)
        return dict(members)

    json.loads(text, object_pairs_hook=pairs)
    return found


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_masks_are_what_can_be_extended(number: int) -> None:
    schema, options = SCHEMAS[number]
    constraint = tokamata.json_schema(schema, **options)
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    for _ in range(12):
        text = object_text(rng).encode()
        if schema.get("type") == "array":
            text = b"[" + text + b"]"
        mask_walk.walk(constraint, automaton, TOKENS, text, rng)


@pytest.mark.parametrize("names", [{"enum": ["a"]}, {"enum": ["a", "b"]}, {"pattern": "^[ab]$"}])
def test_no_comma_after_the_last_key(names: dict[str, Any]) -> None:
    tokens = [*TOKENS, b'"a":1,', b'a":1,', b'b":1', b'{"b":1,"a":1,']
    schema = {"type": "object", "propertyNames": names, "additionalProperties": {"type": "integer"}}
    constraint = tokamata.json_schema({"type": "array", "items": schema})
    automaton = mask_walk.compiled(constraint, tokens)
    text = b'[{"a":1,"b":1},{"b":1,"a":1'
    state = automaton.start()
    for end in range(len(text)):
        if not constraint.accepts_prefix(text[: end + 1]):
            break
        expected = [i for i, token in enumerate(tokens) if constraint.accepts_prefix(text[:end] + token)]
        assert mask_walk.allowed(state.mask()) == expected, text[:end]
        state.advance(text[end])


def test_texts_with_a_key_twice_are_no_members() -> None:
    rng = random.Random(0)
    constraint = tokamata.json_schema({"type": "object", "properties": {"a": True}}, key_order="any")
    free = tokamata.json_schema({"type": "object", "properties": {"a": True}}, key_order="any", unique_keys=False)
    twice = 0
    for _ in range(300):
        text = object_text(rng)
        twice += repeats(text)
        assert constraint.accepts(text) == (not repeats(text)), text
        assert free.accepts(text) or '"a"' in text or "\\u0061" in text
    assert twice > 30


def test_names_that_run_out() -> None:
    names = {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"enum": [1]}}
    constraint = tokamata.json_schema(names)
    assert constraint.accepts('{"b":1,"a":1}')
    assert not constraint.accepts_prefix('{"b":1,"a":1,')
    assert not constraint.accepts_prefix('{"a":1,"\\u0061')
    assert constraint.accepts_prefix('{"a":1,"\\u006')
    with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
        tokamata.json_schema({**names, "minProperties": 3})
    assert tokamata.json_schema({**names, "minProperties": 2}).accepts('{"a":1,"b":1}')


def test_examples_repeat_no_key_and_suffice() -> None:
    constraint = tokamata.json_schema({"type": "object", "minProperties": 4})
    for text in constraint.examples(40):
        assert not repeats(text.decode()), text
        assert len(json.loads(text)) >= 4


def test_long_texts_and_many_keys() -> None:
    constraint = tokamata.json_schema({"type": "object", "additionalProperties": {"type": "integer"}})
    keys = [f"key {i * 7919 % 2000:05}" for i in range(2000)]
    text = json.dumps(dict.fromkeys(keys, 1))
    assert constraint.accepts(text)
    assert not constraint.accepts(text[:-1] + ', "key 00017": 1}')
    assert constraint.accepts('{"' + "k" * 20_000 + '": 1}')


def test_between_texts_keys_may_repeat_and_the_report_says_so() -> None:
    constraint = tokamata.json_schema({"type": "object"})
    assert ("", "keys", "enforced") in [(e.place, e.subject, e.status) for e in constraint.report]
    both = constraint & tokamata.regex(r"\{.{0,40}\}")
    assert both.accepts('{"a":1,"a":2}')
    assert "widened" in [e.status for e in both.report if e.subject == "keys"]
    closed = tokamata.json_schema({"type": "object", "additionalProperties": False})
    assert [e for e in closed.report if e.subject == "keys"] == []


def test_what_lists_all_states_names_the_remedy() -> None:
    constraint = tokamata.json_schema({"type": "object"})
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    remedy = r"json_schema\(unique_keys=False\)"
    with pytest.raises(tokamata.LimitError, match=remedy):
        constraint.to_fst(max_states=1000)
    with pytest.raises(tokamata.LimitError, match=remedy):
        tokamata.compile(constraint, vocabulary).to("cpu", max_states=1000)
    tokamata.json_schema({"type": "object", "additionalProperties": {"type": "null"}}, unique_keys=False).to_fst()


def test_keys_are_kept_apart_where_masks_are_not_kept() -> None:
    tokens = [*(bytes([b]) for b in range(256)), b'","": ', b'","":', b'","a":"', None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[259])
    constraint = tokamata.json_schema({"type": "object", "additionalProperties": {"type": "string"}})
    for cache_bytes in (0, None):
        state = tokamata.compile(constraint, vocabulary, cache_bytes=cache_bytes).start()
        for byte in b'{"":"':
            state.advance(byte)
        mask = state.mask()
        for token in (256, 257, 258):
            assert bool(mask[token >> 5] >> (token & 31) & 1) == state.allows(token) == (token == 258), cache_bytes
