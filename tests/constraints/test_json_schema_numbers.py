"""Keywords about numbers beside each other, against jsonschema on exact values, for what json.dumps writes."""

from __future__ import annotations

import json
import math
import random
import re
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from jsonschema import validators

import tokamata

SEED = 20261130
SPECIAL = [
    0, 0.0, -0.0, 1, 1.0, -1.0, 0.5, 2.5, 12.0, 100, 0.0001, 1e-5, 1e-7, 1e15, 9999999999999998.0, 1e16, -1e16, 2**53,
    1e22, 123456789012345680.0, 10**20, -(10**20), 5e-324, 1.7976931348623157e308,
]  # fmt: skip
DIVISORS = [1, 2, 3, 5, 7, 10, 12, 64, 100, 0.1, 0.01, 0.5, 0.25, 2.5, 1.0, 1e3, 1e-5, 3e-6, 1e-7, 1e16, 1009]
PLAIN = re.compile("0|-?[1-9][0-9]*")


def _is_number(_: object, value: object) -> bool:
    return isinstance(value, (int, Fraction)) and not isinstance(value, bool)


def _is_integer(_: object, value: object) -> bool:
    return _is_number(_, value) and Fraction(value).denominator == 1  # type: ignore[arg-type]


# Numbers with a fraction or exponent are read as fractions, in schemas, too: floats would round.
Exact = validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("number", _is_number).redefine(
        "integer", _is_integer
    ),
)


def exact(text: str) -> Any:
    return json.loads(text, parse_float=Fraction)


def is_written(constant: object, text: str) -> bool:
    """Whether a text is how a constant may be written in canonical numbers: as json.dumps does, 2.0 also as 2."""
    if isinstance(constant, bool) or not isinstance(constant, (int, float)):
        return False
    value = Fraction(repr(constant))
    return text == json.dumps(constant) or (
        isinstance(constant, float) and value.denominator == 1 and text == str(value.numerator)
    )


def is_member(schema: Any, text: str, canonical: bool, holds: bool = True) -> bool:
    """Whether a number is valid; canonical: what must hold of integers and constants goes by their spelling."""
    for keyword, value in schema.items():
        if keyword == "not":
            ok = not is_member(value, text, canonical, not holds)
        elif keyword in ("allOf", "anyOf"):
            ok = (all if keyword == "allOf" else any)(is_member(s, text, canonical, holds) for s in value)
        else:
            ok = Exact(exact(json.dumps({keyword: value}))).is_valid(exact(text))
            if canonical and holds and keyword == "type":
                ok &= "number" in value or PLAIN.fullmatch(text) is not None
            if canonical and holds and keyword in ("const", "enum"):
                ok = any(is_written(c, text) for c in ([value] if keyword == "const" else value))
        if not ok:
            return False
    return True


def random_number(r: random.Random) -> float:
    return r.choice(
        [
            lambda: r.choice(SPECIAL),
            lambda: r.randint(-20, 20),
            lambda: float(r.randint(-20, 20)),
            lambda: r.randint(-100, 100) / r.choice([2, 4, 8, 10, 100]),
            lambda: r.uniform(-1, 1) * 10.0 ** r.randint(-20, 30),
            lambda: r.randint(-(10 ** r.randint(1, 30)), 10 ** r.randint(1, 30)),
            lambda: r.choice([1, -1]) * r.randint(1, 99) * 10.0 ** r.randint(-10, 22),
        ]
    )()


def random_schema(r: random.Random, numbers: list[float], depth: int = 0) -> dict[str, Any]:
    """A schema, whose numbers are added to some."""
    schema: dict[str, Any] = {}
    bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
    for keyword in ("type", *bounds, "multipleOf", "enum", "const", *(["not", "anyOf", "allOf"] if depth < 2 else [])):
        if r.random() > {"type": 0.4, "not": 0.15, "enum": 0.08, "const": 0.08, "anyOf": 0.08, "allOf": 0.08}.get(
            keyword, 0.18
        ):
            continue
        if keyword == "type":
            schema[keyword] = r.choice(["integer", "integer", "number", ["integer", "null"], ["number", "string"]])
        elif keyword == "not":
            schema[keyword] = random_schema(r, numbers, depth + 1)
        elif keyword in ("anyOf", "allOf"):
            schema[keyword] = [random_schema(r, numbers, depth + 1) for _ in range(r.randint(1, 2))]
        elif keyword == "enum":
            some = [random_number(r) for _ in range(r.randint(1, 4))]
            numbers += some
            schema[keyword] = [*some, *r.choice([[], [True], ["a"], [None]])]
        else:
            other = r.choice(numbers) if numbers and r.random() < 0.3 else random_number(r)
            schema[keyword] = r.choice(DIVISORS) if keyword == "multipleOf" else other
            numbers.append(schema[keyword])
    return schema


def near(number: float) -> list[float]:
    out = [number, -number]
    if abs(number) < 1e300:
        x = float(number)
        out += [
            x,
            number + 1,
            number - 1,
            number * 2,
            int(number),
            math.nextafter(x, math.inf),
            math.nextafter(x, -math.inf),
        ]
    return out


@pytest.mark.parametrize("numbers", ["any", "canonical"])
def test_keywords_beside_each_other(numbers: Any) -> None:
    members = 0
    for seed in range(400):
        r = random.Random(f"{SEED} {seed}")
        named: list[float] = []
        schema = random_schema(r, named)
        try:
            constraint = tokamata.json_schema(json.dumps(schema), numbers=numbers)
        except tokamata.ConstraintError:  # it contradicts itself
            constraint = None
        values = [*SPECIAL, *(random_number(r) for _ in range(20)), *(y for x in named for y in near(x))]
        for value in values:
            text = json.dumps(value)
            expected = is_member(schema, text, numbers == "canonical")
            members += expected
            assert (constraint is not None and constraint.accepts(text)) == expected, (SEED, seed, schema, text)
    assert members > 5_000
