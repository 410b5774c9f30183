from __future__ import annotations

import math
import random

import numpy as np
from tokamata.decode.sampling.log_space import effective_size, log_add, log_minus, log_sum, log_sum_array


def test_sums_and_differences() -> None:
    rng = random.Random(1)
    for _ in range(500):
        a, b = rng.uniform(-3, 0), rng.uniform(-3, 0)
        assert math.isclose(log_add(a, b), math.log(math.exp(a) + math.exp(b)), abs_tol=1e-12)
        high, low = max(a, b), min(a, b)
        assert math.isclose(math.exp(log_minus(high, low)), math.exp(high) - math.exp(low), abs_tol=1e-14)
        values = [rng.uniform(-800, -700) for _ in range(5)]
        assert math.isclose(log_sum(values), 700 * -1 + math.log(sum(math.exp(v + 700) for v in values)), abs_tol=1e-9)
        assert math.isclose(log_sum_array(np.array(values)), log_sum(values), abs_tol=1e-12)


def test_neighbours_and_nothing() -> None:
    nothing = -math.inf
    a = -0.3
    below = math.nextafter(a, -1)
    assert math.isclose(log_minus(a, below), a + math.log(a - below), rel_tol=1e-9)
    assert log_minus(a, a) == log_minus(below, a) == nothing
    assert log_minus(a, nothing) == log_add(nothing, a) == a
    assert log_add(nothing, nothing) == log_sum([]) == log_sum_array(np.array([nothing])) == nothing


def test_effective_size() -> None:
    assert math.isclose(effective_size(np.zeros(7)), 7)
    assert math.isclose(effective_size(np.array([0.0, -math.inf, -math.inf])), 1)
    assert effective_size(np.array([-math.inf])) == 0
