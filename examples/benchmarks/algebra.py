"""The algebra of regular constraints: texts of two patterns in, an answer out, beside installed automata libraries.

    python examples/benchmarks/algebra.py [--csv algebra.csv] [--plot algebra.svg]

intersect, difference, complement: the minimal automaton of the result; equivalent: of (a|b) and (b|a); counterexample:
a shortest member of one only; count and sample: members of 24 bytes. Everything is made anew from the patterns. Peers,
where installed: pynini (OpenFst; it begins with our automata of the two patterns, which is not charged to it) and
interegular (from the patterns; over classes of characters instead of bytes; minimized with reduce()). "-": not offered
by the peer. OpenFst's results are compared with ours. Times are processor time in milliseconds, the least of the
repeats.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from common import REGEXES, chosen, console, parser, plot_bars, table_of, write_csv
from tokamata.automata import Fst, arcsort, equivalent

import tokamata

# A second pattern for each: it shares some members with the first.
PAIRS: dict[str, tuple[str, str]] = {
    "date": (REGEXES["date"][0], r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"),
    "IPv4": (REGEXES["IPv4"][0], r"[0-9]+\.[0-9]+\.0\.[0-9]{1,2}"),
    "names": (REGEXES["names"][0], r"t[a-z]*-[A-Z][a-z]{2,6}"),
    "number": (REGEXES["number"][0], r"[0-9.]{1,20}"),
    "e-mail": (r"[a-z0-9._+-]{1,30}@[a-z0-9-]{1,20}(\.[a-z]{2,6}){1,3}", r"[a-z.]+@[a-z.]+"),
    "hex": (r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", r"[0-9-]{36}"),
}
OPERATIONS: dict[str, Callable[[tokamata.Constraint, tokamata.Constraint], Any]] = {
    "intersect": lambda a, b: (a & b).minimize().to_fst(),
    "difference": lambda a, b: (a - b).minimize().to_fst(),
    "complement": lambda a, b: (~a).minimize().to_fst(),
    "minimize": lambda a, b: (a | b).minimize().to_fst(),
    "equivalent": lambda a, b: (a | b).equivalent(b | a),
    "counterexample": lambda a, b: a.counterexample(b),
    "count": lambda a, b: a.count(24),
    "sample": lambda a, b: a.sample(10, (1, 40)),
}


def with_openfst(first: Fst, second: Fst) -> dict[str, Callable[[], Any]]:
    """Return OpenFst's way of each operation on byte acceptors, through pynini."""
    import pynini

    def read(fst: Fst) -> Any:
        return pynini.Fst.read_from_string(arcsort(fst, "input").to_bytes())

    def minimal(fst: Any) -> Any:
        return pynini.determinize(fst.rmepsilon()).minimize()

    a, b = minimal(read(first)).arcsort(), minimal(read(second)).arcsort()
    every = read(tokamata.regex(r"(?s:.)*").to_fst())
    return {
        "intersect": lambda: minimal(pynini.intersect(a, b)),
        "difference": lambda: minimal(pynini.difference(a, b)),
        "complement": lambda: minimal(pynini.difference(every, a)),
        "minimize": lambda: minimal(pynini.union(a, b)),
        "equivalent": lambda: pynini.equivalent(minimal(pynini.union(a, b)), minimal(pynini.union(b, a))),
    }


def with_interegular(first: str, second: str) -> dict[str, Callable[[], Any]]:
    """Return interegular's way of each operation, from the patterns."""
    import interegular

    def both() -> tuple[Any, Any]:
        return interegular.parse_pattern(first).to_fsm(), interegular.parse_pattern(second).to_fsm()

    def of(operation: Callable[[Any, Any], Any]) -> Callable[[], Any]:
        return lambda: operation(*both())

    return {
        "intersect": of(lambda a, b: (a & b).reduce()),
        "difference": of(lambda a, b: (a - b).reduce()),
        "complement": of(lambda a, b: a.everythingbut().reduce()),
        "minimize": of(lambda a, b: (a | b).reduce()),
        "equivalent": of(lambda a, b: (a | b).equivalent(b | a)),
    }


def least(repeat: int, make: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least processor time in milliseconds and the last result."""
    best, made, spent = float("inf"), None, 0.0
    for _ in range(repeat):
        gc.collect()
        begin = time.process_time()
        made = make()
        took = time.process_time() - begin
        best, spent = min(best, took), spent + took
        if spent > 2:
            break
    return best * 1e3, made


def main() -> None:
    assert __doc__
    asked = parser(__doc__).parse_args()
    repeat = 1 if asked.quick else asked.repeat
    peers = [] if asked.quick else [name for name in ("pynini", "interegular") if find_spec(name)]
    table = table_of(
        "ms of processor time", ("patterns", "operation"), ("tokamata", *peers, *(f"{p} / ours" for p in peers))
    )
    figures: list[dict[str, object]] = []
    bars: dict[str, dict[str, float]] = {name: {} for name in ("tokamata", *peers)}
    for case in chosen(asked, PAIRS, ("date", "number")):
        first, second = PAIRS[case]
        ways: dict[str, dict[str, Callable[[], Any]]] = {}
        if "pynini" in peers:
            ways["pynini"] = with_openfst(tokamata.regex(first).to_fst(), tokamata.regex(second).to_fst())
        if "interegular" in peers:
            ways["interegular"] = with_interegular(first, second)
        for operation, run in OPERATIONS.items():
            ours, made = least(repeat, lambda r=run, p=first, q=second: r(tokamata.regex(p), tokamata.regex(q)))
            times = {"tokamata": ours}
            for name, way in ways.items():
                # OpenFst's complement of all bytes also holds texts that are not UTF-8; ours are compared where equal.
                if operation in way:
                    times[name], other = least(repeat, way[operation])
                    if name == "pynini" and operation not in ("complement", "equivalent"):
                        assert equivalent(Fst.read(other.write_to_string()), made), f"{case}, {operation}: they differ"
            for name, took in times.items():
                bars[name][f"{case}: {operation}"] = took
            cells = [f"{times[n]:,.3f}" if n in times else "-" for n in bars]
            cells += [f"{times[n] / ours:,.1f}" if n in times else "-" for n in peers]
            table.add_row(case, operation, *cells)
            figures.append({"patterns": case, "operation": operation} | times)
    console().print(table)
    write_csv(asked.csv, figures)
    plot_bars(asked.plot, "The algebra of two patterns", "ms of processor time", bars)


if __name__ == "__main__":
    main()
