"""Languages of JSON numbers against Python's exact arithmetic, text by text."""

from __future__ import annotations

import json
import math
import random
import re
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import pytest
from tokamata.automata import LimitError, UnsupportedError

import tokamata
from tokamata._core import (
    json_number,
    json_number_compare,
    json_number_is_multiple,
    json_number_range,
)

SEED = 20250

GRAMMAR = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
NORMALIZED = r"[1-9](\.[0-9]{0,16}[1-9])?"
ANY = re.compile(
    r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?0*[0-2])?"
    rf"|-?{NORMALIZED}[eE][+-]?[0-9]+"
    r"|-?0(\.0+)?[eE][+-]?[0-9]+"
)
CANONICAL = re.compile(
    r"(-?[1-9][0-9]*|0)(\.[0-9]+)?|-0\.[0-9]+"
    rf"|-?{NORMALIZED}e(\+(1[6-9]|[2-9][0-9]|[1-9][0-9][0-9])|-(0?[5-9]|[1-9][0-9]{{1,2}}))"
)


def value(text: str) -> Fraction:
    """The exact value of a number text (exponents are small here)."""
    return Fraction(text)


def in_universe(text: str, canonical: bool) -> bool:
    """Whether the header's universe has the text."""
    return (CANONICAL if canonical else ANY).fullmatch(text) is not None


def is_integer(text: str, canonical: bool) -> bool:
    """Integers by spelling (canonical) or by value."""
    return re.fullmatch(r"0|-?[1-9][0-9]*", text) is not None if canonical else value(text).denominator == 1


def random_text(r: random.Random) -> str:
    """A number text, often of the universe, with few distinct digits so that values meet bounds."""
    digits = r.choice(["01", "05", "0123456789", "09", "19"])
    whole = "".join(r.choice(digits) for _ in range(r.choice([1, 1, 2, 3, 4, 6])))
    text = (whole.lstrip("0") or "0") if r.random() < 0.95 else whole
    if r.random() < 0.5:
        text += "." + "".join(r.choice(digits) for _ in range(r.choice([1, 1, 2, 3, 5])))
    if r.random() < 0.4:
        zeros = r.choice(["", "", "0", "00"])
        text += r.choice("eE") + r.choice(["", "+", "-"]) + zeros + str(r.choice([0, 1, 2, 3, 5, 7, 16, 17, 20, 25]))
    return ("-" if r.random() < 0.4 else "") + text


def random_bound(r: random.Random) -> str:
    """A valid number text of moderate size."""
    while True:
        text = random_text(r)
        if GRAMMAR.fullmatch(text):
            return text


