"""AutomatonCache: one automaton a key, the least recently used dropped, safe between threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tokamata.decode.automaton_cache import AutomatonCache

import tokamata

VOCABULARY = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256))], eos_token_ids=[0])


def test_automata_are_shared_and_dropped() -> None:
    cache = AutomatonCache(VOCABULARY, 3)
    made = []

    def get(letter: str) -> tokamata.TokenAutomaton:
        def make() -> tokamata.Constraint:
            made.append(letter)
            return tokamata.literal(letter)

        return cache.get(letter, make)

    first = get("a")
    assert first.start().forced_bytes() == b"a"
    for letter in "bcabada":
        get(letter)
    assert "".join(made) == "abcd"
    assert get("a") is first
    assert len(cache) == 3
    get("c")
    assert "".join(made) == "abcdc"
    with pytest.raises(ValueError, match=r"^AutomatonCache: expected size >= 1, got 0; "):
        AutomatonCache(VOCABULARY, 0)


def test_errors_are_raised_each_time() -> None:
    cache = AutomatonCache(VOCABULARY)
    for _ in range(2):
        with pytest.raises(tokamata.ConstraintError, match="unterminated"):
            cache.get("x", lambda: tokamata.regex("(a"))
    assert len(cache) == 0


def test_threads_get_one_automaton() -> None:
    cache = AutomatonCache(VOCABULARY)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: cache.get(i % 5, lambda: tokamata.regex(f"a{{{i % 5},9}}b")), range(200)))
    assert len({id(automaton) for automaton in found}) == 5
