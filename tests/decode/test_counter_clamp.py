"""Counters behind what is read first: masks share where the numbers make no difference, and only there."""

from __future__ import annotations

import json
import random

import pytest
import regex as regex_module
from oracle.mask_walk import compiled, walk

import tokamata

TOKENS = [bytes([b]) for b in range(256)] + [
    *(b",a", b",ab", b",a,a", b",a,a,a,a", b"x,a", b";x,a,a", b";x", b"a;", b"a,a;x,ab,ab;", b";z", b";;"),
    *(b"0,0", b",0,0,0", b"],[", b"]]", b"0]", b"},{", b'":0},{"', b", ", b"[[", b'{"a":0},{"a":0},', b",0]", b"]]]"),
]


@pytest.mark.parametrize("seed", range(12))
def test_masks_behind_counters_of_expressions(seed: int) -> None:
    rng = random.Random(seed)
    inner, outer = ((low, low + rng.randrange(12)) for low in (rng.randrange(8), rng.randrange(8)))
    pattern = f"(?:x(?:,ab?){{{inner[0]},{inner[1]}}};){{{outer[0]},{outer[1]}}}z"
    constraint, oracle = tokamata.regex(pattern), regex_module.compile(pattern)

    def viable(written: bytes, token: bytes) -> bool:
        return bool(oracle.fullmatch((written + token).decode("latin-1"), partial=True))

    turns = rng.randint(max(outer[0], 1), max(outer[1], 1))
    text = "".join(
        "x" + "".join(rng.choice([",a", ",ab"]) for _ in range(rng.randint(*inner))) + ";" for _ in range(turns)
    )
    walk(constraint, compiled(constraint, TOKENS), TOKENS, (text + "z").encode(), rng, viable)


@pytest.mark.parametrize("seed", range(12))
def test_masks_behind_counters_of_arrays(seed: int) -> None:
    rng = random.Random(seed)
    low = rng.randrange(6)
    high = low + 1 + rng.randrange(10)
    element = rng.choice(
        [{"type": "integer"}, {"type": "array", "items": {"const": 0}, "maxItems": 3}, {"required": ["a"]}]
    )
    if element == {"required": ["a"]}:
        element = {
            "type": "object",
            "properties": {"a": {"const": 0}},
            "required": ["a"],
            "additionalProperties": False,
        }
    schema = {"type": "array", "items": element, "minItems": low, "maxItems": high}
    constraint = tokamata.json_schema(schema, whitespace="compact")
    values = {"integer": [0, 10], "array": [[], [0], [0, 0, 0]], "object": [{"a": 0}]}[element["type"]]
    automaton = compiled(constraint, TOKENS)
    for count in (low, high, rng.randint(low, high)):
        text = json.dumps([rng.choice(values) for _ in range(count)], separators=(",", ":")).encode()
        assert walk(constraint, automaton, TOKENS, text, rng) == text, (seed, text)


def test_masks_of_elements_far_from_the_bounds_are_one() -> None:
    element = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    schema = {"type": "array", "items": element, "minItems": 90, "maxItems": 100}
    automaton = compiled(tokamata.json_schema(schema, whitespace="compact"), TOKENS)
    made = []
    state = automaton.start()
    for byte in json.dumps([{"a": 1}] * 100, separators=(",", ":")).encode():
        state.mask()
        state.advance(TOKENS.index(bytes([byte])))
        made.append(automaton._native.num_masks)
    assert made[500] == made[100]  # no token has more than four commas
    assert made[-1] < 100
    assert state.is_final
