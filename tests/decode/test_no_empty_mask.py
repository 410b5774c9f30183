"""No mask leaves a model without a token, whatever is tried: only where nothing is asked any more is a row all zero."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
import torch
from oracle.mask_walk import allowed, compiled
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.decode import BatchState
from tokamata.decode.transformers import ConstrainedLogitsProcessor

import tokamata


def cases(seeds: range) -> list[tuple[str, tokamata.TokenAutomaton, random.Random]]:
    """Random constraints over vocabularies that mostly cannot spell all that the constraints allow."""
    found = []
    for seed in seeds:
        rng = random.Random(seed)
        tokens, eos = random_vocabulary(rng, complete=rng.random() < 0.3)
        constraint, _, text = random_constraint(rng)
        try:
            automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
        except tokamata.ConstraintError:  # empty, or not writable
            continue
        found.append((f"seed {seed}: {text}", automaton, rng))
    return found


def test_along_random_walks_with_and_without_a_budget() -> None:
    walked = 0
    for where, automaton, rng in cases(range(30)):
        for budget in (None, *(rng.randrange(1, 12) for _ in range(3))):
            try:
                state = automaton.start(budget)
            except tokamata.BudgetError:
                continue
            for _ in range(14):
                if state.is_finished:
                    break
                ids = allowed(state.mask())
                assert ids, (where, budget, state.num_tokens)
                assert all(state.copy().allows(t) for t in rng.sample(ids, min(3, len(ids)))), where
                tokens = [rng.choice(ids) for _ in range(3)]
                drafts = state.draft_masks(tokens)
                good = state.validate(tokens)
                ended = any(t in automaton.vocabulary.eos_token_ids for t in tokens[:good])
                assert all(row.any() for row in drafts[: good + (not ended)]), where
                state.advance(tokens[0])
                walked += 1
            assert state.is_finished or budget is None or budget > 14, (where, budget)
    assert walked > 200


def test_rows_of_a_batch_always_allow_something() -> None:
    hard = tokamata.regex("[ab]*a[ab]{18}", limits=tokamata.Limits(states=2))
    bytes_only = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), b"aab", None], eos_token_ids=[257])
    found = cases(range(100, 130))
    states = [automaton.start() for _, automaton, _ in found] + [tokamata.compile(hard, bytes_only).start(), None]
    batch = BatchState(states, threads=2)
    out = batch.masks()
    rng = random.Random(5)
    for step in range(20):
        out[:] = 0
        batch.fill_masks(out)
        assert out.any(1).all(), (step, np.flatnonzero(~out.any(1)))
        ids = [rng.choice(allowed(row)) if rng.random() < 0.8 else rng.randrange(-3, 300) for row in out]
        batch.advance(ids)
        if step % 5 == 4:
            batch.rollback([rng.randrange(s.num_tokens + 1) if s is not None else 0 for s in batch])
    assert batch.errors


def test_rows_on_a_device_always_allow_something() -> None:
    tried = 0
    for where, automaton, _ in cases(range(200, 225)):
        try:
            device = automaton.to("cpu", max_states=300)
        except tokamata.LimitError:
            continue
        tokens = torch.arange(device.size)
        reached, fresh = {2}, [2]
        while fresh:  # every state that some tokens lead to; between the bytes of a token there may be others
            froms = torch.tensor(fresh, dtype=torch.int32).repeat_interleave(len(tokens))
            after = set(device.advance(froms, tokens.repeat(len(fresh))).tolist())
            fresh = sorted(after - reached)
            reached |= after
        states = torch.tensor(sorted(reached), dtype=torch.int32)
        assert device.masks(states).bool().any(1).all(), where
        scores = device.apply(torch.zeros(len(states), device.size), states)
        assert scores.isfinite().any(1).all(), where
        tried += 1
    assert tried > 5


def test_scores_of_rows_that_have_ended() -> None:
    for where, automaton, _ in cases(range(300, 320)):
        size = len(automaton.vocabulary)
        processor = ConstrainedLogitsProcessor(automaton, 1)
        ids = torch.zeros((2, 1), dtype=torch.int64)
        for _ in range(8):
            scores = processor(ids, torch.randn(2, size + 3))
            assert scores.isfinite().any(1).all(), where
            best = scores.argmax(1, keepdim=True)
            ids = torch.cat([ids, best], 1)


def test_what_could_never_be_finished_is_refused() -> None:
    letters = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
    with pytest.raises(tokamata.ConstraintError, match="can be written with the tokens"):
        tokamata.compile(tokamata.regex("a*c"), letters)
    state = tokamata.compile(tokamata.regex("a(b|bc)|b+cb*"), letters).start()
    assert allowed(state.mask()) == [0]  # "b" would need a "c"
    with pytest.raises(tokamata.VocabularyError, match="at least one end-of-sequence id"):
        tokamata.Vocabulary([b"a"], eos_token_ids=[])


PIECES = [
    b'"a',
    b'b"',
    b'"a"',
    b'"b"',
    b'","',
    b'",',
    b',"a',
    b'["',
    b'{"a',
    b'":0',
    b'":0,"',
    b":0",
    b"0}",
    b"aa",
    b"ba",
]


@pytest.mark.parametrize("bound", [{"pattern": "^[ab]{1,2}$"}, {"maxLength": 1}])
@pytest.mark.parametrize("keys", [False, True])
def test_what_occurs_once_and_takes_tokens_that_are_not_there(keys: bool, bound: dict[str, Any]) -> None:
    """Elements of an array, or keys: a token is allowed where some member that goes on with it can be written."""
    short = ["", *"ab[]{}:,0"] if "maxLength" in bound else [a + b for a in "ab" for b in ("", "a", "b")]
    refused = 0
    for seed in range(30):
        rng = random.Random(seed)
        low = rng.randrange(1, 4)
        if keys:
            schema = {"type": "object", "propertyNames": bound, "additionalProperties": {"const": 0}}
            limits = {"minProperties": low, "maxProperties": 3}
        else:
            schema = {"type": "array", "uniqueItems": True, "items": {"type": "string", **bound}}
            limits = {"minItems": low, "maxItems": 3}
        constraint = tokamata.json_schema(schema | limits, whitespace="compact", strings="canonical")
        around, after = ("{%s}", ":0") if keys else ("[%s]", "")
        members = {
            (around % ",".join(f'"{name}"{after}' for name in chosen)).encode()
            for size in range(low, 4)
            for chosen in itertools.permutations(short, size)
        }
        single = [bytes([b]) for b in b'[]{},:"0ab' if rng.random() < 0.4 or b in (around + '"').encode()]
        tokens = single + rng.sample(PIECES, rng.randrange(6))
        writable = set()  # beginnings of members from which tokens lead to the end
        for member in members:
            ends = {len(member)}
            for at in reversed(range(len(member))):
                if any(member.startswith(token, at) and at + len(token) in ends for token in tokens):
                    ends.add(at)
            writable |= {member[:at] for at in ends}
        if b"" not in writable:
            with pytest.raises(tokamata.ConstraintError, match="can be written with the tokens"):
                compiled(constraint, tokens)
            refused += 1
            continue
        automaton = compiled(constraint, tokens)
        for _ in range(4):
            state, text = automaton.start(), b""
            while not state.is_finished:
                expected = [i for i, token in enumerate(tokens) if text + token in writable]
                expected += [len(tokens)] * (text in members)
                assert allowed(state.mask()) == expected, (seed, tokens, text)
                pick = rng.choice(expected)
                state.advance(pick)
                text += (*tokens, b"")[pick]
    assert 5 < refused < 25, refused
