"""dataclass_call: members are Python expressions of instances, and reprs of instances are members."""

from __future__ import annotations

import ast
import collections.abc
import datetime
import decimal
import enum
import itertools
import math
import pathlib
import random
import re
import sys
import uuid
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, make_dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar, Union

import pytest
from annotated_types import Ge, Gt, Le, Len, Lt, MinLen, MultipleOf, Predicate
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, Json
from typing_extensions import NotRequired, Required, TypeAliasType, TypedDict

import tokamata


class Color(enum.Enum):
    RED = 1
    GREEN = "g"


@dataclass(frozen=True)
class Item:
    sku: str
    count: int = 1
    price: float | None = None


@dataclass
class Order:
    id: int
    items: list[Item]
    color: Color = Color.RED
    labels: dict[str, Literal["a", 3, None]] = field(default_factory=dict)
    parent: Order | None = None
    sizes: tuple[int, ...] = ()
    one: tuple[str] = ("x",)
    pair: tuple[int, bytes] = (0, b"")
    members: set[Item] = field(default_factory=set)
    names: frozenset[str] = frozenset()
    extra: Any = None


ORDERS = [
    Order(1, []),
    Order(-5, [Item("a'b"), Item('"', 3, 0.5)], parent=Order(2, [Item("\\\n\x00é😀\u2028", price=-1e-300)])),
    Order(
        0, [], labels={"x": "a", "y": 3, "z": None}, sizes=(1,), one=("",), pair=(7, b"\x00\xff'"), extra=[1.5, {2: ()}]
    ),
    Order(10**50, [], sizes=(1, 2, 3), members={Item("x"), Item("y")}, names=frozenset({"b"}), extra={1, (True,)}),
]


def written(instance: object) -> str:
    return repr(instance).replace("<Color.RED: 1>", "Color.RED").replace("<Color.GREEN: 'g'>", "Color.GREEN")


@pytest.mark.parametrize("strings", ["any", "canonical"])
@pytest.mark.parametrize("whitespace", ["flexible", "pep8", "any"])
def test_reprs_are_members_and_read_back(whitespace: Any, strings: Any) -> None:
    constraint = tokamata.dataclass_call(Order, whitespace=whitespace, strings=strings)
    for order in ORDERS:
        assert constraint.accepts(written(order))
        assert constraint.parse(written(order)) == order


@pytest.mark.parametrize("strings", ["any", "canonical"])
@pytest.mark.parametrize("whitespace", ["flexible", "pep8", "compact", "any"])
def test_members_read_back(whitespace: Any, strings: Any) -> None:
    constraint = tokamata.dataclass_call(Order, whitespace=whitespace, strings=strings)
    names = {"Order": Order, "Item": Item, "Color": Color}
    for seed in range(20):
        for text in constraint.examples(20, seed=seed):
            order = constraint.parse(text)
            assert order == eval(text, names), (seed, text)
            assert constraint.accepts(written(order)) or whitespace == "compact"


def test_arguments_by_position_keyword_and_default() -> None:
    constraint = tokamata.dataclass_call(Item)
    for text in ["Item('a')", 'Item("a", 2)', "Item('a', 2, None)", "Item('a', price=1)", "Item(sku='a', price=1.5)"]:
        assert constraint.parse(text) == eval(text)
    for text in ["Item()", "Item(count=1)", "Item('a', sku='a')", "Item(count=1, sku='a')", "Item('a', 1, None, 2)"]:
        assert not constraint.accepts(text)
    assert isinstance(constraint.parse("Item('a', price=1)").price, float)


def test_layout() -> None:
    lines = "Item(\n    'a',\n    price=1.5,\n)"
    accepted = {
        "flexible": ["Item('a', 1)", "Item('a',1)", lines],
        "pep8": ["Item('a', 1)"],
        "compact": ["Item('a',1)"],
        "any": ["Item('a', 1)", "Item('a',1)", lines, "Item( 'a' , count = 1 , )"],
    }
    texts = {text for texts in accepted.values() for text in texts}
    for whitespace in accepted:
        constraint = tokamata.dataclass_call(Item, whitespace=whitespace)  # type: ignore[arg-type]
        assert {text for text in texts if constraint.accepts(text)} == set(accepted[whitespace])


