"""Budgets of grammars: masks far from the end, where lengths of what is left decide, and near it, where searches do."""

from __future__ import annotations

import random

import numpy as np
import pytest
from oracle import mask_walk
from oracle.native_grammar import build
from oracle.productions import GUARDED, PATTERNS, random_productions
from tokamata.constraints import Constraint

import tokamata

MOST = 32

BLOCKS = r"""
start: (stmt | _NEWLINE)*
stmt: NAME "=" expr _NEWLINE | "if" expr ":" block | "try" ":" block "except" ":" block | "@" NAME _NEWLINE stmt
block: NAME _NEWLINE | _NEWLINE _INDENT stmt+ _DEDENT
expr: NAME | "(" expr ("," expr)* ")" | expr "+" expr | "fn" expr "to" expr "do" expr
NAME: /[a-z]+/
_NEWLINE: /(\r?\n[\t ]*(#[^\n]*)?)+/
%ignore / +/
%ignore /#[^\n]*/
%declare _INDENT _DEDENT
"""

GRAMMARS = {
    "nests": 'start: "a" start "b" | "c" | "[" start "," start "]"\n%ignore " "',
    "nothing between": 'start: "a" start "bb" | "c" | "[" start "," start "]"',
    "words": 'start: ("do" start "end" | "x" ";")+\n%ignore / +/',
    "numbers": 'start: "(" (start ",")* NUMBER ")" | "let" NAME "be" NUMBER "in" start | NUMBER\n'
    "NUMBER: /[0-9]+/\nNAME: /[a-z]+/\n%ignore / +/\n%ignore /#[^\\n]*\\n/",
    "guards": 'start: (STRING | LONG | "(" start ")" "end")+\n%ignore / +/\n'
    'STRING: /"(?!"")[^"\\n]*"/\nLONG: /"{3}.*?"{3}/s',
    "blocks": BLOCKS,
    "blocks that have to be": BLOCKS.replace("NAME _NEWLINE | _NEWLINE _INDENT", "_NEWLINE _INDENT", 1),
    "blocks with guards": BLOCKS.replace("expr: NAME", "expr: STRING | NAME") + 'STRING: /"(?!"")[^"\\n]*"/\n',
}
WORDS = [
    "aaaa",
    "[c,",
    "c,",
    "a[",
    "do",
    "do do do",
    "end",
    " end end",
    "x;",
    "let",
    " be ",
    "((((",
    "))",
    "in",
    "),",
    '""',
    '"""',
]
WORDS += [
    "12,",
    "if",
    "try",
    "try:",
    ":\n",
    "\n  ",
    "\n    ",
    "except",
    ":\n  try:\n    ",
    "@x",
    "@x\n@y\n",
    "(x,",
    "fn",
    " to",
    "do ",
]
WORDS += ["fn fn fn", "# x", "#\n", "\n\n", "x = y\n", "abc", "abcdefghijkl", "(((((((((((((((((((("]


def _vocabulary(words: list[str]) -> tokamata.Vocabulary:
    texts = [bytes([b]) for b in range(256)] + [w.encode() for w in dict.fromkeys(words) if len(w) > 1]
    return tokamata.Vocabulary([*texts, None], eos_token_ids=[len(texts)])


class _Needed:
    """By token, EOS too, the least that is left of a budget with which masks allow it; the least that works at all."""

    def __init__(self, automaton: tokamata.TokenAutomaton, path: list[int]) -> None:
        self.of: dict[int, int] = {}
        self.least = MOST + 1
        self.decided = True  # no search took too long
        before: set[int] = set()
        for left in range(1, MOST + 1):
            try:
                state = automaton.start(max_tokens=len(path) + left)
                for token in path:
                    state.advance(token)
                allowed = set(mask_walk.allowed(state.mask()))
            except tokamata.LimitError:
                self.decided = False
                continue
            except (tokamata.BudgetError, tokamata.TokenRejected):
                assert not before
                continue
            assert allowed, (path, left)
            assert before <= allowed or not self.decided, (path, left)
            self.least = min(self.least, left)
            for token in allowed - before:
                self.of.setdefault(token, left)
            before |= allowed


