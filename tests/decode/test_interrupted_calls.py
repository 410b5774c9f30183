"""What calls that end in a LimitError leave behind: asked again, they answer as if they had not been stopped."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pytest
from oracle import mask_walk
from oracle.native_grammar import build
from oracle.productions import random_productions
from tokamata.constraints import Constraint

import tokamata
from tokamata import _core

T = TypeVar("T")

PATTERNS = [
    r"(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9!]{4,12}", r"(?!.*--)[a-z-]{1,9}", r"[^,\n]+(,[^,\n]+)*", r"(\w+ ){0,20}\d{1,3}",
    r"(?s:.)*?END", r'"([^"\\]|\\.)*"', r"\b\w+\b( \b\w+\b)*$", r"(a|b)*abb(?<!cabb)",
    r"(?!.*(?:kind|[aé]{2}|name0)).*",
]  # fmt: skip

SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "maxLength": 12},
            "tags": {"type": "array", "items": {"enum": ["a", "ab", "é", 1, None]}, "uniqueItems": True, "maxItems": 4},
            "at": {"type": "string", "format": "date"},
            "more": {"$ref": "#"},
        },
        "required": ["name"],
        "patternProperties": {"^x-": {"type": "integer", "multipleOf": 3, "minimum": 0, "maximum": 99}},
    },
    {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "v": {"type": "number"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "w": {"const": None}}, "required": ["w"]},
            {"type": "array", "contains": {"const": 1}, "items": {"type": "integer"}, "minItems": 2},
        ]
    },
    {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "maxProperties": 3},
    {"not": {"type": ["object", "string"]}},
    {"type": "object", "patternProperties": {"kind": {"type": "string"}, "ab": {"type": "null"}}},
]  # fmt: skip
DOCUMENTS: list[list[Any]] = [
    [{"name": "Zoë", "tags": ["é", 1], "at": "2024-02-29", "more": {"name": "ab"}, "x-a": 12, "other": [1.5, {}]}],
    [{"kind": "b", "w": None, "z": 1}, [3, 1, 2]],
    [{"a": "x", "b": None, "c": ""}],
    [[1, {"a": []}], -0.5],
    [{"a kind": "x", "b": 1, "ab0": None, "kin": []}],
]

TERMINALS = [
    "[a-zA-Z_][a-zA-Z0-9_]*", r"[0-9]+(\.[0-9]+)?", r'"([^"\\]|\\.)*"', "[^,#\n]+", "#[^\n]*", "[ \n]+", "[a-z]{1,4}",
    "[a-z]+(?= )", "(?s:.)+b", r"\w+", "a[^ ]+ ", "[^#]{3,}",
]  # fmt: skip


def _vocabulary() -> tokamata.Vocabulary:
    rng = random.Random(3)
    pieces = [
        '"',
        "a",
        "b",
        "kind",
        "name",
        ":",
        ",",
        " ",
        "{",
        "}",
        "[",
        "1",
        "0",
        "é",
        "-",
        "x-",
        "\\",
        "\n",
        "#",
        "Z_",
    ]
    words = {"".join(rng.choice(pieces) for _ in range(rng.randint(1, 5))).encode() for _ in range(4000)}
    return mask_walk.with_bytes(words)


def _interrupted(rng: random.Random, call: Callable[[], T]) -> T:
    """What a call returns in the end that is stopped over and over."""
    try:
        for _ in range(40):
            _core.stop_after(int(2 ** rng.uniform(0, 12)))
            try:
                return call()
            except tokamata.LimitError as error:
                if "stopped after" not in str(error):
                    raise
    finally:
        _core.stop_after(-1)
    return call()


def _agree(
    make: Callable[[], Constraint],
    vocabulary: tokamata.Vocabulary,
    rng: random.Random,
    texts: list[bytes],
    *where: object,
) -> int:
    """Compares masks, steps and ends along the texts, or on random ways; returns how many masks."""
    expected = tokamata.compile(make(), vocabulary)
    constraint = _interrupted(rng, make)
    automaton = _interrupted(rng, lambda: tokamata.compile(constraint, vocabulary))
    checked = 0
    for text in texts:
        one, other = expected.start(), _interrupted(rng, automaton.start)
        for i in range(max(len(text), 8)):
            try:
                mask, again = one.mask(), _interrupted(rng, other.mask)
            except tokamata.LimitError:  # an ambiguous grammar's own, however it is asked
                break
            assert np.array_equal(again, mask), (*where, text[:i], mask_walk.allowed(mask ^ again)[:5])
            assert _interrupted(rng, partial(getattr, other, "is_final")) == one.is_final, (*where, text[:i])
            checked += 1
            choices = [t for t in mask_walk.allowed(mask) if t not in vocabulary.eos_token_ids]
            if not choices or (text and i >= len(text)):
                break
            token = text[i] if text else rng.choice(choices)
            one.advance(token)
            _interrupted(rng, partial(other.advance, token))
    return checked


def _grammars(rng: random.Random, count: int) -> Iterator[tuple[Callable[[], Constraint], object]]:
    for _ in range(count):
        patterns = rng.sample(TERMINALS, rng.randint(1, 4))
        lexer = rng.choice(["basic", "contextual", "none"])
        rules, productions = random_productions(rng, len(patterns))
        ignored = [rng.randrange(len(patterns))] if lexer != "none" and rng.random() < 0.4 else []

        def make(
            patterns: list[str] = patterns, rules: Any = rules, productions: Any = productions,
            ignored: list[int] = ignored, lexer: Any = lexer,
        ) -> Constraint:  # fmt: skip
            return build(patterns, rules, productions, ignored, lexer)

        try:
            if make().is_empty():
                continue
        except (tokamata.ConstraintError, tokamata.LimitError):
            continue
        yield make, (lexer, patterns, productions, ignored)


@pytest.mark.parametrize("seed", range(4))
def test_grammars(seed: int) -> None:
    rng, vocabulary = random.Random(seed), _vocabulary()
    checked = 0
    for make, where in _grammars(rng, 40):
        checked += _agree(make, vocabulary, rng, [b"", b""], seed, where)
    assert checked > 100


@pytest.mark.parametrize("order", ["schema", "any", "sorted"])
def test_schemas(order: Any) -> None:
    vocabulary = _vocabulary()
    for seed in range(6):
        rng = random.Random(seed)
        for schema, documents in zip(SCHEMAS, DOCUMENTS, strict=True):
            texts = [json.dumps(d, sort_keys=order == "sorted", ensure_ascii=False).encode() for d in documents]
            _agree(partial(tokamata.json_schema, schema, key_order=order), vocabulary, rng, texts, seed, schema)


def test_regexes() -> None:
    vocabulary = _vocabulary()
    for seed in range(10):
        rng = random.Random(seed)
        for pattern in PATTERNS:
            _agree(partial(tokamata.regex, pattern), vocabulary, rng, [b"", b""], seed, pattern)
