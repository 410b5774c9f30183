from __future__ import annotations

import math
import random

import numpy as np
import pytest
from oracle.lm_trees import kl, load, weighted_law
from oracle.random_model import PATTERNS, RandomModel, TableModel, conditional, random_vocabulary
from tokamata.decode.sampling import AWRS, SMC

import tokamata


@pytest.mark.parametrize("twist", [None, "state"])
def test_sixteen_particles(twist: str | None) -> None:
    model, automaton = load("binary5-fewshot")
    samples, estimates = [], []
    for seed in range(20):
        sampler = SMC(model, automaton, stop=[model.stop], max_tokens=40, particles=16, twist=twist, seed=seed)  # type: ignore[arg-type]
        samples += sampler.sample(800 if twist is None else 240)
        statistics = sampler.statistics
        estimates.append((math.exp(statistics.log_z), math.exp(statistics.log_z) * statistics.log_z_error))
    law = weighted_law(samples)
    # Counting 17 texts costs about 8 / samples nats: 5e-4 and 2e-3.
    assert kl(lambda tokens: law.get(tokens, -math.inf), model.conditional()) < (1e-3 if twist is None else 4e-3)
    z, error = np.mean([z for z, _ in estimates]), math.sqrt(sum(e**2 for _, e in estimates)) / 20
    assert abs(z - math.exp(model.log_z)) < 3 * error
    assert all(not s.exact for s in samples)


@pytest.mark.parametrize("kind", ["plain", "twist", "awrs", "potential"])
def test_runs_are_unbiased_for_every_text(kind: str) -> None:
    # The weight that particles bring to a text is its probability on average: with resampling at every turn, with a
    # twist that is learned from run to run, and with estimated masses.
    rng = random.Random(7)
    vocabulary = random_vocabulary(rng)
    constraint = tokamata.regex("(a|bb)*a")
    model = RandomModel(len(vocabulary), 5, spread=1.5)
    exact, log_z = conditional(model, vocabulary, constraint, 4)
    options = {"max_tokens": 4, "particles": 3, "threshold": 1.0, "seed": 9}
    automaton = tokamata.compile(constraint, vocabulary)
    text = {t: b"".join(vocabulary.token_bytes(i) or b"" for i in t).decode() for t in exact}
    factor = dict.fromkeys(exact, 0.0)
    sampler: SMC
    if kind == "awrs":
        sampler = AWRS(model, automaton, **options)  # type: ignore[arg-type]
    elif kind == "potential":
        sampler = SMC(model, automaton, potential=lambda t, _: 0.7 * t.count("b"), **options)  # type: ignore[arg-type]
        factor = {t: 0.7 * text[t].count("b") for t in exact}
    else:
        sampler = SMC(model, automaton, twist="state" if kind == "twist" else None, **options)  # type: ignore[arg-type]
    runs = 1500
    brought = {t: np.zeros(runs) for t in exact}
    for run in range(runs):
        for particle in sampler._run_particles():
            if particle.log_weight > -math.inf:
                brought[particle.tokens][run] += math.exp(particle.log_weight) / 3
    checked = 0
    for tokens, log_p in exact.items():
        mean, error = brought[tokens].mean(), brought[tokens].std() / math.sqrt(runs)
        if np.count_nonzero(brought[tokens]) > 30:
            assert abs(mean - math.exp(log_p + log_z + factor[tokens])) < 5 * error, (kind, tokens)
            checked += 1
    assert checked >= 5


@pytest.mark.parametrize("n", [1, 3, 6])
def test_few_samples_again_and_again_where_particles_die(n: int) -> None:
    # Runs in which particles die are those that come to az: they must not count for more than others.
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"c", b"x", b"y", b"z", None], eos_token_ids=[6])
    automaton = tokamata.compile(tokamata.regex("az(y|xz)|b|c"), vocabulary)
    rows = {(): {0: 0.04, 1: 0.02, 2: 0.94}, (0,): {5: 1.0}, (0, 5): {3: 0.5, 4: 0.5}, (0, 5, 4): {6: 1.0}}
    model = TableModel({**rows, (1,): {6: 1.0}, (2,): {6: 1e-6, 0: 1 - 1e-6}})
    sampler = SMC(model, automaton, max_tokens=8, particles=4, seed=1)
    law = weighted_law([s for _ in range(12_000 // n) for s in sampler.sample(n)])
    assert abs(math.exp(law[0, 5, 4]) - 0.5) < 0.05


def test_a_twist_makes_weights_even() -> None:
    model, automaton = load("bv4-eq-bvand-depth1")
    sizes = []
    for twist in (None, "state"):
        sampler = SMC(model, automaton, max_tokens=40, twist=twist, seed=4)  # type: ignore[arg-type]
        sampler.sample(800)
        sizes.append(sampler.statistics.effective_sample_size)
        assert abs(math.expm1(sampler.statistics.log_z - model.log_z)) < 5 * sampler.statistics.log_z_error
    assert sizes[1] > 1.5 * sizes[0]


@pytest.mark.parametrize("twist", [None, "state"])
@pytest.mark.parametrize("seed", range(4))
def test_potentials_tilt_the_law(seed: int, twist: str | None) -> None:
    rng = random.Random(seed)
    vocabulary = random_vocabulary(rng)
    constraint = tokamata.regex(PATTERNS[seed + 3])
    model = RandomModel(len(vocabulary), seed, spread=1.0)
    asked: list[tuple[str, bool]] = []

    def potential(text: str, complete: bool) -> float:
        asked.append((text, complete))
        return -math.inf if text.startswith("bb") else 0.8 * text.count("a") - 0.3 * (not complete)

    exact, log_z = conditional(model, vocabulary, constraint, 4)
    text = {t: b"".join(vocabulary.token_bytes(i) or b"" for i in t).decode() for t in exact}
    tilted = {t: p + potential(text[t], True) for t, p in exact.items() if not text[t].startswith("bb")}
    mass = math.log(sum(map(math.exp, tilted.values())))
    exact = {t: p - mass for t, p in tilted.items()}
    sampler = SMC(
        model,
        tokamata.compile(constraint, vocabulary),
        max_tokens=4,
        potential=potential,
        twist=twist,  # type: ignore[arg-type]
        particles=8,
        seed=seed,
    )
    asked.clear()
    sampler.sample(8)
    assert len(asked) == len(set(asked))
    samples = sampler.sample(2400)
    law = weighted_law(samples)
    assert set(law) <= set(exact)
    assert kl(lambda tokens: law.get(tokens, -math.inf), exact) < 0.03, seed
    statistics = sampler.statistics
    assert abs(math.expm1(statistics.log_z - mass - log_z)) < 5 * statistics.log_z_error, seed


def test_numbers_of_samples_and_wrong_arguments() -> None:
    model, automaton = load("binary5-short")
    sampler = SMC(model, automaton, max_tokens=40, particles=16)
    for n in (1, 5, 16, 40):
        assert len(sampler.sample(n)) == n
    with pytest.raises(ValueError, match="expected 1 <= particles <= 1000000, got 0"):
        SMC(model, automaton, particles=0)
    with pytest.raises(ValueError, match='expected twist None or "state"'):
        SMC(model, automaton, twist="word")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected a number or -inf from the potential, got nan"):
        SMC(model, automaton, potential=lambda text, complete: math.nan).sample(1)
    with pytest.raises(tokamata.LimitError, match="max_tries = 100 particles in a row came to no member"):
        SMC(model, automaton, potential=lambda text, complete: -math.inf, max_tries=100).sample(1)
