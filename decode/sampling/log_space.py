"""Sums and differences of numbers given by their natural logarithms."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

NOTHING = float("-inf")


def log_add(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    return a if b == NOTHING else a + math.log1p(math.exp(b - a))


def log_sum(values: Iterable[float]) -> float:
    """Return the logarithm of a sum; -inf for none."""
    values = list(values)
    top = max(values, default=NOTHING)
    if top == NOTHING:
        return NOTHING
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def log_sum_array(values: NDArray[np.float64]) -> float:
    """Return the logarithm of the sum of an array; -inf for an empty one."""
    if not len(values):
        return NOTHING
    top = float(values.max())
    if top == NOTHING:
        return NOTHING
    return top + math.log(float(np.exp(values - top).sum()))


def log_minus(a: float, b: float) -> float:
    """Return log(exp(a) - exp(b)), -inf where b >= a. It has lost log10(exp(a) / result) digits."""
    if b == NOTHING:
        return a
    if b >= a:
        return NOTHING
    return a + (math.log(-math.expm1(b - a)) if b - a > -0.7 else math.log1p(-math.exp(b - a)))


def effective_size(log_weights: NDArray[np.float64]) -> float:
    """Return (sum w)^2 / sum w^2; 0 where all weights are zero."""
    total = log_sum_array(log_weights)
    return 0.0 if total == NOTHING else math.exp(2 * total - log_sum_array(2 * log_weights))
