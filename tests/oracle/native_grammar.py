"""Grammars of patterns and productions, without any notation."""

from __future__ import annotations

from collections.abc import Sequence

from tokamata.constraints import Constraint
from tokamata.constraints.terminal_pattern import terminal_pattern

from tokamata._core import grammar

from .productions import Production


def build(
    patterns: Sequence[str], rules: int, productions: list[Production], ignored: list[int], lexer: str
) -> Constraint:
    """The language; patterns may look at what follows their lexemes, but for ``lexer="none"``."""
    made = [terminal_pattern(p, lexed=lexer != "none") for p in patterns]
    return Constraint(
        grammar(
            [m.constraint._native for m in made],
            list(patterns),
            [f"r{i}" for i in range(rules)],
            productions,
            0,
            ignored,
            lexer,
            guards=[guard.native(t) for t, m in enumerate(made) for guard in m.guards],
        )
    )
