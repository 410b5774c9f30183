"""A grammar's members by definition: longest-match lexing over prefixes, then an Earley recognizer."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tokamata.constraints.grammar_source import GrammarSource


def lexemes(source: GrammarSource, text: bytes) -> list[int] | None:
    """Terminals of the text's lexemes without the ignored ones; None where no terminal matches. Lexer "basic"."""
    found: list[int] = []
    position = 0
    while position < len(text):
        for end in range(len(text), position, -1):
            names = [i for i, t in enumerate(source.terminals) if t.constraint.accepts(text[position:end])]
            if names:
                break
        else:
            return None
        if not source.terminals[names[0]].ignored:
            found.append(names[0])
        position = end
    return found


def recognize(source: GrammarSource, terminals: Sequence[int]) -> bool:
    """Whether the rules derive these terminals, by Earley's algorithm; nullable rules as Aycock and Horspool."""
    by_rule = source.by_rule()
    nullable: set[int] = set()
    while True:
        more = {p.rule for p in source.productions if all(s in nullable for s in p.symbols)} - nullable
        if not more:
            break
        nullable |= more
    items: list[dict[tuple[int, tuple[int, ...], int, int], None]] = [{} for _ in range(len(terminals) + 1)]
    for production in by_rule[source.start]:
        items[0][source.start, production.symbols, 0, 0] = None
    for position in range(len(terminals) + 1):
        work = list(items[position])
        while work:
            rule, symbols, dot, origin = work.pop()
            new: list[tuple[int, tuple[int, ...], int, int]] = []
            if dot == len(symbols):
                for r, s, d, o in list(items[origin]):
                    if d < len(s) and s[d] == rule:
                        new.append((r, s, d + 1, o))
            elif symbols[dot] >= 0:
                new += [(symbols[dot], p.symbols, 0, position) for p in by_rule[symbols[dot]]]
                if symbols[dot] in nullable:
                    new.append((rule, symbols, dot + 1, origin))
            elif position < len(terminals) and ~symbols[dot] == terminals[position]:
                items[position + 1][rule, symbols, dot + 1, origin] = None
            for item in new:
                if item not in items[position]:
                    items[position][item] = None
                    work.append(item)
    return any(r == source.start and d == len(s) and o == 0 for r, s, d, o in items[-1])


def accepts(source: GrammarSource, text: bytes) -> bool:
    """Whether the text is a member; lexer "basic", no indentation."""
    found = lexemes(source, text)
    return found is not None and recognize(source, found)


def derives(source: GrammarSource, text: bytes) -> bool:
    """Whether the start rule derives the text with terminals as plain languages (lexer "none"); O(n³) and more."""
    size = len(text)
    spans = [
        {(i, j) for i in range(size + 1) for j in range(i, size + 1) if t.constraint.accepts(text[i:j])}
        for t in source.terminals
    ]
    found: list[set[tuple[int, int]]] = [set() for _ in source.rules]
    grown = True
    while grown:
        grown = False
        for production in source.productions:
            reached = {(i, i) for i in range(size + 1)}
            for symbol in production.symbols:
                relation = found[symbol] if symbol >= 0 else spans[~symbol]
                reached = {(i, k) for i, j in reached for j2, k in relation if j == j2}
            if not reached <= found[production.rule]:
                found[production.rule] |= reached
                grown = True
    return (0, size) in found[source.start]


def derivations(source: GrammarSource, terminals: Sequence[int], limit: int = 100) -> int:
    """The number of derivation trees of a sequence of terminals, up to ``limit``."""
    spans = [[(i, i + 1) for i, t in enumerate(terminals) if t == n] for n in range(len(source.terminals))]
    return _counted(source, len(terminals), spans, limit)


def text_derivations(source: GrammarSource, text: bytes, limit: int = 100) -> int:
    """The number of derivation trees of a text with terminals as plain languages (lexer "none"), up to ``limit``."""
    ends = [(i, j) for i in range(len(text) + 1) for j in range(i, len(text) + 1)]
    spans = [[(i, j) for i, j in ends if t.constraint.accepts(text[i:j])] for t in source.terminals]
    return _counted(source, len(text), spans, limit)


def _counted(source: GrammarSource, size: int, spans: list[list[tuple[int, int]]], limit: int) -> int:
    """Rounds of counting over spans: trees of height h are counted in round h.

    Where a rule derives itself the count grows without end, to ``limit``.
    """
    ends: list[dict[int, list[int]]] = [{} for _ in spans]
    for found, pairs in zip(ends, spans, strict=True):
        for i, j in pairs:
            found.setdefault(i, []).append(j)
    count: dict[tuple[int, int, int], int] = {}
    while True:
        new: dict[tuple[int, int, int], int] = {}
        for production in source.productions:
            for start in range(size + 1):
                ways = {start: 1}
                for symbol in production.symbols:
                    after: dict[int, int] = {}
                    for i, n in ways.items():
                        for j in ends[~symbol].get(i, ()) if symbol < 0 else range(i, size + 1):
                            if m := 1 if symbol < 0 else count.get((symbol, i, j)):
                                after[j] = after.get(j, 0) + n * m
                    ways = after
                for end, n in ways.items():
                    key = (production.rule, start, end)
                    new[key] = min(new.get(key, 0) + n, limit)
        if new == count:
            return count.get((source.start, 0, size), 0)
        count = new


def shortest(source: GrammarSource) -> dict[int, int]:
    """The number of terminals of a shortest sequence of each rule that derives one."""
    least: dict[int, int] = {}
    while True:
        new = dict(least)
        for p in source.productions:
            if all(s < 0 or s in least for s in p.symbols):
                new[p.rule] = min(new.get(p.rule, 10**6), sum(1 if s < 0 else least[s] for s in p.symbols))
        if new == least:
            return least
        least = new


def random_sentence(source: GrammarSource, rng: random.Random, most: int) -> list[int] | None:
    """Terminals of a random sentence of at most ``most``; None where the dice found none."""
    least = shortest(source)
    if source.start not in least:
        return None
    by_rule = source.by_rule()
    form, steps = [source.start], 0
    while any(s >= 0 for s in form):
        steps += 1
        position = next(i for i, s in enumerate(form) if s >= 0)
        fitting = []
        for p in by_rule[form[position]]:
            after = form[:position] + list(p.symbols) + form[position + 1 :]
            if all(s < 0 or s in least for s in after) and sum(1 if s < 0 else least[s] for s in after) <= most:
                fitting.append(after)
        if not fitting or steps > 200:
            return None
        form = rng.choice(fitting)
    return [~s for s in form]
