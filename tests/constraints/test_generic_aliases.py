"""Aliases with type variables, and TypedDicts whose bases Python forgets."""

from __future__ import annotations

import sys
import types
import typing
from dataclasses import dataclass, make_dataclass
from typing import Any, Generic, TypeVar

import pytest
import typing_extensions
from typing_extensions import TypeAliasType, TypeVarTuple, Unpack

import tokamata

T = TypeVar("T")
U = TypeVar("U")
Ts = TypeVarTuple("Ts")

Row = TypeAliasType("Row", list[T], type_params=(T,))
Table = TypeAliasType("Table", "dict[T, Row[U]] | Row[T]", type_params=(T, U))
Tree = TypeAliasType("Tree", "T | list[Tree[T]]", type_params=(T,))
Growing = TypeAliasType("Growing", "T | list[Growing[list[T]]]", type_params=(T,))
Several = TypeAliasType("Several", "tuple[T, Unpack[Ts], U]", type_params=(T, Ts, U))


@dataclass
class Sheet(Generic[T]):
    rows: Row[T]
    table: Table[str, T] | None = None


@pytest.mark.parametrize(
    ("annotation", "members", "others"),
    [
        (Row[int], ["[1]", "[]"], ["['s']", "1"]),
        (Row, ["[1]", "['s']"], ["1"]),
        (Row[Row[int]], ["[[1]]"], ["[1]", "[['s']]"]),
        (Table[str, int], ["{'s': [1]}", "['s']"], ["{'s': ['s']}", "[1]", "{1: [1]}"]),
        (Tree[int], ["1", "[1, [2, []]]"], ["['s']", "[[['s']]]"]),
        (Sheet[int], ["Sheet([1], {'s': [1]})"], ["Sheet(['s'])", "Sheet([1], {'s': ['s']})", "Sheet([1], [1])"]),
        (Row[int] | Row[str], ["[1]", "['s']"], ["[1, 's']"]),
    ],
)
def test_aliases_with_arguments(annotation: Any, members: list[str], others: list[str]) -> None:
    constraint = tokamata.dataclass_call(make_dataclass("Holder", [("x", annotation)]), names={"Row": Row})
    assert [text for text in [*members, *others] if constraint.accepts(f"Holder({text})")] == members


def test_functions_with_aliases() -> None:
    def show(rows: Row[int]) -> None: ...

    call = tokamata.function_call(show)
    assert call.accepts("show([1])")
    assert not call.accepts("show(['s'])")


def test_aliases_without_end_are_refused() -> None:
    with pytest.raises(
        tokamata.UnsupportedError,
        match=r"Holder.x\[0\].*: Growing\[.*generic alias inside itself with at most 16 different arguments, got more",
    ):
        tokamata.dataclass_call(make_dataclass("Holder", [("x", Growing[int])]))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no variables for several types")
def test_variables_for_several_types() -> None:
    @dataclass
    class Many(Generic[Unpack[Ts]]):
        items: tuple[Unpack[Ts]]

    constraint = tokamata.dataclass_call(Many[int, str])
    texts = ["Many((1, 's'))", "Many((1,))", "Many(('s', 1))", "Many((1, 's', 2))"]
    assert [text for text in texts if constraint.accepts(text)] == texts[:1]
    constraint = tokamata.dataclass_call(make_dataclass("Holder", [("x", Several[int, str, bytes, bool])]))
    assert constraint.accepts("Holder((1, 's', b'', True))")
    assert not constraint.accepts("Holder((1, b'', 's', True))")
    with pytest.raises(tokamata.UnsupportedError, match=r"Many.items\[0\]: .*Ts"):
        tokamata.dataclass_call(Many)


