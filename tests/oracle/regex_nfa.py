"""Masks of regexes by brute force, independent of the engine.

Python's own parser gives the syntax tree; a Thompson automaton over UTF-8 bytes is stepped as sets of states; every
token of the vocabulary is run, all of them side by side with numpy. In such an automaton every state can reach the
final one, so a text can be extended to a member exactly when its state set is not empty.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

if sys.version_info >= (3, 11):
    import re._constants as sre
    import re._parser as parser
else:
    import sre_constants as sre
    import sre_parse as parser

MOST = 0x10FFFF
ALL = [c for c in range(MOST + 1) if not 0xD800 <= c <= 0xDFFF]
ALL_TEXT = "".join(map(chr, ALL))
Ranges = list[tuple[int, int]]


def ranges_of(points: Sequence[int]) -> Ranges:
    found: Ranges = []
    for c in points:
        if found and found[-1][1] == c - 1:
            found[-1] = (found[-1][0], c)
        else:
            found.append((c, c))
    return found


def complement(ranges: Ranges) -> Ranges:
    found, low = [], 0
    for a, b in sorted(ranges):
        if a > low:
            found.append((low, a - 1))
        low = max(low, b + 1)
    if low <= MOST:
        found.append((low, MOST))
    return found


@lru_cache(maxsize=64)
def matching(pattern: str, flags: int) -> tuple[tuple[int, int], ...]:
    """The characters that a one-character pattern matches, by asking re about each."""
    return tuple(ranges_of([ord(c) for c in re.findall(pattern, ALL_TEXT, flags | re.DOTALL)]))


def utf8_sequences(low: int, high: int) -> list[list[tuple[int, int]]]:
    """Byte-range sequences that together encode the code points low..high."""
    if low > high:
        return []
    if low <= 0xDFFF and high >= 0xD800:
        return utf8_sequences(low, 0xD7FF) + utf8_sequences(0xE000, high)
    for limit in (0x7F, 0x7FF, 0xFFFF):
        if low <= limit < high:
            return utf8_sequences(low, limit) + utf8_sequences(limit + 1, high)
    first, last = chr(low).encode(), chr(high).encode()
    # Split until all bytes after the first that differs run through their whole range.
    for i in range(len(first) - 1):
        rest = len(first) - 1 - i
        if first[i] != last[i]:
            block = 1 << (6 * rest)
            if low % block:
                edge = low | (block - 1)
                return utf8_sequences(low, edge) + utf8_sequences(edge + 1, high)
            if high % block != block - 1:
                edge = high & ~(block - 1)
                return utf8_sequences(low, edge - 1) + utf8_sequences(edge, high)
            break
    return [list(zip(first, last, strict=True))]


class RegexNfa:
    """A Thompson automaton of a pattern; states of walks are numbers of state sets, -1 is the empty set."""

    def __init__(self, pattern: str) -> None:
        self.epsilon: list[list[int]] = []
        self.arcs: list[list[tuple[int, int, int]]] = []
        tree = parser.parse(pattern)
        start = self._state()
        self.final = self._sequence(tree, start, tree.state.flags)
        self.numbers: dict[frozenset[int], int] = {}
        self.sets: list[frozenset[int]] = []
        self.steps: list[dict[int, int]] = []
        self.start = self._number(self._closure([start]))

    def _state(self) -> int:
        self.epsilon.append([])
        self.arcs.append([])
        return len(self.arcs) - 1

    def _characters(self, ranges: Ranges, at: int) -> int:
        end = self._state()
        for low, high in ranges:
            for sequence in utf8_sequences(low, high):
                s = at
                for i, (a, b) in enumerate(sequence):
                    t = end if i == len(sequence) - 1 else self._state()
                    self.arcs[s].append((a, b, t))
                    s = t
        return end

    def _class(self, items: list[tuple[Any, Any]], flags: int) -> Ranges:
        ranges: Ranges = []
        negated = False
        for op, value in items:
            if op is sre.NEGATE:
                negated = True
            elif op is sre.LITERAL:
                ranges += self._folded([(value, value)], flags)
            elif op is sre.RANGE:
                ranges += self._folded([value], flags)
            else:
                assert op is sre.CATEGORY, op
                name = str(value).removeprefix("CATEGORY_").replace("UNI_", "")
                letter = {"DIGIT": "d", "WORD": "w", "SPACE": "s"}[name.removeprefix("NOT_")]
                ranges += matching("\\" + (letter.upper() if name.startswith("NOT_") else letter), flags & re.ASCII)
        return complement(ranges) if negated else ranges

    @staticmethod
    def _folded(ranges: Ranges, flags: int) -> Ranges:
        if not flags & re.IGNORECASE:
            return ranges
        source = "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ranges)
        return list(matching(f"[{source}]", flags & (re.IGNORECASE | re.ASCII)))

    def _sequence(self, nodes: Any, at: int, flags: int) -> int:
        for op, value in nodes:
            at = self._node(op, value, at, flags)
        return at

    def _node(self, op: Any, value: Any, at: int, flags: int) -> int:
        if op is sre.LITERAL:
            return self._characters(self._folded([(value, value)], flags), at)
        if op is sre.NOT_LITERAL:
            return self._characters(complement(self._folded([(value, value)], flags)), at)
        if op is sre.ANY:
            return self._characters([(0, MOST)] if flags & re.DOTALL else complement([(10, 10)]), at)
        if op is sre.IN:
            return self._characters(self._class(value, flags), at)
        if op is sre.BRANCH:
            end = self._state()
            for branch in value[1]:
                s = self._state()
                self.epsilon[at].append(s)
                self.epsilon[self._sequence(branch, s, flags)].append(end)
            return end
        if op is sre.SUBPATTERN:
            _, added, removed, inner = value
            return self._sequence(inner, at, (flags | added) & ~removed)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, inner = value
            for _ in range(low):
                at = self._sequence(inner, at, flags)
            if high is sre.MAXREPEAT:
                loop = self._state()
                self.epsilon[at].append(loop)
                self.epsilon[self._sequence(inner, loop, flags)].append(loop)
                return loop
            end = self._state()
            self.epsilon[at].append(end)
            for _ in range(high - low):
                at = self._sequence(inner, at, flags)
                self.epsilon[at].append(end)
            return end
        raise NotImplementedError(str(op))

    def _closure(self, states: list[int]) -> frozenset[int]:
        seen, stack = set(states), list(states)
        while stack:
            for t in self.epsilon[stack.pop()]:
                if t not in seen:
                    seen.add(t)
                    stack.append(t)
        return frozenset(seen)

    def _number(self, states: frozenset[int]) -> int:
        if not states:
            return -1
        if states not in self.numbers:
            self.numbers[states] = len(self.sets)
            self.sets.append(states)
            self.steps.append({})
        return self.numbers[states]

    def step(self, q: int, byte: int) -> int:
        if q < 0:
            return -1
        known = self.steps[q]
        if byte not in known:
            known[byte] = self._number(
                self._closure([t for s in self.sets[q] for low, high, t in self.arcs[s] if low <= byte <= high])
            )
        return known[byte]

    def run(self, text: bytes, q: int | None = None) -> int:
        q = self.start if q is None else q
        for byte in text:
            q = self.step(q, byte)
        return q

    def is_final(self, q: int) -> bool:
        return q >= 0 and self.final in self.sets[q]

    def mask(self, q: int, table: TokenTable) -> NDArray[np.bool_]:
        """Allowed text tokens, bool [V]: every token is run, a byte column at a time."""
        states = np.full(table.size, q)
        alive = np.flatnonzero(table.lengths > 0)
        for column in range(int(table.lengths.max(initial=0))):
            running = alive[table.lengths[alive] > column]
            if not running.size:
                break
            bytes_ = table.bytes[table.offsets[running] + column]
            pairs, inverse = np.unique(states[running].astype(np.int64) * 256 + bytes_, return_inverse=True)
            states[running] = np.array([self.step(int(p) // 256, int(p) % 256) for p in pairs])[inverse]
            alive = alive[states[alive] >= 0]
        allowed = np.zeros(table.size, bool)
        allowed[alive] = True
        return allowed


class TokenTable:
    """Token bytes side by side."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        texts = [t or b"" for t in tokens]
        self.size = len(texts)
        self.lengths = np.array([len(t) for t in texts])
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])
        self.bytes = np.frombuffer(b"".join(texts), np.uint8).astype(np.int64)
