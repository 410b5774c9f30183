"""Grammars in GBNF: members against Lark's parser on the same grammar, terminals from regular parts, errors."""

from __future__ import annotations

import random

import lark
import pytest
from oracle.grammar import derives
from tokamata.constraints.gbnf_source import read_gbnf
from tokamata.constraints.grammar_source import Place

import tokamata
from tokamata import ConstraintError, LimitError

# GBNF, the same as a Lark grammar over characters, and the characters of random texts.
PAIRS = {
    "lists": (
        'root ::= "(" ws (root (ws "," ws root)*)? ws ")" | [a-c]\nws ::= | " "\n',
        'root: "(" ws (root (ws "," ws root)*)? ws ")" | "a".."c"\nws: " "?\n',
        "(),a ",
    ),
    "repeats": (
        'root ::= x{2} "," x{1,3} "," x{2,} "," x{,2} "," x? x* # end\nx ::= "a" | "b" x',
        'root: x~2 "," x~1..3 "," x~2 x* "," x~0..2 "," x? x*\nx: "a" | "b" x',
        "aab,",
    ),
    "lines": (
        '# first\n\nroot ::= # comment\n  "a" (\n  root |   # or\n\n "b"\n )* |\n  item\n\r\n  | "d"\nitem ::= "c"\n#',
        'root: "a" (root | "b")* | item | "d"\nitem: "c"\n',
        "abcd",
    ),
    "left": ('root ::= root "+" root | "(" root ")" | "1"', 'root: root "+" root | "(" root ")" | "1"', "+()1"),
    "empty": ('root ::= ("a" root "b" | ) ("")*\n', 'root: ("a" root "b")?\n', "ab"),
    "escapes": (
        r'root ::= "\x41\u0042\U00000043" [\x61-\x63\]\\^-] [^\n"a-y] . [-a] r' + "\n" + r'r ::= "\"\\\t" | ',
        r'root: "ABC" /[a-c\]\\^-]/ /[^\n"a-y]/ /./s /[-a]/ r' + '\nr: /["]\\\\\\t/?\n'.replace("/?", "/ |"),
        'ABCa]\\^-zn"\t\n',
    ),
}
SEEDS = {
    "lists": ["(a, b,(c))", "()", "( (a) ,b)", "a"],
    "left": ["1+1", "(1)+1", "1+(1+1)"],
    "escapes": ['ABCazn-"\\\t', "ABC]z\na", "ABC^z-a", "ABC-z\t-"],
    "repeats": ["aa,a,aa,,", "baa,aa,aaa,a,a", "aba,a,aa,aa,ba"],
}


def changed(text: str, letters: str, rng: random.Random) -> str:
    data = list(text)
    for _ in range(rng.randrange(3)):
        position = rng.randrange(len(data) + 1)
        data[position : position + rng.randrange(2)] = rng.choice(["", rng.choice(letters)])
    return "".join(data)


@pytest.mark.parametrize("name", PAIRS)
def test_members_equal_larks(name: str) -> None:
    text, twin, letters = PAIRS[name]
    source, constraint = read_gbnf(text), tokamata.grammar(text, syntax="gbnf")
    parser = lark.Lark(twin, start="root", parser="earley", lexer="dynamic_complete")
    members = 0
    for seed in range(250):
        rng = random.Random(seed)
        if name in SEEDS:
            data = changed(rng.choice(SEEDS[name]), letters, rng)
        else:
            data = "".join(rng.choice(letters) for _ in range(rng.randrange(9)))
        try:
            parser.parse(data)
            member = True
        except lark.exceptions.LarkError:
            member = False
        members += member
        assert derives(source, data.encode()) == member, f"seed {seed}: {name}: {data!r}"
        assert constraint.accepts(data) == member, f"seed {seed}: {name}: {data!r}"
    assert members > 8


def test_parts_without_calls_are_one_terminal() -> None:
    source = read_gbnf('root ::= "-"? [0-9]+ ("." [0-9]{1,3})? x [a-f]\nx ::= "x" | "y" | "z" x\n').written()
    assert [source.show(p) for p in source.productions] == [
        'root: "-"? [0-9]+ ("." [0-9]{1,3})? x [a-f]',
        'x: "x" | "y"',
        'x: "z" x',
    ]
    number = source.terminals[0].constraint
    assert number.equivalent(tokamata.regex(r"-?[0-9]+(\.[0-9]{1,3})?"))
    assert [t.literal for t in source.terminals] == [None, None, None, b"z"]
    assert source.lexer == "none"


