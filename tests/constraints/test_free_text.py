from __future__ import annotations

import itertools
import random

import pytest
from tokamata.constraints.free_text import text_before

import tokamata
from tokamata import ConstraintError

ALPHABET = "ab<é"


def words(longest: int) -> list[str]:
    return ["".join(w) for n in range(longest + 1) for w in itertools.product(ALPHABET, repeat=n)]


def phrases_of(random_: random.Random) -> list[str]:
    return ["".join(random_.choices(ALPHABET, k=random_.randint(1, 3))) for _ in range(random_.randint(1, 3))]


def test_no_phrase_occurs() -> None:
    texts = words(5)
    for seed in range(40):
        phrases = phrases_of(random.Random(seed))
        constraint = tokamata.free_text(phrases)
        for text in texts:
            assert constraint.accepts(text) == (not any(p in text for p in phrases)), (seed, phrases, text)


def test_text_before_a_phrase() -> None:
    texts = words(5)
    for seed in range(40):
        random_ = random.Random(seed)
        phrases = phrases_of(random_)
        phrase = random_.choice(phrases)
        if any(p in phrase[:-1] for p in phrases):
            continue
        constraint = text_before(phrase.encode(), [p.encode() for p in phrases])
        for text in texts:
            expected = not any(p in (text + phrase)[:-1] for p in phrases)
            assert constraint.accepts(text) == expected, (seed, phrases, phrase, text)


def test_all_texts_and_nothing_else() -> None:
    everything = tokamata.free_text()
    assert everything.equivalent(tokamata.regex("(?s:.*)"))
    assert not everything.accepts(b"\xff")
    assert tokamata.free_text("x").equivalent(tokamata.free_text([b"x", "ax"]))


def test_refused_phrases() -> None:
    with pytest.raises(ConstraintError, match=r"^free_text: expected phrases of at least one character, got ''"):
        tokamata.free_text(["a", ""])
    with pytest.raises(ConstraintError, match=r"expected phrases in UTF-8, got b'\\xc3'"):
        tokamata.free_text(b"\xc3")
