"""Arguments that make no sense: taken, or an error that names the operation and what it expected."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from oracle.odd_arguments import refusals
from tokamata.automata import Fst, FstError, Pdt, SymbolTable

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
    """One argument at a time is odd. What native code is given as it is, it refuses by its signature."""
    told = refusals(getattr(automata, name), GOOD[name], ODD, TypeError, ValueError, tokamata.LimitError)
    for parameter, odd, text in told:
        signature = text.partition("\n")[0].endswith(
            "(): incompatible function arguments. The following argument types are supported:"
        )
        assert signature or text.startswith((f"{name}: ", f"{name} ", "determinize: ")), (parameter, odd, text)


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
