"""Masks of grammars against the walk over the whole trie and against the text, token by token."""

from __future__ import annotations

import itertools
import random
import time
from typing import Literal

import numpy as np
import pytest
from oracle import mask_walk
from oracle.native_grammar import build
from oracle.productions import GUARDED, PATTERNS, random_productions
from tokamata.constraints import Constraint, grammars

import tokamata

STATEMENTS = r"""
start: (stmt NL)*
stmt: NAME "=" expr | "if" expr ":" stmt | "def" NAME "(" (NAME ("," NAME)*)? ")" ":" stmt | "return" expr
expr: expr "+" expr | expr "*" expr | "(" expr ")" | NAME | NUMBER | STRING | expr "(" (expr ("," expr)*)? ")"
NAME: /[a-z_][a-z0-9_]*/
NUMBER: /[0-9]+(\.[0-9]+)?([eE][0-9]+)?/
STRING: /"[^"\n]*"/ | /"{3}([^"]|"{1,2}[^"])*"{3}/
NL: /(\n[ ]*)+/
%ignore / +/
%ignore /#[^\n]*/
"""


def _vocabulary(alphabet: str, tokens: int, longest: int, seed: int) -> tokamata.Vocabulary:
    rng = random.Random(seed)
    words = sorted({"".join(rng.choice(alphabet) for _ in range(rng.randint(2, longest))) for _ in range(tokens)})
    texts = [bytes([b]) for b in range(256)] + [w.encode() for w in words]
    texts += [w.encode() + bytes([0xF8]) + w.encode()[:1] for w in words[::20]]
    return tokamata.Vocabulary([*texts, None], eos_token_ids=[len(texts)])


def _expected(constraint: Constraint, vocabulary: tokamata.Vocabulary, text: bytes) -> set[int]:
    allowed = {
        i for i in range(len(vocabulary)) if (t := vocabulary.token_bytes(i)) and constraint.accepts_prefix(text + t)
    }
    return allowed | (set(vocabulary.eos_token_ids) if constraint.accepts(text) else set())


def _ids(mask: np.ndarray) -> set[int]:
    return set(mask_walk.allowed(mask))


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_masks_of_random_grammars(seed: int, guarded: bool) -> None:
    rng = random.Random(seed)
    count = rng.randint(2, 4)
    patterns = [rng.choice(PATTERNS) for _ in range(count)] + [rng.choice([" +", "c", " c?"])]
    if guarded:
        patterns[rng.randrange(count)] = rng.choice(GUARDED)
        patterns[rng.randrange(count + 1)] = rng.choice(GUARDED)
    rules, productions = random_productions(rng, count)
    vocabulary = _vocabulary("aabbc ", 1500, 7, seed)
    for lexer, ignored in (("basic", [count]), ("basic", []), ("contextual", [count])):
        try:
            constraint = build(patterns, rules, productions, ignored, lexer)
        except tokamata.ConstraintError:
            continue
        if constraint.is_empty():
            continue
        automaton = tokamata.compile(constraint, vocabulary)
        for _ in range(3):
            state, text = automaton.start(), b""
            for _ in range(6):
                allowed = _ids(state.mask())
                assert allowed == _expected(constraint, vocabulary, text), (
                    seed,
                    lexer,
                    ignored,
                    patterns,
                    productions,
                    text,
                )
                choices = sorted(allowed - set(vocabulary.eos_token_ids))
                if not choices:
                    break
                token = rng.choice(choices)
                state.advance(token)
                text += vocabulary.token_bytes(token)


