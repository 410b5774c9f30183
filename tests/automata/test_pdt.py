"""Pdt: what it refuses, its questions, files, pynini's objects and pictures."""

from __future__ import annotations

import copy
import itertools
import pickle
import random

import pynini
import pytest
from oracle.machines import chain, machine
from oracle.openfst import from_openfst
from oracle.programs import program
from oracle.random_pdt import PARENS, expanded, nested, random_pdt
from oracle.relation import relation
from tokamata.automata import Fst, FstError, LimitError, MissingFileError, Pdt, SymbolTable, connect, project
from tokamata.automata.pdt import read_parens, write_parens


def test_refused_parentheses():
    fst = nested().fst
    with pytest.raises(FstError, match=r"Pdt: a parenthesis must not be label 0 .*number the labels from 1"):
        Pdt(fst, [(0, 200)])
    with pytest.raises(FstError, match=r"Pdt: a parenthesis must be 0..2147483647 .* got -5"):
        Pdt(fst, [(-5, 200)])
    with pytest.raises(FstError, match=r"Pdt: expected each parenthesis in one pair only, got label 100 twice"):
        Pdt(fst, [(100, 200), (101, 100)])
    with pytest.raises(FstError, match=r"Pdt: expected each parenthesis in one pair only, got label 7 twice"):
        Pdt(fst, [(7, 7)])
    with pytest.raises(FstError, match=r"Pdt: expected a parenthesis on both sides .*, got 3:9 at state 0"):
        Pdt(machine([(0, 3, 9, None, 0)], [0]), [(8, 9)])
    with pytest.raises(TypeError, match=r"Pdt: expected a tokamata.automata.Fst, got builtins.str"):
        Pdt("a", [])


def test_parts_and_copies():
    pdt = nested()
    assert repr(pdt) == "<Pdt tropical: 4 states, 5 arcs, 1 pairs of parentheses>"
    assert pdt.parens == ((100, 200),)
    assert pdt.semiring == "tropical"
    for other in (pdt.copy(), copy.copy(pdt), copy.deepcopy(pdt), pickle.loads(pickle.dumps(pdt))):
        assert other.parens == pdt.parens
        assert other.fst.to_text() == pdt.fst.to_text()
        other.fst.delete_arcs(0)
        assert other.is_empty()
        assert not pdt.is_empty()


def test_depth_and_emptiness_against_brute_force():
    depths = set()
    for seed in range(600):
        pdt = random_pdt(random.Random(seed), "boolean")
        whole = expanded(pdt, keep=True)
        if whole is None:
            continue
        opens = [pair[0] for pair in pdt.parens]
        closes = [pair[1] for pair in pdt.parens]
        deepest = -1
        trim = connect(whole)
        # The stack is a function of the state: its height follows from any path.
        height = {trim.start(): 0} if trim.start() >= 0 else {}
        pending = list(height)
        for s in pending:
            deepest = max(deepest, height[s])
            for arc in trim.arcs(s):
                if arc.nextstate not in height:
                    height[arc.nextstate] = height[s] + (arc.ilabel in opens) - (arc.ilabel in closes)
                    pending.append(arc.nextstate)
        assert pdt.is_empty() == (deepest < 0), f"seed {seed}"
        assert pdt.depth() == max(0, deepest), f"seed {seed}"
        assert pdt.is_bounded(), f"seed {seed}"
        depths.add(deepest)
    assert {-1, 0, 1, 2} <= depths
    assert nested().depth() is None
    assert not nested().is_bounded()
    assert Pdt(Fst(), []).is_empty()


def test_accepts_against_brute_force():
    accepted = 0
    for seed in range(150):
        pdt = random_pdt(random.Random(seed), "boolean", labels=2)
        exact = pdt.depth() is not None
        whole = pdt.expand() if exact else pdt.expand(max_depth=2, truncate=True)
        for side in ("input", "output"):
            words = {word for word, _ in relation(project(whole, side), 3)}
            for word in itertools.chain.from_iterable(itertools.product((1, 2), repeat=n) for n in range(4)):
                got = pdt.accepts(word, side=side)
                # Where stacks were cut, deeper ones could write the same.
                assert got == (word in words) or (got and not exact), f"seed {seed} {side} {word}"
                accepted += got and len(word) > 1
    assert accepted > 100
    for n, m in itertools.product(range(6), repeat=2):
        assert nested().accepts([1] * n + [2] * m) == (n == m > 0)
        assert nested("log").accepts([1] * n + [2] * m) == (n == m > 0)
    assert nested().accepts(b"\x01\x01\x02\x02")
    n = 3000
    assert nested().accepts([1] * n + [2] * n)
    with pytest.raises(FstError, match=r"Pdt.accepts: expected labels other than 0 and the parentheses, got 200"):
        nested().accepts([200])
    with pytest.raises(FstError, match=r"Pdt.accepts: side must be .*, got 'both'"):
        nested().accepts([1], side="both")


