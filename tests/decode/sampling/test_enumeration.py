from __future__ import annotations

import math
import random

import pytest
from oracle.lm_trees import NAMES, chi_square_p, load
from oracle.random_model import PATTERNS, RandomModel, TableModel, conditional, random_vocabulary
from tokamata.decode.sampling import Enumerate

import tokamata


@pytest.mark.parametrize("seed", range(12))
def test_law_is_that_of_trying_every_token_sequence(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = random_vocabulary(rng, eos=rng.choice([1, 2]))
    pattern, max_tokens, temperature = rng.choice(PATTERNS), rng.randint(4, 6), rng.choice([1.0, 0.7, 2.0])
    constraint = tokamata.regex(pattern)
    model = RandomModel(len(vocabulary), seed)
    exact, log_z = conditional(model, vocabulary, constraint, max_tokens, temperature)
    sampler = Enumerate(
        model, tokamata.compile(constraint, vocabulary), max_tokens=max_tokens, temperature=temperature, seed=seed
    )
    members = sampler.members()
    assert set(members) == set(exact), (seed, pattern)
    law = sampler.law()
    assert math.isclose(sum(map(math.exp, law.values())), 1), (seed, pattern)
    assert law == {tokens: sampler.log_prob(tokens) for tokens in members}
    for tokens, log_p in exact.items():
        assert math.isclose(sampler.log_prob(tokens), log_p, abs_tol=1e-9), (seed, pattern, tokens)
    assert math.isclose(sampler.statistics.log_z, log_z, abs_tol=1e-9)
    drawn = [s.tokens for s in sampler.sample(3000)]
    assert len(exact) == 1 or chi_square_p(drawn, exact) > 1e-4, (seed, pattern)


@pytest.mark.parametrize("name", NAMES)
def test_trees(name: str) -> None:
    model, automaton = load(name)
    sampler = Enumerate(model, automaton, max_tokens=40)
    assert sampler.members().keys() == model.members.keys()
    assert math.isclose(sampler.statistics.log_z, model.log_z, abs_tol=1e-9)
    sample = sampler.sample(1)[0]
    assert sample.exact
    assert sample.log_weight == 0
    assert math.isclose(sample.log_p_model, model.members[sample.tokens])
    assert sample.text.encode() in model.texts()


def test_too_many_prefixes() -> None:
    vocabulary = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
    automaton = tokamata.compile(tokamata.regex("[ab]*"), vocabulary)
    with pytest.raises(tokamata.LimitError, match="max_prefixes = 50 is reached"):
        Enumerate(RandomModel(3, 0), automaton, max_tokens=20, max_prefixes=50).sample(1)


def test_what_was_refused_is_refused_again() -> None:
    vocabulary = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
    sampler = Enumerate(TableModel({}, likely=0), tokamata.compile(tokamata.literal("b"), vocabulary), max_tokens=4)
    for ask in (sampler.members, sampler.law, lambda: sampler.log_prob([1]), sampler.sample):
        with pytest.raises(tokamata.ConstraintError, match="gives every member within max_tokens = 4 probability zero"):
            ask()
