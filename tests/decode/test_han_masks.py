"""Masks of loops over Chinese characters, which the vocabulary's tables know as a class with exceptions."""

from __future__ import annotations

import random

import pytest
from oracle import mask_walk

import tokamata

USUAL = "一七中国人龥"  # of [\u4e00-\u9fa5], its ends among them
RARE = "䀀䶵䷀䷿龦鿿"  # U+4000 to U+9FFF around it
OTHER = "aZ7 ，。é㐀ꀀ𠀀\u3000"


def vocabulary_of(rng: random.Random) -> tuple[tokamata.Vocabulary, list[bytes]]:
    """All bytes, and tokens of a few characters, some cut off at either end."""
    tokens = {bytes([b]) for b in range(256)}
    while len(tokens) < 1200:
        letters = USUAL if rng.random() < 0.6 else USUAL + RARE if rng.random() < 0.5 else USUAL + RARE + OTHER
        token = "".join(rng.choice(letters) for _ in range(rng.randint(1, 4))).encode()
        if rng.random() < 0.3:
            token = token[rng.randint(0, 2) : len(token) - rng.randint(0, 2)]
        if token:
            tokens.add(token)
    ordered = sorted(tokens)
    rng.shuffle(ordered)
    return tokamata.Vocabulary([*ordered, None], eos_token_ids=[len(ordered)]), ordered


@pytest.mark.parametrize(
    "pattern",
    [
        r"[\u4e00-\u9fa5]+",
        r"[\u4e00-\u9fa5]{1,3}",
        r"[\u4e00-\u9fff]{2,}",
        r"[\u4000-\u9fff]*[0-9]",
        r"[\u4e00-\u9fa4]+|a",  # one character too few for the class
        r"[\u4e01-\u9fa5]{1,4}",
        r"([\u4e00-\u9fa5龦]{1,5}，){1,3}。",
        r"([a-z\u4e00-\u9fa5]|é)+",
        r"[ \u4e00-\u9fa5]{0,7}7",
        r"(Z+|[\u4e00-\u9fa5]{1,10})( (Z+|[\u4e00-\u9fa5]{1,10})){0,3}",
        r"[\u4e00-\u9fa5]{2,4}[中国]a",  # what follows may begin like the loop
        r"(中[\u4e00-\u9fa5]{3}|[\u4e00-\u9fa5]{5})。",
        r"[^a\u4000-\u4dff]+",
    ],
)
def test_loops_over_chinese_characters(pattern: str) -> None:
    for seed in range(3):
        rng = random.Random(f"{pattern} {seed}")
        vocabulary, tokens = vocabulary_of(rng)
        constraint = tokamata.regex(pattern)
        automaton = tokamata.compile(constraint, vocabulary)
        for _ in range(2):
            state, text = automaton.start(), b""
            for _ in range(6):
                allowed = mask_walk.agreed(automaton, state, seed, pattern)
                assert all(
                    constraint.accepts_prefix(text + tokens[i]) for i in rng.sample(allowed, min(20, len(allowed)))
                )
                if not allowed:
                    break
                token = rng.choice(allowed)
                state.advance(token)
                text += tokens[token]


def test_the_explicit_acceptor_and_budgets_agree() -> None:
    vocabulary, tokens = vocabulary_of(random.Random(7))
    automaton = tokamata.compile(tokamata.regex(r"[\u4e00-\u9fa5]{1,6}。"), vocabulary)
    explicit = automaton.token_acceptor().expand()
    state = automaton.start()
    free = {i for i in range(len(tokens)) if state.allows(i)}
    assert {arc.ilabel - 1 for arc in explicit.arcs(explicit.start())} == free
    narrow = automaton.start(max_tokens=3).mask()
    ends = {i for i in free if automaton.start().validate([i, tokens.index("。".encode())]) == 2}
    for i in free:
        if narrow[i >> 5] >> (i & 31) & 1:
            after = automaton.start()
            after.advance(i)
            assert after.is_final or any(after.validate([k]) and _final(after, k) for k in range(len(tokens)))
        else:
            assert i not in ends


def _final(state: tokamata.DecodeState, token: int) -> bool:
    after = state.copy()
    after.advance(token)
    return after.is_final


@pytest.mark.parametrize("text", ['start: "a" /b+/ /(cd)+/?', 'start: WORD (" " WORD)*\nWORD: /[a-z]+|[中国人]+/'])
def test_lexemes_without_chinese_characters(text: str) -> None:
    vocabulary, tokens = vocabulary_of(random.Random(text))
    automaton = tokamata.compile(tokamata.grammar(text), vocabulary)
    state = automaton.start()
    for byte in (None, b"a", b"b"):
        if byte is not None and state.allows(tokens.index(byte)):
            state.advance(tokens.index(byte))
        mask_walk.agreed(automaton, state)
