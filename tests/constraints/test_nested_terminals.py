"""Terminals that nest without bound, with a lexer and nothing ignored: dead ends and meets are decided all the same."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from oracle import mask_walk
from oracle.grammar import accepts
from tokamata.constraints.lark_source import read_lark

import tokamata

TREE = {
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 3},
                "of": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            },
            "additionalProperties": False,
        }
    },
    "$ref": "#/$defs/tree",
}
SCHEMAS = [{}, {"type": "object"}, {"type": ["array", "number"]}, {"type": ["string", "object"]}, TREE]
# Where all terminals are cut right by the rules alone, so that longest match says nothing new.
RULES = ['start: "call" "(" V ")"', 'start: NAME "=" V ";"\nNAME: /[A-Z]+/', 'start: (NAME ":" V "|")+\nNAME: /[A-Z]+/']


def _near(rng: random.Random, text: bytes) -> bytes:
    cut, more = rng.randrange(len(text) + 1), rng.choice([b"", b"", b"]", b"}", b"[[", b"1", b",", b'"', b")", b";"])
    return text[:cut] + more


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
@pytest.mark.parametrize("rules", RULES)
def test_longest_match_agrees_where_it_does_not_matter(rules: str, lexer: str) -> None:
    seed = 7
    rng = random.Random(seed)
    for schema in SCHEMAS:
        text = f"{rules}\nV: %json {json.dumps(schema)}\n"
        ours = tokamata.grammar(text, lexer=lexer)  # type: ignore[arg-type]
        expected = tokamata.grammar(text, lexer="none")
        members = expected.examples(15, seed=seed)
        assert all(ours.accepts(m) for m in members), (seed, text)
        for _ in range(60):
            near = _near(rng, rng.choice(members))
            assert ours.accepts(near) == expected.accepts(near), (seed, text, near)
            assert ours.accepts_prefix(near) == expected.accepts_prefix(near), (seed, text, near)


# Calls of two functions, whose arguments begin alike, and a text without bound.
CALLS = """
start: ("<f>" F "</f>" | "<g>" G "</g>" | "<t>" TEXT "</t>")+
F: %json {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
G: %json {"type": "object", "properties": {"b": {"type": "integer"}}}
TEXT: /[^<]+/
"""


def test_where_the_rules_tell_values_apart_they_need_not_differ() -> None:
    seed = 11
    rng = random.Random(seed)
    ours, expected = tokamata.grammar(CALLS, lexer="contextual"), tokamata.grammar(CALLS, lexer="none")
    members = [
        b'<f>{"a":"<f>"}</f><g>{"b":12,"a":{"b":[{}]}}</g>',
        b'<t>{"a":1</t><g>{}</g><f>{"a":"","c":[{"a":0}]}</f>',
    ]
    assert all(c.accepts(m) for m in members for c in (ours, expected))
    outcomes = set()
    for _ in range(400):
        near = _near(rng, rng.choice(members))
        outcomes.add(expected.accepts_prefix(near))
        assert ours.accepts(near) == expected.accepts(near), (seed, near)
        assert ours.accepts_prefix(near) == expected.accepts_prefix(near), (seed, near)
    assert outcomes == {True, False}, seed
    with pytest.raises(tokamata.LimitError, match=r"lexemes of F .* use lexer=\"contextual\", where what"):
        tokamata.grammar(CALLS, lexer="basic")


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
def test_a_number_after_a_value_is_a_dead_end(lexer: str) -> None:
    ours = tokamata.grammar('start: "!" V D\nD: /[0-9]+/\nV: %json {}\n', lexer=lexer)  # type: ignore[arg-type]
    for text in ("![1]5", '!"a"7', "!true0", '!{"a": [-1, 2]}12', "!-05"):
        assert all(ours.accepts_prefix(text[:i]) for i in range(len(text))), text
        assert ours.accepts(text), text
    for text in ("!1", "!12", "!-1", "!0.5", "!1e"):  # digits would go on with the number
        assert not ours.accepts_prefix(text), text
    far = tokamata.grammar('start: "! far away !" V D\nD: /[0-9]+/\nV: %json {}\n', lexer=lexer)  # type: ignore[arg-type]
    assert (far & tokamata.regex("! far away ![1-9]+")).is_empty()
    assert not (far & tokamata.regex(r"! far away !\[[1-9]+\][1-9]+")).is_empty()


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
def test_meets_are_decided(lexer: str) -> None:
    seed = 3
    rng = random.Random(seed)
    ours = tokamata.grammar('start: "a" "=" V ";"\nV: %json {"type": ["array", "integer"]}\n', lexer=lexer)  # type: ignore[arg-type]
    plain = tokamata.grammar('start: "a=" V ";"\nV: %json {"type": ["array", "integer"]}\n', lexer="none")
    alphabet = "a=[]1,;"
    texts = ["".join(t) for n in range(8) for t in itertools.product(alphabet[2:6], repeat=n)]
    members = [t for t in texts if plain.accepts(f"a={t};")]
    assert len(members) > 20
    for _ in range(40):
        pattern = "".join(
            rng.choice([r"\[", r"\[*", r"\]", r"\]+", "1?", ",?", "[1,]*"]) for _ in range(rng.randrange(1, 5))
        )
        meet = ours & tokamata.regex(f"a={pattern};") & tokamata.regex(".{0,10}")
        expected = [t for t in members if tokamata.regex(pattern).accepts(t)]
        assert meet.is_empty() == (not expected), (seed, pattern, expected[:3])
    # No bound of their lengths: whatever the depth, brackets close.
    for pattern, empty in [(r"a=\[+;", True), (r"a=\[+\]+;", False), (r"a=\[+1\];\]+", True), (r"a=(\[1,)+\]+;", True)]:
        assert (ours & tokamata.regex(pattern)).is_empty() == empty, pattern
    assert (ours - tokamata.regex(r"a=[\s\S]*;")).is_empty()
    assert not (ours - tokamata.regex(r"a=[^;]*;")).is_empty()


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [1, 12, 2, "a", [1], {"b": 2}, None]},
        {"type": ["integer", "string"], "minimum": -3, "maximum": 120, "maxLength": 1, "pattern": "^[ab]*$"},
        {"enum": ["", "a", "ab", True, [], [[]], {}, {"a": {}}]},
        {"type": "array", "items": {"enum": [0, 10, "x"]}, "maxItems": 2},
        {"anyOf": [{"type": "boolean"}, {"type": "object", "maxProperties": 0}, {"enum": [0.5, 10.25]}]},
    ],
)
def test_values_side_by_side_are_cut_by_longest_match(schema: dict[str, object]) -> None:
    seed = 2
    rng = random.Random(seed)
    members = sorted({m.decode() for m in tokamata.json_schema(schema, whitespace="compact").examples(12, seed=seed)})
    assert len(members) > 4
    for rules in ("V+", 'V ("," V)* "."', "(V D)+\nD: /[0-9]+/", "(V N)+\nN: /[a-z,]{1,9}/"):
        text = f"start: {rules}\nV: %json {json.dumps(schema)}\n"
        source = read_lark(text)
        ours = tokamata.grammar(text)
        between = ["", ",", ".", "1", "7", "a,", " "]
        texts = [
            "".join(rng.choice(members) + rng.choice(between) for _ in range(rng.randrange(1, 4))) for _ in range(150)
        ]
        found = [t for t in texts if accepts(source, t.encode())]
        assert [t for t in texts if ours.accepts(t)] == found, (seed, text)
        assert all(ours.accepts_prefix(t[:i]) for t in found for i in range(len(t))), (seed, text)


def nest(ours: tokamata.Constraint, before: bytes, opens: bytes, closes: bytes) -> None:
    """Walks through many brackets around a number, and a semicolon behind them."""
    depth = 10_000
    state = mask_walk.compiled(ours, [bytes([b]) for b in range(256)]).start()
    for byte in before + opens * depth + b"1":
        state.advance(byte)
    assert state.allows(closes[0])
    assert not state.allows(ord(";"))
    for byte in closes * depth + b";":
        state.advance(byte)
    assert state.is_final


def test_nesting_is_linear() -> None:
    ours = tokamata.grammar('start: NAME "=" V ";"\nNAME: /[a-z]+/\nV: %json {}\n')
    nest(ours, b"a=", b"[", b"]")


# ---------------------------------------------------------------------------------------------- grammars by name

# Without a lexer: brackets, texts that begin others, palindromes, operators, and tails after what nests; and what may
# stand around them. Where that goes on with a text that may still nest, nothing is decided.
AROUND = ["X", "X X", 'X ("," X)*', '"!" X "!" | X', "X\n%ignore /,+/", 'X "b"', "X A\nA: /a+/", "(X | B)+\nB: /b+/"]
NAMED = [
    ('root ::= "(" root* ")"', AROUND),
    ('root ::= "(" (root ("," root)*)? ")" | "a"+', AROUND),
    ('root ::= "a" root "a" | "b" root "b" | ","', AROUND[:5]),
    ('root ::= "a" (root "b" | "b")', AROUND[:5]),
    ('root ::= root "," root | "a" | "(" root ")"', [*AROUND[:2], *AROUND[5:]]),
    ('root ::= ("(" root ")" | "b")* "a" "b"*', AROUND[:5]),
]


@pytest.mark.parametrize(("body", "around"), NAMED)
def test_grammars_by_name_agree_with_longest_match(body: str, around: list[str]) -> None:
    texts = ["".join(t) for n in range(6) for t in itertools.product("ab(),", repeat=n)]
    named = tokamata.grammar(body, syntax="gbnf")
    assert any(named.accepts(t) for t in texts)
    for rules in around:
        text = f"start: {rules}\n%declare X\n"
        source = read_lark(text, constraints={"X": named})
        ours = tokamata.grammar(text, constraints={"X": named})
        members = {t for t in texts if t[:1] not in ("", ")") and accepts(source, t.encode())}
        assert {t for t in texts if ours.accepts(t)} == members, (body, rules)
        begun = {m[:n] for m in members for n in range(len(m) + 1)}
        assert all(ours.accepts_prefix(t) for t in begun), (body, rules)
        beyond = sorted((t for t in texts if t not in begun and ours.accepts_prefix(t)), key=len)
        for begin in beyond[:2]:
            (found,) = (ours & (tokamata.literal(begin) + tokamata.regex(r"[ab(),]*"))).examples(1)
            assert accepts(source, found), (body, rules, begin, found)


def test_grammars_by_name_in_parts_of_terminals() -> None:
    named = tokamata.grammar('root ::= "(" root* ")"', syntax="gbnf")
    ours = tokamata.grammar(
        'start: NAME X [Y] ";"\nNAME: /[a-z]+/\nY: "<" (Z | "-") ">"\n%declare X Z\n%ignore / +/\n',
        constraints={"X": named & tokamata.regex(".{0,6}"), "Z": tokamata.literal("=") + named},
    )
    for text, member in [
        ("f()<-> ;", True),
        ("f ((()))<=((()()))>;", True),
        ("f((()()))<=>;", False),
        ("f()<=()", False),
    ]:
        assert ours.accepts(text) == member, text
    assert (ours & tokamata.regex(r"[a-z]\(+<=\(+\)>;")).is_empty()
    assert not (ours & tokamata.regex(r"[a-z]\(\)<=\(+\)+>;")).is_empty()


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
def test_nesting_by_name_is_linear(lexer: str) -> None:
    named = tokamata.grammar('root ::= "(" (root ("," root)*)? ")" | [0-9]+', syntax="gbnf")
    ours = tokamata.grammar('start: "let" NAME "=" X ";"\nNAME: /[a-z]+/\n%ignore " "\n%declare X\n',
                            constraints={"X": named}, lexer=lexer)  # type: ignore[arg-type]  # fmt: skip
    nest(ours, b"let a = ", b"(", b")")


def test_what_nests_with_a_lexer_of_its_own_is_named() -> None:
    inner = tokamata.grammar('start: "(" start* ")"\n%ignore " "\n')
    with pytest.raises(
        tokamata.LimitError,
        match=r"lexemes of X \(line 2, column 10\) end, which nest without bound.*lexer=\"none\" for it",
    ):
        tokamata.grammar('start: X ("," X)*\n%declare X\n', constraints={"X": inner})
