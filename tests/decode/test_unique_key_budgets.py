"""Budgets of objects whose keys must differ: masks are the tokens from which an end is still near enough."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from oracle.mask_walk import allowed
from oracle.packages import vocabulary_file

import tokamata

WORDS = [
    text.encode()
    for text in (
        '{"', '":', '","', '":0', '":0}', '{"":0', 'a":0', '{"a":', '"a":0,', '"b":0,', '"a":0}', '"b":0}', ',"b":',
        '"}', "}}", "aa", "ab", 'a"', '{"a":0,"b":0', '{"a":0,"a":0', '":{"', '":"', '"":0,"', '",', "',", "[0",
        "[0,0]", "0}", "{}", '"":0}', 'aa":0,"', 'b":0,"a":0}', "\\u0061", "\\u006", '"\\', '0,"',
    )
]  # fmt: skip


def schema(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(8)
    if depth == 0 or kind < 2:
        return rng.choice([{"enum": [0]}, {"type": "string"}, {"enum": ["a"]}, {"type": "integer"}, {"enum": [1]}])
    if kind == 2:
        return {"type": "array", "items": schema(rng, depth - 1), "minItems": rng.randrange(3)}
    made: dict[str, Any] = {"type": "object"}
    names = rng.sample(["a", "b", "aa", "ab", "", "é"], rng.randrange(3))
    if names:
        made["properties"] = {name: schema(rng, depth - 1) for name in names}
        made["required"] = rng.sample(names, rng.randrange(len(names) + 1))
    if rng.random() < 0.4:
        made["minProperties"] = rng.randrange(4)
    if rng.random() < 0.3:
        made["maxProperties"] = rng.randrange(3, 5)
    others: list[dict[str, Any]] = [
        {"additionalProperties": schema(rng, depth - 1)},
        {"additionalProperties": False},
        {"patternProperties": {"^a": schema(rng, depth - 1)}},
        {"propertyNames": {"pattern": "^[ab]{0,2}$"}},
        {},
        {},
    ]
    return made | rng.choice(others)


def can_end(state: tokamata.DecodeState, left: int, size: int) -> bool:
    """Whether so many tokens, the last of them end-of-sequence, end a member: by trying them all."""
    tokens = set(allowed(state.mask()))
    if size - 1 in tokens and left >= 1:
        return True
    for token in tokens if left > 1 else ():
        after = state.copy()
        after.advance(token)
        if can_end(after, left - 1, size):
            return True
    return False


@pytest.mark.parametrize("seed", range(25))
def test_masks_leave_what_can_still_be_ended(seed: int) -> None:
    rng = random.Random(seed)
    tokens = [bytes([b]) for b in range(256)] + rng.sample(WORDS, rng.randrange(4, 22))
    size = len(tokens) + 1
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[size - 1])
    try:
        constraint = tokamata.json_schema(
            schema(rng, 2), whitespace="compact", key_order=rng.choice(["schema", "any", "sorted"])
        )
    except tokamata.ConstraintError:  # a schema without values
        return
    automaton = tokamata.compile(constraint, vocabulary)
    with pytest.raises(tokamata.BudgetError) as error:
        automaton.start(max_tokens=1)
    least = int(re.findall(r"max_tokens=(\d+) or more", str(error.value))[0])
    for more in (0, rng.randrange(1, 5)):
        state, free, left, text = automaton.start(max_tokens=least + more), automaton.start(), least + more, b""
        while not state.is_finished:
            now, any_time = set(allowed(state.mask())), set(allowed(free.mask()))
            assert now, (seed, text)
            assert now <= any_time
            for token in rng.sample(sorted(any_time - {size - 1}), min(8, len(any_time) - (size - 1 in any_time))):
                if left <= 4:
                    after = free.copy()
                    after.advance(token)
                    assert can_end(after, left - 1, size) == (token in now), (seed, text, tokens[token], left)
            token = rng.choice(sorted(now))
            state.advance(token)
            left -= 1
            if token != size - 1:
                free.advance(token)
                text += tokens[token]
        assert left >= 0
        assert more or not left
        assert constraint.accepts(text)


ELEMENT = {
    "type": "object",
    "properties": {"id": {"type": "integer"}},
    "required": ["id"],
    "additionalProperties": False,
}
FIELDS = {f"field_{i}": {"type": "string"} for i in range(10)}
SHAPES = [
    {
        "type": "object",
        "required": ["type", "coordinates"],
        "properties": {"type": {"enum": [kind]}, "coordinates": {"type": "array", "items": {"type": "number"}}},
    }
    for kind in ("Point", "LineString", "Polygon")
]
RAMBLED = [
    ({"type": "array", "uniqueItems": True, "minItems": 3, "items": {"type": "string"}}, '["', "schema"),
    ({"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 3}, '{"', "schema"),
    (
        {"type": "object", "properties": FIELDS, "required": [*FIELDS], "additionalProperties": False},
        '{"field_3":"',
        "any",
    ),
    ({"oneOf": SHAPES}, '{"note":"', "any"),
    ({"type": "array", "uniqueItems": True, "items": ELEMENT}, '[{"id":1},{"id":2', "schema"),
]


@pytest.fixture(scope="module")
def real() -> tokamata.Vocabulary:
    return tokamata.Vocabulary.from_file(vocabulary_file("qwen"))


@pytest.mark.parametrize(("schema", "begun", "key_order"), RAMBLED)
@pytest.mark.parametrize("budget", [60, 300])
def test_a_model_that_rambles_ends_in_time(
    real: tokamata.Vocabulary, schema: Any, begun: str, key_order: Any, budget: int
) -> None:
    """Whatever it would rather write until nothing but an end is left: masks have one, and take no token back."""
    constraint = tokamata.json_schema(schema, key_order=key_order)
    state, text = tokamata.compile(constraint, real).start(max_tokens=budget), b""
    liked = [i for i in range(len(real)) if (real.token_bytes(i) or b"") in (b" lorem", b" dolor", b"7")]
    begin = [next(i for i in range(len(real)) if real.token_bytes(i) == bytes([byte])) for byte in begun.encode()]
    while not state.is_finished:
        now = allowed(state.mask())
        assert now, text
        token = begin.pop(0) if begin else next((i for i in liked if i in now), now[0])
        assert state.allows(token), text
        state.advance(token)
        text += real.token_bytes(token) or b""
    assert state.num_tokens <= budget
    assert constraint.accepts(text), text


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which no key occurs twice."""
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def test_open_objects_end_in_time() -> None:
    """Whatever a model would rather go on with, keys and strings included."""
    tokens = [bytes([b]) for b in range(256)] + [*WORDS, b" hello", b"hello", b'": "', b'", "', b'"}']
    size = len(tokens) + 1
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[size - 1])
    two = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}
    for root in ({"type": "object"}, two, {"type": "object", "properties": {"c": two}, "required": ["c"]}):
        automaton = tokamata.compile(tokamata.json_schema(root), vocabulary)
        for seed in range(6):
            rng = random.Random(seed)
            state, text = automaton.start(max_tokens=40), b""
            while not state.is_finished:
                now = set(allowed(state.mask()))
                liked = [i for i in now if i < size - 1 and b"hello" in tokens[i]]
                token = rng.choice(liked if liked and rng.random() < 0.8 else sorted(now))
                state.advance(token)
                text += tokens[token] if token < size - 1 else b""
            json.loads(text, object_pairs_hook=members)


