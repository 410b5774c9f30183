"""JSON documents: accepted texts, trees and canonical spellings agree with Python's json on random cases."""

from __future__ import annotations

import json
import random
import re
import sys
from decimal import Decimal
from typing import Any

import pytest
from tokamata.automata.errors import ConstraintError, LimitError

from tokamata._core import JsonDocument


def parse(text: str | bytes, **options: Any) -> JsonDocument:
    return JsonDocument.parse(text.encode() if isinstance(text, str) else text, **options)


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def random_text(rng: random.Random) -> str:
    return "".join(
        rng.choice(['"', "\\", "/", "\n", "\x00", "\x1f", "a", "b", "~", "~1", " ", "é", "☃", "😀", "\x7f", "\u2028"])
        for _ in range(rng.randrange(8))
    )


def random_value(rng: random.Random, depth: int = 4) -> Any:
    kind = rng.randrange(8 if depth else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([0, -1, 12, 10**30, -(10**16), rng.randrange(-(10**6), 10**6)])
    if kind == 2:
        return rng.choice(
            [0.5, -0.0, 1e16, 1e-5, 123456.75, 1e22, 5e-324, 1.7976931348623157e308, rng.uniform(-9, 9), 1e15, 0.0001]
        )
    if kind < 6:
        return random_text(rng)
    if kind == 6:
        return [random_value(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 3, 12]))]
    return {random_text(rng): random_value(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 5, 9, 30]))}


@pytest.mark.parametrize("seed", range(200))
def test_values_are_written_back_as_json_dumps_writes_them(seed: int) -> None:
    rng = random.Random(seed)
    value = random_value(rng)
    for text in (
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, indent=rng.choice([None, 1, 4])),
        json.dumps(value, separators=(",\r\n\t", " :  ")),
    ):
        assert parse(text).text() == compact(value), seed


@pytest.mark.parametrize("seed", range(60))
def test_pointers_lead_to_their_nodes(seed: int) -> None:
    rng = random.Random(seed)
    value = random_value(rng)
    document = parse(json.dumps(value))
    pointers = document.pointers()
    assert len(pointers) == len(document) == len(set(pointers))
    for pointer in rng.sample(pointers, min(40, len(pointers))):
        found: Any = value
        for step in pointer.split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            found = found[int(step)] if isinstance(found, list) else found[step]
        assert document.text(pointer) == compact(found), (seed, pointer)


