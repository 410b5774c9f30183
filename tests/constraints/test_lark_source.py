"""Grammars in Lark's notation: the same members as Lark's own parser, terminals in order, errors with places."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections import Counter
from pathlib import Path

import lark
import pytest
from oracle.grammar import accepts, derivations
from tokamata.constraints import grammars
from tokamata.constraints.grammar_source import GrammarSource, Lexing, Place, schema_key
from tokamata.constraints.lark_source import read_lark
from tokamata.constraints.lark_text import _CLOSED

import tokamata
from tokamata import ConstraintError, LimitError, UnsupportedError

GRAMMARS = {
    "arithmetic": """
        ?start: sum
        ?sum: product | sum "+" product -> add | sum "-" product -> sub
        ?product: atom | product "*" atom | product "/" atom
        ?atom: NUMBER -> number | "-" atom -> neg | NAME | "(" sum ")"
        %import common.CNAME -> NAME
        %import common.NUMBER
        %import common.WS_INLINE
        %ignore WS_INLINE
    """,
    "json": r"""
        start: value
        ?value: object | array | string | SIGNED_NUMBER -> number | "true" | "false" | "null"
        array: "[" [value ("," value)*] "]"
        object: "{" [pair ("," pair)*] "}"
        pair: string ":" value
        string: ESCAPED_STRING
        %import common.ESCAPED_STRING
        %import common.SIGNED_NUMBER
        %import common.WS
        %ignore WS
    """,
    "keywords": """
        start: ("if"i NAME "then" NAME)+ | "let" NAME
        NAME.2: /[a-z]+/ | "$"
        LET.2: "let"
        %ignore " "
    """,
    "templates": """
        start: list{"a", ","} | list{b, ";"}~2..3
        list{item, separator}: item (separator item)*
        b: "b" "c"? ["d"]
    """,
    "repeats": """
        start: "a"~3 "b"~0..2 | "c"~60..70 | ("a" | "b")~2 C
        C: "d"~2..3 ["e"] ("f" | "g")+
    """,
    "nullable": """
        start: a b* start? "x" | a
        a: b?
        b: a "y" |
    """,
    "override": """
        %import common (INT, WS)
        %override WS: "_"
        %extend INT: "#"
        %ignore WS
        start: INT+
    """,
    "comments": r"""
        start: (WORD | C_COMMENT | CPP_COMMENT | NL)*
        NL: /\n/
        %import common (WORD, C_COMMENT, CPP_COMMENT)
        %ignore / +/
    """,
    "lazy": r"""
        start: (A | B | S)*
        A: ("a" | "ab") /c*?/ "d"?
        B: "b"
        S: "<" /.*?>/ ("." | "..")
    """,
    "flags": r"""
        start: /a b # c
               /x "!"? | /k.d/is | /x\b./ | "e"i+
    """,
}
PIECES = {
    "arithmetic": ["1", "2.5", "x", "y1", "+", "-", "*", "/", "(", ")", " ", "."],
    "json": ["{", "}", "[", "]", ",", ":", '"', '"a"', '"\\""', "\\", "true", "null", "nul", "-1", "1e5", " ", "\n"],
    "keywords": ["if", "IF", "If", "then", "let", "x", "ifx", " ", "$"],
    "templates": list("ab,;cd"),
    "repeats": ["a", "b", "c" * 60, "c", "dd", "d", "e", "f", "g"],
    "nullable": ["x", "y"],
    "override": ["1", "12", "#", "_", " "],
    "comments": ["/*", "*/", "//", "a", "\n", "*", "/", " ", "/**/"],
    "lazy": ["a", "b", "c", "d", "<", ">", "."],
    "flags": ["ab", "!", "kxd", "k\nD", "xy", "x!", "x", "e", "E", "K"],
}


@pytest.mark.parametrize("name", PIECES)
def test_members_equal_larks(name: str) -> None:
    """Random texts from the pieces: Lark's Earley parser with its basic lexer decides."""
    text = GRAMMARS[name]
    source, parser = read_lark(text), lark.Lark(text, parser="earley", lexer="basic")
    constraint = tokamata.grammar(text)
    members = 0
    for seed in range(400):
        rng = random.Random(seed)
        data = "".join(rng.choice(PIECES[name]) for _ in range(rng.randrange(8)))
        try:
            parser.parse(data)
            member = True
        except lark.exceptions.LarkError:
            member = False
        members += member
        assert accepts(source, data.encode()) == member, f"seed {seed}: {name}: {data!r}"
        assert constraint.accepts(data) == member, f"seed {seed}: {name}: {data!r}"
    assert members > 2


def names(source: GrammarSource) -> list[str]:
    return [t.name for t in source.terminals]


