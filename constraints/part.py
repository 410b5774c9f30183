"""Part: right-hand sides of grammars as trees; counted: with counters where repetitions were written out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from .constraint import Constraint
from .grammar_source import Place

PartKind = Literal["terminal", "rule", "sequence", "choice", "repeat", "except"]


@dataclass(slots=True, eq=False)
class Part:
    """A part of a right-hand side; ``text`` is how it was written, without blanks around it."""

    kind: PartKind
    text: str
    place: Place
    parts: tuple[Part, ...] = ()
    constraint: Constraint | None = None  # of a terminal
    literal: bytes | None = None  # of a terminal that is a plain string
    name: str = ""  # of a rule
    low: int = 0  # of a repetition
    high: int | None = None
    calls: bool = field(init=False, default=False)  # some rule; an exception calls none, it is a terminal

    def __post_init__(self) -> None:
        self.calls = self.kind == "rule"
        if self.kind != "except":
            for part in self.parts:
                self.calls = self.calls or part.calls

    def written_as(self, text: str) -> Part:
        """The same part under another text, with its parentheses."""
        return self._copy(text, self.place)

    def placed(self, place: Place) -> Part:
        """The same part in another place."""
        return self._copy(self.text, place)

    def _copy(self, text: str, place: Place) -> Part:
        return Part(self.kind, text, place, self.parts, self.constraint, self.literal, self.name, self.low, self.high)


@dataclass(slots=True, eq=False)
class Definition:
    """A rule as written."""

    name: str
    place: Place
    body: Part


def counted(part: Part) -> Part:
    """A part of the same texts with a counter for what its parts write out: ``x x (x (x)?)?`` is ``x{2,4}``.

    Its parts have theirs already. Tools that write grammars unroll bounds (older converters from JSON Schema to GBNF
    know no ``{n,m}``), hundreds of groups deep. Linear in its parts.
    """
    if part.kind == "repeat":
        inner = part.parts[0]
        if (part.low, part.high) == (0, 1) and inner.kind == "repeat" and inner.low <= 1:
            return replace(part, parts=inner.parts, high=inner.high)
        return part
    if part.kind != "sequence":
        return part
    runs: list[list[Part]] = []  # of equal units
    for item in part.parts:
        if runs and _same(_unit(runs[-1][0]), _unit(item)):
            runs[-1].append(item)
        else:
            runs.append([item])
    if len(runs) == len(part.parts):
        return part
    made = tuple(run[0] if len(run) == 1 else _row(run) for run in runs)
    return made[0].written_as(part.text) if len(made) == 1 else replace(part, parts=made)


def _unit(item: Part) -> Part:
    return item.parts[0] if item.kind == "repeat" else item


def _row(items: list[Part]) -> Part:
    """Repetitions of equal units in a row as one, whose text tells it from all others."""
    low, high = 0, 0
    unbounded = False
    for item in items:
        least, most = (item.low, item.high) if item.kind == "repeat" else (1, 1)
        low += least
        high += most or 0
        unbounded = unbounded or most is None
    unit = _unit(items[0])
    bounds = f"{low}," if unbounded else str(low) if low == high else f"{low},{high}"
    text = f"{unit.text}{{{bounds}}}"
    return Part("repeat", text, unit.place, (unit,), low=low, high=None if unbounded else high)


def _same(a: Part, b: Part) -> bool:
    """Whether two parts were written alike, but for parentheses; so they have the same texts."""
    if a is b:
        return True
    if a.kind != b.kind or len(a.parts) != len(b.parts) or (a.low, a.high, a.name) != (b.low, b.high, b.name):
        return False
    if not a.parts and a.text != b.text and a.kind == "terminal":
        return False
    return all(_same(x, y) for x, y in zip(a.parts, b.parts, strict=True))
