"""integer, decimal and number: numbers between bounds, as texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar, cast

from .._core import json_number_range
from ..automata.checks import checked_count, checked_range, cut
from ..automata.errors import ConstraintError
from .constraint import Constraint, Limits, native_limits
from .digits import between
from .regex import regex
from .typed_constraint import TypedConstraint

LARGEST = "1.7976931348623157e+308"  # of all floats
_MOST_DIGITS = 4300  # of an int that Python reads by default
_MOST_PLACES = 1000
_EXPONENTS = r"[-.0-9]*(?:e(?:\+[0-9]{2,3}|-[0-9]{1,2}|-[12][0-9]{2}|-3[01][0-9]|-32[0-4]))?"

Bound = int | float | str | Decimal
T = TypeVar("T")


def integer(
    low: int | None = None, high: int | None = None, *, width: int = 0, limits: Limits | None = None
) -> TypedConstraint[int]:
    """The integers from ``low`` to ``high`` (None: no bound) in decimal digits; ``.parse(text)`` is an int.

    ``width``: zeros in front make shorter numbers so long, a minus sign included, as ``format(n, "03")`` does; without
    it there are no leading zeros. Never ``-0`` or ``+1``; at most 4300 digits where there is no bound, the most that
    Python reads. The automaton has about as many states as the bounds have digits.

    Raises ConstraintError when ``low`` > ``high``, ValueError for bounds of more digits.
    """
    for name, bound in (("low", low), ("high", high)):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise TypeError(f"integer: expected {name} as int or None, got {bound!r}; decimal() takes fractions")
        if bound is not None and abs(bound) >= 10**_MOST_DIGITS:
            raise ValueError(f"integer: expected {name} of at most {_MOST_DIGITS} digits, got {cut(bound)}; pass None")
    if low is not None and high is not None and low > high:
        raise ConstraintError(f"integer: expected low <= high, got low={low}, high={high}; swap them")
    width = checked_range("integer", "width", width, 0, _MOST_DIGITS)
    texts = _unpadded(low, high) if width < 2 else _padded(low, high, width)
    if low is None or high is None:
        texts &= regex(f"-?[0-9]{{1,{_MOST_DIGITS}}}")
    source = f"integer({low}, {high}{f', width={width}' if width else ''})"
    return _named(texts.minimize() if low is not None and high is not None else texts, source, limits, int)


def decimal(
    low: Bound | None = None,
    high: Bound | None = None,
    *,
    places: int | tuple[int, int] = 2,
    limits: Limits | None = None,
) -> TypedConstraint[Decimal]:
    """Decimal numbers from ``low`` to ``high`` (None: no bound); ``.parse(text)`` is a ``Decimal``.

    ``places``: digits after the point, exactly so many or from the first to the second of a pair; without any there is
    no point. Bounds are exact: floats count as their ``repr``. No exponent, no leading zeros, no minus sign before a
    zero. O(digits of the bounds · places) states.

    ``decimal(0, 100, places=2)``: ``0.00`` to ``100.00``. Raises ConstraintError when there is no such number.
    """
    least, most = _places(places)
    bounds = _bounds("decimal", low, high)
    fraction = f"(?:\\.[0-9]{{{max(least, 1)},{most}}})" if most else ""
    shape = f"-?[0-9]+{fraction}{'?' if least == 0 and most else ''}"
    numbers = Constraint(json_number_range(*bounds, False, False, True, False))
    texts = ((numbers & regex(shape)) - regex(r"-0(?:\.0*)?")).minimize()
    if texts.is_empty():
        raise ConstraintError(
            f"decimal: expected bounds with a number between them, got low={low}, high={high} and places={places!r}; "
            "allow more places, or widen the bounds"
        )
    return _named(texts, f"decimal({low}, {high}, places={places})", limits, Decimal)


def number(
    low: Bound | None = None, high: Bound | None = None, *, limits: Limits | None = None
) -> TypedConstraint[int | float]:
    """Numbers from ``low`` to ``high`` (None: the largest floats) as JSON and Python write them.

    Integers, fractions of any length, and exponents as ``repr`` writes floats (``1e-07``, ``1.5e+16``): every finite
    float has its ``repr`` here. Bounds are about the number that is written, before it is rounded to a float.
    ``.parse(text)`` is an int where there is no point and no exponent, else a float.

    Raises ConstraintError when ``low`` > ``high``.
    """
    least, most = _bounds("number", low, high)
    read = cast("Callable[[str], int | float]", json.loads)
    return _named(real_texts(least, most), f"number({low}, {high})", limits, read)


def real_texts(low: str, high: str, low_exclusive: bool = False, high_exclusive: bool = False) -> Constraint:
    """Numbers between two JSON numbers (empty: the largest floats), no exponent below those that floats have."""
    native = json_number_range(low or f"-{LARGEST}", high or LARGEST, low_exclusive, high_exclusive, True, False)
    return (Constraint(native) & regex(_EXPONENTS)).minimize()


def _named(texts: Constraint, source: str, limits: Limits | None, read: Callable[[str], T]) -> TypedConstraint[T]:
    own = native_limits(limits, source.partition("(")[0])
    native = texts._native if own is None else texts._native.with_limits(own)
    return TypedConstraint(Constraint(native, source=source), read)


def _bounds(function: str, low: Bound | None, high: Bound | None) -> tuple[str, str]:
    """Both as JSON numbers without exponent, empty where there is none."""
    found: list[Decimal | None] = []
    for name, bound in (("low", low), ("high", high)):
        if bound is None:
            found.append(None)
            continue
        if isinstance(bound, bool) or not isinstance(bound, (int, float, str, Decimal)):
            raise TypeError(
                f"{function}: expected {name} as int, float, str or Decimal, got {bound!r}; None is no bound"
            )
        try:
            value = Decimal(repr(bound) if isinstance(bound, float) else bound)
        except ArithmeticError:
            raise ConstraintError(
                f"{function}: expected {name} as a number, got {bound!r}; pass an int, a Decimal or its text"
            ) from None
        if not value.is_finite():
            raise ConstraintError(f"{function}: expected {name} as a finite number, got {bound!r}; None is no bound")
        found.append(value)
    if found[0] is not None and found[1] is not None and found[0] > found[1]:
        raise ConstraintError(f"{function}: expected low <= high, got low={low}, high={high}; swap them")
    least, most = ("" if value is None else format(value, "f") for value in found)
    return least, most


def _places(places: int | tuple[int, int]) -> tuple[int, int]:
    """The least and the most digits after the point."""
    pair = places if isinstance(places, (tuple, list)) else (places, places)
    if len(pair) != 2:
        raise TypeError(
            f"decimal: expected places as an int or a pair (least, most), got {places!r}; pass one of these"
        )
    least, most = (checked_count("decimal", "places", value) for value in pair)
    if not 0 <= least <= most <= _MOST_PLACES:
        raise ValueError(
            f"decimal: expected 0 <= least <= most places <= {_MOST_PLACES}, got places={places!r}; pass an int or a "
            "pair (least, most)"
        )
    return least, most


def _unpadded(low: int | None, high: int | None) -> Constraint:
    least, most = ("" if bound is None else str(bound) for bound in (low, high))
    return Constraint(json_number_range(least, most, False, False, True, True))


def _padded(low: int | None, high: int | None, width: int) -> Constraint:
    """As ``format(n, f"0{width}")`` writes them."""
    parts: list[Constraint] = []
    if low is None or low < 0:
        least = 1 if high is None or high >= 0 else -high
        parts.append("-" + _magnitudes(least, None if low is None else -low, width - 1))
    if high is None or high >= 0:
        parts.append(_magnitudes(max(low or 0, 0), high, width))
    return parts[0] if len(parts) == 1 else parts[0] | parts[1]


def _magnitudes(low: int, high: int | None, width: int) -> Constraint:
    """From low >= 0 to high, in ``width`` digits at least."""
    short = 10**width - 1  # the largest with that many digits
    if high is not None and high <= short:
        return regex(between(f"{low:0{width}}", f"{high:0{width}}"))
    if low > short:
        return _unpadded(low, high)
    return regex(between(f"{low:0{width}}", str(short))) | _unpadded(short + 1, high)