def texts_near(r: random.Random, bounds: list[str], n: int) -> list[str]:
    """Random texts and spellings of the bounds and their neighbours."""
    out = [random_text(r) for _ in range(n)]
    for bound in bounds:
        if not bound:
            continue
        v = value(bound)
        for step in (Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 10), Fraction(-1, 1000)):
            w = v + step
            for places in (0, 1, 4):
                scaled = round(abs(w) * 10**places)
                whole = str(scaled // 10**places)
                fraction = "." + str(scaled % 10**places).zfill(places) if places else ""
                sign = "-" if w < 0 or (w == 0 and r.random() < 0.5) else ""
                out.append(sign + whole + fraction)
                for x in (0, 1, -1, 2, -2):
                    shifted = round(abs(w) * 10**4 / Fraction(10) ** x)
                    out.append(f"{sign}{shifted // 10**4}.{shifted % 10**4:04d}e{x}")
            if w:
                mantissa, _, exponent = f"{float(abs(w)):.6e}".partition("e")
                trimmed = mantissa.rstrip("0").rstrip(".")
                out.append(f"{sign}{trimmed}e{int(exponent):+03d}")
                out.append(f"{sign}{trimmed}E{int(exponent)}")
    return [t for t in out if GRAMMAR.fullmatch(t)]


@pytest.mark.parametrize("canonical", [False, True])
def test_universe(canonical: bool) -> None:
    r = random.Random(SEED)
    number, integer, grammar = (json_number(k, "", canonical) for k in ("number", "integer", "grammar"))
    for _ in range(20000):
        text = random_text(r)
        valid = GRAMMAR.fullmatch(text) is not None
        assert grammar.accepts(text.encode()) == valid, text
        expected = in_universe(text, canonical)
        assert number.accepts(text.encode()) == expected, text
        assert integer.accepts(text.encode()) == (expected and is_integer(text, canonical)), text


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("canonical", [False, True])
def test_ranges(canonical: bool, integers: bool) -> None:
    for seed in range(250):
        r = random.Random(SEED + seed)
        low, high = random_bound(r), random_bound(r)
        if r.random() < 0.3:
            high = low + r.choice(["1", "9", "01"]) if "e" not in low.lower() else low
        if value(low) > value(high) and r.random() < 0.9:
            low, high = high, low
        low, high = r.choice([(low, high), (low, high), (low, ""), ("", high)])
        exclusive = r.random() < 0.5, r.random() < 0.5
        language = json_number_range(low, high, *exclusive, canonical, integers)
        for text in texts_near(r, [low, high], 100):
            v = value(text)
            expected = in_universe(text, canonical)
            expected &= not low or (v > value(low) if exclusive[0] else v >= value(low))
            expected &= not high or (v < value(high) if exclusive[1] else v <= value(high))
            expected &= not integers or is_integer(text, canonical)
            assert language.accepts(text.encode()) == expected, (seed, low, high, exclusive, text)


QUOTIENTS = [
    "1", "2", "3", "5", "7", "8", "10", "12", "100", "60", "1000", "0.1", "0.01", "0.001", "0.5", "0.25", "0.05",
    "0.3", "1.5", "2.5", "0.125", "1e1", "3e2", "7e-3", "1e-8", "1e16", "2.50", "0.0001", "40",
    "65536", "1048576", "1000003", "0.3333333333333333", "6.5536", "123456789012345678",
]  # fmt: skip


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("canonical", [False, True])
def test_multiples(canonical: bool, integers: bool) -> None:
    for q in QUOTIENTS:
        r = random.Random(f"{SEED} {q}")
        language = json_number("multiple", q, canonical, integers)
        near = [format(r.randint(0, 2000) * Decimal(q), "f") for _ in range(5)]
        texts = texts_near(r, near, 400)
        texts += [f"{float(value(q) * k / 10**j):.4f}" for k in range(-20, 20) for j in (0, 1)]
        texts += [f"{m}e{x}" for m in ("1", "1.5", "1.25", "3", "1.05", "2.1", "1.0000001") for x in range(-12, 24)]
        texts += [f"{m}e{x:+03d}" for m in ("1", "1.5", "1.25", "3", "2.1", "1.0000001") for x in range(-12, 24)]
        hits = 0
        for text in texts:
            expected = in_universe(text, canonical) and value(text) % value(q) == 0
            expected &= not integers or is_integer(text, canonical)
            hits += expected
            assert language.accepts(text.encode()) == expected, (q, text)
            assert json_number_is_multiple(text, q) == (value(text) % value(q) == 0), (q, text)
        assert hits


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("canonical", [False, True])
def test_multiples_between_bounds(canonical: bool, integers: bool) -> None:
    hits = 0
    for seed in range(120):
        r = random.Random(SEED + seed)
        q = r.choice([*QUOTIENTS, "1e-6", "1e5", "0.75", "128", "625", "1.024e3", "7e17"])
        some = r.choice([value(random_bound(r)) // value(q) * value(q), value(q) * r.randint(-30, 30)])
        while True:
            texts = [random_bound(r), f"{float(some)!r}", f"{float(some + value(q) * r.randint(0, 40))!r}"]
            low, high = r.choice([(texts[1], texts[2]), (texts[0], texts[1]), (texts[1], ""), ("", texts[1])])
            if not low or not high or value(low) <= value(high) or r.random() < 0.1:
                break
        exclusive = r.random() < 0.4, r.random() < 0.4
        language = json_number_range(low, high, *exclusive, canonical, integers, q)
        steps = [some + value(q) * k for k in (-2, -1, 0, 1, 2, 3)]
        near = [t for t in (low, high, *(f"{float(v)!r}" for v in steps)) if t]
        for text in texts_near(r, near, 50):
            v = value(text)
            expected = in_universe(text, canonical) and v % value(q) == 0
            expected &= not low or (v > value(low) if exclusive[0] else v >= value(low))
            expected &= not high or (v < value(high) if exclusive[1] else v <= value(high))
            expected &= not integers or is_integer(text, canonical)
            hits += expected
            assert language.accepts(text.encode()) == expected, (SEED, seed, q, low, high, exclusive, text)
    assert hits > 500


def test_multiples_above_nines() -> None:
    for low, high, q, members in (
        ("9", "12", "2", ["10", "12"]),
        ("99.5", "104", "4", ["100", "104"]),
        ("0.99", "1.01", "0.01", ["1", "1.00", "1.01"]),
        ("-10", "-9", "3", []),
        ("-1000", "-99", "900", ["-900"]),
    ):
        language = json_number_range(low, high, True, False, True, False, q)
        for text in (*members, "0", "2", "3", "9", "99", "0.9", "-9", "-99", "-90", "-1000"):
            expected = text in members or (text, high) == ("-9", "-9")
            assert language.accepts(text.encode()) == expected, (low, high, q, text)


def spellings(v: Fraction, canonical: bool, integers: bool) -> list[str]:
    """Digits that all texts of a value are beginnings of, before an exponent, with zeros at the end of fractions."""
    minus = ["-"] if v < 0 else ["", "-"] if v == 0 else [""]
    out = []
    for x in (0,) if canonical else range(-2, 3):
        whole, fraction = divmod(abs(v) * 10**30 / Fraction(10) ** x, 10**30)
        digits = str(whole) if canonical and integers else f"{whole}.{int(fraction):030}"
        out += [sign + digits for sign in minus if not (canonical and integers and v == 0 and sign)]
    if v and not (canonical and integers):
        x = next(x for x in range(-40, 40) if 1 <= abs(v) / Fraction(10) ** x < 10)
        mantissa = format(Decimal(int(abs(v) / Fraction(10) ** (x - 30))).scaleb(-30), "f").rstrip("0").rstrip(".")
        if len(mantissa) <= 19 and (x >= 16 or x <= -5 or not canonical):
            out.append(minus[0] + mantissa)
    return out


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("canonical", [False, True])
def test_multiples_between_bounds_have_no_dead_ends(canonical: bool, integers: bool) -> None:
    dead = 0
    for seed in range(150):
        r = random.Random(f"{SEED} {seed}")
        q = r.choice(["1", "2", "3", "7", "8", "12", "25", "64", "96", "125", "1024", "99991"])
        q += f"e{r.choice([0, 0, 0, 1, -1, -2, -6, 3, 15])}"
        first = r.choice([0, -3, r.randint(-2000, 2000), 10 ** r.randint(1, 9), r.randrange(10**9)])
        last = first + r.choice([0, 1, 5, 30, 100])
        low, high = (f"{Decimal(q) * first:f}", f"{Decimal(q) * last:f}")
        exclusive = r.random() < 0.3, r.random() < 0.3
        members = [value(q) * n for n in range(first + exclusive[0], last + 1 - exclusive[1])]
        if integers:
            members = [v for v in members if v.denominator == 1]
        texts = [text for v in members for text in spellings(v, canonical, integers)]
        language = json_number_range(low, high, *exclusive, canonical, integers, q)
        for _ in range(60):
            text = r.choice(texts)[: r.randint(1, 25)] if texts else "1"
            if r.random() < 0.8:
                i = r.randrange(len(text))
                text = text[:i] + r.choice("0123456789") + r.choice([text[i + 1 :], ""])
            expected = any(t.startswith(text) for t in texts)
            dead += not expected
            assert (language.viable_prefix(text.encode()) == len(text)) == expected, (SEED, seed, q, low, high, text)
    assert dead > 1000


@pytest.mark.parametrize("canonical", [False, True])
def test_values(canonical: bool) -> None:
    for seed in range(100):
        r = random.Random(SEED + seed)
        number = random_bound(r)
        language = json_number("value", number, canonical)
        hits = 0
        for text in texts_near(r, [number], 20):
            expected = in_universe(text, canonical) and value(text) == value(number)
            hits += expected
            assert language.accepts(text.encode()) == expected, (seed, number, text)
        written = json.dumps(json.loads(number))
        if value(written) == value(number) and in_universe(written, canonical):
            assert language.accepts(written.encode()), (number, written)


def test_json_dumps_is_in_the_universe() -> None:
    r = random.Random(SEED)
    for canonical in (False, True):
        number = json_number("number", "", canonical)
        for _ in range(3000):
            x = r.choice(
                [r.uniform(-10, 10), r.uniform(-1, 1) * 10.0 ** r.randint(-300, 300), float(r.randint(-99, 99))]
            )
            for text in (json.dumps(x), json.dumps(r.randint(-(10**30), 10**30))):
                assert number.accepts(text.encode()), text


def test_comparison() -> None:
    r = random.Random(SEED)
    for _ in range(5000):
        a, b = random_bound(r), random_bound(r)
        order = json_number_compare(a, b)
        assert (order > 0) - (order < 0) == (value(a) > value(b)) - (value(a) < value(b)), (a, b)


@pytest.mark.parametrize("canonical", [False, True])
def test_far_bounds(canonical: bool) -> None:
    far = json_number_range("-1e308", "1.7976931348623157e308", False, False, canonical)
    for text, expected in [
        ("1" + "0" * 308, True),
        ("1797693134862315" + "0" * 293, True),
        ("18" + "0" * 307, False),
        ("-1" + "0" * 308, True),
        ("-1" + "0" * 307 + "1", False),
        ("1.7976931348623157e+308", True),
        ("1.7976931348623158e+308", False),
        ("9.9e+307", True),
        ("0.0", True),
    ]:
        assert far.accepts(text.encode()) == expected, text
    tiny = json_number_range("1e-400", "1e400", True, True, canonical)
    for text, expected in [
        ("0." + "0" * 399 + "1", False),
        ("0." + "0" * 399 + "11", True),
        ("0." + "0" * 390 + "1", True),
        ("1" + "0" * 399, True),
        ("1" + "0" * 400, False),
        ("9" * 400 + ".9", True),
        ("0", False),
    ]:
        assert tiny.accepts(text.encode()) == expected, text
    assert json_number_range("1e999999999", "", False, False, canonical).accepts(b"12") is False


def test_limits() -> None:
    with pytest.raises(LimitError, match="exponent=1000000000"):
        json_number_range("1e1000000001", "", False, False, True)
    with pytest.raises(UnsupportedError, match=r"at most 18 significant digits .* got 1234567890123456789; round it"):
        json_number("multiple", "1234567890123456789", True)
    with pytest.raises(LimitError, match="digits=18"):
        json_number_is_multiple("1", "1234567890123456789")
    with pytest.raises(ValueError, match="above zero"):
        json_number("multiple", "0", True)


@pytest.mark.parametrize("numbers", ["canonical", "any"])
def test_examples_are_numbers_that_readers_have(numbers: Literal["canonical", "any"]) -> None:
    for schema in ({"type": "number"}, {"type": ["number", "array"], "items": {"type": "number"}}, True):
        texts = tokamata.json_schema(schema, numbers=numbers).examples(300)
        assert len(set(texts)) == 300
        assert [t for t in texts if "Infinity" in json.dumps(json.loads(t))] == []
    large = tokamata.json_schema('{"type": "number", "minimum": 1e400}', numbers=numbers)
    assert [float(text) for text in large.examples(5)] == [math.inf] * 5
