"""choice: any one of the texts, and no other, however many there are."""

from __future__ import annotations

import random
import time

import pytest

import tokamata


def words(count: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyzäß"
    return ["".join(generator.choices(letters, k=generator.randrange(0, 14))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_members_are_the_options(seed: int) -> None:
    options = words(50, seed)
    constraint = tokamata.choice(options)
    for text in [*options, *words(50, seed + 1000)]:
        assert constraint.accepts(text) == (text in options), (seed, text)
        changed = text + "a"
        assert constraint.accepts(changed) == (changed in options), (seed, changed)
    assert {text.decode() for text in constraint.examples(100)} <= set(options)
    lengths = {len(text.encode()) for text in options}
    assert sum(constraint.count(length) for length in lengths) == len(set(options))


def test_100_000_options_take_less_than_a_second() -> None:
    options = [f"/usr/share/{i % 97}/{word}_{i}.txt" for i, word in enumerate(words(100_000, 7))]
    begun = time.process_time()
    constraint = tokamata.choice(options)
    accepted = [constraint.accepts(text) for text in options[:100]]
    assert time.process_time() - begun < 1
    assert all(accepted)
    assert not constraint.accepts(options[5][:-1])


def test_errors() -> None:
    with pytest.raises(ValueError, match="choice: expected at least one option, got none"):
        tokamata.choice([])
    with pytest.raises(TypeError, match="choice: expected several texts, got one str; use literal"):
        tokamata.choice("abc")