@dataclass
class Text:
    text: str
    data: bytes = b""


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
def test_string_literals_are_those_of_python() -> None:
    constraint = tokamata.dataclass_call(Text, whitespace="compact")
    bodies = [chr(code) for code in [*range(0x3000), *range(0xE000, 0x110000, 997)] if not 0xD800 <= code < 0xE000]
    bodies += [f"\\{letter}" for letter in map(chr, range(32, 127)) if letter not in "01234567Nux"]
    bodies += ["\\x41", "\\xfF", "\\x4", "\\u00e9", "\\uD800", "\\udfff", "\\uE000", "\\U0001F600", "\\U00110000"]
    bodies += ["\\U0000d800", "\\U0010ffFF", "'", '"', "", "a\\", "\\\\"]
    for body in bodies:
        for quote in "'\"":
            literal = f"{quote}{body}{quote}"
            try:
                value = ast.literal_eval(literal)
                value.encode()
                valid = body[:1] != "\\" or value != body  # what is no escape stays as it is, with a warning
            except (SyntaxError, ValueError):
                valid = False
            if body != "" and body < " ":  # control characters must be escaped
                valid = False
            assert constraint.accepts(f"Text({literal})") == valid, literal


def test_canonical_strings_are_those_of_repr() -> None:
    constraint = tokamata.dataclass_call(Text, strings="canonical")
    loose = tokamata.dataclass_call(Text)
    generator = random.Random(5)
    alphabet = ["'", '"', "\\", "\n", "\x00", "\x7f", "\x80", "\xad", "é", "\u2028", "\ue000", "\U000e0001", "😀", "a"]
    for case in range(300):
        text = "".join(generator.choices(alphabet, k=generator.randrange(5)))
        data = bytes(generator.choices([0, 9, 10, 39, 34, 92, 65, 127, 128, 255], k=generator.randrange(5)))
        call = repr(Text(text, data))
        assert constraint.accepts(call), (case, call)
        assert loose.accepts(call), (case, call)
    for seed in range(10):
        for example in constraint.examples(30, seed=seed):
            value = constraint.parse(example)
            plain = example.decode().encode("ascii", "backslashreplace").decode().replace("\x7f", "\\x7f")
            for literal in (ascii(value.text), repr(value.data)):
                assert literal in plain or literal == "b''", (seed, example)


class Point(NamedTuple):
    x: float
    y: float = 0.0


class Movie(TypedDict):
    name: str
    year: NotRequired[int]


class Model(BaseModel):
    size: int = Field(ge=1, le=12)
    kind: Literal["a", "b"] = "a"


T = TypeVar("T")
UserId = NewType("UserId", int)


@dataclass
class Box(Generic[T]):
    value: T


@dataclass
class Zoo:
    point: Point
    movie: Movie
    model: Model
    box: Box[int]
    user: UserId
    small: Annotated[int, Ge(3), Le(11)]
    short: Annotated[str, Len(1, 2)]
    some: Annotated[list[bool], Len(1, 2)]
    either: Union[int, str, list[int], list[str]]  # noqa: UP007
    maybe: Optional[Point]  # noqa: UP045
    seed: InitVar[int] = 0
    hidden: int = field(default=1, init=False)
    last: int = field(default=2, kw_only=True)


ZOO = "Zoo(Point(1, y=2), {'name': 'x', 'year': 3}, Model(size=3), Box(4), 5, 6, 'ab', [True], ['x'], None, 1, last=3)"


