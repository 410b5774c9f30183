"""Frozen prefix trees of a real model, and exact figures about laws over their members."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tokamata.decode.sampling import PrefixTreeModel, Sample

import tokamata
from tokamata import TokenAutomaton

FOLDER = Path(__file__).resolve().parents[1] / "corpus" / "lm_trees"
BINARY5 = ("binary5-fewshot", "binary5-short", "binary5-instruct")
NAMES = (*BINARY5, "binary8-fewshot", "bv4-eq-bvand-depth1", "weekdays-all-tokenizations")
Law = Mapping[tuple[int, ...], float]


def load(name: str) -> tuple[PrefixTreeModel, TokenAutomaton]:
    """The model of a tree and the automaton of its texts."""
    model = PrefixTreeModel.load(FOLDER / f"{name}.json")
    return model, tokamata.compile(tokamata.choice([t.decode() for t in model.texts()]), model.vocabulary)


def kl(law: Callable[[tuple[int, ...]], float], exact: Law) -> float:
    """KL divergence in nats of a sampler's law from the exact one: the mean under the sampler of log(law / exact)."""
    total = 0.0
    for tokens, log_p in exact.items():
        log_q = law(tokens)
        if log_q > -math.inf:
            total += math.exp(log_q) * (log_q - log_p)
    return total


def chi_square_p(drawn: Iterable[tuple[int, ...]], exact: Law) -> float:
    """p of Pearson's test that draws come from a law; members expected fewer than 5 times are taken together.

    By the cube-root approximation of Wilson and Hilferty (1931).
    """
    counts = Counter(drawn)
    n = sum(counts.values())
    rare_seen = rare_expected = statistic = 0.0
    cells = 0
    for tokens, log_p in exact.items():
        expected = n * math.exp(log_p)
        if expected < 5:
            rare_seen += counts[tokens]
            rare_expected += expected
        else:
            statistic += (counts[tokens] - expected) ** 2 / expected
            cells += 1
    if rare_expected > 0:
        statistic += (rare_seen - rare_expected) ** 2 / rare_expected
        cells += 1
    freedom = cells - 1
    if set(counts) - set(exact) or freedom < 1:
        return 0.0
    z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    return 0.5 * math.erfc(z / math.sqrt(2))


def weighted_law(samples: Iterable[Sample]) -> dict[tuple[int, ...], float]:
    """Log-probabilities of what was drawn, weights taken into account."""
    samples = list(samples)
    top = max(s.log_weight for s in samples)
    mass: dict[tuple[int, ...], float] = {}
    for s in samples:
        mass[s.tokens] = mass.get(s.tokens, 0.0) + math.exp(s.log_weight - top)
    total = sum(mass.values())
    return {tokens: math.log(m / total) for tokens, m in mass.items() if m > 0}
