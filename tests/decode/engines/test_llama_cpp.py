"""The logits processor for llama-cpp-python in its loop: called with all tokens so far and the next one's scores."""

from __future__ import annotations

import numpy as np
import pytest
from tokamata.decode.engines.llama_cpp import LogitsProcessor

import tokamata

TOKENS: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), b"ab", b"12", None]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[0])


def complete(processor: LogitsProcessor, prompt: list[int], rng: np.random.Generator, most: int = 50) -> bytes:
    """Write a text as Llama.generate does, with random scores, EOS included among the tokens that are asked for."""
    ids = list(prompt)
    for _ in range(most):
        scores = rng.normal(size=len(TOKENS) + 5).astype(np.single)
        ids.append(int(np.argmax(processor(np.array(ids, np.intc), scores))))
        if ids[-1] == 0:
            return b"".join(TOKENS[t] or b"" for t in ids[len(prompt) : -1])
    raise AssertionError("no end")


def test_completions_one_after_another_are_members() -> None:
    seed = 20261121
    rng = np.random.default_rng(seed)
    constraint = tokamata.regex("(ab|a|b|12){1,9}")
    processor = LogitsProcessor(tokamata.compile(constraint, VOCABULARY))
    written = set()
    for turn in range(60):
        text = complete(processor, [5, 6, 7][: 1 + turn % 3], rng)
        assert constraint.accepts(text), (seed, text)
        written.add(text)
    assert len(written) > 20


def test_a_prompt_that_begins_with_the_last_text() -> None:
    processor = LogitsProcessor(tokamata.compile(tokamata.regex("ab[xy]"), VOCABULARY))
    scores = np.zeros(len(TOKENS), np.single)
    processor(np.array([9], np.intc), scores.copy())
    after = processor(np.array([9, 257], np.intc), scores.copy())  # "ab": one step of the text
    assert np.flatnonzero(after == 0).tolist() == [1 + ord("x"), 1 + ord("y")]
    longer = processor(np.array([9, 257, 9, 9], np.intc), scores.copy())  # not allowed: the prompt of another text
    assert np.flatnonzero(longer == 0).tolist() == [1 + ord("a"), 257]


def test_a_budget_is_kept() -> None:
    constraint = tokamata.regex("(a|b|12)*x")
    processor = LogitsProcessor(tokamata.compile(constraint, VOCABULARY), max_tokens=6)
    for seed in range(20):
        text = complete(processor, [5], np.random.default_rng(seed), 6)
        assert constraint.accepts(text)
    with pytest.raises(tokamata.BudgetError, match="2"):
        LogitsProcessor(tokamata.compile(constraint, VOCABULARY), max_tokens=1)


def test_scores_that_are_too_few() -> None:
    processor = LogitsProcessor(tokamata.compile(tokamata.literal("a"), VOCABULARY))
    with pytest.raises(ValueError, match="3 scores for a vocabulary of 260 tokens"):
        processor(np.array([1], np.intc), np.zeros(3, np.single))
