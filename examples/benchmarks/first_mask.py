"""First masks side by side with installed peers: the text of a pattern or schema in, the first mask out.

    python examples/benchmarks/first_mask.py [--vocabulary deepseek] [--csv first.csv] [--plot first.svg]

The vocabulary is ready in every engine; peers that are not installed are left out (pip install llguidance xgrammar
outlines-core). "cold" is the first time that a constraint is made in this process, "warm" the median of the repeats
after it; nothing is cached between constraints. Times are processor time in microseconds.
"""

from __future__ import annotations

import statistics

import numpy as np
from common import (
    REGEXES,
    chosen,
    compact,
    engines,
    finish,
    parser,
    table_of,
    vocabulary,
    walks,
)
from schemas import SCHEMAS


def main() -> None:
    assert __doc__
    asked = parser(__doc__).parse_args()
    name, tokens = vocabulary(asked)
    found = engines(asked, tokens)
    sources = {case: ("regex", pattern) for case, (pattern, _) in REGEXES.items()}
    sources |= {f"schema: {case}": ("schema", compact(schema)) for case, (schema, _) in SCHEMAS.items()}
    quick = ("date", "string 0-50", "schema: person")
    title = f"µs of processor time to the first mask: cold | warm ({name}, {len(tokens):,} tokens)"
    table = table_of(title, ("constraint",), tuple(engine.name for engine in found))
    cold: dict[str, list[np.ndarray | None]] = {engine.name: [] for engine in found}
    warm: dict[str, list[np.ndarray | None]] = {engine.name: [] for engine in found}
    figures: list[dict[str, object]] = []
    for case in chosen(asked, sources, quick):
        kind, text = sources[case]
        result = walks(found, kind, text, (), 2 if asked.quick else asked.repeat + 1)
        cells = []
        for engine in found:
            went = result[engine.name]
            if went.error:
                cells.append(f"failed: {went.error[:24]}")
                cold[engine.name].append(None)
                warm[engine.name].append(None)
                continue
            once, rest = went.first[0], statistics.median(went.first[1:] or went.first)
            cold[engine.name].append(np.array([once]))
            warm[engine.name].append(np.array([rest]))
            cells.append(f"{once:,.0f} | {rest:,.0f}")
            figures.append({"constraint": case, "engine": engine.name, "cold": once, "warm": rest})
        table.add_row(case, *cells)
    title = f"Time to the first mask, {name}, {len(tokens):,} tokens"
    plot = ("warm", title, "µs of processor time, from text to the first mask (warm)")
    finish(asked, table, "all constraints", {"cold": cold, "warm": warm}, figures, plot)


if __name__ == "__main__":
    main()
