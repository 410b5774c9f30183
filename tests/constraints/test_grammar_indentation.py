"""Indentation in grammars, against Lark with its own indenter."""

from __future__ import annotations

import random

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.indenter import DedentError, PythonIndenter
from oracle import mask_walk

import tokamata

BLOCKS = r"""
start: (_NEWLINE | stmt)*
stmt: expr _NEWLINE | expr ":" _NEWLINE _INDENT stmt+ _DEDENT | expr ":" expr _NEWLINE
expr: NAME | LPAR expr+ RPAR
NAME: /[ab]+/
LPAR: "("
RPAR: ")"
_NEWLINE: /(\r?\n[\t ]*(#[^\n]*)?)+/
%ignore /[\t ]+/
%ignore /#[^\n]*/
%declare _INDENT _DEDENT
"""
PIECES = ["a", "b", ":", "\n", "\n", "\n ", "\n  ", "\n\t", " ", "(", ")", ":\n ", ":\n  ", "#a", "\r\n "]


def _parses(lark: Lark, text: str) -> bool:
    try:
        lark.parse(text)
    except (UnexpectedInput, DedentError, AssertionError):
        return False
    return True


@pytest.fixture(scope="module")
def constraint() -> tokamata.Constraint:
    return tokamata.grammar(BLOCKS)


@pytest.fixture(scope="module")
def lark() -> Lark:
    return Lark(BLOCKS, parser="lalr", lexer="basic", postlex=PythonIndenter())


class _NlIndenter(PythonIndenter):
    NL_type = "_NL"


@pytest.mark.parametrize(("newline", "indenter"), [("_NEWLINE", PythonIndenter), ("_NL", _NlIndenter)])
def test_random_texts_agree_with_lark(newline: str, indenter: type[PythonIndenter]) -> None:
    text = BLOCKS.replace("_NEWLINE", newline)
    constraint, lark = tokamata.grammar(text), Lark(text, parser="lalr", lexer="basic", postlex=indenter())
    rng = random.Random(5)
    accepted = 0
    for _ in range(6000 if newline == "_NEWLINE" else 2000):
        member = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 9)))
        expected = _parses(lark, member)
        accepted += expected
        assert constraint.accepts(member) == expected, repr(member)
    assert accepted > (100 if newline == "_NEWLINE" else 30)


def test_what_is_viable_can_be_completed(constraint: tokamata.Constraint, lark: Lark) -> None:
    """Random walks through viable prefixes end in members by closing brackets, lines and blocks."""
    rng = random.Random(6)
    for _ in range(300):
        text = ""
        for _ in range(rng.randint(1, 10)):
            options = [p for p in PIECES if constraint.accepts_prefix(text + p)]
            assert options, repr(text)
            text += rng.choice(options)
        ends = ["\n", ")", "a", "\n ", " ", "\n          a"]
        for _ in range(200):
            if constraint.accepts(text):
                break
            text += rng.choice([e for e in ends if constraint.accepts_prefix(text + e)])
        assert constraint.accepts(text), repr(text)
        assert _parses(lark, text), repr(text)


def test_masks_at_line_ends(constraint: tokamata.Constraint) -> None:
    rng = random.Random(7)
    words = {"".join(rng.choice(PIECES) for _ in range(rng.randint(1, 5))) for _ in range(3000)} | {
        "\n" + " " * n for n in range(1, 12)
    }
    texts = [bytes([b]) for b in range(256)] + sorted(w.encode() for w in words if len(w) > 1)
    vocabulary = tokamata.Vocabulary([*texts, None], eos_token_ids=[len(texts)])
    automaton = tokamata.compile(constraint, vocabulary)
    for text in (
        "",
        "a:",
        "a:\n",
        "a:\n  ",
        "a:\n  b",
        "a:\n  b\n",
        "a:\n  b:\n    a\n",
        "a:\n  b:\n    a\n  ",
        "(a",
        "(a\n",
        "a #",
        "(a #",
        "a: b",
    ):
        state = automaton.start()
        for byte in text.encode():
            state.advance(byte)
        allowed = set(mask_walk.allowed(state.mask()))
        expected = {i for i, t in enumerate(texts) if constraint.accepts_prefix(text.encode() + t)}
        if constraint.accepts(text):
            expected.add(len(texts))
        assert allowed == expected, repr(text)


def test_lines_deeper_than_the_limit_are_refused(constraint: tokamata.Constraint) -> None:
    assert constraint.accepts("a:\n" + " " * 120 + "b\n")
    assert not constraint.accepts_prefix("a:\n" + " " * 121)
    assert not constraint.accepts_prefix("a:\n" + " " * 120 + "b:\n")  # no room for a deeper block
    assert constraint.accepts("a:\n" + " " * 120 + "b: a\n")


ENDS_OF_LINES = [  # rules that a newline of some column ends, where others may need a block
    ('start: A _NL _INDENT A _NL _DEDENT | B start start\nA: "a"\nB: "b"\n_NL: /\\n */', "ba\n   a\n"),
    ('start: s+\ns: A | "if" _NL _INDENT A _NL _DEDENT | "do" s s\nA: /[a-c]/\n_NL: /\\r?\\n[\\t ]*/', "doif\n  a\n"),
]


