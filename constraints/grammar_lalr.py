"""Lalr: the LR(0) states of productions, with their LALR(1) lookaheads."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from ..automata.errors import LimitError
from .grammar_use import components, deriving

MOST_EXPANSIONS = 100_000  # items that begin a production, in all states; less than a second
MOST_STEPS = 4_000_000  # items, symbols of productions and words of bits that are looked at; a few seconds
OPTIONAL = 1 << 32  # terminal t that may be empty is the rule OPTIONAL + t
ROOT = 1 << 33  # the rule above the start rule
SHOWN = 24  # symbols by which items are sorted first

Form = tuple[int, ...]


@dataclass(eq=False)
class State:
    """An LR(0) state: its items, where symbols lead, and for each production that ends here the terminals after it.

    Sets of terminals are numbers with bit t for terminal t.
    """

    kernel: Form
    closure: tuple[int, ...]
    transitions: dict[int, State] = field(default_factory=dict)
    reductions: dict[int, int] = field(default_factory=dict)
    shifts: int = 0


class Lalr:
    """The analysis of DeRemer and Pennello (1982), nearly linear in the symbols of all states.

    As Lark has it: where a state begins a rule again, items of that rule that began earlier count as begun there.

    ``optional``: terminals that may be empty. ``states`` are ordered by the items of their kernels, as text. An item is
    a number: ``following`` is the symbol after its dot (None at the end), ``owner`` its production. Raises LimitError
    where MOST_EXPANSIONS or MOST_STEPS are reached.
    """

    def __init__(self, productions: Iterable[tuple[int, Form]], start: int, optional: Container[int] = ()) -> None:
        written = list(dict.fromkeys(productions))
        self.spent = self.expanded = 0
        terminals = sorted({~s for _, symbols in written for s in symbols if s < 0})
        empty = {~t: OPTIONAL + t for t in terminals if t in optional}
        self.productions = [(r, tuple(empty.get(s, s) for s in symbols)) for r, symbols in written]
        for t, rule in empty.items():
            self.productions += [(rule, ()), (rule, (t,))]
        self.productions.append((ROOT, (start,)))
        self.end = max(terminals, default=-1) + 1  # the bit of the end of the sentence
        self.words = 1 + self.end // 64
        self.following: list[int | None] = []
        self.owner: list[int] = []
        self._begins: list[int] = []
        self._by_rule: dict[int, list[int]] = {}
        for p, (rule, symbols) in enumerate(self.productions):
            self._by_rule.setdefault(rule, []).append(len(self.owner))
            self._begins.append(len(self.owner))
            self.following += [*symbols, None]
            self.owner += [p] * (len(symbols) + 1)
        self.last = len(self.owner) - 1  # the item with which the sentence has ended
        self._nullable = deriving(self.productions, set())
        self._expansions: dict[int, list[int]] = {}
        self.states: list[State] = []
        self._make_states()
        self._find_lookaheads()
        self._texts: dict[tuple[int, int], str] = {}
        self.states.sort(key=lambda state: sorted(map(self._key, state.kernel)))

    def _spend(self, steps: int) -> None:
        self.spent += steps
        if self.spent > MOST_STEPS:
            raise LimitError(f"grammar: the limit steps={MOST_STEPS} of the analysis of rules was reached")

    def undecided(self, state: State) -> int:
        """The terminals, as bits, before which a state has two ways."""
        met, found = state.shifts, 0
        if self.last in state.kernel:
            met |= 1 << self.end
        for bits in state.reductions.values():
            found |= met & bits
            met |= bits
        return found

    # ---- states
    def _make_states(self) -> None:
        made: dict[Form, State] = {}

        def state(kernel: Form) -> State:
            if kernel not in made:
                closure = dict.fromkeys(kernel)
                for item in kernel:
                    following = self.following[item]
                    if following is not None and following >= 0:
                        closure.update(dict.fromkeys(self._expand(following)))
                self._spend(len(closure))
                made[kernel] = State(kernel, tuple(closure))
                self.states.append(made[kernel])
            return made[kernel]

        state((self._begins[-1],))
        for current in self.states:
            after: dict[int, list[int]] = {}
            for item in current.closure:
                following = self.following[item]
                if following is not None:
                    after.setdefault(following, []).append(item + 1)
            for symbol, items in after.items():
                current.transitions[symbol] = state(tuple(sorted(items)))
                if symbol < 0:
                    current.shifts |= 1 << ~symbol

    def _expand(self, rule: int) -> list[int]:
        """The first items of a rule, and of the rules that these begin with."""
        if rule not in self._expansions:
            found, rules = [], {rule: None}
            work = [rule]
            for current in work:
                for item in self._by_rule[current]:
                    found.append(item)
                    following = self.following[item]
                    if following is not None and following >= 0 and following not in rules:
                        rules[following] = None
                        work.append(following)
            self._expansions[rule] = found
        self.expanded += len(self._expansions[rule])
        if self.expanded > MOST_EXPANSIONS:
            raise LimitError(f"grammar: the limit expansions={MOST_EXPANSIONS} of LR(0) items was reached")
        return self._expansions[rule]

    # ---- lookaheads
    def _find_lookaheads(self) -> None:
        nodes: dict[tuple[State, int], int] = {}
        for state in self.states:
            for symbol in state.transitions:
                if symbol >= 0:
                    nodes[state, symbol] = len(nodes)
        direct = [state.transitions[rule].shifts for state, rule in nodes]
        direct[nodes[self.states[0], self.productions[-1][1][0]]] |= 1 << self.end
        reads = []
        for state, rule in nodes:
            after = state.transitions[rule]
            reads.append([nodes[after, s] for s in after.transitions if s in self._nullable])
        ends = self._ends()
        includes: list[list[int]] = [[] for _ in nodes]
        lookback: list[tuple[State, int, int]] = []
        walked: dict[tuple[State, int], State] = {}
        for state in self.states:
            for item in state.closure:
                p = self.owner[item]
                node = nodes.get((state, self.productions[p][0]))
                if node is None:
                    continue
                current, place = state, max(item, ends[p])
                if item < place:
                    current = self._walk(state, item, place, walked)
                for last in self.productions[p][1][place - self._begins[p] :]:
                    if last >= 0:
                        includes[nodes[current, last]].append(node)
                    current = current.transitions[last]
                    self._spend(1)
                if item == self._begins[p]:
                    lookback.append((current, p, node))
        follow = self._unions(includes, self._unions(reads, direct))
        for state, p, node in lookback:
            state.reductions[p] = state.reductions.get(p, 0) | follow[node]
            self._spend(self.words)

    def _ends(self) -> list[int]:
        """Of each production the item before its last symbol and those that only symbols follow which may be empty."""
        found = []
        for p, (_, symbols) in enumerate(self.productions):
            place = len(symbols)
            while place and (place == len(symbols) or symbols[place] in self._nullable):
                place -= 1
            found.append(self._begins[p] + place)
        return found

    def _walk(self, state: State, item: int, end: int, walked: dict[tuple[State, int], State]) -> State:
        """Where the symbols between two items lead; each step is taken once."""
        path = []
        while item < end and (state, item) not in walked:
            path.append((state, item))
            symbol = self.following[item]
            assert symbol is not None
            state, item = state.transitions[symbol], item + 1
        reached = walked[state, item] if item < end else state
        walked.update(dict.fromkeys(path, reached))
        self._spend(len(path))
        return reached

    def _unions(self, edges: list[list[int]], sets: list[int]) -> list[int]:
        """The union of the sets of all that a node leads to; nodes that lead to each other have one."""
        found = list(sets)
        for component in components(range(len(sets)), edges.__getitem__):
            union = 0
            for node in component:
                union |= found[node]
                for target in edges[node]:
                    union |= found[target]
                self._spend(self.words * len(edges[node]))
            for node in component:
                found[node] = union
        return found

    # ---- order
    def _key(self, item: int) -> tuple[str, int]:
        p = self.owner[item]
        dot = min(item - self._begins[p], SHOWN)
        if (p, dot) not in self._texts:
            rule, symbols = self.productions[p]
            names = [symbol_name(s) for s in symbols[:SHOWN]]
            self._texts[p, dot] = f"{symbol_name(rule)} : {' '.join(names[:dot])} * {' '.join(names[dot:])}>"
        return self._texts[p, dot], item


def symbol_name(symbol: int) -> str:
    """A symbol as text, by which conflicts are ordered."""
    if symbol < 0:
        return f"t{~symbol}"
    if symbol == ROOT:
        return "$"
    return f"r{symbol}" if symbol < OPTIONAL else f"n{symbol - OPTIONAL}"


def members(bits: int) -> list[int]:
    """The numbers in a set of bits, in order."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
