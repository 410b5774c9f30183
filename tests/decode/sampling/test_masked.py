from __future__ import annotations

import math
import random

import numpy as np
import pytest
from oracle.lm_trees import chi_square_p, kl, load
from oracle.random_model import PATTERNS, RandomModel, conditional, random_vocabulary
from tokamata.decode.sampling import Masked

import tokamata


@pytest.mark.parametrize(
    ("name", "nats"),
    [
        ("binary5-fewshot", 1.987),
        ("binary5-short", 0.239),
        ("binary5-instruct", 0.352),
        ("binary8-fewshot", 1.486),
        ("bv4-eq-bvand-depth1", 2.600),
        ("weekdays-all-tokenizations", 0.082),
    ],
)
def test_divergence_from_the_conditional_law(name: str, nats: float) -> None:
    model, automaton = load(name)
    sampler = Masked(model, automaton, stop=[model.stop], max_tokens=40)
    assert abs(kl(sampler.log_prob, model.conditional()) - nats) < 0.001


@pytest.mark.parametrize("seed", range(6))
def test_draws_follow_the_law_and_weights_correct_it(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = random_vocabulary(rng)
    constraint = tokamata.regex(PATTERNS[seed])
    model = RandomModel(len(vocabulary), seed, spread=1.0)
    exact, log_z = conditional(model, vocabulary, constraint, 5)
    sampler = Masked(model, tokamata.compile(constraint, vocabulary), max_tokens=5, seed=seed)
    law = {tokens: sampler.log_prob(tokens) for tokens in exact}
    assert math.isclose(sum(map(math.exp, law.values())), 1.0, abs_tol=1e-9), seed
    samples = sampler.sample(4000)
    assert len(law) == 1 or chi_square_p((s.tokens for s in samples), law) > 1e-4, seed
    for s in samples[:50]:
        assert math.isclose(s.log_weight, s.log_p_model - law[s.tokens], abs_tol=1e-9)
        assert not s.exact
    statistics = sampler.statistics
    assert abs(math.expm1(statistics.log_z - log_z)) < 5 * statistics.log_z_error + 1e-9, seed
    assert math.isclose(statistics.log_z, math.log(np.mean([math.exp(s.log_weight) for s in samples])), abs_tol=1e-9)


def test_what_is_no_member_has_probability_zero() -> None:
    model, automaton = load("binary5-fewshot")
    sampler = Masked(model, automaton, max_tokens=40)
    zero, one = 0, 1
    assert model.vocabulary.token_bytes(zero) == b"0"
    assert sampler.log_prob((zero, zero)) == -math.inf
    assert sampler.log_prob((zero, zero, zero, one, zero)) == -math.inf
    assert sampler.log_prob((one,) * 6) == -math.inf
    assert sampler.log_prob((one,) * 5) > -math.inf