def test_precedence_of_terminals() -> None:
    """Priority first, then strings before patterns, then Lark's own order."""
    source = read_lark(
        """
        start: "if" A B | "ifx" C D <x> "if"i
        A: /[a-z]+/
        B.2: /[a-z]/
        C: /[a-c]{3}/
        D: /[a-z]{2}x/
        %ignore /[a-d]+/
        """
    )
    assert names(source) == ["B", "IFX", "IF", '"if"i', "<x>", "A", "/[a-d]+/", "D", "C"]


@pytest.mark.parametrize(
    "text",
    [
        'start: "ba" ("ba"i "x")',
        'start: (("ba"i start | "ba") | ("ba")~1..3) "x"',
        'start: /[ab]/ (/[bc]/ "x")*',
        'start: x /[ab]/ | /[bc]/\nx: "a".."b" "x" [/[a-d]/ (/[b-d]/ | "y")]',
        'start: t{"b"} u{t{/b/}}\nt{x}: x (/[ab]/ [/[bc]/])\nu{x}: /[cb]/ x (/[ac]/)~2',
    ],
)
def test_anonymous_terminals_are_named_as_lark_names_them(text: str) -> None:
    """From the innermost groups outwards: names decide between what is equally wide and long."""
    terminals = lark.Lark(text, parser="earley", lexer="basic").terminals
    terminals.sort(key=lambda t: (t.pattern.type == "re", -t.pattern.max_width, -len(t.pattern.value), t.name))
    patterns = [tokamata.regex(t.pattern.to_regexp()) for t in terminals]
    ours = [t.constraint for t in read_lark(text).terminals]
    assert len(ours) == len(patterns)
    assert all(one.equivalent(other) for one, other in zip(ours, patterns, strict=True))


def test_places() -> None:
    source = read_lark(
        'start: "a"  b\n\n  ?b: "a" C~2 | <|x|> -> y\nC: /x/\n%import common.WS -> D\nE: "e"\n%ignore D\n'
    )
    assert {r.name: r.place for r in source.rules} == {"start": Place(1, 1), "b": Place(3, 4)}
    assert {t.name: t.place for t in source.terminals} == {
        "A": Place(1, 8), "C": Place(4, 1), "D": Place(5, 22), "<|x|>": Place(3, 17),
    }  # fmt: skip


def test_unused_terminals_do_not_compete() -> None:
    assert names(read_lark('start: A\nA: "a"\nB: /a+/\n')) == ["A"]
    source = read_lark('start: A\nA: "a"\nb: /a+/ c\nc: "c" d | c "e"\nd: "d"\n')
    assert names(source) == ["A"]
    assert [(r.name, r.place) for r in source.rules[1:]] == [("b", Place(3, 1)), ("c", Place(4, 1)), ("d", Place(5, 1))]
    assert len(source.productions) == 1


# ---- additions
def terminal(text: str, **named: tokamata.Constraint) -> tokamata.Constraint:
    source = read_lark(text, constraints=named)
    (production,) = source.productions
    return source.terminals[~production.symbols[0]].constraint


@pytest.mark.parametrize(
    ("body", "pattern"),
    [
        ("X & Y", r"[b-m][0-9]"),
        ("X - Y", r"([ab]|[n-z])[0-9]|[a-z]"),
        ("~X & /../", r"(?![a-z][0-9]).."),
        ('"c" | X & Y | "d"', r"[b-m][0-9]|c|d"),
        ('X - "a" "1" - /b./', r"(?!a1|b.)[a-z][0-9]?"),
        ("~Y~2 & /b.../", r"b.[^b-m\n]."),
        ("(X - Y)~2", r"([n-za][0-9]|[a-z]){2}"),
        ("~(~X | ~Y)", r"[b-m][0-9]"),
        ('/x-&~\\/y/ & ~"a&b"', r"x-&~/y"),
        ('"q" (X & Y)? "r"', r"q([b-m][0-9])?r"),
        ("X & ( Y\n  | /q./ )", r"[bc-m][0-9]|q[0-9]"),
    ],
)
@pytest.mark.parametrize("inline", [False, True])
def test_algebra_of_terminals(body: str, pattern: str, inline: bool) -> None:
    definitions = "X: /[a-z][0-9]?/\nY: /[b-m]./\n"
    if body == "X - Y":
        pattern = r"[n-za][0-9]|[a-z]"
    text = f"start: ({body})\n" if inline else f"start: Z\nZ: {body}\n"
    if inline and (("|" in body and "~(" not in body) or "?" in body or ")~2" in body):
        text = f"start: Z\nZ: ({body})\n"
    want = tokamata.regex(pattern)
    assert terminal(text + definitions).counterexample(want) is None


