"""ECMA-262 patterns: what Node's RegExp accepts (tests/corpus/regex/ecma.json) and what it refuses."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

import tokamata
from tokamata import ConstraintError, UnsupportedError, regex

CORPUS = json.loads((Path(__file__).parents[1] / "corpus" / "regex" / "ecma.json").read_text("utf-8"))["cases"]
NEWER = {"(?i:a)"}  # valid since the 16th edition, which that Node did not know


def test_corpus_is_decided_as_node_decides() -> None:
    for case in CORPUS:
        pattern = case["pattern"]
        if pattern in NEWER:
            continue
        if not case["valid"]:
            with pytest.raises(ConstraintError) as caught:
                regex(pattern, syntax="ecma")
            assert not isinstance(caught.value, UnsupportedError), pattern
            continue
        constraint = regex(pattern, syntax="ecma")
        for text in case["accepted"]:
            assert constraint.accepts(text), (pattern, text)
        for text in case["rejected"]:
            assert not constraint.accepts(text), (pattern, text)
    assert sum(len(c.get("accepted", ())) for c in CORPUS) > 1000


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)\1", 'position 4 of "(a+)\\1": its group has no small number of texts; write out the texts'),
        (r"(?<n>.)\k<n>", "backreference at position 7"),
        (r"(?<=(a|b)\1)", "lookbehind reads it before its group"),
        (r"(?:(a|b))*\1", "its group is repeated"),
        ("a{99999999999}", "repetition number above 4294967294 at position 1"),
        ("b(?i:a)", "group that ignores case at position 1"),
        ("(?s-i:a)", "group that ignores case at position 0"),
    ],
)
def test_unsupported_patterns_name_place_and_reason(pattern: str, text: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(text)):
        regex(pattern, syntax="ecma")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("ab[cd", 'unterminated character class at position 2 of "ab[cd": close it with "]"'),
        (r"\-", r"bad escape \- at position 0"),
        ("a{,2}", "brace that is no quantifier at position 1"),
        ("x}", 'lone "}" at position 1'),
        (r"\p{lu}", r"unknown property \p{lu} at position 0"),
        (r"[\w-a]", r"bad character range \w-a at position 1"),
        ("(?#x)a", "leave the comment out"),
        ("(?>a)b", "use (?:...): there are no atomic groups"),
        ("(a)?(?(1)b|c)", "write both cases out as alternatives"),
        ("(?'n'a)", "use (?<name>...) for a named group"),
        ("(?1)", "a pattern cannot call itself"),
        ("(?P>n)", "a pattern cannot call itself"),
        (r"\Ga", "leave it out: a match begins where the text does"),
        ("(?x:a)", "unknown group (?x at position 0"),
        ("(?P<a>b)", 'unknown group (?P at position 0 of "(?P<a>b)": use (?<name>...) for a named group'),
        ("b(?s)a", "flags without a group at position 1"),
        ("(?i)a", "write both cases, as in [aA]"),
        ("(?ss:a)", "bad flags of a group at position 0"),
        ("(?s-s:a)", "bad flags of a group at position 0"),
        ("(?-:a)", "bad flags of a group at position 0"),
        ("(?s--m:a)", "bad flags of a group at position 0"),
        ("(?s", "bad flags of a group at position 0"),
        ("(?=a)*", "nothing to repeat at position 5"),
        ("(" * 300, "limit"),
    ],
)
def test_malformed_patterns_name_the_place(pattern: str, text: str) -> None:
    with pytest.raises((ConstraintError, RuntimeError), match=re.escape(text)):
        regex(pattern, syntax="ecma")


def test_groups_with_flags_of_their_own() -> None:
    """Flags hold up to the end of their group, those behind the minus not; against re, which has these two alike."""
    patterns = [
        "a(?s:.)b",
        "(?s:.(?-s:.).).",
        "(?s:a.|(?m-s:^.$))",
        "(?m:^a$)\n?a?",
        "((?ms:^.$)|.)*",
        "(?-s:.)*",
        "(?s:.)+(?-m:$)",
    ]
    texts = ["".join(t) for n in range(5) for t in itertools.product("ab\n", repeat=n)]
    for pattern in patterns:
        constraint = regex(pattern, syntax="ecma")
        for text in texts:
            assert constraint.accepts(text) == bool(re.fullmatch(pattern, text)), (pattern, text)


def test_groups_with_names_make_k_an_escape_without_the_u_flag_too() -> None:
    accepts = tokamata.json_schema({"pattern": r"^[\-\k]$"}).accepts
    assert [text for text in ("k", "-", "\\\\") if accepts(f'"{text}"')] == ["k", "-"]
    for pattern in (r"[\-\k](?<n>a)", r"(?<n>a)[\-\k]", r"(?<n>a)\-\k"):
        with pytest.raises(ConstraintError, match=re.escape(r"\k")):
            tokamata.json_schema({"pattern": pattern})


def test_ends_of_the_text_in_patterns_of_schemas() -> None:
    pattern = r"\A[^\n]*(?:b|\\A)\Z|c+\z"
    constraint = tokamata.json_schema({"type": "string", "pattern": pattern})
    python = re.compile(pattern.replace(r"\z", r"\Z"))
    for text in ("ab", "b", "", "a", "Ab", "AbZ", "bZ", "\nb", "b\n", "x\\A", "\\A", "xcc", "cz", "c\n", "\nc"):
        assert constraint.accepts(json.dumps(text)) == bool(python.search(text)), text
    (entry,) = (entry for entry in constraint.report if entry.subject == "pattern")
    assert entry.status == "enforced"
    assert r"\A, \Z and \z are the ends of the text" in entry.detail
    (plain,) = (e for e in tokamata.json_schema({"pattern": r"\\Ab"}).report if e.subject == "pattern")
    assert plain.detail == ""
    for escape, remedy in (
        (r"\Q", "put a backslash before"),
        (r"\h", r"write \[ \\t\] for blanks"),
        (r"[\A]", "write the character itself"),
        (r"\e", r"write \\x1b"),
        (r"\y", "write the character itself"),
    ):
        with pytest.raises(ConstraintError, match=rf'"/pattern": regex: bad escape \\.* {remedy}'):
            tokamata.json_schema({"pattern": f"^{escape}"})


def test_classes_differ_from_those_of_python() -> None:
    assert not regex(r"\d", syntax="ecma").accepts("٣")
    assert not regex(r"\w", syntax="ecma").accepts("é")
    assert regex(r"\s", syntax="ecma").accepts("\ufeff")
    assert not regex(r"\s", syntax="ecma").accepts("\x1c")
    assert regex(r"\p{space}\P{space}", syntax="ecma").accepts("\u2028a")  # an alias of White_Space
    assert not regex(".", syntax="ecma").accepts("\u2028")
    assert not regex("a$\n", syntax="ecma").accepts("a\n")
