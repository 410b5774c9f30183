"""integer, decimal, number: exactly the texts that Python's formatting gives for the numbers between the bounds."""

from __future__ import annotations

import json
import math
import random
from decimal import Decimal

import pytest
from tokamata.constraints.digits import between

import tokamata

SEED = 20_261_121


def test_integers_between_bounds() -> None:
    generator = random.Random(SEED)
    for case in range(60):
        low, high = sorted(
            generator.randrange(-(10 ** generator.randrange(5)), 10 ** generator.randrange(5)) for _ in "ab"
        )
        constraint = tokamata.integer(low, high)
        edges = {low - 1, low, high, high + 1, 0, -low, *(generator.randrange(-2000, 2000) for _ in range(50))}
        for value in edges:
            assert constraint.accepts(str(value)) == (low <= value <= high), (case, low, high, value)
        for text in constraint.examples(20, seed=case):
            assert low <= constraint.parse(text) <= high
            assert str(int(text)) == text.decode()
        if high - low < 3000:
            assert sum(constraint.count(length) for length in range(1, 7)) == high - low + 1


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 99), (-12, 1203), (5, 5), (None, 30), (-40, None), (100, 2000), (-9, -3)]
)
def test_padded_integers(low: int | None, high: int | None, width: int) -> None:
    constraint = tokamata.integer(low, high, width=width)
    for value in range(-1300, 2300):
        inside = (low is None or value >= low) and (high is None or value <= high)
        text = format(value, f"0{width}")
        assert constraint.accepts(text) == inside, text
        assert not constraint.accepts("0" + text) or len(text) < width
        assert not inside or constraint.parse(text) == value


def test_unbounded_integers_are_those_that_python_reads() -> None:
    constraint = tokamata.integer(low=10)
    assert constraint.accepts("9" * 4300)
    assert not constraint.accepts("9" * 4301)
    assert [text for text in ("9", "10", "-10", "-0", "+11", "011", "") if constraint.accepts(text)] == ["10"]


@pytest.mark.parametrize("places", [0, 1, 2, (0, 2), (1, 3)])
def test_decimals(places: int | tuple[int, int]) -> None:
    generator = random.Random(SEED)
    least, most = (places, places) if isinstance(places, int) else places
    for case in range(25):
        low, high = sorted(Decimal(generator.randrange(-5000, 5000)).scaleb(-generator.randrange(4)) for _ in "ab")
        low, high = low - 1, high + 1
        constraint = tokamata.decimal(low, high, places=places)
        for _ in range(100):
            digits = generator.randrange(5)
            value = Decimal(generator.randrange(-6000, 6000)).scaleb(-digits)
            if value == 0:
                continue
            inside = low <= value <= high and least <= digits <= most
            assert constraint.accepts(format(value, "f")) == inside, (case, low, high, value)
        for text in constraint.examples(20, seed=case):
            value = constraint.parse(text)
            assert low <= value <= high, (case, text)
            assert format(value, "f") == text.decode()
            assert -least >= value.as_tuple().exponent >= -most  # type: ignore[operator]


def test_decimals_have_no_minus_before_zero() -> None:
    constraint = tokamata.decimal(-1, 1, places=(0, 2))
    texts = ("0", "0.0", "0.00", "-0", "-0.0", "-0.00", "-0.01", "1.00", "1.01", "01", ".5", "1.", "1e0")
    assert [t for t in texts if constraint.accepts(t)] == ["0", "0.0", "0.00", "-0.01", "1.00"]
    assert tokamata.decimal("0.1", 0.3, places=1).count(3) == 3


def test_numbers() -> None:
    generator = random.Random(SEED)
    everything, probability = tokamata.number(), tokamata.number(0, 1)
    for case in range(500):
        value = generator.choice(
            [generator.uniform(-2, 2), generator.lognormvariate(0, 200), generator.randrange(-9, 9)]
        )
        assert everything.accepts(repr(value)), (case, value)
        assert probability.accepts(repr(value)) == (0 <= value <= 1), (case, value)
        assert everything.parse(repr(value)) == value
        assert type(everything.parse(repr(value))) is type(value)
    for edge in (1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -2.2250738585072014e-308):
        assert everything.accepts(repr(edge))
    assert not any(everything.accepts(text) for text in ("1e309", "1.8e+308", "9" * 310, "1e-999", "NaN", "inf"))
    for seed in range(5):
        for text in everything.examples(50, seed=seed):
            assert math.isfinite(json.loads(text)), (seed, text)


def test_between_is_the_order_of_texts() -> None:
    generator = random.Random(SEED)
    for case in range(200):
        length = generator.randrange(1, 5)
        low, high = sorted(f"{generator.randrange(10**length):0{length}}" for _ in "ab")
        if generator.random() < 0.5:
            low, high = (text[: length // 2] + ":" + text[length // 2 :] for text in (low, high))
        constraint = tokamata.regex(between(low, high))
        assert constraint.count(len(low)) == int(high.replace(":", "")) - int(low.replace(":", "")) + 1, (
            case,
            low,
            high,
        )
        assert all(low <= text.decode() <= high for text in constraint.examples(10, seed=case))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tokamata.integer(3, 2), ValueError, "integer: expected low <= high, got low=3, high=2"),
        (lambda: tokamata.integer(0.5), TypeError, r"integer: expected low as int or None, got 0.5; decimal\(\) takes"),
        (lambda: tokamata.integer(width=-1), ValueError, "integer: expected 0 <= width <= 4300, got -1"),
        (
            lambda: tokamata.decimal(0.2, 0.8, places=0),
            ValueError,
            "expected bounds with a number between them, got low=0.2, high=0.8 and places=0; allow",
        ),
        (lambda: tokamata.decimal(places=(3, 2)), ValueError, r"expected 0 <= least <= most places <= 1000, got"),
        (lambda: tokamata.decimal("x"), ValueError, "decimal: expected low as a number, got 'x'"),
        (lambda: tokamata.number(high=math.inf), ValueError, "number: expected high as a finite number, got inf; None"),
        (lambda: tokamata.number(True), TypeError, "number: expected low as int, float, str or Decimal, got True"),
    ],
)
def test_errors(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()  # type: ignore[operator]
