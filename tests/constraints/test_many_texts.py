"""choice of many texts: the trie is walked, not written down, and means the same."""

from __future__ import annotations

import random
import re
import sys

import numpy as np
import pytest
from oracle import mask_walk

import tokamata
from tokamata import choice, regex

VOCABULARY = tokamata.Vocabulary(
    [bytes([b]) for b in range(128)]
    + [a + b for a in (b"a", b"b", b"ab", b"ba", b"c") for b in (b"a", b"b", b"c", b"bc", b"aab", b"", b"-", b"a-b")]
    + [None],
    eos_token_ids=[168],
)


def random_texts(rng: random.Random, n: int) -> list[str]:
    """Texts over a small alphabet, so that many begin alike and some begin others."""
    return [
        "".join(rng.choice("abc" if rng.random() < 0.9 else "é-") for _ in range(rng.randint(0, 7))) for _ in range(n)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_members_and_prefixes(seed: int) -> None:
    rng = random.Random(seed)
    texts = set(random_texts(rng, rng.choice([3, 70, 300])))
    constraint = choice(texts)
    prefixes = {t[:i] for t in texts for i in range(len(t) + 1)}
    for text in random_texts(rng, 200) + rng.sample(sorted(texts), min(40, len(texts))):
        assert constraint.accepts(text) == (text in texts), (seed, text)
        assert constraint.accepts_prefix(text) == (text in prefixes), (seed, text)
    assert [constraint.count(n) for n in range(9)] == [sum(len(t.encode()) == n for t in texts) for n in range(9)], seed
    assert {e.decode() for e in constraint.examples(2000, seed=seed)} <= texts


@pytest.mark.parametrize("seed", range(12))
def test_masks_are_those_of_walking(seed: int) -> None:
    """Alone, before what may go on like the texts, after something else, repeated, and beside one another."""
    rng = random.Random(seed)
    texts, others = random_texts(rng, 200), random_texts(rng, 90)
    many = choice(texts)
    constraint = rng.choice(
        [
            many,
            many + regex("[abc]*-"),
            many + "-",
            regex("[ab]*") + many,
            many.repeat(1, 3),
            many | choice(others),
            many & ~choice(others),
        ]
    )
    automaton = tokamata.compile(constraint, VOCABULARY)
    for _ in range(12):
        state = automaton.start()
        for _ in range(8):
            want = automaton._native.mask_by_walking(automaton._native.state_of(state))
            first, again = state.mask(), state.mask()
            assert np.array_equal(first, want), seed
            assert np.array_equal(again, want), seed
            allowed = mask_walk.allowed(want)
            if not allowed or (token := rng.choice(allowed)) == 168:
                break
            state.advance(token)


def test_equal_to_the_union() -> None:
    rng = random.Random(7)
    texts = sorted(set(random_texts(rng, 150)))
    union = choice(texts[:1])
    for text in texts[1:]:
        union = union | text
    assert choice(texts).equivalent(union)
    assert choice(texts).counterexample(choice(texts[:-1])) == texts[-1].encode()
    assert choice(texts * 2).minimize().equivalent(regex("|".join(texts)))


def test_budget() -> None:
    texts = ["ab" * n + "-" for n in range(1, 80)]
    automaton = tokamata.compile(choice(texts), VOCABULARY)
    with pytest.raises(tokamata.BudgetError, match="max_tokens=1 is too small"):
        automaton.start(max_tokens=1)
    tokens = {VOCABULARY.token_bytes(i) for i in range(168)} - {b""}
    want = {t for t in tokens for u in tokens | {b""} if (t + u).decode() in texts}
    state = automaton.start(max_tokens=3)
    bits = np.unpackbits(state.mask().view(np.uint8), bitorder="little")
    assert {VOCABULARY.token_bytes(i) for i in np.flatnonzero(bits).tolist()} == want


@pytest.mark.parametrize("seed", range(6))
def test_patterns_of_many_words(seed: int) -> None:
    """Wherever many words stand in a pattern, they mean what they mean to re."""
    rng = random.Random(seed)
    words = "|".join(w for w in random_texts(rng, 60) if seed % 2 or w)
    three = "|".join("".join(rng.choices("abc", k=3)) for _ in range(40))
    for pattern in (
        f"({words})",
        f"({words})[ab]?",
        f"^(?:{words})$",
        f"[abc]*(?<={three})",
        f"(?!{words})[abc]{{0,3}}",
        f"(?i:{words})",
        *([f"(?>{three})a|b"] if sys.version_info >= (3, 11) else []),
        f"{words}\n",
        f"(?x:{words})",
        rf"\b({words})\b",
    ):
        constraint = regex(pattern)
        for text in random_texts(rng, 60) + words.split("|")[:20] + [t + "a" for t in three.split("|")]:
            assert constraint.accepts(text) == bool(re.fullmatch(pattern, text)), (seed, pattern, text)
    with pytest.raises(tokamata.ConstraintError, match="lookbehind"):
        regex(f"a(?<={words}|aaaaaaaaa)")
