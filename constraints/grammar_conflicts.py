"""conflicts: where an LALR(1) parser of a grammar, or one that reads it byte by byte, cannot decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..automata.errors import LimitError
from .constraint import Constraint
from .grammar_source import GrammarSource, Production
from .grammar_use import beaten, useful, without_text
from .terminal_texts import MOST_STATES

MOST_EXPANSIONS = 100_000  # of LR(0) items; a few seconds
MOST_PLACES = 3  # LR(0) states of which a conflict between terminals shows the productions

ConflictKind = Literal["shift/reduce", "reduce/reduce", "twice", "terminals"]


@dataclass(frozen=True)
class Conflict:
    """A decision that is not determined.

    ``"shift/reduce"``, ``"reduce/reduce"``: before ``terminal``, between ``productions`` (of a single one: between it
    and the end of the sentence, or itself going on); ``"twice"``: a production that
    is written twice; ``"terminals"``: without a lexer, the next byte may belong to either of two terminals ``between``,
    or go on with the first or begin the second (``detail`` says which); ``productions`` take them there.
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
        states = _item_sets(source, [(p.rule, p.symbols) for p in useful(source, found)], set())
    except (LimitError, RecursionError):
        return found
    ignored = {i for i, t in enumerate(source.terminals) if t.ignored}
    for state in states:
        taken = {int(s.name[1:]) for s in state.transitions if s.name[0] == "t"}
        if here := taken & losing:
            losing -= here - beaten(source, [source.terminals[i] for i in sorted(taken | ignored)], here)
    return found | losing


def conflicts(source: GrammarSource, never: Iterable[int]) -> tuple[Conflict, ...] | None:
    """All conflicts, by Lark's LALR(1) analysis (DeRemer and Pennello 1982) of the reachable and productive rules.

    ``never``: terminals that are never read, see :func:`never_read`. Without a lexer also those between terminals, for
    one byte of lookahead. None where MOST_EXPANSIONS or MOST_STATES are reached first or a terminal is no regular
    language, so that the question stays open.
    """
    try:
        return _Analysis(source, never).found()
    except (LimitError, RecursionError):
        return None


def _item_sets(
    source: GrammarSource, productions: Iterable[tuple[int, tuple[int, ...]]], nullable: set[int]
) -> list[Any]:
    """The LR(0) states with their lookaheads, by Lark.

    Rule r is ``r{r}`` there, terminal t ``t{t}``, and one of ``nullable``, which may be empty, a rule ``n{t}``.
    """
    from lark.common import ParserConf
    from lark.grammar import NonTerminal, Rule, Symbol
    from lark.grammar import Terminal as LarkTerminal
    from lark.parsers.lalr_analysis import LALR_Analyzer

    class Bounded(LALR_Analyzer):
        spent = 0

        def expand_rule(self, source_rule: Any, rules_by_origin: Any = None) -> Any:
            found = super().expand_rule(source_rule, rules_by_origin)
            self.spent += len(found)
            if self.spent > MOST_EXPANSIONS:
                raise LimitError(
                    f"grammar: the limit expansions={MOST_EXPANSIONS} of LR(0) items was reached; leave strict out"
                )
            return found

    def symbol(s: int) -> Symbol:
        if s >= 0:
            return NonTerminal(f"r{s}")
        return NonTerminal(f"n{~s}") if ~s in nullable else LarkTerminal(f"t{~s}")

    productions = list(dict.fromkeys(productions))
    if not productions:
        return []
    rules = [Rule(NonTerminal(f"r{r}"), [symbol(s) for s in symbols]) for r, symbols in productions]
    for i in sorted(nullable & {~s for _, symbols in productions for s in symbols if s < 0}):
        rules += [Rule(NonTerminal(f"n{i}"), []), Rule(NonTerminal(f"n{i}"), [LarkTerminal(f"t{i}")])]
    analyzer = Bounded(ParserConf(rules, {}, [f"r{source.start}"]))
    analyzer.compute_lr0_states()
    analyzer.compute_reads_relations()  # type: ignore[no-untyped-call]
    analyzer.compute_includes_lookback()  # type: ignore[no-untyped-call]
    analyzer.compute_lookaheads()  # type: ignore[no-untyped-call]
    return sorted(analyzer.lr0_itemsets, key=lambda s: sorted(str(item) for item in s.kernel))


