"""Pdt.from_rules against replace, against pynini.pdt_replace, and on recursive rules."""

from __future__ import annotations

import itertools
import random
import re

import pynini
import pytest
from oracle.machines import chain, machine
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS
from oracle.random_pdt import random_rules
from oracle.relation import assert_same, relation
from tokamata.automata import Fst, FstError, LimitError, Pdt, SymbolTable, replace


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_rules_without_recursion(semiring):
    called = 0
    for seed in range(200):
        rules = random_rules(random.Random(seed), semiring, recursive=False)
        note = f"{semiring} seed {seed}"
        pdt = Pdt.from_rules(10, rules)
        want = relation(replace(rules, call_arc_labeling="neither"), 4)
        assert_same(relation(pdt.expand(), 4), want, note, 1e-3)
        called += len(pdt.parens) > 0 and len(want) > 0
        if all(fst.start() >= 0 for _, fst in rules):
            theirs, parens = pynini.pdt_replace(
                [(label, pynini.Fst.read_from_string(to_openfst(fst).write_to_string())) for label, fst in rules]
            )
            expanded = from_openfst(pynini.pdt_expand(theirs, parens), semiring)
            assert_same(relation(pdt.expand(), 4), relation(expanded, 4), note, 1e-3)
            assert len(pdt.parens) <= len(parens), note
    assert called > 60


def test_recursive_rules_against_pynini():
    recursive = 0
    for seed in range(500):
        rules = random_rules(random.Random(seed), "tropical", recursive=True)
        if any(fst.start() < 0 for _, fst in rules):
            continue
        pdt = Pdt.from_rules(10, rules)
        theirs, parens = pynini.pdt_replace(
            [(label, pynini.Fst.read_from_string(to_openfst(fst).write_to_string())) for label, fst in rules]
        )
        if any(arc.nextstate < 0 for s in theirs.states() for arc in theirs.arcs(s)):
            continue  # some machines that call themselves get arcs to no state from pynini
        other = Pdt.from_pynini(theirs, parens)
        note = f"seed {seed}"
        assert pdt.depth() == other.depth(), note
        truncation = {"max_depth": 3, "truncate": True}
        assert_same(relation(pdt.expand(**truncation), 3), relation(other.expand(**truncation), 3), note)
        recursive += pdt.depth() is None
    assert recursive > 40


def test_expression_grammar():
    # 20: sum = product (+ product)*; 21: product = atom (* atom)*; 22: atom = x | ( sum ).
    plus, times, x, left, right = 1, 2, 3, 4, 5
    rules = [
        (20, machine([(0, 21, 21, None, 1), (1, plus, plus, None, 0)], [1])),
        (21, machine([(0, 22, 22, None, 1), (1, times, times, None, 0)], [1])),
        (
            22,
            machine(
                [(0, x, x, None, 2), (0, left, left, None, 1), (1, 20, 20, None, 3), (3, right, right, None, 2)], [2]
            ),
        ),
    ]
    pdt = Pdt.from_rules(20, rules)
    assert pdt.depth() is None
    # Calls of a rule that return to one state share a pair, and each rule numbers its pairs anew.
    assert pdt.parens == ((23, 24),)
    text = {plus: "+", times: "*", x: "1", left: "(", right: ")"}
    accepted = 0
    for word in itertools.chain.from_iterable(itertools.product(text, repeat=n) for n in range(6)):
        expression = "".join(text[label] for label in word)
        reduced = expression
        while (shorter := re.sub(r"\(1\)|1[+*]1", "1", reduced)) != reduced:
            reduced = shorter
        valid = reduced == "1"
        assert pdt.accepts(word) == valid, expression
        accepted += valid
    assert accepted > 8
    twice = machine([(0, 22, 22, None, 1), (1, 22, 22, None, 2), (0, 21, 21, None, 2)], [2])
    assert Pdt.from_rules(19, [(19, twice), *rules]).parens == ((23, 26), (24, 27), (25, 28))


