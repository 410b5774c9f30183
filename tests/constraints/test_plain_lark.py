"""Grammars in Lark's notation read natively: the same, number by number, as by way of Lark's own loader."""

from __future__ import annotations

import contextlib
import pkgutil
import random
import re
import subprocess
import sys
import time
from importlib.resources import files

import pytest
from oracle.lark_texts import damaged, random_text
from tokamata.constraints import Constraint, grammars
from tokamata.constraints.grammar import language_of
from tokamata.constraints.grammar_check import DiagnosisReport
from tokamata.constraints.grammar_source import Place
from tokamata.constraints.lark_source import read_lark
from tokamata.constraints.plain_lark import _without_schemas, plain_lark

import tokamata
from tokamata import ConstraintError, LimitError
from tokamata._core import PlainLark

COMMON = (pkgutil.get_data("lark", "grammars/common.lark") or b"").decode()


def _pair(place: Place | None) -> tuple[int, int] | None:
    return (place.line, place.column) if place else None


def _check(text: str, start: str = "start") -> bool:
    """Whether a text is read natively; if so, compare all that was read."""
    plain = PlainLark.read(text, start, COMMON)
    if plain is None:
        return False
    refused = ""
    try:
        source = read_lark(text, start)
    except (ConstraintError, LimitError) as error:  # about what terminals match: found when they are compiled
        refused = str(error)
    if refused:
        with pytest.raises((ConstraintError, LimitError), match=f"^{re.escape(refused)}$"):
            tokamata.grammar(text, start=start)
        return False
    assert len(plain.rules) == len(source.rules), text
    for found, rule in zip(plain.rules, source.rules, strict=True):
        if rule.written:
            assert found == (rule.name, _pair(rule.place), True), text
        else:  # a use of a template, or what a repetition is made of, which has the name of the rule around it
            assert found[0] == rule.name or "{" not in found[0], text
            assert not found[2], text
    assert plain.productions == [(p.rule, list(p.symbols)) for p in source.productions], text
    assert plain.start == source.start
    indent = source.indent
    without_text = {indent.indent, indent.dedent} if indent else set()
    if indent is None:
        assert plain.indentation is None
    else:
        brackets = list(indent.opening), list(indent.closing)
        assert plain.indentation == (indent.newline, indent.indent, indent.dedent, *brackets)
    subtle = dict(plain.subtle)
    assert len(plain.terminals) == len(source.terminals)
    for i, (mine, terminal) in enumerate(zip(plain.terminals, source.terminals, strict=True)):
        name, pattern, is_text, priority, ignored, place = mine
        expected = (terminal.name, terminal.priority, terminal.ignored, _pair(terminal.place))
        assert (name, priority, ignored, place) == expected, text
        if i in without_text:
            assert (pattern, is_text) == ("", True)
        elif is_text:
            assert pattern.encode() == terminal.literal, text
        else:
            assert terminal.literal is None
            assert subtle.get(i, pattern) == pattern
            shown = pattern if len(pattern) <= 60 else pattern[:57] + "..."
            assert i in subtle or terminal.constraint.source == f"regex({shown!r})", text
    unused = [(e.subject, e.place) for e in source.report if e.detail == "no rule uses this terminal"]
    assert [(name, str(Place(*place))) for name, place in plain.unused if place] == unused
    return True


@pytest.mark.parametrize("name", grammars.names())
def test_ready_made_grammars(name: str) -> None:
    text = (files("tokamata.constraints.grammars") / f"{name}.lark").read_text(encoding="utf-8")
    assert _check(text)
    assert _check("// more: ä\n" + text.replace("\n", "\r\n"))


def test_the_grammar_of_grammars_that_comes_with_lark() -> None:
    text = (pkgutil.get_data("lark", "grammars/lark.lark") or b"").decode()
    assert _check(text)


@pytest.mark.parametrize("seed", range(3))
def test_random_grammars(seed: int) -> None:
    rng = random.Random(seed)
    texts = [random_text(rng) for _ in range(80)]
    assert sum(_check(text) for text in texts) > 35
    for text in texts:
        _check(damaged(rng, text))


