"""The order of the parts of a dynamic constraint, as a position automaton."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..automata.errors import LimitError
from ..constraints import Constraint
from ..constraints.dynamic import Either, Joined, Part, Place, Repeated

_MOST = 2000


@dataclass(frozen=True)
class Following:
    """What may come next: parts by number; whether the text may end."""

    parts: tuple[int, ...] = ()
    end: bool = False

    def only(self, parts: set[int]) -> Following:
        """The same without other parts."""
        return Following(tuple(part for part in self.parts if part in parts), self.end)


@dataclass
class Plan:
    """Parts (constraints and places), what may come first, and what may follow each part.

    Parts that stand in several places are several parts here; a part itself may read the empty text.
    Source: Glushkov, "The abstract theory of automata" (1961).
    """

    parts: list[Constraint | Place] = field(default_factory=list)
    first: Following = field(default_factory=Following)
    following: list[Following] = field(default_factory=list)

    def drop(self, empty: set[int]) -> None:
        """Leave out parts without members, and those from which the end is out of reach then."""
        useful: set[int] = set()
        while more := {
            i
            for i, after in enumerate(self.following)
            if i not in empty and i not in useful and (after.end or not useful.isdisjoint(after.parts))
        }:
            useful |= more
        self.first = self.first.only(useful)
        self.following = [after.only(useful) for after in self.following]


@dataclass(frozen=True)
class _Piece:
    first: frozenset[int]
    last: frozenset[int]
    optional: bool  # whether no part at all will do


_NOTHING = _Piece(frozenset(), frozenset(), True)


class _Builder:
    def __init__(self) -> None:
        self.parts: list[Constraint | Place] = []
        self.after: list[set[int]] = []

    def build(self, part: Part) -> _Piece:
        if isinstance(part, Joined):
            piece = _NOTHING
            for item in part.parts:
                piece = self.join(piece, self.build(item))
            return piece
        if isinstance(part, Either):
            pieces = [self.build(item) for item in part.parts]
            return _Piece(
                frozenset().union(*(p.first for p in pieces)),
                frozenset().union(*(p.last for p in pieces)),
                any(p.optional for p in pieces),
            )
        if isinstance(part, Repeated):
            return self.repeat(part)
        if len(self.parts) == _MOST:
            raise LimitError(
                f"dynamic: the limit of {_MOST} parts was reached; count repetitions in the callback, or leave them "
                "open"
            )
        self.parts.append(part)
        self.after.append(set())
        only = frozenset([len(self.parts) - 1])
        return _Piece(only, only, False)

    def join(self, a: _Piece, b: _Piece) -> _Piece:
        for part in a.last:
            self.after[part] |= b.first
        return _Piece(
            a.first | b.first if a.optional else a.first,
            b.last | a.last if b.optional else b.last,
            a.optional and b.optional,
        )

    def repeat(self, part: Repeated) -> _Piece:
        piece = _NOTHING
        for _ in range(part.low):
            piece = self.join(piece, self.build(part.part))
        if part.high is None:
            more = self.build(part.part)
            for last in more.last:
                self.after[last] |= more.first
            return self.join(piece, _Piece(more.first, more.last, True))
        tail = _NOTHING  # the last ones are optional, each only behind the one before
        for _ in range(part.high - part.low):
            one = self.build(part.part)
            tail = self.join(one, tail)
            tail = _Piece(tail.first, tail.last, True)
        return self.join(piece, tail)


def make_plan(part: Part) -> Plan:
    """Number the parts. Linear in the parts and their followers; repetitions with bounds are written out.

    Raises LimitError past 2000 parts.
    """
    builder = _Builder()
    whole = builder.build(part)
    return Plan(
        builder.parts,
        Following(tuple(sorted(whole.first)), whole.optional),
        [Following(tuple(sorted(after)), i in whole.last) for i, after in enumerate(builder.after)],
    )
