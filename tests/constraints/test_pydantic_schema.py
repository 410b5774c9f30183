"""json_schema of Python types: pydantic reads every member, and what pydantic writes is a member."""

from __future__ import annotations

import datetime
import decimal
import enum
import ipaddress
import json
import math
import pathlib
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypeVar

import annotated_types
import pytest
from pydantic import (
    UUID4,
    AliasPath,
    AmqpDsn,
    AnyHttpUrl,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    Base64UrlBytes,
    BaseModel,
    ConfigDict,
    Field,
    FileUrl,
    HttpUrl,
    IPvAnyAddress,
    IPvAnyInterface,
    IPvAnyNetwork,
    Json,
    KafkaDsn,
    MongoDsn,
    NaiveDatetime,
    PostgresDsn,
    RedisDsn,
    StringConstraints,
    TypeAdapter,
    UrlConstraints,
    ValidationError,
    WebsocketUrl,
    field_validator,
)
from typing_extensions import TypeAliasType, TypedDict

import tokamata

UTC = datetime.timezone.utc
DAY = datetime.timedelta(days=1)


class Color(enum.Enum):
    RED = "red"
    THREE = 3


class Pair(NamedTuple):
    x: int
    y: str = "a"


class Movie(TypedDict, total=False):
    name: str
    years: list[int]


@dataclass
class Node:
    value: int
    next: Node | None = None


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: Annotated[int, Field(ge=1, le=5)]
    when: datetime.datetime | None = None
    pairs: dict[int, Pair] = {}
    children: list[Model] = []


class Dog(BaseModel):
    kind: Literal["dog", "puppy"]
    age: int = 0


class Bird(BaseModel):
    kind: Literal["bird"] = "bird"
    sings: bool


class Fish(BaseModel):
    kind: Literal["fish"] = Field("fish", alias="type")


class Shark(BaseModel):
    kind: Literal["shark"] = Field("shark", alias="type")
    teeth: int


class Zoo(BaseModel):
    best: Dog | Bird = Field(discriminator="kind")
    others: list[Annotated[Dog | Bird, Field(discriminator="kind")]] = []


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 40


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    following: Page[T] | None = None