def test_keys_that_are_owed_differ() -> None:
    """The cheapest key may be had once; a second one takes more."""
    tokens = [*(bytes([b]) for b in range(256)), b'{"a":0', b',"a":0', b',"bc":0', b'{"a":0,"a":0}', b"}"]
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    values = {"type": "object", "additionalProperties": {"const": 0}, "minProperties": 2}
    automaton = tokamata.compile(tokamata.json_schema(values, whitespace="compact"), vocabulary)
    with pytest.raises(tokamata.BudgetError, match=r"takes 4 of this vocabulary's tokens"):
        automaton.start(max_tokens=3)  # {"a":0 ,"bc":0 } and the end
    repeated = tokamata.compile(tokamata.json_schema(values, whitespace="compact", unique_keys=False), vocabulary)
    repeated.start(max_tokens=2)


@pytest.mark.parametrize("key_order", ["schema", "any"])
def test_budgets_that_work_are_named_where_the_smallest_is_not_found(real: tokamata.Vocabulary, key_order: Any) -> None:
    inner = {f"q{i}": {"type": "string", "minLength": 3} for i in range(8)}
    outer = {f"p{i}": {"type": "object", "properties": inner, "required": [*inner]} for i in range(12)}
    schema = {"type": "object", "properties": outer, "required": [*outer]}
    automaton = tokamata.compile(tokamata.json_schema(schema, key_order=key_order), real)
    with pytest.raises((tokamata.BudgetError, tokamata.LimitError), match=r"max_tokens=\d+ works$") as error:
        automaton.start(max_tokens=20)
    automaton.start(max_tokens=int(str(error.value).split("max_tokens=")[-1].split()[0]))