def test_a_hyphen_may_be_escaped_and_operators_follow_each_other() -> None:
    """As llama.cpp reads them: ``\\-`` is never a range, and an operator repeats what was repeated before."""
    constraint = tokamata.grammar(r'root ::= [a\-c] [+\--/]? "\-"{2}? "x"{2}{3} "y"+?', "gbnf")
    assert constraint.equivalent(tokamata.regex(r"[ac-][+./-]?(--)?x{6}y*"))


@pytest.mark.parametrize("high", [3, 100, 101, 257, 5000])
def test_many_repetitions_stay_small(high: int) -> None:
    """x{2,high} has at most about a hundred rules, and one way to make each number of x."""
    source = read_gbnf(f'root ::= x{{2,{high}}}\nx ::= "a" | "b" x\n').written()
    assert len(source.rules) <= min(high, 120)
    x = next(i for i, r in enumerate(source.rules) if r.name == "x")
    order = [i for i in range(len(source.rules)) if i != x]
    ways: dict[int, dict[int, int]] = {x: {1: 1}}
    while len(ways) < len(source.rules):  # polynomials in the number of x; repetitions that end call no later rule
        for rule in order:
            productions = [p for p in source.productions if p.rule == rule]
            if rule in ways or any(s not in ways for p in productions for s in p.symbols):
                continue
            total: dict[int, int] = {}
            for p in productions:
                product = {0: 1}
                for s in p.symbols:
                    new: dict[int, int] = {}
                    for a, m in product.items():
                        for b, n in ways[s].items():
                            new[a + b] = new.get(a + b, 0) + m * n
                    product = new
                for a, m in product.items():
                    total[a] = total.get(a, 0) + m
            ways[rule] = total
    assert ways[source.start] == dict.fromkeys(range(2, high + 1), 1)


def test_exact_numbers() -> None:
    source = read_gbnf('root ::= x{1001}\nx ::= "a" | "b" x\n').written()
    assert len(source.productions) < 20


def test_names_tokens_and_start() -> None:
    source = read_gbnf(
        "a ::= date <think> b\nb ::= date", start="a", constraints={"date": tokamata.regex("[0-9]")}
    ).written()
    assert [source.show(p) for p in source.productions] == ["a: date <think> b", "b: date"]
    assert source.rules[source.start].name == "a"


def test_places() -> None:
    source = read_gbnf('# c\nroot ::= "a"  x\n\n x ::= "b" (x | "cc")*\n')
    assert {r.name: (r.place, r.written) for r in source.rules} == {
        "root": (Place(2, 1), True),
        "x": (Place(4, 2), True),
        '(x | "cc")*': (Place(4, 13), False),
    }
    assert {t.name: t.place for t in source.terminals} == {
        '"a"': Place(2, 10), '"b"': Place(4, 8), '("cc")*': Place(4, 17),
    }  # fmt: skip