@pytest.mark.slow
def test_many_random_grammars() -> None:
    rng = random.Random(99)
    for _ in range(4000):
        text = random_text(rng)
        _check(text)
        _check(damaged(rng, text))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('start: "a"', True),
        ('start : "a"\\\n "b" # c\n', True),
        ("start: A~1000\nA: /a/", False),
        ('start: "a" "&" & "b"', False),
        ('start: <|end|> "a"', False),
        ('start: "ä"', False),
        ('start: A _NL _INDENT A _NL _DEDENT\nA: "a"\n_NL: /(\\n *)+/\n%declare _INDENT _DEDENT', True),
        ('start: A _NL\nA: "a"\n_NL: /(\\n *)+/\n_NEWLINE: "x"', True),
        ('start: "a\\"', False),
        ("start: /a/ix", False),
        ("start: /\\p{L}/", False),
        ("start: x\n%import .other.x", False),
        ("start: WS\n%import common.WS\n%override WS: /a/", False),
        ('start: "a" ("b" -> c)', False),
        ('?_start: "a"', False),
        ('start: x{"a"}\nx{y, z}: y z', False),
        ("start: A\nA: B\nB: A", False),
        ("start: A\nA: " + "(" * 120 + '"a"' + ")" * 120, False),
        ("start: A\n" + "".join(f"A{i}: A{i + 1} A{i + 1}\n" for i in range(40)) + 'A40: "a"\nA: A0', False),
        ('start: "\\\\\\""', True),
        ('start: /\\\\"/', False),
        ('start:\u00a0"a"', False),
    ],
)
def test_what_is_read_natively(text: str, plain: bool) -> None:
    assert (PlainLark.read(text, "start", COMMON) is not None) == plain
    if plain:
        assert _check(text)


def test_places_are_those_of_literals() -> None:
    # Not those of other literals and of comments that have the same characters in them.
    text = 'start: A "a" /x"b"/ "b"i "c" // "c"\n  | "x" "b"\nA: /"a"/'
    assert _check(text)
    places = [str(t.place) for t in read_lark(text).terminals]
    assert sorted(places) == [
        "line 1, column 10",
        "line 1, column 14",
        "line 1, column 21",
        "line 1, column 26",
        "line 2, column 5",
        "line 2, column 9",
        "line 3, column 1",
    ]


def test_ranges_are_literals_with_places() -> None:
    # The strings of a range do not stand there for themselves.
    text = 'start: "a".."c" "a" | "b" .. "d" A\nA: "0".."9"\n%ignore "x".."z"'
    assert _check(text)
    assert {t.name: str(t.place) for t in read_lark(text).terminals} == {
        '"a".."c"': "line 1, column 8",
        '"a"': "line 1, column 17",
        "A": "line 2, column 1",
        '"b".."d"': "line 1, column 23",
        '"x".."z"': "line 3, column 9",
    }


def test_places_in_long_lines_take_no_time() -> None:
    """One line with all literals far from its beginning."""
    blanks = " " * 3_000_000
    began = time.process_time()
    plain = PlainLark.read("start: /ä/" + blanks + "".join(f'| "k{i}"' for i in range(3000)), "start", "")
    assert time.process_time() - began < 1
    assert plain is not None
    places = {name: place for name, _, _, _, _, place in plain.terminals}
    assert (places["/ä/"], places["K0"]) == ((1, 8), (1, 13 + len(blanks)))


