"""Classes with constructors of their own: a call is what the class takes."""

from __future__ import annotations

import functools
import typing
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pydantic
import pydantic.dataclasses
import pytest

import tokamata

T = TypeVar("T")
U = TypeVar("U")


@dataclass
class Base:
    a: int
    b: str = ""


class Plain(Base):
    pass


class Named(Base):
    def __init__(self, name: str) -> None:
        super().__init__(len(name), name)


class SameNames(Base):
    def __init__(self, a: str, b: int = 0) -> None:
        super().__init__(len(a), str(b))


@dataclass
class Turned:
    a: int
    b: str

    def __init__(self, b: str, a: int) -> None:
        self.a, self.b = a, b


@dataclass
class WithoutAnnotation:
    a: int
    b: str

    def __init__(self, a, c=None):  # type: ignore[no-untyped-def]
        self.a, self.b = a, str(c)


@dataclass
class Any_(Base):
    def __init__(self, *a: int) -> None:
        super().__init__(sum(a))


@dataclass
class First(Generic[T]):
    items: list[T]

    def __init__(self, first: T, *more: T) -> None:
        self.items = [first, *more]


class FirstOfLists(First[list[U]], Generic[U]):
    pass


@dataclass
class New(Base):
    def __new__(cls, *args: Any, **kwargs: Any) -> New:
        return object.__new__(cls)


class Meta(type):
    def __call__(cls, text: str) -> Any:
        return super().__call__(len(text))


@dataclass
class WithMeta(metaclass=Meta):
    a: int


class Pair(NamedTuple):
    a: int
    b: str = ""


class LengthPair(Pair):
    def __new__(cls, b: str) -> LengthPair:
        return super().__new__(cls, len(b), b)


def counted(cls: Any) -> Any:
    made = cls.__init__

    @functools.wraps(made)
    def counting(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)

    cls.__init__ = counting
    return cls


@counted
@dataclass
class Wrapped(Base):
    pass


@pydantic.dataclasses.dataclass
class Checked:
    a: int
    b: str = pydantic.Field(default="", alias="bee")


class CheckedName(Checked):
    def __init__(self, name: str) -> None:
        super().__init__(len(name))


@dataclass
class Seeded(Generic[T]):
    a: list[T]
    _: KW_ONLY
    seed: InitVar[T]
    start: InitVar[list[T] | None] = None
    kept: typing.ClassVar[int] = 3
    known: ClassVar[list[str]] = []
    made: int = field(default=0, init=False)

    def __post_init__(self, seed: T, start: list[T] | None) -> None:
        self.a += [seed]


@pytest.mark.parametrize(
    ("kind", "members", "others"),
    [
        (Plain, ["Plain(1)", "Plain(1, b='s')"], ["Plain('s')", "Plain()"]),
        (Named, ["Named('s')", "Named(name='s')"], ["Named(1)", "Named(a=1)", "Named('s', 's')"]),
        (SameNames, ["SameNames('s')", "SameNames('s', b=1)"], ["SameNames(1)", "SameNames('s', 's')"]),
        (Turned, ["Turned('s', 1)", "Turned(b='s', a=1)"], ["Turned(1, 's')"]),
        (
            WithoutAnnotation,
            ["WithoutAnnotation(1, 's')", "WithoutAnnotation(1, 1)"],
            ["WithoutAnnotation('s')", "WithoutAnnotation(1, b='s')"],
        ),
        (Any_, ["Any_()", "Any_(1, 2, 3)"], ["Any_('s')", "Any_(a=1)"]),
        (First[int], ["First(1)", "First(1, 2)"], ["First('s')", "First(1, 's')", "First([1])"]),
        (FirstOfLists[int], ["FirstOfLists([1])"], ["FirstOfLists(1)", "FirstOfLists(['s'])"]),
        (New, ["New(1)", "New(1, 's')"], ["New('s')"]),
        (WithMeta, ["WithMeta('s')"], ["WithMeta(1)", "WithMeta(a=1)"]),
        (LengthPair, ["LengthPair('s')"], ["LengthPair(1)", "LengthPair(1, 's')"]),
        (Wrapped, ["Wrapped(1)", "Wrapped(1, 's')"], ["Wrapped('s')"]),
        (Checked, ["Checked(1)", "Checked(1, 's')", "Checked(1, bee='s')"], ["Checked('s')", "Checked(1, b='s')"]),
        (CheckedName, ["CheckedName('s')"], ["CheckedName(1)", "CheckedName(1, 's')"]),
        (
            Seeded[int],
            ["Seeded([], seed=1)", "Seeded(a=[1], seed=1, start=[2])"],
            ["Seeded([], 1)", "Seeded([], seed='s')", "Seeded([1])", "Seeded([], seed=1, start=['s'])"],
        ),
    ],
)
def test_calls_that_the_class_takes(kind: Any, members: list[str], others: list[str]) -> None:
    constraint = tokamata.dataclass_call(kind)
    assert [text for text in [*members, *others] if constraint.accepts(text)] == members
    for text in members:
        assert constraint.parse(text) == eval(text)
    for text in constraint.examples(20, seed=1):
        assert isinstance(constraint.parse(text), typing.get_origin(kind) or kind), text


def test_constructors_that_disagree_are_refused() -> None:
    @dataclass
    class Split:
        a: int

        def __new__(cls, b: int) -> Split:
            return object.__new__(cls)

    with pytest.raises(
        tokamata.UnsupportedError,
        match=r"dataclass_call: Split: Split: __new__ and __init__ take different arguments, .*; give them the same",
    ):
        tokamata.dataclass_call(Split)


class Below(Named):
    pass


class ByNew:
    def __new__(cls, x: int) -> ByNew:
        return super().__new__(cls)


class Unsaid:
    x: int

    def __init__(self, x):  # type: ignore[no-untyped-def]
        self.x = x


class Meeting(pydantic.BaseModel):
    title: str
    day: int = 1


@pytest.mark.parametrize(
    ("function", "members", "others"),
    [
        (Plain, ["Plain(1)"], ["Plain('s')"]),
        (Below, ["Below('s')"], ["Below(1)"]),
        (ByNew, ["ByNew(1)"], ["ByNew('s')"]),
        (WithMeta, ["WithMeta('s')"], ["WithMeta(1)"]),
        (First[int], ["First(1, 2)"], ["First('s')"]),
        (functools.partial(Below), ["Below('s')"], ["Below(1)"]),
        (functools.partial(Plain, b="x"), ["Plain(1)", "Plain(1, b='y')"], ["Plain('s')", "Plain(1, 's')"]),
        (Unsaid, ["Unsaid(1)", "Unsaid('s')"], ["Unsaid()"]),
        (Meeting, ["Meeting(title='s', day=2)"], ["Meeting(title=1)", "Meeting('s')"]),
    ],
)
def test_functions_that_are_classes(function: Any, members: list[str], others: list[str]) -> None:
    constraint = tokamata.function_call(function)
    assert [text for text in [*members, *others] if constraint.accepts(text)] == members
