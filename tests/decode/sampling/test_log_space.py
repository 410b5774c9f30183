from __future__ import annotations

import math
import random

import numpy as np
import pytest
from tokamata.decode.sampling import CARS, SMC, ASAp, Enumerate, MetropolisHastings
from tokamata.decode.sampling.log_space import effective_size, log_add, log_minus, log_sum, log_sum_array

import tokamata


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


class Unlikely:
    """ "ab" has 9e-53 and "cb" 1e-55; all else is "ax", which no member begins with."""

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
        rows = {
            (): [1 - 1e-3, 0, 1e-3, 0, 0],
            (0,): [0, 9e-53, 0, 1, 0],
            (2,): [0, 1e-52, 0, 1, 0],
        }
        with np.errstate(divide="ignore"):
            return np.log([rows.get(p, [0, 0, 0, 0, 1]) for p in prefixes])


@pytest.mark.parametrize("kind", [Enumerate, CARS, ASAp, SMC, MetropolisHastings])
def test_masses_of_9e_53(kind: type) -> None:
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"c", b"x", None], eos_token_ids=[4])
    options = {"proposal": "smc"} if kind is MetropolisHastings else {}
    sampler = kind(Unlikely(), tokamata.compile(tokamata.regex("[ac]b"), vocabulary), max_tokens=3, seed=3, **options)
    members = {(0, 1): math.log((1 - 1e-3) * 9e-53), (2, 1): math.log(1e-55)}
    log_z = log_sum(members.values())
    samples = sampler.sample(40)
    for sample in samples:
        assert math.isclose(sample.log_p_model, members[sample.tokens], abs_tol=1e-9)
    statistics = sampler.statistics
    if kind in (Enumerate, CARS, ASAp):
        sampler.sample(6000)
        statistics = sampler.statistics
        assert math.isclose(statistics.log_z_lower, log_z, abs_tol=1e-9)
        assert math.isclose(statistics.log_z_upper, log_z, abs_tol=1e-9)
    else:
        assert abs(statistics.log_z - log_z) < 0.1
    if kind is CARS:
        assert statistics.tries < 6050  # a rejection teaches all of it
    if kind in (Enumerate, ASAp):
        for tokens, log_p in members.items():
            assert math.isclose(sampler.log_prob(tokens), log_p - log_z, abs_tol=1e-9)