def test_limits_name_places() -> None:
    hard = "/[ab]*a[ab]{60}/ & ~/[ab]*b[ab]{61}/"
    patient = tokamata.Limits(seconds=30)  # so that it is not this one that ends it on a slow machine
    nested = tokamata.grammar('root ::= "a" root "a" | ":"', "gbnf")
    other = tokamata.grammar('root ::= ":" | "a" root "a"', "gbnf")
    with pytest.raises(
        LimitError, match=r"grammar: .* of the terminal A \(line 2, column 1\) go on .* emptiness=200000"
    ):
        tokamata.grammar(f"start: A\nA: {hard}", limits=patient)
    with pytest.raises(
        LimitError, match=r"which lexemes are of the terminal U \(line 1, column 14\) was .* emptiness=2"
    ):
        tokamata.grammar('start: T "b" U', constraints={"T": nested, "U": other}, limits=patient)
    names = ['"x"', "A", "B", "C"]
    text = "start: " + " | ".join(names) + "\nA: /[ab]*a[ab]{9}/\nB: /[ab]*b[ab]{9}c?/\nC: /[abc]*b[ab]{12}[bc]/"
    some = tokamata.Limits(emptiness=20)
    with pytest.raises(LimitError, match=r"grammar: .* terminal [ABC] \(line \d, column 1\)"):
        tokamata.grammar(text, limits=some)
    with pytest.raises(LimitError, match=r"grammar: .* terminal [ABC] \(line \d, column 1\)"):
        tokamata.grammar(text, limits=some, strict=True)  # by way of Lark
    with pytest.raises(LimitError, match="grammar: line 1, column 1: start: acceptor: the limit states=200000"):
        tokamata.grammar("start: /a{4294967294}/", limits=patient)


def test_many_terminals_take_the_time_that_is_given() -> None:
    n = 20_000
    text = "start: r0\n" + "".join(f'r{i}: "a{i}" r{i + 1}\n' for i in range(n)) + f'r{n}: "b"\n'
    begin = time.process_time()
    with pytest.raises(LimitError, match=r"grammar: .*the limit seconds=0\.1 was reached"):
        tokamata.grammar(text, limits=tokamata.Limits(seconds=0.1))
    assert time.process_time() - begin < 4  # Lark's loader alone takes longer


MEMORY = """
import resource, sys
import tokamata
text = sys.stdin.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
grammar = tokamata.grammar(text, limits=tokamata.Limits(seconds=60))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before >> 10)
"""


@pytest.mark.parametrize(("count", "more", "megabytes"), [(16_000, '%ignore " "\n', 100), (8_000, "", 220)])
def test_many_strings_take_the_memory_of_their_text(count: int, more: str, megabytes: int) -> None:
    """Not that of their pairs, nor of a bit for each of them in each state of the lexer."""
    rng = random.Random(1)
    words = {"".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(4, 10))) for _ in range(count)}
    text = "start: x*\nx: " + " | ".join(f'"{word}"' for word in sorted(words)) + "\n" + more
    done = subprocess.run([sys.executable, "-c", MEMORY], input=text, capture_output=True, text=True, check=True)
    assert int(done.stdout) < megabytes


def _by_way_of_lark(text: str) -> Constraint:
    return Constraint(language_of(read_lark(text)))


def test_members_are_the_same() -> None:
    rng, compared = random.Random(5), 0
    texts = [grammars.text(name) for name in ("json", "arithmetic", "csv", "xml")]
    for text in texts + [random_text(rng) for _ in range(60)]:
        try:
            mine = plain_lark(text, None, None, None)
        except LimitError:
            continue
        if mine is None:
            continue
        other = _by_way_of_lark(text)
        examples = mine.examples(10) + other.examples(10)
        assert all(mine.accepts(t) and other.accepts(t) for t in examples), text
        compared += bool(examples)
    assert compared > 20


SCHEMAS = ['{"const": "//#"}', "true", '{"enum": [1, "a", "%json {}"]}', '{"type": "array", "items": {"const": "/"}}']


