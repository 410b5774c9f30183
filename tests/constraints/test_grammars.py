"""Ready-made grammars: descriptions, and corpora that parsers of the standard library or the specifications decide."""

from __future__ import annotations

import ast
import csv
import io
import ipaddress
import itertools
import json
import keyword
import os
import random
import re
import string
import warnings
from collections.abc import Callable
from datetime import date, time
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from oracle.lark_parser import parser
from tokamata.automata.errors import ConstraintError
from tokamata.constraints import grammars
from tokamata.constraints.lark_source import read_lark

import tokamata

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "grammars"
# SQL and Python have tests of their own.
SMALL = sorted({p.stem for p in CORPUS.glob("*.json")} - {"python", "sql"})


def corpus(name: str) -> dict[str, list[str]]:
    return json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))


@cache
def by_tokamata(name: str) -> tokamata.Constraint:
    return tokamata.grammar(grammars.text(name))


@cache
def by_lark(name: str) -> Callable[[str], bool]:
    return parser(grammars.text(name), grammars.describe(name).lexer)


def is_json(text: str) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def is_json_lines(text: str) -> bool:
    text = text.rstrip(" \t\r")
    return not text or all(map(is_json, text.removesuffix("\n").split("\n")))


def is_arithmetic(text: str) -> bool:
    # Reserved words are names here.
    text = re.sub(r"[A-Za-z_]\w*", lambda name: name[0] + "_" * keyword.iskeyword(name[0]), text.strip())
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    kinds = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Load, ast.operator, ast.UAdd, ast.USub)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if type(node.value) not in (int, float):
                return False
        elif not isinstance(node, kinds) or (isinstance(node, ast.Call) and not isinstance(node.func, ast.Name)):
            return False
    return True


def is_csv(text: str) -> bool:
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


def is_xml(text: str) -> bool:
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return True