class _Analysis:
    def __init__(self, source: GrammarSource, never: Iterable[int]) -> None:
        self.source = source
        self.productions: dict[tuple[int, tuple[int, ...]], Production] = {}
        self.twice: list[Production] = []
        for production in useful(source, never):
            key = (production.rule, production.symbols)
            if key in self.productions:
                self.twice.append(production)
            self.productions[key] = production
        self.nullable = (
            {i for i, t in enumerate(source.terminals) if t.constraint.accepts(b"")}
            if source.lexer == "none"
            else set()
        )

    def found(self) -> tuple[Conflict, ...]:
        found = [Conflict("twice", "", (p,)) for p in self.twice]
        if not self.productions:
            return tuple(found)
        states = _item_sets(self.source, self.productions, self.nullable)
        seen: set[tuple[object, ...]] = set()
        for itemset in states:
            ends = any(item.is_satisfied and item.rule.origin.name[0] == "$" for item in itemset.closure)
            for look, rules in sorted(itemset.lookaheads.items(), key=lambda item: str(item[0].name)):
                reduced = sorted((self._production(r) for r in rules), key=lambda p: (p.rule, p.symbols))
                shifted = [
                    self._production(item.rule)
                    for item in itemset.closure
                    if not item.is_satisfied and item.next == look and item.rule.origin.name[0] != "$"
                ]
                shifted.sort(key=lambda p: (p.rule, p.symbols))
                kind: ConflictKind = "shift/reduce" if shifted and len(reduced) < 2 else "reduce/reduce"
                both = dict.fromkeys((*reduced, *shifted))
                if len(reduced) < 2 and not shifted and not (ends and look.name[0] == "$"):
                    continue
                name = self._terminal(look)
                if (kind, name, *both) not in seen:
                    seen.add((kind, name, *both))
                    found.append(Conflict(kind, name, tuple(both)))
        if self.source.lexer == "none":
            found += self._between_terminals(states)
        return tuple(found)

    def _production(self, rule: Any) -> Production:
        """The production of one of Lark's rules; for a terminal that may be empty, one that says so."""
        name = rule.origin.name
        if name[0] == "n":
            return Production(-1 - int(name[1:]), (), self.source.terminals[int(name[1:])].place)
        symbols = tuple(int(s.name[1:]) if s.name[0] == "r" else ~int(s.name[1:]) for s in rule.expansion)
        return self.productions[int(name[1:]), symbols]

    def _terminal(self, symbol: Any) -> str:
        return "the end" if symbol.name[0] == "$" else self.source.label(~int(symbol.name[1:]))

    # ---- without a lexer
    def _between_terminals(self, states: Sequence[Any]) -> list[Conflict]:
        first = {}
        going_on = {}
        for i, terminal in enumerate(self.source.terminals):
            first[i] = set(terminal.constraint._native.live_bytes(b""))
            going_on[i] = _going_on(terminal.constraint)
        following = {id(s): sorted(self._accepted(s)) for s in states}
        self._after: dict[str, list[Any]] = {}
        for state in states:
            for symbol, after in state.transitions.items():
                self._after.setdefault(symbol.name, []).append(after)
        # Which bytes, and some states where the first and the second terminal are taken.
        found: dict[tuple[int, int, str], tuple[set[int], list[tuple[Any, Any]]]] = {}

        def add(i: int, j: int, what: str, common: set[int], one: Any, other: Any) -> None:
            _, places = found.setdefault((i, j, what), (common, []))
            if len(places) < MOST_PLACES:
                places.append((one, other))

        for state in states:
            accepted = following[id(state)]
            for position, i in enumerate(accepted):
                for j in accepted[position + 1 :]:
                    if common := first[i] & first[j]:
                        add(i, j, "both may begin with", common, state, state)
            for symbol, after in state.transitions.items():
                if symbol.name[0] != "t":
                    continue
                i = int(symbol.name[1:])
                for j in following[id(after)]:
                    if common := going_on[i] & first[j]:
                        add(i, j, "the first may go on, or the second begin, with", common, state, after)
        return [self._conflict(i, j, what, *rest) for (i, j, what), rest in found.items()]

    def _accepted(self, state: Any) -> set[int]:
        names = {s.name for s in state.transitions} | {s.name for s in state.lookaheads}
        return {int(name[1:]) for name in names if name[0] == "t"}

    def _takers(self, state: Any, terminal: int) -> list[Production]:
        """The productions that go on with a terminal in a state, or after what ends there."""
        found: dict[Production, None] = {}
        seen, work = {id(state)}, [state]
        for current in work:
            for item in current.closure:
                going = item.rule.origin.name[0] == "r" and not item.is_satisfied
                if going and item.next.name in (f"t{terminal}", f"n{terminal}"):
                    found[self._production(item.rule)] = None
            ended = {
                r.origin.name for look, rs in current.lookaheads.items() if look.name == f"t{terminal}" for r in rs
            }
            for name in sorted(ended):
                for after in self._after.get(name, ()):
                    if id(after) not in seen:
                        seen.add(id(after))
                        work.append(after)
        return sorted(found, key=lambda p: (p.rule, p.symbols))

    def _conflict(self, i: int, j: int, what: str, common: set[int], places: list[tuple[Any, Any]]) -> Conflict:
        one = list(dict.fromkeys(p for state, _ in places for p in self._takers(state, i)))
        other = list(dict.fromkeys(p for _, state in places for p in self._takers(state, j)))
        a, b = self.source.label(~i), self.source.label(~j)
        shown = " ".join(repr(chr(c)) if c < 128 else f"\\x{c:02x}" for c in sorted(common)[:3])
        more = ", ..." if len(common) > 3 else ""
        both = dict.fromkeys((*one[:1], *other[:1], *one, *other))
        return Conflict("terminals", a, tuple(both), f"{a} and {b}: {what} {shown}{more}", (i, j))


def _going_on(constraint: Constraint) -> set[int]:
    """The bytes that may follow a member inside a longer member."""
    fst = constraint.to_fst(MOST_STATES)
    found: set[int] = set()
    for state in range(fst.num_states()):
        if fst.is_final(state):
            found |= {arc.ilabel % 256 for arc in fst.arcs(state)}
    return found