# Terminals that loop over classes of characters of which the vocabulary knows the tokens, nearly do, or count.
LOOPING = [
    "[a-zA-Z_][a-zA-Z0-9_]*", "[a-z]+", "[0-9]+", r"[0-9]+(\.[0-9]+)?", r"\w+", r'"[^"\\\x00-\x1f]*"',
    r'"([^"\\]|\\.)*"', "'[^']*'", "#[^\n]*", "[ \t\n]+", r"\s+", "[^ a-z]+", "[a-z]+ [a-z]+", "[a-z]{1,4}",
    "[^\n]{2,9}", r"[^\n'\"]+'", "[a-z0-9]*[A-Z]", "[\u00e4-\u017f]+", "ab5", "b[.]", "aa ?",
    "[^\n]+", "[^#\n]+#", "[^ .#'\n]+", "[^ a\n][^\n']*", "[^0-9#]+[0-9]?", "[^.]*[.]", "(?s:.)+", "[^aä]+",
    "[ä漢a][^\n]*", r"([^#'\\]|\\.)+", "a[^ ]+ ", "[A-Z][^A-Z\n]*", "([^.\n]|[.]b)+", "[^#]{3,}", "[^a]?[^b\n]+",
    '"[ -!#-\\[\\]-\x7f]*"', '"[ -!#-\\[\\]-\u0fff]*"', '"([ -!#-\\[\\]-\x7f]|[\u0080-\U0010ffff]a)*"',
]  # fmt: skip


LOOPING_GUARDED = [
    "[a-z]+(?= )", r"(?!(?:aa|ab)\b)[a-z]+", "[a-z0-9]{2,}?(?=[^a])", r'"(?!"")[^"]*"', "#[^\n]*$", "[0-9]+(?![a-z_])",
    r"[^\n'\"]+(?=')", "(?:a|b)+(?=b5)", "[\u00e4-\u017f]+(?!a)", r"\w+?(?=[a5]\b)",
]  # fmt: skip


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
def test_masks_where_terminals_loop_over_characters(lexer: Literal["basic", "contextual", "none"]) -> None:
    vocabulary = _vocabulary("aaabb" + "aZ05_ .\"'\\\n#ä漢", 20_000, 6, 11)
    checked = 0
    for seed in range(40):
        rng = random.Random(seed)
        patterns = rng.sample(LOOPING, rng.randint(2, 5))
        rules, productions = random_productions(rng, len(patterns))
        if lexer != "none" and seed % 2:
            patterns[rng.randrange(len(patterns))] = rng.choice(LOOPING_GUARDED)
        ignored = [rng.randrange(len(patterns))] if lexer != "none" and rng.random() < 0.5 else []
        try:
            constraint = build(patterns, rules, productions, ignored, lexer)
        except tokamata.ConstraintError:
            continue
        if constraint.is_empty():
            continue
        automaton = tokamata.compile(constraint, vocabulary)
        state = automaton.start()
        for _ in range(8):
            choices = mask_walk.agreed(automaton, state, seed, lexer, ignored, patterns, productions)
            checked += 1
            if not choices:
                break
            state.advance(rng.choice(choices))
    assert checked > 100


def test_masks_where_a_longer_lexeme_is_pending_beside_a_loop() -> None:
    # After "a-" the lexemes are A and B as long as there is no b: else they were a C, which cannot come here.
    vocabulary = _vocabulary("aaabb-!z", 8_000, 6, 5)
    constraint = tokamata.grammar('start: "!" C | A B "!"\nA: "a"\nB: /-[a-z]*/\nC: /a-[a-z]*b/')
    state = tokamata.compile(constraint, vocabulary).start()
    text = b""
    for more in (b"a", b"-", b"z", b"a"):
        for token in more:
            state.advance(next(i for i in range(256) if vocabulary.token_bytes(i) == bytes([token])))
        text += more
        assert _ids(state.mask()) == _expected(constraint, vocabulary, text), text


def test_masks_along_a_program_with_many_tokens_below_a_node() -> None:
    vocabulary = _vocabulary('ad_ =(+")\n#,:1.e', 20_000, 6, 3)
    constraint = tokamata.grammar(STATEMENTS)
    automaton = tokamata.compile(constraint, vocabulary)
    program = b'a=d+(a+d(a,"x # y"))*1.5e1 # done\n\ndef a(d,_a):if d:return """a"d\n"""+""\n'
    assert constraint.accepts(program)
    state = automaton.start()
    for i in range(len(program) + 1):
        if i % 3 == 0 or i in (4, len(program)):
            assert _ids(state.mask()) == _expected(constraint, vocabulary, program[:i]), program[:i]
        if i < len(program):
            state.advance(program[i])


