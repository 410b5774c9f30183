"""TerminalTexts: members of terminals by length, over few bytes that stand for all others."""

from __future__ import annotations

from collections.abc import Container, Iterable

from ..automata.errors import LimitError
from .grammar_source import GrammarSource

MOST_STATES = 1000  # of a terminal's automaton
MOST_ARCS = 200_000  # of the automata of all terminals of a grammar; a quarter of a second


class TerminalTexts:
    """The texts of terminals as plain languages, byte by byte.

    Raises LimitError where a terminal is no regular language or MOST_STATES or MOST_ARCS are reached.
    """

    def __init__(self, source: GrammarSource, terminals: Iterable[int]) -> None:
        self._arcs: dict[int, list[dict[int, int]]] = {}
        self._final: dict[int, set[int]] = {}
        self._start: dict[int, int] = {}
        spent = 0
        for t in sorted(terminals):
            fst = source.terminals[t].constraint.to_fst(MOST_STATES)
            self._arcs[t] = []
            self._start[t] = fst.start()
            self._final[t] = {state for state in range(fst.num_states()) if fst.is_final(state)}
            for state in range(fst.num_states()):
                self._arcs[t].append({arc.ilabel % 256: arc.nextstate for arc in fst.arcs(state)})
                spent += len(self._arcs[t][-1])
                if spent > MOST_ARCS:
                    raise LimitError(f"grammar: the limit arcs={MOST_ARCS} of the automata of terminals was reached")
        self._shortest = {(t, least): self._search(t, least) for t in self._arcs for least in (0, 1)}

    def shortest(self, terminal: int, least: int = 0) -> bytes | None:
        """A shortest member of ``least`` (0 or 1) bytes or more; None where there is none."""
        return self._shortest[terminal, least]

    def letters(self, terminals: Iterable[int]) -> list[int]:
        """Bytes of which no two are alike in all these terminals, each for all that are like it; no useless ones."""
        columns: dict[int, list[tuple[int, int, int]]] = {}
        for t in sorted(terminals):
            for state, arcs in enumerate(self._arcs[t]):
                for byte, target in arcs.items():
                    columns.setdefault(byte, []).append((t, state, target))
        kinds: dict[tuple[tuple[int, int, int], ...], int] = {}
        for byte in sorted(columns, key=_rank):
            kinds.setdefault(tuple(columns[byte]), byte)
        return list(kinds.values())

    def automaton(self, terminal: int, letters: Container[int]) -> tuple[int, list[dict[int, int]], set[int]]:
        """The first state, arcs of ``letters`` only, and which states are final."""
        arcs = [{byte: q for byte, q in out.items() if byte in letters} for out in self._arcs[terminal]]
        return self._start[terminal], arcs, self._final[terminal]

    def members(self, terminal: int, length: int, letters: Iterable[int], most: int) -> list[bytes]:
        """Up to ``most`` members of that many bytes, of ``letters`` only."""
        arcs = self._arcs[terminal]
        able = [self._final[terminal]]  # by the number of bytes that are left
        for _ in range(length):
            able.append({q for q, out in enumerate(arcs) if any(target in able[-1] for target in out.values())})
        found = [(b"", self._start[terminal])] if arcs and self._start[terminal] in able[length] else []
        for left in range(length - 1, -1, -1):
            found = [
                (text + bytes([letter]), arcs[state][letter])
                for text, state in found[:most]
                for letter in letters
                if arcs[state].get(letter, -1) in able[left]
            ]
        return [text for text, _ in found[:most]]

    def _search(self, terminal: int, least: int) -> bytes | None:
        work = [(b"", self._start[terminal])] if self._arcs[terminal] else []
        seen: set[int] = set()
        for text, state in work:
            if len(text) >= least and state in self._final[terminal]:
                return text
            for letter in sorted(self._arcs[terminal][state], key=_rank):
                target = self._arcs[terminal][state][letter]
                if target not in seen:
                    seen.add(target)
                    work.append((text + bytes([letter]), target))
        return None


def _rank(byte: int) -> tuple[int, int]:
    """Letters and digits first, what cannot be printed last."""
    text = chr(byte)
    kind = 0 if "a" <= text <= "z" else 1 if text.isdecimal() and byte < 128 else 2 if "A" <= text <= "Z" else 3
    return (kind if 32 < byte < 127 else 4), byte
