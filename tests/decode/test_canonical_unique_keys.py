"""Canonical tokenizations where keys and elements must differ: the encoder's tokens of members, no others."""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Any

import pytest
from oracle.mask_walk import allowed
from oracle.small_tokenizers import CL100K, QWEN, Encode, check_all, ranked, trained
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton

import tokamata

Made = tuple[Encode, tokamata.Vocabulary, BytePairs]
KEYS = ["a", "b", "ab", "ba", "é", "a b", ""]


def made(kind: str, seed: int) -> Made:
    """A tokenizer that knows pieces of JSON."""
    if kind in ("qwen", "cl100k"):
        return ranked(QWEN if kind == "qwen" else CL100K, seed, 'ab"":{},1')
    return trained(kind, seed, 'ab"":{},,1 é')


def objects(keys: list[str], values: list[str], low: int, high: int) -> list[str]:
    """All texts of low to high members, in every order."""
    texts = []
    for n in range(low, high + 1):
        for chosen in itertools.permutations(keys, n):
            for of_each in itertools.product(values, repeat=n):
                members = (f"{json.dumps(k, ensure_ascii=False)}:{v}" for k, v in zip(chosen, of_each, strict=True))
                texts.append("{" + ",".join(members) + "}")
    return texts


def without(part: str) -> tokamata.Constraint:
    """The texts that a tokenizer with an added token leaves alone."""
    return ~(tokamata.regex("(?s:.*)") + tokamata.literal(part) + tokamata.regex("(?s:.*)"))


def compact(schema: dict[str, Any], **options: Any) -> tokamata.Constraint:
    return tokamata.json_schema(schema, whitespace="compact", strings="canonical", **options)


@pytest.mark.parametrize("kind", ["GPT-2", "DeepSeek", "gaps that look ahead", "qwen", "cl100k"])
def test_finite_languages(kind: str) -> None:
    for seed in range(3):
        rng = random.Random(f"{kind}{seed}")
        keys = sorted(rng.sample(KEYS, rng.randrange(2, 5)))
        high, values = rng.randrange(1, 4), ["1", '"a"', "{}"][: rng.randrange(1, 3)]
        low = rng.randrange(min(high, len(keys)))
        names = {"enum": keys} if rng.random() < 0.5 else {"pattern": "^(" + "|".join(map(re.escape, keys)) + ")$"}
        schema = {
            "type": "object",
            "propertyNames": names,
            "additionalProperties": {"enum": [json.loads(value) for value in values]},
            "minProperties": low,
            "maxProperties": high,
        }
        texts = objects(keys, values, low, min(high, len(keys)))
        of = made(kind, seed)
        check_all(of, compact(schema), texts, (kind, seed, schema))
        of[2].texts = without("ba")
        texts = [text for text in texts if "ba" not in text]
        if texts:
            check_all(of, compact(schema), texts, (kind, seed, schema, "without ba"))


OPEN: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "object"}, {}),
    ({"type": "object", "additionalProperties": {"enum": [0, 1]}}, {}),
    ({"type": "object", "properties": {"a": {"enum": [1]}, "ab": True}, "required": ["a"]}, {}),
    ({"type": "object", "properties": {"a": {"enum": [1]}, "b": {}}, "minProperties": 2}, {"key_order": "any"}),
    ({"type": "object", "patternProperties": {"^a": {"enum": [1]}, "b$": {"enum": [0, 1]}}}, {}),
    ({"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 3}, {}),
    ({"type": "array", "items": {"type": "object", "additionalProperties": {"type": "object"}}}, {}),
    ({"type": "object", "maxProperties": 2, "additionalProperties": {"enum": [0]}}, {}),
    ({"type": "object", "not": {"required": ["a"]}, "minProperties": 1}, {}),
    ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "properties": {"b": {"enum": [1]}}}]}, {}),
    ({"type": "object", "additionalProperties": {"enum": [1]}}, {"key_order": "sorted"}),
    ({"type": "array", "uniqueItems": True, "items": {"type": "string"}}, {}),
    ({"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", 1]}}, {}),
    ({"type": "object", "additionalProperties": {"enum": [1]}}, {"whitespace": "flexible"}),
]  # fmt: skip


def member(rng: random.Random, depth: int = 0) -> Any:
    if rng.random() < 0.4 or depth > 2:
        return rng.choice([0, 1, "a", "b", {}, []])
    if rng.random() < 0.2:
        return [member(rng, depth + 1) for _ in range(rng.randrange(3))]
    keys = rng.sample(KEYS, rng.randrange(5))
    return {key: member(rng, depth + 1) for key in keys}


def by_nearness(vocabulary: tokamata.Vocabulary) -> list[int]:
    """All tokens, those first that may lead to an end soon."""
    texts = [vocabulary.token_bytes(i) or b"" for i in range(len(vocabulary))]
    order = b'}"]:10a'
    ends = sorted((len(t) > 2, order.find(t[:1]) if t[:1] in order else 9, i) for i, t in enumerate(texts) if t)
    return [*vocabulary.eos_token_ids, *(i for *_, i in ends)]


