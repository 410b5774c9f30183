"""Terminals that look at what follows their lexemes: dead ends, separators, ends of texts, indentation, budgets."""

from __future__ import annotations

import random
import re

import pytest

import tokamata


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
@pytest.mark.parametrize(
    ("text", "members", "no_prefixes"),
    [
        # Blanks end most lexemes, but an "a" has to be followed by a "b".
        ('start: T C "!"\nT: /a(?=b)|x/\nC: /c/\nB: /b/\nother: B\n%ignore " "', ["xc!", "x c!"], ["a", "a c"]),
        ('start: "x" T C | "y"\nT: /a(?=b)/\nC: /c/\n%ignore " "', ["y", " y "], ["x", "x a"]),
        # The separator may not stand before a "c", which would belong to the T without one.
        ('start: "x" T C | "y"\nT: /ac*/\nC: /c/\n%ignore / (?!c)/', ["y", " y"], ["x", "xac"]),
        # What comes last decides, and the end of the text.
        ('start: A "b"?\nA: /a$|a(?=b)/\nC: /c/\nother: C', ["a", "ab"], ["ac", "aa"]),
        ("start: A\nA: /a(?!c)/\n%ignore /c/", ["a", "ca", "cca"], ["ac"]),
        ('start: (A | B) "!"?\nA: /a+(?!.)/s\nB: /a+/', ["a", "aa", "aa!"], ["a!!"]),
        # One text, two terminals, each where it may be.
        ('start: IF "(" | NAME "."\nIF.1: /if(?=[(])/\nNAME: /[a-z]+/', ["if(", "if.", "iff."], ["iff(", "a("]),
    ],
)
def test_what_follows_decides(lexer: str, text: str, members: list[str], no_prefixes: list[str]) -> None:
    constraint = tokamata.grammar(text, lexer="basic" if lexer == "basic" else "contextual")
    for member in members:
        assert constraint.accepts(member), member
        assert (constraint & tokamata.literal(member)).accepts(member), member
        assert all(constraint.accepts_prefix(member[:n]) for n in range(len(member) + 1))
    for prefix in no_prefixes:
        assert not constraint.accepts_prefix(prefix), prefix
        assert (constraint & tokamata.literal(prefix)).is_empty(), prefix
    assert all(constraint.accepts(member) for member in constraint.examples(10, seed=1))


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
def test_nothing_is_ignored_past_the_end(lexer: str) -> None:
    # Texts without end may begin so: only the rules tell that none of them is a member.
    text = 'start: "(" start ")" | A\nA: /a(?!c)/\n%ignore /c/'
    constraint = tokamata.grammar(text, lexer="basic" if lexer == "basic" else "contextual")
    assert (constraint & tokamata.regex(r"\(*ac")).is_empty()
    assert not (constraint & tokamata.regex(r"\(*a\)*c")).is_empty()


KEYWORDS = (
    "ABSTRACT ACTION AND ARRAY AT BY CASE CONSTANT CONTINUE DO ELSE ELSIF END END_IF EXIT FOR FUNCTION IF MOD NOT OF OR"
    " REPEAT RETURN THEN TO TYPE UNTIL VAR WHILE XOR"
).split()


@pytest.mark.parametrize("flag", ["", "i"])
@pytest.mark.parametrize("end", ["", r"\b"])
def test_names_that_are_no_keywords(end: str, flag: str) -> None:
    """Whether a keyword is one depends on what follows, which a name of ASCII may not read: in `ATé` AT is a name."""
    name = rf"(?!(?:{'|'.join(KEYWORDS)})\b)[A-Za-z_][A-Za-z0-9_]*{end}"
    constraint = tokamata.grammar(f"start: (NAME | OTHER)*\nNAME: /{name}/{flag}\nOTHER: /[^A-Za-z_]/")
    lexeme = re.compile(f"(?{flag}:{name})|[^A-Za-z_]" if flag else f"{name}|[^A-Za-z_]")
    rng, found = random.Random(3), set()
    for _ in range(1500):
        parts = [rng.choice([*KEYWORDS, "END_", "A", "Z", "_1", "é", " ", "aT", "1"]) for _ in range(rng.randint(1, 4))]
        text, at = "".join(part[: rng.choice([9, 9, 9, 2])] for part in parts), 0
        while at < len(text) and (match := lexeme.match(text, at)):
            at = match.end()
        assert constraint.accepts(text) == (at == len(text)), text
        found.add(at == len(text))
    assert len(found) == 2


