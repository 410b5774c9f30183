"""What the weights of samples say of Z."""

from __future__ import annotations

import math

import pytest
from oracle.random_model import TableModel
from tokamata.decode.sampling import AWRS, SMC, ASAp, Masked, Sample

import tokamata

Z = 0.05


@pytest.mark.parametrize("kind", [Masked, ASAp, SMC, AWRS])
def test_tries_that_die_count_for_z_and_are_no_samples(kind: type) -> None:
    # b is likely and always dies; a is a member, and so is accccc.
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"c", b"d", None], eos_token_ids=[4])
    automaton = tokamata.compile(tokamata.regex("a(ccccc)?|bd"), vocabulary)
    rows = {(): {0: Z, 1: 1 - Z}, (0,): {2: 0.5, 4: 0.5}, (1,): {0: 1.0}, (0, 2, 2, 2, 2, 2): {4: 1.0}}
    options = {"particles": 4, "threshold": 0} if issubclass(kind, SMC) else {}
    sampler = kind(TableModel(rows, likely=2), automaton, max_tokens=8, seed=1, **options)
    samples: list[Sample] = sampler.sample(400)
    statistics = sampler.statistics
    assert abs(math.exp(statistics.log_z) - Z) <= 5 * Z * statistics.log_z_error + 1e-9
    mean = sum(math.exp(s.log_weight) for s in samples) / len(samples)
    if kind is ASAp:  # which learns where texts die
        assert abs(mean - Z) < 0.01
    else:
        came = Z if kind in (Masked, SMC) else 400 / statistics.tries
        assert abs(mean * came - Z) < 0.02, mean
        assert mean > 10 * Z  # of the samples alone it is no estimate of Z
    law = sum(math.exp(s.log_weight) for s in samples if s.tokens == (0,)) / (mean * len(samples))
    assert abs(law - 0.5) < 0.1  # and averages are right
