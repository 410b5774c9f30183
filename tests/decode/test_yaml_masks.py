"""Masks of YAML on a real vocabulary equal those found by walking all of its tokens."""

from __future__ import annotations

import random
from typing import Any

import pytest
from oracle import mask_walk
from oracle.packages import vocabulary_file

import tokamata

RECORD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "short": {"type": "string", "minLength": 1, "maxLength": 60},
        "line": {"type": "string", "maxLength": 300},
        "slug": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$", "maxLength": 40},
        "sizes": {"type": "array", "items": {"type": "number"}},
        "more": {"type": "object"},
    },
    "required": ["name", "short", "line"],
}
TEXTS = {
    "record": (
        RECORD,
        "name: A plain text, a#sign, http://x.y and more\nshort: 'it''s quoted'\nline: caf\u00e9 au lait 42\n"
        "slug: a-b-c\nsizes:\n- 1.5\n- 2\nmore:\n  key one: null\n  yes-no: \"\\u00e9 x\"\nother: -no\n",
    ),
    "anything": (True, "a:\n- b c\n- 12.5\n- - true\n  - 'x'\ntitle key: yes and no\nlast: null\n"),
    "strings": (
        {"type": "array", "items": {"type": "string", "maxLength": 9}},
        "- 123456x\n- yesno\n- 026-01-0x\n- \"a\\tb\"\n- 'a: b'\n",
    ),
    "distinct strings": (
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "- red\n- red wine\n- 'red'' '\n- \"re\\x07\"\n- 12 reds\n- r\n- '1'\n- 'red '\n",
    ),
    "distinct values": (
        {"type": "array", "uniqueItems": True},
        "- 12\n- 1\n- '12'\n- name: a\n  more: []\n- name: a\n- - 1\n  - 2\n- - 1\n- null\n- 1.5\n- red\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_masks_equal_walking(name: str) -> None:
    vocabulary = tokamata.Vocabulary.from_file(vocabulary_file("qwen"))
    schema, text = TEXTS[name]
    automaton = tokamata.compile(tokamata.yaml_schema(schema), vocabulary)
    ids = {vocabulary.token_bytes(i): i for i in range(len(vocabulary))}
    rng = random.Random(name)
    state, at, data, compared = automaton.start(), 0, text.encode(), 0
    while True:
        if compared < 40:
            mask_walk.agreed(automaton, state)
            compared += 1
        pieces = {data[at : at + n] for n in range(1, 9)} & ids.keys()
        piece = rng.choice(sorted(pieces)) if pieces else b""
        if not piece or not state.allows(ids[piece]):
            break
        state.advance(ids[piece])
        at += len(piece)
    assert at == len(data), data[:at]
    assert state.is_final