def _check(constraint: Constraint, vocabulary: tokamata.Vocabulary, rng: random.Random, walks: int) -> int:
    """Every token takes one more than what is needed behind it (Bellman), and the end takes one; how many were seen."""
    compared = 0
    (eos,) = vocabulary.eos_token_ids
    for _ in range(walks):
        automaton = tokamata.compile(constraint, vocabulary)
        path: list[int] = []
        for _ in range(6):
            needed = _Needed(automaton, path)
            text = b"".join(vocabulary.token_bytes(t) or b"" for t in path)
            free = automaton.start()
            for token in path:
                free.advance(token)
            allowed = set(mask_walk.allowed(free.mask()))
            assert (needed.of.get(eos) == 1) == free.is_final == constraint.accepts(text), text
            assert set(needed.of) <= allowed, text
            assert needed.least == min(needed.of.values()), text
            tokens = [t for t in needed.of if t != eos]
            if not tokens:
                break
            late = sorted(tokens, key=lambda t: -needed.of[t])[:5]
            for token in {*rng.sample(tokens, min(2, len(tokens))), rng.choice(late)}:
                behind = _Needed(automaton, [*path, token])
                if not (needed.decided and behind.decided):
                    continue
                assert needed.of[token] == behind.least + 1, (text, vocabulary.token_bytes(token))
                compared += 1
            for token in rng.sample(sorted(late_ones), 1) if (late_ones := allowed - set(needed.of)) else []:
                assert _Needed(automaton, [*path, token]).least >= MOST, (text, vocabulary.token_bytes(token))
            words = [t for t in tokens if t >= 256 and needed.of[t] < MOST // 2]
            path.append(rng.choice(words if words and rng.random() < 0.7 else tokens))
    return compared


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("seed", range(2))
def test_tokens_take_one_more_than_what_follows(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    constraint = tokamata.grammar(GRAMMARS[name], limits=tokamata.Limits(seconds=0.05))
    words = WORDS if seed == 0 else [w for w in WORDS if len(w) < 4]
    if name.startswith("blocks"):
        words = [*words, *(" " * n for n in range(121))]  # any column, soon
    assert _check(constraint, _vocabulary(words), rng, 2) >= 5


@pytest.mark.parametrize("seed", range(10))
def test_random_grammars(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(2, 4)
    patterns = [rng.choice(PATTERNS) for _ in range(count)] + [rng.choice([" +", "c", " c?"])]
    if seed % 2:
        patterns[rng.randrange(count)] = rng.choice(GUARDED)
    rules, productions = random_productions(rng, count)
    words = ["".join(rng.choice("aabbc ") for _ in range(rng.randint(2, 7))) for _ in range(200)]
    for ignored in ([count], []):
        try:
            constraint = build(patterns, rules, productions, ignored, "basic")
        except tokamata.ConstraintError:
            continue
        if not constraint.is_empty():
            _check(constraint, _vocabulary(words), rng, 1)


def test_far_budgets_change_no_mask() -> None:
    """As soon as lengths say that everything fits, masks are those without a budget, also in blocks and brackets."""
    vocabulary = _vocabulary(WORDS)
    automaton = tokamata.compile(tokamata.grammar(BLOCKS), vocabulary)
    free, roomy = automaton.start(), automaton.start(max_tokens=400)
    for token in b"try:\n  if x:\n    x = (a, fn b to c do (d + e))\n# x\nexcept:\n  @x\n\n  @y\n  ":
        assert (free.mask() == roomy.mask()).all()
        for state in (free, roomy):
            state.advance(token)
    assert np.array_equal(free.mask(), roomy.mask())
