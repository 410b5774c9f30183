"""Grammars in the EBNF of W3C specifications: parts of the grammar of XML, exceptions, errors."""

from __future__ import annotations

import random
import xml.parsers.expat

import pytest
from oracle.grammar import derives
from tokamata.constraints.ebnf_source import read_ebnf

import tokamata
from tokamata import ConstraintError, LimitError, UnsupportedError

XML = """
[39] element  ::= EmptyElemTag
                | STag content ETag   [ WFC: Element Type Match ] [ VC: Element Valid ]
[40] STag     ::= '<' Name (S Attribute)* S? '>'
[41] Attribute ::= Name Eq AttValue
[25] Eq       ::= S? '=' S?
[10] AttValue ::= '"' [^<&"]* '"' | "'" [^<&']* "'"
[42] ETag     ::= '</' Name S? '>'
[43] content  ::= CharData? ((element | PI | Comment) CharData?)*   /* no references - here */
[44] EmptyElemTag ::= '<' Name (S Attribute)* S? '/>'
[14] CharData ::= [^<&]* - ([^<&]* ']]>' [^<&]*)
[15] Comment  ::= '<!--' ((Char - '-') | ('-' (Char - '-')))* '-->'
[16] PI       ::= '<?' PITarget (S (Char* - (Char* '?>' Char*)))? '?>'
[17] PITarget ::= Name - (('X' | 'x') ('M' | 'm') ('L' | 'l'))
[5]  Name     ::= "a"
[2]  Char     ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]
[3]  S        ::= (#x20 | #x9 | #xD | #xA)+
"""
PIECES = ["<a", ">", "</a>", "<a/>", " ", "a", '="', '"', "='x'", "<!--", "-->", "-", "<?a", "?>", "]]>", "&", "<"]


def test_members_equal_expats() -> None:
    """With one element name, tags always match; attributes are kept apart from repeating."""
    source, constraint = read_ebnf(XML), tokamata.grammar(XML, syntax="ebnf")
    members = 0
    seeds = ["<a><!-- a- --></a>", '<a a="x"/>', "<a>a<?a a?><a/></a>", "<a></a>", "<a>]></a>"]
    for seed in range(250):
        rng = random.Random(seed)
        text = rng.choice(seeds)
        for _ in range(rng.randrange(4)):
            position = rng.randrange(len(text) + 1)
            text = text[:position] + rng.choice(PIECES) + text[position + rng.randrange(3) :]
        text = text[:24]
        if text.count("=") > 1 or not text.startswith("<a"):
            continue
        parser = xml.parsers.expat.ParserCreate()
        try:
            parser.Parse(text.rstrip() if text.endswith(" ") else text, True)
            member = not text.endswith(" ")
        except xml.parsers.expat.ExpatError:
            member = False
        if member and text.rpartition("</a>")[2].strip("</a> ") and not text.endswith(("</a>", "/>", "a>")):
            continue  # comments after the element are no part of this grammar
        members += member
        assert derives(source, text.encode()) == member, f"seed {seed}: {text!r}"
        assert constraint.accepts(text) == member, f"seed {seed}: {text!r}"
    assert members > 40


def test_exceptions_are_terminals() -> None:
    source = read_ebnf("a ::= b - 'x' 'y' - 'z' c\nb ::= [w-z]\nc ::= a?\n")
    assert [source.show(p) for p in source.productions if p.rule == 0] == ["a: b - 'x' 'y' - 'z' c"]
    assert source.terminals[0].constraint.equivalent(tokamata.regex("[wyz]y"))


def test_exceptions_are_taken_from_left_to_right() -> None:
    constraint = tokamata.grammar("a ::= [a-z]+ - b - 'x' 'z'\nb ::= 'w'+\n", "ebnf")
    assert constraint.equivalent(tokamata.regex("(?!(w+|x)z$)[a-z]+z"))


def test_classes_strings_and_start() -> None:
    source = read_ebnf("a ::= [#x61-c#x7A.] #xE4 \"'\" '\"' [^#x20-#x10FFFF] e\ne ::= a |\n")
    assert source.rules[source.start].name == "a"
    assert source.terminals[0].constraint.equivalent(tokamata.regex("[abcz.]ä'\"[\\x00-\\x1f]"))
    named = read_ebnf("a ::= (b - 'x') c\nc ::= a? b", start="c", constraints={"b": tokamata.regex("[x-z]")})
    assert derives(named, b"yxz")
    assert not derives(named, b"xxz")
    assert named.rules[named.start].name == "c"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("a ::= b", ConstraintError, "line 1, column 7: rule b is used but not defined"),
        (
            "\na ::= 'x",
            ConstraintError,
            'line 2, column 7: the string that begins here is not closed, got "\'x"; write',
        ),
        ('a ::= "x', ConstraintError, "line 1, column 7: the string that begins here is not closed"),
        ("a ::= 'b' [x", ConstraintError, r"line 1, column 11: the class that begins here is not closed"),
        ("a ::= 'b' /* x", ConstraintError, r"line 1, column 11: the comment that begins here .* write \*/ at its end"),
        ("a ::= 'b'{2}", ConstraintError, r"got '\{2\}'; use \* \+ \?$"),
        ("a ::= 'b' # x", ConstraintError, r"got '# x'; comments stand in /\* \*/$"),
        ("a ::= 'x' b - 'c'\nb ::= b 'x' | 'y'", UnsupportedError, "line 2, column 7: b on a side of - calls itself"),
        ("a ::= 'x' - ", ConstraintError, "line 1, column 12: expected .* a string.* got the end"),
        ("a ::= (b | c", ConstraintError, r"line 1, column 13: expected \), got the end"),
        ("", ConstraintError, "expected a rule, name ::= ..., got none"),
        ("a ::= )", ConstraintError, r"line 1, column 7: expected .*\(, a name, a string, \|, got"),
        ("a = 'x'", ConstraintError, "line 1, column 1: expected name ::=, got"),
        ("a ::= '\ud800'", ConstraintError, "line 1, column 7: .* is not a character"),
        ("a ::= #xD800", ConstraintError, "line 1, column 7: #xD800 is not a character"),
        ("a ::= [z-a]", ConstraintError, "line 1, column 7: .* ends before it begins"),
        ("a ::= [^]", ConstraintError, r"line 1, column 7: \[\^\] is an empty class"),
        (
            "/* ( */ a ::= '('\n " + "(b " * 5000 + "b" + ")*" * 5000 + "\nb ::= ('b')",
            LimitError,
            r"line 2, column 14999: the limit nesting=\d+ .*setrecursionlimit",
        ),
        ("a ::= 'x'\n[2] a ::= 'y'", ConstraintError, "line 2, column 5: rule a is defined more than once"),
    ],
)
def test_errors_name_the_place(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        read_ebnf(text)