def check_walks(
    of: Made, constraint: tokamata.Constraint, instances: list[str], rng: random.Random, note: object
) -> int:
    """Members' own tokens are allowed; whatever is allowed leads to an end, and to what the encoder writes."""
    encode, vocabulary, pairs = of
    try:
        automaton = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs)
    except tokamata.ConstraintError:
        return 0
    end, checked, nearest = vocabulary.eos_token_ids[0], 0, by_nearness(vocabulary)
    for text in instances:
        tokens = encode(text)
        state = automaton.start()
        for i, token in enumerate(tokens):
            ids = allowed(state.mask())
            assert token in ids, (note, text, tokens[:i])
            others = [i for i in ids if i != end]
            for other in rng.sample(others, min(len(others), 2)):  # each leads to what would be written
                ahead, written = state.copy(), [*tokens[:i]]
                choice = other
                for step in range(50):
                    ahead.advance(choice)
                    if choice == end:
                        break
                    written.append(choice)
                    next_ids = allowed(ahead.mask())
                    assert next_ids, (note, text, written)
                    soon = step > 2 or end in next_ids
                    choice = next(t for t in nearest if t in next_ids) if soon else rng.choice(next_ids)
                if ahead.is_finished:
                    data = b"".join(vocabulary.token_bytes(t) or b"" for t in written)
                    assert constraint.accepts(data), (note, data)
                    assert encode(data.decode()) == written, (note, data, written)
                    checked += 1
            state.advance(token)
        assert state.is_final, (note, text)
    return checked


@pytest.mark.parametrize("number", range(len(OPEN)))
def test_walks(number: int) -> None:
    schema, options = OPEN[number]
    constraint = tokamata.json_schema(schema, **({"whitespace": "compact"} | options))
    checked = 0
    for seed, kind in enumerate(["qwen", ["GPT-2", "DeepSeek"][number % 2]]):
        rng = random.Random(f"{number}{seed}")
        instances = []
        for _ in range(200):
            separators = (", ", ": ") if options.get("whitespace") and rng.random() < 0.5 else (",", ":")
            text = json.dumps(member(rng), separators=separators, ensure_ascii=rng.random() < 0.2)
            if len(instances) < 4 and len(text) < 60 and constraint.accepts(text):
                instances.append(text)
        checked += check_walks(made(kind, seed), constraint, instances, rng, (number, seed, kind))
    assert checked > 5, checked


def test_unions_of_states_that_lead_to_each_other() -> None:
    """A pattern is searched for: most characters lead to a union, in which a part goes on like the state before."""
    constraint = compact(
        {"type": "array", "items": {"type": "string", "pattern": "[\\w\\d_\\.-]+@([\\w\\.-]+\\.)+[\\w]+"}}
    )
    texts = ['["a.b@ab.b"]', '["ba@a.1","éa@@b.a b@1.a.b"]']
    for seed, kind in enumerate(["qwen", "GPT-2"]):
        assert check_walks(made(kind, seed), constraint, texts, random.Random(seed), kind) > 2


def test_what_is_known_is_forgotten_where_it_takes_too_much_room() -> None:
    encode, vocabulary, pairs = made("qwen", 0)
    constraint = compact({"type": "object", "additionalProperties": {"enum": [1]}})
    few = compact({"type": "object", "additionalProperties": {"enum": [1]}}, limits=tokamata.Limits(states=150))
    roomy = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs)
    small = CanonicalAutomaton(tokamata.compile(few, vocabulary), pairs)
    text = "{" + ",".join(f'"{a}{b}":1' for a, b in itertools.product("ab1,:", "abé{}")) + "}"
    states = roomy.start(), small.start()
    old = small.start()
    for token in encode(text):
        masks = [state.mask().tolist() for state in states]
        assert masks[0] == masks[1]
        for state in states:
            state.advance(token)
    assert all(state.is_final for state in states)
    assert small.num_renewals > 2 * roomy.num_renewals == 0
    states[1].rollback(len(encode(text)) - 1)
    states[0].rollback(len(encode(text)) - 1)
    assert states[0].mask().tolist() == states[1].mask().tolist()
    assert old.mask().tolist() == roomy.start().mask().tolist()
    tiny = compact({"type": "object"}, limits=tokamata.Limits(states=5))
    with pytest.raises(tokamata.LimitError, match="states=5 "):
        CanonicalAutomaton(tokamata.compile(tiny, vocabulary), pairs).start().mask()


@pytest.mark.parametrize("number", range(3))
def test_walks_in_yaml(number: int) -> None:
    schema = [
        {"type": "object", "additionalProperties": {"enum": [0, 1]}},
        {"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "additionalProperties": {"enum": [1]}},
        {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "ab", 1]}},
    ][number]
    constraint = tokamata.yaml_schema(schema)
    rng = random.Random(number)
    instances = [text.decode() for text in constraint.examples(30, seed=number) if len(text) < 40][:4]
    assert check_walks(made("qwen", number), constraint, instances, rng, (number, instances)) > 2
