"""GBNF and EBNF as they are read natively, against their grammars for Lark (gbnf.lark, ebnf.lark)."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tokamata.automata.errors import ConstraintError
from tokamata.constraints.grammar_parts import Node, lark_nodes

import tokamata
from tokamata._core import read_notation

GBNF = r"""# a list of people
root  ::= "[" ws ( person ("," ws person)* )?
  | "none" # nobody
person ::= "{" name{1,3} (ws
   [^"\\\x7F\x00-\x1F] # a class
   {2,}
   | <think> !<[12]> | . )+ "}" () less
ws ::= | " " | "\n" [ \t]{0,20} | (ws | ) | ( | "]")

name::=[a-z]{ , 9 }?*"""
EBNF = """/* a list */ [1] list ::= '[' (item (',' item)*)? ']' [ wfc: balanced ]
[2a]item::= "x" - 'y' - (name | #x41) | | [a-z#x20-#x7F]+
  name ::= [^"]? ( ) ( | 'b') /* end */ - list*
"""
BOTH = ["(", ")", "|", "\n", "\f", '"', "[", "]", "*", "?", " ", "\t", "::=", "a", "é", "\u2003", "a ::= b\n", "( "]
PIECES = {
    "gbnf": [*BOTH, "\r\n", "\r", "#", "# c\n", "\\", "{1,2}", "{,}", "{3}", ".", "<x>", "!<", "\n|", "|\n", "\n*"],
    "ebnf": [*BOTH, "/*", "*/", "/* c */", "'", "- ", "-", "[1] ", "#x41", "#", "[vc: x]", "[9b]c::=("],
}


def by_lark(text: str, notation: str) -> list[Node] | None:
    try:
        return lark_nodes(notation, text)
    except ConstraintError:
        return None


def changed(text: str, notation: str, rng: random.Random) -> str:
    begin = rng.randrange(len(text))
    text = text[begin : begin + rng.randrange(1, 120)] if rng.random() < 0.5 else text
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(len(text) + 1)
        if rng.random() < 0.6:
            text = text[:i] + rng.choice(PIECES[notation]) + text[i:]
        else:
            text = text[:i] + text[i + rng.randrange(1, 4) :]
    return text


def texts(notation: str, seed: int, count: int) -> Iterator[str]:
    rng = random.Random(seed)
    written = {"gbnf": GBNF, "ebnf": EBNF}[notation]
    yield written
    for _ in range(count):
        yield changed(written, notation, rng)


def compare(notation: str, seed: int, count: int) -> tuple[int, int]:
    """How many texts Lark reads, and how many of these are not read natively."""
    read = rare = 0
    for text in texts(notation, seed, count):
        native, wanted = read_notation(text, notation == "gbnf"), by_lark(text, notation)
        assert native is None or native == wanted, (seed, text)
        read += wanted is not None
        rare += wanted is not None and native is None
    return read, rare


@pytest.mark.parametrize("notation", ["gbnf", "ebnf"])
def test_parts_and_places_are_larks(notation: str) -> None:
    written = {"gbnf": GBNF, "ebnf": EBNF}[notation]
    assert read_notation(written, notation == "gbnf") == lark_nodes(notation, written)
    seed = random.randrange(10**9)
    print("seed", seed)
    read, rare = compare(notation, seed, 1500)
    assert read > 50
    assert rare < read / 4


@pytest.mark.slow
@pytest.mark.parametrize("notation", ["gbnf", "ebnf"])
def test_parts_and_places_of_many_texts_are_larks(notation: str) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    read, rare = compare(notation, seed, 40_000)
    assert read > 1500
    assert rare < read / 4


def test_texts_that_are_no_unicode_are_left_to_lark() -> None:
    assert read_notation('root ::= "\ud800"', True) is None


def test_groups_nest_without_bound() -> None:
    depth = 100_000
    assert tokamata.grammar("root ::= " + "(" * depth + '"a"' + ")" * depth, syntax="gbnf").accepts("a")


def test_a_comment_before_an_operator_may_have_braces() -> None:
    grammar = tokamata.grammar('root ::= ("a" # {x\n *) ("b"\n\f # {1}\n {2})', syntax="gbnf")
    assert grammar.equivalent(tokamata.regex("a*b{2}"))
