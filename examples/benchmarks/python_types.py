"""Masks of Python types: calls of a dataclass and of a function, the same objects as JSON, numbers and dates.

    python examples/benchmarks/python_types.py [--vocabulary deepseek] [--repeat 3] [--csv types.csv] [--plot types.svg]

A hundred random objects a constraint, in tokens by longest match; every mask is filled into the caller's row, first
visits included. Wall time in microseconds of the repeat with the smallest mean: each repeat makes the constraint and
its token automaton anew. "build" is from the type to the constraint.
"""

from __future__ import annotations

import datetime
import json
import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any, Literal

import numpy as np
from common import (
    FOX,
    chosen,
    console,
    parser,
    plot_distributions,
    table_of,
    token_index,
    tokenize,
    vocabulary,
    write_csv,
)

import tokamata

WORDS = FOX.split()
DAY = datetime.date(2024, 1, 1)


class Status(Enum):
    """Of an order."""

    OPEN = "open"
    PAID = "paid"
    SHIPPED = "shipped"

    def __repr__(self) -> str:
        return f"Status.{self.name}"


@dataclass
class Address:
    """Of a customer."""

    street: str
    city: str
    zip: str
    country: str = "DE"


@dataclass
class Line:
    """Of an order."""

    sku: str
    quantity: int
    price: float
    note: str | None = None


@dataclass
class Order:
    """What is measured."""

    id: int
    customer: str
    address: Address
    lines: list[Line]
    status: Status = Status.OPEN
    placed: datetime.date | None = None
    tags: list[str] = field(default_factory=list)
    extra: dict[str, int] = field(default_factory=dict)


def search(query: str, limit: int = 10, *, site: str | None = None, sort: Literal["date", "rank"] = "rank") -> None:
    """What a model may call."""


def words(r: random.Random, n: int) -> str:
    return " ".join(r.choices(WORDS, k=n))


def order(r: random.Random) -> Order:
    return Order(
        r.randrange(10**6),
        words(r, 2).title(),
        Address(f"{words(r, 2)} {r.randrange(99)}", words(r, 1).title(), f"{r.randrange(99999):05}"),
        [
            Line(f"SKU-{r.randrange(9999)}", r.randrange(1, 9), r.randrange(9999) / 100, r.choice([None, words(r, 5)]))
            for _ in range(r.randrange(1, 5))
        ],
        r.choice(list(Status)),
        DAY + datetime.timedelta(r.randrange(600)),
        [words(r, 1) for _ in range(r.randrange(3))],
        {words(r, 1): r.randrange(9) for _ in range(r.randrange(3))},
    )


def plain(value: object) -> str:
    return value.value if isinstance(value, Status) else str(value)


def cases() -> dict[str, tuple[Callable[[], tokamata.Constraint], list[str]]]:
    """By name: how a constraint is made, and members of it."""
    r = random.Random(1)
    orders = [order(r) for _ in range(100)]
    calls = [repr(o) for o in orders]
    found: dict[str, tuple[Callable[[], tokamata.Constraint], list[str]]] = {
        "dataclass_call(Order)": (lambda: tokamata.dataclass_call(Order), calls),
        'the same, "pep8"': (lambda: tokamata.dataclass_call(Order, whitespace="pep8"), calls),
        "json_schema(Order)": (
            lambda: tokamata.json_schema(Order),
            [json.dumps(asdict(o), default=plain) for o in orders],
        ),
        "function_call(search)": (
            lambda: tokamata.function_call(search),
            [f"search({words(r, 4)!r}, limit={r.randrange(50)}, sort='date')" for _ in orders],
        ),
        "integer(1, 100000)": (lambda: tokamata.integer(1, 100_000), [str(r.randrange(1, 100_000)) for _ in orders]),
        "decimal(0, 10000)": (lambda: tokamata.decimal(0, 10_000), [f"{r.uniform(0, 9999):.2f}" for _ in orders]),
        "date()": (tokamata.date, [str(DAY + datetime.timedelta(r.randrange(999))) for _ in orders]),
        "datetime()": (tokamata.datetime, [f"{DAY}T{r.randrange(10, 24)}:30:59" for _ in orders]),
    }
    return found


def measure(
    make: Callable[[], tokamata.Constraint], tokens: tokamata.Vocabulary, texts: list[list[int]]
) -> tuple[np.ndarray, float]:
    """Microseconds of each mask, and milliseconds to build the constraint."""
    begun = time.perf_counter()
    constraint = make()
    built = (time.perf_counter() - begun) * 1e3
    state = tokamata.compile(constraint, tokens).start()
    row = np.zeros(-(-len(tokens) // 32), np.int32)
    taken = []
    for ids in texts:
        state.reset()
        for token_id in ids:
            begun_ns = time.perf_counter_ns()
            state.fill_mask(row)
            taken.append(time.perf_counter_ns() - begun_ns)
            state.advance(token_id)
    return np.array(taken) / 1e3, built


def main() -> None:
    assert __doc__
    asked = parser(__doc__, repeat=3).parse_args()
    name, tokens = vocabulary(asked)
    index = token_index(tokens)
    known: dict[str, Any] = cases()
    table = table_of(f"µs a mask ({name}, {len(tokens):,} tokens)", ("constraint",), COLUMNS)
    rows: list[dict[str, object]] = []
    plotted: dict[str, np.ndarray] = {}
    for case in chosen(asked, known, ("function_call(search)", "date()")):
        make, texts = known[case]
        encoded = [tokenize(index, text.encode()) for text in texts[: 5 if asked.quick else None]]
        times, built = min((measure(make, tokens, encoded) for _ in range(asked.repeat)), key=lambda m: m[0].mean())
        figures = (times.mean(), np.median(times), np.percentile(times, 99), times.max(), len(times), built)
        table.add_row(case, *(f"{figure:,.2f}" if i != 4 else f"{figure:,}" for i, figure in enumerate(figures)))
        plotted[case] = times
        rows.append({"constraint": case, **dict(zip(COLUMNS, map(float, figures), strict=True))})
    console().print(table)
    write_csv(asked.csv, rows)
    plot_distributions(asked.plot, f"Masks of Python types, {name}", "µs a mask", plotted)


COLUMNS = ("mean", "median", "p99", "max", "masks", "build, ms")

if __name__ == "__main__":
    main()
