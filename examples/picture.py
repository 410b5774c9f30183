"""Draws docs/tokens.svg: a small constraint over bytes, and the same constraint over the tokens of a vocabulary.

python examples/picture.py [FILE]    # needs the graphviz package and Graphviz's program dot
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from tokamata.automata import Fst, FstError, minimize
from tokamata.automata.draw import render

import tokamata

TOKENS = ["", "n", "o", "no", "y", "e", "s", "yes", "ye", "!", "s!", "no!"]


def machine(fst: Fst, prefix: str, title: str, name: Callable[[int], str]) -> list[str]:
    """Return the lines of a DOT subgraph; arcs between the same two states share an edge."""
    lines = [f'subgraph cluster_{prefix} {{ label = "{title}"; color = lightgrey;']
    for s in fst.states():
        lines.append(f"{prefix}{s} [shape = {'doublecircle' if fst.is_final(s) else 'circle'}];")
        edges: dict[int, list[str]] = {}
        for arc in fst.arcs(s):
            edges.setdefault(arc.nextstate, []).append(name(arc.ilabel))
        for target, names in edges.items():
            text = "  ".join(names)
            lines.append(f'{prefix}{s} -> {prefix}{target} [label = "{text}"];')
    return [*lines, "}"]


def picture() -> str:
    """Return the DOT text of both machines."""
    constraint = tokamata.choice(["yes", "no"]) + tokamata.choice(["", "!"])
    vocabulary = tokamata.Vocabulary([None, *(t.encode() for t in TOKENS[1:])], eos_token_ids=[0])
    tokens = tokamata.compile(constraint, vocabulary).to_fst()
    style = 'fontname = "Helvetica"'
    return "\n".join(
        [
            f'digraph {{ rankdir = LR; graph [{style}]; edge [{style}]; node [label = "", width = 0.25];',
            *machine(minimize(constraint.to_fst()), "bytes", "(yes|no)!? over bytes", chr),
            *machine(tokens, "tokens", "the same over tokens", lambda label: TOKENS[label - 1]),
            "}",
        ]
    )


def svg(text: str) -> bytes:
    """Return DOT text as SVG; without Graphviz, end and say what to install."""
    try:
        return render(text, "svg")
    except (ImportError, FstError) as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).parents[1] / "docs" / "tokens.svg")
    target = parser.parse_args().file
    target.write_bytes(svg(picture()))
    print(target)
