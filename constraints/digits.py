"""Digits in fixed places: texts between two others of the same shape; decimal numbers between two others."""

from __future__ import annotations

from decimal import Decimal

from ..automata.errors import ConstraintError

_FRACTION = r"(?:\.[0-9]+)?"


def between(low: str, high: str) -> str:
    """A regular expression for the texts from low to high: digits where both have digits, else what both have.

    Both have the same length; the order is that of the texts, so that of the numbers and times they write.
    O(length²) characters. Raises ConstraintError when low comes after high.
    """
    if low > high:
        raise ConstraintError(f"expected low <= high, got {low} and {high}; swap them")
    n = len(low)
    anything = [_anything(low[i:]) for i in range(n + 1)]
    first = next((i for i in range(n) if low[i] != high[i]), n)
    if first == n:
        return _literal(low)
    parts = []
    if ord(high[first]) - ord(low[first]) > 1:
        middle = f"[{chr(ord(low[first]) + 1)}-{chr(ord(high[first]) - 1)}]"
        parts.append(middle + anything[first + 1])
    # each side is a list of texts that leave the bound at one place, and the bound itself
    for bound, away in ((low, "9"), (high, "0")):
        parts.append(_literal(bound[first:]))
        for i in range(first + 1, n):
            digit = bound[i]
            if not digit.isdigit() or digit == away:
                continue
            others = f"[{chr(ord(digit) + 1)}-9]" if away == "9" else f"[0-{chr(ord(digit) - 1)}]"
            parts.append(_literal(bound[first:i]) + others + anything[i + 1])
    return f"{_literal(low[:first])}(?:{'|'.join(parts)})"


def decimals_between(low: Decimal | None, low_open: bool, high: Decimal | None, high_open: bool) -> str:
    """A regular expression for the decimal numbers between two (None: no bound), in any number of places.

    ``open``: whether the bound itself is excluded. No exponent and no leading zeros; zero may have a minus sign. It
    matches nothing where there is no such number. O(digits²) characters.
    """
    parts = []
    if high is None or high > 0 or (high == 0 and not high_open):
        parts.append(_numerals(low if low is not None and low >= 0 else None, low_open, high, high_open))
    if low is None or low < 0 or (low == 0 and not low_open):
        least = -high if high is not None and high <= 0 else None
        parts.append("-" + _numerals(least, high_open, None if low is None else -low, low_open))
    return f"(?:{'|'.join(parts)})" if parts else "[]"


def _numerals(low: Decimal | None, low_open: bool, high: Decimal | None, high_open: bool) -> str:
    """Those without a sign between bounds that are not negative."""
    conditions = [] if high is None else [f"(?={_at_most(high, high_open)}$)"]
    return "".join(conditions) + (f"(?:0|[1-9][0-9]*){_FRACTION}" if low is None else _at_least(low, low_open))


def _halves(bound: Decimal) -> tuple[str, str]:
    """The digits before and after the point, without zeros at the end."""
    whole, _, fraction = format(abs(bound), "f").partition(".")
    return whole.lstrip("0") or "0", fraction.rstrip("0")


def _at_least(low: Decimal, exclusive: bool) -> str:
    whole, fraction = _halves(low)
    parts = [f"[1-9][0-9]{{{len(whole)},}}{_FRACTION}"]
    for i, digit in enumerate(whole):
        if digit != "9":
            parts.append(f"{whole[:i]}[{int(digit) + 1}-9][0-9]{{{len(whole) - i - 1}}}{_FRACTION}")
    for i, digit in enumerate(fraction):
        if digit != "9":
            parts.append(f"{whole}\\.{fraction[:i]}[{int(digit) + 1}-9][0-9]*")
    if exclusive:
        parts.append(f"{whole}\\.{fraction}[0-9]*[1-9][0-9]*")
    else:
        parts.append(f"{whole}\\.{fraction}[0-9]*" if fraction else whole + _FRACTION)
    return f"(?:{'|'.join(parts)})"


def _at_most(high: Decimal, exclusive: bool) -> str:
    whole, fraction = _halves(high)
    n = len(whole)
    parts = [f"(?:0|[1-9][0-9]{{0,{n - 2}}}){_FRACTION}"] if n > 1 else []
    for i, digit in enumerate(whole):
        first = 1 if i == 0 and n > 1 else 0
        if int(digit) > first:
            parts.append(f"{whole[:i]}[{first}-{int(digit) - 1}][0-9]{{{n - i - 1}}}{_FRACTION}")
    for i, digit in enumerate(fraction):
        parts.append(f"{whole}\\.{fraction[:i]}" if i else whole)
        if digit != "0":
            parts.append(f"{whole}\\.{fraction[:i]}[0-{int(digit) - 1}][0-9]*")
    if not exclusive:
        parts.append(f"{whole}\\.{fraction}0*" if fraction else f"{whole}(?:\\.0+)?")
    return f"(?:{'|'.join(parts)})" if parts else "[]"


def _literal(text: str) -> str:
    return "".join(c if c.isalnum() or not c.isascii() else f"\\x{ord(c):02x}" for c in text)


def _anything(shape: str) -> str:
    return "".join("[0-9]" if c.isdigit() else _literal(c) for c in shape)
