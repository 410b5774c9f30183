from __future__ import annotations

import math

import pytest
from oracle.lm_trees import chi_square_p, load
from tokamata.decode.sampling import Rejection

import tokamata


def test_draws_are_exact() -> None:
    model, automaton = load("binary5-fewshot")
    sampler = Rejection(model, automaton, max_tokens=40, seed=3)
    samples = sampler.sample(4000)
    assert chi_square_p((s.tokens for s in samples), model.conditional()) > 1e-3
    assert all(s.exact and s.log_weight == 0 for s in samples)
    statistics = sampler.statistics
    assert abs(math.expm1(statistics.log_z - model.log_z)) < 4 * statistics.log_z_error


def test_rejections_have_a_limit() -> None:
    model, automaton = load("binary5-instruct")
    with pytest.raises(tokamata.LimitError, match="max_tries = 100 tries in a row were rejected"):
        Rejection(model, automaton, max_tokens=40, max_tries=100).sample(1)