# types with some of their values
CASES: list[tuple[Any, list[Any]]] = [
    (int, [0, -7, 10**30]),
    (float, [0.0, -0.0, 1e16, 1e-7, 1e-5, 1.5e300, 5e-324, 0.1]),
    (bool, [True]),
    (str, ["", 'a"\\\n\u2028é😀']),
    (type(None), [None]),
    (bytes, [b"abc"]),
    (
        decimal.Decimal,
        [decimal.Decimal(t) for t in ("1.50", "1E+5", "-0.0", "0E-10", "12345678901234567890")],
    ),
    (datetime.date, [datetime.date.min, datetime.date.max, datetime.date(2024, 2, 29)]),
    (Annotated[datetime.date, annotated_types.Gt(datetime.date(2023, 12, 31))], [datetime.date(2024, 1, 1)]),
    (datetime.time, [datetime.time(1, 2), datetime.time(23, 59, 59, 40, UTC)]),
    (datetime.datetime, [datetime.datetime.min, datetime.datetime(2024, 1, 2, 3, 4, 5, 600, UTC)]),
    (AwareDatetime, [datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone(-DAY / 8))]),
    (NaiveDatetime, [datetime.datetime(2024, 1, 2)]),
    (
        datetime.timedelta,
        [DAY * 0, DAY, -DAY / 7, DAY * 400, datetime.timedelta.max, datetime.timedelta.min, -DAY * 999_999_998.5],
    ),
    (uuid.UUID, [uuid.UUID(int=7)]),
    (pathlib.Path, [pathlib.Path("a/b")]),
    (set[int], [{1, 2}, set()]),
    (frozenset[str], [frozenset({"a"})]),
    (tuple[int, ...], [(), (1, 2)]),
    (tuple[int, str], [(1, "a")]),
    (Pair, [Pair(1), Pair(2, "x")]),
    (Color, list(Color)),
    (Literal["a", 1, None], ["a", 1, None]),
    (dict[str, int], [{"": 1}]),
    (dict[int, str], [{-1: "x", 0: ""}]),
    (dict[float, int], [{1.5: 1, 1e20: 2, -1e-7: 3}]),
    (dict[bool, int], [{True: 1}]),
    (dict[datetime.date, int], [{datetime.date(2024, 2, 29): 1}]),
    (dict[Annotated[str, Field(pattern="^a+$")], int], [{"aa": 1}]),
    (dict[Color, int], [{Color.RED: 1}]),
    (Movie, [{}, {"name": "x", "years": [1]}]),
    (Node, [Node(1, Node(2))]),
    (
        Model,
        [Model(size=1), Model(size=5, when=datetime.datetime(1, 1, 1), pairs={3: Pair(1)}, children=[Model(size=2)])],
    ),
    (int | str | list[Node] | None, [1, "1", [Node(3)], None]),
    (Annotated[float, Field(gt=0, lt=1)], [5e-324, 0.5, math.nextafter(1, 0)]),
    (Annotated[float, Field(gt=0.1, allow_inf_nan=False)], [math.nextafter(0.1, 1), 1.7976931348623157e308]),
    (Annotated[int, Field(multiple_of=7)], [14, 0]),
    (Annotated[decimal.Decimal, Field(max_digits=5, decimal_places=2)], [decimal.Decimal("123.45")]),
    (Annotated[decimal.Decimal, Field(max_digits=3)], [decimal.Decimal(t) for t in ("0", "0.123", "-123", "1.2")]),
    (Annotated[decimal.Decimal, Field(decimal_places=1)], [decimal.Decimal("1234567.5")]),
    (Annotated[decimal.Decimal, Field(ge=0, lt=10)], [decimal.Decimal(t) for t in ("0", "0.00", "9.999", "-0")]),
    (
        Annotated[decimal.Decimal, Field(gt=0, max_digits=6, decimal_places=2)],
        [decimal.Decimal(t) for t in ("0.01", "9999.99", "12.5")],
    ),
    (Annotated[decimal.Decimal, Field(max_digits=2, decimal_places=4)], [decimal.Decimal("0.12")]),
    (Annotated[decimal.Decimal, Field(multiple_of=decimal.Decimal("0.25"), max_digits=3)], []),
    (Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=3)], ["a", "a b"]),
    (Annotated[uuid.UUID, annotated_types.Predicate(bool)], [uuid.UUID(int=1)]),
    (UUID4, [uuid.UUID("12345678-1234-4234-9234-123456789abc")]),
    (dict[decimal.Decimal, int], [{decimal.Decimal("-1.50"): 1, decimal.Decimal("1E+5"): 2}]),
    (dict[Annotated[int, Field(ge=-3, lt=20)], int], [{-3: 1, 19: 2}]),
    (dict[Annotated[decimal.Decimal, Field(gt=0, max_digits=3)], int], [{decimal.Decimal("1.25"): 1}]),
    (Literal[Size.SMALL, "x"], [Size.SMALL, "x"]),
    (Annotated[str, Field(pattern="^a+$")], ["aaa"]),
    (Annotated[list[int], Field(max_length=2)], [[1, 2]]),
    (Annotated[set[int], Field(min_length=1)], [{1}]),
    (Any, [None, {"a": [1, 2.5]}]),
    (Zoo, [Zoo(best=Dog(kind="puppy"), others=[Bird(sings=True), Dog(kind="dog", age=3)])]),
    (Page[int], [Page[int](items=[1], following=Page[int](items=[]))]),
    (dict[str, Page[Page[str]]], [{"a": Page[Page[str]](items=[Page[str](items=["x"])])}]),
    (Access, [Access(value) for value in range(4)]),
    (list[Size], [list(Size)]),
    (set[Any], [{1, "a"}, set()]),
    (NewType("Id", int), [1]),
    (TypeAliasType("Ids", list[int]), [[1]]),
    (Annotated[float, Field(lt=math.inf)], [1.5]),
    (complex, [1j, -2.5e20 + 3j, 4 + 0j]),
    (
        HttpUrl,
        [
            HttpUrl(url)
            for url in (
                "http://a",
                "https://u:p@my-host.example.com:8080/a/b;c?d=e/f&g#h?",
                "http://1.2.3.4/%20",
                "https://[::1]:1",
            )
        ],
    ),
    (AnyHttpUrl, [AnyHttpUrl("https://a_b.c1/" + "x" * 3000)]),
    (
        AnyUrl,
        [
            AnyUrl(url)
            for url in ("mailto:a@b.c", "urn:isbn:1", "https://a.b/c", "file:///a", "git+ssh://u@h:22/a", "x:")
        ],
    ),
    (WebsocketUrl, [WebsocketUrl("wss://a.b/c?d")]),
    (FileUrl, [FileUrl("file:///a/b.txt"), FileUrl("file://host/c")]),
    (PostgresDsn, [PostgresDsn("postgresql+psycopg://u:p@h1:5432,h2:5433/db?a=b")]),
    (MongoDsn, [MongoDsn("mongodb+srv://u@a.b/c")]),
    (RedisDsn, [RedisDsn("redis://"), RedisDsn("rediss://:p@h:1/2")]),
    (KafkaDsn, [KafkaDsn("kafka://")]),
    (AmqpDsn, [AmqpDsn("amqps://h/v")]),
    (
        Annotated[AnyUrl, UrlConstraints(max_length=20, allowed_schemes=["s3"], host_required=True)],
        [AnyUrl("s3://bucket/key/long")],
    ),
    (Annotated[AnyUrl, UrlConstraints(host_required=True)], [AnyUrl("s3://bucket/key"), AnyUrl("http://a")]),
    (dict[HttpUrl, int], [{HttpUrl("http://a"): 1}]),
    (
        ipaddress.IPv4Network,
        [ipaddress.IPv4Network(t) for t in ("0.0.0.0/0", "10.128.0.0/9", "1.2.3.4/32", "1.2.3.4/31")],
    ),
    (
        ipaddress.IPv6Network,
        [
            ipaddress.IPv6Network(t)
            for t in ("::/0", "2001:db8::/32", "1:2:3:4:5:6:7:8/128", "1:2:3:4:5:6:7:0/112", "fe80::/10")
        ],
    ),
    (ipaddress.IPv4Interface, [ipaddress.IPv4Interface("1.2.3.4/8")]),
    (ipaddress.IPv6Interface, [ipaddress.IPv6Interface("fe80::1/64")]),
    (IPvAnyAddress, [ipaddress.IPv4Address("1.2.3.4"), ipaddress.IPv6Address("1::2:3")]),
    (IPvAnyInterface, [ipaddress.IPv6Interface("::/99"), ipaddress.IPv4Interface("255.0.0.1/32")]),
    (IPvAnyNetwork, [ipaddress.IPv4Network("10.0.0.0/8"), ipaddress.IPv6Network("fe80::/10")]),
    (Base64Bytes, [b"", b"a", b"ab", b"abc\xff\xfe"]),
    (Base64UrlBytes, [b"\xff\xfe\xfd"]),
]


