"""Pictures of machines: Graphviz's DOT text, and SVG, PNG or PDF through the graphviz package."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from .checks import checked_path
from .errors import FstError, LimitError
from .whole_file import write_whole

if TYPE_CHECKING:
    from .fst import Fst
    from .symbols import SymbolTable

LabelStyle = Literal["symbols", "bytes", "numbers"]
_EPSILON = "ε"
_NUL = 256  # the label of byte 0, as label 0 is epsilon
_DOT_TEXT = 16381  # bytes that dot reads of a text between quotes and backslashes; longer ones are a syntax error


def _byte_name(label: int) -> str:
    byte = 0 if label == _NUL else label
    if byte > 255:
        return str(label)
    if byte == 0x20:
        return "␣"
    if byte in b"\t\n\r":
        return {9: "\\t", 10: "\\n", 13: "\\r"}[byte]
    return chr(byte) if 0x20 < byte < 0x7F else f"\\x{byte:02x}"


def _name(label: int, style: LabelStyle, symbols: SymbolTable | None, aliases: Mapping[int, str]) -> str:
    if style == "symbols" and symbols is not None:
        name = symbols.symbol(label)
        if name is not None:
            return name.encode("utf-8", "backslashreplace").decode()
    if style != "numbers" and label in aliases:
        return aliases[label]
    if label == 0:
        return _EPSILON
    return _byte_name(label) if style == "bytes" else str(label)


def _escape(text: str) -> str:
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown.replace("\\", "\\\\").replace('"', '\\"')


def _ranges(labels: list[int]) -> list[tuple[int, int]]:
    """Sorted labels as inclusive runs; NUL's label counts as 256, behind the other bytes."""
    runs: list[tuple[int, int]] = []
    for label in sorted(set(labels)):
        if runs and label == runs[-1][1] + 1 and label not in (1, _NUL):
            runs[-1] = (runs[-1][0], label)
        else:
            runs.append((label, label))
    return runs


def dot(
    fst: Fst,
    *,
    labels: LabelStyle = "symbols",
    title: str = "",
    vertical: bool = False,
    aliases: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """The DOT text of a machine: left to right, the start state bold, final states with a double circle.

    Arcs between the same two states share an edge. `labels` "symbols" shows names of the symbol tables where there are
    any and numbers elsewhere, "bytes" shows labels as the bytes they stand for (256 is NUL) with runs as ranges.
    `aliases` are shown, but for "numbers", where no symbol table has a name. O(arcs log arcs).
    """
    if labels not in ("symbols", "bytes", "numbers"):
        raise FstError(f'Fst.draw: unknown labels {labels!r}; expected "symbols", "bytes" or "numbers"')
    if not isinstance(title, str):
        raise TypeError(f"Fst.draw: expected title as a str, got {type(title).__name__}; pass a text")
    one = 1.0 if fst.semiring == "boolean" else 0.0
    isymbols, osymbols = fst.input_symbols, fst.output_symbols
    lines = [
        "digraph fst {",
        f"  rankdir = {'TB' if vertical else 'LR'};",
        f'  label = "{_escape(title)}";',
        '  node [shape = circle, fontname = "Helvetica"];',
        '  edge [fontname = "Helvetica"];',
    ]
    for s in fst.states():
        weight = fst.final(s)
        text = str(s) if not fst.is_final(s) or weight == one else f"{s}/{weight:.6g}"
        shape = "doublecircle" if fst.is_final(s) else "circle"
        bold = ", style = bold" if s == fst.start() else ""
        lines.append(f'  {s} [label = "{text}", shape = {shape}{bold}];')
    for s in fst.states():
        edges: dict[int, list[str]] = {}
        plain: dict[tuple[int, float], list[int]] = {}
        for arc in fst.arcs(s):
            if labels == "bytes" and arc.ilabel == arc.olabel and arc.ilabel not in aliases:
                plain.setdefault((arc.nextstate, arc.weight), []).append(arc.ilabel)
                continue
            text = _name(arc.ilabel, labels, isymbols, aliases)
            if arc.ilabel != arc.olabel:
                text += ":" + _name(arc.olabel, labels, osymbols, aliases)
            weight_text = "" if arc.weight == one else f"/{arc.weight:.6g}"
            edges.setdefault(arc.nextstate, []).append(_escape(text) + weight_text)
        for (target, weight), found in plain.items():
            parts = []
            for low, high in _ranges(found):
                names = [_name(x, labels, isymbols, aliases) for x in ((low,) if low == high else (low, high))]
                parts.append(_escape("-".join(names) if high > low + 1 else " ".join(names)))
            text = " ".join(parts) + ("" if weight == one else f"/{weight:.6g}")
            edges.setdefault(target, []).append(text)
        for target, names in edges.items():
            lines.append(_edge(s, target, names))
    lines.append("}")
    return "\n".join(lines) + "\n"


def _edge(source: int, target: int, names: list[str]) -> str:
    return f'  {source} -> {target} [label = "' + "\\n".join(names) + '"];'


def render(text: str, format: str) -> bytes:
    """DOT text as a picture. ImportError or FstError tells what to install where Graphviz is missing."""
    try:
        import graphviz
    except ImportError as error:
        raise ImportError(
            "Fst.draw: drawing SVG, PNG or PDF needs the graphviz package: pip install 'tokamata[draw]'; "
            "the DOT text needs nothing"
        ) from error
    if format not in graphviz.FORMATS:
        raise FstError(f'Fst.draw: unknown format {format!r}; expected "dot", "svg", "png" or "pdf"')
    _check_texts(text)
    try:
        data: bytes = graphviz.Source(text).pipe(format=format)
    except graphviz.ExecutableNotFound as error:
        raise FstError(
            "Fst.draw: drawing SVG, PNG or PDF needs Graphviz's program dot, which was not found; install it "
            "(Debian or Ubuntu: apt-get install graphviz; macOS: brew install graphviz), or draw to a .dot file"
        ) from error
    return data


def _check_texts(text: str) -> None:
    """Refuse a title or name that is too long for dot to read."""
    found = re.search(rb'[^"\\]{%d,}' % (_DOT_TEXT + 1), text.encode())
    if found is not None:
        raise FstError(
            f"Fst.draw: expected a title and names of at most {_DOT_TEXT:,} bytes, the most that Graphviz's dot reads, "
            f"got {len(found[0]):,} bytes without a quote or backslash: '{found[0].decode()[:24]}...'; shorten the "
            "text, or draw to a .dot file"
        )


def check_size(fst: Fst, max_states: int) -> None:
    """Refuse to lay out a machine that Graphviz would need minutes or hours for."""
    if fst.num_states() > max_states:
        raise LimitError(
            f"Fst.draw: limit max_states {max_states} reached: the machine has {fst.num_states()} states; pass a "
            "greater max_states (layout takes much longer than linear time), or draw to a .dot file"
        )


def draw(
    fst: Fst,
    path: str | os.PathLike[str] | None,
    format: str | None,
    labels: LabelStyle,
    title: str,
    vertical: bool,
    max_states: int,
    aliases: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """See `Fst.draw`."""
    text = dot(fst, labels=labels, title=title, vertical=vertical, aliases=aliases)
    if path is None:
        if format not in (None, "dot"):
            raise FstError(f"Fst.draw: format {format!r} needs a path to write to; Fst.render returns the bytes")
        return text
    path = checked_path("Fst.draw", path)
    kind = (format or path.suffix.lstrip(".").lower() or "dot").replace("gv", "dot")
    if kind == "dot":
        write_whole(path, text.encode())
    else:
        check_size(fst, max_states)
        write_whole(path, render(text, kind))
    return text
