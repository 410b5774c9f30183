"""check: what a grammar's rules are like: deterministic, ambiguous, left-recursive, useless."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..automata.errors import ConstraintError, LimitError
from .constraint import ReportEntry
from .grammar_ambiguity import Ambiguity, ambiguity
from .grammar_conflicts import Conflict, conflicts, never_read
from .grammar_lalr import MOST_EXPANSIONS, MOST_STEPS
from .grammar_source import GrammarSource, Place, Production, shortened
from .grammar_use import alone, components, deriving, is_empty, productive, reachable, without_text

MOST_SHOWN = 20  # conflicts in a report
MOST_LETTERS = 300  # of a sentence or a production in a report
MOST_FOLLOWED = 1_000_000  # calls that are followed for the paths of left recursion
Recursion = Literal["direct", "indirect", "hidden"]


@dataclass(frozen=True)
class RuleFinding:
    """A rule that something is said about."""

    rule: str
    place: Place | None


@dataclass(frozen=True)
class TerminalFinding:
    """A terminal that rules use and never get, and why."""

    terminal: str
    place: Place | None
    why: str


@dataclass(frozen=True)
class LeftRecursion:
    """A rule that can begin with itself, by ``path`` (rule names from it back to it, ``...`` for what is left out).

    ``"direct"``: a right-hand side begins with the rule, maybe inside of a group or repetition; ``"indirect"``: through
    other rules; ``"hidden"``: after rules that derived nothing.
    """

    rule: str
    place: Place | None
    kind: Recursion
    path: tuple[str, ...]


@dataclass(frozen=True)
class GrammarDiagnosis:
    """What :func:`check` found.

    ``deterministic``: whether an LALR(1) parser decides everything (without a lexer, one that reads byte by byte, with
    a rule for each state of a terminal's automaton); None where that stayed open. Each terminal is one regular
    expression, whose alternatives are no part of this: so, in GBNF and EBNF, is each part of a rule that calls no rule.
    ``ambiguity``: a sentence with two derivations, without a lexer a text, where one was found; a deterministic grammar
    has none. ``cyclic``: rules that derive themselves, and so everything in infinitely many ways.
    ``never_read``: terminals in rules that match nothing, or that the lexer never yields where the rules take them;
    alternatives with them count for nothing.
    """

    deterministic: bool | None
    conflicts: tuple[Conflict, ...]
    ambiguity: Ambiguity | None
    unreachable: tuple[RuleFinding, ...]
    unproductive: tuple[RuleFinding, ...]
    left_recursive: tuple[LeftRecursion, ...]
    nullable: tuple[RuleFinding, ...]
    cyclic: tuple[RuleFinding, ...]
    never_read: tuple[TerminalFinding, ...]
    source: GrammarSource

    def report_entries(self) -> tuple[ReportEntry, ...]:
        """The findings as entries of :attr:`Constraint.report`."""
        entries: list[ReportEntry] = []

        def add(place: Place | None, subject: str, detail: str, status: str = "annotation") -> None:
            entries.append(ReportEntry(str(place or ""), subject, status, detail))

        for found in self.unreachable:
            add(found.place, found.rule, "unreachable: the start rule never comes to it", "ignored")
        for found in self.unproductive:
            add(found.place, found.rule, "unproductive: it derives no text", "ignored")
        for lost in self.never_read:
            add(lost.place, lost.terminal, f"never read: {lost.why}", "ignored")
        for recursion in self.left_recursive:
            add(recursion.place, recursion.rule, f"{recursion.kind} left recursion: {' -> '.join(recursion.path)}")
        for found in self.cyclic:
            add(found.place, found.rule, "cyclic: it derives itself")
        start = self.source.rules[self.source.start]
        if self.deterministic is None:
            open_ = "deterministic: not decided; the grammar is too large, or a terminal is not regular"
            add(start.place, start.name, open_)
        elif self.deterministic:
            add(start.place, start.name, "deterministic")
        # Steps of a repetition may have conflicts that read alike.
        shown: dict[tuple[Place | None, str, str], None] = {}
        more = len(self.conflicts)
        for conflict in self.conflicts:
            if len(shown) == MOST_SHOWN:
                break
            more -= 1
            place = conflict.productions[0].place if conflict.productions else start.place
            shown[place, self.subject(conflict), f"not deterministic: {self.describe(conflict)}"] = None
        for told in shown:
            add(*told)
        if more:
            add(start.place, start.name, f"not deterministic: {more} more conflicts")
        if self.ambiguity is not None:
            one, other = self.ambiguity.derivations
            sentence = shortened(" ".join(self.ambiguity.sentence), MOST_LETTERS) or "the empty text"
            add(self._place(self.ambiguity.rule), self.ambiguity.rule, f"ambiguous: {sentence}: {one} or {other}")
        return tuple(entries)

    def subject(self, conflict: Conflict) -> str:
        """The rule that a conflict is first about, or the terminal."""
        return self.source.name(conflict.productions[0].rule) if conflict.productions else conflict.terminal

    def describe(self, conflict: Conflict) -> str:
        """A conflict in one line."""
        shown = [self._show(p) for p in conflict.productions[:4]] + ["..."] * (len(conflict.productions) > 4)
        if conflict.kind == "terminals":
            return f"{conflict.detail}: {', or '.join(shown)}"
        if conflict.kind == "twice":
            return f"{shown[0]} is written twice" if len(shown) == 1 else f"{shown[0]} and {shown[1]} are the same"
        return f"{conflict.kind} conflict before {conflict.terminal}: {', or '.join(shown)}"

    def _show(self, production: Production) -> str:
        if production.rule < 0:
            shown = f"{self.source.label(production.rule)} left empty"
        else:
            shown = shortened(self.source.show(production), MOST_LETTERS)
        return f"{shown} ({production.place})" if production.place else shown

    def _place(self, rule: str) -> Place | None:
        return next((r.place for r in self.source.rules if r.name == rule), None)


class DiagnosisReport:
    """The diagnosis of a grammar as a part of its constraint's report: made when it is first read."""

    def __init__(self, source: GrammarSource) -> None:
        self.source = source
        self._diagnosis: GrammarDiagnosis | None = None

    def diagnosis(self) -> GrammarDiagnosis:
        """What :func:`check` finds."""
        if self._diagnosis is None:
            self._diagnosis = check(self.source)
        return self._diagnosis

    def entries(self) -> tuple[ReportEntry, ...]:
        """Entries for :attr:`Constraint.report`."""
        return self.diagnosis().report_entries()

    def require_determinism(self) -> None:
        """Raise ConstraintError where the grammar is not deterministic as written, LimitError where that is open."""
        diagnosis = self.diagnosis()
        if diagnosis.deterministic is None:
            raise LimitError(
                "grammar: strict=True, and whether the grammar is deterministic was not decided: a terminal is not "
                f"regular, or the limit expansions={MOST_EXPANSIONS} of LR(0) items or steps={MOST_STEPS} of their "
                "analysis was reached; leave strict out"
            )
        wrong = [e for e in diagnosis.report_entries() if e.detail.startswith(("not deterministic", "ambiguous"))]
        if wrong:
            shown = "; ".join(f"{e.place}: {e.subject}: {e.detail}" for e in wrong[-1:] + wrong[:-1][:3])
            raise ConstraintError(
                f"grammar: strict=True, and the grammar is not deterministic: {shown}; rewrite these rules, or leave "
                "strict out"
            )


def check(source: GrammarSource) -> GrammarDiagnosis:
    """Diagnose a grammar as it is written, before the transformations that make it run.

    Linear or nearly so for the findings about single rules; conflicts and ambiguity are searched within bounds
    (:mod:`.grammar_conflicts`, :mod:`.grammar_ambiguity`), about a second each at most on common grammars.
    """
    source = source.written()
    never = never_read(source)
    good = productive(source, never)
    called = reachable(source, source.productions)
    taken = {~s for p in source.productions if p.rule in called for s in p.symbols if s < 0}
    blank = _blank(source)
    empty = deriving([(p.rule, p.symbols) for p in source.productions], blank)
    written = [i for i, rule in enumerate(source.rules) if rule.written]
    found = conflicts(source, never)
    suspects = {p.rule for c in found or () for p in c.productions if p.rule >= 0}
    suspects |= {~t for c in found or () for t in c.between}
    shown = None if found == () else ambiguity(source, suspects or called, never)

    def named(rules: set[int]) -> tuple[RuleFinding, ...]:
        return tuple(RuleFinding(source.rules[i].name, source.rules[i].place) for i in written if i in rules)

    return GrammarDiagnosis(
        deterministic=None if found is None else not found,
        conflicts=found or (),
        ambiguity=shown,
        unreachable=named(set(written) - reachable(source, (*source.productions, *source.operands))),
        unproductive=named({i for i in called if i not in good}),
        left_recursive=_left_recursive(source, empty | blank),
        nullable=named(empty & called),
        cyclic=named(_cyclic(source, empty | blank) & called),
        never_read=_lost(source, never & taken),
        source=source,
    )


def no_text(source: GrammarSource) -> ConstraintError | None:
    """The error of a grammar whose start rule derives nothing, with the rules and terminals that are to blame."""
    never = without_text(source)
    good = productive(source, never)
    if source.start in good:
        return None
    called = reachable(source, source.productions)
    guilty = [r for i, r in enumerate(source.rules) if r.written and i in called - good]
    rules = [f"{r.name} ({r.place})" if r.place else r.name for r in guilty]
    taken = {~s for p in source.productions if p.rule in called for s in p.symbols if s < 0}
    lost = _lost(source, never & taken)
    terminals = [f"{t.terminal} ({t.place}: {t.why})" if t.place else f"{t.terminal} ({t.why})" for t in lost]
    parts = [f"the rules {_some(rules)}"] * (len(rules) > 1) + [f"the terminals {_some(terminals)}"] * bool(terminals)
    blamed = f"; without text are {' and '.join(parts)}" if parts else ""
    start = source.rules[source.start]
    where = f"{start.place}: " if start.place else ""
    return ConstraintError(
        f"grammar: {where}the start rule {start.name} has no text: every alternative needs a rule that calls itself "
        f"without end, or a terminal without text{blamed}; add an alternative that ends"
    )


def _some(names: list[str]) -> str:
    return ", ".join(names[:MOST_SHOWN]) + f" and {len(names) - MOST_SHOWN} more" * (len(names) > MOST_SHOWN)


def _lost(source: GrammarSource, never: set[int] | frozenset[int]) -> tuple[TerminalFinding, ...]:
    """Why rules never get these terminals."""
    found = []
    for t in sorted(never):
        terminal = source.terminals[t]
        if terminal.ignored:
            why = "it is ignored between all others"
        elif is_empty(terminal.constraint._native):
            why = "it matches nothing"
        else:
            why = _first_of_others(source, t)
        found.append(TerminalFinding(source.label(~t), terminal.place, why))
    return tuple(found)


def _first_of_others(source: GrammarSource, t: int) -> str:
    """Which terminal is read instead of one, where a single one is, and what helps."""
    terminal = source.terminals[t]
    why = "other terminals come first for all that it matches"
    for i, other in enumerate(source.terminals[:t]):
        try:
            if not is_empty((terminal.constraint - other.constraint)._native):
                continue
        except (ConstraintError, LimitError):
            continue
        why = f"{source.label(~i)} comes first for all that it matches"
        break
    above = max((other.priority for other in source.terminals[:t]), default=0) + 1
    named = source.syntax == "lark" and terminal.name.isidentifier()  # others cannot be given one
    remedies = [f"give it a priority, {terminal.name}.{above}: ..."] * named
    remedies += ['pass lexer="contextual"'] * (source.lexer == "basic")
    return f"{why}: {', or '.join(remedies)}" if remedies else why


def _blank(source: GrammarSource) -> set[int]:
    """The terminals that may be the empty text, as symbols."""
    return {~i for i, t in enumerate(source.terminals) if source.lexer == "none" and t.constraint.accepts(b"")}


def _left_recursive(source: GrammarSource, empty: set[int]) -> tuple[LeftRecursion, ...]:
    """The written rules that can begin with themselves, each with a shortest path; open ones before hidden ones.

    Paths are searched for in MOST_FOLLOWED steps in all: where rules are so many, most of them are left out.
    """
    plain: dict[int, dict[int, None]] = {}
    hidden: dict[int, dict[int, None]] = {}
    for p in source.productions:
        repeats = not source.rules[p.rule].written and p.rule in empty and p.symbols[:1] == (p.rule,)
        for i, s in enumerate(p.symbols):
            if s >= 0:
                hidden.setdefault(p.rule, {})[s] = None
                if i == 0 or (i == 1 and repeats):  # a star begins with what it repeats
                    plain.setdefault(p.rule, {})[s] = None
            if s not in empty:
                break
    open_, circles = _on_circles(plain), _on_circles(hidden)
    inner = {r: targets for r, targets in plain.items() if not source.rules[r].written}
    steps = MOST_FOLLOWED
    found: list[LeftRecursion] = []
    for i, rule in enumerate(source.rules):
        if not rule.written or i not in circles:
            continue
        kind: Recursion = "direct"
        path, _ = _path(inner, i, plain.get(i, ()))
        if path is None:
            kind, edges = ("indirect", plain) if i in open_ else ("hidden", hidden)
            path, steps = _path(edges, i, edges[i], steps)
        names = tuple(source.rules[r].name for r in path or () if source.rules[r].written)
        found.append(LeftRecursion(rule.name, rule.place, kind, names or (rule.name, "...", rule.name)))
    return tuple(found)


def _cyclic(source: GrammarSource, empty: set[int]) -> set[int]:
    """The rules that derive themselves with nothing else."""
    edges: dict[int, dict[int, None]] = {}
    for p in source.productions:
        for i in alone(p.symbols, empty):
            edges.setdefault(p.rule, {})[p.symbols[i]] = None
    return _on_circles(edges)


def _on_circles(edges: dict[int, dict[int, None]]) -> set[int]:
    """The nodes with a path back to themselves. Linear."""
    found: set[int] = set()
    for component in components(edges, lambda node: edges.get(node, ())):
        if len(component) > 1 or component[0] in edges.get(component[0], ()):
            found.update(component)
    return found


def _path(
    edges: dict[int, dict[int, None]], start: int, first: Iterable[int], steps: int = sys.maxsize
) -> tuple[list[int] | None, int]:
    """A shortest path from a node back to it that begins with one of ``first``, and what is left of the steps.

    The path is None where there is none, or where the steps are too few.
    """
    before: dict[int, int] = {}
    work = [start]
    for node in work:
        for target in first if node == start else edges.get(node, ()):
            steps -= 1
            if target == start:
                path = [start]
                while node != start:
                    path.append(node)
                    node = before[node]
                return [start, *reversed(path[1:]), start], steps
            if steps <= 0:
                return None, 0
            if target not in before:
                before[target] = node
                work.append(target)
    return None, steps
