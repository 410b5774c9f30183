"""constraint_of: the constraints that engines name in their requests."""

from __future__ import annotations

import pytest
from tokamata.decode.engines.source import Kind, constraint_of

import tokamata

LONG = "0.1000000000000000000001"
TAGS = '{"structures": [{"begin": "<a>", "schema": %s, "end": "</a>"}], "triggers": ["<a>"]}'


def test_numbers_of_schemas_stay_as_they_are_written() -> None:
    made = constraint_of("structural_tag", TAGS % f'{{"const": {LONG}}}')
    assert made.accepts(f"<a>{LONG}</a>")
    assert not made.accepts("<a>0.1</a>")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TAGS % '{"type": "null", "type": "integer"}', '^structural_tag: line 1, column .*"type"'),
        ("{", "^structural_tag is not JSON that can be read"),
        ("[" * 100_000, "^structural_tag is not JSON that can be read"),
        ('{"structures": [{"begin": "<a>", "end": "</a>"}], "triggers": []}', "schema"),
        ('{"structures": 5, "triggers": []}', '^structural_tag: expected a JSON object with "structures"'),
        ("[]", '^structural_tag: expected a JSON object with "structures"'),
        (
            '{"structures": [{"begin": 1, "schema": {}, "end": "b"}], "triggers": ["a"]}',
            "begins, ends and .* are texts",
        ),
        ('{"structures": [{"begin": "a", "schema": {}, "end": null}], "triggers": ["a"]}', "begins, ends and .* are"),
        ('{"structures": [{"begin": "ab", "schema": {}, "end": "b"}], "triggers": [1]}', "begins, ends and .* are"),
        ('{"structures": [{"begin": "ab", "schema": {}, "end": "b"}], "triggers": "ab"}', "an array of triggers"),
        ('{"structures": [{"begin": "a\\ud800", "schema": {}, "end": "b"}], "triggers": ["a"]}', "lone surrogate"),
    ],
    ids=range(11),
)
def test_structural_tags_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=reason):
        constraint_of("structural_tag", text)


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("choice", "[]", "^choice: expected at least one option, got none"),
        ("choice", '["\\ud800"]', "^choice: expected Unicode text, got the lone surrogate"),
        ("choice", "[" * 100_000, "^choice: expected a JSON array of texts"),
        ("grammar", 'start: "\ud800"', "^grammar: expected Unicode text, got the lone surrogate"),
        ("grammar", 'root ::= "\ud800"', "^grammar: expected Unicode text, got the lone surrogate"),
        ("json", '"\ud800"', "lone surrogate"),
        ("other", "", "^constraint_of: expected one of json, json_object, regex, grammar, choice, structural_tag"),
    ],
    ids=range(7),
)
def test_whatever_is_malformed_is_a_constraint_error(kind: Kind, text: str, reason: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=reason):
        constraint_of(kind, text)


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ('start: "a" "::=" "b"', "a::=b"),
        ('start: NAME\n  | "::=" // a ::= b\nNAME: /::=/ "x"', "::=x"),
        ('root ::= "a" b # x: ::=\nb\t::= "b"', "ab"),
        ('# "root"\n  root::="::="', "::="),
    ],
    ids=range(4),
)
def test_the_notation_of_a_grammar_is_told(text: str, member: str) -> None:
    assert constraint_of("grammar", text).accepts(member)
