"""Rows by tree attention are those of reading each prefix from the prompt on; tiny random models."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from tokamata.decode.sampling import CARS, TransformersModel
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

import tokamata

pytestmark = pytest.mark.filterwarnings("error::FutureWarning")  # names that transformers gives up
V = 60
SMALL = {
    "vocab_size": V,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads of tiny models wait for each other for longer than they work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def model_of(kind: str) -> torch.nn.Module:
    torch.manual_seed(3)
    if kind == "gpt2":
        model: torch.nn.Module = GPT2LMHeadModel(GPT2Config(vocab_size=V, n_embd=32, n_layer=2, n_head=2))
    elif kind == "llama":
        model = LlamaForCausalLM(LlamaConfig(**SMALL))
    elif kind == "qwen2":
        model = Qwen2ForCausalLM(Qwen2Config(**SMALL))
    elif kind == "mistral":
        model = MistralForCausalLM(MistralConfig(**SMALL, sliding_window=5))
    else:
        layers = ["sliding_attention", "full_attention", "sliding_attention"]
        config = Gemma3TextConfig(**SMALL, head_dim=16, sliding_window=6, layer_types=layers, query_pre_attn_scalar=16)
        model = Gemma3ForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)  # far from uniform
    return model.eval()


@pytest.mark.parametrize("kind", ["gpt2", "llama", "qwen2", "mistral", "gemma3"])
def test_rows_are_those_of_the_plain_model(kind: str) -> None:
    model = model_of(kind)
    prompt = [0, 7, 9, 7, 30, 2, 4, 4]
    rng = random.Random(5)
    tree = TransformersModel(model, prompt, max_cached=30, batch=5)
    plain = TransformersModel(model, prompt, tree_attention=False)
    asked: list[tuple[int, ...]] = [()]
    for _ in range(6):
        prefixes = []
        for _ in range(rng.randint(1, 6)):
            prefix = rng.choice(asked)
            prefixes.append((*prefix, *(rng.randrange(V) for _ in range(rng.randint(0, 3)))))
        asked += prefixes
        rows = tree.next_log_probs(prefixes)
        np.testing.assert_allclose(rows, plain.next_log_probs(prefixes), atol=2e-4)
        np.testing.assert_allclose(np.exp(rows).sum(axis=1), 1, atol=1e-4)


def test_tokens_are_read_once() -> None:
    model = model_of("llama")
    passes: list[int] = []
    model.register_forward_pre_hook(
        lambda _, args, kwargs: passes.append(kwargs["input_ids"].shape[1]), with_kwargs=True
    )
    tree = TransformersModel(model, [0, 5, 6])
    tree.next_log_probs([()])
    tree.next_log_probs([(3,), (4,)])
    tree.next_log_probs([(3, 1), (3, 2), (4, 1)])
    tree.next_log_probs([(3, 1, 9)])
    assert passes == [3, 2, 3, 1]


def test_a_failed_pass_leaves_what_was_known() -> None:
    model = model_of("llama")
    tree = TransformersModel(model, [0, 5, 6])
    plain = TransformersModel(model, [0, 5, 6], tree_attention=False)
    tree.next_log_probs([(4,), (7, 8)])
    with pytest.raises(IndexError):
        tree.next_log_probs([(4, V + 3)])
    fails = model.model.layers[1].register_forward_pre_hook(lambda *_: 1 / 0)  # the first layer has its keys by then
    with pytest.raises(ZeroDivisionError):
        tree.next_log_probs([(4, 9)])
    fails.remove()
    prefixes = [(4, 9), (7, 8, 9), (3,)]
    np.testing.assert_allclose(tree.next_log_probs(prefixes), plain.next_log_probs(prefixes), atol=2e-4)


def test_layers_that_read_otherwise_are_refused() -> None:
    model = model_of("llama")
    model.config.layer_types = ["full_attention", "chunked_attention", "full_attention"]
    with pytest.raises(tokamata.UnsupportedError, match="got chunked_attention; pass tree_attention=False"):
        TransformersModel(model, [0, 5, 6])
    TransformersModel(model, [0, 5, 6], tree_attention=False)


def test_sampling_from_a_model() -> None:
    model = model_of("gemma3")
    vocabulary = tokamata.Vocabulary([None, None, None, *[bytes([97 + i]) for i in range(26)], *[None] * 31], [1])
    automaton = tokamata.compile(tokamata.regex("[abc]{1,3}"), vocabulary)
    rows = {}
    for tree_attention in (True, False):
        source = TransformersModel(model, [0, 5, 6], tree_attention=tree_attention)
        sampler = CARS(source, automaton, max_tokens=5, batch=8, seed=2)
        rows[tree_attention] = [s.text for s in sampler.sample(20)]
    assert rows[True] == rows[False]
    assert all(automaton.constraint.accepts(t) for t in rows[True])


def test_wrong_prompts() -> None:
    with pytest.raises(ValueError, match="pass the tokenizer as well"):
        TransformersModel(model_of("gpt2"), "text")
    with pytest.raises(ValueError, match="at least one token"):
        TransformersModel(model_of("gpt2"), [])