STATEMENTS = """
import dataclasses, typing
type Row[T] = list[T]
type Tree[T] = T | list[Tree[T]]
type Late[T] = list["Late[T]"] | T
@dataclasses.dataclass
class Box[T]:
    rows: Row[T]
    tree: Tree[T] | None = None
    late: Late[T] | None = None
@dataclasses.dataclass
class First[T]:
    items: list[T]
    def __init__(self, first: "T", rest: Row[T] = ()) -> None:
        self.items = [first, *rest]
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements are Python 3.12's")
@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_type_statements(future: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("statements")
    monkeypatch.setitem(sys.modules, "statements", module)
    exec(compile(future + STATEMENTS, "statements.py", "exec", dont_inherit=True), vars(module))
    box = tokamata.dataclass_call(module.Box[int])
    members = ["Box([1])", "Box([1], [1, [2]])", "Box([1], late=[[3]])"]
    others = ["Box(['s'])", "Box([1], ['s'])", "Box([1], late=[['s']])"]
    assert [text for text in [*members, *others] if box.accepts(text)] == members
    first = tokamata.dataclass_call(module.First[int])
    assert first.parse("First(1, [2])") == module.First(1, [2])
    assert not first.accepts("First('s')")
    assert not first.accepts("First(1, ['s'])")


TYPED_DICTS = """
import dataclasses, typing, typing_extensions
class Keyed[T](BASE):
    key: T
    next: typing.NotRequired[Keyed[T] | None]
class Listed[T](Keyed[list[T]]):
    more: "T"
class Texts(Listed[str]):
    last: int
@dataclasses.dataclass
class Holder:
    x: Keyed[int] | Listed[bool] | Texts
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are Python 3.12's")
@pytest.mark.parametrize("base", ["typing.TypedDict", "typing_extensions.TypedDict"])
def test_typed_dicts_with_type_parameters(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotations that are texts name the parameters of the class that declares the key, each its own T."""
    module = types.ModuleType("typed_dicts")
    monkeypatch.setitem(sys.modules, "typed_dicts", module)
    code = "from __future__ import annotations" + TYPED_DICTS.replace("BASE", base)
    exec(compile(code, "typed_dicts.py", "exec", dont_inherit=True), vars(module))
    constraint = tokamata.dataclass_call(module.Holder)
    members = [
        "Holder({'key': 1})",
        "Holder({'key': 1, 'next': {'key': 2}})",
        "Holder({'key': [True], 'more': False})",
        "Holder({'key': ['a'], 'next': {'key': [], 'next': None}, 'more': 'b', 'last': 1})",
    ]
    others = ["Holder({'key': 'a'})", "Holder({'key': [1], 'more': 1})", "Holder({'key': [1], 'more': 'b', 'last': 1})"]
    assert [text for text in [*members, *others] if constraint.accepts(text)] == members


class Keyed(typing_extensions.TypedDict, Generic[T]):
    key: T


class IntKeyed(Keyed[int]):
    more: str


class FartherKeyed(IntKeyed):
    most: str


FARTHER = ["Holder({'key': 1, 'more': '', 'most': ''})", "Holder({'key': 's', 'more': '', 'most': ''})"]


def test_typed_dicts_far_below_a_generic_one() -> None:
    constraint = tokamata.dataclass_call(make_dataclass("Holder", [("x", FartherKeyed)]))
    assert [text for text in FARTHER if constraint.accepts(text)] == FARTHER[:1]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no generic TypedDict")
def test_typed_dicts_that_forget_their_bases() -> None:
    class Plain(typing.TypedDict, Generic[U]):
        key: U

    class Bound(Plain[int]):
        more: str

    class Farther(Bound):
        most: str

    holder = make_dataclass("Holder", [("x", Farther)])
    if sys.version_info >= (3, 12):
        constraint = tokamata.dataclass_call(holder)
        assert [text for text in FARTHER if constraint.accepts(text)] == FARTHER[:1]
    else:
        with pytest.raises(
            tokamata.UnsupportedError, match=r"Farther.key: Farther: .* not known: .*; take TypedDict from typing_ext"
        ):
            tokamata.dataclass_call(holder)
    constraint = tokamata.dataclass_call(make_dataclass("Holder", [("x", Bound)]))
    assert constraint.accepts("Holder({'key': 1, 'more': ''})")
    assert not constraint.accepts("Holder({'key': 's', 'more': ''})")
    assert tokamata.dataclass_call(make_dataclass("Holder", [("x", Plain)])).accepts("Holder({'key': 's'})")
