"""What masks cost beside a model on the CPU: Gemma 3 270M, batches of 1 and 8, and speculation with the constraint.

    python examples/benchmarks/generation.py [--model FOLDER] [--tokens 40] [--csv generation.csv]

Each batch writes members of a JSON Schema with transformers' ``generate``; the time inside of the logits processor is
set against that of everything else, both as processor time of the main thread, so that a busy machine does not count.
The speculative part draws texts by `tokamata.decode.speculative.Speculative` with a draft that counts pairs of tokens
in the target's own texts (an n-gram model), with the constraint on the draft and without, and tells how many of its
tokens are accepted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from common import console, table_of, write_csv
from tokamata.decode.speculative import Speculative
from tokamata.decode.transformers import ConstrainedLogitsProcessor

import tokamata

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 24},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "email": {"type": "string", "format": "email"},
        "admin": {"type": "boolean"},
    },
    "required": ["name", "age", "email", "admin"],
    "additionalProperties": False,
}
PROMPT = "A person as JSON: "


class Timed:
    """A logits processor that adds up its own time."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.seconds, self.calls = inner, 0.0, 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Call the processor."""
        begin = time.thread_time()
        out = self.inner(input_ids, scores)
        self.seconds += time.thread_time() - begin
        self.calls += 1
        return out


class Target:
    """A transformers model behind a prompt, as samplers ask for it."""

    def __init__(self, model: Any, prompt: list[int]) -> None:
        self.model, self.prompt, self.calls = model, prompt, 0

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
        """One forward pass over the longest prefix, of which the others are prefixes."""
        import torch

        self.calls += 1
        longest = max(prefixes, key=len)
        with torch.no_grad():
            logits = self.model(torch.tensor([[*self.prompt, *longest]])).logits[0].float()
        rows = logits[[len(self.prompt) + len(p) - 1 for p in prefixes]]
        return torch.log_softmax(rows, -1).numpy()


class Pairs:
    """An n-gram draft: which token follows which in some texts, mixed with which tokens there are at all."""

    def __init__(self, texts: list[tuple[int, ...]], size: int) -> None:
        self.following: dict[int, Counter[int]] = defaultdict(Counter)
        self.all = np.full(size, 1e-3)
        for text in texts:
            for last, token in zip((-1, *text), text, strict=False):
                self.following[last][token] += 1
                self.all[token] += 1
        self.all /= self.all.sum()

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
        """Counts of the last token's followers."""
        rows = []
        for prefix in prefixes:
            row = 0.3 * self.all
            counts = self.following.get(prefix[-1] if prefix else -1)
            if counts:
                total = sum(counts.values())
                for token, count in counts.items():
                    row[token] += 0.7 * count / total
            rows.append(np.log(row / row.sum()))
        return np.stack(rows)


def main() -> None:
    assert __doc__
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, help="a transformers model folder; default: the demo's, converted once")
    options.add_argument("--tokens", type=int, default=40, help="new tokens of each row (default 40)")
    options.add_argument("--max-tokens", type=int, default=60, help="of each speculative text (default 60)")
    options.add_argument("--samples", type=int, default=6, help="texts of each speculative run (default 6)")
    options.add_argument("--csv", type=Path, help="write the figures to this file")
    asked = options.parse_args()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessorList

    folder = asked.model
    if folder is None:
        from model import model_folder

        folder = model_folder(console=console())
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
    vocabulary = tokamata.Vocabulary.from_transformers(tokenizer, size=model.config.vocab_size)
    automaton = tokamata.compile(tokamata.json_schema(PERSON, whitespace="compact"), vocabulary)
    prompt = tokenizer(PROMPT).input_ids
    figures: list[dict[str, object]] = []
    table = table_of("masks beside the model", ("rows",), ("steps", "model ms", "masks ms", "share"))
    for rows in (1, 8):
        inputs = torch.tensor([prompt] * rows)
        for turn in range(2):  # the first one warms up
            timed = Timed(ConstrainedLogitsProcessor(automaton, len(prompt)))
            torch.manual_seed(turn)
            begin = time.thread_time()
            model.generate(
                inputs, attention_mask=torch.ones_like(inputs), logits_processor=LogitsProcessorList([timed]),
                max_new_tokens=asked.tokens, do_sample=True, pad_token_id=vocabulary.eos_token_ids[0],
            )  # fmt: skip
            seconds = time.thread_time() - begin
        rest, masks = (seconds - timed.seconds) / timed.calls * 1e3, timed.seconds / timed.calls * 1e3
        table.add_row(str(rows), str(timed.calls), f"{rest:.1f}", f"{masks:.3f}", f"{masks / rest:.2%}")
        figures.append({"rows": rows, "model ms": rest, "masks ms": masks, "share": masks / rest})
    console().print(table)

    target = Target(model, prompt)
    first = Speculative(target, Uniform(len(vocabulary)), automaton, lookahead=1, max_tokens=asked.max_tokens, seed=7)
    texts = [sample.tokens for sample in first.sample(3)]
    draft = Pairs(texts, len(vocabulary))
    columns = ("proposed", "accepted", "rate", "tokens a call")
    table = table_of("speculative sampling, n-gram draft", ("draft",), columns)
    for constrained in (False, True):
        options_of = {"constrain_draft": constrained, "max_tokens": asked.max_tokens, "seed": 1}
        sampler = Speculative(target, draft, automaton, lookahead=4, **options_of)
        sampler.sample(asked.samples)
        found = sampler.statistics
        name = "constrained" if constrained else "free"
        cells = (f"{found['proposed']:.0f}", f"{found['accepted']:.0f}", f"{found['acceptance_rate']:.1%}")
        table.add_row(name, *cells, f"{found['tokens_per_call']:.2f}")
        figures.append({"draft": name} | dict(found))
    console().print(table)
    write_csv(asked.csv, figures)


class Uniform:
    """A draft that knows nothing."""

    def __init__(self, size: int) -> None:
        self.row = np.full(size, -np.log(size))

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
        """The same for every token."""
        return np.tile(self.row, (len(prefixes), 1))


if __name__ == "__main__":
    main()
