"""Context-free grammars in the plain: random ones, membership by spans, and rules as machines."""

from __future__ import annotations

import random

from tokamata.automata import Fst

Grammar = dict[str, list[str]]
"""Alternatives of each upper-case rule; lower-case letters and other characters stand for themselves."""


def derives(grammar: Grammar, start: str, text: str) -> bool:
    """Whether the start derives the text: which rule derives which span, by adding until nothing is new."""
    n = len(text)
    spans: set[tuple[str, int, int]] = set()

    def ends(symbol: str, begin: int) -> list[int]:
        if symbol in grammar:
            return [e for e in range(begin, n + 1) if (symbol, begin, e) in spans]
        return [begin + 1] if text[begin : begin + 1] == symbol else []

    while True:
        before = len(spans)
        for rule, alternatives in grammar.items():
            for alternative in alternatives:
                for begin in range(n + 1):
                    reached = {begin}
                    for symbol in alternative:
                        reached = {e for b in reached for e in ends(symbol, b)}
                    spans |= {(rule, begin, e) for e in reached}
        if len(spans) == before:
            return (start, 0, n) in spans


def random_grammar(rng: random.Random, letters: str = "ab", longest: int = 4) -> Grammar:
    """Up to three rules of up to three alternatives of up to `longest` symbols.

    They are recursive, nullable, cyclic and ambiguous by chance.
    """
    rules = "STU"[: rng.randint(1, 3)]
    grammar: Grammar = {}
    for rule in rules:
        grammar[rule] = [
            "".join(rng.choice(letters if rng.random() < 0.6 else rules) for _ in range(rng.randint(0, longest)))
            for _ in range(rng.randint(1, 3))
        ]
    grammar[rng.choice(rules)].append(rng.choice(letters))
    return grammar


def gbnf(grammar: Grammar) -> str:
    """The grammar in GBNF; the rules S, T, U are root, t, u."""
    names = {"S": "root", "T": "t", "U": "u"}
    lines = []
    for rule, alternatives in grammar.items():
        right = [" ".join(names.get(s, f'"{s}"') for s in alternative) or '""' for alternative in alternatives]
        lines.append(f"{names[rule]} ::= {' | '.join(right)}")
    return "\n".join(lines)


def rules(grammar: Grammar) -> list[tuple[int, Fst]]:
    """A machine over bytes for each rule; rule i has label 1000 + i."""
    number = {rule: 1000 + i for i, rule in enumerate(grammar)}
    out = []
    for rule, alternatives in grammar.items():
        fst = Fst()
        fst.add_states(2)
        fst.set_start(0)
        fst.set_final(1)
        for alternative in alternatives:
            state = 0
            for symbol in alternative:
                label = number.get(symbol) or ord(symbol)
                fst.add_arc(state, label, label, None, fst.add_state())
                state = fst.num_states() - 1
            fst.add_arc(state, 0, 0, None, 1)
        out.append((number[rule], fst))
    return out
