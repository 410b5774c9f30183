from __future__ import annotations

import math
import random

import numpy as np
import pytest
from oracle.lm_trees import chi_square_p, kl, load
from oracle.random_model import PATTERNS, RandomModel, TableModel, conditional, random_vocabulary
from tokamata.decode.sampling import ASAp, Masked

import tokamata

SEEDS = range(20)
_TWO_OF_THREE, _ONE_OF_THREE = math.log(2 / 3), math.log(1 / 3)


def divergences(name: str, leaf: str, marks: list[int]) -> list[float]:
    """The mean over 20 seeds of the divergence after so many samples."""
    model, automaton = load(name)
    exact = model.conditional()
    total = np.zeros(len(marks))
    for seed in SEEDS:
        sampler = ASAp(model, automaton, stop=[model.stop], max_tokens=40, leaf=leaf, seed=seed)  # type: ignore[arg-type]
        for at, mark in enumerate(marks):
            sampler.sample(mark - sampler.statistics.samples)
            total[at] += kl(sampler.log_prob, exact)
    return (total / len(SEEDS)).tolist()


def test_fewshot() -> None:
    ten, fifty = divergences("binary5-fewshot", "one", [10, 50])
    assert ten < 5e-3
    assert fifty < 1.5e-3


def test_all_visited_is_exact() -> None:
    model, automaton = load("binary5-fewshot")
    sampler = ASAp(model, automaton, stop=[model.stop], max_tokens=40, seed=1)
    assert not sampler.sample(1)[0].exact
    samples = sampler.sample(2000)
    statistics = sampler.statistics
    assert statistics.nodes == 36
    assert kl(sampler.log_prob, model.conditional()) < 1e-12
    assert samples[-1].exact
    assert math.isclose(statistics.log_z_lower, model.log_z, abs_tol=1e-12)
    assert statistics.log_z == statistics.log_z_lower
    assert statistics.log_z_error == 0
    assert math.isclose(statistics.log_z_upper, model.log_z, abs_tol=1e-12)
    assert statistics.saved_steps > 0.99


@pytest.mark.parametrize("seed", range(4))
def test_futures_of_states_prove_nothing(seed: int) -> None:
    # After a next to nothing is left, and what was never visited is taken for as bad.
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"d", None], eos_token_ids=[3])
    automaton = tokamata.compile(tokamata.regex("[ab]|dd"), vocabulary)
    rows = {(): {0: 0.4, 1: 0.4, 2: 0.2}, (0,): {3: 1e-40, 2: 1.0}, (1,): {3: 1.0}, (2,): {2: 1.0}, (2, 2): {3: 1.0}}
    sampler = ASAp(TableModel(rows), automaton, max_tokens=3, leaf="state", explore=0, seed=seed)
    for _ in range(300):
        is_known = all(
            math.isclose(sampler.log_prob(t), p, abs_tol=1e-9)
            for t, p in (((1,), _TWO_OF_THREE), ((2, 2), _ONE_OF_THREE))
        )
        (sample,) = sampler.sample(1)
        assert is_known or not sample.exact
    nodes = TableModel({**rows, (0,): {3: 0.5, 2: 0.5}})
    sampler = ASAp(nodes, automaton, max_tokens=3, leaf="state", seed=seed)
    assert sampler.sample(200)[-1].exact
    statistics = sampler.statistics
    assert statistics.log_z == statistics.log_z_lower == statistics.log_z_upper
    assert math.isclose(statistics.log_z, math.log(0.8))


def test_state_leaf_where_plain_asap_is_worse_than_masking() -> None:
    (plain,) = divergences("binary5-short", "one", [10])
    (state,) = divergences("binary5-short", "state", [10])
    model, automaton = load("binary5-short")
    masking = kl(Masked(model, automaton, max_tokens=40).log_prob, model.conditional())
    assert plain > masking
    assert state < 0.05


def test_terms_of_bit_vectors() -> None:
    (state,) = divergences("bv4-eq-bvand-depth1", "state", [100])
    assert state < 0.03
    model, automaton = load("bv4-eq-bvand-depth1")
    sampler = ASAp(model, automaton, stop=[model.stop], max_tokens=40, seed=1)
    sampler.sample(1000)
    assert kl(sampler.log_prob, model.conditional()) < 0.03


