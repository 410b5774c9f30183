"""Indentation in grammars, against Lark with its own indenter."""

from __future__ import annotations

import random

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.indenter import DedentError, PythonIndenter
from oracle import mask_walk

import tokamata

BLOCKS = r"""
start: (_NEWLINE | stmt)*
stmt: expr _NEWLINE | expr ":" _NEWLINE _INDENT stmt+ _DEDENT | expr ":" expr _NEWLINE
expr: NAME | LPAR expr+ RPAR
NAME: /[ab]+/
LPAR: "("
RPAR: ")"
_NEWLINE: /(\r?\n[\t ]*(#[^\n]*)?)+/
%ignore /[\t ]+/
%ignore /#[^\n]*/
%declare _INDENT _DEDENT
"""
PIECES = ["a", "b", ":", "\n", "\n", "\n ", "\n  ", "\n\t", " ", "(", ")", ":\n ", ":\n  ", "#a", "\r\n "]


def _parses(lark: Lark, text: str) -> bool:
    try:
        lark.parse(text)
    except (UnexpectedInput, DedentError, AssertionError):
        return False
    return True


@pytest.fixture(scope="module")
def constraint() -> tokamata.Constraint:
    return tokamata.grammar(BLOCKS)


@pytest.fixture(scope="module")
def lark() -> Lark:
    return Lark(BLOCKS, parser="lalr", lexer="basic", postlex=PythonIndenter())


class _NlIndenter(PythonIndenter):
    NL_type = "_NL"


@pytest.mark.parametrize(("newline", "indenter"), [("_NEWLINE", PythonIndenter), ("_NL", _NlIndenter)])
def test_random_texts_agree_with_lark(newline: str, indenter: type[PythonIndenter]) -> None:
    text = BLOCKS.replace("_NEWLINE", newline)
    constraint, lark = tokamata.grammar(text), Lark(text, parser="lalr", lexer="basic", postlex=indenter())
    rng = random.Random(5)
    accepted = 0
    for _ in range(6000 if newline == "_NEWLINE" else 2000):
        member = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 9)))
        expected = _parses(lark, member)
        accepted += expected
        assert constraint.accepts(member) == expected, repr(member)
    assert accepted > (100 if newline == "_NEWLINE" else 30)


def test_what_is_viable_can_be_completed(constraint: tokamata.Constraint, lark: Lark) -> None:
    """Random walks through viable prefixes end in members by closing brackets, lines and blocks."""
    rng = random.Random(6)
    for _ in range(300):
        text = ""
        for _ in range(rng.randint(1, 10)):
            options = [p for p in PIECES if constraint.accepts_prefix(text + p)]
            assert options, repr(text)
            text += rng.choice(options)
        ends = ["\n", ")", "a", "\n ", " ", "\n          a"]
        for _ in range(200):
            if constraint.accepts(text):
                break
            text += rng.choice([e for e in ends if constraint.accepts_prefix(text + e)])
        assert constraint.accepts(text), repr(text)
        assert _parses(lark, text), repr(text)


def test_masks_at_line_ends(constraint: tokamata.Constraint) -> None:
    rng = random.Random(7)
    words = {"".join(rng.choice(PIECES) for _ in range(rng.randint(1, 5))) for _ in range(3000)} | {
        "\n" + " " * n for n in range(1, 12)
    }
    texts = [bytes([b]) for b in range(256)] + sorted(w.encode() for w in words if len(w) > 1)
    vocabulary = tokamata.Vocabulary([*texts, None], eos_token_ids=[len(texts)])
    automaton = tokamata.compile(constraint, vocabulary)
    for text in (
        "",
        "a:",
        "a:\n",
        "a:\n  ",
        "a:\n  b",
        "a:\n  b\n",
        "a:\n  b:\n    a\n",
        "a:\n  b:\n    a\n  ",
        "(a",
        "(a\n",
        "a #",
        "(a #",
        "a: b",
    ):
        state = automaton.start()
        for byte in text.encode():
            state.advance(byte)
        allowed = set(mask_walk.allowed(state.mask()))
        expected = {i for i, t in enumerate(texts) if constraint.accepts_prefix(text.encode() + t)}
        if constraint.accepts(text):
            expected.add(len(texts))
        assert allowed == expected, repr(text)


def test_lines_deeper_than_the_limit_are_refused(constraint: tokamata.Constraint) -> None:
    assert constraint.accepts("a:\n" + " " * 120 + "b\n")
    assert not constraint.accepts_prefix("a:\n" + " " * 121)
    assert not constraint.accepts_prefix("a:\n" + " " * 120 + "b:\n")  # no room for a deeper block
    assert constraint.accepts("a:\n" + " " * 120 + "b: a\n")


def test_examples_do_not_crash_where_no_block_can_be_closed() -> None:
    text = 'start: A _NL [_INDENT A]\nA: "a"\n_NL: /(\\n *)+/\n%declare _INDENT _DEDENT\n'
    try:
        constraint = tokamata.grammar(text)
        examples = constraint.examples(3)
    except (ValueError, RuntimeError):
        return
    assert all(constraint.accepts(example) for example in examples)


ENDS_OF_LINES = [  # rules that a newline of some column ends, where others may need a block
    ('start: A _NL _INDENT A _NL _DEDENT | B start start\nA: "a"\nB: "b"\n_NL: /\\n */', "ba\n   a\n"),
    ('start: s+\ns: A | "if" _NL _INDENT A _NL _DEDENT | "do" s s\nA: /[a-c]/\n_NL: /\\r?\\n[\\t ]*/', "doif\n  a\n"),
]


@pytest.mark.parametrize(("rules", "text"), ENDS_OF_LINES)
def test_a_column_that_was_read_asks_for_no_other_blocks(rules: str, text: str) -> None:
    constraint = tokamata.grammar(rules + "\n%declare _INDENT _DEDENT\n")
    texts = [bytes([b]) for b in range(256)] + [b"\n ", b"  ", b" a", b"a\n", b"\n\n"]
    state = tokamata.compile(constraint, tokamata.Vocabulary([*texts, None], eos_token_ids=[len(texts)])).start()
    for byte in text.encode():
        state.advance(byte)
    expected = {i for i, t in enumerate(texts) if constraint.accepts_prefix(text.encode() + t)}
    assert ord(" ") not in expected
    assert set(mask_walk.allowed(state.mask())) == expected
    assert {i for i in range(len(texts)) if state.allows(i)} == expected