@pytest.mark.parametrize("seed", range(300))
def test_damaged_texts_are_refused_exactly_where_json_refuses_them(seed: int) -> None:
    rng = random.Random(seed)
    text = list(json.dumps(random_value(rng, 3), indent=rng.choice([None, 2])))
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(len(text) + 1)
        text[at : at + rng.randrange(3)] = rng.choices(
            list('{}[]":,\\0123456789.eE+-tfn /u\n\t\x01é'), k=rng.randrange(3)
        )
    damaged = re.sub(r"([eE][+-]?\d{8})\d+", r"\1", "".join(text))

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("duplicate")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        value = json.loads(damaged, object_pairs_hook=members, parse_constant=refuse)
    except ValueError:
        with pytest.raises(ConstraintError, match=r"^json: line \d+, column \d+: expected "):
            parse(damaged)
        return
    assert json.loads(parse(damaged).text()) == value, seed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected a value, got the end of the text"),
        ("[1,]", "line 1, column 4: expected a value, got ']'"),
        ('{"a": 1,}', "line 1, column 9: expected a key in double quotes, got '}'"),
        ("{'a': 1}", "line 1, column 2: expected a key in double quotes, got a single quote"),
        ('{"é": 1 "b": 2}', 'line 1, column 9: expected "," or "}", got \'"\''),
        ('{\n  "a": 01}', "line 2, column 8: expected a number without leading zeros"),
        ("[NaN]", "line 1, column 2: expected a value, got 'N'"),
        ("[1.]", "line 1, column 4: expected a digit after the decimal point, got ']'"),
        ("1e", "expected a digit in an exponent, got the end of the text"),
        ('"\\x"', "line 1, column 2: expected one of"),
        ('"\\u12g4"', "line 1, column 2: expected four hexadecimal digits"),
        ('"a\nb"', "line 1, column 3: expected a string on one line"),
        ('"abc', "line 1, column 5: expected a closing"),
        ("1 2", "line 1, column 3: expected the end of the text, got '2'"),
        ('{"a": 1, "b": 2, "\\u0061": 3}', 'line 1, column 18: expected different keys in an object, got "a" twice'),
        ("\ufeff{}", "a byte order mark; decode the file as utf-8-sig"),
    ],
)
def test_errors_name_line_column_and_what_is_expected(text: str, message: str) -> None:
    with pytest.raises(ConstraintError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_duplicate_keys_of_large_objects_are_found() -> None:
    keys = [f"key{i}" for i in range(500)]
    for twice in (0, 250, 499):
        text = "{" + ", ".join(f'"{key}": 1' for key in [*keys, keys[twice]]) + "}"
        with pytest.raises(ConstraintError, match=f'got "{keys[twice]}" twice'):
            parse(text)


@pytest.mark.parametrize(
    "text", [b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x98"', b'"\\n\xff"']
)
def test_bytes_that_are_not_utf8_are_refused(text: bytes) -> None:
    with pytest.raises(ConstraintError, match="expected UTF-8, got a byte that is not"):
        parse(text)


def test_limits_are_named() -> None:
    assert len(parse("[" * 9_999 + "]" * 9_999)) == 9_999
    with pytest.raises(
        LimitError,
        match=r"the limit depth=10000 was reached at line 1, column 10001: arrays and objects nest.*names that \$ref",
    ):
        parse("[" * 1_000_000)
    with pytest.raises(LimitError, match="depth=3"):
        parse('{"a": [{"b": [1]}]}', depth=3)
    with pytest.raises(LimitError, match="exponent=1000000000"):
        parse("[1e1000000001]")
    deep = parse('{"a":' * 9_000 + "1" + "}" * 9_000)
    assert deep.equal(deep)
    assert deep.text() == b'{"a":' * 9_000 + b"1" + b"}" * 9_000
    assert deep.pointers()[-1] == "/a" * 9_000


def test_surrogate_escapes() -> None:
    assert parse('"\\ud83d\\ude00"').text() == '"😀"'.encode()
    assert parse('"\\ud83d"').text() == b'"\\ud83d"'
    assert parse('"\\ude00\\ud83d\\u0041"').text() == b'"\\ude00\\ud83dA"'


@pytest.mark.parametrize("seed", range(300))
def test_numbers_are_compared_by_exact_value(seed: int) -> None:
    rng = random.Random(seed)

    def number() -> str:
        text = rng.choice(["", "-"]) + rng.choice(["0", "1", "10", "100", "12", "120"])
        text += rng.choice(["", ".0", ".5", ".50", ".00", ".05"])
        return text + rng.choice(["", "e0", "E1", "e-1", "e+2", "e-02"])

    a, b = number(), number()
    same = Decimal(a) == Decimal(b)
    assert parse(a).equal(parse(b)) == same, (a, b)
    if same:
        assert parse(a).hash() == parse(b).hash()
    if any(c in a for c in ".eE"):
        assert parse(a).text().decode() == repr(float(a))


@pytest.mark.parametrize("seed", range(200))
def test_floats_are_spelled_as_python_spells_them(seed: int) -> None:
    rng = random.Random(seed)
    value = rng.choice([1, -1]) * rng.random() * 10.0 ** rng.randrange(-300, 300)
    assert parse(repr(value)).text().decode() == json.dumps(value)
    rounded = f"{value:.3e}"
    assert parse(rounded).text().decode() == json.dumps(float(rounded))


def test_numbers_beyond_doubles_keep_their_spelling() -> None:
    for text in ("1e400", "-1e-400", "0.10000000000000000001", "12345678901234567890.5"):
        assert parse(text).text().decode() == text
    assert parse("-0").text() == b"0"
    assert parse("123456789012345678901234567890").text() == b"123456789012345678901234567890"


@pytest.mark.parametrize("seed", range(100))
def test_equality_ignores_order_and_spelling_only(seed: int) -> None:
    rng = random.Random(seed)

    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            return [shuffled(v) for v in value]
        if isinstance(value, dict):
            items = [(k, shuffled(v)) for k, v in value.items()]
            rng.shuffle(items)
            return dict(items)
        return value

    value, other = random_value(rng), random_value(rng)
    a, b, c = parse(json.dumps(value)), parse(json.dumps(shuffled(value), ensure_ascii=False)), parse(json.dumps(other))
    assert a.equal(b)
    assert a.hash() == b.hash()

    def strict(value: Any) -> Any:  # Python's True == 1 must not count
        if isinstance(value, dict):
            return ("object", frozenset((k, strict(v)) for k, v in value.items()))
        if isinstance(value, list):
            return ("array", tuple(map(strict, value)))
        return (isinstance(value, bool), value)

    assert a.equal(c) == (strict(value) == strict(other))


def test_recursion_limit_of_python_does_not_matter() -> None:
    depth = sys.getrecursionlimit() * 3
    assert len(parse("[" * depth + "]" * depth)) == depth