def test_classes_and_annotations_of_every_kind() -> None:
    constraint = tokamata.dataclass_call(Zoo)
    zoo = constraint.parse(ZOO)
    assert zoo == eval(ZOO)
    for before, after in [
        ("6,", "12,"),
        ("6,", "2,"),
        ("'ab'", "'abc'"),
        ("'ab'", "''"),
        ("[True]", "[]"),
        ("['x']", "['x', 1]"),
        ("size=3", "size=13"),
        ("'name': 'x', ", ""),
        ("Box(4)", "Box('4')"),
        ("1, last=3", "1, 3"),
        ("last=3", "hidden=3"),
    ]:
        assert not constraint.accepts(ZOO.replace(before, after, 1)), after
    for seed in range(10):
        for text in constraint.examples(20, seed=seed):
            assert constraint.parse(text) == eval(text), (seed, text)


@dataclass
class Values:
    day: datetime.date
    at: datetime.time
    moment: datetime.datetime
    span: datetime.timedelta
    price: decimal.Decimal
    key: uuid.UUID
    path: pathlib.Path = pathlib.Path("a")
    either: datetime.date | datetime.datetime | None = None


def random_values(generator: random.Random) -> Values:
    day = datetime.date.fromordinal(generator.randrange(1, 3_652_060))
    at = datetime.time(generator.randrange(24), generator.randrange(60), *generator.choice([(), (7,), (0, 9)]))
    zone = generator.choice([None, datetime.timezone.utc])
    span = datetime.timedelta(generator.randrange(-2, 3), generator.randrange(2), generator.randrange(2))
    digits = tuple(generator.randrange(10) for _ in range(generator.randrange(1, 5)))
    price = decimal.Decimal(decimal.DecimalTuple(generator.randrange(2), digits, generator.randrange(-9, 9)))
    moment = datetime.datetime.combine(day, at, zone)
    key = uuid.UUID(int=generator.getrandbits(128))
    return Values(day, at, moment, span, price, key, pathlib.Path(generator.choice(["a'b", "/x/y"])), moment)


@pytest.mark.parametrize("strings", ["any", "canonical"])
def test_values_of_the_standard_library(strings: Any) -> None:
    constraint = tokamata.dataclass_call(Values, strings=strings)
    generator = random.Random(3)
    for case in range(200):
        values = random_values(generator)
        assert constraint.parse(repr(values)) == values, (case, values)
    names = {**vars(sys.modules[__name__]), **vars(pathlib), "Decimal": decimal.Decimal, "UUID": uuid.UUID}
    names |= {"date": datetime.date, "time": datetime.time, "timedelta": datetime.timedelta}
    names |= {"timezone": datetime.timezone, "decimal": decimal, "uuid": uuid, "pathlib": pathlib}
    for seed in range(10):
        for text in constraint.examples(20, seed=seed):
            if not re.search(r"(?<!\.)datetime\((?!\.)", text.decode()):  # the class has the name of its module
                assert constraint.parse(text) == eval(text, dict(names)), (seed, text)
            assert constraint.accepts(repr(constraint.parse(text))), (seed, text)
    day = tokamata.dataclass_call(Day)
    assert [d for d in range(27, 33) if day.accepts(f"Day(date(2023, 2, {d}))")] == [27, 28]
    assert [d for d in range(27, 33) if day.accepts(f"Day(datetime.date(2024, 2, {d}))")] == [27, 28, 29]


@dataclass
class Day:
    day: datetime.date


def test_local_classes_and_recursion() -> None:
    @dataclass
    class Leaf:
        value: int

    @dataclass
    class Tree:
        left: Tree | Leaf
        right: Tree | Leaf | None = None

    constraint = tokamata.dataclass_call(Tree)
    text = "Tree(left=Tree(Leaf(1)), right=Leaf(2))"
    assert constraint.parse(text) == Tree(Tree(Leaf(1)), Leaf(2))
    deep = "Tree(" * 90 + "Leaf(1)" + ")" * 90
    assert constraint.parse(deep).left is not None
    too_deep = "Tree(" * 5000 + "Leaf(1)" + ")" * 5000
    assert constraint.accepts(too_deep)
    with pytest.raises(tokamata.LimitError, match=r"nested deeper than Python's parser reads"):
        constraint.parse(too_deep)


