"""Grammars over vocabularies that cannot write every text: masks allow what tokens can complete, and end."""

from __future__ import annotations

import random

import pytest
from oracle.context_free import Grammar, derives, gbnf, random_grammar

import tokamata


def _without(grammar: Grammar, letter: str) -> Grammar:
    return {rule: [a for a in alternatives if letter not in a] for rule, alternatives in grammar.items()}


def _productive(grammar: Grammar) -> Grammar:
    """Rules and alternatives that have a text."""
    kept: set[str] = set()
    while True:
        more = {r for r, all_ in grammar.items() if any(all(s.islower() or s in kept for s in a) for a in all_)}
        if more == kept:
            return {r: [a for a in grammar[r] if all(s.islower() or s in kept for s in a)] for r in sorted(kept)}
        kept = more


@pytest.mark.parametrize("seed", range(6))
def test_masks_are_those_of_the_grammar_without_what_no_token_has(seed: int) -> None:
    rng = random.Random(f"small vocabularies {seed}")
    vocabulary = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
    masks = empty = 0
    for _ in range(60):
        grammar = random_grammar(rng, letters="abc")
        left = _productive(_without(grammar, "c"))
        if "S" not in left:
            with pytest.raises(tokamata.ConstraintError):
                tokamata.compile(tokamata.grammar(gbnf(grammar), "gbnf"), vocabulary)
            empty += 1
            continue
        state = tokamata.compile(tokamata.grammar(gbnf(grammar), "gbnf"), vocabulary).start()
        oracle = tokamata.grammar(gbnf(left), "gbnf")
        text = ""
        for _ in range(12):
            expected = [t for t in (0, 1) if oracle.accepts_prefix(text + "ab"[t])]
            final = derives(left, "S", text) if len(text) < 7 else oracle.accepts(text)
            mask = int(state.mask()[0])
            assert [t for t in (0, 1) if mask >> t & 1] == expected, (seed, grammar, text)
            assert bool(mask >> 2 & 1) == final == state.is_final, (seed, grammar, text)
            masks += 1
            if not expected:
                break
            token = rng.choice(expected)
            state.advance(token)
            text += "ab"[token]
    assert masks > 150
    assert empty > 3


@pytest.mark.parametrize(
    ("text", "letters", "written"),
    [
        ('root ::= "b" root "a" "a" "a" | "a" root "b" | "ba"', "ab", "b" * 40),
        ('root ::= "a" root "a" | "b" root "b" | ""', "ab", "abbababbababbabab" * 3),
        ('root ::= x "b"\nx ::= "a" "a" | "b" root "a" | "a" root', "ab", "babaabababaabababab"),
        ('root ::= "a" | t "a"\ns ::= "c" | root t t\nt ::= s s "a"', "ac", "ccaccaccac"),
    ],
)
def test_ends_far_away_are_found(text: str, letters: str, written: str) -> None:
    """The shortest completion grows with the text; a search by length looks at all texts that are shorter."""
    tokens: list[bytes | None] = [c.encode() for c in letters]
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(letters)])
    state = tokamata.compile(tokamata.grammar(text, "gbnf"), vocabulary).start()
    for letter in written:
        assert state.allows(letters.index(letter))
        state.advance(letters.index(letter))
    assert state.mask().any()
