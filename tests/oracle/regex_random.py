"""Random patterns over the constructs of Python's re, random texts near their languages, and re as the judge."""

from __future__ import annotations

import itertools
import random
import re
import warnings

ALPHABET = "abcAB01_ -\néßKſ日😀"
CLASSES = tuple(r"\d \w \s \D \W \S [ab] [^ab] [a-c0] [\w-] [^\W\d] [é-日] [-a] []a] .".split())
ANCHORS = ("^", "$", r"\A", r"\Z", r"\b", r"\B")


class PatternGenerator:
    """Patterns of bounded size; ``assertions``: anchors, lookahead and lookbehind anywhere.

    With ``references``, backreferences and conditional groups about groups before them, in this branch or another one.
    """

    def __init__(
        self,
        rng: random.Random,
        *,
        assertions: bool = True,
        atomic: bool = False,
        lazy: bool = True,
        references: bool = False,
    ) -> None:
        self.rng = rng
        self.assertions = assertions
        self.references = references
        self.groups = 0
        self.closed: list[int] = []
        self.atomic = atomic
        self.lazy = lazy

    def pattern(self) -> str:
        rng = self.rng
        prefix = ""
        if rng.random() < 0.35:
            prefix = "(?" + "".join(sorted({rng.choice("isam") for _ in range(rng.randint(1, 2))})) + ")"
        return prefix + self.alternation(3)

    def alternation(self, depth: int) -> str:
        return "|".join(self.sequence(depth) for _ in range(self.rng.choice((1, 1, 1, 2, 3))))

    def sequence(self, depth: int) -> str:
        return "".join(self.item(depth) for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3, 4))))

    def item(self, depth: int) -> str:
        rng = self.rng
        if self.assertions and rng.random() < 0.2:
            if depth == 0 or rng.random() < 0.6:
                return rng.choice(ANCHORS)
            opener = rng.choice(("(?=", "(?!", "(?<=", "(?<!"))
            inner = self.fixed(depth - 1) if "<" in opener else self.alternation(depth - 1)
            return f"{opener}{inner})"
        atom = self.atom(depth)
        if rng.random() < 0.4:
            atom += rng.choice(("*", "+", "?", "{2}", "{1,2}", "{,2}", "{0}", "{1,}", "{2,3}"))
            atom += rng.choice(("", "", "", "?" if self.lazy else ""))
            if self.atomic and atom[-1] != "?" and rng.random() < 0.5:
                atom += "+"
        return atom

    def fixed(self, depth: int) -> str:
        return "".join(self.single() for _ in range(self.rng.choice((1, 1, 2)))) if depth >= 0 else "a"

    def single(self) -> str:
        rng = self.rng
        return rng.choice(CLASSES) if rng.random() < 0.35 else re.escape(rng.choice(ALPHABET))

    def choice(self) -> str:
        rng = self.rng
        texts = ("".join(re.escape(rng.choice(ALPHABET)) for _ in range(rng.randint(0, 2))) for _ in range(3))
        return "|".join(itertools.islice(texts, rng.randint(1, 3))) + rng.choice(
            ("", "", "b?", "[ab]", "a{1,2}", "|(?:a|b)c")
        )

    def atom(self, depth: int) -> str:
        rng = self.rng
        if self.closed and rng.random() < 0.4:
            group = rng.choice(self.closed)
            if depth == 0 or rng.random() < 0.7:
                return rf"(?:\{group})"
            return f"(?({group}){self.sequence(depth - 1)}|{self.sequence(depth - 1)})"
        if depth and self.references and rng.random() < 0.4:
            self.groups += 1
            group = self.groups
            inside = self.choice() if rng.random() < 0.7 else self.alternation(depth - 1)
            self.closed.append(group)
            return rng.choice((f"({inside})", f"({inside})", f"(?:({inside})?)"))
        if depth == 0 or rng.random() < 0.65:
            return self.single()
        opener = rng.choice(("(?:" if self.references else "(", "(?:", "(?i:", "(?s:", "(?a:", "(?-i:", "(?m:"))
        if self.atomic and rng.random() < 0.5:
            opener = "(?>"
        return f"{opener}{self.alternation(depth - 1)})"


def texts(rng: random.Random, pattern: str, members: list[str], n: int = 12) -> list[str]:
    """Random texts, and edits of members: one character dropped, doubled or replaced."""
    letters = ALPHABET + "".join(c for c in pattern if c.isalnum())
    out = ["", "\n"]
    for _ in range(n):
        out.append("".join(rng.choice(letters) for _ in range(rng.randint(0, 5))))
    for member in members:
        out.append(member)
        if member:
            at = rng.randrange(len(member))
            out.append(member[:at] + member[at + 1 :])
            out.append(member[: at + 1] + member[at:])
            out.append(member[:at] + rng.choice(letters) + member[at + 1 :])
            out.append(member + "\n")
    return out


def compile_quietly(pattern: str) -> re.Pattern[str] | None:
    """None: re rejects the pattern."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern)
        except (re.error, OverflowError):
            return None
