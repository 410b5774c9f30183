"""Grammars with documents for grammar.py, and their translations to what the peers read.

The grammars are the ready-made ones. Python is there twice: as it is ("indented"), for tokamata alone, and for all
without line ends and indentation, which no peer can count (a block's colon ends a statement, statements follow each
other freely). Arithmetic is there also as E -> E + E. "calls" has JSON Schemas and counters inside of a grammar, in the
notation that llguidance shares; xgrammar has no such.
The peers get the same productions and terminals: rules in plain BNF, terminals as regular expressions for llguidance,
whose lexer takes the longest match; spelled out, with what is ignored after each of them, for xgrammar, which has no
lexer, so that there a keyword is a name too and two words may touch. Rules that derive no text are left out for them.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sysconfig
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from tokamata.constraints import grammars

try:
    from re import _constants as codes  # type: ignore[attr-defined]
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as codes
    import sre_parse as parser

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "corpus" / "grammars" / "sql.json"

AMBIGUOUS = r"""
start: expression
expression: expression "+" expression | expression "-" expression | expression "*" expression
          | expression "/" expression | "-" expression | "(" expression ")" | NUMBER | NAME
          | NAME "(" [expression ("," expression)*] ")"
NUMBER: /[0-9]+(\.[0-9]+)?/
NAME: /[a-zA-Z_][a-zA-Z0-9_]*/
WS: /[ \t\r\n]+/
%ignore WS
"""

CALLS = r"""
start: (note | call)+
note: "note" TITLE ";"
call: "call" ID ":" (weather | search) ";"
weather: %json {
  "type": "object",
  "properties": {
    "city": {"type": "string", "maxLength": 40},
    "days": {"type": "integer", "minimum": 1, "maximum": 14},
    "units": {"enum": ["metric", "imperial"]}
  },
  "required": ["city", "days"],
  "additionalProperties": false
}
search: %json {
  "type": "array",
  "items": {
    "type": "object",
    "properties": {"query": {"type": "string"}, "top": {"type": "number"}},
    "required": ["query"]
  }
}
ID: /[a-z][a-z0-9_]{2,30}/
TITLE: /"[^"\\]{1,60}"/
WS: /[ \n]+/
%ignore WS
"""

HEADERS = r"""
_simple: _small [";"]
_compound: _header | ("@" _named)
_header: ("if" | "elif" | "while") _named ":"
       | ["async"] "for" target_list "in" _value_list ":"
       | ("else" | "try" | "finally") ":"
       | "except" [_test ["as" NAME]] ":"
       | ["async"] "with" (_with_items | "(" _named_items [","] ")") ":"
       | "class" NAME ["(" [arguments] ")"] ":"
       | ["async"] "def" NAME "(" [parameters{parameter}] ")" ["->" _test] ":"
parameter: NAME [":" _test]
_with_items: _with_item ("," _with_item)*
_with_item: _test ["as" target]
_named_items: _test "as" target | _named_items "," _with_item

