"""Continuous batching of transformers: requests come and go, each inside of its own constraint."""

from __future__ import annotations

import random

import pytest
import torch
from tokamata.decode.transformers_batching import attach
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.generation import ContinuousBatchingConfig

import tokamata

TOKENS: list[bytes | None] = [None, None, *(bytes([c]) for c in b"abcdefghij0123456789-"), b"ab", b"12", b"yes", b"no"]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[1])
PATTERNS = ["[a-e]{2,6}-[0-9]{2,5}", "yes|no", "(ab|12){3}", "[0-9]{12}"]


def model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(TOKENS) + 3, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, bos_token_id=None, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


def test_each_request_keeps_to_its_constraint() -> None:
    settings = GenerationConfig(max_new_tokens=24, do_sample=True, eos_token_id=1, pad_token_id=0)
    config = ContinuousBatchingConfig(
        use_async_batching=False, use_cuda_graph=False, num_blocks=16, max_batch_tokens=64
    )
    manager = model().init_continuous_batching(generation_config=settings, continuous_batching_config=config)
    attach(manager, threads=2)
    manager.start()
    rng = random.Random(2)
    automata = [tokamata.compile(tokamata.regex(p), VOCABULARY) for p in PATTERNS]
    asked: dict[str, tokamata.TokenAutomaton | None] = {}
    try:
        for i in range(10):
            automaton = automata[i % 5] if i % 5 < 4 else None
            more = {"constraint": automaton} if automaton else {}
            prompt = [rng.randrange(2, 20) for _ in range(rng.randrange(1, 9))]
            asked[manager.add_request(prompt, request_id=f"r{i}", max_new_tokens=10 + 2 * i, **more)] = automaton
        done = {}
        while len(done) < len(asked):
            result = manager.get_result(timeout=20)
            assert result is not None
            if result.is_finished():
                done[result.request_id] = result.generated_tokens
    finally:
        manager.stop(block=True)
    ended = 0
    for name, automaton in asked.items():
        if automaton is None:
            continue
        written = done[name]
        assert automaton.start().validate(written) == len(written), (name, written)
        ended += written[-1] == 1
    assert ended >= 6


def test_asynchronous_batching_is_refused() -> None:
    class Manager:
        continuous_batching_config = ContinuousBatchingConfig(use_async_batching=True)

    with pytest.raises(ValueError, match="pass ContinuousBatchingConfig\\(use_async_batching=False\\)"):
        attach(Manager())
