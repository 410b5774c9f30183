"""decided_by_bytes: whether an LALR(1) parser that reads a grammar without a lexer byte by byte decides everything."""

from __future__ import annotations

from collections.abc import Iterable

from ..automata.errors import LimitError
from .grammar_lalr import Form, Lalr
from .grammar_source import GrammarSource
from .terminal_texts import TerminalTexts

MOST_SYMBOLS = 200_000  # of all productions together


def decided_by_bytes(source: GrammarSource, productions: Iterable[tuple[int, Form]]) -> bool:
    """Whether the grammar of bytes has no conflict; False where that stays open.

    A terminal becomes its only text where it has one, else a rule for each state of its automaton: so each derivation
    of a text is one here, and a grammar with two of some text has a conflict. Bytes that are alike in all automata are
    one terminal. Nearly linear in the symbols of all productions and the arcs of all automata.
    """
    try:
        made = _of_bytes(source, list(productions))
        if len(set(made)) < len(made):
            return False
        lalr = Lalr(made, source.start)
        return not any(lalr.undecided(state) for state in lalr.states)
    except LimitError:
        return False


def _of_bytes(source: GrammarSource, productions: list[tuple[int, Form]]) -> list[tuple[int, Form]]:
    used = {~s for _, symbols in productions for s in symbols if s < 0}
    texts = TerminalTexts(source, used)
    letters = {byte: ~number for number, byte in enumerate(texts.letters(used))}
    instead: dict[int, Form] = {}
    found: list[tuple[int, Form]] = []
    first = len(source.rules)
    for terminal in sorted(used):
        start, arcs, final = texts.automaton(terminal, letters)
        only = _only(start, arcs, final)
        if only is not None:
            instead[~terminal] = tuple(letters[byte] for byte in only)
            continue
        instead[~terminal] = (first + start,)
        for state, out in enumerate(arcs):
            if state in final:
                found.append((first + state, ()))
            for byte, target in out.items():
                goes_on = (first + target,) if arcs[target] else ()
                found.append((first + state, (letters[byte], *goes_on)))
        first += len(arcs)
    spent = 0
    for rule, symbols in productions:
        spent += sum(len(instead.get(s, (s,))) for s in symbols)
        if spent > MOST_SYMBOLS:
            raise LimitError(f"grammar: the limit symbols={MOST_SYMBOLS} of productions over bytes was reached")
        found.append((rule, tuple(t for s in symbols for t in instead.get(s, (s,)))))
    return found


def _only(state: int, arcs: list[dict[int, int]], final: set[int]) -> list[int] | None:
    """The only member of an automaton; None where it has several."""
    found = []
    while arcs[state]:
        if state in final or len(arcs[state]) > 1:
            return None
        ((byte, state),) = arcs[state].items()
        found.append(byte)
        if len(found) > len(arcs):
            return None
    return found