def test_json_schema_inline() -> None:
    text = 'start: %json {"type": "object", "properties": {"a": {"const": "}"}},\n "required": ["a"]}\n'
    constraint = terminal(text)
    assert constraint.accepts('{"a": "}"}')
    assert not constraint.accepts('{"a": "]"}')
    inside = terminal('start: A\nA: "<" %json {"enum": [1, 2]} ">"\n')
    assert inside.equivalent(tokamata.regex("<[12]>"))


def test_reports_say_that_keys_may_be_repeated_in_terminals() -> None:
    schema = '{"properties": {"a": {"type": "integer"}}, "type": "object"'
    text = f'start: "call" ARGS\nARGS: %json {schema}}}\n%ignore " "\n'
    calls = tokamata.grammar(text)
    assert calls.accepts('call {"b": 1, "b": 2}')
    assert not calls.accepts('call {"a": 1, "a": 2}')
    entry = next(e for e in calls.report if e.subject == "ARGS: keys")
    assert (entry.place, entry.status) == ("line 2, column 1", "widened")
    assert "may occur twice" in entry.detail
    closed = tokamata.grammar(text.replace(schema, f'{schema}, "additionalProperties": false'))
    assert not any("keys" in e.subject for e in closed.report)
    named = tokamata.grammar('root ::= "call" ARGS', "gbnf", constraints={"ARGS": tokamata.json_schema(schema + "}")})
    assert any(e.subject.endswith("ARGS: keys") and e.status == "widened" for e in named.report)


def test_named_constraints() -> None:
    date = tokamata.regex("[0-9]{4}-[0-9]{2}")
    for text in ("start: DATE\n", "%declare DATE\nstart: DATE\n", "start: X\nX: DATE\n"):
        assert terminal(text, DATE=date).equivalent(date)
    assert terminal("start: X\nX: DATE* & /.{7}/\n", DATE=date).equivalent(date)
    source = read_lark('start: date "x"\n', constraints={"date": date})
    assert [source.show(p) for p in source.productions] == ['start: date "x"', "date: date"]


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
def test_a_constraint_by_two_names_is_one_terminal(lexer: Lexing) -> None:
    nested = tokamata.grammar('root ::= "a" root "a" | ":"', "gbnf")
    for passed in (nested, tokamata.regex("[xy]+"), tokamata.special_token("<|x|>")):
        for text in ('start: T "b" U\n%declare T U', 'start: "c" T | U "b" X "d"\nX: U'):
            both = tokamata.grammar(text, lexer=lexer, constraints={"T": passed, "U": passed})
            text = text.replace("\nX: U", "").replace("X", "U").replace("T U", "T").replace("U", "T")
            one = tokamata.grammar(text, lexer=lexer, constraints={"T": passed})
            members = [*both.examples(6), *one.examples(6)]
            assert members
            assert all(both.accepts(member) and one.accepts(member) for member in members)
        text = 'root ::= "(" root ")" | "c" root T | "d" root U | "e"'
        both = tokamata.grammar(text, "gbnf", lexer=lexer, constraints={"T": passed, "U": passed})
        (member,) = passed.examples(1)
        assert all(both.accepts(b"(" + letter + b"e" + member + b")") for letter in (b"c", b"d"))
    blank = tokamata.literal(" ")
    spaced = tokamata.grammar('start: "x" T "b"\n%ignore U', constraints={"T": blank, "U": blank})
    assert spaced.accepts("x b")


def test_special_tokens() -> None:
    source = read_lark('start: <|tool|> A <end>\nA: "x" <sep> "<no>"\n')
    assert {t.name: t.literal for t in source.terminals if t.literal} == {
        "<|tool|>": b"\xff<|tool|>\xff",
        "<end>": b"\xff<end>\xff",
    }
    (a,) = [t for t in source.terminals if t.name == "A"]
    assert a.constraint.accepts(b"x\xff<sep>\xff<no>")


