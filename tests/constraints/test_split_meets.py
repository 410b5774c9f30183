"""Differences and intersections of the texts of schemas, whose values nest: what is empty, and what the texts are."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest
from oracle import finite_schemas

import tokamata

Schema = Any


def texts(schema: Schema, besides: str = "", **options: Any) -> tokamata.Constraint:
    """The texts of a schema and another one, as a constraint that is compared by texts, not by values."""
    return tokamata.json_schema(schema, **options) | tokamata.literal(besides)


def test_texts_are_those_of_one_and_not_of_the_other() -> None:
    seed = 7
    print("seed", seed)
    rng, decided = random.Random(seed), 0
    for _ in range(300):
        (a, mine), (b, theirs) = finite_schemas.finite(rng), finite_schemas.finite(rng)
        if len(mine) + len(theirs) > finite_schemas.MANY:
            continue
        ours, other = (
            texts(s, beside, whitespace="compact", strings="canonical") for s, beside in ((a, ""), (b, "never"))
        )
        left, common = ours - (other | ""), ours & other
        assert left.is_empty() == (mine <= theirs), (a, b)
        assert common.is_empty() == mine.isdisjoint(theirs), (a, b)
        for text in rng.sample(sorted(mine | theirs), min(len(mine | theirs), 40)):
            assert left.accepts(text) == (text in mine - theirs), (a, b, text)
            assert common.accepts(text) == (text in mine & theirs), (a, b, text)
        decided += not left.is_empty() and not common.is_empty()
    assert decided > 30, decided


def _object(members: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": members, "required": list(required)}


def _text(most: int) -> Schema:
    return {"type": "string", "maxLength": most}


LIST = {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}
SHORT_LIST = {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 3}}, "$ref": "#/$defs/t"}
SUBSETS = [  # the texts of the first are ones of the second, which has that of a value more
    (_text(50_000), _text(100_000), "x" * 50_001),
    ({"type": "array", "items": _text(50_000)}, {"type": "array", "items": _text(100_000)}, ["", "x" * 50_001]),
    (_object({"t": _text(9998), "u": _text(10_000)}, "t"), _object({"t": _text(10_000)}, "t"), {"t": "", "u": 1}),
    (
        _object({"p": _object({"t": _text(9999)}, "t")}),
        _object({"p": _object({"t": _text(10_000)}, "t")}),
        {"p": {"t": "x" * 10_000}},
    ),
    (
        {"type": "object", "additionalProperties": _text(9998)},
        {"type": "object", "additionalProperties": _text(9999)},
        {"k": "x" * 9999},
    ),
    (_object({"t": _text(1000)}), {}, [1]),
    (SHORT_LIST, LIST, [[], [[], [], [], []]]),
    (SHORT_LIST, LIST | {"maxItems": 3}, [[[[], [], [], []]]]),
    (
        {"type": "array", "items": _text(1000), "maxItems": 500},
        {"type": "array", "items": _text(1001), "maxItems": 900},
        [""] * 501,
    ),
]


@pytest.mark.parametrize("pair", range(len(SUBSETS)))
def test_numbers_in_values_do_not_multiply(pair: int) -> None:
    some, more, value = SUBSETS[pair]
    small, large = texts(some), texts(more)
    begin = time.thread_time()
    assert (small - large).is_empty()
    rest = large - small
    assert not rest.is_empty()
    spent = time.thread_time() - begin
    assert rest.accepts(json.dumps(value))
    assert not rest.accepts(json.dumps({}))
    assert spent < 0.5, spent


def test_order_of_members_tells_texts_apart() -> None:
    one, other = (
        _object({key: {"const": 1} for key in keys}, *keys) | {"additionalProperties": False} for keys in ("ab", "ba")
    )
    left = texts(one) - texts(other)
    assert left.accepts(json.dumps({"a": 1, "b": 1}))
    assert (texts(one, "<") & texts(other, ">")).is_empty()


def test_texts_that_only_look_like_values_are_not_split() -> None:
    """Brackets and quotes of what is put around values may make others of them."""
    value = texts({"type": "array", "items": {"enum": [1, "]", "[", [1]]}}, whitespace="compact", strings="canonical")
    rng = random.Random(3)
    print("seed", 3)
    pieces = ["[", "]", '"', "1", ",", '["', '"]', '"["', "[1"]
    for _ in range(150):
        sides = []
        for _ in range(2):
            before, after = ("".join(rng.choices(pieces, k=rng.randint(0, 2))) for _ in range(2))
            sides.append(before + value + after)
        a, b = sides
        some = {t for t in a.examples(60) if b.accepts(t)} | {t for t in b.examples(60) if a.accepts(t)}
        common = a & b
        try:
            empty = common.is_empty()
        except tokamata.LimitError:
            continue
        assert not (some and empty), (a.source, b.source, some)
        assert empty or any(a.accepts(t) and b.accepts(t) for t in common.examples(1)), (a.source, b.source)
