"""Grammars and values of JSON intersected with patterns: members, what can be completed, and masks, by brute force."""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Callable
from pathlib import Path

import lark
import pytest
from oracle import mask_walk
from tokamata.constraints import grammars

import tokamata
from tokamata._core import Language

LIST = r"""
start: value
value: "[" (value ("," value)*)? "]" | NAME | "ab"
NAME: /[ab]+/
%ignore " "
"""
TIGHT = LIST.replace('%ignore " "', "")  # no separator: names run into one another
STATEMENTS = r"""
start: (item ",")* item
item: NAME | NAME NAME | KEY "[" NAME "]" | TEXT
NAME: /[ab]+/
KEY: "b"
TEXT: /\[a[^\]]*\]/
%ignore " "
"""
BLOCKS = r"""
start: (_NEWLINE | stmt)*
stmt: NAME _NEWLINE | NAME ":" _NEWLINE _INDENT stmt+ _DEDENT | NAME ":" NAME ";"? _NEWLINE
NAME: /a+/
_NEWLINE: /(\n *)+/
%ignore " "
%declare _INDENT _DEDENT
"""
# Comments in lines of their own are of newlines, others are ignored, and the text may end with one.
BLOCK_COMMENTS = r"""
start: (_NEWLINE | stmt)*
stmt: NAME _NEWLINE | NAME ":" _NEWLINE _INDENT stmt+ _DEDENT
NAME: /a+/
_NEWLINE: /\n( *(#[^\n]*)?\n)* */
COMMENT: /#[^\n]*/
%ignore " "
%ignore COMMENT
%declare _INDENT _DEDENT
"""
NOTATION = r"""
root ::= value
value ::= "[" (value ("," value)*)? "]" | name | name " " value
name ::= [ab]+
"""
# Comments run to the end of their line, which has to be written before anything else can be.
COMMENTS = r"""
start: (NAME "=" NAME ";")+
NAME: /a+/
%ignore /\s+/
%ignore /#[^\n]*/
"""
# The shortest text has what patterns forbid.
WORDS = r"""
start: "b" | A "," start | A "]"
A: "aaa"
%ignore " "
"""
GRAMMARS: dict[str, Callable[[], tokamata.Constraint]] = {
    "basic": lambda: tokamata.grammar(LIST),
    "contextual": lambda: tokamata.grammar(LIST, lexer="contextual"),
    "tight": lambda: tokamata.grammar(TIGHT),
    "words": lambda: tokamata.grammar(WORDS),
    "statements": lambda: tokamata.grammar(STATEMENTS),
    "statements by context": lambda: tokamata.grammar(STATEMENTS, lexer="contextual"),
    "blocks": lambda: tokamata.grammar(BLOCKS),
    "comments": lambda: tokamata.grammar(COMMENTS),
    "block comments": lambda: tokamata.grammar(BLOCK_COMMENTS),
    "notation": lambda: tokamata.grammar(NOTATION, "gbnf"),
    "value": tokamata.json_value,
    "schema": lambda: tokamata.json_schema({"type": "array", "items": {"type": ["array", "string"], "maxItems": 1}}),
}
LETTERS = {name: ']"a,[ ' if name in ("value", "schema") else "]ab,[ " for name in GRAMMARS} | {
    "blocks": "\na:; ",
    "comments": "\na=# ;",
    "block comments": "\na:# ",
}


# What newlines and comments may be, and what only comments can have, or has to be there at the end.
MORE_PATTERNS = {
    "comments": [r".*#a.*", r"(?!.*#).*"],
    "block comments": [
        *(r"(?!.*#a\n).*", r"(?!.*#[a:]\Z).*", r"(?!.*:a?\n).*", r"(?!.*\n\n).*", r"(?!.*\n  a).*", r"(?!.*#).*"),
        *(r".*#a.*", r".*a#.*", r".+", r".*#a+", r"(?=.*aa)(?=.*##).*", "[^a]*", r"[^\n]*a[^\n]*"),
    ],
}
PATTERNS = [r".*\]", "(?!.*ab).*", "[^b]*", "[^b]{0,3}", "[^b]{2,4}", "(?!.*,).*", r"[^\n]*", r"a\W+a\W+"]