SPECIAL_X = b"\xff<|x|>\xff"


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
@pytest.mark.parametrize(
    ("additions", "pieces"),
    [
        (["<|x|>"], [SPECIAL_X, b"b", b"c", b"d", b"e"]),
        (['%json {"enum": [1, "b"]}', '%json {"enum":[1,"\\u0062"]}'], [b"1", b'"b"', b"b", b"c", b"d"]),
        (['%json {"type": "array"}', '%json { "type":"array" } '], [b"[]", b"[[],1]", b"b", b"c", b"d"]),
        (['(/[ab]+/ - "a")', '( /[ab]+/-"a" )', '(/[ab]+/  -  "a")'], [b"a", b"b", b"c", b"d"]),
        (['(~"a" & /[ab]+/)', '(~ "a"&/[ab]+/)'], [b"a", b"b", b"c", b"d"]),
        (['(<|x|> "a" - <|y|>)'], [SPECIAL_X + b"a", b"a", b"c", b"d"]),
    ],
)
def test_equal_additions_are_one_terminal(additions: list[str], pieces: list[bytes], lexer: Lexing) -> None:
    for rules in (
        'start: {} "c" | "c" {} "d" | "e"',
        'start: {} "c" {} "d" {}',
        'start: pair{{"c"}} | pair{{{}}}\npair{{x}}: {} x "d" {}',
        'start: {} "c" X | {} "d"\nX: {}',
    ):
        if "pair" in rules and additions[0].startswith("("):  # which Lark has no arguments with
            continue
        slots = [additions[i % len(additions)] for i in range(rules.replace("{{", "").count("{}"))]
        inline = tokamata.grammar(rules.format(*slots), lexer=lexer)
        once = rules.partition("\nX:")[0].format(*["X"] * len(slots))
        named = tokamata.grammar(f"{once}\nX: {additions[0]}", lexer=lexer)
        found = 0
        for n in range(6):
            for text in map(b"".join, itertools.product(pieces, repeat=n)):
                assert inline.accepts(text) == named.accepts(text), (rules, text)
                found += inline.accepts(text)
        assert found, rules


def test_additions_that_differ_are_terminals_of_their_own() -> None:
    source = read_lark('start: %json {"const": 1} %json {"const": 2} <|x|> <|y|> ("a" - "b") ("a" & "b") ~"a" ~"b"')
    assert len(source.terminals) == 8
    ordered = (
        '{"a": {}, "b": {}}',
        '{"b": {}, "a": {}}',
        '{"a": {}, "b": {}, "b": {}}',
        '{"a": {}, "b": 1e99999999999999999999}',
    )
    assert len({schema_key(schema) for schema in ordered}) == 4
    assert schema_key('[1, "\u00e4"]') == schema_key(' [1,"\\u00e4" ]')
    values = ("1", "1.0", '"1"', "true", "[1]", "10", '{"1": 1}', "null")
    assert len({schema_key(value) for value in values}) == len(values)
    numbers = tokamata.grammar('start: "a" %json {"const": 1} | "b" %json {"const": 1.0}')
    assert [numbers.accepts(text) for text in ("a1", "a1.0", "b1", "b1.0")] == [True, False, False, True]


def test_equal_additions_are_reported_where_they_stand() -> None:
    schema = '%json {"type": "object"}'
    for text, lines in (
        (f'start: A {schema}\n  | "b" {schema}\nA: "a"', ["line 1, column 10", "line 2, column 9"]),
        (f'start: A {schema}\n  | "b" A\nA: {schema}', ["line 3, column 1", "line 1, column 10"]),
        (f'start: A | ";" {schema}\nA: "a" {schema}', ["line 1, column 16", "line 2, column 1"]),
        (f'start: A | ";" ({schema} - "[]") | "a"\nA: {schema}', ["line 1, column 17", "line 2, column 1"]),
    ):
        entries = [e for e in read_lark(text).entries() if e.subject.endswith("keys")]
        assert sorted(e.place for e in entries) == sorted(lines)


# ---- indentation
def test_indentation() -> None:
    source = read_lark(
        r"""
        start: (NAME _NEWLINE | "(" NAME ")" block)+
        block: _NEWLINE _INDENT start _DEDENT
        NAME: /[a-z]+/
        _NEWLINE: /(\r?\n[\t ]*)+/
        %declare _INDENT _DEDENT
        """
    )
    indent = source.indent
    assert indent is not None
    assert [names(source)[i] for i in (indent.newline, indent.indent, indent.dedent)] == [
        "_NEWLINE",
        "_INDENT",
        "_DEDENT",
    ]
    assert [names(source)[i] for i in (*indent.opening, *indent.closing)] == ["LPAR", "RPAR"]
    assert source.terminals[indent.indent].constraint.is_empty()


