"""Draws docs/table1/*.svg: the named groups of Koo et al. (2024), Table 1, each over the tokens of a small vocabulary.

python examples/table1.py [FOLDER]   # needs the graphviz package and Graphviz's program dot
"""

from __future__ import annotations

import argparse
from pathlib import Path

from picture import machine, svg

import tokamata

SPECIAL = {"<end>": 0, "<image>": 1, "<pixel 1>": 2, "<pixel 2>": 3, "</image>": 4}
GROUPS = {"IMAGE_BEGIN": ["<image>"], "IMAGE": ["<pixel 1>", "<pixel 2>"], "IMAGE_END": ["</image>"]}

# For each group a pattern that uses it, and the tokens of text in the vocabulary of the picture.
ROWS: dict[str, tuple[str, list[str]]] = {
    "QUOTED_TEXT": (r"(?P<QUOTED_TEXT>)", ['"', "hi", "\\", "\\n", ' "', '."']),
    "UNQUOTED_TEXT": (r"(?P<UNQUOTED_TEXT>)", ["a", "-", ":", ": ", " b", "#", "a:b"]),
    "IMAGE": (r"Look: (?P<IMAGE>)\.", ["Look", ": ", ".", "Look: "]),
    "TEXT_TOKEN": (r"(?P<TEXT_TOKEN>){3}", ["a", "ab", " ", "\n", ".\n"]),
    "PARAGRAPH_TOKEN": (r"(?:\* (?P<PARAGRAPH_TOKEN>)+\n)+", ["*", " ", "* ", "milk", " and", "\n", ".\n"]),
    "TEXT_UNTIL": (r"(?P<TEXT_UNTIL>END)", ["a", "E", "EN", "END", "D", "aE"]),
    "SUBSTRING_OF": (r"(?P<SUBSTRING_OF>banana)", ["b", "a", "an", "na", "nan", "ban"]),
    "DELIMITED_LIST": (r"(?P<DELIMITED_LIST>, |a|b)", ["a", "b", ", ", ",", " ", ", a"]),
    "DELIMITED_SUBSEQUENCE_OF": (
        r"(?P<DELIMITED_SUBSEQUENCE_OF>, |red|green|blue)",
        ["red", "green", "blue", ", ", ",", " "],
    ),
}


def vocabulary(texts: list[str]) -> tokamata.Vocabulary:
    """Return a vocabulary of five special tokens and some of text."""
    tokens = [None] * len(SPECIAL) + [text.encode() for text in texts]
    return tokamata.Vocabulary(tokens, eos_token_ids=[0], special_tokens=SPECIAL).with_token_groups(GROUPS)


def picture(name: str) -> str:
    """Return the DOT text of the token acceptor of a row."""
    pattern, texts = ROWS[name]
    names = [*SPECIAL, *(repr(text)[1:-1] for text in texts)]
    fst = tokamata.compile(tokamata.regex(pattern), vocabulary(texts)).to_fst()

    def shown(label: int) -> str:
        return names[label - 1].replace("\\", "\\\\").replace('"', '\\"').replace(" ", "␣")

    style = 'fontname = "Helvetica"'
    title = pattern.replace("\\", "\\\\")
    return "\n".join(
        [
            f'digraph {{ rankdir = LR; graph [{style}]; edge [{style}]; node [label = "", width = 0.25];',
            *machine(fst, "tokens", title, shown),
            "}",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1] / "docs" / "table1")
    folder = parser.parse_args().folder
    folder.mkdir(exist_ok=True)
    for row in ROWS:
        (folder / f"{row.lower()}.svg").write_bytes(svg(picture(row)))
        print(folder / f"{row.lower()}.svg")
