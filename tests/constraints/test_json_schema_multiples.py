"""multipleOf with divisors of any size: what can be extended, arithmetic tells; jsonschema checks the members."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from typing import Any, Literal

import jsonschema
import pytest
from tokamata.automata import UnsupportedError

import tokamata

SEED = 20260713
DIVISORS = (65536, 2**17, 2**20, 65537, 1000003, 123456789012345678)


def has_multiple(prefix: str, divisor: int, low: int, high: int) -> bool:
    """Whether digits can be added to some that make a multiple between two numbers."""
    for digits in range(30):
        least, most = int(prefix) * 10**digits, (int(prefix) + 1) * 10**digits - 1
        first = -(-max(least, low) // divisor) * divisor
        if first <= min(most, high):
            return True
        if prefix == "0":
            return False
    return False


@pytest.mark.parametrize("divisor", DIVISORS)
def test_beginnings_of_multiples_between_bounds(divisor: int) -> None:
    r = random.Random(f"{SEED} {divisor}")
    for _ in range(4):
        low = r.choice([0, r.randrange(10 ** r.randint(1, 12))])
        high = low + divisor * r.randrange(1, 10 ** r.randint(1, 6))
        constraint = tokamata.json_schema({"type": "integer", "multipleOf": divisor, "minimum": low, "maximum": high})
        for _ in range(60):
            some = str(r.randrange(low // divisor, high // divisor + 1) * divisor)
            prefix = some[: r.randint(1, len(some))]
            if r.random() < 0.6:
                prefix = prefix[:-1] + r.choice("0123456789" if len(prefix) > 1 else "123456789")
            assert constraint.accepts_prefix(prefix) == has_multiple(prefix, divisor, low, high), (
                SEED,
                low,
                high,
                prefix,
            )
            valid = low <= int(prefix) <= high and int(prefix) % divisor == 0
            assert constraint.accepts(prefix) == valid, (SEED, low, high, prefix)


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_no_beginning_of_a_multiple_is_a_dead_end(kind: str) -> None:
    for divisor in (*DIVISORS, 1 / 3, 0.1, 1e-7, 3e20):
        schema = {"type": "object", "properties": {"a": {"type": kind, "multipleOf": divisor}}}
        constraint = tokamata.json_schema(schema)
        for text in constraint.examples(10, seed=SEED):
            value = json.loads(text, parse_float=Fraction).get("a", 0)
            assert value % Fraction(repr(divisor)) == 0, (divisor, text)
        assert [e.status for e in constraint.report if e.subject == "multipleOf"] == ["enforced"]


def test_bounds_of_multiples_that_leave_no_number() -> None:
    schema: dict[str, Any] = {"multipleOf": 1000003, "type": "integer", "minimum": 1000004, "maximum": 2000005}
    with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
        tokamata.json_schema(schema)
    schema["maximum"] = 2000006
    assert tokamata.json_schema(schema).examples(3) == [b"2000006"]


def test_divisors_of_many_digits_are_refused_when_the_schema_is_read() -> None:
    text = '{"properties": {"a": {"multipleOf": 0.1234567890123456789}}}'
    with pytest.raises(
        UnsupportedError, match='multipleOf at "/properties/a/multipleOf" cannot be enforced: it has more than 18'
    ):
        tokamata.json_schema(text)
    for negated in (text, '{"properties": {"a": {"not": {"multipleOf": 0.1234567890123456789}}}}'):
        constraint = tokamata.json_schema(negated, lenient=True)
        assert all(constraint.accepts(text) for text in ('{"a": 0.5}', '{"a": 1}'))
        assert [e.status for e in constraint.report if e.subject == "multipleOf"] == ["widened"]


@pytest.mark.parametrize("numbers", ["canonical", "any"])
def test_several_multiples_are_their_least_common_one(numbers: Literal["canonical", "any"]) -> None:
    r = random.Random(SEED)
    for _ in range(30):
        divisors = [r.choice([2, 3, 4, 5, 6, 9, 12, 0.25, 0.1, 1.5, 1e3]) for _ in range(r.randint(2, 4))]
        least = math.lcm(*(int(1000 * Fraction(repr(d))) for d in divisors))
        schema: dict[str, Any] = {"allOf": [{"multipleOf": d} for d in divisors]}
        if r.random() < 0.5:
            schema["type"] = "integer"
            least = math.lcm(1000, least)
        both = tokamata.json_schema(schema, numbers=numbers)
        kind = '"type": "integer", ' if "type" in schema else ""
        one = f'{{{kind}"multipleOf": {least}e-3}}'
        assert both.equivalent(tokamata.json_schema(one, numbers=numbers)), (SEED, schema, one)


def test_large_multiples_in_all_of() -> None:
    schema: dict[str, Any] = {"allOf": [{"multipleOf": d} for d in (65536, 10**6, 3**9)], "type": "integer"}
    least = math.lcm(65536, 10**6, 3**9)
    constraint = tokamata.json_schema(schema)
    assert constraint.accepts(str(7 * least))
    assert not constraint.accepts(str(7 * least // 2))
    # A least common multiple of more digits than are known of one number: the languages meet.
    schema["allOf"] += [{"multipleOf": 7**15}]
    least *= 7**15
    schema["enum"] = [3 * least // d for d in (1, 2, 5, 7, 9)]
    assert tokamata.json_schema(schema).examples(2) == [str(3 * least).encode()]


def test_multiples_that_are_no_others() -> None:
    schema = {
        "type": "integer",
        "allOf": [{"multipleOf": d} for d in (4, 5, 3, 2, 7)],
        "not": {"anyOf": [{"allOf": [{"multipleOf": 9}, {"multipleOf": 7}]}, {"enum": [10500, 10920]}]},
        "exclusiveMinimum": 9999,
        "maximum": 20000,
    }
    constraint = tokamata.json_schema(schema)
    members = [n for n in range(10000, 20001) if n % 420 == 0 and n % 63 and n not in (10500, 10920)]
    assert constraint.count(5) == len(members)
    beginnings = {str(n)[:k] for n in members for k in range(1, 6)}
    assert all(constraint.accepts_prefix(str(n)) == (str(n) in beginnings) for n in range(1, 20001))


def test_members_are_valid() -> None:
    for schema in ({"multipleOf": 65536}, {"type": "integer", "multipleOf": 2.5, "not": {"multipleOf": 25}}):
        constraint = tokamata.json_schema(schema)
        for text in constraint.examples(30, seed=SEED):
            jsonschema.validate(json.loads(text), schema)
