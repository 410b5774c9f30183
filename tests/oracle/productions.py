"""Productions over terminals: recognition over spans, longest match by trying all lengths, random ones."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence

# Patterns whose lexemes overlap and run into each other.
PATTERNS = ["a", "b", "ab", "a+", "ba", "[ab]", "c", "abc", "bc", "a*c", "(ab)+", "aab", "cc?", "b*a", "abca?"]

# What these match depends on what follows.
GUARDED = [
    "a(?!b)", "a(?=b)", "a(?!bc)", "ab?(?=c)", "[ab](?!a)", "(?!ab)[ab]+", "c(?=c|$)", "a$", "b+(?!c)",
    "(?!ba)[abc]{1,2}", "c(?=.*a)", r"a\b", r"(?!ab\b)[ab]+", "a+?(?=[^a])", "a(?=b)|ab(?=b)",
    "(?:a|ab)(?=b|c)", "c(?!c$)", "b(?= )",
]  # fmt: skip
LOOKS = re.compile(r"\(\?[=!<]|[$]|\\b|[*+?]\?")

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


def next_lexeme(
    patterns: Sequence[re.Pattern[str]], competing: Iterable[int], text: str, at: int
) -> tuple[int, int] | None:
    """Where the longest match of competing patterns ends, and the first that has it; None where none matches.

    A pattern that looks around matches what ``re`` finds; of others any text that it has counts.
    """
    found: list[tuple[int, int]] = []
    for t in competing:
        if LOOKS.search(patterns[t].pattern):
            match = patterns[t].match(text, at)
            ends = [match.end()] if match else []
        else:
            ends = [end for end in range(at + 1, len(text) + 1) if patterns[t].fullmatch(text, at, end)]
        found += [(end, -t) for end in ends if end > at]
    if not found:
        return None
    end, terminal = max(found)
    return end, -terminal


def longest_match(patterns: Sequence[re.Pattern[str]], text: str) -> list[int] | None:
    """The terminals of a text's lexemes, each the longest possible, of equally long ones the first; None: no way."""
    terminals, at = [], 0
    while at < len(text):
        found = next_lexeme(patterns, range(len(patterns)), text, at)
        if found is None:
            return None
        at = found[0]
        terminals.append(found[1])
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


def productive(productions: Sequence[Production], occurring: set[int]) -> list[Production]:
    """The productions from which something can be derived, when only some terminals occur."""
    rules: set[int] = set()
    while True:
        kept = [p for p in productions if all(s in rules if s >= 0 else ~s in occurring for s in p[1])]
        if {p[0] for p in kept} == rules:
            return kept
        rules = {p[0] for p in kept}


def expected(productions: Sequence[Production], terminals: Sequence[int]) -> tuple[set[int], bool]:
    """The terminals that can follow some of rule 0's, and whether it derives these; all productions are productive."""
    nullable: set[int] = set()
    while more := {r for r, s in productions if all(x in nullable for x in s)} - nullable:
        nullable |= more
    items: list[set[tuple[int, tuple[int, ...], int, int]]] = [set() for _ in range(len(terminals) + 1)]
    items[0] = {(r, s, 0, 0) for r, s in productions if r == 0}
    for at in range(len(terminals) + 1):
        work = list(items[at])
        while work:
            rule, symbols, dot, origin = work.pop()
            new = []
            if dot == len(symbols):
                new = [(r, s, d + 1, o) for r, s, d, o in items[origin] if d < len(s) and s[d] == rule]
            elif symbols[dot] >= 0:
                new = [(r, s, 0, at) for r, s in productions if r == symbols[dot]]
                if symbols[dot] in nullable:
                    new.append((rule, symbols, dot + 1, origin))
            elif at < len(terminals) and ~symbols[dot] == terminals[at]:
                items[at + 1].add((rule, symbols, dot + 1, origin))
            for item in new:
                if item not in items[at]:
                    items[at].add(item)
                    work.append(item)
    follow = {~s[d] for _, s, d, _ in items[-1] if d < len(s) and s[d] < 0}
    return follow, any(r == 0 and d == len(s) and o == 0 for r, s, d, o in items[-1])


def contextual_match(
    productions: Sequence[Production], patterns: Sequence[re.Pattern[str]], ignored: Sequence[int], text: str
) -> bool:
    """Whether a text is a member where only what can follow and what is ignored compete; rules are productive."""
    terminals: list[int] = []
    at = 0
    while at < len(text):
        competing = sorted(expected(productions, terminals)[0] | set(ignored))
        found = next_lexeme(patterns, competing, text, at)
        if found is None:
            return False
        at, terminal = found
        if terminal not in ignored:
            terminals.append(terminal)
    return expected(productions, terminals)[1]
