"""Random dataclasses: every sampled text parses back to an instance, every instance's canonical text is accepted."""

from __future__ import annotations

import datetime
import decimal
import enum
import sys
import uuid
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any, Generic, Literal, Optional, TypeVar, Union

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, create_model

import tokamata

SEEDED = settings(
    derandomize=True,
    deadline=None,
    max_examples=40,
    database=None,
    phases=[Phase.generate],  # shrinking takes minutes here
    suppress_health_check=list(HealthCheck),
)


class Color(enum.Enum):
    RED = 1
    GREEN = "g"

    def __repr__(self) -> str:
        return f"Color.{self.name}"


class Number(enum.IntEnum):
    ONE = 1
    MANY = 1000

    def __repr__(self) -> str:
        return f"Number.{self.name}"


class Word(str, enum.Enum):  # as enum.StrEnum
    YES = "yes"
    NO = "no\n"

    def __repr__(self) -> str:
        return f"Word.{self.name}"


class Access(enum.Flag):
    READ = 1
    WRITE = 4
    DELETE = 2
    ALL = 7

    def __repr__(self) -> str:
        single = [flag for flag in ("READ", "WRITE", "DELETE") if Access[flag] & self]
        return " | ".join(f"Access.{flag}" for flag in single) or "Access(0)"


T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    content: T
    label: str = ""


@dataclass(frozen=True)
class Kind:
    """A type, a strategy for its values, whether they are hashable, and the dataclasses inside."""

    type: Any
    values: st.SearchStrategy[Any]
    hashable: bool = True
    classes: tuple[type, ...] = field(default=(), compare=False)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TIMES = st.times() | st.times(timezones=st.just(datetime.timezone.utc))
