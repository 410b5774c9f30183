"""Small explicit automata over all 256 bytes: an independent, slow and obvious model of constraints and masks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Step = Callable[[Hashable, int], Hashable]


class Dfa:
    """A complete deterministic automaton; state 0 is the start. ``next`` is [states, 256], ``final`` [states]."""

    def __init__(self, following: NDArray[np.int64], final: NDArray[np.bool_]) -> None:
        self.next, self.final = following, final
        before = [np.flatnonzero((following == s).any(axis=1)) for s in range(len(final))]
        self.alive = final.copy()
        stack = list(np.flatnonzero(final))
        while stack:
            for p in before[stack.pop()]:
                if not self.alive[p]:
                    self.alive[p] = True
                    stack.append(p)

    @staticmethod
    def explore(start: Hashable, step: Step, is_final: Callable[[Hashable], bool], *asked: Dfa) -> Dfa:
        """All states reached from ``start``. ``step`` is asked once for bytes that are alike in all that it asks."""
        columns = np.concatenate([dfa.next for dfa in asked]) if asked else np.arange(256)[None]
        _, first, alike = np.unique(columns, axis=1, return_index=True, return_inverse=True)
        in_order = [(int(i), int(first[i])) for i in np.argsort(first)]
        ids, order, rows = {start: 0}, [start], []
        for state in order:
            row = [0] * len(first)
            for i, byte in in_order:
                target = step(state, byte)
                if target not in ids:
                    ids[target] = len(order)
                    order.append(target)
                row[i] = ids[target]
            rows.append(row)
        return Dfa(np.array(rows)[:, alike.reshape(-1)], np.array([is_final(s) for s in order]))

    @staticmethod
    def literal(text: bytes) -> Dfa:
        n = len(text)
        return Dfa.explore(0, lambda i, b: i + 1 if 0 <= i < n and text[i] == b else -1, lambda i: i == n)  # type: ignore[operator,index]

    @staticmethod
    def characters(excluded: bytes = b"", included: bytes | None = None, non_ascii: bool = True) -> Dfa:
        """One UTF-8 character: ASCII but ``excluded`` (or only ``included``), and all others with ``non_ascii``."""

        def step(state: Hashable, byte: int) -> Hashable:
            if state == "start":
                if byte < 0x80:
                    ok = byte in included if included is not None else byte not in excluded
                    return "end" if ok else "dead"
                if not non_ascii or not 0xC2 <= byte <= 0xF4:
                    return "dead"
                if byte < 0xE0:
                    return (0x80, 0xBF, 0)
                if byte < 0xF0:
                    return (0xA0 if byte == 0xE0 else 0x80, 0x9F if byte == 0xED else 0xBF, 1)
                return (0x90 if byte == 0xF0 else 0x80, 0x8F if byte == 0xF4 else 0xBF, 2)
            if isinstance(state, tuple):
                low, high, more = state
                if not low <= byte <= high:
                    return "dead"
                return (0x80, 0xBF, more - 1) if more else "end"
            return "dead"

        return Dfa.explore("start", step, lambda s: s == "end")

    def _product(self, other: Dfa, decide: Callable[[bool, bool], bool]) -> Dfa:
        def step(pair: Hashable, byte: int) -> Hashable:
            p, q = pair  # type: ignore[misc]
            return int(self.next[p, byte]), int(other.next[q, byte])

        return Dfa.explore((0, 0), step, lambda s: decide(bool(self.final[s[0]]), bool(other.final[s[1]])), self, other)  # type: ignore[index]

    def __or__(self, other: Dfa) -> Dfa:
        return self._product(other, lambda a, b: a or b)

    def __and__(self, other: Dfa) -> Dfa:
        return self._product(other, lambda a, b: a and b)

    def __sub__(self, other: Dfa) -> Dfa:
        return self._product(other, lambda a, b: a and not b)

    def __invert__(self) -> Dfa:
        return Dfa.characters().star() - self

    def __add__(self, other: Dfa) -> Dfa:
        def settle(p: int, qs: Iterable[int]) -> Hashable:
            found = set(qs) | ({0} if self.final[p] else set())
            return p if self.alive[p] else -1, frozenset(q for q in found if other.alive[q])

        def step(state: Hashable, byte: int) -> Hashable:
            p, qs = state  # type: ignore[misc]
            following = [int(other.next[q, byte]) for q in qs]
            if p < 0:
                return -1, frozenset(q for q in following if other.alive[q])
            return settle(int(self.next[p, byte]), following)

        return Dfa.explore(settle(0, ()), step, lambda s: any(other.final[q] for q in s[1]), self, other)  # type: ignore[index]

    def star(self) -> Dfa:
        def step(state: Hashable, byte: int) -> Hashable:
            _, states = state  # type: ignore[misc]
            following = {int(self.next[s, byte]) for s in states}
            if any(self.final[s] for s in following):
                following.add(0)
            return False, frozenset(s for s in following if self.alive[s])

        start = (True, frozenset({0} if self.alive[0] else set()))
        return Dfa.explore(start, step, lambda s: s[0] or any(self.final[q] for q in s[1]), self)  # type: ignore[index]

    def repeat(self, low: int, high: int | None) -> Dfa:
        result = Dfa.literal(b"")
        for _ in range(low):
            result = result + self
        if high is None:
            return result + self.star()
        optional = self | Dfa.literal(b"")
        for _ in range(high - low):
            result = result + optional
        return result

    def run(self, text: bytes, state: int = 0) -> int:
        for byte in text:
            state = int(self.next[state, byte])
        return state

    def accepts(self, text: bytes) -> bool:
        return bool(self.final[self.run(text)])

    def viable(self, text: bytes) -> bool:
        return bool(self.alive[self.run(text)])

    def token_alive(self, tokens: Sequence[bytes | None]) -> NDArray[np.bool_]:
        """States from which tokens can spell the rest of a member."""
        usable = sorted({t for t in tokens if t})
        n = len(self.final)
        targets = np.empty((n, len(usable)), np.int64)
        for i, token in enumerate(usable):
            state = np.arange(n)
            for byte in token:
                state = self.next[state, byte]
            targets[:, i] = state
        alive = self.final.copy()
        while True:
            grown = alive | alive[targets].any(axis=1)
            if (grown == alive).all():
                return alive
            alive = grown

    def mask(
        self, state: int, tokens: Sequence[bytes | None], eos: Iterable[int], alive: NDArray[np.bool_]
    ) -> set[int]:
        """Ids that the contract allows in a state: the token's bytes lead to a state that tokens can complete."""
        allowed = {i for i, t in enumerate(tokens) if t and alive[self.run(t, state)]}
        return allowed | (set(eos) if self.final[state] else set())
