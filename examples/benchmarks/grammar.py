"""Grammars side by side with installed peers: time to the first mask, and between masks along documents.

    python examples/benchmarks/grammar.py [--vocabulary qwen] [--only SQL] [--csv grammar.csv] [--plot grammar.svg]

The grammars and how the peers get them: grammars.py. A grammar is compiled once; its documents (about 500, 2,000 and
4,500 tokens; --lengths) follow one another as a server would meet them. First mask: from the text of the grammar in the
engine's own notation to the first mask, processor time. Between masks: taking a token and making the next mask, of the
first walk; advance: the former alone, its mean and median, clock included. Again: the mean of a second walk of the same
documents. All times are microseconds. An engine stops after --seconds in a grammar; the tokens it did are shown. An
engine that refuses a token of a document is reported, and its walk of that document ends there. More, fewer: how many
tokens the engine's masks allow that ours do not, and the other way round, on average over every 40th mask. xgrammar has
JSON built in, and is measured with that. llguidance runs with raised limits, without which it gives up on Python. No
peer takes a pattern beside a grammar ("SQL & words" and the like).

Peers that are not installed are left out: pip install llguidance xgrammar. The grammars need lark.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from common import (
    Engine,
    LLGuidance,
    Session,
    Tokamata,
    XGrammar,
    allowed,
    chosen,
    console,
    engines,
    parser,
    plot_distributions,
    table_of,
    token_index,
    tokenize,
    vocabulary,
    write_csv,
)
from grammars import CASES, for_llguidance, for_xgrammar

import tokamata

EVERY = 40
COLUMNS = ("first mask", "tokens", "mean", "p50", "p99", "most", "advance", "its p50", "again", "more", "fewer")


def starter(engine: Engine, case: str) -> Callable[[], Session] | None:
    """Return what compiles a grammar in an engine; the translation to its notation is done here. None: it has none."""
    text, syntax, pattern = CASES[case].grammar, CASES[case].syntax, CASES[case].pattern
    if isinstance(engine, Tokamata):
        return partial(_tokamata, engine, text, syntax, pattern)
    if case == "indented" or pattern:
        return None
    if syntax == "gbnf":
        return partial(_xgrammar, engine, text) if isinstance(engine, XGrammar) else None
    if isinstance(engine, LLGuidance):
        return partial(_llguidance, engine, text if "%json" in text else for_llguidance(text))
    if isinstance(engine, XGrammar) and "%json" not in text:
        return partial(_xgrammar, engine, None if case == "JSON" else for_xgrammar(text))
    return None


def _tokamata(engine: Engine, text: str, syntax: Literal["lark", "gbnf"], pattern: str) -> Session:
    constraint = tokamata.grammar(text, syntax)
    if pattern:
        constraint &= tokamata.regex(pattern)
    state = tokamata.compile(constraint, engine.vocabulary).start()
    return Session(partial(state.fill_mask, engine.row), state.advance, state.reset)


def _llguidance(engine: Any, text: str) -> Session:
    import llguidance

    limits = llguidance.LLParserLimits(
        step_max_items=10**7,
        max_items_in_row=10**6,
        step_lexer_fuel=10**8,
        initial_lexer_fuel=10**8,
        max_lexer_states=10**6,
    )
    matcher = engine.matcher(engine.tokenizer, engine.matcher.grammar_from_lark(text), log_level=0, limits=limits)
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    fill = partial(matcher.unsafe_compute_mask_ptr, engine.row.ctypes.data, engine.row.nbytes)
    return Session(fill, matcher.consume_token, matcher.reset)


def _xgrammar(engine: Any, text: str | None) -> Session:
    import xgrammar

    grammar = xgrammar.Grammar.from_ebnf(text) if text else xgrammar.Grammar.builtin_json_grammar()
    matcher = engine.matcher(engine.compiler.compile_grammar(grammar))
    return Session(partial(matcher.fill_next_token_bitmask, engine.row), matcher.accept_token, matcher.reset)


@dataclass
class Run:
    """What one engine did with one grammar: times in microseconds, one entry a token."""

    first: float = 0.0
    fills: list[float] = field(default_factory=list)
    advances: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    rows: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)  # by document and place
    refused: list[str] = field(default_factory=list)
    stopped: bool = False
    error: str = ""

    @property
    def between(self) -> np.ndarray:
        """Taking a token and making the next mask."""
        return np.add(self.fills, self.advances)


def run(engine: Engine, start: Callable[[], Session], paths: Sequence[Sequence[int]], seconds: float) -> Run:
    """Compile a grammar and walk the documents twice, or until the seconds are spent."""
    made, clock = Run(), time.perf_counter_ns
    gc.collect()
    gc.disable()
    try:
        begin = time.process_time()
        session = start()
        session.fill()
        made.first = (time.process_time() - begin) * 1e6
        until = time.process_time() + seconds
        flat = engine.row.ravel()
        for turn in range(2):
            for document, path in enumerate(paths):
                session.reset()
                session.fill()
                for place, token in enumerate(path):
                    if not flat[token >> 5] >> (token & 31) & 1:
                        if not turn:
                            made.refused.append(f"document {document + 1} at token {place} of {len(path)}")
                        break
                    a = clock()
                    session.advance(token)
                    b = clock()
                    session.fill()
                    c = clock()
                    if turn:
                        made.again.append((c - a) / 1e3)
                    else:
                        made.advances.append((b - a) / 1e3)
                        made.fills.append((c - b) / 1e3)
                        if place % EVERY == 0:
                            made.rows[document, place] = flat.copy()
                    if time.process_time() > until:
                        made.stopped = True
                        return made
    except Exception as error:  # engines raise what they like
        made.error = " ".join(str(error).split())[:70] or type(error).__name__
    finally:
        gc.enable()
    return made


def differences(run: Run, ours: Run, tokens: tokamata.Vocabulary) -> tuple[float, float]:
    """Return how many tokens the masks allow beyond ours, and how many fewer, on average."""
    both = [(allowed(run.rows[k], tokens), allowed(ours.rows[k], tokens)) for k in run.rows.keys() & ours.rows.keys()]
    if not both:
        return float("nan"), float("nan")
    return float(np.mean([(a & ~b).sum() for a, b in both])), float(np.mean([(b & ~a).sum() for a, b in both]))


def main() -> None:
    assert __doc__
    options = parser(__doc__, repeat=1)
    options.add_argument("--seconds", type=float, default=30, help="at most so long in one grammar (default 30)")
    options.add_argument("--lengths", default="500,2000,4500", help="tokens of the documents (default 500,2000,4500)")
    asked = options.parse_args()
    name, tokens = vocabulary(asked)
    found = [engine for engine in engines(asked, tokens) if starter(engine, "JSON")]
    tokamata.grammar('start: "x"')  # lark is imported and reads its own grammar once
    tokamata.grammar('root ::= "x"', "gbnf")
    index = token_index(tokens)
    lengths = [60] if asked.quick else [int(length) for length in asked.lengths.split(",")]
    table = table_of(f"µs ({name}, {len(tokens):,} tokens)", ("grammar", "engine"), COLUMNS)
    figures: list[dict[str, object]] = []
    series: dict[str, list[np.ndarray]] = {}
    notes = []
    for case in chosen(asked, CASES, ("JSON", "E -> E + E")):
        grammar = CASES[case]
        documents = [grammar.document(lambda text: len(tokenize(index, text.encode())), n) for n in lengths]
        paths = [tokenize(index, document.encode()) for document in documents]
        ours = None
        for engine in found:
            start = starter(engine, case)
            if start is None:
                continue
            went = run(engine, start, paths, asked.seconds)
            ours = ours or went
            notes += [f"{case}: {engine.name} refuses {place}" for place in went.refused]
            if went.stopped:
                notes.append(f"{case}: {engine.name} stopped after {asked.seconds:g} s")
            if went.error:
                notes.append(f"{case}: {engine.name} failed: {went.error}")
            if not went.fills:
                table.add_row(case, engine.name, "-")
                continue
            steps = went.between
            own = ours.between[: len(steps)]  # the same tokens
            values = (
                went.first,
                len(steps),
                steps.mean(),
                np.percentile(steps, 50),
                np.percentile(steps, 99),
                steps.max(),
                np.mean(went.advances),
                np.percentile(went.advances, 50),
                np.mean(went.again) if went.again else float("nan"),
                *differences(went, ours, tokens),
            )
            table.add_row(case, engine.name, *(f"{v:,.2f}" if v < 100 else f"{v:,.0f}" for v in values))
            row: dict[str, object] = dict(zip(COLUMNS, values, strict=True))
            row["mean / ours"] = steps.mean() / own.mean()
            row["p99 / ours"] = np.percentile(steps, 99) / np.percentile(own, 99)
            figures.append({"grammar": case, "engine": engine.name, **row, "notes": "; ".join(went.refused)})
            series.setdefault(engine.name, []).append(steps)
    console().print(table)
    for note in notes:
        console().print(note, style="yellow", highlight=False)
    write_csv(asked.csv, figures)
    plot_distributions(
        asked.plot,
        f"Time between masks under grammars, {name}, {len(tokens):,} tokens",
        "µs, from a token to the next mask",
        {engine: np.concatenate(steps) for engine, steps in series.items()},
    )


if __name__ == "__main__":
    main()