@pytest.mark.parametrize(("rules", "text"), ENDS_OF_LINES)
def test_a_column_that_was_read_asks_for_no_other_blocks(rules: str, text: str) -> None:
    constraint = tokamata.grammar(rules + "\n%declare _INDENT _DEDENT\n")
    texts = [bytes([b]) for b in range(256)] + [b"\n ", b"  ", b" a", b"a\n", b"\n\n"]
    state = tokamata.compile(constraint, tokamata.Vocabulary([*texts, None], eos_token_ids=[len(texts)])).start()
    for byte in text.encode():
        state.advance(byte)
    expected = {i for i, t in enumerate(texts) if constraint.accepts_prefix(text.encode() + t)}
    assert ord(" ") not in expected
    assert set(mask_walk.allowed(state.mask())) == expected
    assert {i for i in range(len(texts)) if state.allows(i)} == expected


NEWLINES = '\nA: "a"\n_NL: /(\\n *)+/\n%declare _INDENT _DEDENT\n'


def _agrees(constraint: tokamata.Constraint, rng: random.Random, walks: int = 6) -> None:
    """Masks along random walks are what may follow, and something may always follow."""
    words = [b"\n ", b"\n  a", b"a\n", b"\n\n", b"  ", b" a", b"if\n"]
    vocabulary = mask_walk.with_bytes(words)
    automaton = tokamata.compile(constraint, vocabulary)
    end = len(vocabulary) - 1
    for _ in range(walks):
        state, text = automaton.start(), b""
        for _ in range(14):
            following = mask_walk.agreed(automaton, state, text)
            assert following or state.is_final, text
            assert state.allows(end) == constraint.accepts(text), text
            for token in range(end):
                viable = constraint.accepts_prefix(text + vocabulary.token_bytes(token))
                assert viable == (token in following) == state.allows(token), (text, token)
            if not following:
                break
            token = rng.choice(following)
            state.advance(token)
            text += vocabulary.token_bytes(token)


@pytest.mark.parametrize("rules", ["[_INDENT A]", "[_INDENT A _NL]", '[_INDENT A _DEDENT "b"]', "[_DEDENT A]"])
def test_what_no_indentation_can_have_is_left_out(rules: str) -> None:
    constraint = tokamata.grammar(f"start: A _NL {rules}{NEWLINES}")
    assert constraint.accepts("a\n")
    assert not constraint.accepts_prefix("a\n a")
    assert all(constraint.accepts(example) for example in constraint.examples(5))
    _agrees(constraint, random.Random(8))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            "start: A _NL _INDENT A",
            r"line 1, column 1: the start rule start has no text: each derivation of it opens a ",
        ),
        ("start: A LPAR _NL A RPAR\nLPAR: /[(]/\nRPAR: /[)]/", r"the start rule start has no text: each derivation"),
        (
            "start: A x\nx: A | _NL _INDENT x",
            r"line 2, column 1: the rule x can open any number of blocks, or more than 4",
        ),
        (
            "start: A x\nx: A | x _NL _DEDENT",
            r"line 2, column 1: the rule x can end any number of blocks, or more than 4",
        ),
    ],
)
def test_unbalanced_rules_are_refused(rules: str, message: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=message):
        tokamata.grammar(rules + NEWLINES)


def test_blocks_that_other_rules_end() -> None:
    constraint = tokamata.grammar(f"start: A h | A\nh: _NL _INDENT A end A\nend: _NL _DEDENT{NEWLINES}")
    assert constraint.accepts("a\n  a\na")
    assert not constraint.accepts_prefix("a\n  a\n a")
    _agrees(constraint, random.Random(9))


@pytest.mark.parametrize("newline", [r"\n", r"\n {0,2}", r"(\n\t*)+", r"\n +", r"\n( *|\t*)"])
def test_newlines_of_few_columns(newline: str) -> None:
    rules = 'start: s+\ns: A _NL | "if" _NL [_INDENT s+ _DEDENT] | "do" A _NL _INDENT s+ _DEDENT'
    constraint = tokamata.grammar(f'{rules}\nA: "a"\n_NL: /{newline}/\n%declare _INDENT _DEDENT\n')
    assert constraint.accepts_prefix("if\n  ") == (newline in (r"\n {0,2}", r"\n +", r"\n( *|\t*)"))
    assert constraint.accepts_prefix("doa\n") == (newline != r"\n")
    assert constraint.accepts_prefix("doa\n doa\n  a") == (newline not in (r"\n", r"(\n\t*)+"))
    assert not constraint.accepts_prefix("doa\n doa\n  doa") or newline not in (r"\n", r"\n {0,2}", r"(\n\t*)+")
    _agrees(constraint, random.Random(10))


