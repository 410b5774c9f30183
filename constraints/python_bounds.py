"""Bounds: what metadata of Annotated asks of a value."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from ..automata.errors import ConstraintError, UnsupportedError
from .constraint import Constraint

_NUMBERS = ("ge", "gt", "le", "lt", "multiple_of")
_LENGTHS = ("min_length", "max_length")
_REFUSED = ("pattern", "func", "max_digits", "decimal_places", "tz")
_FUNCTIONS = ("Predicate", "AfterValidator", "BeforeValidator", "PlainValidator", "WrapValidator")


def _is_number(value: object) -> bool:
    if isinstance(value, Decimal):
        return not value.is_nan()
    return isinstance(value, (int, float)) and value == value


def _is_integral(value: int | float | Decimal) -> bool:
    return math.isfinite(value) and value == int(value)


def _least_float(bound: int | float | Decimal, exclusive: bool) -> float:
    """The least float whose repr is not below the bound; infinite where there is none."""
    exact = _exact(bound)
    found = math.nextafter(float(exact), -math.inf)
    while _exact(found) < exact or (exclusive and _exact(found) == exact):
        found = math.nextafter(found, math.inf)
    return found + 0.0  # no negative zero


def _largest_float(bound: int | float | Decimal, exclusive: bool) -> float:
    """The largest float whose repr is not above the bound; infinite where there is none."""
    return -_least_float(_exact(bound).copy_negate(), exclusive) + 0.0


def _exact(number: int | float | Decimal) -> Decimal:
    return Decimal(repr(number) if isinstance(number, float) else number)


class Bounds:
    """Bounds on numbers and lengths, as annotated_types and pydantic write them; Constraints on the text of numbers."""

    def __init__(self, function: str, place: str) -> None:
        """No bounds; both names are for error texts."""
        self._where = f"{function}: {place}"
        self._found: dict[str, Any] = {}
        self._constraints: list[Constraint] = []

    def add(self, item: Any) -> bool:
        """Take an item of metadata; False for what is not about values."""
        if isinstance(item, Constraint):
            self._constraints.append(item)
            return True
        inside = getattr(item, "metadata", None)
        if isinstance(inside, list):  # pydantic's Field(...)
            taken = [self.add(part) for part in inside]
            return bool(taken) and all(taken)
        found = False
        for name in (*_NUMBERS, *_LENGTHS, *_REFUSED):
            value = getattr(item, name, None)
            if isinstance(item, (str, type)) or value is None or callable(value):
                continue
            if name in _REFUSED:
                raise UnsupportedError(f"{self._where}: {name} cannot be enforced on a Python expression; drop it")
            if name in _NUMBERS and not _is_number(value):
                raise UnsupportedError(
                    f"{self._where}: expected a number as {name}, got {value!r}; pass an int, a float or a Decimal"
                )
            if name in _LENGTHS and not isinstance(value, int):
                raise UnsupportedError(f"{self._where}: expected an int as {name}, got {value!r}; pass one")
            self._join(name, value)
            found = True
        if not found and type(item).__name__ in _FUNCTIONS:
            raise UnsupportedError(
                f"{self._where}: {type(item).__name__} calls a function, which no automaton can; drop it, and check "
                "what parse gives"
            )
        if getattr(item, "__name__", type(item).__name__) == "Json":
            raise UnsupportedError(
                f"{self._where}: Json reads a text of JSON into a value; use the type of the value itself"
            )
        return found

    def _join(self, name: str, value: Any) -> None:
        known = self._found.get(name)
        if known is None:
            self._found[name] = value
        elif name == "multiple_of":
            if not (_is_integral(known) and _is_integral(value)):
                raise UnsupportedError(
                    f"{self._where}: expected several multiple_of as ints, got {known!r} and {value!r}; join them "
                    "into one"
                )
            self._found[name] = math.lcm(int(known), int(value))
        else:
            self._found[name] = max(known, value) if name in ("ge", "gt", "min_length") else min(known, value)

    def _take(self, name: str) -> Any:
        return self._found.pop(name, None)

    def integers(self) -> tuple[int | None, int | None, int | None]:
        """The least and the largest int, and what they are multiples of."""
        ge, gt, le, lt, step = self._numbers()
        lows = [math.ceil(ge)] if ge is not None else []
        lows += [math.floor(gt) + 1] if gt is not None else []
        highs = [math.floor(le)] if le is not None else []
        highs += [math.ceil(lt) - 1] if lt is not None else []
        if step is not None and (not _is_integral(step) or step <= 0):
            raise UnsupportedError(
                f"{self._where}: expected multiple_of as a positive int, got {step!r}; use another one"
            )
        low, high = max(lows, default=None), min(highs, default=None)
        if low is not None and high is not None and low > high:
            raise self._contradictory(low, high)
        return low, high, None if step is None else int(step)

    def _numbers(self) -> tuple[Any, ...]:
        """ge, gt, le, lt, multiple_of; None where there is none, infinite ones that ask for nothing included."""
        found = [self._take(name) for name in _NUMBERS]
        for i, name in enumerate(_NUMBERS[:4]):
            if isinstance(found[i], (float, Decimal)) and math.isinf(found[i]):
                if (found[i] > 0) == name.startswith("g"):
                    raise self._contradictory(*((found[i], None) if name.startswith("g") else (None, found[i])))
                found[i] = None
        return tuple(found)

    def _contradictory(self, low: object, high: object) -> ConstraintError:
        return ConstraintError(
            f"{self._where}: expected bounds with a value between them, got {low} and {high}; widen them"
        )

    def reals(self) -> tuple[str, str] | None:
        """The least and the largest float as JSON numbers; None where nothing is asked.

        What is not below the least float is not rounded to one below it, so what is read keeps the bounds, too.
        """
        ge, gt, le, lt, step = self._numbers()
        if step is not None:
            self._found["multiple_of"] = step
        lows = [_least_float(bound, exclusive) for bound, exclusive in ((ge, False), (gt, True)) if bound is not None]
        highs = [
            _largest_float(bound, exclusive) for bound, exclusive in ((le, False), (lt, True)) if bound is not None
        ]
        low, high = max(lows, default=-math.inf), min(highs, default=math.inf)
        if low > high or low == math.inf or high == -math.inf:
            raise self._contradictory(gt if ge is None else ge, lt if le is None else le)
        if low == -math.inf and high == math.inf:
            return None
        least, most = ("" if math.isinf(bound) else format(_exact(bound), "f") for bound in (low, high))
        return least, most

    def lengths(self) -> tuple[int, int | None]:
        """The least and the largest length."""
        low, high = self._take("min_length") or 0, self._take("max_length")
        if high is not None and low > high:
            raise self._contradictory(low, high)
        return low, high

    def within(self) -> tuple[Constraint, ...]:
        """Constraints on the text."""
        found = tuple(self._constraints)
        self._constraints.clear()
        return found

    def unused(self) -> str:
        """What was not asked for; empty when nothing is left."""
        names = [f"{name}={value!r}" for name, value in self._found.items()]
        return ", ".join(names + [c.source for c in self._constraints])
