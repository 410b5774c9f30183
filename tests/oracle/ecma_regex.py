"""Random patterns in ECMA-262's syntax, and Node.js as the judge of what they match."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

NODE = shutil.which("node")
ALPHABET = "abcAB01_ -\néßKſ日😀\u2028\r\xa0\ufeffΩ"
CLASSES = (
    r"\d \w \s \D \W \S [ab] [^ab] [a-c0] [\w-] [^\W\d] [é-日] [\-a] [\]a] . \p{L} \P{Lu} \p{Script=Greek} \u{1F600} "
    r"\u00e9 \x41 \cJ \0 \t [^] [] [\b] \ud83d\ude00 [\u{1F600}a] \p{Alphabetic} [\p{Nd}_] \/ [^\s\S] [\d\-z]"
).split()
LAX = (  # what only patterns without the u flag may have
    r"[\d-z] [a-\d] [\w-\s] [-\d] \- \_ \a \g \q \i \A \Z \2 \8 \01 \012 \377 \400 \08 \c \c1 [\c] [\cA] [\c1] "
    r"[\c_] [\c*] \x \x4 \u \u1 \u{ \k \k<n [\k] \p \p{ \P \p{x} { } ] {1 {a} {,2} x{1 {1a} {} [\B] \@ \: [\1] [\8] "
    r"[\08] [\400] \é (?=a)*"
).split()
QUANTIFIERS = ("*", "+", "?", "{2}", "{1,2}", "{0}", "{1,}", "{2,3}")


class Patterns:
    """Of bounded size, now and then malformed; ``references``: to groups wherever they are, many of them small."""

    def __init__(self, rng: random.Random, lax: bool = False, references: bool = False) -> None:
        self.rng = rng
        self.groups = 0
        self.lax = lax
        self.references = references

    def pattern(self, depth: int = 3) -> str:
        return "|".join(self._sequence(depth) for _ in range(self.rng.choice((1, 1, 1, 2, 3))))

    def _sequence(self, depth: int) -> str:
        return "".join(self._item(depth) for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3, 4))))

    def _item(self, depth: int) -> str:
        rng = self.rng
        if rng.random() < 0.18:
            if depth == 0 or rng.random() < 0.6:
                return rng.choice(["^", "$", r"\b", r"\B"])
            return f"({rng.choice(['?=', '?!', '?<=', '?<!'])}{self.pattern(depth - 1)})"
        item = self._atom(depth)
        if rng.random() < 0.4:
            item += rng.choice(QUANTIFIERS) + rng.choice(("", "", "", "?"))
        return item + rng.choice("*+?{}[])(|\\") if rng.random() < 0.02 else item

    def _atom(self, depth: int) -> str:
        rng = self.rng
        if self.references and rng.random() < 0.5:
            if self.groups and rng.random() < 0.5:
                return rf"(?:\{rng.randint(1, self.groups + rng.choice([0, 0, 0, 1]))})"
            self.groups += 1
            return f"({rng.choice('ab0')}|{rng.choice(['', 'b', 'aa', 'Ab?'])})"
        if depth and rng.random() < 0.35:
            self.groups += 1
            return f"({rng.choice(['', '?:', '?:', f'?<n{self.groups}>'])}{self.pattern(depth - 1)})"
        if self.lax and rng.random() < 0.4:
            return rng.choice(LAX)
        if rng.random() < 0.4:
            return rng.choice(CLASSES)
        letter = rng.choice(ALPHABET)
        return "\\" + letter if letter in "^$\\.*+?()[]{}|/" else letter


def random_text(rng: random.Random) -> str:
    return "".join(rng.choices(ALPHABET if rng.random() < 0.5 else "ab0 A\n😀é", k=rng.randrange(6)))


class Judge:
    """Node.js, one question at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def matches(self, pattern: str, texts: list[str], whole: bool = True, flags: str = "u") -> list[bool] | str:
        """Which texts the pattern matches, whole or somewhere, or what is wrong with it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([pattern, texts, whole, flags]) + "\n")
        self._process.stdin.flush()
        answer: list[bool] | str = json.loads(self._process.stdout.readline())
        return answer


@contextlib.contextmanager
def judge() -> Iterator[Judge]:
    assert NODE is not None
    command = [NODE, str(Path(__file__).with_suffix(".js"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Judge(process)
        process.kill()
