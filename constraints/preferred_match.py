r"""preferred_match: the match that a backtracking matcher prefers, as a language whose longest match it is.

A backtracking matcher tries alternatives in order; what it finds is the first of all paths through the pattern that
match. The subset construction over ordered lists of threads, in which a thread that has matched cuts off all after it,
accepts a prefix of the text exactly when a path preferred to all shorter matches ends there. The last accepted prefix,
so the longest match of the automaton's language, is the matcher's choice.
Source: Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009), for leftmost-first matching.

Where a path ends with lookahead that goes on past the match, it is a match only if what follows allows it, and the
paths after it go on in case it does not: they demand the contrary. What such lexemes demand together is their guard.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .._core import END_BYTE, Language
from ..automata.errors import LimitError, UnsupportedError
from .constraint import DEFAULT_LIMITS, SPECIAL, Constraint
from .from_fst import from_fst
from .literal import choice, literal
from .match_demands import Demand, conjunction, contraries, implies
from .regex import regex

if TYPE_CHECKING:
    from ..automata import Fst, FstArrays

MOST_INSTRUCTIONS = 20_000
MOST_STATES = 5_000
_I, _MULTILINE, _S, _A = 2, 8, 16, 256  # flags of re
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip


class OutsideError(UnsupportedError):
    """A match depends on the text ``"before"`` or ``"after"`` it: the only argument."""


class Guard(NamedTuple):
    r"""Lexemes that are matches only if what follows allows it.

    ``forbidden`` and ``allowed``: languages of prefixes of the rest of the text, with the byte END_BYTE after its end;
    each rest has a prefix in one of them, and none in both. For lookahead a special token ends the text, too.
    """

    lexemes: Constraint
    forbidden: Constraint
    allowed: Constraint

    def native(self, terminal: int) -> tuple[int, Language, Language, Language]:
        """As the native compiler of grammars takes it."""
        return terminal, self.lexemes._native, self.forbidden._native, self.allowed._native


Thread = tuple[int, tuple[Demand, ...]]
State = tuple[tuple[Thread, ...], tuple[int, ...]]  # threads in order of preference; the last classes read
# Ways in which what follows a lexeme may allow it: the demands of each.
Condition = frozenset[tuple[Demand, ...]]
S = TypeVar("S", bound=Hashable)


def preferred_match(
    tree: Any, properties: dict[int, str], seconds: float = DEFAULT_LIMITS.seconds, guarded: bool = False
) -> tuple[Constraint, tuple[Guard, ...]]:
    r"""The language of a pattern's tree (of Python's own parser) whose longest match is what ``re.match`` finds.

    ``properties``: the text of each ``\p{...}`` by the code point that stands for it in the tree. Lookahead may go
    beyond the match only where it forbids what a longer match takes anyway (``\w+\b``), or with ``guarded``: then some
    lexemes have guards, and the longest one whose guard allows what follows is what ``re.match`` finds. Raises
    OutsideError where the match depends on other text around it, UnsupportedError for lookaround inside lookaround and
    atomic groups, and past MOST_INSTRUCTIONS or MOST_STATES, LimitError past ``seconds`` of processor time. Exponential
    in the worst case, as determinization is.
    """
    program = _Program(properties)
    start = program.sequence(tree, int(tree.state.flags), program.add("match"), "")
    made = _Determinizer(program, start, _Clock(seconds))
    try:
        return made.language(), ()
    except OutsideError as error:
        if str(error) == "before" or not guarded:
            raise
    return made.guarded_language()


def _written(name: str, value: Any) -> str:
    """What an item of a pattern's tree is, for messages."""
    if name in ("ASSERT", "ASSERT_NOT"):
        sign = "!" if name == "ASSERT_NOT" else "="
        return f"a lookahead (?{sign}...)" if value[0] > 0 else f"a lookbehind (?<{sign}...)"
    if name == "AT":
        ends = {"AT_BEGINNING": "^", "AT_BEGINNING_STRING": r"\A", "AT_END": "$", "AT_END_STRING": r"\Z"}
        return ends.get(str(value), "a word boundary")
    named = {"ATOMIC_GROUP": "an atomic group (?>...)", "GROUPREF": "a backreference"}
    return named.get(name, name.lower().replace("_", " "))


