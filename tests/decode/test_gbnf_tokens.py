"""Tokens by name and id in GBNF, and all others: masks against patterns over sequences of ids."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import tokamata

# Letters stand for ids: a to e are text, T and U special with a name, N special without one.
TOKENS = [b"a", b"b", b"ab", b"<t>", b"a<", None, None, None, None]
LETTERS = "abcdeTUNE"
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[8], special_tokens={"<think>": 5, "</think>": 6})
CASES = {
    'root ::= <think> !</think>* </think> "a"': "T[abcdeT]*Ua",
    'root ::= <[2]> "b" | !<[0]> "ab"': "cb|[bcdeTU](c|ab)",
    'root ::= (!<think> | "a" <[5]>){2}': "([abcdeU]|aT){2}",
    'root ::= !<t>+ "b"': "[abceTU]+b",  # a token of text may be named so, too
    'root ::= "a" x\nx ::= !<[1]> x | <[7]>': "a[acdeTU]*N",
}


@pytest.mark.parametrize("text", CASES)
def test_masks_against_patterns(text: str) -> None:
    automaton = tokamata.compile(tokamata.grammar(text, syntax="gbnf"), VOCABULARY)
    words = ("".join(w) for n in range(6) for w in itertools.product("abcdeTUN"[: 7 + ("7" in text)], repeat=n))
    members = {w for w in words if re.fullmatch(CASES[text], w)}
    beginnings = {m[:i] for m in members for i in range(len(m) + 1)}
    for word in sorted(w for w in beginnings if len(w) <= 2):
        state = automaton.start()
        for letter in word:
            state.advance(LETTERS.index(letter))
        bits = np.unpackbits(state.mask().view(np.uint8), bitorder="little")
        allowed = {LETTERS[i] for i in np.flatnonzero(bits)}
        expected = {x for x in LETTERS if word + x in beginnings} | ({"E"} if word in members else set())
        assert allowed == expected, (text, word)


def test_files_and_errors(tmp_path: Path) -> None:
    for text in list(CASES)[:4]:
        automaton = tokamata.compile(tokamata.grammar(text, syntax="gbnf"), VOCABULARY)
        automaton.save(tmp_path / "a.fst")
        again = tokamata.load(tmp_path / "a.fst", VOCABULARY)
        assert (again.start().mask() == automaton.start().mask()).all(), text
    for text, message in [
        ("root ::= <[9]>", "token below 9 that does not end the sequence, got 9"),
        ("root ::= <[8]>", "token below 9 that does not end the sequence, got 8"),
        ("root ::= !<other>", "a vocabulary with the token '<other>', special or of text"),
    ]:
        with pytest.raises(tokamata.VocabularyError, match=message):
            tokamata.compile(tokamata.grammar(text, syntax="gbnf"), VOCABULARY)
