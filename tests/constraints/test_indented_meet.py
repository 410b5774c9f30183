"""Intersections of indented grammars and patterns: empty ones are mostly seen to be, and none that has a text."""

from __future__ import annotations

import itertools
import random
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
    assert unknown <= 2


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