def test_blocks_that_must_come_need_columns_below_the_limit() -> None:
    constraint = tokamata.grammar('start: s+\ns: A _NL | "if" _NL _INDENT s+ _DEDENT' + NEWLINES)
    deep = "if\n" + " " * 118
    automaton = tokamata.compile(constraint, mask_walk.with_bytes([b"if", b"a\n", b"if\n", b"\n ", b" if"]))
    for text, expected in [
        (deep, {"a", "i", "if", "if\n", "a\n", " ", " if", "\n", "\n "}),
        (deep + "if\n" + " " * 119, {"a", "i", "if", "if\n", "a\n", " ", "\n", "\n "}),
        (deep + "if\n" + " " * 120, {"a", "a\n", "\n", "\n "}),
        (deep + "if\n" + " " * 120 + "a\n" + " " * 118, {"a", "i", "if", "if\n", "a\n", " ", "\n", "\n "}),
    ]:
        state = automaton.start()
        for byte in text.encode():
            state.advance(byte)
        following = mask_walk.agreed(automaton, state, text)
        assert {automaton.vocabulary.token_bytes(t).decode() for t in following} == expected, text
        assert all(constraint.accepts_prefix(text + token) for token in expected), text
        assert {t for t in range(261) if state.allows(t)} == set(following)


@pytest.mark.parametrize("seed", range(24))
def test_random_rules_agree_with_lark(seed: int) -> None:
    print("seed", seed)
    rng = random.Random(seed)
    names = ["start", "x"]
    rules = []
    for name in names:
        bodies = []
        for _ in range(rng.randint(1, 3)):
            body: list[str] = []
            for _ in range(rng.randint(1, 4)):
                one = rng.choice(["A", "B", "A", "_NL", rng.choice(names), "block", "any", "( x )"])
                if one == "block":
                    body += ["_NL", "_INDENT", rng.choice(["A", "start"]), *rng.choice([["_NL"], []]), "_DEDENT"]
                elif one == "any" and seed % 2:
                    body.append(rng.choice(["_INDENT", "_DEDENT"]))
                elif one == "( x )":
                    body += ["LPAR", rng.choice(["A", "x", "_NL"]), "RPAR"]
                elif one != "any":
                    body.append(one)
            bodies.append(" ".join(body or ["A"]))
        rules.append(f"{name}: {' | '.join(bodies)}")
    newline = rng.choice([r"(\n *)+", r"\n *", r"\n", r"\n ?"])
    terminals = [f'A: "a"\nB: /b+/\nLPAR: "("\nRPAR: ")"\n_NL: /{newline}/', "%declare _INDENT _DEDENT\n"]
    text = "\n".join([*rules, *terminals])
    try:
        constraint = tokamata.grammar(text)
    except tokamata.ConstraintError:
        constraint = None
    lark = Lark(text, parser="earley", lexer="basic", postlex=_NlIndenter())
    pieces = ["a", "b", "\n", "\n ", "\n  ", " ", "(", ")", "\na", "a\n"]
    members = ["".join(rng.choice(pieces) for _ in range(rng.randint(0, 7))) for _ in range(150)]
    if constraint is None:
        if not seed % 2:
            assert not any(_parses(lark, member) for member in members), text
        return
    for member in [*members, *(example.decode() for example in constraint.examples(20))]:
        assert constraint.accepts(member) == _parses(lark, member), (text, member)
    if not constraint.is_empty():
        _agrees(constraint, rng, 3)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("rules", ["start: A _NL A", "start: A _NL A\nunused: _INDENT _DEDENT"])
def test_declared_indentation_counts_where_no_rule_has_it(rules: str, strict: bool) -> None:
    constraint = tokamata.grammar(rules + NEWLINES, strict=strict)
    lark = Lark("start: A _NL A" + NEWLINES, parser="lalr", lexer="basic", postlex=_NlIndenter())
    for text in ("a\na", "a\n a", "a\n \na", "a\n  \n a", "a\n"):
        assert constraint.accepts(text) == _parses(lark, text), text
    assert constraint.accepts("a\n \na")
    assert not constraint.accepts("a\n a")
    _agrees(constraint, random.Random(11))


def test_indentation_needs_a_lexer() -> None:
    text = 'start: s+\ns: A _NL | "if" _NL _INDENT s+ _DEDENT' + NEWLINES
    for strict in (False, True):
        with pytest.raises(tokamata.UnsupportedError, match=r'%declare _INDENT needs a lexer, and lexer is "none"'):
            tokamata.grammar(text, lexer="none", strict=strict)


def test_blocks_that_end_without_a_newline_may_need_one_more_level() -> None:
    body = "_NL _INDENT B _NL _DEDENT"
    rules = f'start: {body} _NL _INDENT start _DEDENT A start | {body} | B\nA: "a"\nB: /b+/\n_NL: /\\n {{0,2}}/\n'
    constraint = tokamata.grammar(rules + "%declare _INDENT _DEDENT\n")
    assert constraint.accepts("\n  b\n\n \n  b\nab")
    assert constraint.accepts_prefix("\n  b\n\n ")
    assert not constraint.accepts_prefix("\n  b\n\n  ")
    _agrees(constraint, random.Random(12))
