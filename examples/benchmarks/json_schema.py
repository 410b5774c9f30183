"""JSON Schema side by side with installed peers: time to the first mask, and between masks along documents.

    python examples/benchmarks/json_schema.py [--vocabulary deepseek] [--csv schema.csv] [--plot schema.svg]

Peers that are not installed are left out: pip install llguidance xgrammar outlines-core. The documents are written as
json.dumps does. Each engine reads the schema in its own way (xgrammar with strict_mode=False), so masks differ in
what is free: whitespace, spellings of numbers, the order of keys; the documents are members in all. First mask: median
of the repeats, processor time; between masks: taking a token and making the next mask, the least time at that place
over the repeats, as interruptions only add. All times are microseconds.
"""

from __future__ import annotations

import statistics

import numpy as np
from common import (
    chosen,
    compact,
    engines,
    finish,
    parser,
    table_of,
    token_index,
    tokenize,
    vocabulary,
    walks,
)
from schemas import SCHEMAS


def main() -> None:
    assert __doc__
    asked = parser(__doc__).parse_args()
    name, tokens = vocabulary(asked)
    found = engines(asked, tokens)
    index = token_index(tokens)
    title = f"µs: first mask | mean between masks | p99 ({name}, {len(tokens):,} tokens)"
    table = table_of(title, ("schema",), ("tokens", *(engine.name for engine in found)))
    first: dict[str, list[np.ndarray | None]] = {engine.name: [] for engine in found}
    between: dict[str, list[np.ndarray | None]] = {engine.name: [] for engine in found}
    figures: list[dict[str, object]] = []
    for case in chosen(asked, SCHEMAS, ("person", "tree")):
        schema, documents = SCHEMAS[case]
        paths = [tokenize(index, compact(document).encode()) for document in documents]
        results = [walks(found, "schema", compact(schema), path, 1 if asked.quick else asked.repeat) for path in paths]
        cells = []
        for engine in found:
            went = [result[engine.name] for result in results]
            error = next((w.error for w in went if w.error), "")
            if error:
                cells.append(f"failed: {error[:30]}")
                first[engine.name].append(None)
                between[engine.name].append(None)
                continue
            begin = statistics.median(time for w in went for time in w.first)
            steps = np.concatenate([w.between for w in went])
            first[engine.name].append(np.array([begin]))
            between[engine.name].append(steps)
            mean, tail = steps.mean(), float(np.percentile(steps, 99))
            cells.append(f"{begin:,.0f} | {mean:,.1f} | {tail:,.1f}")
            figures.append({"schema": case, "engine": engine.name, "first": begin, "n": len(steps)})
            figures[-1] |= {"mean": mean, "p99": tail}
        table.add_row(case, str(sum(map(len, paths))), *cells)
    title = f"Time between masks under JSON Schemas, {name}, {len(tokens):,} tokens"
    plot = ("between masks", title, "µs, from a token to the next mask")
    finish(asked, table, "all schemas", {"first mask": first, "between masks": between}, figures, plot)


if __name__ == "__main__":
    main()