@pytest.mark.parametrize("seed", range(40))
def test_schemas_stand_where_they_do_by_way_of_lark(seed: int) -> None:
    rng = random.Random(seed)
    words, patterns = ['"a"', '"b+"', '"a"i', "B", "X"], ["/[ab]+/", "/./", "/x/", '"(\\"/"', "/a|\\/%json {}/"]
    used, rules = [], []
    for name in ("start", "x", "y"):
        ways = []
        for _ in range(rng.randrange(1, 3)):
            parts = [rng.choice(words) for _ in range(rng.randrange(1, 3))] + ["x", "y"][: rng.randrange(2)]
            if rng.random() < 0.6 or not used:
                used.append(rng.choice(SCHEMAS))
                parts.insert(rng.randrange(len(parts) + 1), f"%json {used[-1]}" + rng.choice(["", "?", " *"]))
            ways.append(" ".join(parts))
        rules.append(f"{name}: {' | '.join(ways)}  // %json {{")
    priority = rng.choice(["", ".2", ".-1"])
    more = [f"B{priority}: {rng.choice(patterns)}", f"X: {rng.choice(patterns[:3])}", "V.1: %json false | %json true"]
    if rng.random() < 0.3:  # a schema by name, which may stand elsewhere without one
        used.append(rng.choice(SCHEMAS))
        more[1] = f"X: %json  {used[-1]}"
    text = "\n".join([*rules, *more[:2], "%ignore /[ \\n]+/"])
    if seed % 5 == 0:  # a terminal with more in it than a schema
        read = _without_schemas(f"{text}\n{more[2]}".replace("start: ", "start: V "))
        assert read is not None
        assert PlainLark.read(read[0], "start", "", len(read[1])) is None
    read = _without_schemas(text)
    assert read is not None
    schemas = list(dict.fromkeys(used))
    assert read[1] == schemas
    plain = PlainLark.read(read[0], "start", "", len(read[1]))
    assert plain is not None, text
    source = read_lark(text)
    assert [r[2] for r in plain.rules] == [r.written for r in source.rules]
    assert plain.productions == [(p.rule, list(p.symbols)) for p in source.productions], (seed, text)
    holes = dict(plain.holes)
    assert len(plain.terminals) == len(source.terminals)
    for i, (mine, terminal) in enumerate(zip(plain.terminals, source.terminals, strict=True)):
        named = terminal.name == "X" and "%json" in more[1]
        assert (named or terminal.name == "%json") == (i in holes), (seed, text)
        if i in holes:
            schema = tokamata.json_schema(schemas[holes[i]])
            assert all(terminal.constraint.accepts(member) for member in schema.examples(3)), (seed, text)
        else:
            assert (mine[0], mine[3], mine[4]) == (terminal.name, terminal.priority, terminal.ignored)
    made = plain_lark(text, None, None, None)
    try:
        other = _by_way_of_lark(text)
    except (ConstraintError, LimitError):  # no text, or lexemes that cannot be told apart within the limits
        assert made is None
        return
    assert made is not None
    with contextlib.suppress(LimitError):
        assert all(other.accepts(t) for t in made.examples(8)), (seed, text)
        assert all(made.accepts(t) for t in other.examples(8)), (seed, text)
    assert made.report == (*source.entries(), *DiagnosisReport(source).entries())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start: %json {", "expected a JSON Schema after %json"),
        ('start: %json {"type": "nothing"}', "%json: "),
        ('start: %json {"enum": []} "a"', "%json: "),
    ],
)
def test_what_is_wrong_with_schemas_is_said_by_read_lark(text: str, message: str) -> None:
    assert plain_lark(text, None, None, None) is None
    with pytest.raises(ConstraintError, match=message):
        tokamata.grammar(text)


def test_the_report_is_made_when_it_is_read() -> None:
    text = 'start: A "b" | A "b" | start "c"\nA: /"(a|b)*?"/\nUNUSED: "x"\nunreachable: "y"'
    source = read_lark(text)
    constraint = plain_lark(text, None, None, None)
    assert constraint is not None
    expected = (*source.report, *DiagnosisReport(source).entries())
    assert constraint.report == expected
    assert {e.subject for e in expected} >= {"A", "UNUSED", "unreachable", "start"}
    assert constraint.report is not expected
    assert repr(constraint) == "<tokamata.Constraint grammar(start)>"


def test_a_lexer_is_stated_as_ever() -> None:
    text = '// lexer: none\nstart: A "a"\nA: /a*/'
    assert tokamata.grammar(text).accepts("aaa")
    with pytest.raises(ConstraintError, match="matches the empty text"):
        tokamata.grammar(text, lexer="basic")
    with pytest.raises(tokamata.UnsupportedError, match="%ignore WS needs a lexer"):
        tokamata.grammar('// lexer: none\nstart: "a"\nWS: " "\n%ignore WS')