@pytest.mark.parametrize(("type_", "values"), CASES, ids=[str(type_)[:40] for type_, _ in CASES])
def test_members_are_what_pydantic_reads_and_writes(type_: Any, values: list[Any]) -> None:
    adapter = TypeAdapter(type_)
    constraint = tokamata.json_schema(type_)
    for value in values:
        text = adapter.dump_json(value)
        assert constraint.accepts(text), text
        assert constraint.parse(text) == value
    for seed in range(4):
        for text in constraint.examples(20, seed=seed):
            assert constraint.parse(text) == adapter.validate_json(text), (seed, text)


def test_aliases() -> None:
    """Members have the names that pydantic reads; its own calls, too."""

    class User(BaseModel):
        name: str = Field(alias="userName")
        size: int = Field(1, validation_alias="sizeOf")

    texts, calls = tokamata.json_schema(User), tokamata.dataclass_call(User)
    user = User(userName="Ada", sizeOf=3)
    assert texts.parse('{"userName": "Ada", "sizeOf": 3}') == user
    assert calls.parse("User(userName='Ada', sizeOf=3)") == user
    assert texts.accepts(User(userName="Ada").model_dump_json(by_alias=True))
    assert not texts.accepts('{"name": "Ada"}')
    assert not calls.accepts("User(name='Ada')")


def test_tags_are_written_under_their_aliases() -> None:
    class Tank(BaseModel):
        fish: Fish | Shark = Field(discriminator="kind")

    constraint = tokamata.json_schema(Tank)
    assert constraint.parse('{"fish": {"type": "shark", "teeth": 3}}').fish.teeth == 3
    assert not constraint.accepts('{"fish": {}}')
    for text in constraint.examples(30):
        constraint.parse(text)


def test_what_is_refused_by_name() -> None:
    class Odd(enum.Enum):
        PAIR = (1, 2)

    class Many(enum.Flag):
        A, B, C, D, E, F, G, H, J = (1 << i for i in range(9))

    class Inner(BaseModel):
        first: int = Field(validation_alias=AliasPath("all", 0))

    with pytest.raises(tokamata.UnsupportedError, match=r"the alias \['all', 0\] is read from inside of another one"):
        tokamata.json_schema(Inner)
    with pytest.raises(tokamata.UnsupportedError, match=r"Inner.first: AliasPath\(.*\): an alias that is no"):
        tokamata.dataclass_call(Inner)
    for constraint in (tokamata.json_schema, tokamata.yaml_schema):
        name = constraint.__name__
        with pytest.raises(
            tokamata.UnsupportedError, match=rf"{name}: Odd.PAIR: its value \(1, 2\) cannot be read back"
        ):
            constraint(list[Odd])
        with pytest.raises(tokamata.UnsupportedError, match=rf"{name}: Many: expected at most 8 flags, got 9"):
            constraint(Many)


