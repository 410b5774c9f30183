"""Masks against an explicit automaton and brute force over all tokens, on random constraints and vocabularies."""

from __future__ import annotations

import random

import numpy as np
import pytest
from oracle.random_constraint import random_constraint, random_vocabulary

import tokamata


def ids_of(mask: np.ndarray) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist())


def compare_walks(seed: int, steps: int, complete: bool, algebra: bool) -> int:
    """Random walks through one constraint; returns the number of masks compared."""
    rng = random.Random(seed)
    constraint, model, text = random_constraint(rng, algebra=algebra)
    tokens, eos = random_vocabulary(rng, complete)
    where = f"seed {seed}: {text}"
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=eos)
    alive = model.token_alive(tokens)
    if not alive[0]:
        with pytest.raises(tokamata.ConstraintError, match="compile: "):
            tokamata.compile(constraint, vocabulary)
        return 0
    automaton = tokamata.compile(constraint, vocabulary)
    compared = 0
    for _ in range(3):
        state, q = automaton.start(), 0
        for _ in range(steps):
            want = model.mask(q, tokens, eos, alive)
            got = ids_of(state.mask())
            different = sorted(got ^ want)[:5]
            assert got == want, f"{where}: {[(i, tokens[i], i in got) for i in different]}"
            assert state.is_final == bool(model.final[q]), where
            compared += 1
            choices = sorted(want - set(eos))
            if not choices:
                break
            token = rng.choice(choices)
            state.advance(token)
            q = model.run(tokens[token] or b"", q)
    return compared


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("algebra", [True, False])
@pytest.mark.parametrize("block", range(4))
def test_masks_equal_brute_force(block: int, algebra: bool, complete: bool) -> None:
    compared = sum(compare_walks(1000 * block + i, 6, complete, algebra) for i in range(15))
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100, 130))
def test_masks_equal_brute_force_long(block: int) -> None:
    compared = sum(compare_walks(1000 * block + i, 8, i % 2 == 0, i % 3 > 0) for i in range(100))
    assert compared > 200