def test_parentheses_files(tmp_path):
    path = tmp_path / "parens.txt"
    pairs = pynini.PdtParentheses()
    for opening, closing in ((5, 9), (1000, 3)):
        pairs.add_pair(opening, closing)
    pairs.write(str(path))
    assert read_parens(path) == ((5, 9), (1000, 3))
    theirs = path.read_bytes()
    write_parens(read_parens(path), path)
    assert path.read_bytes() == theirs
    assert list(pynini.PdtParentheses.read(str(path))) == [(5, 9), (1000, 3)]
    path.write_text("\n")
    with pytest.raises(FstError, match=r'read_parens: line 1: expected "open close", two label numbers, got \'\''):
        read_parens(path)
    path.write_bytes(b"1 2\n3 x\xff\n")
    with pytest.raises(FstError, match=r"read_parens: line 2: .*xff"):
        read_parens(path)
    with pytest.raises(MissingFileError, match=r"read_parens: there is no file .*nothing"):
        read_parens(tmp_path / "nothing")


def test_machines_in_files_and_in_pynini(tmp_path):
    for seed in range(30):
        pdt = random_pdt(random.Random(seed), acyclic=True)
        pdt.write(tmp_path / "pdt.fst", tmp_path / "pdt.txt")
        fst = pynini.Fst.read(str(tmp_path / "pdt.fst"))
        parens = pynini.PdtParentheses.read(str(tmp_path / "pdt.txt"))
        words = relation(pdt.expand(), 4)
        assert relation(from_openfst(pynini.pdt_expand(fst, parens)), 4) == words
        assert relation(from_openfst(pynini.pdt_expand(*pdt.to_pynini())), 4) == words
        for back in (
            Pdt.read(tmp_path / "pdt.fst", tmp_path / "pdt.txt"),
            Pdt.from_pynini(fst, parens),
            Pdt.from_pynini(*pdt.to_pynini()),
        ):
            assert back.parens == pdt.parens
            assert back.fst.to_text() == pdt.fst.to_text()
    with pytest.raises(TypeError, match=r"Pdt.from_pynini: expected a pynini or pywrapfst Fst, got Fst"):
        Pdt.from_pynini(Fst(), [])


def test_limits_of_the_search():
    rng = random.Random(0)
    n = 60
    arcs = [(rng.randrange(n), 1, 1, None, rng.randrange(n)) for _ in range(3 * n)]
    arcs += [(rng.randrange(n), rng.choice((100, 200)), 0, None, rng.randrange(n)) for _ in range(n)]
    unfinished = Pdt(machine([(a, x, x, w, b) for a, x, _, w, b in arcs], []), PARENS[:1])
    dense = Pdt(machine([(a, x, x, w, b) for a, x, _, w, b in arcs], [1]), PARENS[:1])
    with pytest.raises(LimitError, match=r"Pdt.depth: reached max_states \(101/100\): .*pairs of states"):
        dense.depth(max_states=100)
    with pytest.raises(LimitError, match=r"Pdt.is_empty: reached max_arcs \(3/2\)"):
        unfinished.is_empty(max_arcs=2)
    assert dense.depth() is None


def test_pictures(tmp_path):
    pdt = nested()
    dot = pdt.draw()
    assert '"(0"' in dot
    assert '")0"' in dot
    assert "100" not in dot
    assert '"100"' in pdt.draw(labels="numbers")
    assert pdt.draw(labels="bytes").count("(0") == 1
    names = SymbolTable("names")
    names.add("push", 100)
    pdt.fst.input_symbols = names
    assert '"push"' in pdt.draw()
    assert '")0"' in pdt.draw()
    assert pdt.draw(tmp_path / "pdt.dot") == (tmp_path / "pdt.dot").read_text(encoding="utf-8")
    with pytest.raises(LimitError, match=r"limit max_states 3 reached"):
        pdt.render(max_states=3)
    assert chain([1]).draw().count("(0") == 0
    program("dot")
    assert b"<svg" in pdt.render()
    assert pdt._repr_svg_().startswith("<?xml")
