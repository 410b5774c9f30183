from __future__ import annotations

import importlib
import itertools
import random

import pytest
from tokamata.constraints.free_text import text_before, text_up_to

import tokamata
from tokamata import ConstraintError

ALPHABET = "ab<é"
module = importlib.import_module("tokamata.constraints.free_text")  # the name is the function's


def words(longest: int) -> list[str]:
    return ["".join(w) for n in range(longest + 1) for w in itertools.product(ALPHABET, repeat=n)]


def phrases_of(random_: random.Random) -> list[str]:
    return ["".join(random_.choices(ALPHABET, k=random_.randint(1, 3))) for _ in range(random_.randint(1, 3))]


@pytest.fixture(params=[module.MOST_TABLE_BYTES, 0], ids=["tables", "expressions"])
def made_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TABLE_BYTES", request.param)


@pytest.mark.usefixtures("made_of")
def test_no_phrase_occurs() -> None:
    texts = words(5)
    for seed in range(40):
        phrases = phrases_of(random.Random(seed))
        constraint = tokamata.free_text(phrases)
        for text in texts:
            assert constraint.accepts(text) == (not any(p in text for p in phrases)), (seed, phrases, text)


@pytest.mark.usefixtures("made_of")
def test_text_before_a_phrase() -> None:
    texts = words(5)
    for seed in range(40):
        random_ = random.Random(seed)
        phrases = phrases_of(random_)
        phrase = random_.choice(phrases)
        if any(p in phrase[:-1] for p in phrases):
            continue
        before = text_before(phrase.encode(), [p.encode() for p in phrases])
        up_to = text_up_to(phrase.encode(), [p.encode() for p in phrases])
        for text in texts:
            expected = not any(p in (text + phrase)[:-1] for p in phrases)
            assert before.accepts(text) == expected, (seed, phrases, phrase, text)
            ends = text.endswith(phrase) and not any(p in text[:-1] for p in phrases)
            assert up_to.accepts(text) == ends, (seed, phrases, phrase, text)


@pytest.mark.usefixtures("made_of")
def test_characters_that_only_lead_to_phrases() -> None:
    """All characters of one first byte are phrases, so that byte is in no text without them."""
    phrases = [chr(c) for c in range(0x80, 0xC0)]
    without = tokamata.free_text(phrases)
    assert without.accepts("aé")
    assert not without.accepts_prefix(b"a\xc2")
    assert without.accepts_prefix(b"a\xc3")
    assert tokamata.free_text([*phrases, "a"]).equivalent(without - (without + "a" + without))


def test_long_phrases() -> None:
    for phrase in (b"ab" * (module.MOST_TABLE_BYTES // 2), b"ab" * (module.MOST_TABLE_BYTES // 2 + 1)):
        without = tokamata.free_text(phrase)
        assert without.accepts(phrase[:-1] + b"a")
        assert not without.accepts(b"b" + phrase)


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