def test_masks_deep_in_a_stack_do_not_depend_on_what_is_far_below() -> None:
    source = 'start: "(" start ")" | "[" start "]" | "x"\n%ignore " "'
    vocabulary = _vocabulary("()[]x ", 3000, 8, 5)
    constraint = tokamata.grammar(source)
    automaton = tokamata.compile(constraint, vocabulary)
    for opening in ("(" * 40, "([" * 20, "[" * 3 + "(" * 37):
        state = automaton.start()
        for c in opening + "x":
            state.advance(ord(c))
        closing = "".join({"(": ")", "[": "]"}[c] for c in reversed(opening))
        for n in range(0, 40, 13):
            assert _ids(state.mask()) == _expected(constraint, vocabulary, (opening + "x" + closing[:n]).encode())
            for c in closing[n : n + 13]:
                state.advance(ord(c))


def test_masks_that_only_the_whole_stack_decides() -> None:
    # Right inside "[" no A may come: "a]" would have to follow, and its a belongs to A.
    constraint = tokamata.grammar('start: "(" start ")" | "[" start "a]" | A\nA: /a+/')
    vocabulary = _vocabulary("()[]a", 3000, 8, 6)
    automaton = tokamata.compile(constraint, vocabulary)
    for text in (b"", b"[", b"(", b"[(", b"[((((", b"[([[(", b"[(a", b"[((a)", b"[((a))a", b"[[((a))a"):
        state = automaton.start()
        for byte in text:
            state.advance(byte)
        assert _ids(state.mask()) == _expected(constraint, vocabulary, text), text
    assert not constraint.accepts_prefix("[a")
    assert not constraint.accepts_prefix("([a")
    assert constraint.accepts("[(a)a]")


def test_states_go_over_when_the_limits_are_reached() -> None:
    limits = tokamata.Limits(expression_nodes=3000, states=400)
    constraint = tokamata.grammar('start: "(" start ")" start | "[" start "]" | "x"\n%ignore " "', limits=limits)
    vocabulary = _vocabulary("()[]x ", 300, 4, 5)
    automaton = tokamata.compile(constraint, vocabulary)
    rng = random.Random(1)
    for _ in range(5):
        state, depth, text = automaton.start(), [], ""
        for _ in range(400):
            options = [
                o for o in "([x" + (depth[-1] if depth else "") if o != "x" or constraint.accepts_prefix(text + "x")
            ]
            c = next((o for o in rng.sample(options, len(options)) if state.allows(ord(o))), None)
            if c is None:
                break
            state.advance(ord(c))
            text += c
            if c in "([":
                depth.append({"(": ")", "[": "]"}[c])
            elif c != "x":
                depth.pop()
        assert constraint.accepts_prefix(text)
        assert _ids(state.mask()) == _expected(constraint, vocabulary, text.encode())


def test_grammar_inside_other_constraints() -> None:
    vocabulary = _vocabulary("ab() +", 2000, 6, 9)
    expression = tokamata.grammar('start: start "+" start | "(" start ")" | NAME\nNAME: /[ab]+/\n%ignore " "')
    for constraint, texts in (
        (tokamata.literal("a: ") + expression, [b"", b"a: ", b"a: (a", b"a: (a+b) "]),
        (expression | tokamata.regex("b+[(]x"), [b"", b"b", b"bb("]),
        (expression & tokamata.regex("[ab()+]{1,6}"), [b"", b"(", b"((", b"(a+b"]),
    ):
        automaton = tokamata.compile(constraint, vocabulary)
        for text in texts:
            state = automaton.start()
            for byte in text:
                state.advance(byte)
            assert _ids(state.mask()) == _expected(constraint, vocabulary, text), text