def test_many_fields() -> None:
    fields = [(f"field_{i}", int, field(default=i)) for i in range(400)]
    wide = make_dataclass("Wide", fields)
    constraint = tokamata.dataclass_call(wide)
    for instance in [wide(), wide(*range(1, 401)), wide(field_399=7), wide(1, 2, field_80=3)]:
        assert constraint.parse(repr(instance)) == instance
    assert constraint.parse("Wide(1, field_399=7)") == wide(1, field_399=7)
    assert not constraint.accepts("Wide(field_3=1, field_2=1)")


@dataclass
class Mixed:
    a: int = field(kw_only=True)
    b: int
    c: int = field(default=3, kw_only=True)
    d: int = 4


@pytest.mark.parametrize("order", ["fields", "any"])
def test_keywords_stand_in_the_order_of_the_fields_or_in_any(order: Any) -> None:
    constraint = tokamata.dataclass_call(Mixed, order=order)
    names = {f"{name}={value}" for value, name in enumerate("abcd")}
    calls = [call for n in range(5) for call in itertools.permutations([*sorted(names), "7", "8"], n)]
    accepted = set()
    for call in calls:
        text = f"Mixed({', '.join(call)})"
        keywords = [argument for argument in call if "=" in argument]
        try:
            mixed = eval(text)
            valid = keywords == sorted(keywords) or order == "any"
        except (SyntaxError, TypeError):
            valid = False
        assert constraint.accepts(text) == valid, text
        if valid:
            accepted.add(text)
            assert constraint.parse(text) == mixed
    assert "Mixed(a=0, b=1, c=2, d=3)" in accepted
    assert "Mixed(7, a=0, c=2, d=3)" in accepted
    assert "Mixed(7, 8, a=0, c=2)" in accepted


@dataclass
class Chain(Generic[T]):
    value: T
    rest: Chain[T] | None = None
    others: list[Chain[T]] = field(default_factory=list)


def test_type_variables_stand_for_their_arguments() -> None:
    constraint = tokamata.dataclass_call(Chain[int])
    text = "Chain(1, Chain(2, others=[Chain(3)]))"
    assert constraint.parse(text) == eval(text)
    for digit in "123":
        assert not constraint.accepts(text.replace(digit, "'x'"))
    assert tokamata.dataclass_call(Chain[str]).accepts("Chain('x', Chain('y'))")
    assert tokamata.dataclass_call(Chain).accepts("Chain('x', Chain(1))")


U = TypeVar("U")


@dataclass
class ListBox(Box[list[T]], Generic[T]):  # another T than that of Box
    more: T


@dataclass
class OtherListBox(Box[list[U]], Generic[U]):
    more: U


@dataclass
class SetBox(ListBox[frozenset[T]], Generic[T]):
    last: T


@dataclass
class Pair(Generic[T, U]):
    first: T
    second: U


@dataclass
class Swapped(Pair[U, T], Generic[T, U]):
    third: T


@dataclass
class Fixed(Swapped[int, str]):
    value: int


@dataclass
class Holder(Generic[T]):
    box: Box[list[T]]


class Keyed(TypedDict, Generic[T]):
    key: T


class ListKeyed(Keyed[list[T]], Generic[T]):
    more: T


@dataclass
class Dicts:
    keyed: ListKeyed[int]


