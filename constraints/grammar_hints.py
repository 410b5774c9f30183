"""What to write instead where a grammar was written in another notation."""

from __future__ import annotations

import re

from .grammar_source import GrammarSyntax

_MOST_LINE = 1000  # characters of a line that are looked at
_COLON = r"\s*[?!]?[A-Za-z_][\w.-]*(\{[\w,]*\})?\s*:(?![:=])"
_EQUALS = r"\s*[\w-]+\s*=(?!=)"
_LARK_HINT = (_COLON, 'that is how Lark writes rules: pass syntax="lark", or write ::=')
# By notation: how a line begins, and how the text goes on, with what to write instead.
_LINES = {
    "lark": [
        (r"\s*<?[\w-]+>?\s*::=", 'that is how GBNF and W3C EBNF write rules: pass syntax="gbnf" or "ebnf", or write :'),
        (r"\s*[\w-]+\s*(=|->)", "write name: and what it stands for"),
    ],
    "gbnf": [_LARK_HINT, (_EQUALS, "write name ::= ..., as ISO's EBNF of = , ; { } is another notation")],
    "ebnf": [
        _LARK_HINT,
        (_EQUALS, "write name ::= a b? c*; ISO's EBNF of = , ; [ ] { } is another notation than the W3C's"),
        (r"\s*<", "names stand without < >"),
    ],
}
_NEXT = {
    "lark": [("'", 'strings stand in "double quotes"')],
    "gbnf": [
        ("'", 'strings stand in "double quotes"'),
        ("//|;", "comments begin with #"),
        ("/", "there are no patterns: use classes and * + ?"),
    ],
    "ebnf": [
        ("{", "use * + ?"),
        ("//|;|#", "comments stand in /* */"),
        ("/", "there are no patterns: use classes and * + ?"),
    ],
}


def hint(syntax: GrammarSyntax, text: str, position: int) -> str:
    """The remedy for a text that is not of the notation from a position on."""
    begin = text.rfind("\n", 0, position) + 1
    line = text[begin : begin + _MOST_LINE].partition("\n")[0]
    if syntax == "gbnf" and not text[begin:position].strip() and text[position : position + 1] in tuple('"[(.|<'):
        return "a rule goes on in the next line only after | or inside of ( )"
    said = next((remedy for pattern, remedy in _LINES[syntax] if re.match(pattern, line)), None)
    said = said or next((remedy for pattern, remedy in _NEXT[syntax] if re.match(pattern, text[position:][:2])), None)
    return said or "mend the grammar there"