class _Clock:
    """Raises LimitError when the thread's processor time since the beginning is more than some seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.until = time.thread_time() + seconds
        self.steps = 0

    def spend(self, steps: int = 1) -> None:
        """Count small steps."""
        self.steps += steps
        if self.steps < 256:
            return
        self.steps = 0
        if time.thread_time() > self.until:
            raise LimitError(
                f"terminal: the limit seconds={self.seconds:g} was reached (the match that a pattern with lazy "
                "quantifiers or lookaround prefers); nest fewer of them, use smaller bounds, or raise it: "
                "tokamata.Limits(seconds=...)"
            )


class _Program:
    """Instructions: ("char", leaf, next), ("split", nexts), ("ahead" or "behind", negated, width, inner, next).

    In lookahead ("end", -1, next) is the end of the text, and ("edge", -1, next, negated, leaf, inside) a word boundary
    where the last character was one of the leaf, or, as the instruction before it, was not.

    ("loop", number, nexts, end) is a split that goes to the loop's end where an iteration was empty, as re does;
    ("enter", number, next) comes to a loop from outside.
    """

    def __init__(self, properties: dict[int, str]) -> None:
        self.code: list[tuple[Any, ...]] = []
        self.properties = properties
        self.leaves: dict[str, int] = {}
        self.history = 0  # characters that lookbehind sees
        self.loops = 0

    def add(self, *instruction: Any) -> int:
        if len(self.code) >= MOST_INSTRUCTIONS:
            raise UnsupportedError(
                f"a lazy quantifier beside repetitions of more than {MOST_INSTRUCTIONS} steps; use smaller bounds"
            )
        self.code.append(instruction)
        return len(self.code) - 1

    def sequence(self, items: Any, flags: int, follow: int, inside: str) -> int:
        """Instructions of items that go on at ``follow``; returns where they begin."""
        for item in reversed(list(items)):
            follow = self._item(str(item[0]), item[1], flags, follow, inside)
        return follow

    def _item(self, name: str, value: Any, flags: int, follow: int, inside: str) -> int:
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self.add("char", self._leaf(name, value, flags), follow)
        if name == "BRANCH":
            return self.add("split", tuple(self.sequence(b, flags, follow, inside) for b in value[1]))
        if name == "SUBPATTERN":
            return self.sequence(value[3], (flags | value[1]) & ~value[2], follow, inside)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(name == "MAX_REPEAT", value, flags, follow, inside)
        if name in ("ASSERT", "ASSERT_NOT") and not inside:
            return self._look(value[0] > 0, name == "ASSERT_NOT", value[1], flags, follow)
        if name == "AT" and inside != "behind" and str(value) in ("AT_BOUNDARY", "AT_NON_BOUNDARY"):
            word = _Items([("IN", [("CATEGORY", "CATEGORY_WORD")])])
            same = str(value) == "AT_NON_BOUNDARY"
            if inside:
                self.history = max(self.history, 1)
                leaf = self._leaf("IN", word[0][1], flags)
                self.add("edge", -1, follow, same, leaf, False)
                return self.add("edge", -1, follow, same, leaf, True) - 1
            ways = []
            for before in (True, False):
                after = self._look(True, before != same, word, flags, follow)
                ways.append(self._look(False, not before, word, flags, after))
            return self.add("split", tuple(ways))
        if name == "AT" and inside != "behind" and str(value) in ("AT_END", "AT_END_STRING"):
            return self._end(str(value) == "AT_END", flags, follow, inside)
        raise UnsupportedError(
            f"a lazy quantifier beside {_written(name, value)}{' inside a lookaround' if inside else ''}; "
            "write the pattern without one of the two"
        )

    def _end(self, dollar: bool, flags: int, follow: int, inside: str) -> int:
        r"""``\Z``, or ``$``: there, before a newline there, or with MULTILINE before any newline."""
        if inside and not dollar:
            return self.add("end", -1, follow)
        if inside and self.code[follow][0] != "match":
            raise UnsupportedError("a lazy quantifier beside $ that is not the last in a lookahead; put it last")
        match = follow if inside else self.add("match")
        inner = self.add("end", -1, match)
        if dollar:
            newline = self.add("char", self._leaf("LITERAL", ord("\n"), flags), match if flags & _MULTILINE else inner)
            inner = self.add("split", (inner, newline))
        return inner if inside else self.add("ahead", False, 0, inner, follow)

    def _repeat(self, greedy: bool, value: Any, flags: int, follow: int, inside: str) -> int:
        low, high, body = int(value[0]), value[1], value[2]

        def either(more: int) -> tuple[int, int]:
            return (more, follow) if greedy else (follow, more)

        number = self.loops
        self.loops += 1
        current = follow
        if str(high) == "MAXREPEAT":
            current = self.add("loop")
            nexts = either(self.sequence(body, flags, current, inside))
            self.code[current] = ("loop", number, nexts, follow)
        else:
            for _ in range(int(high) - low):
                nexts = either(self.sequence(body, flags, current, inside))
                current = self.add("loop", number, nexts, follow)
        if current != follow:
            current = self.add("enter", number, current)
        for _ in range(low):
            current = self.sequence(body, flags, current, inside)
        return current

    def _look(self, ahead: bool, negated: bool, body: Any, flags: int, follow: int) -> int:
        width = int(body.getwidth()[1])
        inner = self.sequence(body, flags, self.add("match"), "ahead" if ahead else "behind")
        if not ahead:
            self.history = max(self.history, width)
        return self.add("ahead" if ahead else "behind", negated, width, inner, follow)

    def _leaf(self, name: str, value: Any, flags: int) -> int:
        if name == "ANY":
            text = "."
        elif name == "IN":
            text = "[" + "".join(self._member(str(kind), what) for kind, what in value) + "]"
        else:
            text = f"[{'^' if name == 'NOT_LITERAL' else ''}{self._character(int(value))}]"
        letters = "".join(letter for flag, letter in ((_A, "a"), (_I, "i"), (_S, "s")) if flags & flag)
        text = f"(?{letters}:{text})" if letters else text
        return self.leaves.setdefault(text, len(self.leaves))

    def _member(self, kind: str, value: Any) -> str:
        if kind == "NEGATE":
            return "^"
        if kind == "RANGE":
            return f"{self._character(int(value[0]))}-{self._character(int(value[1]))}"
        return _CATEGORIES[str(value)] if kind == "CATEGORY" else self._character(int(value))

    def _character(self, code: int) -> str:
        return self.properties.get(code) or f"\\U{code:08x}"


class _Items(list[Any]):
    """One item of one character in the shape of a parsed pattern."""

    def getwidth(self) -> tuple[int, int]:
        return 1, 1


class _Determinizer:
    def __init__(self, program: _Program, start: int, clock: _Clock) -> None:
        self.program = program
        self.start = start
        self.guarded = False  # whether matches may have demands on what follows
        self.clock = clock
        self.code = program.code
        # Classes of characters that no leaf tells apart: their languages and the leaves that each belongs to.
        self.classes = _classes({leaf: regex(text) for text, leaf in program.leaves.items()})
        self.characters: dict[frozenset[int], Constraint] = {}  # by classes
        self.machines: dict[frozenset[int], FstArrays] = {}  # by classes, of their characters

    def language(self) -> Constraint:
        """The texts of the states that match whatever follows."""
        order, edges = self._states()
        return _ending(self._machine(edges), {i for i, state in enumerate(order) if self._check_end(state)})

    def guarded_language(self) -> tuple[Constraint, tuple[Guard, ...]]:
        """All texts that may match, and by what must follow them, those that do not match in any case."""
        self.guarded = True
        order, edges = self._states()
        machine = self._machine(edges)
        ends: dict[Condition, set[int]] = {}
        for i, (threads, _) in enumerate(order):
            if demands := frozenset(demands for place, demands in threads if place < 0):
                ends.setdefault(frozenset({()}) if () in demands else demands, set()).add(i)
        matches: set[int] = set()
        guards = []
        for condition, states in ends.items():
            self.clock.spend(256)
            if () not in condition:
                forbidden, allowed = self._rests(condition)
                if allowed.is_empty():
                    continue
                if not forbidden.is_empty():
                    guards.append(Guard(_ending(machine, states), forbidden, allowed))
            matches |= states
        return _ending(machine, matches), tuple(guards)

    def _rests(self, condition: Condition) -> tuple[Constraint, Constraint]:
        """The shortest beginnings of what follows that a condition cannot hold after, and those that it holds after."""

        def after(ways: Condition) -> Iterator[tuple[int, Condition]]:
            if not ways or () in ways:
                return
            for c, (_, leaves) in enumerate(self.classes):
                left = {rest for demands in ways if (rest := self._demands(demands, leaves)) is not None}
                yield c, frozenset({()}) if () in left else frozenset(left)
            holds = any(all(self._holds_at_end(d) for d in demands) for demands in ways)
            yield len(self.classes), frozenset({()}) if holds else frozenset()  # the end of the text

        order, edges = self._reached(condition, after)
        fails = {i for i, ways in enumerate(order) if not ways}
        holds = {i for i, ways in enumerate(order) if () in ways}
        last_first = _last_first(edges)
        if last_first is not None:  # as mostly: then nothing has to be determinized
            return self._texts(edges, last_first, fails), self._texts(edges, last_first, holds)
        machine = self._machine(edges)
        return _ending(machine, fails), _ending(machine, holds)

    def _texts(self, edges: list[dict[int, set[int]]], last_first: list[int], final: set[int]) -> Constraint:
        """The texts that lead from the first state to final ones, from which nothing leads on."""
        nothing = regex("(?!)")
        texts = [literal("") if i in final else nothing for i in range(len(edges))]
        for i in last_first:
            for j, those in edges[i].items():
                self.clock.spend()
                texts[i] = texts[i] | self._characters(frozenset(those)) + texts[j]
        return texts[0]

    def _holds_at_end(self, demand: Demand) -> bool:
        negated, places = demand
        last: frozenset[int] = frozenset()
        work = set(places)
        seen: set[int] = set()
        while work:
            pc = work.pop()
            if pc in seen:
                continue
            seen.add(pc)
            if pc >= 0 and self.code[pc][0] == "end":
                work |= self._inner([self.code[pc][2]], last)
            elif pc >= 0 and self.code[pc][0] == "edge":
                work |= self._moved([pc], last)
        return (-1 in seen) != negated

    def _states(self) -> tuple[list[State], list[dict[int, set[int]]]]:
        """All states from the start, and the classes that lead from each to others."""

        def after(state: State) -> Iterator[tuple[int, State]]:
            for c in range(len(self.classes)):
                if (target := self._step(state, c))[0]:
                    yield c, target

        return self._reached(self._closed([(self.start, ())], ()), after)

    def _reached(
        self, first: S, after: Callable[[S], Iterator[tuple[int, S]]]
    ) -> tuple[list[S], list[dict[int, set[int]]]]:
        """All that is reached from a first state, in order, and by number the classes that lead from each to others."""
        numbers = {first: 0}
        order = [first]
        edges: list[dict[int, set[int]]] = []
        for state in order:
            out: dict[int, set[int]] = {}
            for c, target in after(state):
                if target not in numbers:
                    if len(order) >= MOST_STATES:
                        raise UnsupportedError(
                            f"a lazy quantifier in a pattern of more than {MOST_STATES} states; use smaller bounds"
                        )
                    numbers[target] = len(order)
                    order.append(target)
                out.setdefault(numbers[target], set()).add(c)
            edges.append(out)
        return order, edges

    def _machine(self, edges: list[dict[int, set[int]]]) -> Fst:
        """States and classes that lead on as an automaton over bytes, without final states."""
        from ..automata import ARC_DTYPE, Fst

        arcs: list[tuple[int, int, float, int]] = []  # of the states, to where characters begin
        offsets = [0]
        entries: dict[tuple[frozenset[int], int], int] = {}  # of the characters of some classes to a state
        copies: list[FstArrays] = []
        size = len(edges)
        for out in edges:
            for j, those in out.items():
                self.clock.spend()
                key = frozenset(those)
                if key not in self.machines:
                    self.machines[key] = self._characters(key).to_fst().to_arrays()
                if (key, j) not in entries:
                    copies.append(_leading_to(self.machines[key], j, size))
                    entries[key, j] = copies[-1].start
                    size += len(copies[-1].finals)
                arcs.append((0, 0, 0.0, entries[key, j]))
            offsets.append(len(arcs))
        all_arcs = [np.array(arcs, ARC_DTYPE), *(copy.arcs for copy in copies)]
        first = np.cumsum([len(some) for some in all_arcs])
        ends = [np.array(offsets), *(first[k] + copy.offsets[1:] for k, copy in enumerate(copies))]
        return Fst.from_arrays(np.concatenate(all_arcs), np.concatenate(ends), np.full(size, np.inf, np.float32), 0)

    def _characters(self, classes: frozenset[int]) -> Constraint:
        if classes not in self.characters:
            languages = [self._language_of(c) for c in sorted(classes)]
            union = languages[0]
            for language in languages[1:]:
                union = union | language
            self.characters[classes] = union
        return self.characters[classes]

    def _language_of(self, c: int) -> Constraint:
        if c < len(self.classes):
            return self.classes[c][0]
        return literal(bytes([END_BYTE])) | literal(SPECIAL)  # the end, or a special token

    def _step(self, state: State, c: int) -> State:
        threads, history = state
        leaves = self.classes[c][1]
        after = (*history, c)[-self.program.history :] if self.program.history else ()
        moved: list[Thread] = []
        for pc, demands in threads:
            if pc >= 0 and self.code[pc][1] in leaves and (left := self._demands(demands, leaves)) is not None:
                moved.append((self.code[pc][2], left))
        return self._closed(moved, after)

    def _demands(self, demands: tuple[Demand, ...], leaves: frozenset[int]) -> tuple[Demand, ...] | None:
        """What is still demanded after a character; None where a demand was broken."""
        left: list[Demand] = []
        for negated, places in demands:
            places = self._inner(self._moved(places, leaves), leaves)
            if -1 in places:
                if negated:
                    return None
            elif places:
                left.append((negated, places))
            elif not negated:
                return None
        return conjunction(left)

    def _moved(self, places: Iterable[int], leaves: frozenset[int]) -> set[int]:
        """Where a lookaround goes on after a character, or, of no leaf, at the end of the text."""
        found: set[int] = set()
        seen: set[int] = set()
        work = list(places)
        while work:
            pc = work.pop()
            if pc in seen:
                continue
            seen.add(pc)
            if pc < 0:
                found.add(pc)
            elif self.code[pc][0] == "edge":
                _, _, follow, negated, leaf, inside = self.code[pc]
                if (inside != (leaf in leaves)) != negated:
                    work += self._inner([follow], frozenset([leaf] if inside else []))
            elif self.code[pc][1] in leaves:
                found.add(self.code[pc][2])
        return found

    def _inner(self, places: Iterable[int], last: frozenset[int] | None) -> frozenset[int]:
        """What a lookaround waits for at some places; -1 where it has matched.

        ``last``: the leaves of the last character, None where that is not known.
        """
        found: set[int] = set()
        seen: set[int] = set()
        work = list(places)
        while work:
            pc = work.pop()
            self.clock.spend()
            if pc < 0:
                found.add(pc)
            if pc < 0 or pc in seen:
                continue
            seen.add(pc)
            instruction = self.code[pc]
            if instruction[0] == "split":
                work += instruction[1]
            elif instruction[0] == "loop":
                work += instruction[2]
            elif instruction[0] == "enter":
                work.append(instruction[2])
            elif instruction[0] == "edge":
                if last is None:
                    raise OutsideError("before")
                found.add(pc + (instruction[4] in last))
            else:
                found.add(-1 if instruction[0] == "match" else pc)
        return frozenset(found)

    def _closed(self, threads: list[Thread], history: tuple[int, ...]) -> State:
        """Threads that wait for a character, in order, up to the first that has matched (place -1)."""
        found: dict[Thread, None] = {}
        weakest: dict[int, list[tuple[Demand, ...]]] = {}  # by place

        def add(place: int, demands: tuple[Demand, ...]) -> None:
            """Unless a thread before it is there with demands that these imply."""
            before = weakest.setdefault(place, [])
            self.clock.spend(len(before))
            if not any(implies(demands, weaker) for weaker in before):
                before.append(demands)
                found[place, demands] = None

        nowhere: frozenset[int] = frozenset()
        seen: set[tuple[int, tuple[Demand, ...], frozenset[int]]] = set()
        work = [(pc, demands, nowhere) for pc, demands in reversed(threads)]
        while work:
            step = work.pop()
            self.clock.spend()
            if step in seen:
                continue
            seen.add(step)
            pc, demands, loops = step  # loops: those begun since the last character
            instruction = self.code[pc]
            kind = instruction[0]
            if kind == "char":
                add(pc, demands)
            elif kind == "split":
                work += [(n, demands, loops) for n in reversed(instruction[1])]
            elif kind == "enter":
                work.append((instruction[2], demands, loops - {instruction[1]}))
            elif kind == "loop" and instruction[1] in loops:
                work.append((instruction[3], demands, loops))
            elif kind == "loop":
                work += [(n, demands, loops | {instruction[1]}) for n in reversed(instruction[2])]
            elif kind == "behind":
                if self._behind(instruction, history) != instruction[1]:
                    work.append((instruction[4], demands, loops))
            elif kind == "ahead":
                places = self._inner([instruction[3]], self.classes[history[-1]][1] if history else None)
                if -1 in places:
                    if not instruction[1]:
                        work.append((instruction[4], demands, loops))
                else:
                    more = conjunction([*demands, (bool(instruction[1]), places)])
                    if more is not None:
                        work.append((instruction[4], more, loops))
            else:
                add(-1, demands)
                if not demands or not self.guarded:
                    break
                less: dict[tuple[int, tuple[Demand, ...], frozenset[int]], None] = {}  # each once, the first ones first
                for pc, others, loops in reversed(work):
                    for more in contraries(others, demands):
                        self.clock.spend(4)
                        less[pc, more, loops] = None
                work = list(reversed(less))
        return tuple(found), history

    def _check_end(self, state: State) -> bool:
        """Whether the state's last thread has matched; raises UnsupportedError where what follows has a say in that.

        A demand that is still open is harmless where each character that may break it leads preferred threads, those
        before, to a longer match.
        """
        if not state[0] or state[0][-1][0] >= 0:
            return False
        demands = state[0][-1][1]
        for c in range(len(self.classes)):
            leaves = self.classes[c][1]
            for negated, places in demands:
                goes_on = bool(self._moved(places, leaves))
                after = self._step(state, c)[0] if goes_on and negated else ()
                if not negated or (goes_on and (not after or after[-1][0] != -1)):
                    raise OutsideError("after")
        return True

    def _behind(self, instruction: tuple[Any, ...], history: tuple[int, ...]) -> bool:
        """Whether a lookbehind's pattern matches the last characters."""
        width = int(instruction[2])
        if len(history) < width:
            raise OutsideError("before")
        places = self._inner([instruction[3]], None)
        for c in history[len(history) - width :] if width else ():
            leaves = self.classes[c][1]
            places = self._inner({self.code[pc][2] for pc in places if pc >= 0 and self.code[pc][1] in leaves}, None)
        return -1 in places