MARKER = b"\xff<|x|>\xff"


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
@pytest.mark.parametrize(
    ("pattern", "holds"),
    [
        (r"a(?!b)", True),
        (r"a(?=b)", False),
        (r"a\b", True),
        (r"a\B", False),
        (r"a(?!\b)", False),
        (r"a$", True),
        (r"a\Z", True),
        (r"(?s:a(?!.))", True),
        (r"a(?=b|$)", True),
        (r"a(?=(b|c)?$)", True),
        (r"a(?=\W)", False),
        (r"a(?=[^b])", False),
        (r"a(?![^b])", True),
        (r"a(?=.*b)", False),
        (r"a(?!.*b)", True),
    ],
)
def test_at_special_tokens_lookahead_sees_the_end_of_the_text(lexer: str, pattern: str, holds: bool) -> None:
    lexing = "basic" if lexer == "basic" else "contextual"
    assert bool(re.match(pattern, "a")) == holds
    rules = 'start: T END "z" | "y" | T B+ END\nB: "b" | "c"\nEND: <|x|>\n'
    for text in (f"{rules}T: /{pattern}/", f'{rules}T: /{pattern}/\n%ignore " "'):
        constraint = tokamata.grammar(text, lexer=lexing)
        assert constraint.accepts(b"a" + MARKER + b"z") == holds
        assert constraint.accepts_prefix(b"a" + MARKER) == holds
        tokens = [b"a", b"y", b"z", b"b", None, None]
        vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[5], special_tokens={"<|x|>": 4})
        state = tokamata.compile(constraint, vocabulary).start()
        if state.mask()[0] & 1:
            state.advance(0)
            assert bool(state.mask()[0] & 1 << 4) == holds


def test_special_tokens_decide_between_terminals() -> None:
    keyword = 'start: NAME END | IF\nNAME: /(?!if\\b)[a-z]+/\nIF: "if" "1"\nEND: {}'
    letter = 'start: U END | T ";"\nT: /a(?!b)/\nU: /[^;]/\nEND: {}'
    for text, ends in ((keyword, ('"-"', b"-")), (letter, ('"1"', b"1"))):
        for end, written in (ends, ("<|x|>", MARKER)):
            constraint = tokamata.grammar(text.format(end))
            begin = b"if" if text == keyword else b"a"
            assert not constraint.accepts(begin + written)
            assert not constraint.accepts_prefix(begin + written[:1])
            assert constraint.accepts(b"b" + written)


INDENTED = r"""
start: A _NEWLINE _INDENT B _NEWLINE _DEDENT C?
A: /a(?!b)/
B: /b(?!c)/
C: /c(?=c|$)/
_NEWLINE: /(\n *)+/
%declare _INDENT _DEDENT
"""


def test_blocks_end_with_the_text() -> None:
    constraint = tokamata.grammar(INDENTED)
    for member in ("a\n  b\n", "a\n  b\n  ", "a\n  b\nc", "a\n\n b\n ", "a\n b\n\nc"):
        assert constraint.accepts(member), member
        assert (constraint & tokamata.literal(member)).accepts(member), member
    deep = tokamata.grammar(INDENTED.replace("start: A", "start: p A") + 'p: "(" p ")" |\n')
    member = "(" * 700 + ")" * 700 + "a\n b\n "  # so long that rules are asked first whether there is none
    assert (deep & tokamata.regex(r"\({700}\){700}a\n b\n ")).examples(1) == [member.encode()]
    for text in ("a\n  b", "a\nb\n", "a\n  b\n   ", "a\n  b\n c", "a\n  b\ncc"):
        assert not constraint.accepts(text), text
        assert (constraint & tokamata.literal(text)).is_empty(), text
    assert constraint.accepts_prefix("a\n  b")
    assert not constraint.accepts_prefix("a\n  b\ncc")


def test_a_budget_counts_what_guards_need() -> None:
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    automaton = tokamata.compile(tokamata.grammar('start: A B?\nA: /a(?=b)|aaa/\nB: "b"'), vocabulary)
    assert automaton.start(max_tokens=3).mask()[3] == 1 << (ord("a") - 96)
    with pytest.raises(tokamata.BudgetError, match="max_tokens=3 or more"):
        automaton.start(max_tokens=2)


def test_the_byte_of_the_end_is_no_terminals() -> None:
    raw = tokamata.from_fst(tokamata.literal(b"\xf8").to_fst())
    with pytest.raises(
        tokamata.UnsupportedError,
        match=r"terminal RAW \(line 3, column 10\) has the byte 0xf8, .* the match of A \(line 2, column 1\) depends",
    ):
        tokamata.grammar("start: A RAW\nA: /a(?!b)/\n%declare RAW", constraints={"RAW": raw})
    other = tokamata.from_fst(tokamata.literal(b"\xf9").to_fst())
    assert tokamata.grammar("start: A RAW\nA: /a(?!b)/\n%declare RAW", constraints={"RAW": other}).accepts(b"a\xf9")


@pytest.mark.parametrize(
    ("rules", "empty"),
    [
        ("start: A* _NL", True),
        ("start: _NL", True),
        ("start: A* _NL _INDENT A _NL _DEDENT", True),
        ("start: (stmt | _NL)*\nstmt: A _NL", False),
        ("start: A* _NL A", False),
        ("start: A* _NL _INDENT A _NL _DEDENT A", False),
    ],
)
def test_newlines_that_look_ahead_are_not_the_last(rules: str, empty: bool) -> None:
    """Blanks are ignored, and blocks are declared, so that newlines of any column would end whatever is open."""
    constraint = tokamata.grammar(f'%declare _INDENT _DEDENT\n{rules}\n_NL: /\\n *(?=a)/\nA: "a"\n%ignore / +/\n')
    assert constraint.is_empty() == empty
    assert (constraint & tokamata.regex("(?s:.*)")).is_empty() == empty
    assert constraint.accepts_prefix("") != empty
    texts = constraint.examples(3)
    assert (texts == []) == empty
    assert all(map(constraint.accepts, texts))
