from __future__ import annotations

import math
import random

import pytest
from oracle.lm_trees import chi_square_p, kl, load, weighted_law
from oracle.random_model import RandomModel, TableModel, conditional, random_vocabulary
from tokamata.decode.sampling import Masked, MetropolisHastings

import tokamata


@pytest.mark.parametrize("proposal", ["mixed", "uniform", "restart", "smc"])
def test_the_limit_is_the_conditional_law(proposal: str) -> None:
    vocabulary = random_vocabulary(random.Random(3))
    constraint = tokamata.regex("(a|bb)*a")
    model = RandomModel(len(vocabulary), 3, spread=1.0)
    exact, _ = conditional(model, vocabulary, constraint, 5)
    sampler = MetropolisHastings(
        model,
        tokamata.compile(constraint, vocabulary),
        steps=8 if proposal == "smc" else 25,
        proposal=proposal,  # type: ignore[arg-type]
        particles=2,
        max_tokens=5,
        seed=5,
    )
    assert chi_square_p((s.tokens for s in sampler.sample(800)), exact) > 1e-3


@pytest.mark.parametrize("proposal", ["mixed", "uniform", "restart", "smc"])
def test_dead_ends_leave_the_limit_as_it_is(proposal: str) -> None:
    # b is likely and always dies; a is a member, and so is accccc.
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"c", b"d", None], eos_token_ids=[4])
    automaton = tokamata.compile(tokamata.regex("a(ccccc)?|bd"), vocabulary)
    rows = {(): {0: 0.05, 1: 0.95}, (0,): {2: 0.5, 4: 0.5}, (1,): {0: 1.0}, (0, 2, 2, 2, 2, 2): {4: 1.0}}
    model = TableModel(rows, likely=2)
    exact = {(0,): math.log(0.5), (0, 2, 2, 2, 2, 2): math.log(0.5)}
    sampler = MetropolisHastings(model, automaton, steps=15, proposal=proposal, particles=2, max_tokens=8, seed=1)  # type: ignore[arg-type]
    samples = sampler.sample(400 if proposal in ("smc", "restart") else 1000)  # of slow steps fewer
    assert chi_square_p((s.tokens for s in samples), exact) > 1e-3
    assert abs(math.exp(sampler.statistics.log_z) - 0.05) < 5 * 0.05 * sampler.statistics.log_z_error


def test_what_accepts_is_independent_of_what_proposed() -> None:
    # A run of one particle is a text by masking: both members are proposed alike, and b has five times the weight.
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"c", None], eos_token_ids=[3])
    automaton = tokamata.compile(tokamata.regex("ac|b"), vocabulary)
    rows = {(): {0: 0.5, 1: 0.5}, (0,): {2: 0.1, 0: 0.9}, (1,): {3: 0.5, 0: 0.5}, (0, 2): {3: 1.0}}
    model = TableModel(rows)
    share = 0.5  # of ac
    for _ in range(2):
        share = 0.5 * share + 0.5 * 0.2 * (1 - share)
    drawn = []
    for seed in range(3000):
        options = {"steps": 2, "proposal": "smc", "particles": 1, "max_tokens": 4, "seed": seed}
        drawn += MetropolisHastings(model, automaton, **options).sample(1)  # type: ignore[arg-type]
    law = {(0, 2): math.log(share), (1,): math.log1p(-share)}
    assert chi_square_p((s.tokens for s in drawn), law) > 1e-3


def test_steps_bring_it_nearer() -> None:
    model, automaton = load("binary5-fewshot")
    exact = model.conditional()
    masked = kl(Masked(model, automaton, max_tokens=40).log_prob, exact)
    before = masked + 0.1
    for steps in (0, 2, 10):
        sampler = MetropolisHastings(model, automaton, steps=steps, max_tokens=40, seed=1)
        law = weighted_law(sampler.sample(500))
        now = kl(lambda tokens, law=law: law.get(tokens, float("-inf")), exact)  # type: ignore[misc]
        assert now < before
        if steps == 0:
            assert abs(now - masked) < 0.3
        before = 0.5 * now
    assert 0 < sampler.statistics.accepted < sampler.statistics.tries == 5000
    walk = MetropolisHastings(model, automaton, steps=1, independent=False, max_tokens=40, seed=1)
    assert chi_square_p([s.tokens for s in walk.sample(9000)][::30], exact) > 1e-3


@pytest.mark.parametrize("proposal", ["mixed", "uniform", "restart", "smc"])
def test_new_texts_estimate_z(proposal: str) -> None:
    model, automaton = load("binary5-fewshot")
    sampler = MetropolisHastings(model, automaton, proposal=proposal, max_tokens=40, seed=2)  # type: ignore[arg-type]
    assert math.isnan(sampler.statistics.log_z)
    sampler.sample(40)
    statistics = sampler.statistics
    assert 0 < statistics.log_z_error < 0.2
    assert abs(math.expm1(statistics.log_z - model.log_z)) < 5 * statistics.log_z_error
    assert statistics.steps > 40 * 7


def test_particles_mix_where_single_texts_stay() -> None:
    model, automaton = load("bv4-eq-bvand-depth1")
    exact = model.conditional()

    def after(**options: object) -> float:
        sampler = MetropolisHastings(model, automaton, max_tokens=40, seed=3, **options)  # type: ignore[arg-type]
        law = weighted_law(sampler.sample(200))
        return kl(lambda tokens: law.get(tokens, float("-inf")), exact)

    assert after(steps=3, proposal="smc") < 0.2
    assert after(steps=10) > 0.5


def test_wrong_arguments() -> None:
    model, automaton = load("binary5-fewshot")
    with pytest.raises(ValueError, match=r'expected a proposal "mixed", .*; pass one of them'):
        MetropolisHastings(model, automaton, proposal="jump")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected steps >= 0"):
        MetropolisHastings(model, automaton, steps=-1)