def _pattern(rng: random.Random) -> str:
    character = rng.choice([".", ".", "[^b]", "[^,;]", r"[\[\]ab\n]", r"[^\] ]", '[^"]'])
    low = rng.choice([0, 0, 1, 1, 2, 5])
    counted = f"{character}{{{low},{low + rng.randrange(5)}}}"
    return rng.choice(["", "", "", "a", r"\[", r"\[.?", ".*,", "a:.*"]) + rng.choice(
        [
            counted,
            counted,
            counted,
            f"{character}*",
            f"{counted}a?",
            "(?!.*ab).*",
            "(?!.*aa).*",
            r"(?:(?!\bab\b).)*",
            r".*\]",
        ]
    )


class Pair:
    """A grammar and a pattern that are asked apart from one another."""

    def __init__(self, grammar: tokamata.Constraint, pattern: tokamata.Constraint, letters: str) -> None:
        self._both = (grammar, pattern)
        self._letters = letters
        self.completable = functools.cache(self._completable)

    def accepts(self, text: str) -> bool:
        return all(c.accepts(text) for c in self._both)

    def _begins(self, text: str) -> bool:
        return all(c.accepts_prefix(text) for c in self._both)

    def _completable(self, text: str, more: int = 11) -> bool:
        """Whether a member begins so, of no more than so many characters more."""
        level = [text] if self._begins(text) else []
        for _ in range(more):
            if any(self.accepts(t) for t in level):
                return True
            level = [t + c for t in level[:1000] for c in self._letters if self._begins(t + c)]
        return any(self.accepts(t) for t in level)


@pytest.mark.parametrize("name", GRAMMARS)
def test_members_beginnings_and_masks(name: str) -> None:
    seed = 5
    rng = random.Random(f"{name} {seed}")
    letters = LETTERS[name]
    grammar = GRAMMARS[name]()
    texts = ["".join(t) for n in range(6) for t in itertools.product(letters, repeat=n)]
    texts = [t for t in texts if grammar.accepts(t)]
    beginnings = ["".join(t) for n in range(4) for t in itertools.product(letters, repeat=n)]
    beginnings = [t for t in beginnings if grammar.accepts_prefix(t)]
    pieces = {"".join(rng.choices(letters, k=rng.randrange(1, 4))) for _ in range(80)} | set(letters)
    vocabulary = mask_walk.with_bytes({t.encode() for t in pieces})
    tokens = {
        t: i for i in range(len(vocabulary)) if (t := (vocabulary.token_bytes(i) or b"").decode("latin1")) in pieces
    }
    met = allowed = 0
    patterns = PATTERNS + MORE_PATTERNS.get(name, [])
    for source in (*patterns, *(_pattern(rng) for _ in range(10))):
        pattern = tokamata.regex(f"(?s){source}")
        subtract = source not in patterns and rng.random() < 0.2
        written = tokamata.regex(f"[{re.escape(letters)}]*")
        meet = (GRAMMARS[name]() & written) - pattern if subtract else GRAMMARS[name]() & (pattern & written)
        pair = Pair(grammar, ~pattern if subtract else pattern, letters)
        where = (name, source, subtract)
        assert meet.is_empty() == (not pair.completable("")), where
        for text in texts:
            assert meet.accepts(text) == pair.accepts(text), (*where, text)
        for text in rng.sample(beginnings, min(len(beginnings), 20)):
            assert meet.accepts_prefix(text) == pair.completable(text), (*where, text)
        if meet.is_empty():
            continue
        met += 1
        automaton = tokamata.compile(meet, vocabulary)
        for _ in range(2):
            state, text = automaton.start(), ""
            for _ in range(2):
                live = {vocabulary.token_bytes(t).decode("latin1") for t in mask_walk.agreed(automaton, state, *where)}
                assert live == {t for t in tokens if pair.completable(text + t)}, (*where, text)
                assert state.is_final == pair.accepts(text), (*where, text)
                allowed += len(live)
                if not live:
                    break
                piece = rng.choice(sorted(live))
                state.advance(tokens[piece])
                text += piece
    assert met > 2
    assert allowed > 100


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
def test_bytes_that_are_no_text_are_kept(lexer: str) -> None:
    raw = tokamata.grammar('start: (RAW | "a")+', constraints={"RAW": tokamata.literal(b"\x80")}, lexer=lexer)
    rest = raw - tokamata.regex("a*")
    assert rest.accepts(b"a\x80a")
    assert rest.accepts_prefix(b"aa")
    assert not rest.accepts("aa")
    assert not (raw - tokamata.regex("(?s:.*)")).is_empty()
    assert (tokamata.grammar('start: "[" start "]" | "a"') - tokamata.regex("(?s:.*)")).is_empty()


