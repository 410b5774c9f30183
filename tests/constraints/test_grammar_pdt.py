"""grammar_pdt: the same texts as the grammar's constraint, by another way; random grammars against spans."""

from __future__ import annotations

import itertools
import random

import pytest
from oracle.context_free import derives, gbnf, random_grammar
from oracle.openfst import from_openfst
from oracle.relation import relation
from tokamata.automata import ConstraintError, LimitError, UnsupportedError, properties
from tokamata.constraints.grammar_pdt import grammar_pdt

import tokamata


def words(letters: str, length: int) -> list[str]:
    return ["".join(w) for n in range(length + 1) for w in itertools.product(letters, repeat=n)]


def test_random_grammars_against_spans_and_the_constraint():
    accepted = empty = 0
    for seed in range(300):
        grammar = random_grammar(random.Random(seed))
        note = f"seed {seed}: {grammar}"
        pdt = grammar_pdt(gbnf(grammar))
        try:
            constraint = tokamata.grammar(gbnf(grammar), syntax="gbnf")
        except ConstraintError:
            assert pdt.is_empty(), note
            empty += 1
            continue
        for word in words("ab", 4):
            want = derives(grammar, "S", word)
            assert pdt.accepts(word.encode()) == want, f"{note}: {word}"
            assert constraint.accepts(word) == want, f"{note}: {word}"
            accepted += want
    assert accepted > 1000
    assert 0 < empty < 60


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("gbnf", 'root ::= "[" (root ("," root)*)? "]" | [0-1]+'),
        ("ebnf", "list ::= '[' (list (',' list)*)? ']' | [0-1]+"),
        ("lark", 'start: "[" [start ("," start)*] "]" | /[0-1]+/'),
    ],
)
def test_notations(syntax, text):
    pdt = grammar_pdt(text, syntax)
    constraint = tokamata.grammar(text, syntax=syntax, lexer="none")
    assert properties(pdt.fst).i_deterministic
    assert pdt.depth() is None
    accepted = 0
    for word in words("[],0", 6):
        want = constraint.accepts(word)
        assert pdt.accepts(word.encode()) == want, word
        accepted += want
    assert accepted > 10


def test_regular_grammars_expand_to_the_constraint():
    pdt = grammar_pdt('root ::= item ("," item)*\nitem ::= "x" [0-9] | "y"')
    assert pdt.depth() == 2  # the rule of the repetition, and item
    expanded = tokamata.from_fst(pdt.expand())
    assert expanded.equivalent(tokamata.regex(r"(x[0-9]|y)(,(x[0-9]|y))*"))
    import pynini

    theirs = from_openfst(pynini.pdt_expand(*pdt.to_pynini()))
    assert relation(theirs, 3) == relation(pdt.expand(), 3)


def test_rules_without_text_are_left_out():
    pdt = grammar_pdt('root ::= "x" b | "y"\nb ::= "x" b')
    assert (pdt.fst.num_states(), pdt.fst.num_arcs(), pdt.parens) == (2, 1, ())
    assert grammar_pdt('root ::= "x" root').is_empty()


def test_terminals_by_name_and_bytes():
    date = tokamata.regex(r"\d\d-\d\d")
    pdt = grammar_pdt('start: "(" start ")" | DATE\n', "lark", constraints={"DATE": date})
    assert pdt.accepts(b"((12-24))")
    assert not pdt.accepts(b"((12-24)")
    assert not pdt.accepts(b"(1-24)")
    assert grammar_pdt(r'root ::= "\x00" root | "é"').accepts([256, 256, *"é".encode()])


def test_what_needs_a_lexer_is_refused():
    with pytest.raises(UnsupportedError, match=r'grammar_pdt: line 2.*the ignored terminal " " needs a lexer'):
        grammar_pdt('start: "a" start | "b"\n%ignore " "', "lark")
    with pytest.raises(LimitError, match=r"no max_depth is great enough"):
        grammar_pdt('root ::= "a" root "b" | ""').expand()
