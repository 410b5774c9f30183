"""Random models over small vocabularies, and the conditional law by trying every token sequence."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
from numpy.typing import NDArray

import tokamata


class RandomModel:
    """Rows drawn from a seed and the prefix; counts what it was asked for."""

    def __init__(self, size: int, seed: int, spread: float = 2.0) -> None:
        self.size, self.seed, self.spread = size, seed, spread
        self.asked: list[tuple[int, ...]] = []

    def row(self, prefix: tuple[int, ...]) -> NDArray[np.float64]:
        rng = np.random.default_rng([self.seed, len(prefix), *prefix])
        logits = self.spread * rng.standard_normal(self.size)
        return logits - math.log(np.exp(logits).sum())

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> NDArray[np.float64]:
        self.asked += prefixes
        return np.stack([self.row(p) for p in prefixes])


class TableModel:
    """Rows of probabilities by prefix, zero for tokens left out; behind other prefixes one token is certain."""

    def __init__(self, rows: dict[tuple[int, ...], dict[int, float]], likely: int = 0, size: int = 8) -> None:
        self.rows, self.likely, self.size = rows, likely, size

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> NDArray[np.float64]:
        table = np.full((len(prefixes), self.size), -np.inf)
        for row, prefix in zip(table, prefixes, strict=True):
            for token, probability in self.rows.get(prefix, {self.likely: 1.0}).items():
                row[token] = math.log(probability)
        return table


def random_vocabulary(rng: random.Random, *, eos: int = 1) -> tokamata.Vocabulary:
    """Single letters a, b, some longer tokens, a special one, and EOS."""
    longer = [b"aa", b"ab", b"ba", b"bb", b"aba", b"bab", b"c"]
    tokens: list[bytes | None] = [b"a", b"b", *rng.sample(longer, rng.randint(0, 3)), None, *[None] * eos]
    return tokamata.Vocabulary(tokens, eos_token_ids=range(len(tokens) - eos, len(tokens)))


PATTERNS = ("a*b", "(ab|ba)*", "a{0,3}b?", "(a|b){2,4}", "(a|bb)*a", "b(a|b)?(ab)*", "(?!ab)[ab]{1,3}", "[abc]{1,2}b")


def conditional(
    model: RandomModel,
    vocabulary: tokamata.Vocabulary,
    accepts: tokamata.Constraint,
    max_tokens: int,
    temperature: float = 1.0,
) -> tuple[dict[tuple[int, ...], float], float]:
    """(log-probability of each member's tokens on condition of membership, log Z), every token sequence tried."""
    stop = list(vocabulary.eos_token_ids)
    text = [t for t in range(len(vocabulary)) if vocabulary.token_bytes(t)]
    found: dict[tuple[int, ...], float] = {}
    for length in range(max_tokens):
        for tokens in itertools.product(text, repeat=length):
            if not accepts.accepts(b"".join(vocabulary.token_bytes(t) or b"" for t in tokens)):
                continue
            total = 0.0
            for at in range(length + 1):
                row = model.row(tokens[:at]) / temperature
                row -= math.log(np.exp(row).sum())
                total += row[tokens[at]] if at < length else math.log(np.exp(row[stop]).sum())
            found[tokens] = total
    log_z = math.log(sum(map(math.exp, found.values()))) if found else -math.inf
    return {tokens: p - log_z for tokens, p in found.items()}, log_z
