from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from oracle.lm_trees import kl, load, weighted_law
from oracle.random_model import PATTERNS, RandomModel, conditional, random_vocabulary
from tokamata.decode.sampling import AWRS, awrs

import tokamata


@pytest.mark.parametrize("seed", range(4))
def test_masses_are_estimated_without_bias(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = random_vocabulary(rng)
    model = RandomModel(len(vocabulary), seed, spread=1.5)
    sampler = AWRS(model, tokamata.compile(tokamata.regex("(a|bb)+"), vocabulary), max_tokens=6, particles=1, seed=seed)
    sampler._verdicts = {}
    row = sampler._ask([()])[()]
    allowed = [t for t in range(len(vocabulary)) if sampler._test((), t)]
    drawn, masses = [], []
    for _ in range(4000):
        token, log_p, log_mass, _, _ = sampler._propose((), row)
        assert token is not None
        assert log_p == row.log_p[token]
        drawn.append(token)
        masses.append(math.exp(log_mass))
    mass = np.exp(row.log_p[allowed]).sum()
    assert abs(np.mean(masses) - mass) < 5 * np.std(masses) / math.sqrt(4000), seed
    for token in allowed:
        share = math.exp(row.log_p[token]) / mass
        assert abs(np.mean(np.array(drawn) == token) - share) < 5 * math.sqrt(share * (1 - share) / 4000), seed
        # The estimate says nothing about the token.
        alone = np.array(masses)[np.array(drawn) == token]
        assert len(alone) < 100 or abs(alone.mean() - mass) < 5 * alone.std() / math.sqrt(len(alone)), seed


@pytest.mark.parametrize("seed", range(5))
def test_masses_are_exact_on_average(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every way in which the draws can fall, with its probability: the mean of the estimate where a token is chosen is
    # that token's probability, so weights are unbiased for every function of the text.
    rng = random.Random(seed)
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"ab", b"c", b"d", b"ba", None], eos_token_ids=[6])
    model = RandomModel(7, seed, spread=2.0)
    automaton = tokamata.compile(tokamata.regex(rng.choice(["(a|bb)+", "[ab]c*", "a|d", "b?"])), vocabulary)
    sampler = AWRS(model, automaton, max_tokens=4, particles=1)
    sampler._verdicts = {}
    row = sampler._ask([()])[()]
    script: list[int] = []
    widths: list[int] = []
    place, probability = 0, 1.0

    def draw(left: Any) -> int:
        nonlocal place, probability
        p = np.exp(left._remaining())
        options = np.flatnonzero(p).tolist()
        if place == len(script):
            script.append(0)
            widths.append(len(options))
        chosen = options[script[place]]
        place += 1
        probability *= p[chosen] / p.sum()
        return int(chosen)

    monkeypatch.setattr(awrs._Left, "draw", draw)
    mean = dict.fromkeys([None, *range(7)], 0.0)
    total = 0.0
    while True:
        place, probability = 0, 1.0
        token, _, log_mass, _, _ = sampler._propose((), row)
        mean[token] += probability * math.exp(log_mass)
        total += probability
        while script and script[-1] == widths[-1] - 1:
            script.pop()
            widths.pop()
        if not script:
            break
        script[-1] += 1
    assert abs(total - 1) < 1e-9
    for token in range(7):
        expected = math.exp(row.log_p[token]) if sampler._test((), token) else 0.0
        assert abs(mean[None if token == 6 else token] - expected) < 1e-9, (seed, token)


@pytest.mark.parametrize("seed", range(3))
def test_conditions_beside_the_constraint(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = random_vocabulary(rng)
    constraint = tokamata.regex(PATTERNS[seed + 2])
    model = RandomModel(len(vocabulary), seed, spread=1.0)
    exact, log_z = conditional(model, vocabulary, constraint, 4)
    text = {t: b"".join(vocabulary.token_bytes(i) or b"" for i in t).decode() for t in exact}
    kept = {t: p for t, p in exact.items() if text[t].count("a") != 1}
    mass = math.log(sum(map(math.exp, kept.values())))
    sampler = AWRS(
        model,
        tokamata.compile(constraint, vocabulary),
        condition=lambda text, complete: not complete or text.count("a") != 1,
        max_tokens=4,
        particles=8,
        seed=seed,
    )
    samples = sampler.sample(2000)
    law = weighted_law(samples)
    assert set(law) <= set(kept)
    assert kl(lambda tokens: law.get(tokens, -math.inf), {t: p - mass for t, p in kept.items()}) < 0.04, seed
    statistics = sampler.statistics
    assert abs(math.expm1(statistics.log_z - mass - log_z)) < 5 * statistics.log_z_error, seed


def test_few_tests_and_wrong_arguments() -> None:
    model, automaton = load("weekdays-all-tokenizations")
    sampler = AWRS(model, automaton, max_tokens=40, seed=1)
    sampler.sample(16)
    statistics = sampler.statistics
    assert 0 < statistics.checks < 0.5 * statistics.steps * len(model.vocabulary)
    with pytest.raises(ValueError, match="expected no twist"):
        AWRS(model, automaton, twist="state")
    with pytest.raises(ValueError, match='expected tokenization "all"'):
        AWRS(model, automaton, tokenization="canonical")


def test_nearly_everything_fails() -> None:
    # Of 40 tokens one passes, with probability 1e-12: all others are drawn first, and the mass keeps its digits.
    class Far:
        def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
            rows = np.full((len(prefixes), 42), math.log(1 / 40))
            rows[:, 0], rows[:, 41] = math.log(1e-12), -math.inf
            rows[[len(p) == 1 for p in prefixes]] = -math.inf
            rows[[len(p) == 1 for p in prefixes], 41] = 0.0
            return rows

    letters = [bytes([97 + i]) for i in range(26)] + [bytes([65 + i]) for i in range(15)]
    vocabulary = tokamata.Vocabulary([*letters, None], eos_token_ids=[41])
    sampler = AWRS(Far(), tokamata.compile(tokamata.literal("a"), vocabulary), max_tokens=3, particles=4)
    samples = sampler.sample(4)
    assert {s.text for s in samples} == {"a"}
    assert abs(samples[0].log_p_model - math.log(1e-12)) < 1e-9
    # The estimate is 1 / (1/r_0 + ... + 1/r_40), about r_40 = 1e-12.
    assert abs(sampler.statistics.log_z - math.log(1e-12)) < 1e-6
