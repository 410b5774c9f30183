from __future__ import annotations

import math

import pytest
from oracle.lm_trees import chi_square_p, load
from tokamata.decode.sampling import SMC, AlignedSampler

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
    with pytest.raises(ValueError, match="expected a method of auto, enumerate"):
        AlignedSampler(model, automaton, method="magic")  # type: ignore[arg-type]
    with pytest.raises(tokamata.UnsupportedError):
        AlignedSampler(model, automaton, top_p=0.5)
