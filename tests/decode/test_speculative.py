"""Speculative sampling keeps the target's constrained distribution, whatever the draft is."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch
from tokamata.decode.speculative import Speculative, constrained_probs, residual, verify
from tokamata.decode.transformers import ConstrainedLogitsProcessor
from transformers import LlamaConfig, LlamaForCausalLM

import tokamata

TOKENS: list[bytes | None] = [None, b"a", b"b", b"ab", b"c", b"ba", b"cc"]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[0])
AUTOMATON = tokamata.compile(tokamata.regex("(ab|ba)c{1,2}|c(a|b)?"), VOCABULARY)


class Table:
    """A model with made-up probabilities that depend on the last two tokens."""

    def __init__(self, seed: int, sharp: float = 1.5) -> None:
        self.seed, self.sharp, self.calls = seed, sharp, 0

    @cache  # noqa: B019
    def row(self, prefix: tuple[int, ...]) -> np.ndarray:
        rng = np.random.default_rng([self.seed, len(prefix), *prefix[-2:]])
        logits = rng.normal(size=len(TOKENS)) * self.sharp
        return logits - np.log(np.exp(logits).sum())

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
        self.calls += 1
        return np.stack([self.row(p) for p in prefixes])


def exact(model: Table, automaton: tokamata.TokenAutomaton) -> dict[tuple[int, ...], float]:
    """The distribution of masking the model at every token."""
    found = {}
    work = [((), 1.0)]
    while work:
        prefix, p = work.pop()
        state = automaton.start()
        for token in prefix:
            state.advance(token)
        if state.is_finished:
            found[prefix] = p
            continue
        probs = constrained_probs(model.row(prefix), state.mask())
        work += [((*prefix, t), p * probs[t]) for t in np.flatnonzero(probs).tolist()]
    return found


@pytest.mark.parametrize("constrain_draft", [True, False])
@pytest.mark.parametrize("lookahead", [1, 3])
def test_samples_are_distributed_as_the_masked_target(constrain_draft: bool, lookahead: int) -> None:
    target, draft, n = Table(1), Table(2), 4000
    expected = exact(target, AUTOMATON)
    assert math.isclose(sum(expected.values()), 1)
    sampler = Speculative(target, draft, AUTOMATON, lookahead=lookahead, constrain_draft=constrain_draft, seed=5)
    counts = dict.fromkeys(expected, 0)
    for sample in sampler.sample(n):
        counts[sample.tokens] += 1
        assert AUTOMATON.constraint.accepts(sample.text)
    likely = [k for k in expected if expected[k] * n >= 5]
    observed = np.array([counts[k] for k in likely] + [n - sum(counts[k] for k in likely)])
    wanted = np.array([expected[k] * n for k in likely] + [n - sum(expected[k] * n for k in likely)])
    chi = float((((observed - wanted) ** 2) / np.maximum(wanted, 1e-9))[wanted > 1].sum())
    freedom = len(likely)
    assert chi < freedom + 4 * math.sqrt(2 * freedom) + 4, (chi, freedom)


class Padded(Table):
    """The same model with rows of another width: padding that it likes, or fewer tokens."""

    def __init__(self, seed: int, width: int) -> None:
        super().__init__(seed)
        self.width = width

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
        rows = super().next_log_probs(prefixes)
        more = np.full((len(rows), max(0, self.width - len(TOKENS))), 2.0)
        return np.concatenate([rows, more], axis=1)[:, : self.width]


@pytest.mark.parametrize("constrain_draft", [True, False])
@pytest.mark.parametrize("widths", [(7, 9), (9, 7), (40, 33), (9, 5), (64, 4)])
def test_models_of_one_family_are_padded_to_different_widths(widths: tuple[int, int], constrain_draft: bool) -> None:
    n = 1500
    target, draft = Padded(1, widths[0]), Padded(2, widths[1])
    sampler = Speculative(target, draft, AUTOMATON, lookahead=3, constrain_draft=constrain_draft, seed=7)
    expected = exact(Table(1), AUTOMATON)
    counts = dict.fromkeys(expected, 0)
    for sample in sampler.sample(n):
        counts[sample.tokens] += 1
    assert max(abs(counts[k] / n - expected[k]) for k in expected) < 0.05
    assert sampler.statistics["accepted"] > 0


def test_one_step_is_exact() -> None:
    """draft(x) min(1, target(x) / draft(x)) + (chance of refusal) residual(x) = target(x), for every x."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        target, draft = rng.dirichlet([0.3] * 6), rng.dirichlet([0.3] * 6)
        for zeros in (target, draft):
            zeros[rng.random(6) < 0.3] = 0
            zeros /= zeros.sum() if zeros.sum() else 1
        if not target.sum() or not draft.sum():
            continue
        kept = np.minimum(draft, target)
        assert np.allclose(kept + (1 - kept.sum()) * residual(target, draft), target), seed