# ---- errors
@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("start: b\n", ConstraintError, "line 1, column 8: rule 'b' used but not defined"),
        ("start: B_2\n", ConstraintError, "line 1, column 8: terminal 'B_2' used but not defined"),
        (
            "%import common.NOPE\nstart: NOPE\n",
            ConstraintError,
            "line 1, column 16: terminal 'NOPE' is imported from a grammar that does not define it; mend",
        ),
        ("start: A\nA: (B\n", ConstraintError, r"line 2, column 6: unexpected '.n"),
        ('start: "a\\" | B\n', ConstraintError, "line 1, column 8: the string that begins here is not closed"),
        ("start: A | /b\n", ConstraintError, "column 12: the pattern that begins here is not closed, got '/b'; "),
        ('start: "a"\n\n start: "b"\n', ConstraintError, "line 3, column 2: rule 'start' defined more than once"),
        ("start: A\n%declare B A\n", ConstraintError, r"line 1, column 8: terminal A is declared .* constraints={'A'"),
        ('start: A\n%declare B\nA: B "x"\n', ConstraintError, "only declared cannot be part of another"),
        ("%declare foo\nstart: foo\n", ConstraintError, "line 1, column 10: rule foo is declared but not defined"),
        ("start: %json {]\n", ConstraintError, "line 1, column 15: expected a JSON Schema"),
        ('start: "a" %json {"type": 1}\n', ConstraintError, 'line 1, column 12: %json: json_schema: at "/type"'),
        ("start: A & b\nA: /x/\n", ConstraintError, "line 1, column 12: &, - and ~ stand between .* the rule b"),
        ("start: A &\n", ConstraintError, "line 1, column 8: expected terminals on both sides"),
        ('start: "a" | ~\n', ConstraintError, "line 1, column 14: expected a terminal after ~"),
        ("start: A\nA: /a*/\n", ConstraintError, "line 2, column 1: terminal A matches the empty text"),
        ("start: A\nA: /a(/\n", ConstraintError, "line 2, column 4: A: regex: unterminated group"),
        ("start: A\nA: /a{99999999999}/\n", ConstraintError, "line 2, column 4: A: regex: repetition number too large"),
        ('start: "b" /a{1,4294967295}/\n', ConstraintError, "line 1, column 12: start: regex: repetition number too"),
        ('start: A\nA: "b" /a{9,99999999999}?/ - "c"\n', ConstraintError, "line 2, column 8: regex: repetition nu"),
        ('start: A\nA: "x" "ab".."c"\n', ConstraintError, 'line 2, column 8: expected two char.* got "ab".."c"; write'),
        ('start: "a"i.."c"\n', ConstraintError, 'line 1, column 8: expected two characters .* got "a"i.."c"'),
        ('start: "c".."a"\n', ConstraintError, 'line 1, column 8: .* got "c".."a"; swap them'),
        ('start: "b"\n | ("a")~3..1\n', ConstraintError, r"line 2, column 9: expected 0 <= n .* got ~3..1; swap them"),
        ('start: A\nA: "a"~-1 - "a"\n', ConstraintError, r"line 2, column 7: expected 0 <= n .* got ~-1; count"),
        ('start: "a"\n%ignore "b" | ""\n', ConstraintError, 'line 2, column 15: %ignore: "": Empty terminals'),
        ('start: "a"\n%extend b: "a"\n', ConstraintError, "line 2, column 9: can't extend rule b as it wasn't"),
        ('start: "a"\n%declare b\n%extend b: "a"\n', ConstraintError, "line 3, column 9: can't extend rule b"),
        ('start: b{"a"}\nb{x}: x\n%extend b: "a"\n', ConstraintError, "line 3, column 9: cannot extend rule with"),
        ('//lexer: nope\nstart: "a"\n', ConstraintError, "line 1, column 10: .* or \"none\", got 'nope'; name one"),
        ("?a: b\n ~ | c\n", ConstraintError, "line 2"),
        ('start: A\nA: "b" | "\\u00"\n', ConstraintError, r"line 2, column 10: A: .* truncated"),
        ("start: A\nA.1: /a\n/\n", ConstraintError, "(?s)line 2, column 6: A: .* only use newlines"),
        ("start: A\nA." + "9" * 5000 + ": /a/\n", ConstraintError, "digits"),
        ('start: "a"~0..99999999\n', LimitError, "line 1, column 1: the limit repeats=1000000 was reached"),
        (
            "// lexer: none\nstart: /a(?!b)/\n",
            UnsupportedError,
            "line 2, column 8: .* depends on the text after the lexeme",
        ),
        (r'start: "x" /\Ba/', UnsupportedError, "line 1, column 12: .* depends on the text before the lexeme"),
        ("start: /$/ A\nA: /^x/\n", ConstraintError, "line"),
        ("start: <[3]>\n", UnsupportedError, r"line 1, column 8: a token by number, <\[3\]>"),
        ("start: a ^\n", ConstraintError, r"line 1, column 10: expected a definition, .* got '\^'"),
        ("%import nothing.X\nstart: X\n", ConstraintError, "line 1, column 1: %import: no grammar 'nothing.lark'"),
        ("a: B\nB: /x/\n", ConstraintError, "no rule 'start' to start from; the rules are a"),
        ('start: a{"x"}\na{x}: x | a{p{x}}\np{x}: x\n', LimitError, r"line \d, column 1: .* templates=1000"),
        (
            "start: x\nx{a}: a\n",
            ConstraintError,
            r"line 1, column 1: start uses the template x \(line 2, column 1\) without arguments; write x\{",
        ),
        ("start: b{c}\nb{x}: x\nc{y}: y\n", ConstraintError, "line 2, column 1: b uses the template c .line 3,"),
        ("start: b{c}\nb{x}: x*\nc{y}: y\n", ConstraintError, "line 2, column 1: b uses the template c .line 3,"),
        ("start{x}: x\n", ConstraintError, "line 1, column 1: the start rule start is a template"),
        ('start: b{"q"}\nb{x}: x{"a"}\n', ConstraintError, "line 2, column 1: b{Q} passes 1 .* is no template"),
        ('start: b{c}\nb{x}: x{"a"}\nc: "q"\n', ConstraintError, "line 2, column 1: b{c} passes .* c, which is no"),
        ('start: b{c}\nb{x}: x{"a"}\nc{y,z}: y z\n', ConstraintError, "line 2, column 1: b{c} passes .* takes 2;"),
        ('start: A\nA: x{"q"}\nx{a}: a\n', ConstraintError, "line 3, column 1: the template x stands inside of a term"),
        ("start: A\nA: B\nB: A\n", ConstraintError, "ecursion in terminal"),
        ("start: " + "(" * 5000 + "/a/" + ")" * 5000 + "\n", LimitError, r"column 5007: the limit nesting=\d+ .*set"),
        (
            "start: T0\n" + "".join(f"T{i}: T{i + 1} T{i + 1}\n" for i in range(40)) + 'T40: "a"\n',
            LimitError,
            "line 2, column 1: the limit references=30000 was reached .* at T0",
        ),
        (r'start: "\ud800"', ConstraintError, "lone surrogate"),
        ('start: C\nC: "c"..~"f"\n', ConstraintError, 'line 2, column 9: expected a character beside .., such as .* ~'),
        ('start: "c"..~/f/\n', ConstraintError, "line 1, column 13: expected a character beside .."),
        ('start: C\nC: "c"..<|x|>\n', ConstraintError, r"column 9: expected a character beside .., .* got <\|x\|>"),
        ('start: <|x|>.."c"\n', ConstraintError, r"column 8: expected a character beside .., .* got <\|x\|>"),
        ('start: C\nC: %json {}.."c"\n', ConstraintError, "column 4: expected a character beside .., .* got %json {}"),
        ("start: _INDENT A _DEDENT\nA: /x/\n%declare _INDENT _DEDENT\n", ConstraintError, "need a terminal _NEWLINE"),
        (
            'start: A\nA: "x"\n | /(?<=a)b/\n',
            UnsupportedError,
            r"line 3, column 4: terminal A: what '\(\?<=a\)b' .* before the lexeme; leave out what looks",
        ),
        ('start: A\nA: "x" | /y/ "z"\n | /(a+)\\1/', UnsupportedError, r'line 3, column 4: .* position 4 of "\(a\+\)'),
        ('start: A\nA: "x"\n | /(?i)b/\n', ConstraintError, r"line 3, column 4: .* write \(\?i:...\) around"),
        ('start: A\nA: "x"\n | /(?R)/\n', ConstraintError, "line 3, column 4: .* cannot call itself .* or rules of"),
        ('start: A\nA: "x"\n | /\\(?|x)/\n', ConstraintError, "unbalanced"),
        ('start: a\na: "b"\n%override b: "c"\n', ConstraintError, "line 3, column 11: .* a nonexisting rule b"),
        ('start: A\nA: "b"\n | "c" -> c\n', ConstraintError, "line 3, column 8: aliases .* stand in rules, "),
        ('start: a A\na: "b"\nA: "x"\n  | a\n', ConstraintError, r"line 4, column 5: rules .* \(a in A\)"),
        ('start: a{"x","y"}\na{x}: x\n', ConstraintError, "line 1, column 8: wrong number of .* got 2"),
        ('start: a{"x"} | b\nb: a{"y"}\n | "z" a{"x","y"}\na{x}: x\n', ConstraintError, "line 3, column 8: wrong n"),
        ('start: Y\n%declare X\nY: "a"\n | X\n', ConstraintError, "line 4, column 4: a terminal that is only declared"),
        ('start: _b\nb: "x"\n?_b: b\n', ConstraintError, "line 3, column 2: inlined rules"),
        ('start: in{"x"}\nb: "x"\nt{start}: start\nin{x}: x\n', ConstraintError, "line 3, column 1: .*in template t"),
    ],
)  # fmt: skip
def test_errors_name_the_place(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        read_lark(text)


def test_errors_about_named_constraints() -> None:
    with pytest.raises(ConstraintError, match="names nothing in the grammar; use Y in a rule"):
        read_lark("start: X\nX: /x/\n", constraints={"Y": tokamata.literal("y")})
    with pytest.raises(ConstraintError, match="line 2, column 1: X is defined here and in constraints="):
        read_lark("start: X\nX: /x/\n", constraints={"X": tokamata.literal("y")})
    with pytest.raises(TypeError, match="expected a Constraint, got str"):
        read_lark("start: X\n", constraints={"X": "y"})  # type: ignore[dict-item]
    for syntax in ("lark", "gbnf", "ebnf"):
        with pytest.raises(TypeError, match=r"grammar: constraints: expected names .* as str, got 5 \(int\); pass"):
            tokamata.grammar("start: X\n", syntax, constraints={5: tokamata.literal("y")})  # type: ignore[arg-type,dict-item]


def test_lexers_that_the_first_line_asks_for() -> None:
    for line, lexer in (
        ("// lexer: none", "none"),
        ("//lexer:contextual \r", "contextual"),
        ("// lexer: basic", "basic"),
        ("// lexer: what it does is said below", "basic"),
        ("// a lexer: none", "basic"),
    ):
        assert read_lark(f'{line}\nstart: "a"\n').lexer == lexer
    assert read_lark('// lexer: nope\nstart: "a"\n', lexer="none").lexer == "none"


@pytest.mark.parametrize("name", ["STRING", "REGEXP"])
def test_literals_are_cut_as_lark_cuts_them(name: str) -> None:
    """But those that end inside of an escape, which Lark cuts and then refuses."""
    from lark.load_grammar import TERMINALS

    ours, larks = re.compile(_CLOSED[name]), re.compile(TERMINALS[name])
    quote = '"' if name == "STRING" else "/"
    cut = 0
    for letters in itertools.chain.from_iterable(itertools.product(quote + "\\i\n", repeat=n) for n in range(8)):
        text = quote + "".join(letters)
        mine, other = ours.match(text), larks.match(text)
        cut += mine is not None
        if mine is None and other is not None:
            inside = other.group()[: other.group().rindex(quote)]
            assert (len(inside) - len(inside.rstrip("\\"))) % 2 == 1, text
        else:
            assert (mine and mine.group()) == (other and other.group()), text
    assert cut > 1000


@pytest.mark.parametrize("begin", ['"', "/"])
def test_literals_that_never_end_take_no_time(begin: str) -> None:
    """Each escape could be two characters, too: 2**5000 ways."""
    began = time.process_time()
    with pytest.raises(ConstraintError, match="that begins here is not closed"):
        read_lark("start: " + begin + "\\\\" * 5000)
    assert time.process_time() - began < 1


def test_deep_and_wide_sources_end() -> None:
    with pytest.raises((LimitError, ConstraintError)):
        read_lark("start: " + "(" * 5000 + '"a"' + ")" * 5000 + "\n")
    source = read_lark("start: " + " ".join(f'"a{i}"?' for i in range(40)) + "\n")
    assert len(source.productions) < 300


@pytest.mark.parametrize("name", [*GRAMMARS, "python", "sql", "xml", "pgn"])
def test_rules_equal_larks(name: str) -> None:
    """The same terminals in Lark's order of patterns, and as many productions of each written rule as Lark makes."""
    text = GRAMMARS[name] if name in GRAMMARS else grammars.text(name)
    source = read_lark(text, lexer="contextual")
    loaded, _ = lark.load_grammar.load_grammar(text, "<string>", [], False)
    terminals, rules, _ = loaded.compile(["start"], {"_NEWLINE"})
    assert {t.name for t in terminals if not t.name.startswith("__")} <= {t.name for t in source.terminals}
    assert len(source.terminals) == len(terminals) + 2 * ("_INDENT" in text)
    patterns = [t for t in terminals if t.pattern.type == "re" and not t.name.startswith("__")]
    patterns.sort(key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name))
    order = {t.name for t in patterns}
    assert [t.name for t in source.terminals if t.name in order] == [t.name for t in patterns]
    if not any("_part_" in r.name for r in source.rules):
        ours = Counter(source.rules[p.rule].name for p in source.productions if source.rules[p.rule].written)
        theirs = Counter(str(r.origin.name) for r in rules)
        assert ours == {n: theirs[n] for n in ours}
        assert {n for n in theirs if not n.startswith("__") and "{" not in n} == set(ours)