"""


# As converters from JSON Schema write it: strings character by character.
RECORDS = r"""
root ::= "[" ws (record ("," ws record)*)? "]" ws
record ::= "{" ws "\"id\"" ws ":" ws number "," ws "\"name\"" ws ":" ws name "," ws "\"notes\"" ws ":" ws notes "}" ws
name ::= "\"" char{1,40} "\"" ws
notes ::= "[" ws (string ("," ws string)*)? "]" ws
string ::= "\"" char* "\"" ws
number ::= ("-"? ([0] | [1-9] [0-9]{0,15})) ("." [0-9]{1,16})? ws
char ::= [^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4})
ws ::= (" " | "\n" [ \t]{0,20})?
"""


def flat_python() -> str:
    """Return the ready-made grammar of Python without line ends and indentation."""
    text = grammars.text("python")
    text = text.replace("start: (_NEWLINE | _statement)*", "start: _statement*")
    text = re.sub(r"^_simple: .*\n", "", text, flags=re.M)
    begin, end = text.index("// Compound statements"), text.index("// Parameters without")
    text = text[:begin] + HEADERS + text[end:]
    text = re.sub(r"^(_NEWLINE|FORM_FEED): .*\n", "", text.replace(" | FORM_FEED _never", ""), flags=re.M)
    text = text.replace("%declare _INDENT _DEDENT\n", "")
    return text.replace(r"BLANKS: /[ \t\f]+/", r"BLANKS: /[ \t\f\r\n]+/")


@dataclass(frozen=True)
class Case:
    """A grammar, and documents from short to long: of at least so many tokens each."""

    grammar: str
    document: Callable[[Callable[[str], int], int], str]
    syntax: Literal["lark", "gbnf"] = "lark"
    pattern: str = ""  # that texts match, too


def _grown(pieces: list[str], joined: Callable[[list[str]], str], count: Callable[[str], int], least: int) -> str:
    taken: list[str] = []
    for piece in pieces:
        taken.append(piece)
        if len("".join(taken)) > least and count(joined(taken)) >= least:
            break
    return joined(taken)


def _json_document(count: Callable[[str], int], least: int) -> str:
    """Made-up records, and a metaschema that comes with the package in the longest, as json.dumps indents them."""
    rng = random.Random(least)
    schema = files("tokamata.constraints") / "metaschemas" / "draft7.json"
    words = 'alpha beta gamma délta épsilon zeta "quoted" back\\slash tab\t 日本語 🦜'.split()
    records = [
        {
            "id": i,
            "name": " ".join(rng.choices(words, k=3)),
            "score": round(rng.uniform(-100, 100), 3),
            "tags": rng.sample(words, 3),
            "nested": {"ok": rng.random() < 0.5, "none": None, "list": [rng.randrange(10**6) for _ in range(5)]},
        }
        for i in range(200)
    ]
    pieces = [json.dumps(record, indent=2, ensure_ascii=i % 2 == 0) for i, record in enumerate(records)]
    if least > 4000:
        pieces[1:1] = [json.dumps(json.loads(schema.read_text(encoding="utf-8")), indent=2)]
    return _grown(pieces, lambda taken: "[" + ",\n".join(taken) + "]", count, least)


def _records_document(count: Callable[[str], int], least: int) -> str:
    """Made-up records with notes, every other one in ASCII alone."""
    rng = random.Random(least)
    words = 'alpha beta gamma délta épsilon zeta "quoted" back\\slash tab\t 日本語 🦜'.split()
    pieces = []
    for i in range(400):
        notes = [" ".join(rng.choices(words, k=rng.randrange(1, 12))) for _ in range(rng.randrange(4))]
        record = {
            "id": round(rng.uniform(-1000, 1000), 3),
            "name": " ".join(rng.choices(words[:6], k=3)),
            "notes": notes,
        }
        pieces.append(json.dumps(record, ensure_ascii=i % 2 == 0))
    return _grown(pieces, lambda taken: "[" + ", ".join(taken) + "]", count, least)


def _sql_document(count: Callable[[str], int], least: int) -> str:
    """The statements of the test corpus as common table expressions of one statement."""
    statements = [s.rstrip("; ") for s in json.loads(CORPUS.read_text(encoding="utf-8"))["accept"]]
    statements = [s for s in statements if "--" not in s]
    random.Random(least).shuffle(statements)
    pieces = [f"q{i} AS (\n  {s}\n)" for i, s in enumerate(statements * 3)]
    return _grown(pieces, lambda taken: "WITH " + ", ".join(taken) + "\nSELECT * FROM q0", count, least)


def _python_document(count: Callable[[str], int], least: int) -> str:
    """Functions of the standard library."""
    rng = random.Random(least)
    root = Path(sysconfig.get_path("stdlib"))
    pieces = []
    for path in rng.sample(sorted(root.glob("*.py")), 60):
        try:
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = text.splitlines(keepends=True)
        found = [
            textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and not any(isinstance(n, MATCH) for n in ast.walk(node))
        ]
        found = [text for text in found if 200 < len(text) < 2000 and r"\N{" not in text]
        pieces += rng.sample(found, min(2, len(found)))
    return _grown(pieces, lambda taken: "\n".join(taken), count, least)


MATCH = getattr(ast, "Match", ())


def _arithmetic_document(count: Callable[[str], int], least: int) -> str:
    rng = random.Random(least)

    def term(deep: int) -> str:
        kind = rng.random()
        if deep == 0 or kind < 0.5:
            return rng.choice((str(rng.randrange(1000)), f"{rng.uniform(0, 10):.2f}", "x", "rate", "y_1"))
        if kind < 0.7:
            return f"({whole(deep - 1)})"
        if kind < 0.85:
            return f"f({', '.join(whole(deep - 1) for _ in range(rng.randrange(1, 4)))})"
        return f"-{rng.choice('abc')}"

    def whole(deep: int) -> str:
        return rng.choice((" + ", " - ", " * ", " / ", "*")).join(term(deep) for _ in range(rng.randrange(1, 5)))

    return _grown([whole(3) for _ in range(least)], lambda taken: " + ".join(taken), count, least)


def _calls_document(count: Callable[[str], int], least: int) -> str:
    """Calls with arguments of both kinds, and notes between them."""
    rng = random.Random(least)
    words = "alpha beta gamma délta épsilon zeta Tokyo lisbon 日本語 rain_or_shine".split()

    def line() -> str:
        title = " ".join(rng.choices(words, k=rng.randrange(1, 4)))
        if rng.random() < 0.3:
            return f'note "{title}";'
        weather = {"city": title[:40], "days": rng.randrange(1, 15)}
        if rng.random() < 0.5:
            weather["units"] = rng.choice(["metric", "imperial"])
        found = [{"query": rng.choice(words), "top": rng.randrange(100) / 10} for _ in range(rng.randrange(3))]
        arguments = json.dumps(rng.choice((weather, found)), ensure_ascii=False)
        return f"call {rng.choice(words[:3])}_{rng.randrange(1000)}: {arguments};"

    return _grown([line() for _ in range(least)], "\n".join, count, least)


CASES: dict[str, Case] = {
    "JSON": Case(grammars.text("json"), _json_document),
    "SQL": Case(grammars.text("sql"), _sql_document),
    "Python": Case(flat_python(), _python_document),
    "indented": Case(grammars.text("python"), _python_document),
    "arithmetic": Case(grammars.text("arithmetic"), _arithmetic_document),
    "E -> E + E": Case(AMBIGUOUS, _arithmetic_document),
    "calls": Case(CALLS, _calls_document),
    "records": Case(RECORDS, _records_document, "gbnf"),
    "SQL & words": Case(
        grammars.text("sql"), _sql_document, pattern=r"(?is:(?!.*\b(?:drop|delete|insert|update)\b).*)"
    ),
    "SQL & length": Case(grammars.text("sql"), _sql_document, pattern=r"(?s:.{0,100000})"),
    "indented & words": Case(grammars.text("python"), _python_document, pattern=r"(?s:(?!.*\b(?:eval|exec)\b).*)"),
}


@dataclass(frozen=True)
class Plain:
    """A grammar as plain BNF. ``rules``: by name, its alternatives, each a list of names of rules and terminals."""

    rules: dict[str, list[list[str]]]
    terminals: dict[str, tuple[str, bool, bool]]  # text, is it a literal, is case ignored
    ignored: list[str]


def plain(text: str) -> Plain:
    """Read a grammar with lark and leave out rules that derive no text."""
    from lark import Lark
    from lark.lexer import PatternStr

    made = Lark(text, parser="earley", lexer="basic", maybe_placeholders=False)
    terminals = {
        t.name: (t.pattern.value, isinstance(t.pattern, PatternStr), "i" in t.pattern.flags) for t in made.terminals
    }
    rules: dict[str, list[list[str]]] = {}
    for rule in made.rules:
        rules.setdefault(rule.origin.name, []).append([symbol.name for symbol in rule.expansion])
    productive: set[str] = set()
    while True:
        more = {
            name
            for name, ways in rules.items()
            if name not in productive and any(all(s in terminals or s in productive for s in way) for way in ways)
        }
        if not more:
            break
        productive |= more
    rules = {
        name: [way for way in ways if all(s in terminals or s in productive for s in way)]
        for name, ways in rules.items()
        if name in productive
    }
    used = {s for ways in rules.values() for way in ways for s in way} | set(made.ignore_tokens)
    return Plain(rules, {name: t for name, t in terminals.items() if name in used}, list(made.ignore_tokens))


def for_llguidance(text: str) -> str:
    """Return the grammar in llguidance's dialect of Lark."""
    source = plain(text)
    rules = {name: f"r{i}" for i, name in enumerate(source.rules)}
    names = rules | {name: f"T{i}" for i, name in enumerate(source.terminals)}
    lines = ['%llguidance {"allow_initial_skip": true}', f"start: {rules['start']}"]
    for name, ways in source.rules.items():
        lines.append(f"{names[name]}: " + " | ".join(" ".join(names[s] for s in way) or '""' for way in ways))
    for name, (pattern, literal, fold) in source.terminals.items():
        if literal:
            lines.append(f"{names[name]}: {json.dumps(pattern)}{'i' if fold else ''}")
        else:
            lines.append(f"{names[name]}: /{_expression(parser.parse(pattern), _rust)}/")
    lines += [f"%ignore {names[name]}" for name in source.ignored]
    return "\n".join(lines) + "\n"


