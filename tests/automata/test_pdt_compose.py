"""Pdt.compose: compose and expand commute; against pynini; intersections decide membership."""

from __future__ import annotations

import random

import pynini
import pytest
from oracle.machines import chain, machine
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.random_pdt import nested, random_pdt, to_pynini, weights
from oracle.relation import assert_same, relation
from tokamata.automata import Fst, FstError, LimitError, Pdt, SymbolTable, arcsort, compose, properties


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_expansion_commutes_with_composition(semiring, side):
    compared = 0
    for seed in range(300):
        rng = random.Random(seed)
        pdt = random_pdt(rng, semiring, epsilon_cycles=False)
        fst = random_fst(rng, semiring, states=4, arcs=9, labels=2, epsilon_cycles=False)
        truncation = {} if pdt.depth() is not None else {"max_depth": 2, "truncate": True}
        got = pdt.compose(fst, side=side).expand(**truncation)
        whole = pdt.expand(**truncation)
        right = side == "right"
        want = compose(arcsort(whole, "output"), fst) if right else compose(fst, arcsort(whole, "input"))
        words = weights(want, 3)
        if words is None:
            continue
        assert_same(weights(got, 3), words, f"{semiring} {side} seed {seed}", 1e-3)
        compared += len(words) > 1
    assert compared > 60


@pytest.mark.parametrize("left_pdt", [True, False])
def test_random_machines_against_pynini(left_pdt):
    compared = 0
    for seed in range(300):
        rng = random.Random(seed)
        pdt = random_pdt(rng, acyclic=True)
        fst = random_fst(rng, states=4, arcs=9, labels=2)
        got = pdt.compose(fst, side="right" if left_pdt else "left")
        machine, parens = to_pynini(pdt)
        other = pynini.Fst.read_from_string(to_openfst(fst).write_to_string())
        other.arcsort("ilabel" if left_pdt else "olabel")
        operands = (machine, other) if left_pdt else (other, machine)
        theirs = pynini.pdt_compose(*operands, parens, left_pdt=left_pdt)
        words = relation(from_openfst(pynini.pdt_expand(theirs, parens)), 4)
        note = f"seed {seed}"
        assert_same(relation(got.expand(), 4), words, note)
        # pynini expands what was composed here.
        assert_same(relation(from_openfst(pynini.pdt_expand(*got.to_pynini())), 4), words, note)
        compared += len(words) > 1
    assert compared > 60


def test_intersection():
    for n in range(1, 5):
        both = nested().compose(chain([1] * n + [2] * n, weight=0.5))
        assert both.depth() == n - 1
        assert relation(both.expand(), 10) == {(((1,) * n + (2,) * n),) * 2: n}
        assert nested().compose(chain([1] * n + [2] * n + [2])).is_empty()
    shortened = machine([(0, 1, 0, None, 0), (0, 2, 3, None, 0)], [0])
    out = nested().compose(shortened).expand(max_depth=2, truncate=True)
    assert {pair[1] for pair in relation(out, 9)} == {(3,) * n for n in (1, 2, 3)}


def test_result_properties():
    pdt = nested().compose(machine([(0, x, x, None, 0) for x in (2, 1)], [0]))
    assert pdt.parens == ((100, 200),)
    assert properties(pdt.fst).accessible
    assert properties(pdt.fst).coaccessible
    loose = nested().compose(chain([2]), connect=False)
    assert loose.fst.num_states() > 0
    assert nested().compose(chain([2])).fst.num_states() == 0


def test_symbols():
    letters = SymbolTable("letters")
    for key, name in enumerate(["<eps>", "a", "b"]):
        letters.add(name, key)
    rule = machine([(0, 1, 1, None, 1), (1, 9, 9, None, 2), (1, 0, 0, None, 2), (2, 2, 2, None, 3)], [3])
    rule.input_symbols = rule.output_symbols = letters
    pdt = Pdt.from_rules(9, [(9, rule)])
    string = chain([1, 1, 2, 2])
    string.input_symbols = string.output_symbols = letters
    for side in ("left", "right"):
        both = pdt.compose(string, side=side)
        assert relation(both.expand(), 4) == {((1, 1, 2, 2),) * 2: 0}
        assert both.fst.to_text().count("(_0") == 2
        assert both.fst.input_symbols.find(")_0") == both.fst.output_symbols.find(")_0") == pdt.parens[0][1]
    string.input_symbols = SymbolTable("others")
    string.input_symbols = other = SymbolTable("others")
    other.add("c", 1)
    string.input_symbols = other
    with pytest.raises(FstError, match=r"Pdt.compose: the output side of the first .* same symbol table"):
        pdt.compose(string)


def test_refused_operands():
    with pytest.raises(FstError, match=r"Pdt.compose: expected no parentheses in the Fst, got label 200 at state 0"):
        nested().compose(chain([200]))
    with pytest.raises(FstError, match=r"Pdt.compose: expected no parentheses in the Fst, got label 100 at state 0"):
        nested().compose(machine([(0, 1, 100, None, 0)], [0]), side="left")
    with pytest.raises(FstError, match=r"Pdt.compose: .*semiring"):
        nested().compose(Fst("log"))
    with pytest.raises(FstError, match=r"Pdt.compose: side must be"):
        nested().compose(Fst(), side="both")
    with pytest.raises(TypeError, match=r"Pdt.compose: expected a tokamata.automata.Fst, got .*Pdt"):
        nested().compose(nested())
    wide = machine([(s, x, x, None, (s + x) % 50) for s in range(50) for x in (1, 2)], [0])
    with pytest.raises(LimitError, match=r"Pdt.compose: reached max_states \(21/20\)"):
        nested().compose(wide, max_states=20)
    with pytest.raises(LimitError, match=r"Pdt.compose: reached max_arcs"):
        nested().compose(wide, max_arcs=20)
    assert nested().compose(Fst()).is_empty()
