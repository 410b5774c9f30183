from __future__ import annotations

import math

import pytest
from oracle.lm_trees import load
from tokamata.decode.sampling import Masked, Sample, expectation, kl_divergence, over_texts, weighted_law

HALF = math.log(0.5)


def test_divergence() -> None:
    exact = {(1,): HALF, (2,): math.log(0.25), (3,): math.log(0.25)}
    assert kl_divergence(exact, exact) == 0
    assert kl_divergence({(1,): 0.0}, exact) == pytest.approx(math.log(2))
    assert kl_divergence(lambda tokens: HALF if tokens[0] < 3 else -math.inf, exact) == pytest.approx(math.log(2) / 2)
    assert kl_divergence({(1,): 0.0}, {(1,): -math.inf, (2,): 0.0}) == math.inf


def test_laws_of_samples_and_texts() -> None:
    samples = [
        Sample((t,), "ab"[t % 2], -1.0, w, False) for t, w in ((0, 0.0), (1, math.log(2)), (2, 0.0), (0, -math.inf))
    ]
    law = weighted_law(samples)
    assert {t: round(math.exp(p), 9) for t, p in law.items()} == {(0,): 0.25, (1,): 0.5, (2,): 0.25}
    texts = over_texts(law, lambda tokens: "ab"[tokens[0] % 2])
    assert texts["a"] == pytest.approx(HALF)
    assert expectation(law, law, lambda tokens: tokens[0]) == pytest.approx(1.0)


def test_expectation_under_a_sampler() -> None:
    model, automaton = load("binary5-fewshot")
    exact = model.conditional()
    masked = Masked(model, automaton, max_tokens=40)
    assert expectation(masked.log_prob, exact, lambda tokens: 1.0) == pytest.approx(1)
    assert expectation(masked.log_prob, exact, lambda tokens: float(sum(tokens) == 0)) == pytest.approx(0.4, abs=0.03)