@pytest.mark.parametrize(
    ("kind", "members", "others"),
    [
        (ListBox[int], ["ListBox([1], 1)"], ["ListBox(1, 1)", "ListBox(['s'], 1)", "ListBox([1], [1])"]),
        (OtherListBox[int], ["OtherListBox([1], 1)"], ["OtherListBox(['s'], 1)", "OtherListBox([1], 's')"]),
        (
            SetBox[int],
            ["SetBox([frozenset({1})], frozenset({1}), 1)"],
            ["SetBox([1], frozenset({1}), 1)", "SetBox([frozenset({1})], 1, 1)", "SetBox([], frozenset({'s'}), 1)"],
        ),
        (Swapped[int, str], ["Swapped('s', 1, 2)"], ["Swapped(1, 's', 2)", "Swapped('s', 1, 's')"]),
        (Fixed, ["Fixed('s', 1, 2, 3)"], ["Fixed(1, 's', 2, 3)", "Fixed('s', 1, 's', 3)"]),
        (Holder, ["Holder(Box([1]))", "Holder(Box(['s']))"], ["Holder(Box(1))"]),
        (
            Dicts,
            ["Dicts({'key': [1], 'more': 1})"],
            ["Dicts({'key': 1, 'more': 1})", "Dicts({'key': ['s'], 'more': 1})"],
        ),
    ],
)
def test_each_class_has_type_variables_of_its_own(kind: Any, members: list[str], others: list[str]) -> None:
    constraint = tokamata.dataclass_call(kind)
    assert [text for text in [*members, *others] if constraint.accepts(text)] == members


def test_constraints_on_the_text_of_numbers() -> None:
    @dataclass
    class Priced:
        amount: Annotated[int, tokamata.integer(1, 5)]
        price: Annotated[float, tokamata.decimal(0, 1, places=2)] = 0

    constraint = tokamata.dataclass_call(Priced)
    calls = ["Priced(5)", "Priced(6)", "Priced(5, 0.50)", "Priced(5, 0.5)", "Priced(5, price=1.01)"]
    assert [call for call in calls if constraint.accepts(call)] == ["Priced(5)", "Priced(5, 0.50)"]


@dataclass
class Nested(Generic[T]):
    value: T
    inner: Nested[list[T]] | None = None


class NestedKeys(TypedDict, Generic[T]):
    value: T
    inner: NotRequired[NestedKeys[tuple[T, T]]]


@dataclass
class Turned(Generic[T, U]):
    value: T
    inner: Turned[U, T] | None = None


def test_classes_inside_themselves_with_other_arguments() -> None:
    turned = tokamata.dataclass_call(Turned[int, str])
    assert turned.accepts("Turned(1, Turned('s', Turned(2)))")
    assert not turned.accepts("Turned(1, Turned(2))")
    deep: Any = int
    for _ in range(10):
        deep = Box[deep]
    assert tokamata.dataclass_call(deep).accepts("Box(" * 10 + "1" + ")" * 10)
    with pytest.raises(
        tokamata.UnsupportedError, match=r"dataclass_call: Nested.inner: Nested: .* at most 16 different"
    ):
        tokamata.dataclass_call(Nested[int])
    with pytest.raises(
        tokamata.UnsupportedError, match=r"NestedKeys.inner: NestedKeys: .*; give it the same arguments"
    ):
        tokamata.dataclass_call(make_dataclass("Keys", [("keys", NestedKeys[int])]))


@pytest.mark.parametrize("first", [0, 1])
def test_a_class_with_the_name_of_a_value_is_refused(first: int) -> None:
    own = make_dataclass("Path", [("text", str)])
    union = Union[own, pathlib.Path] if first else Union[pathlib.Path, own]  # type: ignore[valid-type]  # noqa: UP007
    with pytest.raises(tokamata.UnsupportedError, match=r"Places.at: Path: another class is called Path, too"):
        tokamata.dataclass_call(make_dataclass("Places", [("at", union)]))
    assert tokamata.dataclass_call(make_dataclass("Places", [("at", own)])).accepts("Places(Path('a'))")


