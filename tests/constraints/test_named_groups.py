"""Groups whose names stand for constraints of their own."""

from __future__ import annotations

import re

import pytest

import tokamata

SAME = {
    r"(?P<QUOTED_TEXT>)": tokamata.quoted_text(),
    r"(?P<UNQUOTED_TEXT>)": tokamata.unquoted_text(),
    r"(?P<TEXT_UNTIL>\n\n|END\.)": tokamata.text_until(["\n\n", "END."]),
    r"(?P<SUBSTRING_OF>a\|b c)": tokamata.substring_of("a|b c"),
    r"(?P<DELIMITED_LIST>, |[a-z]+|(?i:X))": tokamata.delimited_list(tokamata.regex("[a-z]+|x|X")),
    r"(?P<DELIMITED_SUBSEQUENCE_OF>; ?|red|gr[ae]y)": tokamata.delimited_subsequence_of(
        ["red", tokamata.regex("gr[ae]y")], tokamata.regex("; ?")
    ),
    r"(?i)(?P<DELIMITED_LIST>and|x)": tokamata.regex("(?i:x(andx)*)"),
    r"(?P<DELIMITED_LIST>,|(?P<DELIMITED_LIST>-|a))": tokamata.regex("a(-a)*(,a(-a)*)*"),
    r"(?x) (?P<DELIMITED_LIST> , | a | b ) # a list": tokamata.regex("[ab](,[ab])*"),
    r"^(?P<QUOTED_TEXT>)$": tokamata.quoted_text(),
    r"((?P<QUOTED_TEXT>) ){2}": (tokamata.quoted_text() + " ").repeat(2, 2),
    r"(?P<QUOTED_TEXT>)-(?P<QUOTED_TEXT>)": tokamata.quoted_text() + "-" + tokamata.quoted_text(),
}


@pytest.mark.parametrize("pattern", SAME)
def test_names_are_the_functions(pattern: str) -> None:
    made = tokamata.regex(pattern)
    assert made.counterexample(SAME[pattern]) is None
    assert all(map(SAME[pattern].accepts, made.examples(20)))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            r"a(?P<QUOTED_TEXT>b)",
            r"regex: position 1: \(\?P<QUOTED_TEXT>...\) stands for something of its own; leave it empty",
        ),
        (r"(?P<TEXT_UNTIL>a*)", "expects plain text; escape"),
        (r"(?P<TEXT_UNTIL>a|)", "expects a phrase to stop at"),
        (r"(?P<SUBSTRING_OF>a|b)", "expects one text; escape the |"),
        (r"(?P<DELIMITED_LIST>a)", r"expects the delimiter first; write it as in \(\?P<DELIMITED_LIST>, \|element\)"),
        (r"(?P<DELIMITED_SUBSEQUENCE_OF>)", r"as in \(\?P<DELIMITED_SUBSEQUENCE_OF>, \|red\|green\|blue\)"),
    ],
)
def test_what_is_inside(pattern: str, message: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=message):
        tokamata.regex(pattern)


@pytest.mark.parametrize("pattern", [r"(?=(?P<QUOTED_TEXT>))", r"(?P<QUOTED_TEXT>)\bx", r"((?P<SUBSTRING_OF>a)\b)*x"])
def test_lookaround(pattern: str) -> None:
    with pytest.raises(tokamata.UnsupportedError, match="named group"):
        tokamata.regex(pattern)


def test_other_names_are_groups() -> None:
    assert tokamata.regex("(?P<quoted_text>a)").equivalent(tokamata.literal("a"))
    assert tokamata.regex(re.compile("(?P<DELIMITED_LIST>,|a)", re.IGNORECASE)).accepts("a,A")
    ecma = tokamata.regex("(?<QUOTED_TEXT>a)", syntax="ecma")
    assert ecma.equivalent(tokamata.literal("a"))