@pytest.mark.parametrize("leaf", ["one", "state"])
@pytest.mark.parametrize("seed", range(5))
def test_weights_are_right_while_it_learns(seed: int, leaf: str) -> None:
    rng = random.Random(seed)
    vocabulary = random_vocabulary(rng)
    constraint = tokamata.regex(PATTERNS[seed + 2])
    model = RandomModel(len(vocabulary), seed, spread=1.0)
    exact, log_z = conditional(model, vocabulary, constraint, 5)
    automaton = tokamata.compile(constraint, vocabulary)
    weights = []
    for run in range(100):
        sampler = ASAp(model, automaton, max_tokens=5, leaf=leaf, seed=run)  # type: ignore[arg-type]
        for _ in range(3):
            law = {tokens: sampler.log_prob(tokens) for tokens in exact} if run < 3 else {}
            (sample,) = sampler.sample(1)
            weights.append(math.exp(sample.log_weight))
            if law:
                assert math.isclose(sum(map(math.exp, law.values())), 1, abs_tol=1e-9), (seed, run)
                assert math.isclose(sample.log_weight, sample.log_p_model - law[sample.tokens], abs_tol=1e-9)
        if leaf == "one":
            assert sampler.statistics.log_z_lower <= log_z + 1e-12
            assert sampler.statistics.log_z_upper >= log_z - 1e-12
    error = np.std(weights) / math.sqrt(len(weights))
    assert abs(np.mean(weights) - math.exp(log_z)) < 5 * error + 1e-12, seed


def test_log_prob_is_the_law_of_the_next_sample() -> None:
    model, automaton = load("binary5-short")
    law, drawn = {}, []
    for run in range(600):
        sampler = ASAp(model, automaton, max_tokens=40, seed=7)
        sampler.sample(2)
        if not law:
            law = {tokens: sampler.log_prob(tokens) for tokens in model.members}
            again = {tokens: sampler.log_prob(tokens) for tokens in model.members}
            assert law == again  # asking changes nothing
        sampler._random.seed(run)
        drawn.append(sampler.sample(1)[0].tokens)
    assert chi_square_p(drawn, law) > 1e-3


def test_masses_far_below_one_are_precise() -> None:
    # A member of probability 1e-60 beside a forbidden continuation that has all the rest.
    class Far:
        def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
            rows = {(): [0.0, -60 * math.log(10), -math.inf], (0,): [-math.inf, 0.0, -100 * math.log(10)]}
            inside = [-math.inf, -math.inf, 0.0]
            return np.array([rows.get(p, inside) for p in prefixes])

    vocabulary = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
    automaton = tokamata.compile(tokamata.choice(["a", "b"]), vocabulary)
    sampler = ASAp(Far(), automaton, max_tokens=5, seed=0)
    sampler.sample(50)
    assert math.isclose(sampler.log_prob((1,)), -math.log1p(1e-40), abs_tol=1e-15)
    assert math.isclose(sampler.log_prob((0,)), -40 * math.log(10), rel_tol=1e-12)
    assert math.isclose(sampler.statistics.log_z_upper, -60 * math.log(10), rel_tol=1e-12)


@pytest.mark.parametrize("name", ["binary8-fewshot", "bv4-eq-bvand-depth1"])
def test_walks_side_by_side_ask_in_batches(name: str) -> None:
    model, automaton = load(name)
    for leaf in ("one", "state"):
        sampler = ASAp(model, automaton, max_tokens=40, batch=16, leaf=leaf, seed=5)  # type: ignore[arg-type]
        samples = sampler.sample(300)
        statistics = sampler.statistics
        assert len(samples) == 300
        assert statistics.model_batches < 0.7 * statistics.model_calls
        assert kl(sampler.log_prob, model.conditional()) < 0.2


def test_nothing_possible() -> None:
    class Never:
        def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
            return np.array([[-math.inf, -math.inf, 0.0, -math.inf] for _ in prefixes])

    vocabulary = tokamata.Vocabulary([b"a", b"b", b"c", None], eos_token_ids=[3])
    automaton = tokamata.compile(tokamata.regex("(ab)+"), vocabulary)
    with pytest.raises(tokamata.ConstraintError, match="probability zero"):
        ASAp(Never(), automaton, max_tokens=9).sample(1)
