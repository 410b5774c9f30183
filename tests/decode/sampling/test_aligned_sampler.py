from __future__ import annotations

import math
from typing import Any

import pytest
from oracle.lm_trees import chi_square_p, kl, load, weighted_law
from tokamata.decode.sampling import SMC, AlignedSampler, Enumerate

import tokamata


def test_small_languages_are_enumerated() -> None:
    model, automaton = load("binary5-instruct")
    sampler = AlignedSampler(model, automaton, stop=[model.stop], max_tokens=40, seed=1)
    assert sampler.method == "enumerate"
    assert chi_square_p((s.tokens for s in sampler.sample(3000)), model.conditional()) > 1e-3
    assert sampler.statistics.model_calls == 37
    assert math.isclose(sampler.statistics.log_z, model.log_z, abs_tol=1e-9)


def test_larger_ones_are_drawn_by_cars() -> None:
    model, automaton = load("binary8-fewshot")
    sampler = AlignedSampler(model, automaton, max_tokens=40, seed=1)
    assert sampler.method == "cars"
    samples = sampler.sample(2000)
    assert all(s.exact for s in samples)
    assert chi_square_p((s.tokens for s in samples), model.conditional()) > 1e-3


def test_where_cars_rejects_too_much_smc_takes_over() -> None:
    model, automaton = load("bv4-eq-bvand-depth1")
    sampler = AlignedSampler(model, automaton, max_tokens=40, seed=1, patience=0, max_prefixes=10)
    samples = sampler.sample(40)
    assert len(samples) == 40
    assert sampler.method == "smc"
    assert isinstance(sampler.sampler, SMC)
    assert sampler.sampler.twist == "state"
    assert not samples[-1].exact
    assert sampler.statistics.model_calls < 120  # what CARS asked for is kept


def test_particles_do_not_replay_random_numbers() -> None:
    model, automaton = load("bv4-eq-bvand-depth1")
    sampler = AlignedSampler(model, automaton, max_tokens=40, seed=1, patience=0, max_prefixes=10)
    found = [s.tokens for s in sampler.sample(16 + 40) if not s.exact]
    fresh = SMC(model, automaton, max_tokens=40, seed=1, twist="state")
    assert found[:16] != [s.tokens for s in fresh.sample(len(found))][:16]


@pytest.mark.parametrize("method", ["auto", "enumerate"])
def test_many_prefixes_are_enumerated_where_asked_for(method: str) -> None:
    model, automaton = load("binary5-fewshot")
    sampler = AlignedSampler(model, automaton, method=method, max_tokens=40, max_prefixes=200_000)  # type: ignore[arg-type]
    assert isinstance(sampler.sampler, Enumerate)
    assert sampler.sampler.max_prefixes == 200_000


def test_samples_of_both_methods_weigh_alike() -> None:
    # Z is 2e-6: the weights of particles as they are would count for nothing beside those of exact samples.
    model, automaton = load("binary5-instruct")
    sampler = AlignedSampler(model, automaton, max_tokens=40, seed=0, patience=8, max_prefixes=10)
    samples = sampler.sample(400)
    assert sampler.method == "smc"
    exact = [s for s in samples if s.exact]
    others = [s for s in samples if not s.exact]
    assert exact
    assert all(s.log_weight == 0 for s in exact)
    assert math.isclose(sum(math.exp(s.log_weight) for s in others), len(others))
    more = sampler.sample(400)
    mean = sum(math.exp(s.log_weight) for s in more) / 400
    assert 0.7 < mean < 1.4
    law = weighted_law(samples + more)
    assert kl(lambda tokens: law.get(tokens, -math.inf), model.conditional()) < 0.05
    statistics = sampler.statistics
    assert statistics.samples == 800
    assert statistics["effective_sample_size"] > 400
    assert abs(statistics.log_z - model.log_z) < 1  # of the sampler in use, not scaled


def test_progress_goes_on_where_the_method_changes() -> None:
    model, automaton = load("bv4-eq-bvand-depth1")
    sampler = AlignedSampler(model, automaton, max_tokens=40, seed=17, patience=0, max_prefixes=10)
    told: list[tuple[int, int]] = []
    samples = sampler.sample(40, progress=lambda done, total: told.append((done, total)))
    assert [s.exact for s in samples[:2]] == [True, False]
    assert told[0] == (1, 40)
    assert told[1] == (17, 40)  # a run of 16 particles
    assert told[-1] == (40, 40)


@pytest.mark.parametrize("method", ["masked", "rejection", "asap", "cars", "smc", "awrs", "metropolis_hastings"])
def test_named_methods(method: str) -> None:
    model, automaton = load("binary5-fewshot")
    sampler = AlignedSampler(model, automaton, max_tokens=40, method=method)  # type: ignore[arg-type]
    assert sampler.method == method
    assert all(automaton.constraint.accepts(s.text) for s in sampler.sample(3))


def test_unknown_methods() -> None:
    model, automaton = load("binary5-fewshot")
    with pytest.raises(ValueError, match=r'expected a method "auto", "enumerate", .*; pass one of them'):
        AlignedSampler(model, automaton, method="magic")  # type: ignore[arg-type]
    with pytest.raises(tokamata.UnsupportedError):
        AlignedSampler(model, automaton, top_p=0.5)


@pytest.mark.parametrize("method", ["auto", "enumerate", "masked", "smc"])
def test_errors_of_options_name_the_class_that_was_called(method: Any) -> None:
    model, automaton = load("binary5-instruct")
    for options in ({"temperature": 0}, {"temperature": "x"}, {"max_tokens": None}, {"top_k": 5}, {"no_such": 1}):
        with pytest.raises((TypeError, ValueError), match=r"^AlignedSampler: "):
            AlignedSampler(model, automaton, method=method, **options)
    with pytest.raises(tokamata.UnsupportedError, match=r"^AlignedSampler: top_k"):
        AlignedSampler(model, automaton, method=method, top_k=5)
