"""Checks of arguments that every operation makes before it calls native code."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core import Fst as _NativeFst
from .checks import checked_count, checked_number, checked_several, cut
from .errors import FstError
from .fst import Fst

_MOST_LABEL = 2**31 - 1


def native(operation: str, fst: object) -> _NativeFst:
    """The native side of an `Fst`; TypeError for anything else."""
    if isinstance(fst, Fst):
        return fst._native
    raise TypeError(
        f"{operation}: expected a tokamata.automata.Fst, got {type(fst).__module__}.{type(fst).__qualname__}; "
        "read other libraries' machines with Fst.read from an OpenFst file"
    )


def number(operation: str, name: str, value: float, *, least: float = 0.0) -> float:
    """A number that is at least `least` and not NaN; FstError otherwise, TypeError for what is no number."""
    if not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{operation}: expected {name} as a number, got {type(value).__name__}; pass a float")
    if name == "delta" and value == math.inf:
        raise FstError(f"{operation}: delta must be finite, got {value!r}; a good value is 1/1024")
    if not value >= least:
        raise FstError(f"{operation}: {name} must be at least {least:g}, got {value!r}")
    return checked_number(operation, name, value)


def limit(operation: str, name: str, value: int) -> int:
    """A limit: an integer of at least 1; FstError otherwise. States are numbered with 31 bits, so that is the most."""
    value = checked_count(operation, name, value)
    if value < 1:
        raise FstError(f"{operation}: the limit {name} must be at least 1, got {value!r}")
    return min(value, (1 << 31) - 1 if name == "max_states" else 1 << 62)


def amount(operation: str, name: str, value: object, most: int) -> int:
    """A whole number, at most `most`; FstError for a negative one, TypeError for what is no whole number."""
    count = checked_count(operation, name, value)
    if count < 0:
        raise FstError(f"{operation}: {name} must not be negative, got {cut(count)}; pass 0 or more")
    return min(count, most)


def checked_label(operation: str, name: str, value: object) -> int:
    """A label, 0 for epsilon; FstError for one that does not fit 31 bits, TypeError for what is no whole number."""
    number = checked_count(operation, name, value)
    if not 0 <= number <= _MOST_LABEL:
        raise FstError(
            f"{operation}: {name} must be 0..{_MOST_LABEL} (0 is epsilon), got {cut(number)}; number the labels from 1"
        )
    return number


def checked_pairs(operation: str, name: str, value: object) -> list[tuple[Any, Any]]:
    """The pairs of an iterable; TypeError for anything else."""
    found = []
    for pair in checked_several(operation, name, value):
        parts = tuple(pair) if isinstance(pair, Iterable) else ()
        if len(parts) != 2:
            raise TypeError(f"{operation}: expected {name} as pairs, got {type(pair).__name__}; pass a list of pairs")
        found.append((parts[0], parts[1]))
    return found