def for_xgrammar(text: str) -> str:
    """Return the grammar in xgrammar's EBNF; a rule that repeats others (lark's own for * and +) is written with +."""
    source = plain(text)
    rules = {name: f"r{i}" for i, name in enumerate(source.rules)}
    names = rules | {name: f"t{i}" for i, name in enumerate(source.terminals)}
    lines = [f"root ::= blank {rules['start']}"]
    for name, ways in source.rules.items():
        once = [way for way in ways if way[:1] != [name]]
        repeated = sorted([name, *way] for way in once) == sorted(way for way in ways if way[:1] == [name])
        text = " | ".join(" ".join(names[s] for s in way) or '""' for way in (once if repeated else ways))
        lines.append(f"{names[name]} ::= " + (f"({text})+" if repeated else text))
    blanks = []
    for name, (pattern, literal, fold) in source.terminals.items():
        tree = parser.parse(re.escape(pattern) if literal else pattern, re.IGNORECASE if fold else 0)
        if name not in source.ignored:
            lines.append(f"{names[name]} ::= ({_expression(tree, _ebnf, fold)}) blank")
            continue
        if len(tree) == 1 and tree[0][0] is codes.MAX_REPEAT and tree[0][1][:2] == (1, codes.MAXREPEAT):
            tree = tree[0][1][2]  # many blanks in a row are as many blanks, in one way only
        blanks.append(f"({_expression(tree, _ebnf, fold)})")
    lines.append("blank ::= (" + " | ".join(blanks) + ")*")
    return "\n".join(lines) + "\n"


