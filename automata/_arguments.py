"""Checks of arguments that every operation makes before it calls native code."""

from __future__ import annotations

import math

from .._core import Fst as _NativeFst
from .errors import FstError
from .fst import Fst


def native(operation: str, fst: object) -> _NativeFst:
    """The native side of an `Fst`; TypeError for anything else."""
    if isinstance(fst, Fst):
        return fst._native
    raise TypeError(
        f"{operation}: expected a tokamata.automata.Fst, got {type(fst).__module__}.{type(fst).__qualname__}; "
        "read other libraries' machines with Fst.read from an OpenFst file"
    )


def number(operation: str, name: str, value: float, *, least: float = 0.0) -> float:
    """A number that is at least `least` and not NaN; FstError otherwise."""
    if name == "delta" and value == math.inf:
        raise FstError(f"{operation}: delta must be finite, got {value!r}; a good value is 1/1024")
    if not value >= least:
        raise FstError(f"{operation}: {name} must be at least {least:g}, got {value!r}")
    return float(value)


def limit(operation: str, name: str, value: int) -> int:
    """A limit: an integer of at least 1; FstError otherwise. States are numbered with 31 bits, so that is the most."""
    if value < 1:
        raise FstError(f"{operation}: the limit {name} must be at least 1, got {value!r}")
    return min(int(value), (1 << 31) - 1 if name == "max_states" else 1 << 62)
