"""Productions over terminals: recognition over spans, longest match by trying all lengths, random ones."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

# Patterns whose lexemes overlap and run into each other.
PATTERNS = ["a", "b", "ab", "a+", "ba", "[ab]", "c", "abc", "bc", "a*c", "(ab)+", "aab", "cc?", "b*a", "abca?"]

Production = tuple[int, tuple[int, ...]]  # rule, symbols: s >= 0 a rule, s < 0 the terminal ~s


def _spans(productions: Sequence[Production], length: int, terminal: Callable[[int, int, int], bool]) -> set[int]:
    """Rules that derive the whole input; terminal(t, i, j): whether terminal t can be input[i:j]."""
    found: list[list[set[int]]] = [[set() for _ in range(length + 1)] for _ in range(length + 1)]

    def matches(symbol: int, i: int, j: int) -> bool:
        return terminal(~symbol, i, j) if symbol < 0 else symbol in found[i][j]

    def derives(symbols: tuple[int, ...], i: int, j: int) -> bool:
        if not symbols:
            return i == j
        return any(matches(symbols[0], i, k) and derives(symbols[1:], k, j) for k in range(i, j + 1))

    for width in range(length + 1):
        for i in range(length - width + 1):
            again = True
            while again:
                again = False
                for rule, symbols in productions:
                    if rule not in found[i][i + width] and derives(symbols, i, i + width):
                        found[i][i + width].add(rule)
                        again = True
    return found[0][length]


def derives_terminals(productions: Sequence[Production], terminals: Sequence[int]) -> bool:
    """Whether rule 0 derives a sequence of terminals."""
    return 0 in _spans(productions, len(terminals), lambda t, i, j: j == i + 1 and terminals[i] == t)


def derives_text(productions: Sequence[Production], patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    """Whether rule 0 derives a text without a lexer: terminals are the languages of patterns."""
    return 0 in _spans(productions, len(text), lambda t, i, j: patterns[t].fullmatch(text, i, j) is not None)


def longest_match(patterns: Sequence[re.Pattern[str]], text: str) -> list[int] | None:
    """The terminals of a text's lexemes, each the longest possible, of equally long ones the first; None: no way."""
    terminals, at = [], 0
    while at < len(text):
        ends = (
            (end, t) for end in range(len(text), at, -1) for t, p in enumerate(patterns) if p.fullmatch(text, at, end)
        )
        end, terminal = next(ends, (0, 0))
        if not end:
            return None
        terminals.append(terminal)
        at = end
    return terminals


def random_productions(rng: random.Random, num_terminals: int) -> tuple[int, list[Production]]:
    """A few rules, often left-recursive, cyclic, empty or useless: their number and the productions."""
    rules = rng.randint(1, 4)
    productions = set()
    for rule in range(rules):
        for _ in range(rng.randint(1, 4)):
            length = rng.choice([0, 1, 1, 2, 2, 3])
            productions.add(
                (
                    rule,
                    tuple(
                        ~rng.randrange(num_terminals) if rng.random() < 0.5 else rng.randrange(rules)
                        for _ in range(length)
                    ),
                )
            )
    return rules, sorted(productions)
