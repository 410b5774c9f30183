"""Long lists of strings (enum): as many constants one by one, in every spelling."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import jsonschema
import numpy as np
import pytest

import tokamata

ALPHABET = ["a", "b", "c", '"', "\\", "/", "\n", "\u0001", "\x7f", "é", "日", "本", "😀", "\u2028"]


def listed(seed: int, count: int) -> list[str]:
    """Texts many of which begin alike."""
    rng = random.Random(seed)
    texts = {"", "a", "ab", "abc", '"', "\\", "é", "éa", "日本", "😀"}
    while len(texts) < count:
        texts.add(rng.choice(["", "ab", "a\\", "é", "日"]) + "".join(rng.choices(ALPHABET, k=rng.randrange(1, 5))))
    return rng.sample(sorted(texts), len(texts))


def spelled(rng: random.Random, text: str) -> str:
    """One of the ways to write a JSON string."""
    out = []
    for c in text:
        ways = [json.dumps(c)[1:-1], json.dumps(c, ensure_ascii=False)[1:-1]]
        if ord(c) < 0x10000:
            ways += [f"\\u{ord(c):04x}", f"\\u{ord(c):04X}"]
        out.append(rng.choice(ways))
    return '"' + "".join(out) + '"'


@pytest.mark.parametrize("seed", range(4))
def test_members_are_the_listed_texts(seed: int) -> None:
    texts = listed(seed, 150)
    constraint = tokamata.json_schema({"type": "string", "enum": [*texts, 1, None]})
    one_by_one = tokamata.json_schema({"anyOf": [{"const": text} for text in texts]})
    rng = random.Random(seed)
    for text in texts:
        written = spelled(rng, text)
        assert constraint.accepts(written), (seed, written)
        for wrong in (written[:-1], written[:-1] + 'a"', written[:-2] + '"', written + '"'):
            assert constraint.accepts(wrong) == one_by_one.accepts(wrong), (seed, wrong)
            assert constraint.accepts_prefix(wrong) == one_by_one.accepts_prefix(wrong), (seed, wrong)
    assert not constraint.accepts("1")
    assert constraint.equivalent(one_by_one)


def test_masks_at_listed_texts() -> None:
    texts = listed(7, 120)
    tokens = [bytes([b]) for b in range(256)] + [
        t.encode()
        for t in ('"a', '"ab', "ab", "abc", 'a"', '"}', '"é', "日本", "\\u00", "\\\\", '\\"', "é", "61", '":"a')
    ]
    schema = {"type": "object", "properties": {"a": {"enum": texts}, "b": {"enum": [*texts, 2]}}, "required": ["a"]}
    constraint = tokamata.json_schema(schema)
    automaton = tokamata.compile(constraint, tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)]))
    words = np.arange(len(tokens))
    rng = random.Random(1)
    for case in range(40):
        text = f'{{"a":{spelled(rng, rng.choice(texts))},"b":{spelled(rng, rng.choice(texts))}}}'.encode()
        state, written = automaton.start(), b""
        while written != text:
            mask = state.mask()
            allowed = (mask[words // 32] >> (words % 32)) & 1
            expected = [constraint.accepts_prefix(written + token) for token in tokens]
            wrong = [t for t, a, e in zip(tokens, allowed, expected, strict=True) if bool(a) != e]
            assert not wrong, (case, written, wrong)
            pick = rng.choice([i for i, t in enumerate(tokens) if text[len(written) :].startswith(t) and expected[i]])
            state.advance(pick)
            written += tokens[pick]


def test_other_questions_about_long_lists() -> None:
    texts = [f"value {i:03}" for i in range(300)]
    schema: dict[str, Any] = {"enum": texts}
    constraint = tokamata.json_schema(schema)
    assert json.loads(constraint.examples(1)[0]) in texts
    assert tokamata.json_schema({"allOf": [schema, {"pattern": "7$"}]}).accepts('"value 127"')
    assert not tokamata.json_schema({"enum": texts, "pattern": "7$"}).accepts('"value 128"')
    assert not tokamata.json_schema({"not": schema}).accepts('"value 128"')
    assert not tokamata.json_schema({"enum": texts, "minLength": 9}).accepts('"value 128x"')
    assert (constraint & tokamata.regex('"value 12."')).accepts('"value 128"')
    assert constraint.counterexample(tokamata.json_schema({"enum": texts[1:]})) == b'"value 000"'
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    state = tokamata.compile(constraint, vocabulary).start(max_tokens=12)
    assert state.forced_bytes() == b'"value '
    with pytest.raises(tokamata.ConstraintError, match="no JSON value"):
        tokamata.json_schema({"type": "integer", "enum": texts})
    assert tokamata.json_schema({"enum": ["\ud800" + t for t in texts] + ["x"]}).accepts('"x"')


@pytest.mark.parametrize("seed", range(60))
def test_few_listed_texts_that_meet_other_demands(seed: int) -> None:
    """Whether any is left decides whether there are members at all."""
    rng = random.Random(seed)
    words = ["", "a", "ab", "abc", "b", "bc", "é", "aé", '"', "\\", "a\n", "日本", "1"]

    def demand() -> dict[str, Any]:
        kind = rng.randrange(5)
        if kind == 0:
            return {"enum": rng.sample([*words, 1, None], rng.randrange(1, 6))}
        if kind == 1:
            return {"pattern": rng.choice(["^a", "b", "^.$", "^[^a]*$", "é$", r"\n", "^(?:ab|bc)$"])}
        if kind == 2:
            return {"minLength": rng.randrange(3)}
        if kind == 3:
            return {"maxLength": rng.randrange(3)}
        return {"not": {"enum": rng.sample(words, 4)}}

    demands = [{"enum": rng.sample(words, 4)}] + [demand() for _ in range(rng.randrange(1, 4))]
    rng.shuffle(demands)
    schema = {"type": "object", "properties": {"t": {"type": "string", "allOf": demands}}, "required": ["t"]}
    validator = jsonschema.Draft202012Validator(schema)
    valid = [word for word in words if validator.is_valid({"t": word})]
    if not valid:
        with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
            tokamata.json_schema(schema)
        return
    constraint = tokamata.json_schema(schema)
    for word in words:
        assert constraint.accepts(json.dumps({"t": word})) == (word in valid), (seed, word, json.dumps(schema))
    assert json.loads(constraint.examples(1)[0])["t"] in valid


@pytest.mark.parametrize("around", [lambda s: s, lambda s: {"allOf": [s]}, lambda s: {"anyOf": [s]}])
def test_lists_beside_a_reference_say_nothing_in_old_drafts(around: Callable[[Any], Any]) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"x": {"enum": ["a", "b"]}},
        "type": "array",
        "items": around({"enum": ["c"], "$ref": "#/definitions/x"}),
        "uniqueItems": True,
        "minItems": 2,
    }
    constraint = tokamata.json_schema(schema)
    assert constraint.accepts('["b", "a"]')
    assert not constraint.accepts('["a", "c"]')
    assert not constraint.accepts('["a", "a"]')


def test_annotations_beside_a_long_list() -> None:
    """Of whatever name, and what is said of other types."""
    texts = listed(9, 100)
    beside = {"enumNames": texts[::-1], "x-order": 3, "name": "n", "minimum": 5, "required": ["a"], "items": False}
    constraint = tokamata.json_schema({"type": "string", "enum": texts, **beside})
    assert constraint.equivalent(tokamata.json_schema({"type": "string", "enum": texts}))
    shorter = tokamata.json_schema({"type": "string", "enum": texts, **beside, "maxLength": 2})
    assert [t for t in texts if shorter.accepts(json.dumps(t))] == [t for t in texts if len(t) <= 2]


@pytest.mark.parametrize("count", [3, 100])
def test_a_list_is_an_annotation_where_the_vocabulary_lacks_it(count: int) -> None:
    core = "https://json-schema.org/draft/2020-12/vocab/"
    meta = {"$id": "https://example.com/meta", "$vocabulary": {core + "core": True, core + "applicator": True}}
    meta["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema = {"$schema": "https://example.com/meta", "enum": [f"e{i}" for i in range(count)]}
    constraint = tokamata.json_schema(schema, registry={"https://example.com/meta": meta})
    assert constraint.accepts('"e1"')
    assert constraint.accepts('"other"')