def test_texts_are_known_to_be_text() -> None:
    """What is known to be UTF-8 has no other members: the difference that knows nothing about it is empty."""
    known = [tokamata.json_value(), tokamata.json_schema({"pattern": "^[^a]*$"}), tokamata.regex(r"\W+|(?!é).")]
    known += [tokamata.grammar(grammars.text(n)) for n in ("json", "sql", "xml", "arithmetic", "uri", "csv")]
    known += [known[3] & tokamata.literal(b"\x80"), tokamata.regex("a") + "é", known[2] | "b"]
    known += [~tokamata.literal(b"\x80")]
    text = tokamata.regex("(?s:.*)")._native
    for constraint in known:
        assert constraint._is_text, constraint
        assert Language.difference(constraint._native, text).is_empty(), constraint
    for other in (tokamata.literal(b"\x80"), tokamata.choice(["a", b"\x80"]), tokamata.regex("a") | b"\x80"):
        assert not other._is_text, other


def test_what_no_text_can_do_without() -> None:
    """Terminals that have to be read have bytes that the pattern lacks: known at once, and so is what is empty."""
    limits = tokamata.Limits(seconds=0.5)
    python, sql = (tokamata.grammar(grammars.text(name)) for name in ("python", "sql"))
    for grammar, pattern in [(python, r"def f\(.{1,30}"), (python, "x = .*"), (sql, "[^eE]*"), (sql, "[a-z]+")]:
        meet = grammar & tokamata.regex(pattern)
        assert meet.is_empty(), pattern
        with pytest.raises(tokamata.ConstraintError, match="the constraint is empty"):
            tokamata.compile(meet, mask_walk.with_bytes({b"x"}), limits=limits)
    assert (python & tokamata.regex("#.*")).accepts("# no line ends here")
    assert (sql & tokamata.regex("[a-z ]+")).accepts("select a from t")
    assert not (sql & tokamata.regex("[a-z ]+")).accepts_prefix("select (")


@pytest.mark.parametrize(
    ("name", "pattern", "written"),
    [
        ("sql", r"(?s:.*\bFROM t\b.*)", ["SELECT", " a", " FROM", " t", " WHERE", " b"]),
        ("sql", r"(?=.*\bWHERE\b)(?=.*\bLIMIT\b)(?s:.*)", ["SELECT", " a", " FROM", " t"]),
        ("sql", r"(?i:select)(?s:.*)\bLIMIT \d+", ["select", " a", " LIMIT", " 1", "0"]),
        ("python", r"(?s:.*\bdef main\(.*)", ["x", " = ", "1", "\n", "def ", "main", "("]),
    ],
)
def test_what_texts_must_have(name: str, pattern: str, written: list[str]) -> None:
    """A comment can have it whatever was written, so masks are those of the grammar and of the pattern's beginnings."""
    pieces = {*written, " ", "\n", "(", ")", "'", "--", "#", "/*", "*/", "FROM", "LIMIT", " LIMIT 1", "main(", "é", "1"}
    vocabulary = mask_walk.with_bytes({p.encode() for p in pieces})
    tokens = {vocabulary.token_bytes(t): t for t in range(len(vocabulary))}
    grammar, must = tokamata.grammar(grammars.text(name)), tokamata.regex(pattern)
    automaton = tokamata.compile(grammar & must, vocabulary)
    alone = tokamata.compile(grammar, vocabulary)
    state, free = automaton.start(), alone.start()
    for piece in written:
        token = tokens[piece.encode()]
        live = {vocabulary.token_bytes(t) for t in mask_walk.agreed(automaton, state, name, pattern, piece)}
        assert live <= {vocabulary.token_bytes(t) for t in mask_walk.agreed(alone, free, name, piece)}
        assert piece.encode() in live
        state.advance(token)
        free.advance(token)
    text = "".join(written)
    assert state.is_final == (grammar.accepts(text) and must.accepts(text))


PIECES = {
    "json": ["{", "}", "[", "]", ",", ":", '"', "a", "1", " ", "\n", "true", "-", "é", "\\", "null"],
    "arithmetic": ["(", ")", "+", "*", "a", "1", ".", " ", "\n", "//", "**", "-", "é", ","],
    "sql": [
        "SELECT ",
        "a",
        ",",
        "(",
        ")",
        " FROM ",
        "'",
        "--",
        "/*",
        "*/",
        "\n",
        "1",
        " WITH ",
        " AS ",
        "CASE",
        " END ",
        "*",
    ],
    "python": [
        "def ",
        "f",
        "(",
        ")",
        ":",
        "\n",
        "    ",
        "#",
        "'",
        '"""',
        "if ",
        "=",
        "1",
        "x",
        "é",
        "eval",
        "[",
        ",",
        ".",
    ],
}