MOMENTS = st.datetimes() | st.datetimes(timezones=st.just(datetime.timezone.utc))
LEAVES = [
    Kind(int, st.integers()),
    Kind(float, st.floats(allow_nan=False, allow_infinity=False)),
    Kind(str, TEXTS),
    Kind(bool, st.booleans()),
    Kind(type(None), st.none()),
    Kind(datetime.date, st.dates()),
]
PYTHON_LEAVES = [
    *LEAVES,
    Kind(bytes, st.binary(max_size=6)),
    Kind(Color, st.sampled_from(Color)),
    Kind(Literal["a'\"\\\n", 1, True, None], st.sampled_from(["a'\"\\\n", 1, True, None])),
    Kind(decimal.Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    Kind(datetime.time, TIMES),
    Kind(datetime.datetime, MOMENTS),
    Kind(datetime.timedelta, st.timedeltas()),
    Kind(uuid.UUID, st.uuids()),
    Kind(Any, st.recursive(st.none() | st.integers() | TEXTS, lambda x: st.lists(x, max_size=2), max_leaves=4), False),
]
ENUMS = [
    Kind(Number, st.sampled_from(Number)),
    Kind(Word, st.sampled_from(Word)),
    Kind(Access, st.sampled_from([Access(value) for value in range(8)])),
]
BOUNDED = [
    Kind(Annotated[int, Field(ge=-3, lt=70)], st.integers(-3, 69)),
    Kind(Annotated[str, Field(min_length=1, max_length=3)], st.text("aé'\n", min_size=1, max_size=3)),
    Kind(Annotated[list[int], Field(max_length=2)], st.lists(st.integers(), max_size=2), False),
]
PYTHON_LEAVES += ENUMS + BOUNDED
JSON_LEAVES = [
    *LEAVES,
    Kind(Literal["a\n", 1, None], st.sampled_from(["a\n", 1, None])),
    Kind(datetime.time, TIMES),
    Kind(datetime.datetime, MOMENTS),
    Kind(datetime.timedelta, st.timedeltas()),
    Kind(decimal.Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    Kind(uuid.UUID, st.uuids()),
    *ENUMS,
    *BOUNDED,
]


def composites(inner: st.SearchStrategy[Kind], json: bool) -> st.SearchStrategy[Kind]:
    @st.composite
    def draw_kind(draw: st.DrawFn) -> Kind:
        shape = draw(
            st.sampled_from(["list", "tuple", "pair", "dict", "set", "frozenset", "union", "generic", "dataclass"])
        )
        first = draw(inner)
        if shape == "list":
            return Kind(list[first.type], st.lists(first.values, max_size=3), False, first.classes)  # type: ignore[name-defined]
        if shape == "generic":
            boxes = st.builds(Box, first.values, st.sampled_from(["", "a"]))
            return Kind(Box[first.type], boxes, False, (Box, *first.classes))  # type: ignore[name-defined]
        if shape == "tuple":
            values = st.lists(first.values, max_size=3).map(tuple)
            return Kind(tuple[first.type, ...], values, first.hashable, first.classes)  # type: ignore[name-defined]
        if shape in ("set", "frozenset") and first.hashable:
            made = frozenset if shape == "frozenset" else set
            values = st.lists(first.values, max_size=3).map(made)
            return Kind(made[first.type], values, shape == "frozenset", first.classes)  # type: ignore[index]
        second = draw(inner)
        classes = first.classes + second.classes
        if shape == "pair":
            values = st.tuples(first.values, second.values)
            return Kind(tuple[first.type, second.type], values, first.hashable and second.hashable, classes)  # type: ignore[name-defined]
        if shape == "dict" and first.hashable and (not json or first.type in (str, int, datetime.date)):
            values = st.dictionaries(first.values, second.values, max_size=3)
            return Kind(dict[first.type, second.type], values, False, classes)  # type: ignore[name-defined]
        if shape == "union" or shape != "dataclass":
            values = first.values | second.values
            return Kind(Union[first.type, second.type], values, first.hashable and second.hashable, classes)  # noqa: UP007
        return draw(classes_of(st.just(first) | st.just(second)))

    return draw_kind()


NAMES = st.sampled_from(["A", "B", "C", "D"])
FIELDS = ["x", "y", "True_", "class_", "né"]


@st.composite
def classes_of(draw: st.DrawFn, kinds: st.SearchStrategy[Kind]) -> Kind:
    """A dataclass with up to four fields, some of them optional, some keyword-only; maybe it contains itself."""
    parts = [draw(kinds) for _ in range(draw(st.integers(0, 4)))]
    inside = tuple(c for part in parts for c in part.classes)
    taken = {c.__name__ for c in inside}
    name = next(f"Class{i}" for i in range(100) if f"Class{i}" not in taken)
    first_default = draw(st.integers(0, len(parts)))
    fields: list[Any] = []
    for i, part in enumerate(parts):
        options: dict[str, Any] = {"kw_only": draw(st.booleans())}
        if i >= first_default:
            value = draw(part.values)
            options["default_factory"] = lambda value=value: value
        fields.append((FIELDS[i], part.type, field(**options)))
    recursive = draw(st.booleans())
    if recursive:
        fields.append(("next", Optional[name], field(default=None, kw_only=True)))  # noqa: UP045
    cls = make_dataclass(name, fields)
    if recursive:
        cls.__annotations__["next"] = Optional[cls]  # noqa: UP045
        cls.__dataclass_fields__["next"].type = Optional[cls]  # noqa: UP045

    def build(values: tuple[Any, ...], left_out: int) -> Any:
        given = {f[0]: value for f, value in zip(fields, values, strict=False)}
        optional = [f[0] for i, f in enumerate(fields[: len(parts)]) if i >= first_default]
        instance = cls(**{k: v for k, v in given.items() if k not in optional[:left_out]})
        if recursive and left_out % 2:
            instance.next = cls(**given)
        return instance

    values = st.builds(build, st.tuples(*(part.values for part in parts)), st.integers(0, 3))
    return Kind(cls, values, False, (cls, *inside))


def unambiguous(kind: Kind) -> bool:
    """Whether no two of its classes have one name."""
    return len({c.__name__ for c in kind.classes}) == len(set(kind.classes))


def kinds(leaves: list[Kind], json: bool) -> st.SearchStrategy[Kind]:
    tree = st.recursive(st.sampled_from(leaves), lambda inner: composites(inner, json), max_leaves=6)
    return classes_of(tree).filter(unambiguous)


@SEEDED
@given(st.data())
def test_calls(data: st.DataObject) -> None:
    kind = data.draw(kinds(PYTHON_LEAVES, json=False))
    constraint = tokamata.dataclass_call(kind.type)
    names = {c.__name__: c for c in kind.classes} | {kind.__name__: kind for kind in (Color, Number, Word, Access)}
    names |= {"Decimal": decimal.Decimal, "UUID": uuid.UUID}
    for _ in range(3):
        instance = data.draw(kind.values)
        text = repr(instance)
        assert constraint.accepts(text), text
        assert constraint.parse(text) == instance
    for text in constraint.examples(12, seed=data.draw(st.integers(0, 1000))):
        instance = constraint.parse(text)
        assert isinstance(instance, kind.type)
        again = repr(instance)
        assert constraint.accepts(again), (text, again)
        assert constraint.parse(again) == instance
        if b"date" not in text and b"time" not in text and b"uuid" not in text and b"decimal" not in text:
            assert instance == eval(text, dict(names)), text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="flags raise TypeError for objects before Python 3.11")
@SEEDED
@given(st.data())
def test_json_texts(data: st.DataObject) -> None:
    kind = data.draw(kinds(JSON_LEAVES, json=True))
    constraint = tokamata.json_schema(kind.type)
    adapter = TypeAdapter(kind.type)
    for _ in range(3):
        text = adapter.dump_json(data.draw(kind.values))
        assert constraint.accepts(text), text
        assert isinstance(constraint.parse(text), kind.type)
    for text in constraint.examples(12, seed=data.draw(st.integers(0, 1000))):
        instance = constraint.parse(text)
        assert isinstance(instance, kind.type)
        again = adapter.dump_json(instance)
        if "inf" not in repr(instance):  # 1e400 is read as inf, which pydantic writes as null
            assert constraint.accepts(again), (text, again)


@SEEDED
@given(st.data())
def test_models(data: st.DataObject) -> None:
    tree = st.recursive(st.sampled_from(JSON_LEAVES), lambda inner: composites(inner, True), max_leaves=4)
    parts = {name: data.draw(tree.filter(unambiguous)) for name in ["x", "y", "z"][: data.draw(st.integers(0, 3))]}
    inside = [c.__name__ for part in parts.values() for c in set(part.classes)]
    assume(len(set(inside)) == len(inside))
    fields: dict[str, Any] = {
        name: (part.type, data.draw(part.values) if data.draw(st.booleans()) else ...) for name, part in parts.items()
    }
    model = create_model("Model", **fields)
    texts, calls = tokamata.json_schema(model), tokamata.dataclass_call(model)
    for _ in range(3):
        instance = model(**{name: data.draw(part.values) for name, part in parts.items()})
        again = instance.model_dump_json()
        assert texts.accepts(again), again
        assert isinstance(texts.parse(again), model)
        assert calls.accepts(repr(instance)), repr(instance)
        assert calls.parse(repr(instance)) == instance
    for text in texts.examples(8, seed=data.draw(st.integers(0, 1000))):
        assert isinstance(texts.parse(text), model)
    for text in calls.examples(8, seed=data.draw(st.integers(0, 1000))):
        assert isinstance(calls.parse(text), model)