def is_pattern(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def is_uri(text: str) -> bool:
    """RFC 3986 by the expression of its appendix B, then each component by its characters."""
    parts = re.fullmatch(r"([^:/?#]+):(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?", text, re.S)
    if parts is None or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", parts[1]):
        return False
    for part, more in ((parts[4], ":@/"), (parts[6] or "", ":@/?"), (parts[8] or "", ":@/?")):
        if not re.fullmatch(rf"([A-Za-z0-9._~!$&'()*+,;={more}-]|%[0-9A-Fa-f]{{2}})*", part):
            return False
    if parts[3] is None:
        return True
    authority = re.fullmatch(r"(.*@)?(\[.*\]|[^:@\[\]]*)(:[0-9]*)?", parts[3], re.S)
    if authority is None or not re.fullmatch(r"([A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@?", authority[1] or ""):
        return False
    host = authority[2]
    if not host.startswith("["):
        return bool(re.fullmatch(r"([A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*", host))
    if re.fullmatch(r"\[[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+\]", host):
        return True
    try:
        ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        return False
    return "%" not in host


# Equal: the grammar has exactly the members that the parser reads. Otherwise every member of the grammar must be one.
PARSERS: dict[str, tuple[Callable[[str], bool], bool]] = {
    "json": (is_json, True),
    "json_lines": (is_json_lines, True),
    "arithmetic": (is_arithmetic, False),
    "csv": (is_csv, False),
    "xml": (is_xml, False),
    "regex": (is_pattern, False),
    "uri": (is_uri, True),
}


def damaged(members: list[str], seed: int, count: int) -> list[str]:
    """Members with some characters dropped, doubled, swapped, or brought from other members; short ones more often."""
    rng = random.Random(seed)
    alphabet = "".join(members)
    made = []
    for _ in range(count):
        text = rng.choice(members)[:60]
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            at = rng.randrange(len(text) + 1)
            change = rng.randrange(4)
            if change == 0:
                text = text[:at] + text[at + 1 :]
            elif change == 1:
                text = text[:at] + rng.choice(alphabet) + text[at:]
            elif change == 2:
                text = text[:at] + rng.choice(alphabet) + text[at + 1 :]
            else:
                other = rng.choice(members)
                text = text[:at] + other[rng.randrange(len(other) + 1) :][:20]
        made.append(text)
    return made


def test_every_grammar_is_described_and_has_a_corpus() -> None:
    assert grammars.names() == tuple(sorted(grammars.names()))
    for name in grammars.names():
        found = grammars.describe(name)
        assert found.name == name
        assert found.title
        assert found.source
        assert found.leaves_out
        assert grammars.text(name).startswith(f"// lexer: {found.lexer}\n")
    assert sorted(p.stem for p in CORPUS.glob("*.json")) == list(grammars.names())


@pytest.mark.parametrize("name", grammars.names())
def test_the_first_line_chooses_the_lexer(name: str) -> None:
    text = grammars.text(name)
    assert read_lark(text).lexer == grammars.describe(name).lexer
    assert read_lark(text.replace("\n", "\r\n", 1)).lexer == grammars.describe(name).lexer
    assert read_lark("\n" + text).lexer == "basic"


def test_a_given_lexer_goes_before_the_first_line() -> None:
    assert read_lark("// lexer: none\nstart: /a+/", lexer="contextual").lexer == "contextual"
    assert read_lark("// lexer: contextual\nstart: /a+/").lexer == "contextual"


def test_unknown_names_and_descriptions() -> None:
    with pytest.raises(ConstraintError, match=r"grammars: expected one of arithmetic, csv, .*, got 'cobol'"):
        grammars.text("cobol")
    with pytest.raises(ConstraintError, match=r"x: expected a line '// title: ...' at the beginning, got none"):
        grammars.catalogue.description("x", "// lexer: none\nstart: A\n// title: late\n")
    with pytest.raises(ConstraintError, match=r"expected the lexer basic, contextual or none, got 'fast'"):
        grammars.catalogue.description("x", "// lexer: fast\n// title: t\n// source: s\n// leaves out: l\n")


@pytest.mark.parametrize("name", SMALL)
def test_the_corpus(name: str) -> None:
    accepts, cases = by_tokamata(name).accepts, corpus(name)
    assert [text for text in cases["accept"] if not accepts(text)] == []
    assert [text for text in cases["reject"] if accepts(text)] == []


@pytest.mark.parametrize("name", SMALL)
def test_prefixes_of_members_can_be_completed(name: str) -> None:
    alive = by_tokamata(name).accepts_prefix
    for text in corpus(name)["accept"]:
        data = text.encode()[:200]
        assert [data[:i] for i in range(len(data) + 1) if not alive(data[:i])] == []


@pytest.mark.parametrize("name", SMALL)
def test_lark_agrees_with_the_corpus(name: str) -> None:
    accepts, cases = by_lark(name), corpus(name)
    assert [text for text in cases["accept"] if not accepts(text)] == []
    assert [text for text in cases["reject"] if accepts(text)] == []


@pytest.mark.parametrize("name", PARSERS)
def test_the_parser_agrees_with_the_corpus(name: str) -> None:
    reads, equal = PARSERS[name]
    cases = corpus(name)
    assert [text for text in cases["accept"] if not reads(text)] == []
    if equal:
        assert [text for text in cases["reject"] if reads(text)] == []


@pytest.mark.parametrize("name", PARSERS)
def test_damaged_members(name: str) -> None:
    reads, equal = PARSERS[name]
    accepts = by_tokamata(name).accepts
    made = damaged(corpus(name)["accept"], seed=5, count=3000)
    wrong = [text for text in made if accepts(text) and not reads(text)]
    assert wrong == [], "members of the grammar that the parser refuses"
    if equal:
        wrong = [text for text in made if reads(text) and not accepts(text)]
        assert wrong == [], "texts that the parser reads and the grammar has not"


@pytest.mark.parametrize("name", SMALL)
def test_lark_agrees_on_damaged_members(name: str) -> None:
    ours, theirs = by_tokamata(name).accepts, by_lark(name)
    made = damaged(corpus(name)["accept"], seed=6, count=150)
    assert [text for text in made if ours(text) != theirs(text)] == []


@pytest.mark.parametrize("name", sorted(set(PARSERS) - {"xml"}))
def test_random_members(name: str) -> None:
    reads, _ = PARSERS[name]
    found = [text.decode() for text in by_tokamata(name).examples(60, seed=7)]
    assert len(set(found)) > 20
    assert [text for text in found if not reads(text)] == []


def test_days_are_those_of_the_calendar() -> None:
    accepts = by_tokamata("iso8601").accepts
    for year in (1, 1582, 1900, 2000, 2023, 2024, 9999):
        for month, day in itertools.product(range(14), range(33)):
            try:
                date(year, month, day)
            except ValueError:
                is_day = False
            else:
                is_day = True
            for text in (f"{year:04}-{month:02}-{day:02}", f"{year:04}{month:02}{day:02}T0930"):
                assert accepts(text) == is_day, text
        days = 365 + (date(year, 3, 1) - date(year, 2, 28)).days - 1
        for day in (0, 1, 59, 365, 366, 367):
            assert accepts(f"{year:04}-{day:03}") == (1 <= day <= days), (year, day)


def test_times_are_those_of_datetime() -> None:
    accepts = by_tokamata("iso8601").accepts
    rng = random.Random(8)
    for _ in range(3000):
        hour, minute, second = rng.randrange(27), rng.randrange(62), rng.randrange(62)
        try:
            time(hour, minute, second)
        except ValueError:
            is_time = (hour, minute, second) == (24, 0, 0)
        else:
            is_time = True
        for text in (f"{hour:02}:{minute:02}:{second:02}", f"2026-11-21T{hour:02}:{minute:02}:{second:02}.5Z"):
            assert accepts(text) == (is_time and (hour < 24 or "." not in text)), text


def test_intervals_do_not_mix_formats() -> None:
    accepts = by_tokamata("iso8601").accepts
    basic = ("20260101", "2026W01", "2026001T00", "20260101T1230Z")
    extended = ("2026-01", "2026-01-01", "2026-W01-1", "2026-001T00", "2026-01-01T12:30Z")
    for first, second in itertools.product((*basic, *extended, "2026", "P1M"), repeat=2):
        mixed = (first in basic and second in extended) or (first in extended and second in basic)
        assert accepts(f"{first}/{second}") == (not mixed and (first, second) != ("P1M", "P1M")), (first, second)


def test_characters_by_number_are_those_of_xml() -> None:
    accepts = by_tokamata("xml").accepts
    rng = random.Random(10)
    edges = [
        0,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        31,
        32,
        99,
        100,
        0xD7FF,
        0xD800,
        0xDFFF,
        0xE000,
        0xFFFD,
        0xFFFE,
        0xFFFF,
        1 << 16,
    ]
    edges += [9999, 10000, 49999, 50000, 99999, 100000, 999999, 1000000, 1109999, 1113999, 0x10FFFF, 0x110000, 9999999]
    near = [edge + step for edge in edges for step in (-100, -10, -1, 0, 1, 10, 100) if edge + step >= 0]
    for number in near + [rng.randrange(0x111000) for _ in range(500)] + [rng.randrange(0x11000) for _ in range(500)]:
        for written in (f"&#{number};", f"&#x{number:x};", f"&#x{number:06X};", f"&#0{number};"):
            text = f"<p>{written}</p>"
            assert accepts(text) == is_xml(text), text


def test_addresses_of_version_6() -> None:
    accepts = by_tokamata("uri").accepts
    rng = random.Random(9)
    outcomes = {True: 0, False: 0}
    for left, right in itertools.product(range(10), repeat=2):
        for last in ("", "192.0.2.1", "192.0.2.256"):
            groups = [":".join(f"{rng.randrange(16**4):x}" for _ in range(n)) for n in (left, right)]
            for joined in ("::", ":"):
                address = joined.join(groups) + (":" if last and right else "") + last
                text = f"http://[{address}]/"
                assert accepts(text) == is_uri(text), text
                outcomes[is_uri(text)] += 1
    assert min(outcomes.values()) > 50


def test_bounds_and_ranges_of_regular_expressions() -> None:
    accepts = by_tokamata("regex").accepts
    refused = 0
    for low, high in itertools.product((*range(30), 90, 99, 100, 101, 999, 1000), repeat=2):
        text = f"a{{{low},{high}}}"
        assert is_pattern(text) or not accepts(text), text
        refused += is_pattern(text) and not accepts(text)
    # 10 to 19, 20 to 29 and 90 to 99 have first digits alike; three digits and more.
    assert refused == 55 + 55 + 3 + 10
    characters = string.ascii_letters + string.digits
    for low, high in itertools.product(characters, repeat=2):
        alike = any(
            low in kind and high in kind for kind in (string.digits, string.ascii_lowercase, string.ascii_uppercase)
        )
        assert accepts(f"[{low}-{high}]") == (alike and low <= high), (low, high)


def test_sygus_problems() -> None:
    folder = Path(os.environ.get("TOKAMATA_DATA", "")) / "sygus"
    files = sorted(folder.glob("*/*.sl")) if "TOKAMATA_DATA" in os.environ else []
    if not files:
        pytest.skip("no sygus folder in $TOKAMATA_DATA")
    whole, term = by_tokamata("lisp").accepts, by_tokamata("sygus").accepts
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert whole(text), file.name
        terms = re.findall(r"^\(constraint (.*)\)$", text, re.M)
        assert terms
        assert all(map(term, terms)), file.name


@pytest.mark.parametrize("function", [grammars.sygus_terms, grammars.sygus_constraint])
@pytest.mark.parametrize(
    "problem", ["", "(", ")", '"', "(synth-fun f)", "(synth-fun f () Int)", "(synth-fun f () I x y)"]
)
def test_errors_of_sygus_problems_name_the_function(function: Callable[[str], object], problem: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=rf"^{function.__name__}: .*expected .*, got "):
        function(problem)
    with pytest.raises(TypeError, match=rf"^{function.__name__}: expected a problem"):
        function(3)  # type: ignore[arg-type]


def test_blanks_before_arithmetic_are_no_indentation() -> None:
    """The file says so: Python refuses them."""
    accepts = tokamata.grammar(grammars.text("arithmetic")).accepts
    assert "blanks at the beginning" in grammars.describe("arithmetic").leaves_out
    for text in (" 1 + 2", "\t1"):
        assert accepts(text)
        with pytest.raises(IndentationError):
            ast.parse(text, mode="eval")