def _rust(code: int) -> str:
    return chr(code) if chr(code).isalnum() and code < 128 else f"\\x{code:02x}" if code < 128 else f"\\u{{{code:x}}}"


def _ebnf(code: int) -> str:
    return chr(code) if chr(code).isalnum() and code < 128 else f"\\x{code:02x}" if code < 128 else f"\\U{code:08x}"


def _expression(tree: Any, escape: Callable[[int], str], fold: bool = False) -> str:
    """Write what Python's re made of a pattern in the common notation of the peers, each character by ``escape``."""
    ebnf = escape is _ebnf
    parts = []
    for operation, argument in tree:
        if operation is codes.LITERAL:
            c = chr(argument)
            if fold and c.lower() != c.upper():
                parts.append(f"[{c.lower()}{c.upper()}]")
            else:
                parts.append(f'"{escape(argument)}"' if ebnf else escape(argument))
        elif operation is codes.NOT_LITERAL:
            parts.append(f"[^{escape(argument)}]")
        elif operation is codes.IN:
            parts.append("[" + "".join(_member(item, escape) for item in argument) + "]")
        elif operation is codes.BRANCH:
            ways = (" | " if ebnf else "|").join(_expression(way, escape, fold) for way in argument[1])
            parts.append(f"({ways})" if ebnf else f"(?:{ways})")
        elif operation is codes.SUBPATTERN:
            inside = _expression(argument[3], escape, fold)
            parts.append(f"({inside})" if ebnf else f"(?:{inside})")
        elif operation is codes.MAX_REPEAT:
            low, high, item = argument
            inside = _expression(item, escape, fold)
            many = high is codes.MAXREPEAT
            sign = {(0, True): "*", (1, True): "+"}.get((low, many), f"{{{low},{'' if many else high}}}")
            parts.append((f"({inside})" if ebnf else f"(?:{inside})") + ("?" if (low, high) == (0, 1) else sign))
        else:
            raise ValueError(f"{operation} has no translation")
    return " ".join(parts).replace('" "', "") or '""' if ebnf else "".join(parts)


def _member(item: Any, escape: Callable[[int], str]) -> str:
    operation, argument = item
    if operation is codes.NEGATE:
        return "^"
    if operation is codes.LITERAL:
        return escape(argument)
    if operation is codes.RANGE:
        return f"{escape(argument[0])}-{escape(argument[1])}"
    if operation is codes.CATEGORY and argument is codes.CATEGORY_SPACE:
        return "".join(escape(c) for c in range(0x3001) if chr(c).isspace())
    raise ValueError(f"{operation} has no translation in a set")
