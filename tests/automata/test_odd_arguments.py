"""Arguments that make no sense: taken, or an error that names the operation and what it expected."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from oracle.odd_arguments import refusals
from tokamata.automata import Arc, Fst, FstError, Pdt, SymbolTable

import tokamata
from tokamata import automata

MACHINE = Fst.from_text("0 1 1 1\n1 2 9 9\n1 2 0 0\n2 3 2 2\n3\n")
ODD: list[Any] = [
    None, 5, -1, 0, 1.5, float("nan"), float("inf"), "", "a", "\ud800", b"\xff", True, [], [1], [(1,)], {}, (),
    object(), tokamata.literal("a"),
]  # fmt: skip
UNARY = (
    "arcsort closure concat connect determinize DeterminizeFst invert minimize properties push randgen "
    "reverse rmepsilon shortestdistance shortestpath topsort union"
).split()
BINARY = "compose ComposeFst difference DifferenceFst equivalent intersect IntersectFst isomorphic".split()
OTHERS = {
    "replace": ([(7, MACHINE)],),
    "ReplaceFst": ([(7, MACHINE)],),
    "Pdt": (MACHINE, [(7, 8)]),
    "SymbolTable": (),
    "project": (MACHINE, "input"),
}
GOOD: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(UNARY, (MACHINE,)), **dict.fromkeys(BINARY, (MACHINE, MACHINE)), **OTHERS,
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_odd_arguments(name: str) -> None:
    """One argument at a time is odd."""
    told = refusals(getattr(automata, name), GOOD[name], ODD, TypeError, ValueError, tokamata.LimitError)
    for parameter, odd, text in told:
        assert text.startswith((f"{name}: ", f"{name} ", "determinize: ")), (parameter, odd, text)


TABLE = SymbolTable()
METHODS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "Fst": (Fst, ()),
    "Fst.num_arcs": (MACHINE.num_arcs, ()),
    "Fst.final": (MACHINE.final, (0,)),
    "Fst.is_final": (MACHINE.is_final, (0,)),
    "Fst.arcs": (MACHINE.arcs, (0,)),
    "Fst.add_states": (lambda n: MACHINE.copy().add_states(n), (1,)),
    "Fst.set_start": (lambda state: MACHINE.copy().set_start(state), (0,)),
    "Fst.set_final": (lambda state, weight=None: MACHINE.copy().set_final(state, weight), (0,)),
    "Fst.add_arc": (lambda s, i, o, w, t: MACHINE.copy().add_arc(s, i, o, w, t), (0, 1, 1, None, 0)),
    "Fst.add_arc, Arc": (lambda state, arc: MACHINE.copy().add_arc(state, arc), (0, Arc(1, 1, 0.0, 0))),
    "Fst.delete_arcs": (lambda state: MACHINE.copy().delete_arcs(state), (0,)),
    "Fst: expected input_symbols": (lambda table: setattr(MACHINE.copy(), "input_symbols", table), (None,)),
    "Fst: expected output_symbols": (lambda table: setattr(MACHINE.copy(), "output_symbols", table), (None,)),
    "Fst.arcs_array": (MACHINE.arcs_array, ()),
    "Fst.from_arrays": (lambda start: Fst.from_arrays(*MACHINE.to_arrays()[:3], start), (0,)),
    "Fst.write": (MACHINE.to_bytes, ()),
    "Fst.from_text": (lambda **options: Fst.from_text("0 1 1 1\n", **options), ()),
    "Fst.from_text, text": (Fst.from_text, ("0 1 1 1\n",)),
    "Fst.to_text": (MACHINE.to_text, ()),
    "Fst.draw, title": (lambda title="": MACHINE.draw(title=title), ()),
    "SymbolTable.add": (lambda key: SymbolTable().add("a", key), (1,)),
    "SymbolTable.symbol": (TABLE.symbol, (1,)),
    "SymbolTable.symbol, bytes": (TABLE.symbol_bytes, (1,)),
    "ComposeFst": (automata.ComposeFst(MACHINE, automata.arcsort(MACHINE)).arcs, (0,)),
    "ComposeFst, final": (automata.ComposeFst(MACHINE, automata.arcsort(MACHINE)).final, (0,)),
    "Pdt.depth": (Pdt(MACHINE, [(7, 8)]).depth, ()),
    "Pdt.accepts": (Pdt(MACHINE, [(7, 8)]).accepts, ([1],)),
    "Pdt.expand": (Pdt(MACHINE, [(7, 8)]).expand, ()),
    "Pdt.compose": (Pdt(MACHINE, [(7, 8)]).compose, (MACHINE,)),
    "Pdt.shortestpath": (Pdt(MACHINE, [(7, 8)]).shortestpath, ()),
    "Pdt.shortestdistance": (Pdt(MACHINE, [(7, 8)]).shortestdistance, ()),
    "Pdt.from_rules": (Pdt.from_rules, (1, [(1, MACHINE)])),
}


@pytest.mark.parametrize("name", METHODS)
def test_odd_arguments_of_methods(name: str) -> None:
    called, good = METHODS[name]
    function = name.partition(",")[0]
    told = refusals(called, good, ODD, TypeError, ValueError, IndexError, tokamata.LimitError)
    for parameter, odd, text in told:
        assert text.startswith((function, "Fst: unknown semiring")), (parameter, odd, text)


@pytest.mark.parametrize("odd", [-1, 2**31, 2**64, "a", 1.5, None])
def test_labels_that_are_none(odd: Any) -> None:
    calls: dict[str, Any] = {
        "replace: a machine's label": lambda: automata.replace([(odd, MACHINE)]),
        "ReplaceFst: a machine's label": lambda: automata.ReplaceFst([(odd, MACHINE)]),
        "Pdt: a parenthesis": lambda: Pdt(MACHINE, [(7, odd)]),
        "Pdt.from_rules: a rule's label": lambda: Pdt.from_rules(1, [(odd, MACHINE)]),
        "Pdt.from_rules: root": lambda: Pdt.from_rules(odd, [(1, MACHINE)]),
        "determinize: subsequential_label": lambda: automata.determinize(MACHINE, subsequential_label=odd),
        "DeterminizeFst: subsequential_label": lambda: automata.DeterminizeFst(MACHINE, subsequential_label=odd),
    }
    if odd is not None:
        calls["replace: root"] = lambda: automata.replace([(1, MACHINE)], root=odd)
        calls["Pdt.from_rules: first_paren"] = lambda: Pdt.from_rules(1, [(1, MACHINE)], first_paren=odd)
    for begin, call in calls.items():
        operation, _, name = begin.partition(": ")
        if isinstance(odd, int):
            with pytest.raises(
                FstError, match=f"^{re.escape(begin)} must be 0..2147483647 .0 is epsilon., got {odd}; "
            ):
                call()
        else:
            with pytest.raises(TypeError, match=f"^{operation}: expected {re.escape(name)} as an int, got "):
                call()


def test_whole_numbers_of_other_types() -> None:
    assert automata.shortestpath(MACHINE, nshortest=np.int64(1)).num_states() == 4  # type: ignore[arg-type]
    assert automata.determinize(MACHINE, max_states=np.int32(9), weight=np.float32(1)).num_states() == 4  # type: ignore[arg-type]
    assert Pdt(MACHINE, [(np.int64(7), np.int64(8))]).parens == ((7, 8),)  # type: ignore[list-item]
    assert Pdt(MACHINE, [(7, 8)]).expand(max_depth=np.int64(1)).num_states() == 4  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^Pdt.expand: expected max_depth as an int, got float 1.5; "):
        Pdt(MACHINE, [(7, 8)]).expand(max_depth=1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^SymbolTable: expected a name as str or bytes, got int; "):
        SymbolTable().add(5)  # type: ignore[arg-type]


def test_whole_numbers_that_fit_no_machine_word() -> None:
    with pytest.raises(FstError, match=r"^shortestpath: nshortest must not be negative, got -10{30}; pass 0 or more"):
        automata.shortestpath(MACHINE, nshortest=-(10**30))
    for call in (
        lambda many: automata.determinize(MACHINE, nstate=-many),
        lambda many: automata.shortestpath(MACHINE, nshortest=-many),
        lambda many: Pdt(MACHINE, [(7, 8)]).expand(max_depth=-many),
    ):
        with pytest.raises(FstError, match=r", got a number of 16610 bits"):
            call(10**5000)
    assert automata.prune(MACHINE, weight=10**400).num_states() == 4
    for label in (-1, 2**31, 10**30):
        with pytest.raises(FstError, match=r"^Pdt.accepts: a label must be 0..2147483647"):
            Pdt(MACHINE, [(7, 8)]).accepts([label])