@pytest.mark.parametrize(
    ("name", "patterns"),
    [
        ("json", [r"(?s:.{0,25})", r"(?s:.{0,60})", r"(?s:.{0,200})", r"[^\n]{3,90}"]),
        ("arithmetic", [r"(?s:.{0,25})", r"(?s:.{0,60})", r"(?s:.{0,200})"]),
        ("sql", [r"(?s:.{0,80})", r"(?s:.{0,150})", r"(?s:.{0,400})", r"(?s:(?!.*--).*)", r"(?is:(?!.*\bfrom\b).*)"]),
        ("python", [r"[\x00-\x7f]*", r"(?s:(?!.*\beval\b).*)", r"(?s:.*#f.*)", r"[^#]*", "(?s:(?!.*\n\n).*)"]),
    ],
)
def test_masks_of_many_tokens(name: str, patterns: list[str]) -> None:
    """Where thousands of tokens are allowed they are not looked at one by one."""
    seed = 3
    rng = random.Random(f"{name} {seed}")
    tokens = {p.encode() for p in PIECES[name]}
    while len(tokens) < 5000:
        tokens.add("".join(rng.choices(PIECES[name], k=rng.randrange(1, 9))).encode())
    for pattern in patterns:
        meet = tokamata.grammar(grammars.text(name)) & tokamata.regex(pattern)
        automaton = tokamata.compile(meet, mask_walk.with_bytes(tokens))
        mask_walk.wander(automaton, rng, 3, 7, name, pattern, seed)


@pytest.mark.parametrize(
    "pattern", [r"(?s:(?!.*\beval\b).*)", "[^#]*", r"[\x00-\x7f]*", "(?s:.*\n)", "(?s:(?!.*if).*)", "[^:]*", "[^)]*"]
)
def test_blocks_and_lexemes_that_look_ahead(pattern: str) -> None:
    """Lark's own grammar of Python, whose strings look at what follows."""
    rng = random.Random(pattern)
    tokens = {"".join(rng.choices(PIECES["python"], k=rng.randrange(1, 6))).encode() for _ in range(400)}
    text = (Path(lark.__file__).parent / "grammars" / "python.lark").read_text()
    meet = tokamata.grammar(text, start="file_input") & tokamata.regex(pattern)
    mask_walk.wander(tokamata.compile(meet, mask_walk.with_bytes(tokens)), rng, 2, 6, pattern)


@pytest.mark.parametrize("count", ["(?s:.{0,1000})", "(?s:.{0,40})", "(?s:.{10,60})", r"[\x00-\x7f]{0,80}"])
def test_lengths_and_words_that_end_at_boundaries(count: str) -> None:
    """Texts are found without the counter, or summaries of all its numbers would be needed."""
    text = 'start: d*\nd: "(" d* ")" | A\nA: /[a-z]+\\b/\n%ignore " "\n'
    meet = tokamata.grammar(text, limits=tokamata.Limits(search_seconds=3)) & tokamata.regex(count)
    assert meet.accepts_prefix("((((a b")
    assert not meet.accepts_prefix("a)")
    rng = random.Random(count)
    tokens = {"".join(rng.choices("ab() ", k=rng.randrange(1, 9))).encode() for _ in range(300)}
    automaton = tokamata.compile(meet, mask_walk.with_bytes(tokens))
    mask_walk.wander(automaton, rng, 4, 12, count)
    for most in (3, 9, 40) if not count.startswith("(?s:.{10") else (12, 40):
        assert automaton.start(max_tokens=most).mask().any()


def test_python_without_a_word() -> None:
    """Once the word is written nothing can follow, which would take many seconds to find out along all rules."""
    limits = tokamata.Limits(seconds=10)
    python = tokamata.grammar(grammars.text("python"))
    without = python - tokamata.regex(r"(?s:.*)\beval\b(?s:.*)")
    vocabulary = mask_walk.with_bytes({b"eval", b"(", b"x\n", b"evaluate", b" eval", b"# eval", b"# evil"})
    automaton = tokamata.compile(without, vocabulary, limits=limits)
    state = automaton.start()
    live = {vocabulary.token_bytes(t) for t in mask_walk.agreed(automaton, state, "python")}
    assert live >= {b"eval", b"(", b"x\n", b"evaluate", b"# evil", b"# eval"}
    assert without.accepts("evaluate(x)\n")
    assert not without.accepts("eval(x)\n")
    assert not without.accepts_prefix("x = eval(")
    assert not without.accepts_prefix("# eval\n")