class Callback(BaseModel):
    done: Callable[[int], int]


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (Literal["a", b"b"], r"Literal\[b'b'\] cannot be read back from JSON; use a str"),
        (Literal[Color.RED], r"Literal\[<Color.RED: 'red'>\] cannot be read back from JSON; use a str"),
        (Callback, r"pydantic has no JSON Schema for Callback: .*; use a type that it describes"),
        (list[Callable[[], None]], r"pydantic has no JSON Schema for list.*; use a type that it describes"),
        (Annotated[int, annotated_types.Ge("a")], r"pydantic has no JSON Schema for .*; use a type"),
        (Json[int], r"Json\[...\] is JSON inside of a text, which is not enforced; use its own type"),
        (type[int], r"type\[...\] cannot be read back from JSON; use a name"),
        (set[list[int]], r"members of a set must be hashable, and a list is not; use a list"),
        (dict[frozenset[int], int], r"keys of JSON are texts, which a frozenset cannot be read from; use a list of"),
        (Annotated[float, Field(ge=math.inf)], r"contradicts itself at .*; drop or widen"),
    ],
)
def test_types_without_json_are_refused(type_: Any, message: str) -> None:
    for constraint in (tokamata.json_schema, tokamata.yaml_schema):
        with pytest.raises(tokamata.ConstraintError, match=rf"^{constraint.__name__}: .*{message}"):
            constraint(type_)


def test_texts_that_are_no_urls_or_addresses() -> None:
    """Other schemes, hosts that are numbers and no addresses, ports and prefixes too high, bits behind them."""
    refused = {
        HttpUrl: (
            "ftp://a.b",
            "http:",
            "http://",
            "http://1.2.3.256",
            "http://1.2.3",
            "http://a:65536",
            "http://a b",
            "http://[::g]",
            "//a",
        ),
        AnyUrl: ("a", "http:x", "https://a:99999", "foo://h:x/", "file://1.2.3.999/a"),
        PostgresDsn: ("postgresql:///db", "mysql://h/db", "postgresql://h1,:1/db"),
        ipaddress.IPv4Network: ("10.0.0.1/8", "1.2.3.4/33", "1.2.3", "128.0.0.0/0"),
        ipaddress.IPv6Network: ("1::1/64", "1::/129", "1:2:3"),
        ipaddress.IPv4Interface: ("1.2.3.4/33", "1.2.3"),
        IPvAnyAddress: ("1.2.3", "::1::", "12345::", "1.2.3.4/5"),
        Base64Bytes: ("a", "ab=", "a===", "====", "ab c"),
    }
    for type_, texts in refused.items():
        constraint = tokamata.json_schema(type_)
        for text in texts:
            assert not constraint.accepts(json.dumps(text)), (type_, text)


def test_bounds_on_days() -> None:
    low, high = datetime.date(2023, 12, 30), datetime.date(2024, 3, 1)
    days = tokamata.json_schema(Annotated[datetime.date, annotated_types.Interval(ge=low, lt=high)])
    for offset in range(-400, 500):
        day = low + offset * DAY
        assert days.accepts(f'"{day}"') == (low <= day < high)
    nothing = Annotated[datetime.date, annotated_types.Gt(datetime.date.max)]
    with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
        tokamata.json_schema(nothing)


