"""A byte-level tokenizer and a random language model, small enough to be made anew by every test module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast


def byte_tokenizer(
    special: Sequence[str] = ("<end>",), merges: Sequence[tuple[str, str]] = (), eos: str = "<end>"
) -> PreTrainedTokenizerFast:
    """Return a tokenizer of special tokens, then bytes, then merged pairs; it adds nothing to a text."""
    words = {word: i for i, word in enumerate([*special, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    words |= {a + b: len(words) + i for i, (a, b) in enumerate(merges)}
    made = Tokenizer(models.BPE(words, list(merges)))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    others = [word for word in special if word != eos]
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=eos, pad_token=eos, additional_special_tokens=others
    )


def save_tiny_model(
    folder: Path, tokenizer: PreTrainedTokenizerFast, *, size: int | None = None, eos: int | list[int] = 0
) -> Path:
    """Save a model folder: the tokenizer and a random Llama of ``size`` logits (default: as many as tokens)."""
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=size or len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=512,
        bos_token_id=None,
        eos_token_id=eos,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
