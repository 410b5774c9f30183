"""What of a grammar some sentence uses: terminals that have a lexeme, rules that derive a text and that are called."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

from .._core import Language
from ..automata.errors import LimitError
from .grammar_source import GrammarSource, Production, Terminal


def without_text(source: GrammarSource) -> frozenset[int]:
    """The terminals that rules never see, wherever they stand.

    Those that match nothing, and with a lexer those that are ignored or lose each of their texts to terminals which
    always compete and come first. With ``lexer="basic"`` all compete, with ``"contextual"`` the ignored ones always do
    (for the others see :func:`.grammar_conflicts.never_read`). INDENT and DEDENT, which have no member, are read.
    """
    found = {i for i, t in enumerate(source.terminals) if is_empty(t.constraint._native)}
    if source.lexer != "none":
        rivals = [t for t in source.terminals if source.lexer == "basic" or t.ignored]
        found |= {i for i, t in enumerate(source.terminals) if t.ignored} | beaten(source, rivals)
    return frozenset(found - ({source.indent.indent, source.indent.dedent} if source.indent else set()))


def beaten(source: GrammarSource, rivals: Sequence[Terminal], among: Container[int] | None = None) -> set[int]:
    """The terminals, of ``among`` or of all, all of whose texts belong to rivals that come before them.

    A rival whose match depends on what follows beats nothing. Of each terminal that is no string one language is
    searched for a member, within the limits of its constraint; one that stays open counts as having one.
    """
    wanted = {id(t) for t in rivals}
    literals: set[bytes] = set()
    patterns = _Patterns()
    found: set[int] = set()
    for i, terminal in enumerate(source.terminals):
        native, text = terminal.constraint._native, terminal.literal
        if among is not None and i not in among:
            lost = False
        elif text is not None:
            lost = text in literals or patterns.have(text)
        else:
            lost = _may_lose(native, literals, patterns) and is_empty(
                Language.difference(native, Language.union_([*patterns.unions(), Language.choice(sorted(literals))]))
            )
        if lost:
            found.add(i)
        if id(terminal) in wanted and not terminal.guards:
            if text is not None:
                literals.add(text)
            else:
                patterns.add(native)
    return found


class _Patterns:
    """Languages as a few unions, each of at least twice as many as the next: each is joined few times."""

    def __init__(self) -> None:
        self._unions: list[tuple[int, Language]] = []
        self._more: list[Language] = []

    def add(self, language: Language) -> None:
        self._more.append(language)

    def unions(self) -> list[Language]:
        if self._more:
            count, parts = len(self._more), self._more
            while self._unions and self._unions[-1][0] < 2 * count:
                joined, union = self._unions.pop()
                count, parts = count + joined, [union, *parts]
            self._unions.append((count, Language.union_(parts)))
            self._more = []
        return [union for _, union in self._unions]

    def have(self, text: bytes) -> bool:
        return any(union.accepts(text) for union in self.unions())


def _may_lose(native: Language, literals: Container[bytes], patterns: _Patterns) -> bool:
    """Whether some member is one of theirs; most often none is, and nothing more has to be asked."""
    try:
        return all(member in literals or patterns.have(member) for member in native.examples(1, 0))
    except LimitError:
        return True


def productive(source: GrammarSource, never: Iterable[int] | None = None) -> set[int]:
    """The rules that derive some sequence of terminals, none of them in ``never`` (:func:`without_text` if not given).

    Linear.
    """
    empty = set(without_text(source) if never is None else never)
    return deriving(
        [(p.rule, p.symbols) for p in source.productions], {~t for t in range(len(source.terminals)) if t not in empty}
    )


def deriving(productions: Iterable[tuple[int, tuple[int, ...]]], leaves: Container[int]) -> set[int]:
    """The rules that derive some sequence of ``leaves``, or the empty one. Linear (Dowling and Gallier 1984)."""
    found: set[int] = set()
    work: list[int] = []
    missing: list[list[int]] = []  # of each production its rule, and how many symbols are not found yet
    users: dict[int, list[list[int]]] = {}

    def count(entry: list[int]) -> None:
        if not entry[1] and entry[0] not in found:
            found.add(entry[0])
            work.append(entry[0])

    for rule, symbols in productions:
        lacking = {s for s in symbols if s not in leaves}
        missing.append([rule, len(lacking)])
        for s in lacking:
            users.setdefault(s, []).append(missing[-1])
        count(missing[-1])
    while work:
        for entry in users.get(work.pop(), ()):
            entry[1] -= 1
            count(entry)
    return found


def alone(symbols: Sequence[int], empty: Container[int]) -> list[int]:
    """The positions of rules in a right-hand side of which all the rest may be empty."""
    full = [i for i, s in enumerate(symbols) if s not in empty]
    found = full if len(full) == 1 else range(0 if full else len(symbols))
    return [i for i in found if symbols[i] >= 0]


def settle(
    productions: Sequence[Production],
    step: Callable[[Production], Iterable[int]],
    concerned: Mapping[int, Sequence[Production]],
) -> None:
    """Call ``step`` for each production, and again for those that a rule concerns which it says has changed."""
    work = deque(reversed(productions))  # rules mostly stand before those that they call
    waiting = set(map(id, work))
    while work:
        production = work.popleft()
        waiting.discard(id(production))
        for rule in step(production):
            for other in concerned.get(rule, ()):
                if id(other) not in waiting:
                    waiting.add(id(other))
                    work.append(other)


def users(productions: Iterable[Production]) -> dict[int, list[Production]]:
    """The productions that each symbol stands in."""
    found: dict[int, list[Production]] = {}
    for p in productions:
        for s in set(p.symbols):
            found.setdefault(s, []).append(p)
    return found


def components(nodes: Iterable[int], targets: Callable[[int], Iterable[int]]) -> Iterator[list[int]]:
    """The sets of nodes that lead to each other, each after those that it leads to. Linear (Tarjan 1972)."""
    low: dict[int, float] = {}  # the least depth in `open_` that is known to be reached; infinite of what was yielded
    open_: list[int] = []
    for root in nodes:
        work = [] if root in low else [(root, len(open_), iter(targets(root)))]
        while work:
            node, depth, rest = work[-1]
            if node not in low:
                low[node] = depth
                open_.append(node)
            for target in rest:
                if target not in low:
                    work.append((target, len(open_), iter(targets(target))))
                    break
                low[node] = min(low[node], low[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == depth:
                    component = open_[depth:]
                    del open_[depth:]
                    low.update(dict.fromkeys(component, math.inf))
                    yield component


def reachable(source: GrammarSource, productions: Iterable[Production]) -> set[int]:
    """The rules that the start rule calls through these productions, itself included. Linear."""
    calls: dict[int, set[int]] = {}
    for p in productions:
        calls.setdefault(p.rule, set()).update(s for s in p.symbols if s >= 0)
    found, work = {source.start}, [source.start]
    while work:
        for rule in calls.get(work.pop(), set()) - found:
            found.add(rule)
            work.append(rule)
    return found


def useful(source: GrammarSource, never: Iterable[int]) -> list[Production]:
    """The productions that some derivation of a sentence uses; terminals in ``never`` stand in none."""
    empty = set(never)
    good = productive(source, empty)
    kept = [
        p
        for p in source.productions
        if p.rule in good and all(s in good if s >= 0 else ~s not in empty for s in p.symbols)
    ]
    called = reachable(source, kept)
    return [p for p in kept if p.rule in called]


def is_empty(language: Language) -> bool:
    """Whether it has no member; one that stays open counts as having one."""
    try:
        return language.is_empty()
    except LimitError:
        return False