def test_many_repetitions_stay_small() -> None:
    """x~n..m in few rules; each number of x is derived once."""
    for low, high in ((0, 60), (70, 70), (3, 1000), (1001, 1007)):
        source = read_lark(f'start: x~{low}..{high}\nx: "a" | "b" x\n')
        assert len(source.productions) < 150
        for n in (low - 1, low, (low + high) // 2, high, high + 1):
            if n >= 0 and n < 75:
                assert derivations(source, [0] * n) == (low <= n <= high)


def test_imports_from_paths(tmp_path: Path) -> None:
    (tmp_path / "pairs.lark").write_text('pair: "(" pair ")" | WORD\nWORD: /[a-z]+/\n')
    for text in ("%import .pairs.pair\nstart: pair\n", "%import pairs (pair, WORD)\nstart: pair WORD*\n"):
        constraint = tokamata.grammar(text, import_paths=[tmp_path])
        assert constraint.accepts("((ab))")
        assert not constraint.accepts("((ab)")
        with pytest.raises(
            ConstraintError, match=r"line 1, column 1: %import: no grammar 'pairs.lark' was found in import_"
        ):
            tokamata.grammar(text, import_paths=[str(tmp_path / "elsewhere")])


def test_imports_of_a_name_that_lark_has(tmp_path: Path) -> None:
    """Directories come before the grammars of lark, whether a grammar is plain or not."""
    (tmp_path / "common.lark").write_text('INT: "zero"\n')
    for text in ("%import common.INT\nstart: INT", "%import common.INT\nstart: INT? INT"):
        constraint = tokamata.grammar(text, import_paths=[tmp_path])
        assert constraint.accepts("zero")
        assert not constraint.accepts("0")
        assert tokamata.grammar(text).accepts("0")


def test_missing_imports_are_told_from_files_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pairs.lark").write_text('pair: "x"\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConstraintError, match=r"line 1, column 1: %import: no grammar 'pairs.lark' was found"):
        read_lark("%import pairs.pair\nstart: pair\n")


def test_names_within_imported_grammars_are_told_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "foo.lark").write_text("a: B\nB: /x*/\nd: _D D\n%declare _D D\nu: U\n")
    (tmp_path / "bar.lark").write_text('%import .sub.foo (a)\nb: a "y"\n')
    for text, message in (
        ("%import sub.foo (a)\nstart: a", "line 1, column 1: terminal B of the imported grammar sub.foo matches the"),
        ("start: b\n%import bar.b", "line 2, column 1: terminal B of the imported grammar bar.sub.foo matches"),
        ("start: d\n%import sub.foo.d", "line 2, column 1: terminal _D is declared but not .* grammar sub.foo; import"),
        ("start: d\n%import sub.foo (d, _D)", "line 2, column 21: terminal _D is declared but not defined; define"),
        ("start: u\n%import sub.foo.u", "line 2, column 1: terminal 'U' is used but not defined in .* sub.foo"),
        ("%import python.file_input\nstart: file_input", r"terminal _DEDENT .*%import python \(\.\.\., _DEDENT\)"),
    ):
        with pytest.raises(ConstraintError, match=message):
            tokamata.grammar(text, import_paths=[tmp_path])


