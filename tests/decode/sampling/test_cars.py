from __future__ import annotations

import math
import random

import numpy as np
import pytest
from oracle.lm_trees import BINARY5, chi_square_p, load
from oracle.random_model import PATTERNS, RandomModel, conditional, random_vocabulary
from tokamata.decode.sampling import CARS

import tokamata


@pytest.mark.parametrize(("name", "tries"), list(zip(BINARY5, (2, 20, 30), strict=True)))
def test_exact_from_the_first_sample(name: str, tries: int) -> None:
    model, automaton = load(name)
    first, drawn = [], []
    for seed in range(200):
        sampler = CARS(model, automaton, stop=[model.stop], max_tokens=40, seed=seed)
        drawn.append(sampler.sample(1)[0].tokens)
        first.append(sampler.statistics.tries)
    assert np.mean(first) <= tries
    assert chi_square_p(drawn, model.conditional()) > 1e-3
    samples = CARS(model, automaton, stop=[model.stop], max_tokens=40, seed=1).sample(12_000)
    assert chi_square_p((s.tokens for s in samples), model.conditional()) > 1e-3
    assert all(s.exact and s.log_weight == 0 for s in samples)


def test_few_model_calls() -> None:
    model, automaton = load("bv4-eq-bvand-depth1")
    calls = []
    for seed in range(20):
        sampler = CARS(model, automaton, stop=[model.stop], max_tokens=40, seed=seed)
        sampler.sample(50)
        calls.append(sampler.statistics.model_calls)
    assert np.mean(calls) <= 60, calls


@pytest.mark.parametrize("seed", range(6))
def test_pairs_are_independent_also_side_by_side(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = random_vocabulary(rng)
    constraint = tokamata.regex(PATTERNS[seed])
    model = RandomModel(len(vocabulary), seed, spread=1.0)
    exact, log_z = conditional(model, vocabulary, constraint, 4)
    automaton = tokamata.compile(constraint, vocabulary)
    if len(exact) < 2:
        return
    pairs: dict[tuple[int, ...], float] = {}
    number = {tokens: at for at, tokens in enumerate(exact)}
    for a, log_a in exact.items():
        for b, log_b in exact.items():
            pairs[number[a], number[b]] = log_a + log_b
    drawn = []
    for run in range(300):
        sampler = CARS(model, automaton, max_tokens=4, batch=1 + run % 2 * 5, seed=run)
        one, two = sampler.sample(2)
        drawn.append((number[one.tokens], number[two.tokens]))
        statistics = sampler.statistics
        assert statistics.log_z_lower - 1e-12 <= log_z <= statistics.log_z_upper + 1e-12
    assert chi_square_p(drawn, pairs) > 1e-4, seed


def test_log_z() -> None:
    model, automaton = load("binary5-short")
    estimates = []
    for seed in range(100):
        sampler = CARS(model, automaton, max_tokens=40, seed=seed)
        sampler.sample(10)
        estimates.append(math.exp(sampler.statistics.log_z - model.log_z))
    assert abs(np.mean(estimates) - 1) < 5 * np.std(estimates) / 10 + 1e-12


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_short_texts_do_not_come_first(batch: int) -> None:
    # Of two tries side by side the one with the shorter text ends first; samples keep the order of beginning.
    class Even:
        def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
            half, never = math.log(0.5), -math.inf
            rows = {0: [half, half, never], 1: [never, 0.0, never]}
            end = [never, never, 0.0]
            return np.array([end if p[:1] == (0,) or len(p) == 5 else rows[min(len(p), 1)] for p in prefixes])

    vocabulary = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
    automaton = tokamata.compile(tokamata.choice(["a", "bbbbb"]), vocabulary)
    pairs = []
    for run in range(400):
        one, two = CARS(Even(), automaton, max_tokens=9, batch=batch, seed=run).sample(2)
        pairs.append((len(one.tokens), len(two.tokens)))
    law = {pair: math.log(0.25) for pair in ((1, 1), (1, 5), (5, 1), (5, 5))}
    assert chi_square_p(pairs, law) > 1e-3
