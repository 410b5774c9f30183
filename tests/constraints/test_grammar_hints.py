"""Grammars in another notation than the one that was said: the error says what to write."""

from __future__ import annotations

import pytest
from tokamata.constraints.grammar_source import GrammarSyntax

import tokamata


@pytest.mark.parametrize(
    ("syntax", "text", "remedy"),
    [
        ("lark", 'start ::= "a"', 'pass syntax="gbnf" or "ebnf", or write :'),
        ("lark", '<start> ::= "a"', 'pass syntax="gbnf" or "ebnf", or write :'),
        ("lark", 'start = "a"', "write name: and what it stands for"),
        ("lark", "start: 'a'", 'strings stand in "double quotes"'),
        ("lark", 'start: "a" ^', "mend the grammar there"),
        ("gbnf", 'root: "a"', 'pass syntax="lark", or write ::='),
        ("gbnf", '?root.2: "a"', 'pass syntax="lark", or write ::='),
        ("gbnf", 'root = "a"', "write name ::= ..., as ISO's EBNF of = , ; { } is another notation"),
        ("gbnf", "root ::= 'a'", 'strings stand in "double quotes"'),
        ("gbnf", 'root ::= "a" // b', "comments begin with #"),
        ("gbnf", 'root ::= "a" ; b', "comments begin with #"),
        ("gbnf", "root ::= /a/", "there are no patterns: use classes and * + ?"),
        ("gbnf", 'root ::= "a"\n  "b"', "a rule goes on in the next line only after | or inside of ( )"),
        ("gbnf", 'root ::= "a" : "b"', "mend the grammar there"),
        ("ebnf", 'start: "a"', 'pass syntax="lark", or write ::='),
        ("ebnf", 'digit = "0" | "1";', "ISO's EBNF of = , ; [ ] { } is another notation than the W3C's"),
        ("ebnf", '<start> ::= "a"', "names stand without < >"),
        ("ebnf", 'start ::= {"a"}', "use * + ?"),
        ("ebnf", 'start ::= "a" # b', "comments stand in /* */"),
        ("ebnf", 'start ::= "a" // b', "comments stand in /* */"),
        ("ebnf", "start ::= /a/", "there are no patterns: use classes and * + ?"),
    ],
)
def test_the_remedy_is_of_the_notation(syntax: GrammarSyntax, text: str, remedy: str) -> None:
    with pytest.raises(tokamata.ConstraintError) as refused:
        tokamata.grammar(text, syntax=syntax)
    assert str(refused.value).startswith("grammar: line ")
    assert str(refused.value).endswith(remedy)
