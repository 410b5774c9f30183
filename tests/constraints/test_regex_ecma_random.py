"""Random patterns in ECMA-262's syntax against Node.js, where it is installed."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter

import pytest
from oracle.ecma_regex import NODE, Judge, Patterns, judge, random_text

import tokamata
from tokamata import regex

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js")
LIMITS = tokamata.Limits(seconds=2, search_seconds=2)


def texts_of(rng: random.Random, constraint: tokamata.Constraint | None) -> list[str]:
    """Random texts and members; the latter without characters that Unicode may have got since Node.js was made."""
    members = [member.decode() for member in constraint.examples(6, seed=rng.randrange(1000))] if constraint else []
    assigned = [text for text in members if not any(unicodedata.category(c) == "Cn" for c in text)]
    return [random_text(rng) for _ in range(12)] + assigned


def compare(node: Judge, seed: int) -> Counter[str]:
    rng = random.Random(seed)
    pattern = Patterns(rng).pattern()
    try:
        constraint, wrong = regex(pattern, "ecma", limits=LIMITS), ""
        texts = texts_of(rng, constraint)
        accepted = [constraint.accepts(text) for text in texts]
    except (tokamata.UnsupportedError, tokamata.LimitError):
        return Counter(refused=1)
    except tokamata.ConstraintError as error:
        constraint, wrong = None, str(error)
        texts = texts_of(rng, None)
        accepted = [False] * len(texts)
    answer = node.matches(pattern, texts)
    if isinstance(answer, str) or "no text" not in wrong:
        assert isinstance(answer, str) == (constraint is None), (seed, pattern, wrong, answer)
    if isinstance(answer, str):
        return Counter(malformed=1)
    assert accepted == answer, (seed, pattern, [t for t, a, b in zip(texts, accepted, answer, strict=True) if a != b])
    return Counter(matched=sum(answer), others=answer.count(False))


def compare_many(count: int) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    with judge() as node:
        counts: Counter[str] = sum((compare(node, seed + i) for i in range(count)), Counter())
    assert min(counts["matched"], counts["others"]) > 2 * count, counts
    assert count // 20 < counts["malformed"] < count // 2
    assert counts["refused"] < count // 5


def test_random_patterns() -> None:
    compare_many(300)


@pytest.mark.slow
def test_many_random_patterns() -> None:
    compare_many(20_000)