@pytest.mark.parametrize(
    ("annotation", "members", "others"),
    [
        (Annotated[float, Gt(0)], ["5e-324", "1"], ["1e-324", f"0.{'0' * 400}1", "0"]),
        (Annotated[float, Lt(1)], ["0.9999999999999999"], ["0.99999999999999999999", "1.0"]),
        (Annotated[float, Lt(0)], ["-5e-324"], ["-1e-324", "-0.0", "0"]),
        (Annotated[float, Ge(2**53 + 1)], ["9007199254740994"], ["9007199254740993", "9007199254740992"]),
        (
            Annotated[float, Ge(0.1), Le(decimal.Decimal("0.1"))],
            ["0.1"],
            ["0.09999999999999999", "0.10000000000000002"],
        ),
        (Annotated[float, Le(decimal.Decimal("Infinity")), Gt(-(10**400))], ["1e+308", "-1"], []),
        (Annotated[int, Le(decimal.Decimal("Infinity")), MultipleOf(2.0), MultipleOf(3)], ["6"], ["2", "3"]),
    ],
)
def test_bounds_hold_for_what_is_read(annotation: Any, members: list[str], others: list[str]) -> None:
    constraint = tokamata.dataclass_call(make_dataclass("Bounded", [("x", annotation)]))
    assert [text for text in [*members, *others] if constraint.accepts(f"Bounded({text})")] == members


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (list[float] | list[int], f"[1{'0' * 400}]", [10**400]),
        (list[float] | list[int], "[5]", [5.0]),
        (list[Annotated[float, Le(0)]] | list[int], "[5]", [5]),
        (list[Annotated[float, Le(0)]] | list[int], "[-5]", [-5.0]),
        (list[Annotated[float, tokamata.decimal(places=2)]] | list[int], "[\n  5]", [5]),
        (tuple[Annotated[int, tokamata.integer(1, 5)], float] | tuple[int, int], "(7, 3)", (7, 3)),
        (Annotated[float | None, "doc"] | int, "9007199254740993", 2**53 + 1),
        (Annotated[float | None, "doc"] | int, f"1{'0' * 400}", 10**400),
        (TypeAliasType("Real", float | None) | int, "9007199254740993", 2**53 + 1),
    ],
)
def test_numbers_in_unions_are_read_as_what_can_write_them(annotation: Any, text: str, value: object) -> None:
    read = tokamata.dataclass_call(make_dataclass("Either", [("x", annotation)])).parse(f"Either({text})").x
    assert repr(read) == repr(value)


def test_any_order() -> None:
    @dataclass
    class Holder:
        movie: Movie
        item: Item

    constraint = tokamata.dataclass_call(Holder, order="any")
    text = "Holder(item=Item(price=None, sku='a'), movie={'year': 1, 'name': 'x'})"
    assert constraint.parse(text) == Holder({"name": "x", "year": 1}, Item("a"))
    assert not constraint.accepts(text.replace("'name'", "'year'"))
    for seed in range(5):
        for example in constraint.examples(20, seed=seed):
            assert isinstance(constraint.parse(example), Holder), (seed, example)
    wide = make_dataclass("Wide", [(f"field_{i}", int) for i in range(13)])
    with pytest.raises(tokamata.LimitError, match=r"Wide\(\): the limit keywords=12 of order=.* by 13 of them"):
        tokamata.dataclass_call(wide, order="any")


class Nothing(enum.Enum):
    """No member."""


class Part(TypedDict, total=False):
    must: Required[int]
    may: str


class Whole(Part):
    more: NotRequired[int]
    all: Annotated[Required[int], "of them"]


@dataclass
class Records:
    part: Part
    whole: Whole


def test_keys_marked_as_required_in_annotations_that_are_texts() -> None:
    """``__required_keys__`` does not know of them."""
    call = tokamata.dataclass_call(Records, whitespace="pep8")
    assert call.accepts("Records({'must': 1}, {'must': 1, 'all': 2})")
    assert call.accepts("Records({'must': 1, 'may': ''}, {'must': 1, 'may': '', 'more': 1, 'all': 2})")
    assert not call.accepts("Records({}, {'must': 1, 'all': 2})")
    assert not call.accepts("Records({'must': 1}, {'must': 1})")


