"""Masks side by side with installed peers: a mask at every token of texts under regular expressions.

    python examples/benchmarks/masks.py [--vocabulary deepseek] [--csv masks.csv] [--plot masks.svg]

Peers that are not installed are left out: pip install llguidance xgrammar outlines-core. Every engine walks the same
tokens of the same texts, with a fresh constraint in each repeat. "between": taking a token and making the next mask;
"mask": the mask alone; "again": masks of a second walk of the same constraint. Times are microseconds at a place, the
least of the repeats at that place (interruptions only add), each mask written into the same reused row. A number in
brackets says how many masks differ from ours: an engine may, for example, allow only the one token that it would
choose where the text is forced.
"""

from __future__ import annotations

import numpy as np
from common import (
    REGEXES,
    Walk,
    allowed,
    chosen,
    engines,
    finish,
    parser,
    table_of,
    token_index,
    tokenize,
    vocabulary,
    walks,
)


def main() -> None:
    assert __doc__
    asked = parser(__doc__).parse_args()
    name, tokens = vocabulary(asked)
    found = engines(asked, tokens)
    index = token_index(tokens)
    title = f"µs between masks: mean | p99; masks that differ from ours in brackets ({name}, {len(tokens):,} tokens)"
    table = table_of(title, ("constraint",), ("tokens", *(engine.name for engine in found)))
    done: dict[str, list[Walk]] = {engine.name: [] for engine in found}
    figures: list[dict[str, object]] = []
    for case in chosen(asked, REGEXES):
        pattern, text = REGEXES[case]
        path = tokenize(index, text.encode())
        result = walks(found, "regex", pattern, path, 1 if asked.quick else asked.repeat)
        reference = [allowed(row, tokens) for row in result[found[0].name].rows]
        cells = []
        for engine in found:
            went = result[engine.name]
            done[engine.name].append(went)
            if went.error:
                cells.append(f"failed: {went.error}")
                continue
            rows = (allowed(row, tokens) for row in went.rows)
            differ = sum(not np.array_equal(a, b) for a, b in zip(reference, rows, strict=True))
            mean, tail = went.between.mean(), float(np.percentile(went.between, 99))
            cells.append(f"{mean:,.2f} | {tail:,.2f}" + (f" ({differ})" if differ else ""))
            figures.append({"constraint": case, "engine": engine.name, "what": "between", "n": len(path)})
            figures[-1] |= {"mean": mean, "p99": tail, "differ": differ}
        table.add_row(case, str(len(path)), *cells)
    measures = {
        what: {engine: [times(w, what) for w in went] for engine, went in done.items()}
        for what in ("between", "masks", "advances", "again")
    }
    title = f"Time between masks, {name}, {len(tokens):,} tokens"
    finish(asked, table, "all constraints", measures, figures, ("between", title, "µs, from a token to the next mask"))


def times(went: Walk, what: str) -> np.ndarray | None:
    """Return the times at each place, None where the engine failed."""
    if went.error:
        return None
    found = getattr(went, what)
    return np.min(found, axis=0) if isinstance(found, list) else found


if __name__ == "__main__":
    main()
