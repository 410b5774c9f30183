"""Masks of whole batches side by side with installed peers: rows of mixed schemas, as a server sees them.

    python examples/benchmarks/batch.py [--data maskbench-dev.tar.xz] [--rows 64] [--requests 8] [--csv batch.csv]

Each row follows a document of some schema; when it has ended the next request takes its place. A step fills the masks
of all rows in one call and takes one token for each. The first pass meets every schema fresh, compiled and with its
first mask made ("start", once for each schema); with --requests, several requests ask for each of them, in any order,
as they do of a server. So "first mean" is over whole generations, masks between tokens that nobody has seen among them.
The second pass meets the same requests again. Figures are wall-clock microseconds for each row: the least time of each
step over the repeats, as interruptions only add, added up and divided by the rows; "but 10" leaves out the ten longest
steps, which show how much hangs on a few masks. --data is a
folder or archive of MaskBench's files; without it the schemas are those of json_schema.py. Peers that are not installed
are left out: pip install llguidance xgrammar. So are schemas of more than 3,000 characters, and documents that some
engine refuses, for all engines.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    Engine,
    compact,
    console,
    engines,
    maskbench,
    parser,
    table_of,
    token_index,
    tokenize,
    vocabulary,
    write_csv,
)
from schemas import SCHEMAS
from tokamata.decode import BatchState

import tokamata

LONGEST = 3_000  # characters of a schema: some peers compile longer ones for minutes
Case = tuple[str, list[int]]  # a schema and the tokens of one of its documents


class Batch(ABC):
    """Rows in one engine: matchers come and go, all masks are filled in one call."""

    def __init__(self, engine: Engine, rows: int, threads: int) -> None:
        self.engine = engine
        self.out = np.zeros((rows, -(-len(engine.vocabulary) // 32)), np.int32)
        self.threads = threads

    @abstractmethod
    def compile(self, schema: str) -> Any:
        """Return what all requests for a schema share, with its first mask made."""

    @abstractmethod
    def matcher(self, compiled: Any) -> Any:
        """Return a matcher for one request."""

    @abstractmethod
    def put(self, row: int, matcher: Any) -> None:
        """Put a matcher into a row."""

    @abstractmethod
    def fill(self) -> None:
        """Write all masks."""

    @abstractmethod
    def advance(self, tokens: Sequence[int]) -> None:
        """Take one token in each row."""


class TokamataBatch(Batch):
    """BatchState."""

    def __init__(self, engine: Engine, rows: int, threads: int) -> None:
        super().__init__(engine, rows, threads)
        self.batch = BatchState([None] * rows, threads)

    def compile(self, schema: str) -> Any:
        """Return a token automaton."""
        automaton = tokamata.compile(tokamata.json_schema(schema), self.engine.vocabulary)
        automaton.start().fill_mask(self.out)
        return automaton

    def matcher(self, compiled: Any) -> Any:
        """Return a state."""
        return compiled.start()

    def put(self, row: int, matcher: Any) -> None:
        """Put a state into a row."""
        matcher.reset()
        self.batch[row] = matcher

    def fill(self) -> None:
        """Write all masks."""
        self.batch.fill_masks(self.out)

    def advance(self, tokens: Sequence[int]) -> None:
        """Take one token in each row."""
        self.batch.advance(tokens)
        if self.batch.errors:
            raise ValueError(f"refused: {self.batch.errors}")


class LLGuidanceBatch(Batch):
    """LLExecutor."""

    def __init__(self, engine: Engine, rows: int, threads: int) -> None:
        super().__init__(engine, rows, threads)
        import llguidance

        self.executor = llguidance.LLExecutor(num_threads=threads)
        self.matchers: list[Any] = [None] * rows

    def compile(self, schema: str) -> Any:
        """Return an LLMatcher to be copied."""
        engine: Any = self.engine
        made = engine.matcher(engine.tokenizer, engine.matcher.grammar_from_json_schema(schema), log_level=0)
        if made.is_error():
            raise ValueError(made.get_error())
        made.unsafe_compute_mask_ptr(self.out.ctypes.data, self.out.shape[1] * 4)
        return made

    def matcher(self, compiled: Any) -> Any:
        """Return a copy."""
        return compiled.deep_copy()

    def put(self, row: int, matcher: Any) -> None:
        """Put a matcher into a row."""
        matcher.reset()
        self.matchers[row] = matcher

    def fill(self) -> None:
        """Write all masks."""
        rows = [(matcher, row) for row, matcher in enumerate(self.matchers)]
        self.executor.unsafe_compute_mask_ptr(rows, self.out.ctypes.data, self.out.shape[1] * 4, len(rows))

    def advance(self, tokens: Sequence[int]) -> None:
        """Take one token in each row."""
        for matcher, token in zip(self.matchers, tokens, strict=True):
            if not matcher.consume_token(token):
                raise ValueError(f"refused {token}")


class XGrammarBatch(Batch):
    """BatchGrammarMatcher."""

    def __init__(self, engine: Engine, rows: int, threads: int) -> None:
        super().__init__(engine, rows, threads)
        import xgrammar

        self.batch = xgrammar.BatchGrammarMatcher(max_threads=threads)
        self.matchers: list[Any] = [None] * rows

    def compile(self, schema: str) -> Any:
        """Return a compiled grammar."""
        engine: Any = self.engine
        compiled = engine.compiler.compile_json_schema(schema, strict_mode=False)
        engine.matcher(compiled).fill_next_token_bitmask(self.out)
        return compiled

    def matcher(self, compiled: Any) -> Any:
        """Return a GrammarMatcher."""
        engine: Any = self.engine
        return engine.matcher(compiled)

    def put(self, row: int, matcher: Any) -> None:
        """Put a matcher into a row."""
        matcher.reset()
        self.matchers[row] = matcher

    def fill(self) -> None:
        """Write all masks."""
        self.batch.batch_fill_next_token_bitmask(self.matchers, self.out)

    def advance(self, tokens: Sequence[int]) -> None:
        """Take one token in each row."""
        if not all(self.batch.batch_accept_token(self.matchers, list(tokens))):
            raise ValueError("refused")


BATCHES: dict[str, type[Batch]] = {
    "tokamata": TokamataBatch,
    "llguidance": LLGuidanceBatch,
    "xgrammar": XGrammarBatch,
}


def documents(data: Path | None) -> Iterator[tuple[str, Any]]:
    """Yield schemas and a valid document of each."""
    if data is None:
        for schema, values in SCHEMAS.values():
            for value in values:
                yield compact(schema), value
        return
    for text in maskbench(data):
        case = json.loads(text)
        if len(json.dumps(case["schema"])) > LONGEST:
            continue
        valid = [test["data"] for test in case.get("tests", []) if test.get("valid")]
        if valid:
            yield json.dumps(case["schema"]), max(valid, key=lambda value: len(compact(value)))


def usable(
    batches: Sequence[Batch], cases: Iterator[tuple[str, Any]], index: dict[bytes, int], most: int
) -> list[Case]:
    """Return cases that every engine compiles and whose tokens it takes; long documents are cut off."""
    found: list[Case] = []
    for schema, value in cases:
        tokens = tokenize(index, compact(value).encode())[:200]
        try:
            for batch in batches:
                one = type(batch)(batch.engine, 1, 1)
                one.put(0, one.matcher(one.compile(schema)))
                for token in tokens:
                    one.fill()
                    if not one.out[0, token >> 5] >> (token & 31) & 1:
                        raise ValueError("refused")
                    one.advance([token])
        except Exception:  # engines raise what they like
            continue
        found.append((schema, tokens))
        if len(found) >= most:
            break
    return found


def run(batch: Batch, matchers: Sequence[Any], cases: Sequence[Case]) -> np.ndarray:
    """Serve the cases once; return the time of each fill in microseconds, [steps]."""
    rows = len(batch.out)
    at = [(row, 0) for row in range(rows)]  # case and token of each row
    for row in range(rows):
        batch.put(row, matchers[row])
    following = rows
    times = []
    while True:
        begin = time.perf_counter_ns()
        batch.fill()
        times.append((time.perf_counter_ns() - begin) / 1e3)
        tokens = [cases[case][1][k] for case, k in at]
        batch.advance(tokens)
        for row, (case, k) in enumerate(at):
            at[row] = (case, k + 1)
            if k + 1 == len(cases[case][1]):
                if following == len(cases):
                    return np.array(times)
                at[row] = (following, 0)
                batch.put(row, matchers[following])
                following += 1


def states(engine: Engine, cases: Sequence[Case]) -> dict[str, float]:
    """Return the least time of taking back and copying, in microseconds, Python's call included."""
    schema, tokens = max(cases, key=lambda case: len(case[1]))
    state = tokamata.compile(tokamata.json_schema(schema), engine.vocabulary).start()
    for token in tokens:
        state.advance(token)

    def least(call: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
        best = float("inf")
        for _ in range(300):
            before()
            begin = time.perf_counter_ns()
            call()
            best = min(best, time.perf_counter_ns() - begin)
        return best / 1e3

    def forward() -> None:
        for token in tokens[state.num_tokens :]:
            state.advance(token)

    return {
        f"rewind {len(tokens)} tokens": least(lambda: state.rollback(len(tokens)), forward),
        f"copy after {len(tokens)} tokens": least(state.copy, forward),
    }


def main() -> None:
    assert __doc__
    options: argparse.ArgumentParser = parser(__doc__, repeat=3)
    options.add_argument("--data", type=Path, help="MaskBench's files: a folder or a .tar.xz")
    options.add_argument("--rows", type=int, default=64, help="rows of a batch (default 64)")
    options.add_argument("--threads", type=int, default=2, help="threads of every engine (default 2)")
    options.add_argument("--cases", type=int, default=256, help="schemas served (default 256)")
    options.add_argument("--requests", type=int, default=1, help="requests for each schema (default 1)")
    asked = options.parse_args()
    name, tokens = vocabulary(asked)
    found = [engine for engine in engines(asked, tokens) if engine.package in BATCHES]
    rows = 4 if asked.quick else asked.rows
    batches = [BATCHES[engine.package](engine, rows, asked.threads) for engine in found]
    cases = usable(batches, documents(asked.data), token_index(tokens), asked.cases)
    if len(cases) < rows:
        cases = cases * (-(-rows // max(1, len(cases))))
    asked_for = cases * asked.requests
    if asked.requests > 1:
        random.Random(1).shuffle(asked_for)
    figures: list[dict[str, object]] = []
    times: dict[str, list[list[np.ndarray]]] = {engine.name: [[], []] for engine in found}
    starts: dict[str, list[float]] = {engine.name: [] for engine in found}
    gc.disable()
    for _ in range(1 if asked.quick else asked.repeat):
        for batch in batches:
            begin = time.perf_counter_ns()
            compiled = {schema: batch.compile(schema) for schema, _ in cases}
            starts[batch.engine.name].append((time.perf_counter_ns() - begin) / 1e3 / len(compiled))
            matchers = [batch.matcher(compiled[schema]) for schema, _ in asked_for]
            for turn in range(2):
                times[batch.engine.name][turn].append(run(batch, matchers, asked_for))
            del matchers, compiled
            gc.collect()
    title = f"µs a row: {rows} rows, {len(cases)} schemas of {asked.requests} requests each, {asked.threads} threads"
    title += f" ({name}, {len(tokens):,} tokens)"
    keys = ("start", "first mean", "but 10", "first p50", "first p99", "again mean", "again p99", "first / ours")
    table = table_of(title, ("engine",), ("steps", *keys))
    ours = 0.0
    for engine in found:
        first, again = (np.min(turn, axis=0) / rows for turn in times[engine.name])
        ours = ours or float(first.mean())
        values = [min(starts[engine.name]), first.mean(), np.sort(first)[:-10].mean(), np.median(first)]
        values += [np.percentile(first, 99), again.mean(), np.percentile(again, 99)]
        values.append(first.mean() / ours)
        table.add_row(engine.name, f"{len(first):,}", *(f"{value:,.2f}" for value in values))
        row: dict[str, object] = {"engine": engine.name, "rows": rows, "threads": asked.threads}
        figures.append(row | dict(zip(keys, values, strict=True)))
    console().print(table)
    for what, value in states(found[0], cases).items():
        console().print(f"{what}: {value:.2f} µs", highlight=False)
        figures.append({"engine": found[0].name, what: value})
    write_csv(asked.csv, figures)


if __name__ == "__main__":
    main()
