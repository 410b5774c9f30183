"""The paper's second example on a real model: what masking writes, and what the model means.

    python examples/experiments/aligned/example2.py            # Gemma 3 270M; MODEL=folder for another

Six examples of "a binary string of length 5 that ends with a 1", then the constraint 00000 or 1 and four digits. After
0 masking can only write 00000, however unlikely the model finds it. Only the tokenizer's own segmentations count.
Source: Park et al., "Grammar-Aligned Decoding" (2024).
"""

from __future__ import annotations

import argparse
import math
import time

from rich.console import Console
from rich.table import Table
from table import stop_tokens, the_model
from tokamata.decode.sampling import CARS, ASAp, Enumerate, Masked, TransformersModel, kl_divergence

import tokamata

SHOWN = ("01101", "10011", "00101", "11001", "01011", "10111")
PROMPT = (
    "Generate a binary string of length 5 that ends with a 1.\n" + "".join(f"String: {s}\n" for s in SHOWN) + "String: "
)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    console = Console()
    model, tokenizer, vocabulary = the_model(console)
    lm = TransformersModel(model, PROMPT, tokenizer)
    automaton = tokamata.compile(tokamata.regex("00000|1[01]{4}"), vocabulary)
    options = {"stop": stop_tokens(vocabulary), "max_tokens": 8, "tokenization": "canonical"}
    begin = time.perf_counter()
    truth = Enumerate(lm, automaton, **options)  # type: ignore[arg-type]
    exact = truth.law()
    known = truth.statistics
    console.print(
        f"{len(exact)} members, {known.model_calls} model calls in {known.model_batches} passes, "
        f"{time.perf_counter() - begin:.1f} s, Z = {math.exp(known.log_z):.4f}"
    )
    masked = Masked(lm, automaton, seed=0, **options)  # type: ignore[arg-type]
    asap = ASAp(lm, automaton, seed=0, **options)  # type: ignore[arg-type]
    asap.sample(10)
    cars = CARS(lm, automaton, seed=0, **options)  # type: ignore[arg-type]
    drawn = [s.tokens for s in cars.sample(1000)]
    table = Table("text", "the model means %", "masking %", "ASAp after 10 %", "CARS, 1,000 samples %")
    for tokens in sorted(exact, key=exact.__getitem__, reverse=True):
        shares = [math.exp(law(tokens)) for law in (truth.log_prob, masked.log_prob, asap.log_prob)]
        text = b"".join(vocabulary.token_bytes(t) or b"" for t in tokens).decode()
        table.add_row(text, *(f"{100 * p:.2f}" for p in shares), f"{drawn.count(tokens) / 10:.1f}")
    console.print(table)
    console.print(
        f"KL from what the model means: masking {kl_divergence(masked.log_prob, exact):.4f}, "
        f"ASAp after 10 samples {kl_divergence(asap.log_prob, exact):.5f} nats; "
        f"CARS: {cars.statistics.tries} tries for 1,000 samples, {cars.statistics.model_calls} model calls"
    )


if __name__ == "__main__":
    main()
