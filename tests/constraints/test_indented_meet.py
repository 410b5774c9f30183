"""Intersections of indented grammars and patterns: empty ones are mostly seen to be, and none that has a text."""

from __future__ import annotations

import contextlib
import itertools
import random
import re
from typing import Literal

import pytest
from tokamata.constraints import grammars

import tokamata

BLOCKS = r"""
start: (_NEWLINE | stmt)*
stmt: expr _NEWLINE | expr ":" _NEWLINE _INDENT stmt+ _DEDENT | expr ":" expr _NEWLINE
expr: NAME | LPAR expr+ RPAR
NAME: /[ab]+/
LPAR: "("
RPAR: ")"
_NEWLINE: /(\n *)+/
%ignore " "
%declare _INDENT _DEDENT
"""
# Brackets that one rule opens and another one closes.
UNBALANCED = BLOCKS.replace("LPAR expr+ RPAR", "open expr+ RPAR") + "open: LPAR | NAME open\n"
PARTS = [
    "a",
    "b*",
    ":",
    "\n",
    "\n ",
    "\n +",
    r"\(",
    r"\)",
    r"\(+",
    "[ab ]*",
    "[^:]*",
    "[^()]*",
    "(?:a:\n +)*",
    "(?:a\n)+",
]


@pytest.mark.parametrize(
    ("text", "lexer"),
    [(BLOCKS, "basic"), (UNBALANCED, "basic"), (BLOCKS, "contextual")],
    ids=["balanced", "unbalanced", "contextual"],
)
def test_random_patterns(text: str, lexer: Literal["basic", "contextual"]) -> None:
    seed = 11
    rng = random.Random(seed)
    grammar = tokamata.grammar(text, lexer=lexer)
    texts = ("".join(t) for n in range(7) for t in itertools.product("a:\n ()", repeat=n))
    members = [t for t in texts if grammar.accepts(t)]
    assert len(members) > 100
    empty = unknown = 0
    for _ in range(40):
        pattern = tokamata.regex("".join(rng.choices(PARTS, k=rng.randrange(3, 8))))
        try:
            meet = grammar & pattern
        except tokamata.LimitError:  # which columns are possible is searched for
            unknown += 1
            continue
        if meet.is_empty():
            empty += 1
            assert not [t for t in members if pattern.accepts(t)], (seed, pattern.source)
            continue
        example = meet.examples(1)[0]
        assert grammar.accepts(example), (seed, pattern.source, example)
        assert pattern.accepts(example), (seed, pattern.source, example)
    assert empty > 20
    assert unknown == 0


def test_what_no_text_can_have() -> None:
    grammar = tokamata.grammar(BLOCKS)
    for pattern in [r"(?s:.*):[ ]*:(?s:.*)", r"[^)]*\((?s:[^)]*)"]:
        assert (grammar & tokamata.regex(pattern)).is_empty(), pattern
    for pattern in [r"\((?:a\n *)*\)\n", r"(?:a:\n +)+b\n", r"(?:a\n)*a:\n  \(\nb\n\)\n"]:
        assert not (grammar & tokamata.regex(pattern)).is_empty(), pattern


def test_patterns_that_leave_most_open() -> None:
    python = tokamata.grammar(grammars.text("python"))
    for pattern in [r"(?s:class A:\n.*)", r"(?s:@[a-z]+\n[^dca@].*)", r"if a:\n  [a-z]+\n(?:  [a-z]+\n)*else:.*\n"]:
        meet = python & tokamata.regex(pattern)
        for example in meet.examples(2):
            assert tokamata.regex(pattern).accepts(example), (pattern, example)
            assert python.accepts(example), (pattern, example)


# Blocks that one rule opens and another one closes; two in one rule; opened by a rule of their own.
OPENED = BLOCKS.replace("_INDENT stmt+ _DEDENT", "begin stmt+ _DEDENT") + "begin: _INDENT\n"
TWICE = BLOCKS.replace("_INDENT stmt+ _DEDENT", "_INDENT (stmt | NAME NAME _NEWLINE _INDENT stmt _DEDENT)+ _DEDENT")
CALLED = BLOCKS.replace("_NEWLINE _INDENT stmt+ _DEDENT", "block") + "block: _NEWLINE _INDENT stmt+ _DEDENT\n"


def _lines(rng: random.Random, depth: int, column: int) -> str:
    text = ""
    for _ in range(rng.randrange(1, 4)):
        name = rng.choice(["a", "b", "(a)", "(a\n  b)", "( (a)b )", "a "])
        if rng.random() < 0.5 or not depth:
            text += " " * column + name + rng.choice(["\n", "\n", ":b\n"])
        else:
            inner = _lines(rng, depth - 1, column + rng.choice([1, 1, 2, 4]))
            text += " " * column + name + ":" + rng.choice(["", "  ", "\n", "\n    "]) + "\n" + inner
    return text


def _widened(rng: random.Random, text: str) -> str:
    """A pattern that the text matches: parts of it are any text, or any without what they lack."""
    pattern, at = "", 0
    while at < len(text):
        if rng.random() < 0.75:
            pattern += re.escape(text[at])
            at += 1
            continue
        part = text[at : at + rng.randrange(6)]
        lacking = [c for c in (":", "()", "\n", " ") if not set(c) & set(part)]
        pattern += rng.choice(["(?s:.)*", *(f"[^{c}]*" for c in lacking)])
        at += len(part)
    return pattern


@pytest.mark.parametrize("text", [BLOCKS, UNBALANCED, OPENED, TWICE, CALLED])
def test_what_a_text_matches_leaves_a_text(text: str) -> None:
    seed, found = 5, 0
    rng = random.Random(seed)
    grammar = tokamata.grammar(text)
    while found < 12:
        member = _lines(rng, 2, 0)
        if rng.random() < 0.4:
            member += " " * rng.choice([1, 2, 3])
        if not grammar.accepts(member):
            continue
        pattern = tokamata.regex(_widened(rng, member))
        assert pattern.accepts(member)
        found += 1
        with contextlib.suppress(tokamata.LimitError):  # a text is searched for
            assert not (grammar & pattern).is_empty(), (seed, member, pattern.source)


def test_lines_outside_of_blocks_begin_in_the_outermost_column() -> None:
    for text in (BLOCKS, TWICE, CALLED):
        grammar = tokamata.grammar(text)
        for pattern in ["[^:]*\n +", r"\(+[^:]*\n +", "b*a(?:a:\n +)*\n ", "(?:[ab]+:\n +[ab]+\n)+ [ab]*:\n[ab].*"]:
            assert (grammar & tokamata.regex(pattern)).is_empty(), (text, pattern)
        for pattern in ["[^:]*:\n +a\n +", "(?:[ab]+:\n +[ab]+\n)+ [ab]*:\n   [ab].*\n", "a:\n a\n +b\n?"]:
            assert not (grammar & tokamata.regex(pattern)).is_empty(), (text, pattern)
