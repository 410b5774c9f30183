"""conflicts: where an LALR(1) parser of a grammar, or one that reads it byte by byte, cannot decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..automata.errors import LimitError
from .constraint import Constraint
from .grammar_bytes import decided_by_bytes
from .grammar_lalr import OPTIONAL, Lalr, State, members
from .grammar_source import GrammarSource, Production
from .grammar_use import beaten, useful, without_text
from .terminal_texts import MOST_STATES

MOST_PAIRS = 10_000  # of terminals in conflict; a second or two
MOST_PLACES = 3  # LR(0) states of which a conflict between terminals shows the productions

Rank = tuple[int, int]  # of a production by rule and symbols, terminals that may be empty first
ConflictKind = Literal["shift/reduce", "reduce/reduce", "twice", "terminals"]


@dataclass(frozen=True)
class Conflict:
    """A decision that is not determined.

    ``"shift/reduce"``, ``"reduce/reduce"``: before ``terminal``, between ``productions`` (of a single one: between it
    and the end of the sentence, or itself going on); ``"twice"``: a production that is written twice, or two that are
    one but for terminals of the empty text; ``"terminals"``: without a lexer, the next byte may belong to either of two
    terminals ``between``, or go on with the first or begin the second (``detail`` says which); ``productions`` take
    them there.
    """

    kind: ConflictKind
    terminal: str
    productions: tuple[Production, ...]
    detail: str = ""
    between: tuple[int, ...] = ()


def never_read(source: GrammarSource) -> frozenset[int]:
    """The terminals that a parser of the grammar never gets.

    Those of :func:`.grammar_use.without_text`; and with ``lexer="contextual"`` those that, wherever the rules take
    them, lose to others that the rules take in the same LR(0) state. Sound, not complete.
    """
    found = without_text(source)
    losing = beaten(source, source.terminals) - found if source.lexer == "contextual" else set()
    if not losing:
        return found
    try:
        productions = [(p.rule, p.symbols) for p in useful(source, found)]
        states = Lalr(productions, source.start).states if productions else []
    except LimitError:
        return found
    ignored = {i for i, t in enumerate(source.terminals) if t.ignored}
    for state in states:
        taken = set(members(state.shifts))
        if here := taken & losing:
            losing -= here - beaten(source, [source.terminals[i] for i in sorted(taken | ignored)], here)
    return found | losing


def conflicts(source: GrammarSource, never: Iterable[int]) -> tuple[Conflict, ...] | None:
    """All conflicts, by the LALR(1) analysis (:mod:`.grammar_lalr`) of the reachable and productive rules.

    ``never``: terminals that are never read, see :func:`never_read`. Without a lexer also those between terminals, for
    one byte of lookahead, MOST_PAIRS of them at most; none at all where a parser that reads byte by byte has none
    (:mod:`.grammar_bytes`): it learns later than before a terminal which one it is. None where MOST_EXPANSIONS,
    MOST_STEPS or MOST_STATES are reached first or a terminal is no regular language, so that the question stays open.
    """
    try:
        return _Analysis(source, never).found()
    except LimitError:
        return None


class _Analysis:
    def __init__(self, source: GrammarSource, never: Iterable[int]) -> None:
        self.source = source
        self.productions: dict[tuple[int, tuple[int, ...]], Production] = {}
        self.twice: list[tuple[Production, ...]] = []
        self.nullable = (
            {i for i, t in enumerate(source.terminals) if t.constraint.accepts(b"")}
            if source.lexer == "none"
            else set()
        )
        blank = {~i for i in self.nullable if not source.terminals[i].constraint._native.live_bytes(b"")}
        for production in useful(source, never):
            key = (production.rule, tuple(s for s in production.symbols if s not in blank))
            same = self.productions.setdefault(key, production)
            if same is not production:
                self.twice.append((production,) if same.symbols == production.symbols else (same, production))

    def found(self) -> tuple[Conflict, ...]:
        found = self._conflicts()
        asked = self.source.lexer == "none" and found and not self.twice
        return () if asked and decided_by_bytes(self.source, self.productions) else found

    def _conflicts(self) -> tuple[Conflict, ...]:
        found = [Conflict("twice", "", both) for both in self.twice]
        if not self.productions:
            return tuple(found)
        self.lalr = Lalr(self.productions, self.source.start, self.nullable)
        ranks = {key: (0, i) for i, key in enumerate(sorted(self.productions))}
        self.ranks = [ranks[key] for key in self.productions]
        for p, _ in self.lalr.productions[len(ranks) : -1]:
            self.ranks.append((-1, ~(p - OPTIONAL)))
        self.ranked = dict(zip(self.ranks, self.productions.values(), strict=False))
        for rank in self.ranks[len(ranks) :]:  # a terminal that may be empty
            self.ranked[rank] = Production(rank[1], (), self.source.terminals[~rank[1]].place)
        seen: set[tuple[object, ...]] = set()
        for state in self.lalr.states:
            for look in self._undecided(state):
                reduced = self._sorted(p for p, bits in state.reductions.items() if bits >> look & 1)
                shifted = self._sorted(
                    self.lalr.owner[item] for item in state.closure if self.lalr.following[item] == ~look
                )
                kind: ConflictKind = "shift/reduce" if shifted and len(reduced) < 2 else "reduce/reduce"
                both = dict.fromkeys((*reduced, *shifted))
                name = "the end" if look == self.lalr.end else self.source.label(~look)
                if (kind, name, *both) not in seen:
                    seen.add((kind, name, *both))
                    found.append(Conflict(kind, name, tuple(self.ranked[rank] for rank in both)))
        if self.source.lexer == "none":
            found += self._between_terminals(self.lalr.states)
        return tuple(found)

    def _sorted(self, productions: Iterable[int]) -> list[Rank]:
        return sorted(self.ranks[p] for p in productions)

    def _undecided(self, state: State) -> list[int]:
        """The terminals before which a state has two ways, ordered by number as text, the end first."""
        found = self.lalr.undecided(state)
        return sorted(members(found), key=lambda t: "" if t == self.lalr.end else str(t))

    # ---- without a lexer
    def _between_terminals(self, states: Sequence[State]) -> list[Conflict]:
        size = len(self.source.terminals)
        first = [set(t.constraint._native.live_bytes(b"")) for t in self.source.terminals]
        going_on = [_going_on(t.constraint) for t in self.source.terminals]
        begin = [0] * 256  # the terminals that begin with a byte
        for i in range(size):
            for byte in first[i]:
                begin[byte % 256] |= 1 << i
        both_begin = [_union(begin, bytes_) for bytes_ in first]
        one_begins = [_union(begin, bytes_) for bytes_ in going_on]
        following = {state: self._accepted(state) for state in states}
        self._after: dict[int, list[State]] = {}
        for state in states:
            for symbol, after in state.transitions.items():
                self._after.setdefault(symbol, []).append(after)
        self._taken: dict[tuple[State, int], list[Rank]] = {}
        # Which bytes, and some states where the first and the second terminal are taken.
        found: dict[tuple[int, int, str], tuple[set[int], list[tuple[State, State]]]] = {}

        def add(i: int, j: int, what: str, bytes_: set[int], one: State, other: State) -> None:
            if (i, j, what) not in found:
                if len(found) == MOST_PAIRS:
                    return
                found[i, j, what] = (bytes_ & first[j], [])
            places = found[i, j, what][1]
            if len(places) < MOST_PLACES:
                places.append((one, other))

        for state in states:
            accepted = following[state]
            for i in members(accepted):
                for j in members(accepted & both_begin[i] & -(2 << i)):
                    add(i, j, "both may begin with", first[i], state, state)
            for symbol, after in state.transitions.items():
                if symbol < 0:
                    i = ~symbol
                    for j in members(following[after] & one_begins[i]):
                        what = "the first may go on, or the second begin, with"
                        add(i, j, what, going_on[i], state, after)
        return [self._conflict(i, j, what, *rest) for (i, j, what), rest in found.items()]

    def _accepted(self, state: State) -> int:
        """The terminals that a state takes, or that may follow what ends there."""
        found = state.shifts
        for bits in state.reductions.values():
            found |= bits
        return found & ~(1 << self.lalr.end)

    def _takers(self, state: State, terminal: int) -> list[Rank]:
        """The productions that go on with a terminal in a state, or after what ends there."""
        if (state, terminal) in self._taken:
            return self._taken[state, terminal]
        found: set[Rank] = set()
        seen, work = {state}, [state]
        for current in work:
            for item in current.closure:
                p = self.lalr.owner[item]
                following = self.lalr.following[item]
                if following in (~terminal, OPTIONAL + terminal) and self.lalr.productions[p][0] < OPTIONAL:
                    found.add(self.ranks[p])
            ended = {self.lalr.productions[p][0] for p, bits in current.reductions.items() if bits >> terminal & 1}
            for rule in ended:
                for after in self._after.get(rule, ()):
                    if after not in seen:
                        seen.add(after)
                        work.append(after)
        self._taken[state, terminal] = sorted(found)
        return self._taken[state, terminal]

    def _conflict(self, i: int, j: int, what: str, common: set[int], places: list[tuple[State, State]]) -> Conflict:
        one = list(dict.fromkeys(p for state, _ in places for p in self._takers(state, i)))
        other = list(dict.fromkeys(p for _, state in places for p in self._takers(state, j)))
        a, b = self.source.label(~i), self.source.label(~j)
        shown = " ".join(repr(chr(c)) if c < 128 else f"\\x{c:02x}" for c in sorted(common)[:3])
        more = ", ..." if len(common) > 3 else ""
        both = dict.fromkeys((*one[:1], *other[:1], *one, *other))
        productions = tuple(self.ranked[rank] for rank in both)
        return Conflict("terminals", a, productions, f"{a} and {b}: {what} {shown}{more}", (i, j))


def _union(sets: Sequence[int], members: Iterable[int]) -> int:
    found = 0
    for member in members:
        found |= sets[member % 256]
    return found


def _going_on(constraint: Constraint) -> set[int]:
    """The bytes that may follow a member inside a longer member."""
    fst = constraint.to_fst(MOST_STATES)
    found: set[int] = set()
    for state in range(fst.num_states()):
        if fst.is_final(state):
            found |= {arc.ilabel % 256 for arc in fst.arcs(state)}
    return found