def _classes(leaves: dict[int, Constraint]) -> list[tuple[Constraint, frozenset[int]]]:
    """All characters in classes that no leaf tells apart, with the leaves that each belongs to."""
    most = 8  # of a leaf that is looked at character by character
    few: dict[int, list[bytes]] = {}
    for leaf, language in leaves.items():
        some = language.examples(most + 1)
        if len(some) == sum(language.count(length) for length in range(1, 5)):
            few[leaf] = some
    split: list[tuple[Constraint, frozenset[int]]] = [(regex("(?s:.)"), frozenset())]
    for leaf, language in leaves.items():
        if leaf not in few:
            parts = [
                each for old, those in split for each in ((old & language, those | {leaf}), (old - language, those))
            ]
            split = [each for each in parts if not each[0].is_empty()]
    alike: dict[frozenset[int], list[bytes]] = {}
    for character in sorted({character for some in few.values() for character in some}):
        those = frozenset(leaf for leaf, language in leaves.items() if language.accepts(character))
        alike.setdefault(those, []).append(character)
    listed = [(choice(characters), those) for those, characters in alike.items()]
    if listed:
        every = choice([character for characters in alike.values() for character in characters])
        split = [(rest, those) for old, those in split if not (rest := old - every).is_empty()]
    return split + listed


def _last_first(edges: list[dict[int, set[int]]]) -> list[int] | None:
    """The states, each after all that it leads to; None where there is a circle."""
    into = [0] * len(edges)
    for out in edges:
        for j in out:
            into[j] += 1
    order = [i for i, count in enumerate(into) if not count]
    for i in order:
        for j in edges[i]:
            into[j] -= 1
            if not into[j]:
                order.append(j)
    return order[::-1] if len(order) == len(edges) else None


def _ending(machine: Fst, states: set[int]) -> Constraint:
    """The texts that lead to some states."""
    from ..automata import connect

    fst = machine.copy()
    for state in states:
        fst.set_final(state)
    return from_fst(connect(fst))  # of which little is left where the states are few


def _leading_to(machine: FstArrays, target: int, size: int) -> FstArrays:
    """An automaton of single characters as it is behind so many states, one of which is where the characters lead."""
    place = np.where(np.isfinite(machine.finals), target, size + np.arange(len(machine.finals)))
    arcs = machine.arcs.copy()
    arcs["nextstate"] = place[arcs["nextstate"]]
    return machine._replace(arcs=arcs, start=size + machine.start)
