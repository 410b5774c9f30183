"""Fst and Arc: building, reading, and refusing what is out of range."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from tokamata.automata import Arc, Fst, FstError, LimitError, SymbolTable


def two_states(semiring="tropical") -> Fst:
    fst = Fst(semiring)
    fst.add_states(2)
    fst.set_start(0)
    fst.set_final(1)
    fst.add_arc(0, 1, 2, None, 1)
    return fst


@pytest.mark.parametrize(
    ("semiring", "zero", "one"), [("tropical", math.inf, 0), ("log", math.inf, 0), ("boolean", 0, 1)]
)
def test_build_and_read(semiring, zero, one):
    fst = two_states(semiring)
    fst.add_arc(1, Arc(3, 0, one, np.int64(0)))
    assert fst.semiring == semiring
    assert (fst.start(), fst.num_states(), fst.num_arcs(), fst.num_arcs(1)) == (0, 2, 2, 1)
    assert (fst.final(0), fst.final(1)) == (zero, one)
    assert (fst.is_final(0), fst.is_final(1)) == (False, True)
    assert list(fst.arcs(0)) == [Arc(1, 2, one, 1)]
    assert list(fst.arcs(1)) == [Arc(3, 0, one, 0)]
    assert Fst(semiring).start() == -1
    fst.set_final(1, zero)
    assert not fst.is_final(1)


def test_arcs_keep_order_while_states_grow_by_turns():
    fst = Fst()
    fst.add_states(7)
    for i in range(1000):
        fst.add_arc(i % 7, i, i, i, (i * 5) % 7)
    for s in fst.states():
        assert [a.ilabel for a in fst.arcs(s)] == list(range(s, 1000, 7))
    fst.delete_arcs(3)
    assert fst.num_arcs(3) == 0
    assert fst.num_arcs() == 1000 - len(range(3, 1000, 7))


def test_copies_are_independent():
    fst = two_states()
    for other in (fst.copy(), copy.copy(fst), copy.deepcopy(fst)):
        other.add_arc(1, 1, 1, None, 0)
        other.set_final(0, 2)
        assert fst.num_arcs() == 1
        assert not fst.is_final(0)


def test_arcs_are_a_snapshot():
    fst = two_states()
    arcs = fst.arcs(0)
    for _ in range(100):
        fst.add_arc(0, 9, 9, None, 0)
    assert len(list(arcs)) == 1


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda f: f.arcs(2), IndexError, r"Fst\.arcs: state 2 does not exist; expected 0\.\.1"),
        (lambda f: f.final(-1), IndexError, r"Fst\.final: state -1 does not exist"),
        (lambda f: f.set_start(10**30), IndexError, r"Fst\.set_start: state \d+ does not exist"),
        (lambda f: f.set_final(2), IndexError, r"Fst\.set_final: state 2"),
        (lambda f: f.num_arcs(2), IndexError, r"Fst\.num_arcs: state 2"),
        (lambda f: f.delete_arcs(2), IndexError, r"Fst\.delete_arcs: state 2"),
        (lambda f: f.add_arc(2, 1, 1, 0, 1), IndexError, r"Fst\.add_arc: state 2 does not exist; .*add_state"),
        (lambda f: f.add_arc(0, 1, 1, 0, 2), IndexError, r"Fst\.add_arc: nextstate 2 does not exist"),
        (lambda f: f.add_arc(0, -1, 1, 0, 1), FstError, r"ilabel must be 0\.\.2147483647 .* got -1"),
        (lambda f: f.add_arc(0, 1, 2**31, 0, 1), FstError, r"olabel must be 0\.\.2147483647 .* got 2147483648"),
        (lambda f: f.add_arc(0, 1, 1, math.nan, 1), FstError, r"nan is not a weight of the tropical semiring"),
        (lambda f: f.add_arc(0, 1, 1, -math.inf, 1), FstError, r"-inf is not a weight of the tropical semiring"),
        (
            lambda f: f.add_arc(0, 1, 1, 1e39, 1),
            FstError,
            r"1e\+39 is not a weight of the tropical semiring.* fits a 32-bit float",
        ),
        (lambda f: f.set_final(0, math.nan), FstError, r"Fst\.set_final: nan is not a weight"),
        (lambda f: f.add_states(-1), FstError, r"must not be negative, got -1"),
        (lambda f: f.add_states(2**40), LimitError, r"limit states 2147483647 reached"),
        (lambda f: f.add_arc(0, 1), TypeError, r"expected an Arc, or ilabel, olabel, weight and nextstate"),
        (lambda f: f.add_arc(0, Arc(1, 1, 0, 1), 1, 0, 1), TypeError, r"got an Arc and parts of an arc"),
        (lambda f: Fst("tropic"), FstError, r'unknown semiring "tropic"; expected "tropical", "log" or "boolean"'),
        (lambda f: Fst().add_arc(0, 1, 1, 0, 0), IndexError, r"the Fst has no states; call add_state\(\) first"),
        (lambda f: two_states("boolean").set_final(0, 0.5), FstError, r"boolean semiring; expected 0 or 1"),
    ],
)
def test_refused(call, error, text):
    fst = two_states()
    with pytest.raises(error, match=text):
        call(fst)
    assert (fst.num_states(), fst.num_arcs(), fst.start()) == (2, 1, 0)


def test_symbol_table():
    table = SymbolTable("letters")
    assert [table.add(s) for s in ("<eps>", "a", "b", "a")] == [0, 1, 2, 1]
    assert table.add(b"\xff", 700) == 700
    assert table.available_key() == 701
    assert (table.find("b"), table.find("c"), table.symbol(2), table.symbol(3)) == (2, None, "b", None)
    assert table.symbol_bytes(700) == b"\xff"
    assert table.find(table.symbol(700)) == 700
    assert ("a" in table, 700 in table, 5 in table, "z" in table) == (True, True, False, False)
    assert list(table)[:2] == [(0, "<eps>"), (1, "a")]
    assert len(table) == 4
    assert table.name == "letters"
    with pytest.raises(FstError, match=r'symbol "a" or key 5 already belongs to another entry'):
        table.add("a", 5)
    with pytest.raises(FstError, match=r"must not be negative, got -3"):
        table.add("q", -3)


def test_fst_keeps_the_symbols_it_was_given():
    table = SymbolTable()
    table.add("<eps>")
    fst = two_states()
    assert fst.input_symbols is None
    fst.input_symbols = table
    table.add("late")
    fst.input_symbols.add("also late")
    assert len(fst.input_symbols) == 1
    assert len(table) == 2
    other = fst.copy()
    fst.input_symbols = None
    assert fst.input_symbols is None
    assert len(other.input_symbols) == 1
    assert other.output_symbols is None
