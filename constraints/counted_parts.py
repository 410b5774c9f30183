"""counted: parts of grammars with counters where repetitions were written out, as in ``x x (x (x)?)?``, ``x{2,4}``."""

from __future__ import annotations

from dataclasses import replace

from .grammar_parts import Part


def counted(part: Part) -> Part:
    """A part of the same texts with counters for what stands several times in a row.

    Tools that write grammars unroll bounds (older converters from JSON Schema to GBNF have no ``{n,m}``). The engine
    reads a counter in one state for each count, whatever is counted, and shares what these states have in common.
    Linear in the parts.
    """
    if not part.parts:
        return part
    parts = [counted(p) for p in part.parts]
    if part.kind == "sequence":
        return _counted_sequence(part, parts)
    if any(new is not old for new, old in zip(parts, part.parts, strict=True)):
        part = replace(part, parts=tuple(parts))
    inner = parts[0]
    if part.kind == "repeat" and (part.low, part.high) == (0, 1) and inner.kind == "repeat" and inner.low <= 1:
        return replace(part, parts=inner.parts, high=inner.high)
    return part


def _counted_sequence(part: Part, parts: list[Part]) -> Part:
    runs: list[tuple[Part, int, int | None]] = []  # of equal units
    for item in [i for p in parts for i in (p.parts if p.kind == "sequence" else (p,))]:
        unit, low, high = (item.parts[0], item.low, item.high) if item.kind == "repeat" else (item, 1, 1)
        if runs and _same(runs[-1][0], unit):
            _, other, most = runs.pop()
            low, high = low + other, None if high is None or most is None else high + most
        runs.append((unit, low, high))
    made = tuple(
        unit if (low, high) == (1, 1) else Part("repeat", part.text, unit.place, (unit,), low=low, high=high)
        for unit, low, high in runs
    )
    return made[0] if len(made) == 1 else replace(part, parts=made)


def _same(a: Part, b: Part) -> bool:
    """Whether two parts were written alike, but for parentheses; so they have the same texts."""
    if a is b:
        return True
    if a.kind != b.kind or len(a.parts) != len(b.parts) or (a.low, a.high, a.name) != (b.low, b.high, b.name):
        return False
    if not a.parts and a.text != b.text and a.kind == "terminal":
        return False
    return all(_same(x, y) for x, y in zip(a.parts, b.parts, strict=True))