def test_masks_agree_with_the_walk_on_short_texts() -> None:
    vocabulary = _vocabulary("ab ", 500, 5, 2)
    constraint = tokamata.grammar('start: "a" start "b" | "ab"\n%ignore " "')
    automaton = tokamata.compile(constraint, vocabulary)
    for text in ("".join(t) for n in range(5) for t in itertools.product("ab ", repeat=n)):
        if not constraint.accepts_prefix(text):
            continue
        state = automaton.start()
        for c in text:
            state.advance(ord(c))
        assert _ids(state.mask()) == _expected(constraint, vocabulary, text.encode()), text


@pytest.mark.parametrize(
    "source", ['start: "(" start ")" | "x"\n%ignore " "', 'start: A "ab" | "b" start "c" |\nA: /a+/\n%ignore " "']
)
def test_budgets_of_grammars_are_exact(source: str) -> None:
    constraint = tokamata.grammar(source)
    vocabulary = _vocabulary("()xabc ", 40, 3, 4)
    automaton = tokamata.compile(constraint, vocabulary)
    spelled = [(i, t) for i in range(len(vocabulary)) if (t := vocabulary.token_bytes(i)) and set(t) <= set(b"()xabc ")]
    known: dict[tuple[bytes, int], bool] = {}

    def fits(text: bytes, left: int) -> bool:
        """Whether the text can be completed by at most so many text tokens."""
        if (text, left) not in known:
            known[text, left] = constraint.accepts(text) or (
                left > 0 and constraint.accepts_prefix(text) and any(fits(text + t, left - 1) for _, t in spelled)
            )
        return known[text, left]

    least = next(n for n in range(9) if fits(b"", n)) + 1
    if least > 1:
        with pytest.raises(tokamata.BudgetError, match=f"takes {least} of this vocabulary's tokens"):
            automaton.start(max_tokens=least - 1)
    for budget in range(least, 5):
        stack = [(automaton.start(max_tokens=budget), b"")]
        while stack:
            state, text = stack.pop()
            left = state.tokens_left
            expected = {i for i, t in spelled if left >= 2 and fits(text + t, left - 2)}
            if constraint.accepts(text) and left >= 1:
                expected |= set(vocabulary.eos_token_ids)
            assert _ids(state.mask()) == expected, (text, left)
            for i in sorted(expected - set(vocabulary.eos_token_ids))[::5]:
                deeper = state.copy()
                deeper.advance(i)
                stack.append((deeper, text + vocabulary.token_bytes(i)))


@pytest.mark.parametrize("limits", [tokamata.Limits(seconds=0.03), tokamata.Limits(expression_nodes=600)])
def test_limits_that_masks_and_steps_reach_name_the_rules(limits: tokamata.Limits) -> None:
    """Counters of 40 rules that call each other count side by side."""
    rules = [f'r{i} ::= [a-z]{{{i + 1},{i + 60}}} r{(i + 1) % 40}? "{i}"' for i in range(40)]
    text = "root ::= " + " | ".join(f'r{i} "x"' for i in range(40)) + "\n" + "\n".join(rules)
    vocabulary = _vocabulary("abcx12", 300, 6, 1)
    state = tokamata.compile(tokamata.grammar(text, "gbnf", limits=limits), vocabulary).start()
    with pytest.raises(
        tokamata.LimitError, match=r"(mask|decode|grammar): .* was reached at the rules (root, )?r0, r\d+"
    ):
        for letter in "abc" * 400:
            state.mask()
            state.advance(ord(letter))


def test_ambiguous_nesting_costs_the_same_at_any_depth() -> None:
    tokens = [*(bytes([b]) for b in range(256)), *(b")" * n for n in range(2, 33)), None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1])
    state = tokamata.compile(tokamata.grammar(grammars.text("python")), vocabulary).start()
    depth = 300
    begin = time.thread_time()
    for byte in b"(" * depth + b"x" + b")" * depth + b"\n":
        assert state.mask()[byte // 32] >> (byte % 32) & 1
        state.advance(byte)
    assert state.is_final
    assert time.thread_time() - begin < 10  # a hundredth of that; where stacks were cut off deep down, minutes