def test_with_a_lexer_no_terminal_is_empty() -> None:
    source = read_gbnf('root ::= [ ]* "a" root | [ ]* [a-z]*\n', lexer="basic")
    assert not any(t.constraint.accepts(b"") for t in source.terminals)
    assert derives(source, b"  a a")
    assert derives(source, b"")
    assert not derives(source, b"aB")


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ('root = "a"', ConstraintError, r"line 1, column 6: expected ::=, got '= \"a\"'"),
        (
            'root ::= "a',
            ConstraintError,
            "line 1, column 10: the string that begins here is not closed, got '\"a'; write",
        ),
        (
            'root ::= "b" [a-',
            ConstraintError,
            r"line 1, column 14: the class that .* closed, got '\[a-'; write \] at its",
        ),
        ("root ::= 'a'", ConstraintError, """10: expected .*, got "'a'"; strings stand in "double quotes"$"""),
        ("root ::= /a+/", ConstraintError, "got '/a.*; there are no patterns: use classes"),
        ('root ::= "a" <b', ConstraintError, "line 1, column 14: the token that begins here is not closed"),
        ('root "a" ::= "b"', ConstraintError, "line 1, column 6: expected ::=, got "),
        ('root ::= "b" ("a"\n', ConstraintError, r"line 1, column 18: expected .*\), .* got the end"),
        ("root ::= b", ConstraintError, "line 1, column 10: rule b is used but not defined; define it, or pass"),
        ('root ::= "a"{3,2}', ConstraintError, r"line 1, column 10: expected n <= m in \{n,m\}, got \{3,2\}"),
        ('root ::= "a"{}', ConstraintError, r"line 1, column 13: expected \{n\}, \{n,\}"),
        ("root ::= []", ConstraintError, r"line 1, column 10: \[\] is an empty class"),
        ("root ::= [b-a]", ConstraintError, r"line 1, column 10: \[b-a\] has a range that ends before it begins"),
        ('root ::= "a\\q"', ConstraintError, r"line 1, column 12: unknown escape \\q"),
        ('root ::= "a\\x4"', ConstraintError, r"line 1, column 12: expected two hexadecimal digits after \\x, got '4'"),
        ('root ::= "\\u{41}"', ConstraintError, r"column 11: expected four .* after \\u, got '\{41\}'; write \\uNNNN"),
        ("root ::= [\\U0041]", ConstraintError, r"column 11: expected eight .* after \\U, got '0041'; write \\UNNN"),
        ('root ::= "\\ud800"', ConstraintError, r"line 1, column 11: \\ud800 is not a character"),
        ("root ::= <[x]>", ConstraintError, r"line 1, column 10: expected <\[id\]> .* got <\[x\]>"),
        ('root ::= "a"\n "b"', ConstraintError, "line 2, column 2: expected a name"),
        ('a ::= "b"', ConstraintError, "no rule 'root' to start from; the rules are a"),
        ('root ::= "a"\nroot ::= "b"', ConstraintError, "line 2, column 1: rule root is defined more than once"),
        ("", ConstraintError, "line 1, column 1: expected a name"),
        ('root ::= "a"{2000000} x\nx ::= "b"', LimitError, "line 1, column 10: the limit repeats=1000000 was reached"),
        ('root ::= "a"{' + "9" * 5000 + "}", LimitError, "line 1, column 10: the limit repeats=1000000 was reached"),
        (
            'root ::= x\nx ::= ")(" [(] | ' + "(x " * 5000 + '"a"' + ")*" * 5000 + " | (x)",
            LimitError,
            r"line 2, column 15015: the limit nesting=\d+ .*setrecursionlimit",
        ),
    ],
)
def test_errors_name_the_place(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        read_gbnf(text)


def test_errors_about_named_constraints() -> None:
    with pytest.raises(ConstraintError, match="names nothing in the grammar; use y in a rule"):
        read_gbnf('root ::= "x"', constraints={"y": tokamata.literal("y")})
    with pytest.raises(ConstraintError, match="line 1, column 1: root is defined here and in constraints="):
        read_gbnf('root ::= root "x" |', constraints={"root": tokamata.literal("y")})


@pytest.mark.parametrize("between", ["\n", " # x\n", "\n # x\n  ", "\r\n\t"])
@pytest.mark.parametrize("operator", ["*", "+", "?", "{2,}", "{ 1 , 2 }"])
def test_lines_end_before_operators_inside_parentheses(between: str, operator: str) -> None:
    plain = tokamata.grammar(f'root ::= ("c"{operator} "d" [a{{]{operator})', "gbnf")
    broken = tokamata.grammar(f'root ::= ("c"{between}{operator} "d" [a{{]{between}{operator})', "gbnf")
    assert plain.equivalent(broken)
    with pytest.raises(
        ConstraintError, match=r"line [23], column \d: expected a rule .* got '[*+?{].*: the line's end"
    ):
        tokamata.grammar(f'root ::= ("d") "c"{between}{operator} "d"', "gbnf")


def test_names_of_tokens_may_have_blanks() -> None:
    assert tokamata.grammar("root ::= <tool call>", "gbnf").special_tokens == {"<tool call>"}


def test_strings_and_classes_may_have_line_ends() -> None:
    constraint = tokamata.grammar('root ::= "a\nb" [ \t\n]\n', "gbnf")
    assert constraint.accepts("a\nb\n")
    assert not constraint.accepts("a\nbn")
