"""Random grammars with groups and repetitions, in all notations, and their short texts, by adding until none is new."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Syntax = Literal["gbnf", "ebnf", "lark"]
Bounds = tuple[int, int | None]

BOUNDS: list[Bounds] = [(0, 1), (0, 1), (0, None), (1, None), (2, 2), (1, 3), (0, 2), (2, None)]
OPERATORS: dict[Bounds, str] = {(0, 1): "?", (0, None): "*", (1, None): "+"}


@dataclass(frozen=True)
class Text:
    """A string."""

    text: str


@dataclass(frozen=True)
class Call:
    """Of a rule, by number."""

    rule: int


@dataclass(frozen=True)
class Row:
    """Parts one behind the other."""

    parts: tuple[Body, ...]


@dataclass(frozen=True)
class Or:
    """One of the parts."""

    parts: tuple[Body, ...]


@dataclass(frozen=True)
class Times:
    """A part a number of times."""

    part: Body
    bounds: Bounds


Body = Text | Call | Row | Or | Times


def random_body(rng: random.Random, rules: int, depth: int) -> Body:
    """A right-hand side; parts of a row come again in it, alone and repeated, as where bounds are written out."""
    kind = rng.choice(["text", "call", "row", "row", "or", "times"]) if depth else "leaf"
    if kind == "leaf":
        kind = rng.choice(["text", "text", "text", "text", "call"])
    if kind == "text":
        return Text(rng.choice("ab") if rng.random() < 0.8 else rng.choice(["aa", "ab", "ba", ""]))
    if kind == "call":
        return Call(rng.randrange(rules))
    if kind == "times":
        return Times(random_body(rng, rules, depth - 1), rng.choice(BOUNDS))
    parts = [random_body(rng, rules, depth - 1) for _ in range(rng.randrange(2, 6 if kind == "row" else 4))]
    for _ in range(rng.randrange(4)):
        parts[rng.randrange(len(parts))] = rng.choice(parts)
    if rng.random() < 0.4:
        parts[rng.randrange(len(parts))] = Times(rng.choice(parts), rng.choice(BOUNDS))
    if rng.random() < 0.3:
        parts += [parts[-1], Call(rng.randrange(rules)), Times(rng.choice(parts), rng.choice(BOUNDS))]
    return Row(tuple(parts)) if kind == "row" else Or(tuple(parts))


def short_texts(bodies: list[Body], longest: int) -> set[str]:
    """The texts of the first rule of up to ``longest`` letters."""
    known: list[set[str]] = [set() for _ in bodies]

    def row(left: set[str], right: set[str]) -> set[str]:
        return {a + b for a in left for b in right if len(a) + len(b) <= longest}

    def texts(body: Body) -> set[str]:
        if isinstance(body, Text):
            return {body.text}
        if isinstance(body, Call):
            return known[body.rule]
        if isinstance(body, Or):
            return set().union(*map(texts, body.parts))
        if isinstance(body, Row):
            found = {""}
            for part in body.parts:
                found = row(found, texts(part))
            return found
        once, (low, high) = texts(body.part), body.bounds
        found, total = {""}, set()
        # Not longer: texts that are not empty are too long then, and empty ones add none.
        for count in range(low + longest + 1 if high is None else high + 1):
            total |= found if count >= low else set()
            found = row(found, once)
        return total

    while True:
        more = [texts(body) for body in bodies]
        if more == known:
            return known[0]
        known = more


def gbnf(bodies: list[Body]) -> str:
    """In GBNF; rule i is ri, and root the first."""
    return "\n".join(["root ::= r0", *(f"r{i} ::= {_gbnf(body)}" for i, body in enumerate(bodies))])


def ebnf(bodies: list[Body]) -> str:
    """In the W3C notation, bounds written out."""
    return "\n".join(f"r{i} ::= {_ebnf(body)}" for i, body in enumerate(bodies))


def lark(bodies: list[Body]) -> str:
    """In Lark's notation, in which ``empty`` is no text."""
    return "\n".join(["start: r0", "empty:", *(f"r{i}: {_lark(body)}" for i, body in enumerate(bodies))])


def _inner(body: Row | Or, write: Callable[[Body], str]) -> str:
    return f"({(' ' if isinstance(body, Row) else ' | ').join(write(part) for part in body.parts)})"


def _gbnf(body: Body) -> str:
    if isinstance(body, Text):
        return f'"{body.text}"'
    if isinstance(body, Call):
        return f"r{body.rule}"
    if not isinstance(body, Times):
        return _inner(body, _gbnf)
    low, high = body.bounds
    bounds = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
    return f"({_gbnf(body.part)}){OPERATORS.get(body.bounds, bounds)}"


def _ebnf(body: Body) -> str:
    if not isinstance(body, Times):
        return _inner(body, _ebnf) if isinstance(body, Row | Or) else _gbnf(body)
    once, (low, high) = f"({_ebnf(body.part)})", body.bounds
    if body.bounds in OPERATORS:
        return once + OPERATORS[body.bounds]
    tail = f"{once}*" if high is None else ""
    for _ in range((high or low) - low):
        tail = f"({once} {tail})?"
    return f"({' '.join([*[once] * low, tail])})"


def _lark(body: Body) -> str:
    if not isinstance(body, Times):
        return _inner(body, _lark) if isinstance(body, Row | Or) else "empty" if body == Text("") else _gbnf(body)
    once, (low, high) = f"({_lark(body.part)})", body.bounds
    if body.bounds in OPERATORS:
        return once + OPERATORS[body.bounds]
    return f"({once}~{low} {once}*)" if high is None else f"{once}~{low}..{high}"