def test_import_paths_are_checked() -> None:
    with pytest.raises(TypeError, match=r"expected several import_paths, got one str; pass a list with it"):
        tokamata.grammar("start: x", import_paths=".")
    with pytest.raises(TypeError, match=r"expected import_paths as directories, got 1; pass str or Path"):
        tokamata.grammar("start: x", import_paths=[1])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"import_paths: grammars in gbnf import nothing; leave it out"):
        tokamata.grammar('root ::= "x"', syntax="gbnf", import_paths=["."])


def test_nesting_is_told_wherever_the_stack_ends() -> None:
    """Lark wraps what its functions raise: where the stack ends in one of them depends on how deep the caller is."""

    def below(depth: int) -> str:
        if depth:
            return below(depth - 1)
        with pytest.raises(LimitError, match=r"the limit nesting=\d+ .*setrecursionlimit") as refused:
            tokamata.grammar("start: A\nA: " + "~" * 200 + '"a"\n')
        return str(refused.value)

    assert len({below(depth) for depth in range(200, 204)}) == 1


@pytest.mark.parametrize(
    ("imported", "error"),
    [
        ("value: NUM (\n", r"parts[/\\]own\.lark: line 1, column 13: unclosed parenthesis"),
        ('value: NUM\nNUM: "1" ]\n', r"parts[/\\]own\.lark: line 2, column 10: unexpected '\]'"),
        ('value: NUM\nNUM: "a" ? ?? $\n', r"parts[/\\]own\.lark: line 2, column 12: expecting a value"),
        (
            'value: NUM other\nNUM: "1"\n',
            "line 4, column 1: rule 'other' is used but not defined in the imported grammar parts.own",
        ),
        (
            'value: other\nother: "1"\nother: "2"\n',
            "line 4, column 1: rule 'other' defined more than once in the imported grammar parts.own",
        ),
        (
            'value: NUM\nNUM: "1" | /(/\n',
            "line 4, column 1: NUM of the imported grammar parts.own: regex: unterminated",
        ),
    ],
)
def test_errors_of_imported_grammars_name_these(tmp_path: Path, imported: str, error: str) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "own.lark").write_text(imported)
    with pytest.raises(ConstraintError, match=f"grammar: .*{error}"):
        tokamata.grammar("\n\nstart: value\n%import parts.own.value\n", import_paths=[tmp_path])
