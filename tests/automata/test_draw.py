"""draw: the DOT text, pictures, and what is missing."""

from __future__ import annotations

import sys

import pytest
from oracle.programs import program
from tokamata.automata import Fst, FstError, LimitError, SymbolTable


def letters(text: str) -> Fst:
    """An acceptor of one byte of a set, over bytes."""
    fst = Fst("boolean")
    fst.add_states(2)
    fst.set_start(0)
    fst.set_final(1)
    for byte in text.encode():
        fst.add_arc(0, byte or 256, byte or 256, None, 1)
    return fst


def test_dot_text():
    fst = Fst.from_text("0 1 1 2 0.5\n0 1 3 3\n1 0 0 0\n1 1.5\n")
    assert fst.draw().splitlines() == [
        "digraph fst {",
        "  rankdir = LR;",
        '  label = "";',
        '  node [shape = circle, fontname = "Helvetica"];',
        '  edge [fontname = "Helvetica"];',
        '  0 [label = "0", shape = circle, style = bold];',
        '  1 [label = "1/1.5", shape = doublecircle];',
        '  0 -> 1 [label = "1:2/0.5\\n3"];',
        '  1 -> 0 [label = "ε"];',
        "}",
    ]


def test_labels():
    assert '[label = "a-d x \\\\n"]' not in letters("abcdx\n").draw()
    assert '  0 -> 1 [label = "\\\\n a-d x"];' in letters("abcdx\n").draw(labels="bytes")
    assert '  0 -> 1 [label = "a b"];' in letters("ab").draw(labels="bytes")
    assert '"\\" \\\\"' in letters('"\\').draw(labels="bytes")
    assert '"␣ \\\\x7f \\\\x00"' in letters(" \x7f\x00").draw(labels="bytes")
    table = SymbolTable()
    table.add('say "hi"', 97)
    fst = letters("ab")
    fst.input_symbols = fst.output_symbols = table
    assert '"say \\"hi\\"\\n98"' in fst.draw()
    assert '"97\\n98"' in fst.draw(labels="numbers")
    with pytest.raises(FstError, match=r"unknown labels 'runes'"):
        fst.draw(labels="runes")
    assert 'label = "a \\"title\\""' in fst.draw(title='a "title"')
    assert "rankdir = TB" in fst.draw(vertical=True)


def test_files(tmp_path):
    fst = letters("ab")
    path = tmp_path / "a.dot"
    assert fst.draw(path) == path.read_text(encoding="utf-8") == fst.draw()
    fst.draw(tmp_path / "b.txt", format="dot")
    assert (tmp_path / "b.txt").read_text(encoding="utf-8") == fst.draw()
    with pytest.raises(FstError, match=r"format 'svg' needs a path to write to; Fst\.render returns the bytes"):
        fst.draw(format="svg")


def test_pictures(tmp_path):
    pytest.importorskip("graphviz", reason="the draw extra is not installed")
    program("dot")
    fst = letters('<"&')
    fst.draw(tmp_path / "a.svg", labels="bytes")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()
    fst.draw(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in fst._repr_svg_()
    with pytest.raises(FstError, match=r"unknown format 'painting'"):
        fst.draw(tmp_path / "a.painting")


def test_texts_longer_than_dot_reads(tmp_path):
    pytest.importorskip("graphviz", reason="the draw extra is not installed")
    program("dot")
    fst = letters("a")
    for title in ("a" * 16381, "é" * 8190, ("a" * 16000 + "\\") * 3):
        assert fst.render(title=title).rstrip().endswith(b"</svg>")
    expected = (
        r"Fst\.draw: expected a title and names of at most 16,381 bytes, the most that Graphviz's dot reads, got {} "
        r"bytes without a quote or backslash: '{}{{24}}\.\.\.'; shorten the text, or draw to a \.dot file"
    )
    with pytest.raises(FstError, match=expected.format("16,382", "a")):
        fst.render(title="a" * 16382)
    with pytest.raises(FstError, match=expected.format("16,382", "é")):
        fst.draw(tmp_path / "a.svg", title="é" * 8191)
    assert not (tmp_path / "a.svg").exists()
    assert "é" * 8191 in fst.draw(tmp_path / "a.dot", title="é" * 8191)
    table = SymbolTable()
    table.add("b" * 20000, 97)
    fst.input_symbols = fst.output_symbols = table
    with pytest.raises(FstError, match=expected.format("20,000", "b")):
        fst.render()


def test_size_limit(tmp_path):
    fst = Fst()
    fst.add_states(11)
    with pytest.raises(LimitError, match=r"limit max_states 10 reached: the machine has 11 states"):
        fst.draw(tmp_path / "a.svg", max_states=10)
    assert fst.draw(tmp_path / "a.dot", max_states=10).count("shape = circle") == 12
    fst.add_states(100)
    assert fst._repr_svg_() is None


def test_missing_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match=r"pip install 'tokamata\[draw\]'"):
        letters("a").draw(tmp_path / "a.svg")
    assert letters("a")._repr_svg_() is None


def test_missing_program(tmp_path, monkeypatch):
    pytest.importorskip("graphviz", reason="the draw extra is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FstError, match=r"needs Graphviz's program dot, which was not found; install it"):
        letters("a").draw(tmp_path / "a.svg")
