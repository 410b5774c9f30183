"""The patterns of Python's own standard library: members, masks and captures, as ``re`` reads them."""

from __future__ import annotations

import random
import re

import pytest
from oracle import library_patterns, mask_walk

import tokamata

REFUSED = ("backreference at position", "conditional group at position")
CHARACTERS = "abzAZ019_-. /\\\n\t\"'()[]{}+*?|^$,:;é日"


def changed(text: str, pattern: str, rng: random.Random) -> str:
    """The text with one to three characters added, replaced or left out."""
    letters = list(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at, new = rng.randrange(len(letters) + 1), rng.choice(CHARACTERS if rng.random() < 0.5 else pattern)
        letters[at : at + rng.randrange(2)] = rng.choice([[new], []])
    return "".join(letters)


@pytest.fixture(scope="module")
def patterns() -> list[str]:
    found = list(library_patterns.patterns())
    assert len(found) > 150  # Python 3.13 has fewer modules
    return found


def test_members_and_captures_are_re_s(patterns: list[str]) -> None:
    refused, members = dict[str, str](), 0
    for seed, pattern in enumerate(patterns):
        rng, expected = random.Random(seed), re.compile(pattern)
        try:
            constraint = tokamata.regex(pattern)
        except tokamata.UnsupportedError as error:
            refused[pattern] = str(error)
            continue
        examples = [] if constraint.is_empty() else [e.decode() for e in constraint.examples(20, seed=seed)]
        for text in [*examples, *(changed(e, pattern, rng) for e in examples for _ in range(12))]:
            match = expected.fullmatch(text)
            assert constraint.accepts(text) == (match is not None), (pattern, text)
            members += match is not None
            if match and expected.groupindex:
                parts = {name: part.encode() for name, part in match.groupdict().items() if part is not None}
                assert constraint.captures(text) == parts, (pattern, text)
        assert all(expected.fullmatch(e) for e in examples), pattern
    assert len(refused) < len(patterns) / 20
    assert all(any(why in error for why in REFUSED) for error in refused.values()), refused
    assert members > 8000, members


def test_masks_are_what_walking_finds(patterns: list[str]) -> None:
    rng = random.Random(0)
    words = {"".join(rng.choices(CHARACTERS, k=rng.randint(1, 5))).encode() for _ in range(1500)}
    words |= {word.encode() for pattern in patterns for word in re.findall(r"[A-Za-z]{2,}|[0-9]+|\W{2}", pattern)}
    vocabulary = mask_walk.with_bytes(words)
    for seed, pattern in enumerate(patterns):
        try:
            automaton = tokamata.compile(tokamata.regex(pattern), vocabulary)
        except ValueError:  # refused, or empty
            continue
        mask_walk.wander(automaton, rng, 2, 12, f"pattern {seed}", pattern)
