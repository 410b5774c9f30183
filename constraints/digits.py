"""Digits in fixed places: texts between two others of the same shape."""

from __future__ import annotations

from ..automata.errors import ConstraintError


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


def _literal(text: str) -> str:
    return "".join(c if c.isalnum() else f"\\x{ord(c):02x}" for c in text)


def _anything(shape: str) -> str:
    return "".join("[0-9]" if c.isdigit() else _literal(c) for c in shape)
