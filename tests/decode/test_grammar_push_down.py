"""Masks of grammars against D composed with the grammar's Pdt: two ways to a token-level push-down automaton."""

from __future__ import annotations

import functools
import itertools
import random

import pytest
from oracle.context_free import random_grammar
from tokamata.automata import ConstraintError, Fst, LimitError, Pdt
from tokamata.constraints import grammar_pdt
from tokamata.tokenizer_fst import Vocabulary

import tokamata

GRAMMARS = {
    "arithmetic": (
        'root ::= term ("+" term)*\nterm ::= "x" | "(" root ")"',
        [b"x", b"(", b")", b"+", b"x+", b"+(", b"))", b"(x)", b"x)+", b")("],
    ),
    "left recursive": (
        'root ::= root "," item | item\nitem ::= "a" | "[" root "]"',
        [b"a", b",", b"[", b"]", b"a,", b"],[", b"[["],
    ),
    "palindromes": ('root ::= "a" root "a" | "b" root "b" | ""', [b"a", b"b", b"ab", b"ba", b"abba", b"bb"]),
    "ambiguous": ('root ::= root root | "a" | "ab" | "b"', [b"a", b"b", b"ab", b"ba", b"c"]),
    "dead ends": ('root ::= "x" b | "y"\nb ::= "x" b\n', [b"x", b"y", b"xx", b"xy"]),
}


def viable(pdt: Pdt, ids: tuple[int, ...], size: int) -> bool:
    """Whether some token sequence that begins with these tokens is accepted."""
    prefix = Fst()
    prefix.add_states(len(ids) + 1)
    prefix.set_start(0)
    prefix.set_final(len(ids))
    for i, token in enumerate(ids):
        prefix.add_arc(i, token + 1, token + 1, None, i + 1)
    for token in range(size):
        prefix.add_arc(len(ids), token + 1, token + 1, None, len(ids))
    return not pdt.compose(prefix, side="left").is_empty()


def check(text: str, tokens: list[bytes], length: int, note: str, limits: tokamata.Limits | None = None) -> int:
    """Every mask along every allowed token sequence up to the length; how many sequences there are."""
    vocabulary = Vocabulary([None, *tokens], eos_token_ids=[0])
    pdt = grammar_pdt(text).compose(vocabulary.fst, side="left")
    constraint = tokamata.grammar(text, syntax="gbnf", limits=limits)
    if pdt.is_empty():
        with pytest.raises(ConstraintError, match=r"no text of the constraint can be written with the tokens"):
            tokamata.compile(constraint, vocabulary)
        return 0
    automaton = tokamata.compile(constraint, vocabulary)
    seen = 0
    pending: list[tuple[int, ...]] = [()]
    while pending:
        ids = pending.pop()
        state = automaton.start()
        for token in ids:
            state.advance(token)
        assert state.is_final == pdt.accepts([token + 1 for token in ids]), f"{note}: {ids}"
        for token in range(1, len(vocabulary)):
            extended = (*ids, token)
            allowed = state.allows(token)
            assert allowed == viable(pdt, extended, len(vocabulary)), f"{note}: {extended}"
            if allowed and len(extended) <= length:
                pending.append(extended)
        seen += 1
    return seen


@pytest.mark.parametrize("name", GRAMMARS)
def test_small_grammars(name):
    text, tokens = GRAMMARS[name]
    assert check(text, tokens, 3, name) > 1


def test_as_many_tokens_as_labels():
    # Token ids reach far beyond the labels of rules and bytes.
    tokens = [None, *(f"{i}".encode() for i in range(3000)), b"(", b")"]
    vocabulary = Vocabulary(tokens, eos_token_ids=[0])
    pdt = grammar_pdt('root ::= "(" root ")" | [0-9]+').compose(vocabulary.fst, side="left")
    opening, closing = len(tokens) - 2, len(tokens) - 1
    assert pdt.accepts([label + 1 for label in (opening, opening, 271, 43, closing, closing)])
    assert not pdt.accepts([label + 1 for label in (opening, 271, closing, closing)])


def test_random_grammars():
    seen = limited = 0
    limits = tokamata.Limits(seconds=0.1, states=20_000)
    for seed in range(200):
        rng = random.Random(seed)
        grammar = random_grammar(rng, longest=3)
        names = {"S": "root", "T": "t", "U": "u"}
        lines = []
        for rule, alternatives in grammar.items():
            right = [" ".join(names.get(s, f'"{s}"') for s in alternative) or '""' for alternative in alternatives]
            lines.append(f"{names[rule]} ::= {' | '.join(right)}")
        text = "\n".join(lines)
        if grammar_pdt(text).is_empty():
            continue
        tokens = [t.encode() for t in rng.sample(["a", "b", "aa", "ab", "ba", "bb", "aba"], 4)]
        try:
            seen += check(text, tokens, 2, f"seed {seed}\n{text}\n{tokens}", limits)
        except LimitError:
            limited += 1  # some ambiguity costs more than the limits above, but no mask is wrong
    assert seen > 300
    assert limited <= 10


NESTED = [
    ('start: "a" start "b" | "ab"', lambda t: len(t) > 1 and t == b"a" * (len(t) // 2) + b"b" * (len(t) // 2)),
    (
        'start: "a" start "b" | "a" start |',
        lambda t: t == b"a" * t.count(b"a") + b"b" * t.count(b"b") and t.count(b"b") <= t.count(b"a"),
    ),
    ('start: "a" start "a" | "b" start "b" |', lambda t: len(t) % 2 == 0 and t == t[::-1]),
]


@pytest.mark.parametrize("seed", range(45))
def test_masks_where_tokens_cannot_write_every_text(seed: int) -> None:
    rng = random.Random(seed)
    grammar, is_member = NESTED[seed % len(NESTED)]
    texts = ["".join(t) for n in (1, 2, 3) for t in itertools.product("ab", repeat=n)]
    tokens = [text.encode() for text in rng.sample(texts, rng.choice([2, 2, 3]))]
    sequences = [b"".join(s) for n in range(9) for s in itertools.product(tokens, repeat=n)]
    members = {text for text in sequences if is_member(text)}
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    if not members:
        with pytest.raises(tokamata.ConstraintError, match="no text of the constraint can be written with the tokens"):
            tokamata.compile(tokamata.grammar(grammar), vocabulary)
        return
    automaton = tokamata.compile(tokamata.grammar(grammar), vocabulary)
    for steps in itertools.product(range(len(tokens)), repeat=2):
        state, text = automaton.start(), b""
        for token in (None, *steps):
            if token is not None:
                if not state.allows(token):
                    break
                state.advance(token)
                text += tokens[token]
            after = {i for i, t in enumerate(tokens) if _writes(text + t, members, tokens)}
            mask = state.mask()
            allowed = {i for i in range(len(tokens) + 1) if mask[0] >> i & 1}
            assert allowed == after | ({len(tokens)} if text in members else set()), (seed, tokens, text)


def _writes(text: bytes, members: set[bytes], tokens: list[bytes]) -> bool:
    """Whether tokens after a text lead to one of the members."""
    rests = {m[len(text) :] for m in members if m.startswith(text)}
    return any(_cut(rest, tuple(tokens)) for rest in rests)


@functools.cache
def _cut(text: bytes, tokens: tuple[bytes, ...]) -> bool:
    return not text or any(_cut(text[len(t) :], tokens) for t in tokens if text.startswith(t))