def test_verify_follows_that_step() -> None:
    rng = np.random.default_rng(3)
    target, draft = rng.dirichlet([1.0] * 4), rng.dirichlet([1.0] * 4)
    last = rng.dirichlet([1.0] * 4)
    n = 20_000
    first, after = np.zeros(4), np.zeros(4)
    for _ in range(n):
        token = int(rng.choice(4, p=draft))
        accepted, following = verify([target, last], [draft], [token], rng)
        first[token if accepted else following] += 1
        if accepted:
            after[following] += 1
    assert np.abs(first / n - target).max() < 0.015
    assert np.abs(after / after.sum() - last).max() < 0.02


def test_the_constraint_on_the_draft_accepts_more() -> None:
    rates = {}
    for constrained in (True, False):
        sampler = Speculative(Table(1), Table(1, 1.4), AUTOMATON, constrain_draft=constrained, seed=1)
        sampler.sample(400)
        figures = sampler.statistics
        assert figures["accepted"] <= figures["proposed"]
        rates[constrained] = figures["acceptance_rate"], figures["tokens_per_call"]
    assert rates[True][0] > 0.9
    assert rates[False][0] < 0.6
    assert rates[True][1] > 1.3 * rates[False][1]


def test_a_target_that_gives_nothing_to_what_is_allowed() -> None:
    class Never(Table):
        def row(self, prefix: tuple[int, ...]) -> np.ndarray:
            out = np.full(len(TOKENS), -np.inf)
            out[6] = 0.0
            return out

    sampler = Speculative(Never(1), Never(1), AUTOMATON, seed=2, max_tokens=4)
    for sample in sampler.sample(50):
        assert AUTOMATON.constraint.accepts(sample.text)
        assert len(sample.tokens) <= 4


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match="expected lookahead >= 1, got 0"):
        Speculative(Table(1), Table(2), AUTOMATON, lookahead=0)
    with pytest.raises(tokamata.BudgetError, match="max_tokens=1 is too small"):
        Speculative(Table(1), Table(2), AUTOMATON, max_tokens=1)


def test_assisted_generation_of_transformers() -> None:
    """generate(assistant_model=...) masks its drafts with the same processor, and greedy texts do not change."""
    letters = [None, None, *(bytes([c]) for c in b"abcdefghij0123456789-"), b"ab", b"12"]
    vocabulary = tokamata.Vocabulary(letters, eos_token_ids=[1])

    def model(seed: int, layers: int) -> torch.nn.Module:
        torch.manual_seed(seed)
        config = LlamaConfig(
            vocab_size=len(letters), hidden_size=16, intermediate_size=32, num_hidden_layers=layers,
            num_attention_heads=2, num_key_value_heads=1, bos_token_id=None, eos_token_id=1, pad_token_id=0,
        )  # fmt: skip
        return LlamaForCausalLM(config).eval()

    large, small = model(0, 2), model(1, 1)
    automaton = tokamata.compile(tokamata.regex("[a-e]{2,6}-[0-9]{2,5}"), vocabulary)
    inputs = torch.tensor([[5, 6, 7]])
    texts = []
    for assistant in (None, small):
        processor = ConstrainedLogitsProcessor(automaton, 3)
        out = large.generate(
            inputs, logits_processor=[processor], max_new_tokens=20, do_sample=False, assistant_model=assistant
        )
        texts.append(out[0, 3:].tolist())
    assert texts[0] == texts[1]
    assert automaton.start().validate(texts[0]) == len(texts[0])
    torch.manual_seed(4)
    processor = ConstrainedLogitsProcessor(automaton, 3)
    sampled = large.generate(
        inputs, logits_processor=[processor], max_new_tokens=20, do_sample=True, top_k=0, assistant_model=small
    )
    assert automaton.start().validate(sampled[0, 3:].tolist()) == len(sampled[0, 3:])


@pytest.mark.parametrize("length", [None, 3])
def test_drafts_that_are_refused(length: int | None) -> None:
    """After a refused draft a row is the beginning of the last call's, and a token: the constraint goes on."""
    letters = [None, None, *(bytes([c]) for c in b"abcdefghij0123456789-")]
    automaton = tokamata.compile(tokamata.regex("[a-e]{3}-[0-9]{3}-[a-e]{3}"), tokamata.Vocabulary(letters, [1]))

    def model(seed: int) -> LlamaForCausalLM:
        torch.manual_seed(seed)
        config = LlamaConfig(
            vocab_size=len(letters), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=1, bos_token_id=None, eos_token_id=1, pad_token_id=0,
        )  # fmt: skip
        made = LlamaForCausalLM(config).eval()
        made.generation_config.num_assistant_tokens = 4
        made.generation_config.assistant_confidence_threshold = 0.0
        return made

    target, inputs = model(0), torch.tensor([[5, 6, 7]])
    processor = ConstrainedLogitsProcessor(automaton, length)
    for seed in range(1, 7):
        for more in ({"assistant_model": model(seed)}, {"prompt_lookup_num_tokens": 3}):
            torch.manual_seed(seed)
            out = target.generate(
                inputs, logits_processor=[processor], max_new_tokens=20, do_sample=seed % 2 == 0, top_k=0, **more
            )
            written = out[0, 3:].tolist()
            assert len(written) == 12, (seed, more.keys())
            assert automaton.start().validate(written) == 12, (seed, more.keys())
