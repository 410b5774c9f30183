"""AT&T text: fstprint's output, fstcompile's input, errors by line."""

from __future__ import annotations

import random
import subprocess

import pytest
import pywrapfst
from oracle.openfst import from_openfst, to_openfst
from oracle.programs import program
from oracle.random_fst import SEMIRINGS, random_fst
from tokamata.automata import Fst, FstError, SymbolTable


def compiled(text: str, **options) -> pywrapfst.Fst:
    compiler = pywrapfst.Compiler(**options)
    compiler.write(text)
    return compiler.compile()


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(40))
def test_as_openfst_prints_and_compiles(semiring, seed):
    fst = random_fst(random.Random(seed), semiring, states=8, arcs=20)
    theirs = to_openfst(fst)
    text = fst.to_text()
    assert text == theirs.print()
    assert fst.to_text(show_weight_one=True) == theirs.print(show_weight_one=True)
    again = Fst.from_text(text, semiring=semiring)
    other = compiled(text, arc_type="log" if semiring == "log" else "standard")
    assert again.to_bytes() == from_openfst(other, semiring).to_bytes(), f"seed {seed}"


@pytest.mark.parametrize("seed", range(10))
def test_acceptors(seed):
    fst = random_fst(random.Random(seed), acceptor=True)
    text = fst.to_text(acceptor=True)
    assert text == to_openfst(fst).print(acceptor=True)
    again = Fst.from_text(text, acceptor=True)
    assert again.to_bytes() == from_openfst(compiled(text, acceptor=True)).to_bytes()


def letters() -> SymbolTable:
    table = SymbolTable("letters")
    for name in ("<eps>", "a", "é"):
        table.add(name)
    return table


def test_symbols():
    fst = Fst.from_text("0 1 a <eps> 0.5\n1 0 é a\n\n1 2.25\n", input_symbols=letters(), output_symbols=letters())
    assert fst.to_text() == "0\t1\ta\t<eps>\t0.5\n1\t0\té\ta\n1\t2.25\n"
    assert fst.to_text(numeric=True) == "0\t1\t1\t0\t0.5\n1\t0\t2\t1\n1\t2.25\n"
    acceptor = Fst.from_text("0 1 a\n1\n", acceptor=True, input_symbols=letters())
    assert acceptor.output_symbols.find("a") == 1
    assert acceptor.to_text(acceptor=True) == "0\t1\ta\n1\n"


def test_states_are_numbered_as_they_occur():
    fst = Fst.from_text("70\t2147483647\t1\t2\r\n9 70 0 0 Infinity\n2147483647\n")
    assert (fst.num_states(), fst.start()) == (3, 0)
    assert fst.is_final(1)
    assert Fst.from_text("").num_states() == 0


def test_fstcompile_and_fstprint(tmp_path):
    program("fstcompile")
    fst = random_fst(random.Random(4), states=9, arcs=30)
    fst.set_final(0, 1 / 3)  # fstprint prints all nine digits, pywrapfst six
    path = tmp_path / "a.fst"
    subprocess.run(["fstcompile", "-", str(path)], input=fst.to_text().encode(), check=True)
    printed = subprocess.run(["fstprint", str(path)], check=True, capture_output=True, text=True).stdout
    assert printed == Fst.from_text(fst.to_text()).to_text()
    assert Fst.read(path).to_bytes() == Fst.from_text(fst.to_text()).to_bytes()


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("0 1 1 1\n0 x 1 1\n", {}, r'line 2: expected a state \(0\.\.2147483647\), got "x"'),
        ("0 2147483648 1 1\n", {}, r'line 1: expected a state .*, got "2147483648"'),
        ("0 1 a a\n", {}, r'expected a label .*, got "a"; pass the table of names as input_symbols'),
        ("0 1 1 -1\n", {}, r'expected a label .*, got "-1"'),
        ("0 1 1\n", {}, r"got 3 fields; for one label column pass acceptor=True"),
        ("0 1 1 1 1 1\n", {}, r"expected source target ilabel olabel \[weight\] or state \[weight\], got 6 fields"),
        ("0 1 1 1 1\n", {"acceptor": True}, r"expected source target label \[weight\] .* got 5 fields"),
        ("0 1 1 1 heavy\n", {}, r'expected a weight of the tropical semiring .*, got "heavy"'),
        ("0 nan\n", {}, r'expected a weight .*, got "nan"'),
        ("0 -inf\n", {}, r'expected a weight .*, got "-inf"'),
        ("0 0.5\n", {"semiring": "boolean"}, r"boolean semiring \(0 for one or Infinity for zero\), got \"0.5\""),
        ("0 1 b b\n", {"input_symbols": letters()}, r'the input symbol table has no symbol "b"'),
        (b"0 1 \xff 1\n", {}, r'got "\\xff"'),
    ],
)
def test_refused(text, options, error):
    with pytest.raises(FstError, match=error):
        Fst.from_text(text, **options)


def test_text_cannot_hold():
    fst = Fst.from_text("0 1 1 2\n1\n")
    with pytest.raises(FstError, match=r"acceptor=True expects equal labels, got 1:2 at state 0; project first"):
        fst.to_text(acceptor=True)
    table = letters()
    fst.input_symbols = table
    fst.output_symbols = SymbolTable()
    with pytest.raises(FstError, match=r"label 2 has no name in the output symbol table; add it, or pass numeric=True"):
        fst.to_text()
    blank = SymbolTable()
    blank.add("a b", 2)
    fst.output_symbols = blank
    with pytest.raises(FstError, match=r"the name of label 2 in the output symbol table is empty or has blanks"):
        fst.to_text()
