"""Constrained decoding in plain PyTorch, without `generate`: one mask, one argmax, one step a token.

python examples/plain_loop.py [FOLDER]      # a transformers model folder; default: the model of `make demo`
"""

from __future__ import annotations

import argparse

import torch
from model import load, model_folder
from tokamata.decode.model_folder import cache_name

import tokamata


def write(model: torch.nn.Module, prompt: torch.Tensor, automaton: tokamata.TokenAutomaton, most: int) -> list[int]:
    """Continue a prompt, int64 [1, tokens], greedily by a member of at most so many tokens; return its tokens."""
    state = automaton.start(max_tokens=most)
    mask = torch.zeros(automaton.words, dtype=torch.int32)
    bit = torch.arange(32, dtype=torch.int32)
    past, ids, written = {cache_name(model): None}, prompt, []
    with torch.inference_mode():
        while not state.is_finished:
            out = model(input_ids=ids, use_cache=True, **past)
            state.fill_mask(mask)
            allowed = (mask[:, None] >> bit & 1).bool().flatten()[: out.logits.shape[-1]]
            token = int(out.logits[0, -1].masked_fill(~allowed, -torch.inf).argmax())
            state.advance(token)
            written.append(token)
            past, ids = {name: out[name] for name in past}, torch.tensor([[token]])
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="a transformers model folder; default: the model of make demo")
    model, tokenizer, vocabulary = load(model_folder(parser.parse_args().folder))
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "born": {"type": "integer"}}}
    schema |= {"required": ["name", "born"], "additionalProperties": False}
    automaton = tokamata.compile(tokamata.json_schema(schema), vocabulary)
    prompt = tokenizer("Ada Lovelace was born in London in 1815. As JSON: ", return_tensors="pt").input_ids
    print(tokenizer.decode(write(model, prompt, automaton, 60), skip_special_tokens=True))


if __name__ == "__main__":
    main()