def test_fields_with_several_names() -> None:
    class Both(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        first: int = Field(alias="First")
        second: int = Field(2, validation_alias=AliasChoices("Second", "with-dash", "two"))

    call = tokamata.dataclass_call(Both, whitespace="pep8")
    both = Both(First=1, second=3)
    for text in ("Both(first=1, second=3)", "Both(First=1, Second=3)", "Both(first=1, two=3)"):
        assert call.parse(text) == both
    assert call.accepts(repr(both))
    assert call.parse("Both(First=1)") == Both(first=1)
    assert not call.accepts("Both(first=1, First=1)")
    assert not call.accepts("Both(second=3)")
    for text in tokamata.dataclass_call(Both, order="any").examples(30):
        tokamata.dataclass_call(Both, order="any").parse(text)


@dataclass
class Sets:
    any: collections.abc.Set[int]
    own: collections.abc.MutableSet[int]


def test_abstract_sets() -> None:
    call = tokamata.dataclass_call(Sets)
    for value in (Sets(frozenset(), set()), Sets({1}, {2}), Sets(frozenset({1}), {2})):
        assert call.parse(repr(value)) == value
    assert not call.accepts("Sets(set(), frozenset())")


NineFlags = enum.Flag("NineFlags", [f"F{i}" for i in range(9)])


@dataclass
class Refused:
    plain: int


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (list[Callable[[int], str]], r"dataclass_call: Refused.plain\[0\]: .*Callable.*: expected None, bool, int"),
        (set[list[int]], r"Refused.plain\[0\]: members of a set must be hashable"),
        (dict[tuple[Order, int], int], r"Refused.plain\[key\]: keys of a dict must be hashable"),
        (random.Random, r"Refused.plain: Random: expected None"),
        (complex, r"Refused.plain: complex: expected None"),
        (NineFlags, r"Refused.plain: NineFlags: expected at most 8 flags, got 9; use a set"),
        (tuple[int, object, type[int]], r"Refused.plain\[2\]: type\[int\]: expected None"),
        (Annotated[str, Ge(1)], r"Refused.plain: str: ge=1 cannot be enforced on this type; drop it"),
        (Annotated[str, Field(pattern="a")], r"Refused.plain: pattern cannot be enforced"),
        (Annotated[set[int], Len(2, 3)], r"Refused.plain: set: bounds on the size of a set"),
        (Annotated[int, Ge(5), Le(4)], r"Refused.plain: expected bounds with a value between them, got 5 and 4; widen"),
        (Annotated[float, Ge(math.inf)], r"Refused.plain: expected bounds with a value between them, got inf"),
        (
            Annotated[float, Ge(decimal.Decimal("Infinity"))],
            r"Refused.plain: expected bounds with a value between them",
        ),
        (Annotated[int, Ge(decimal.Decimal("Infinity"))], r"Refused.plain: expected bounds with a value between them"),
        (
            Annotated[float, Gt(1), Lt(1 + 2**-52)],
            r"Refused.plain: expected bounds with a value between them, got 1 and",
        ),
        (Annotated[float, Ge(10**400)], r"Refused.plain: expected bounds with a value between them, got 1000"),
        (
            Annotated[int, MultipleOf(0.5), MultipleOf(2)],
            r"Refused.plain: expected several multiple_of as ints, got 0.5",
        ),
        (Annotated[int, MultipleOf(math.inf)], r"Refused.plain: expected multiple_of as a positive int, got inf"),
        (Annotated[str, MinLen(1.5)], r"Refused.plain: expected an int as min_length, got 1.5; pass one"),  # type: ignore[arg-type]
        (Annotated[int, Ge("a")], r"Refused.plain: expected a number as ge, got 'a'; pass an int"),
        (Annotated[str, Len(3, 2)], r"Refused.plain: expected bounds with a value between them, got 3 and 2"),
        (Json[list[int]], r"Refused.plain: Json reads a text of JSON into a value; use the type"),
        (Annotated[str, Predicate(str.isupper)], r"Refused.plain: Predicate calls a function, .*; drop it"),
        (Nothing, r"Refused.plain: Nothing: an enumeration without members has no value; give it one"),
        ("Unknown", r"Refused: an annotation cannot be resolved: name 'Unknown' is not defined"),
    ],
)
def test_what_cannot_be_enforced_is_refused_with_its_place(
    annotation: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(Refused.__annotations__, "plain", annotation)
    with pytest.raises(tokamata.ConstraintError, match=message):
        tokamata.dataclass_call(Refused)


@pytest.mark.parametrize("kind", [int, list[int], Order | int, random.Random, enum.Enum], ids=repr)
def test_what_is_called_without_fields_is_refused_by_name(kind: Any) -> None:
    name = kind.__name__ if type(kind) in (type, enum.EnumMeta) else repr(kind)
    expected = "dataclass_call: expected a dataclass, NamedTuple or pydantic model"
    with pytest.raises(tokamata.UnsupportedError, match=f"^{expected}, got {re.escape(name)}; function_call takes"):
        tokamata.dataclass_call(kind)


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    DELETE = 4
    EDIT = 3


def test_flags() -> None:
    @dataclass
    class Rule:
        access: Access

    constraint = tokamata.dataclass_call(Rule)
    for text, value in {
        "Rule(Access.READ)": 1,
        "Rule(Access.EDIT)": 3,
        "Rule(access=Access.READ | Access.WRITE)": 3,
        "Rule(Access.READ | Access.WRITE | Access.DELETE)": 7,
        "Rule(Access(0))": 0,
    }.items():
        assert constraint.parse(text) == Rule(Access(value))
    for text in ("Rule(Access.WRITE | Access.READ)", "Rule(Access(1))", "Rule(3)", "Rule(Access.READ & Access.WRITE)"):
        assert not constraint.accepts(text)


class Page(BaseModel, Generic[T]):
    item: T
    more: list[T] = []


def test_generic_models_are_called_by_their_names() -> None:
    class Shelf(BaseModel):
        numbers: Page[int]
        texts: Page[list[str]]

    shelf = Shelf(numbers=Page[int](item=1, more=[2]), texts=Page[list[str]](item=["a"]))
    constraint = tokamata.dataclass_call(Shelf)
    assert constraint.accepts(repr(shelf))
    assert constraint.parse(repr(shelf)) == shelf
    assert type(constraint.parse(repr(shelf)).numbers) is Page[int]
    assert not constraint.accepts(repr(shelf).replace("Page[int](", "Page[str]("))


def test_errors() -> None:
    with pytest.raises(TypeError, match=r"dataclass_call: expected a class, got Item.*; pass its class"):
        tokamata.dataclass_call(Item("a"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r'expected whitespace "flexible", "compact", "pep8" or "any", got "?\'wide\''):
        tokamata.dataclass_call(Item, whitespace="wide")  # type: ignore[arg-type]
    constraint = tokamata.dataclass_call(Item)
    with pytest.raises(
        tokamata.ConstraintError, match=r"parse: dataclass_call\(Item\): expected a member, got '\)' at"
    ):
        constraint.parse("Item()")
    with pytest.raises(tokamata.ConstraintError, match=r"got the end of the text at byte 8"):
        constraint.parse("Item('a'")


def test_report_tells_of_keys_and_foreign_metadata() -> None:
    @dataclass
    class Told:
        table: dict[str, int]
        size: Annotated[int, "in metres"]

    entries = {(entry.place, entry.status) for entry in tokamata.dataclass_call(Told).report}
    assert entries == {("Told.table", "widened"), ("Told.size", "annotation")}


def test_no_code_is_evaluated() -> None:
    constraint = tokamata.dataclass_call(Item)
    for text in [
        "Item(__import__('os').name)",
        "Item(f'{1}')",
        "Item('a' 'b')",
        "Item('a', count=(1))",
        "Item(*['a'])",
    ]:
        assert not constraint.accepts(text)
