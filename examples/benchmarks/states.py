"""Masks of all states: every state of some constraints, each mask made anew, called from Python.

    python examples/benchmarks/states.py [--vocabulary deepseek] [--csv states.csv] [--plot states.svg]

Where `masks.py` follows texts, this goes wherever a text can go: all states that bytes reach from the start (the first
6,000 of a constraint) are visited once, as when other requests went there; then each mask is made --repeat times
without the cache of finished masks. Times are those of a call of `fill_mask`, in microseconds, the least at each state
(interruptions only add). "In turn": one state after another, so that each finds the processor's caches full of others;
"in a row": the masks of a state right after one another. Several states may have one mask; "distinct" counts the masks.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Iterator

import numpy as np
from common import chosen, console, parser, plot_distributions, table_of, token_index, vocabulary, write_csv

import tokamata

MOST = 6_000
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


PERSON = _object(
    id={"type": "integer"},
    name={"type": "string"},
    status={"enum": ["active", "inactive", "pending", "suspended"]},
    age={"type": "integer"},
    address=_object(
        street={"type": "string"},
        city={"type": "string"},
        zip={"type": "string", "pattern": "^[0-9]{5}$"},
        country={"enum": ["US", "CA", "MX", "GB", "DE"]},
    ),
    tags={"type": "array", "items": {"type": "string"}, "maxItems": 8},
    bio={"type": "string", "maxLength": 1000},
    score={"type": "number"},
    verified={"type": "boolean"},
    role={"enum": ["admin", "editor", "viewer"]},
)
MAP = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": {"type": "number"},
}
COMPACT = {"whitespace": "compact"}
FLEXIBLE = {"whitespace": "flexible"}

# Regular expressions, and schemas with options.
CASES: dict[str, str | tuple[dict[str, object], dict[str, str]]] = {
    "person": (PERSON, COMPACT),
    "person, any whitespace": (PERSON, FLEXIBLE),
    "maxLength 20": (_object(a={"type": "string", "maxLength": 20}, b={"type": "integer"}), COMPACT),
    "length 8 to 40": (_object(a={"type": "string", "minLength": 8, "maxLength": 40}, b={"type": "integer"}), COMPACT),
    "date": r"(?:(?:19|20)[0-9]{2})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])",
    "e-mail": r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,10}",
    "IPv4": rf"(?:{_OCTET}\.){{3}}{_OCTET}",
    "any text": r"(.|\n)*",
    "any line": r".*",
    "map of numbers": (MAP, COMPACT),
    "capital words": r"[A-Z][a-z]*( [A-Z][a-z]*)*",
    "text, then a tag": r"[^<]*</a>",
    "tags around text": r"(<a>[^<]*</a>)*",
    "words": r"(?a)\w+(\s\w+)*",
    "language tag": r"[A-Za-z]{2,10}(-[A-Za-z0-9]{1,8})*",
    "until </think>": r"(<(<|/<|/t<)*|[^<])*</think>",
    "a word in a line": r".*foo.*",
    "URL": r"https?://[a-z0-9.-]+(:[0-9]{1,5})?(/[^ ?#]*)?(\?[^ #]*)?",
    "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "number": r"(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?)",
    "colour": r"#[0-9a-fA-F]{6}",
    "part number": r"[A-Z]{3}-[0-9]{4}",
    "slug": r"[a-z][a-z0-9_-]{2,62}",
    "address": r"(?a)[^\s@]+@[^\s@]+\.[^\s@]+",
}
QUICK = ("date", "slug")


def constraint_of(case: str) -> tokamata.Constraint:
    """Return the constraint of a case."""
    source = CASES[case]
    if isinstance(source, str):
        return tokamata.regex(source)
    schema, options = source
    return tokamata.json_schema(schema, **options)  # type: ignore[arg-type]


def states(start: tokamata.DecodeState, singles: list[int]) -> Iterator[tokamata.DecodeState]:
    """Yield a state of each number that bytes lead to, ``singles`` being the tokens of one byte, nearest first."""
    seen = {start.state_id}
    queue = [start]
    for state in queue:
        yield state
        for token in singles:
            if len(queue) >= MOST or not state.allows(token):
                continue
            after = state.copy()
            after.advance(token)
            if after.state_id not in seen:
                seen.add(after.state_id)
                queue.append(after)


ORDERS = ("in turn", "in a row")


def times(case: str, tokens: tokamata.Vocabulary, repeat: int) -> tuple[dict[str, np.ndarray], int]:
    """Return the least time of a mask at each state, in microseconds, by order, and the number of distinct masks."""
    index = token_index(tokens)
    singles = [index[bytes([b])] for b in range(256) if bytes([b]) in index]
    automaton = tokamata.compile(constraint_of(case), tokens, cache_bytes=0)
    found = list(states(automaton.start(), singles))
    row = np.zeros((1, automaton.words), np.int32)
    distinct = set()
    for state in found:
        state.fill_mask(row)
        distinct.add(hash(row.tobytes()))
    clock = time.perf_counter_ns
    numbered = list(enumerate(found))
    orders = (numbered * repeat, [pair for pair in numbered for _ in range(repeat)])
    least = {order: np.full(len(found), np.inf) for order in ORDERS}
    gc.collect()
    gc.disable()
    try:
        for data, visits in zip(least.values(), orders, strict=True):
            for k, state in visits:
                begin = clock()
                state.fill_mask(row, 0)
                data[k] = min(data[k], (clock() - begin) / 1e3)
    finally:
        gc.enable()
    return least, len(distinct)


def _figures(data: np.ndarray) -> dict[str, float]:
    figures = {f"p{p}": float(np.percentile(data, p)) for p in (50, 90, 99)}
    return {"mean": float(data.mean())} | figures | {"most": float(data.max())}


def main() -> None:
    """Measure, print, and write what is asked for."""
    assert __doc__
    asked: argparse.Namespace = parser(__doc__).parse_args()
    name, tokens = vocabulary(asked)
    title = f"µs of a mask that is not kept, all states ({name}, {len(tokens):,} tokens)"
    table = table_of(title, ("constraint", "order"), ("states", "distinct", "mean", "p50", "p90", "p99", "most"))
    everything: dict[str, list[np.ndarray]] = {order: [] for order in ORDERS}
    rows: list[dict[str, object]] = []

    def add(case: str, order: str, data: np.ndarray, distinct: int | None) -> None:
        figures = _figures(data)
        rows.append({"constraint": case, "order": order, "states": len(data), "distinct": distinct} | figures)
        counts = (f"{len(data):,}", "" if distinct is None else f"{distinct:,}")
        table.add_row(case, order, *counts, *(f"{x:,.2f}" for x in figures.values()))

    for case in chosen(asked, CASES, QUICK):
        least, distinct = times(case, tokens, asked.repeat)
        for order, data in least.items():
            everything[order].append(data)
            add(case, order, data, distinct)
    whole = {order: np.concatenate(data) for order, data in everything.items()}
    for order, data in whole.items():
        add("all", order, data, None)
    console().print(table)
    write_csv(asked.csv, rows)
    plot_distributions(asked.plot, title, "µs", {f"tokamata, {order}": data for order, data in whole.items()})


if __name__ == "__main__":
    main()