def test_parenthesis_labels():
    nested = machine([(0, 1, 1, None, 1), (1, 9, 9, None, 2), (1, 0, 0, None, 2), (2, 2, 2, None, 3)], [3])
    assert Pdt.from_rules(9, [(9, nested)]).parens == ((10, 11),)
    caller = Pdt.from_rules(8, [(8, chain([9])), (9, nested)]).fst
    assert [s for s in caller.states() if caller.is_final(s)] == [1]
    assert Pdt.from_rules(9, [(9, nested)], first_paren=1000).parens == ((1000, 1001),)
    letters = SymbolTable()
    letters.add("<eps>", 0)
    letters.add("z", 40)
    nested.input_symbols = nested.output_symbols = letters
    pdt = Pdt.from_rules(9, [(9, nested)], open_prefix="<", close_prefix=">")
    assert pdt.parens == ((41, 42),)
    assert [pdt.fst.input_symbols.symbol(label) for label in (41, 42)] == ["<0", ">0"]
    assert len(letters) == 2
    with pytest.raises(FstError, match=r"symbol|name"):
        Pdt.from_rules(9, [(9, nested)], open_prefix="z", first_paren=40)


def test_rules_that_are_left_out():
    looping = machine([(0, 7, 7, None, 0)], [])
    pdt = Pdt.from_rules(5, [(6, looping), (5, chain([1, 8])), (7, chain([2])), (8, Fst())])
    assert pdt.fst.num_states() == 3
    assert pdt.is_empty()
    assert pdt.parens == ()
    assert Pdt.from_rules(8, [(8, Fst())]).fst.num_states() == 0
    assert Pdt.from_rules(3, [(3, machine([(0, 1, 1, None, 0), (0, 3, 3, None, 0)], [0]))]).accepts([1, 1])


def test_refused_rules():
    with pytest.raises(FstError, match=r"Pdt.from_rules: a rule's label must not be 0"):
        Pdt.from_rules(0, [(0, chain([1]))])
    with pytest.raises(FstError, match=r"Pdt.from_rules: expected one machine for each label, got two for label 3"):
        Pdt.from_rules(3, [(3, chain([1])), (3, chain([2]))])
    with pytest.raises(FstError, match=r"Pdt.from_rules: the root label 4 has no machine"):
        Pdt.from_rules(4, [(3, chain([1]))])
    with pytest.raises(FstError, match=r"Pdt.from_rules: .*semiring"):
        Pdt.from_rules(3, [(3, chain([1])), (4, Fst("log"))])
    with pytest.raises(FstError, match=r"Pdt.from_rules: first_paren must be at least 1, got 0"):
        Pdt.from_rules(3, [(3, chain([1]))], first_paren=0)
    with pytest.raises(
        FstError, match=r"Pdt.from_rules: expected epsilon or the rule's own label .*, got 5:3 in .* 3;"
    ):
        Pdt.from_rules(3, [(3, machine([(0, 5, 3, None, 1)], [1]))])
    with pytest.raises(FstError, match=r"Pdt.from_rules: label 8 of an arc lies among the parentheses 8..9"):
        Pdt.from_rules(3, [(3, machine([(0, 3, 3, None, 1), (0, 8, 8, None, 1)], [1]))], first_paren=8)
    with pytest.raises(FstError, match=r"Pdt.from_rules: the last parenthesis must be 0..2147483647"):
        Pdt.from_rules(3, [(3, machine([(0, 3, 3, None, 1), (0, 1, 1, None, 1)], [1]))], first_paren=(1 << 31) - 1)
    big = machine([(s, 3, 3, None, s + 1) for s in range(100)], range(100))
    with pytest.raises(LimitError, match=r"Pdt.from_rules: reached max_arcs"):
        Pdt.from_rules(3, [(3, big)], max_arcs=1000)
    with pytest.raises(LimitError, match=r"Pdt.from_rules: reached max_states \(51/50\)"):
        Pdt.from_rules(3, [(3, big)], max_states=50)
