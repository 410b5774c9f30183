"""Random grammars in Lark's notation over files that import each other, and Lark's verdict on texts under them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

from lark import Lark
from lark.exceptions import UnexpectedInput
from oracle.lark_parser import LongestMatch

LITERALS = [
    '"a"', '"b"', '"ab"', '"A"i', '"ab"i', '"if"', '"if"i', '"x"', '" "', '"\\n"', '"1"', '"a\\nb"', '"a".."b"',
    '"\\x61"', '"\\u0062"', '"ſ"i', '"k"i', '"i" "f"', "/a+/", "/[ab]+/", "/[ab]/i", "/ab|a/", "/[a-z]+/", "/[a-z]+/i",
    "/x(a|b)?/", "/\\d+/", "/\\s+/", "/.b/", "/.\\n?/", "/a.b/s", "/a b # c\n /x", "/(?i:a)b/", "/b{1,2}/",
    '/"[^"]*"/', "/i?f/", "/[^a]/", "/ab?/im",
]  # fmt: skip
LETTERS = [*'abAB x1\n"if', "", "ſ", "K", "\r"]


class LongestOfAll(LongestMatch):
    """The longest match whichever alternative of a pattern it is of, where nothing looks around; ties as in Lark."""

    @staticmethod
    def rank(terminal) -> tuple:
        pattern = terminal.pattern
        return *LongestMatch.rank(terminal), -pattern.max_width, -len(pattern.value), terminal.name

    @staticmethod
    def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
        return next((end for end in range(len(text), at, -1) if pattern.fullmatch(text, at, end)), at)


def verdict(text: str, paths: list[Path]) -> Callable[[str], bool]:
    """Whether Lark's Earley parser reads texts, cut as by the basic lexer."""
    made = Lark(text, parser="earley", lexer=LongestOfAll, import_paths=[str(path) for path in paths])

    def accepts(member: str) -> bool:
        try:
            made.parse(member)
        except UnexpectedInput:
            return False
        return True

    return accepts


def random_files(rng: random.Random, folder: Path) -> str:
    """A grammar that imports from the files ``m`` and ``n``, which are written to a folder."""
    literal = lambda: rng.choice(LITERALS)  # noqa: E731
    (folder / "n.lark").write_text(f"X: {literal()}\ny: X\nx: y\nw: x\nz: y\nY: X\nt{{p}}: p\n")
    lines = [f"X: {literal()}", f'Y: "y" X | {literal()}', "x: X y? " + rng.choice(["", '| "q"', '-> al | "z"'])]
    lines += ["y: " + rng.choice(['"y"', "Y", "X Y", "z+", 'z~0..2 "y"', 'Q | "y"']), f"z: {literal()}"]
    lines += ["!w: x | y", 't{p}: p x? | "t"', *['%ignore " "'] * (rng.random() < 0.3), "%import n.X -> Q"]
    (folder / "m.lark").write_text("\n".join(lines) + "\n")
    file = rng.choice("mmn")
    form, names = rng.choice(
        [
            (f"%import {file}.x", ["x"]),
            (f"%import {file}.y -> yy", ["yy"]),
            (f"%import {file} (x, X, w)", ["x", "X", "w"]),
            (f"%import {file} (t, z, Y)", ["z", "Y", "t{a}", 't{"b"}']),
            (f"%import {file}.X -> XX", ["XX"]),
        ]
    )
    terminals = rng.sample(["A", "B", "C", "_D"], rng.randint(1, 3))

    def item() -> str:
        kind = rng.random()
        atom = rng.choice(names if kind < 0.4 else ["a", "b", *terminals] if kind < 0.8 else LITERALS)
        return atom + rng.choice(["", "", "", "", "", "?", "+", "~2", "~0..2", "~1..3"])

    def way() -> str:
        return " ".join(item() for _ in range(rng.choice([1, 1, 2, 3])))

    def ways() -> str:
        return " | ".join(way() + rng.choice(["", "", f" -> al{i}"]) for i in range(rng.choice([1, 2, 2])))

    found = [
        form,
        *(f"{rng.choice(['', '!', '?'])}{rule}{rng.choice(['', '.2'])}: {ways()}" for rule in ("start", "b")),
    ]
    found.append(f"?a: {ways()} | {literal()}")
    for i, name in enumerate(terminals):
        more = rng.choice(["", f" | {terminals[i + 1]}", f" {terminals[i + 1]}~1..2"]) if terminals[i + 1 :] else ""
        found.append(f"{name}{rng.choice(['', '.1', '.-1'])}: {literal()}{more}")
    changed = rng.choice([names[0], "b", "A" if "A" in terminals else "a"])
    if rng.random() < 0.7 and re.fullmatch(r"\w+", changed):
        kind = "%extend" if changed in "aAb" or rng.random() < 0.5 else "%override"
        found.append(f"{kind} {changed}: {literal() if changed.isupper() else ways()}")
    if rng.random() < 0.5:
        found.append("%ignore " + rng.choice(['" "', "/[ \\n]+/", terminals[-1], '("b" | " ")']))
    return "\n".join(found) + "\n"
