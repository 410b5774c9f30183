"""write_json: what json.dumps writes, or None where values need more care."""

from __future__ import annotations

import json
import random
from collections import OrderedDict
from enum import IntEnum

import pytest

from tokamata._core import write_json

SEED = 20260711


def dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def random_text(rng: random.Random) -> str:
    pool = 'ab"\\/\b\f\n\r\t\x00\x1f\x7f\x80é\u2028\ufffd\ud7ff\ue000𐍈\U0010ffff'
    plain = "plain text, read by words of eight bytes"
    return "".join(rng.choice(pool) + rng.choice(["", plain[rng.randrange(40) :]]) for _ in range(rng.randrange(12)))


def random_value(rng: random.Random, depth: int) -> object:
    kind = rng.randrange(10 if depth else 7)
    if kind < 2:
        return random_text(rng)
    if kind == 2:
        return rng.choice([None, True, False])
    if kind == 3:
        return rng.choice([0, -1, 1, 2**63 - 1, -(2**63), rng.randrange(-(10**9), 10**9)])
    if kind < 7:
        return rng.choice(
            [
                0.0,
                -0.0,
                1.0,
                0.1,
                1e16,
                1e-5,
                5e-324,
                1.7976931348623157e308,
                rng.random() * 10 ** rng.randrange(-20, 20),
            ]
        )
    if kind == 7:
        return {random_text(rng): random_value(rng, depth - 1) for _ in range(rng.randrange(5))}
    values = [random_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    return values if kind == 8 else tuple(values)


def test_writes_what_json_dumps_writes() -> None:
    rng = random.Random(SEED)
    for i in range(3000):
        value = random_value(rng, 4)
        assert write_json(value) == dumped(value), f"seed {SEED}, case {i}: {value!r}"


class Number(IntEnum):
    ONE = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        OrderedDict(a=1),
        {1: 2},
        {None: 2},
        {Text("a"): 1},
        [Text("a")],
        Number.ONE,
        2**63,
        -(2**63) - 1,
        float("nan"),
        float("inf"),
        "\ud800",
        {"\udfff": 1},
        {1, 2},
        b"a",
        pytest.param(object(), id="object()"),
    ],
    ids=repr,
)
def test_leaves_the_rest_alone(value: object) -> None:
    assert write_json(value) is None
    assert write_json([value]) is None


def test_deep_and_circular_values_are_left_alone() -> None:
    def nested(depth: int) -> list[object]:
        value: list[object] = []
        for _ in range(depth - 1):
            value = [value]
        return value

    assert write_json(nested(200)) == b"[" * 200 + b"]" * 200
    assert write_json(nested(201)) is None
    circle: dict[str, object] = {}
    circle["a"] = [circle]
    assert write_json(circle) is None
