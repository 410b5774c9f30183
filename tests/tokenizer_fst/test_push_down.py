"""D composed with a push-down transducer of a grammar: its token sequences against brute force over all of them."""

from __future__ import annotations

import itertools
import random

import pytest
from oracle.context_free import derives, random_grammar, rules
from oracle.machines import machine
from tokamata.automata import Pdt
from tokamata.tokenizer_fst import Vocabulary

GRAMMARS = {
    "nested": ({"S": ["aSb", "ab"]}, [b"a", b"b", b"aa", b"ab", b"abb"]),
    "brackets": ({"S": ["", "(S)S"]}, [b"(", b")", b"()", b")(", b"((", b"))"]),
    "left recursive": ({"S": ["S+T", "T"], "T": ["x", "(S)"]}, [b"x", b"+", b"(x", b"x)", b"+x+", b")"]),
    "ambiguous": ({"S": ["SS", "a", ""]}, [b"a", b"aa", b"ab", b"aaa"]),
    "palindromes": ({"S": ["aSa", "bSb", "a", "b", ""]}, [b"a", b"b", b"ab", b"ba", b"aab"]),
}


def token_level(grammar: dict[str, list[str]], vocabulary: Vocabulary) -> Pdt:
    characters = Pdt.from_rules(1000, rules(grammar))
    return characters.compose(vocabulary.fst, side="left")


def check(grammar: dict[str, list[str]], tokens: list[bytes], length: int, note: str) -> int:
    """How many token sequences up to the length are accepted; each is decided by brute force as well."""
    pdt = token_level(grammar, Vocabulary([None, *tokens], eos_token_ids=[0]))
    accepted = 0
    known: dict[bytes, bool] = {}
    for n in range(length + 1):
        for ids in itertools.product(range(1, len(tokens) + 1), repeat=n):
            text = b"".join(tokens[i - 1] for i in ids)
            if text not in known:
                known[text] = derives(grammar, "S", text.decode())
            assert pdt.accepts([i + 1 for i in ids]) == known[text], f"{note}: {ids} writes {text!r}"
            accepted += known[text]
    return accepted


@pytest.mark.parametrize("name", GRAMMARS)
def test_small_grammars(name):
    grammar, tokens = GRAMMARS[name]
    assert check(grammar, tokens, 4, name) > 4


def test_random_grammars():
    accepted = 0
    for seed in range(400):
        rng = random.Random(seed)
        grammar = random_grammar(rng)
        texts = ["a", "b", "aa", "ab", "ba", "bb", "aba", "bab"]
        tokens = [text.encode() for text in rng.sample(texts, 4)]
        accepted += check(grammar, tokens, 3, f"seed {seed} {grammar} {tokens}")
    assert accepted > 1500


def test_best_token_sequence():
    # Each token costs 1: the fewest tokens that write a member.
    vocabulary = Vocabulary([None, b"(", b")", b"()", b"(("], eos_token_ids=[0])
    costs = machine([(0, label, label, 1.0, 0) for label in range(2, 6)], [0])
    pdt = token_level({"S": ["(S)", "((()))"]}, vocabulary).compose(costs, side="left")
    best = pdt.shortestpath()
    tokens = [arc.ilabel - 1 for s in best.states() for arc in best.arcs(s) if arc.ilabel]
    assert [vocabulary.token_bytes(token) for token in tokens] == [b"((", b"()", b")", b")"]


def test_bounded_depth_is_a_token_automaton():
    tokens = [b"a", b"b", b"aa", b"ab"]
    pdt = token_level({"S": ["aSb", "ab"]}, Vocabulary([None, *tokens], eos_token_ids=[0]))
    assert pdt.depth() is None
    expanded = pdt.expand(max_depth=3, truncate=True)
    sequences = set()
    pending = [(expanded.start(), ())]
    while pending:
        state, ids = pending.pop()
        if expanded.is_final(state):
            sequences.add(b"".join(tokens[i - 1] for i in ids))
        pending += [(arc.nextstate, ids if arc.ilabel == 0 else (*ids, arc.ilabel - 1)) for arc in expanded.arcs(state)]
    assert sequences == {b"a" * n + b"b" * n for n in range(1, 5)}
