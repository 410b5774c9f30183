"""Grammars and values of JSON intersected with patterns: members, what can be completed, and masks, by brute force."""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Callable

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
    "notation": lambda: tokamata.grammar(NOTATION, "gbnf"),
    "value": tokamata.json_value,
    "schema": lambda: tokamata.json_schema({"type": "array", "items": {"type": ["array", "string"], "maxItems": 1}}),
}
LETTERS = {name: ']"a,[ ' if name in ("value", "schema") else "]ab,[ " for name in GRAMMARS} | {
    "blocks": "\na:; ",
    "comments": "\na=# ;",
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
    for source in (*PATTERNS, *(_pattern(rng) for _ in range(10))):
        pattern = tokamata.regex(f"(?s){source}")
        subtract = source not in PATTERNS and rng.random() < 0.2
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