def test_bounds_on_decimals() -> None:
    """Texts of numbers near random bounds, digits counted or not, are judged as pydantic judges them."""
    generator = random.Random(14)
    decided = {True: 0, False: 0}
    for _ in range(60):
        bounds = {
            name: decimal.Decimal(generator.randrange(-(10**4), 10**4)) / 10 ** generator.randrange(4)
            for name in (generator.choice(["ge", "gt"]), generator.choice(["le", "lt"]))
            if generator.random() < 0.7
        }
        counts = generator.choice(
            [{}, {}, {"max_digits": 4}, {"max_digits": 4, "decimal_places": 2}, {"max_digits": 2, "decimal_places": 3}]
        )
        type_ = Annotated[decimal.Decimal, Field(**bounds, **counts)]
        adapter: TypeAdapter[Any] = TypeAdapter(type_)
        numbers = [
            b + decimal.Decimal(d) for b in (*bounds.values(), 0) for d in ("0", "0.0", "1", "-1", "-.01", ".01")
        ]
        numbers += [decimal.Decimal(generator.randrange(-9999, 9999)) / 100 for _ in range(10)]
        valid = []
        for number in numbers:
            try:
                adapter.validate_json(f'"{number:f}"')
            except ValidationError:
                valid.append(False)
            else:
                valid.append(True)
        try:
            constraint = tokamata.json_schema(type_)
        except tokamata.ConstraintError:
            assert not any(valid), (bounds, counts)
            continue
        for number, good in zip(numbers, valid, strict=True):
            accepted = constraint.accepts(f'"{number:f}"')
            # zeros at the end are digits, too
            assert accepted == good or (counts and not accepted and "0" in f"{number:f}"[-1:]), (bounds, counts, number)
            decided[good] += 1
    assert min(decided.values()) > 100


def test_random_moments_and_durations() -> None:
    moments, spans = tokamata.json_schema(datetime.datetime), tokamata.json_schema(datetime.timedelta)
    generator = random.Random(11)
    for case in range(300):
        span = datetime.timedelta(microseconds=int(generator.choice([-1, 1]) * 10 ** generator.uniform(0, 19.9)))
        assert spans.accepts(TypeAdapter(datetime.timedelta).dump_json(span)), (case, span)
        zone = generator.choice(
            [None, UTC, datetime.timezone(datetime.timedelta(minutes=generator.randrange(-1439, 1439)))]
        )
        moment = (datetime.datetime.min + DAY * generator.randrange(3_650_000) + span % DAY).replace(tzinfo=zone)
        assert moments.accepts(TypeAdapter(datetime.datetime).dump_json(moment)), (case, moment)


def test_parse_of_what_is_no_type() -> None:
    assert tokamata.json_schema({"type": "array"}).parse("[1, {}]") == [1, {}]
    assert tokamata.json_schema('{"const": 1}').parse(b"1") == 1
    assert tokamata.json_schema(TypeAdapter(list[Pair])).parse('[[1, "b"]]') == [Pair(1, "b")]
    both = tokamata.json_schema(Model) & tokamata.json_schema({"properties": {"size": {"minimum": 3}}})
    assert both.parse('{"size": 3}') == Model(size=3)  # type: ignore[attr-defined]
    with pytest.raises(tokamata.ConstraintError, match=r"parse: json_schema\(.*: expected a member, got '\"a\"]' at"):
        tokamata.json_schema(list[int]).parse('["a"]')
    model = tokamata.yaml_schema(Model).parse('size: 3\npairs:\n  "7":\n    - 1\n    - x\n')  # type: ignore[attr-defined]
    assert model == Model(size=3, pairs={7: Pair(1, "x")})


def test_validators_have_the_last_word() -> None:
    class Even(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def even(cls, n: int) -> int:
            assert n % 2 == 0
            return n

    constraint = tokamata.json_schema(Even)
    assert constraint.parse('{"n": 2}').n == 2
    with pytest.raises(ValidationError):
        constraint.parse('{"n": 3}')


def test_a_class_with_a_schema_of_its_own() -> None:
    class Own(BaseModel):
        n: int

        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:  # type: ignore[override]
            return {"const": {"n": 1}}

    assert tokamata.json_schema(Own).parse('{"n": 1}') == Own(n=1)
    assert not tokamata.json_schema(Own).accepts('{"n": 2}')


def test_versions_of_uuids_are_reported_as_enforced() -> None:
    report = tokamata.json_schema(TypeAdapter(UUID4)).report
    assert [(e.status, e.detail) for e in report if e.subject == "format"] == [
        ("enforced", "uuid4, by the pattern beside it")
    ]
    (entry,) = [e for e in tokamata.json_schema({"format": "uuid4", "pattern": "a"}).report if e.subject == "format"]
    assert entry.status == "ignored"


def test_decimals_of_so_many_places_are_members_as_they_are_written() -> None:
    for step, texts, others in (
        ("0.01", ("0.25", "12", "0.10", "3.500", "0"), ("0.255", "-1", "1e2")),
        ("1", ("7", "12.0"), ("0.5", "7.")),
    ):
        adapter = TypeAdapter(Annotated[decimal.Decimal, Field(multiple_of=decimal.Decimal(step), ge=0)])
        constraint = tokamata.json_schema(adapter)
        assert all(constraint.accepts(adapter.dump_json(decimal.Decimal(text))) for text in texts)
        assert not any(constraint.accepts(f'"{text}"') for text in others)
