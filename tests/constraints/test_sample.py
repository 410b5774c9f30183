"""Uniform sampling and counting against enumeration and closed forms."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from oracle.random_constraint import random_constraint

import tokamata


def members(model, length: int, most: int) -> list[bytes] | None:
    """All accepted texts of a length, by walking the model; None when there are more than ``most``."""
    texts = [(b"", 0)]
    for _ in range(length):
        grown = []
        for text, state in texts:
            for byte in np.flatnonzero(model.alive[model.next[state]]):
                grown.append((text + bytes([int(byte)]), int(model.next[state, byte])))
        texts = grown
        if len(texts) > 20 * most:
            return None
    found = [text for text, state in texts if model.final[state]]
    return found if len(found) <= most else None


def surprise(counts: Counter[bytes], texts: list[bytes], n: int) -> float:
    """How many standard deviations Pearson's chi-square lies above its mean."""
    expected = n / len(texts)
    chi2 = sum((counts[t] - expected) ** 2 / expected for t in texts)
    freedom = len(texts) - 1
    return (chi2 - freedom) / max(1.0, (2 * freedom) ** 0.5)


def test_samples_are_uniform() -> None:
    """Every member of the lengths comes equally often: chi-square over random constraints, fixed seeds."""
    compared = 0
    for seed in range(80):
        constraint, model, text = random_constraint(random.Random(seed))
        low, high = sorted(random.Random(seed).choices(range(5), k=2))
        layers = [members(model, length, 150) for length in range(low, high + 1)]
        if any(layer is None for layer in layers):
            continue
        texts = [t for layer in layers for t in layer or ()]
        where = f"seed {seed}: {text}, lengths {low}..{high}"
        if not texts:
            with pytest.raises(ValueError, match=r"sample: no member has \d"):
                constraint.sample(1, (low, high))
            continue
        n = 30 * len(texts)
        counts = Counter(constraint.sample(n, (low, high), seed=seed))
        assert counts.keys() <= set(texts), where
        assert surprise(counts, texts, n) < 5, where
        compared += len(texts) > 1
    assert compared > 12


def test_every_member_comes() -> None:
    constraint = tokamata.regex("[ab]{0,3}|[abc]{5}d")
    texts = {"".join(t).encode() for k in range(4) for t in product("ab", repeat=k)}
    texts |= {("".join(t) + "d").encode() for t in product("abc", repeat=5)}
    assert set(constraint.sample(5000, (0, 9), seed=1)) == texts


def test_long_samples_are_uniform() -> None:
    """Numbers of many limbs: at every place of (a|bb)*, the letter comes as often as the counts say."""
    constraint, length, n = tokamata.regex("(a|bb)*"), 300, 1000
    fibonacci = [1, 1]
    while len(fibonacci) <= length:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert constraint.count(length) == fibonacci[length]
    texts = constraint.sample(n, length, seed=5)
    assert all(len(t) == length and constraint.accepts(t) for t in texts)
    share = fibonacci[length - 1] / fibonacci[length]  # of a at the first place
    assert abs(sum(t[0] == ord("a") for t in texts) / n - share) < 0.06
    assert abs(sum(t.count(b"a") for t in texts) / n / length - 5**-0.5) < 0.01
    letters = Counter(b"".join(tokamata.regex("[a-z]*").sample(40, 1000, seed=2)))
    assert len(letters) == 26
    assert max(letters.values()) < 1.15 * min(letters.values())


def test_lengths_come_as_often_as_they_have_members() -> None:
    lengths = Counter(len(t) for t in tokamata.regex("[ab]*").sample(4000, (0, 4), seed=3))
    assert [round(31 * lengths[k] / 4000) for k in range(5)] == [1, 2, 4, 8, 16]


def test_lengths_past_the_longest_member_cost_nothing() -> None:
    """To count up to 2**31 would take minutes."""
    constraint = tokamata.regex("a{3}|b{5}")
    assert set(constraint.sample(40, (0, 2**31))) == {b"aaa", b"bbbbb"}
    assert set(constraint.sample(9, (4, 2**31))) == {b"bbbbb"}
    with pytest.raises(ValueError, match="sample: no member has 2147483648 bytes"):
        constraint.sample(1, 2**31)


def test_seeds_decide() -> None:
    constraint = tokamata.regex("[a-z]{20}")
    assert constraint.sample(3, 20) == constraint.sample(3, 20, seed=0)
    assert constraint.sample(3, 20) != constraint.sample(3, 20, seed=1)
    assert constraint.sample(0, 3) == []


def test_large_counts() -> None:
    """Closed forms: powers, Fibonacci numbers, UTF-8 texts by a recurrence."""
    assert tokamata.regex("[ab]*").count(20_000) == 2**20_000
    assert (tokamata.regex("[a-j]{3000}") + tokamata.regex("[a-d]*")).count(3010) == 10**3000 * 4**10
    assert tokamata.regex("[ab]{0,100}").count(101) == 0
    texts = [1]
    for n in range(1, 400):
        sizes = {1: 128, 2: 1920, 3: 65536 - 2048 - 2048, 4: 1048576}
        texts.append(sum(ways * texts[n - k] for k, ways in sizes.items() if k <= n))
    assert tokamata.regex("(?s).*").count(399) == texts[399]
    assert tokamata.regex("a").count(0) == 0
    assert (tokamata.literal("a") & "b").count(3) == 0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda c: c.sample(-1, 3), r"sample: expected n >= 0 and 0 <= least <= most length, got n=-1, length=3"),
        (lambda c: c.sample(1, (4, 3)), r"0 <= least <= most length, got n=1, length=\(4, 3\)"),
        (lambda c: c.sample(1, -1), r"0 <= least <= most length, got n=1, length=-1"),
        (lambda c: c.sample(1, 7), r"sample: no member has 7 bytes; examples\(\) shows"),
        (lambda c: c.sample(1, (7, 9)), r"sample: no member has 7 to 9 bytes"),
    ],
)
def test_errors(call, text) -> None:
    with pytest.raises(ValueError, match=text):
        call(tokamata.regex("[ab]{3}"))
