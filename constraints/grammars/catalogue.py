"""The grammars that come with the package: their names, texts and descriptions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from ...automata.errors import ConstraintError

Lexer = Literal["basic", "contextual", "none"]


@dataclass(frozen=True)
class Description:
    """What the first lines of a grammar file say.

    ``lexer``: how its texts are cut into terminals, as `tokamata.grammar` takes it; ``source``: the specification;
    ``leaves_out``: members of the specified language that the grammar refuses, and demands of it that it cannot make.
    """

    name: str
    lexer: Lexer
    title: str
    source: str
    leaves_out: str


def names() -> tuple[str, ...]:
    """Return the names of the ready-made grammars in alphabetical order."""
    return tuple(sorted(f.name[: -len(".lark")] for f in files(__package__).iterdir() if f.name.endswith(".lark")))


def text(name: str) -> str:
    """Return a ready-made grammar in Lark's notation. Raises ConstraintError for an unknown name."""
    if name not in names():
        raise ConstraintError(f"grammars: expected one of {', '.join(names())}, got {name!r}")
    return files(__package__).joinpath(f"{name}.lark").read_text(encoding="utf-8")


def describe(name: str) -> Description:
    """Return what a ready-made grammar says of itself. Raises ConstraintError for an unknown name."""
    return description(name, text(name))


def description(name: str, source: str) -> Description:
    """Read the lines ``// key: value`` that a grammar begins with; lines with two more blanks continue a value."""
    found: dict[str, str] = {}
    key = ""
    for line in source.splitlines():
        begun = re.fullmatch(r"// (lexer|title|source|leaves out): (.+)", line)
        if begun:
            key = begun[1]
            found[key] = begun[2]
        elif key and line.startswith("//   "):
            found[key] += " " + line[5:]
        else:
            break
    missing = [key for key in ("lexer", "title", "source", "leaves out") if key not in found]
    if missing:
        raise ConstraintError(f"grammars: {name}: expected a line '// {missing[0]}: ...' at the beginning, got none")
    lexers: dict[str, Lexer] = {"basic": "basic", "contextual": "contextual", "none": "none"}
    lexer = lexers.get(found["lexer"])
    if lexer is None:
        raise ConstraintError(f"grammars: {name}: expected the lexer basic, contextual or none, got {found['lexer']!r}")
    return Description(name, lexer, found["title"], found["source"], found["leaves out"])
