"""Masks of loops whose first or last character is another one's: names that begin with a letter."""

from __future__ import annotations

import functools
import random

import pytest
from oracle import mask_walk

import tokamata

LETTERS = [*(bytes([b]) for b in b"abcXYZ019_-.$"), "é".encode(), "日".encode()]
OTHERS = [b'"', b"\\", b"\\u002d", b" ", b"\n", b",", "é".encode()[:1], "日".encode()[:2]]


@functools.lru_cache(maxsize=1)
def vocabulary() -> tokamata.Vocabulary:
    rng = random.Random(5)
    made = {b"".join(rng.choices(LETTERS, k=rng.randint(1, 14))) for _ in range(4000)}
    made |= {b"".join(rng.choices(LETTERS + OTHERS, k=rng.randint(1, 8))) for _ in range(2000)}
    return mask_walk.with_bytes(made)


PATTERNS = [
    r"[a-zA-Z][a-zA-Z0-9_]{2,10}[a-zA-Z0-9]",
    r"[a-zA-Z][a-zA-Z0-9]{3,10}",
    r"[a-z]?[a-z0-9]{0,4}-",
    r"[0-9a-c][a-zA-Z-]{1,7}",  # neither class has all of the other
    r"[a-c0-9]([a-c0-9-]{0,6}[a-c0-9])?",
    r"([a-z.-]{1,5}[a-z0-9])?\.",
    r"[a-z-]{0,4}[a-z](?:\.[a-z-]{0,4}[a-z])*",
    r"[\w$]*\w",
    r"(?:[\w$-]{2,6}\w)?-",
    r"[\w-]{0,3}[^\W\d]x?",  # what is left of the class is less than ASCII alone tells
    r"[\w.]{1,5}\w[\w.]*",
    r"[^\W_][\w-]{1,9}",
    r"(?:é-|[a-z_]){0,4}(?:é-|[a-z])",  # a turn is more than a character
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_masks_agree_with_walking(pattern: str) -> None:
    automaton = tokamata.compile(tokamata.regex(pattern), vocabulary())
    mask_walk.wander(automaton, random.Random(6), 5, 8, pattern)


@pytest.mark.parametrize("pattern", [p for p in PATTERNS if "(?:é" not in p])
def test_the_same_in_strings_whose_characters_may_be_escaped(pattern: str) -> None:
    constraint = tokamata.json_schema({"type": "string", "pattern": f"^(?:{pattern})$"}, strings="any")
    automaton = tokamata.compile(constraint, vocabulary())
    rng = random.Random(7)
    for _ in range(4):
        state = automaton.start()
        state.advance(b'"'[0])
        for _ in range(6):
            texts = mask_walk.agreed(automaton, state, pattern)
            if not texts:
                break
            state.advance(rng.choice(texts))
