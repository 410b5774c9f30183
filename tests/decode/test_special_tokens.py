"""Special tokens by name in grammars: masks allow exactly their ids, and no token of text spells them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tokamata

CALL, END, PAD = 1, 2, 3
TOKENS: list[bytes | None] = [None, None, None, None, *(bytes([b]) for b in range(256)), b"ab", b"<|call|>", b"\xffx"]
NAMES = {"<eos>": 0, "<|call|>": CALL, "<end>": END}
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[0], special_tokens=NAMES)


def allowed(state: tokamata.DecodeState) -> set[int]:
    mask = state.mask().view(np.uint32)
    return {t for t in range(len(TOKENS)) if mask[t // 32] >> np.uint32(t % 32) & 1}


def ids(text: bytes) -> set[int]:
    return {4 + b for b in text}


def test_masks_allow_the_ids() -> None:
    grammar = tokamata.grammar('start: "a" <|call|> B? (<end> | "c")\nB: "b" <end>\n')
    assert grammar.special_tokens == {"<|call|>", "<end>"}
    state = tokamata.compile(grammar, VOCABULARY).start()
    assert allowed(state) == ids(b"a")
    state.advance(4 + ord("a"))
    assert allowed(state) == {CALL}
    state.advance(CALL)
    assert allowed(state) == {END, *ids(b"bc")}
    state.advance(4 + ord("b"))
    assert allowed(state) == {END}
    state.advance(END)
    assert allowed(state) == {END, *ids(b"c")}
    state.advance(END)
    assert state.is_final
    assert allowed(state) == {0}


def test_names_survive_the_algebra_and_files(tmp_path: Path) -> None:
    grammar = tokamata.grammar("root ::= <end>", syntax="gbnf")
    both = tokamata.literal("x") + (grammar | "y")
    assert both.special_tokens == {"<end>"}
    named = tokamata.grammar("start: X\nX: Y\n", constraints={"Y": both})
    assert named.special_tokens == {"<end>"}
    automaton = tokamata.compile(both, VOCABULARY)
    state = automaton.start()
    state.advance(4 + ord("x"))
    assert allowed(state) == {END, *ids(b"y")}
    automaton.save(tmp_path / "a.fst")
    state = tokamata.load(tmp_path / "a.fst", VOCABULARY).start()
    state.advance(4 + ord("x"))
    assert allowed(state) == {END, *ids(b"y")}


def test_text_never_allows_them() -> None:
    """A special token may not stand where text may."""
    state = tokamata.compile(tokamata.grammar("start: A <end>\nA: /(?s:.)+/\n"), VOCABULARY).start()
    assert not allowed(state) & {0, CALL, END, PAD, 4 + 0xFF}
    state.advance(4 + ord("<"))
    assert allowed(state) & {0, CALL, END, PAD, 4 + 0xFF} == {END}


def test_unknown_names() -> None:
    with pytest.raises(tokamata.VocabularyError, match=r"got '<nope>'; it has <eos>, <\|call\|>, <end>"):
        tokamata.compile(tokamata.grammar("start: <nope>"), VOCABULARY)
    with pytest.raises(tokamata.VocabularyError, match="<eos> ends a text here"):
        tokamata.compile(tokamata.grammar("start: <eos>"), VOCABULARY)
