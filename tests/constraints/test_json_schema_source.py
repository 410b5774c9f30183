"""Schemas as texts, metaschemas and reports."""

from __future__ import annotations

import dataclasses
import enum
import json
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic
import pytest
from jsonschema_specifications import REGISTRY
from tokamata.automata.errors import ConstraintError
from tokamata.constraints.constraint import ReportEntry
from tokamata.constraints.json_schema_report import schema_report
from tokamata.constraints.json_schema_source import Registry, metaschemas, schema_text
from typing_extensions import TypedDict

import tokamata
from tokamata._core import SchemaDocuments

SEED = 20261122


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Model(pydantic.BaseModel):
    name: str
    color: Color | None = None


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


class Movie(TypedDict):
    title: str


def test_texts_of_all_kinds_of_schemas() -> None:
    assert schema_text({"const": "é", "enum": [1.5, None]}) == '{"const":"é","enum":[1.5,null]}'.encode()
    assert schema_text(True) == b"true"
    assert schema_text('{"a": 1}') == schema_text(b'{"a": 1}') == schema_text(bytearray(b'{"a": 1}')) == b'{"a": 1}'
    assert schema_text({"enum": (1, 2), "properties": {3: True}}) == b'{"enum":[1,2],"properties":{"3":true}}'
    assert json.loads(schema_text({"const": "\ud800"})) == {"const": "\ud800"}
    assert json.loads(schema_text(Model)) == Model.model_json_schema()
    for described in (Point, Movie, Color, list[Point], dict[str, Model], int | None):
        assert json.loads(schema_text(described)) == pydantic.TypeAdapter(described).json_schema()
    assert json.loads(schema_text(pydantic.TypeAdapter(list[int]))) == {"items": {"type": "integer"}, "type": "array"}


@pytest.mark.parametrize(
    ("schema", "error", "message"),
    [
        ({"a/b": [1, {"c": {1, 2}}]}, ConstraintError, 'at "/a~1b/1/c": expected a JSON value, got set {1, 2}'),
        ({"minimum": float("nan")}, ConstraintError, 'at "/minimum": expected a JSON value, got nan; JSON has no such'),
        ({"p": {(1, 2): True}}, ConstraintError, 'at "/p": expected str keys, got tuple (1, 2)'),
        ("\ud800", ConstraintError, "expected JSON text, got the lone surrogate '\\ud800' at position 0"),
        (Point(1), TypeError, "expected a dataclass, got an instance of Point; pass its class"),
        (Model(name="x"), TypeError, "expected a model class, got an instance of Model; pass its class"),
        (3, TypeError, "expected a dict, bool, JSON text, pydantic model class"),
        (threading.Lock().__class__, ConstraintError, "pydantic has no JSON Schema for lock: Unable to generate"),
    ],
)
def test_what_is_no_schema_is_refused(schema: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        schema_text(schema)
    assert message in str(caught.value)


def test_schemas_that_contain_themselves_are_refused() -> None:
    schema: dict[str, Any] = {"properties": {}}
    schema["properties"]["child"] = schema
    with pytest.raises(ConstraintError, match=r'at "/properties/child": .*got a container that contains itself'):
        schema_text(schema)
    deep: Any = True
    for _ in range(100_000):
        deep = {"not": deep}
    with pytest.raises(ConstraintError, match="nests too deeply"):
        schema_text(deep)


def test_missing_pydantic_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(ImportError, match=r"the type Point comes from pydantic; install .*tokamata\[pydantic\]"):
        schema_text(Point)


class Watched(Mapping[str, object]):
    """A mapping that notes which documents were read."""

    def __init__(self, documents: dict[str, object]) -> None:
        self.documents = documents
        self.read: list[str] = []

    def __getitem__(self, uri: str) -> object:
        self.read.append(uri)
        return self.documents[uri]

    def __iter__(self) -> Iterator[str]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def __contains__(self, uri: object) -> bool:
        return uri in self.documents


def test_registries() -> None:
    assert Registry(None)("http://a") == Registry({})(None) == []
    registry = Registry({"http://a": {"type": "null"}, "http://b#": "true", "http://c": {"x": set()}})
    assert registry.texts() == []
    assert registry("http://a") == [("http://a", b'{"type":"null"}')]
    assert registry("http://b") == [("http://b#", b"true")]
    assert registry("http://d") == []
    with pytest.raises(
        ConstraintError, match=r'json_schema: registry\["http://c"\]: at "/x": expected a JSON value, got'
    ):
        registry("http://c")
    with pytest.raises(ConstraintError, match="expected a JSON value, got set"):
        registry(None)
    registry.forget()
    assert registry(None) == registry("http://c") == []
    assert registry.texts() == [("http://a", b'{"type":"null"}'), ("http://b#", b"true")]
    assert registry("http://b") == registry.texts()[1:]
    for uri, text in metaschemas():
        assert Registry(None)(uri) == [(uri, text)]
        assert Registry({uri + "#": True})(uri) == [(uri + "#", b"true")]
    with pytest.raises(TypeError, match="expected registry as a mapping from URI to schema, got list"):
        Registry([])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected URIs as str in registry, got 1"):
        Registry({1: True}, "yaml_schema")  # type: ignore[dict-item]


def test_only_documents_that_a_reference_leads_to_are_read() -> None:
    documents: dict[str, object] = {
        "http://x/a": {"items": {"$ref": "b#/$defs/n"}},
        "http://x/b": {"$id": "http://x/b", "$defs": {"n": {"type": "null"}, "m": {"$ref": "#/$defs/n"}}},
        "http://x/dialect": {"$schema": "https://json-schema.org/draft/2020-12/schema"},
        "http://x/c": {"$defs": {"inner": {"$id": "http://y/inner", "type": "integer"}}},
        "http://x/broken": "{",
    }
    for schema, read in (
        ({"type": "string"}, []),
        ({"$id": "http://x/root", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": True}}, []),
        ({"$id": "http://x/r", "items": {"$ref": "r"}, "properties": {"a": {"$ref": "http://x/r"}}}, []),
        ({"$defs": {"never": {"$ref": "http://x/a"}}}, []),
        ({"items": {"items": {"$ref": "http://x/b"}}}, ["http://x/b"]),
        ({"items": {"$ref": "http://x/a"}}, ["http://x/a", "http://x/b"]),
        ({"$schema": "http://x/dialect"}, ["http://x/dialect"]),
        ({"$ref": "http://json-schema.org/draft-07/schema#/definitions/stringArray"}, []),
    ):
        for make in (tokamata.json_schema, tokamata.yaml_schema):
            watched = Watched(documents)
            constraint = make(schema, registry=watched)
            assert watched.read == read, schema
            constraint.examples(3)
            assert len(constraint.report) > 0
            assert (constraint & constraint).equivalent(constraint)
            assert watched.read == read, schema
    # what no URI of the registry is may be an identifier inside of any document
    watched = Watched({uri: document for uri, document in documents.items() if uri != "http://x/broken"})
    assert tokamata.json_schema({"$ref": "http://y/inner"}, registry=watched).accepts("1")
    assert watched.read == list(watched)
    with pytest.raises(ConstraintError, match=r'registry\["http://x/broken"\]: line 1, column 2'):
        tokamata.json_schema({"$ref": "http://x/broken"}, registry=documents)
    with pytest.raises(ConstraintError, match=r'yaml_schema: registry\["http://x/n"\]: at "/a": expected a JSON value'):
        tokamata.yaml_schema({"$ref": "http://x/n"}, registry={"http://x/n": {"a": set()}})
    with pytest.raises(TypeError, match=r'registry\["http://x/n"\]: expected a dict, bool, JSON text'):
        tokamata.json_schema({"items": {"$ref": "http://x/n"}}, registry={"http://x/n": 3})
    with pytest.raises(KeyError, match="moved"):
        tokamata.json_schema({"$ref": "moved"}, registry=Moving({"moved": True}))


class Moving(Watched):
    def __getitem__(self, uri: str) -> object:
        raise KeyError(uri)


def test_documents_may_change_afterwards() -> None:
    def documents() -> dict[str, Any]:
        return {
            "http://x/a": {"items": {"$ref": "b"}, "properties": {"k": {"$ref": "b#/not"}}},
            "http://x/b": {"type": ["integer", "null"], "not": {"type": "null"}},
            "http://x/c": {"enum": [1]},
        }

    schema = {"allOf": [{"properties": {"deep": {"items": {"$ref": "http://x/a"}}}}]}
    changed = documents()
    constraint = tokamata.json_schema(schema, registry=changed)
    for document in changed.values():
        document.clear()
        document["type"] = 3
    changed.clear()
    fresh = tokamata.json_schema(schema, registry=documents())
    assert constraint.report == fresh.report
    assert constraint.equivalent(fresh)
    for text in ('{"deep": [[1, 2]]}', '{"deep": [[1, null]]}', '{"deep": [{"k": null}]}', '{"deep": [{"k": 1}]}'):
        assert constraint.accepts(text) == fresh.accepts(text)
    assert not constraint.accepts('{"deep": [[null]]}')
    other = tokamata.json_schema({"$ref": "http://x/c"}, registry=documents())
    assert (other - constraint).equivalent(other - fresh)


def test_a_mapping_may_make_constraints_of_its_own() -> None:
    class Nested(Watched):
        def __getitem__(self, uri: str) -> object:
            assert tokamata.json_schema({"$ref": "inner"}, registry={"inner": {"const": uri}}).accepts(f'"{uri}"')
            return super().__getitem__(uri)

    nested = Nested({"outer": {"type": "null"}})
    assert tokamata.json_schema({"$ref": "outer"}, registry=nested).accepts("null")
    assert nested.read == ["outer"]


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_metaschemas_are_known_by_http_and_https(scheme: str, draft: str) -> None:
    old = draft.startswith("draft-")
    uri = f"{scheme}://json-schema.org/{draft}/schema"
    part = "definitions" if old else "$defs"
    own = {"$ref": f"{uri}#/{part}/stringArray" if old else uri}
    official = "http" if old else "https"
    other = {"$ref": own["$ref"].replace(f"{scheme}:", f"{official}:")}
    first, second = tokamata.json_schema(own), tokamata.json_schema(other)
    for text in ('["a", "b"]', "[1]", '{"type": "null"}', '{"type": "nil"}', '{"items": {"type": 3}}', "true", "3"):
        assert (
            first.accepts(text) == second.accepts(text) == tokamata.json_schema({"allOf": [own, other]}).accepts(text)
        )
    # what the registry has by either spelling comes first
    given: dict[str, object] = {uri: {part: {"stringArray": {"const": 3}}, "const": 3}}
    for schema in (own, other):
        assert tokamata.json_schema(schema, registry=given).accepts("3") == (schema == own or scheme == official)
    named = {"$schema": uri + "#", "$ref": f"#/{part}/a", "minimum": 5, part: {"a": {"type": "integer"}}}
    assert tokamata.json_schema(named).accepts("1") == old  # old drafts ignore what stands beside $ref
    with pytest.raises(ConstraintError, match=f'leads to the URI "{scheme}://json-schema.org/{draft}/other"'):
        tokamata.json_schema({"$ref": f"{scheme}://json-schema.org/{draft}/other"})


def test_metaschemas_are_those_of_the_specification() -> None:
    shipped = dict(metaschemas())
    published = {uri.rstrip("#"): REGISTRY[uri].contents for uri in REGISTRY if "draft-03" not in uri}
    assert {uri: json.loads(text) for uri, text in shipped.items()} == published
    for uri, text in shipped.items():
        documents = SchemaDocuments(text, list(shipped.items()))
        assert documents.base_uri(documents.root()).rstrip("#") == uri
    for draft in ("draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"):
        scheme = "https" if "/" in draft else "http"
        text = json.dumps({"$ref": f"{scheme}://json-schema.org/{draft}/schema"}).encode()
        documents = SchemaDocuments(text, metaschemas())
        assert b"$schema" in documents.text(documents.follow(documents.root(), "$ref"))


# ---- reports
def report(schema: Any, **options: Any) -> dict[str, tuple[str, str]]:
    text = schema_text(schema)
    registry = Registry(options.pop("registry", {}))(None) + metaschemas()
    entries = schema_report(text, registry, **options)
    assert all(isinstance(entry, ReportEntry) for entry in entries)
    assert len({entry.place for entry in entries}) == len(entries)
    return {entry.place: (entry.status, entry.detail) for entry in entries}


def test_reports_name_every_keyword_of_reachable_schemas() -> None:
    schema = {
        "title": "t",
        "typo": 1,
        "properties": {
            "a/b": {"type": "string", "format": "date"},
            "c": {"$ref": "#/$defs/used", "maxLength": 3},
            "d": {"format": "nonsense"},
            "e": {"then": {"maxItems": 1}, "maxContains": 2},
        },
        "anyOf": [{"$ref": "other"}, True],
        "$defs": {"used": {"items": {"minimum": 1}, "dependencies": {}}, "unused": {"minimum": 2}},
    }
    assert report(schema, registry={"other": {"not": {"const": 1}, "$comment": "x"}}) == {
        "/title": ("annotation", ""),
        "/typo": ("ignored", "unknown keyword"),
        "/properties": ("enforced", ""),
        "/anyOf": ("enforced", ""),
        "/$defs": ("annotation", ""),
        "/properties/a~1b/type": ("enforced", ""),
        "/properties/a~1b/format": ("enforced", "date"),
        "/properties/c/$ref": ("enforced", ""),
        "/properties/c/maxLength": ("enforced", ""),
        "/properties/d/format": ("ignored", 'unknown format "nonsense"'),
        "/properties/e/then": ("ignored", "no effect without if"),
        "/properties/e/maxContains": ("ignored", "no effect without contains"),
        "/$defs/used/items": ("enforced", ""),
        "/$defs/used/items/minimum": ("enforced", ""),
        "/$defs/used/dependencies": ("ignored", "draft 2020-12 does not know it"),
        "/anyOf/0/$ref": ("enforced", ""),
        "other#/not": ("enforced", ""),
        "other#/not/const": ("enforced", ""),
        "other#/$comment": ("annotation", ""),
    }
    assert report({"format": "date"}, formats=False) == {"/format": ("annotation", "date")}


def test_reports_follow_drafts_and_vocabularies() -> None:
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "maxLength": 3}
    assert report({**old, "definitions": {"a": {"dependencies": {"x": ["y"], "z": {"const": 1}}}}}) == {
        "/$schema": ("annotation", ""),
        "/$ref": ("enforced", ""),
        "/maxLength": ("ignored", "draft 7 ignores what stands beside $ref"),
        "/definitions": ("annotation", ""),
        "/definitions/a/dependencies": ("enforced", ""),
        "/definitions/a/dependencies/z/const": ("enforced", ""),
    }
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", "const": 1, "additionalItems": False, "items": [{}]}
    assert {place: status for place, (status, _) in report(draft4).items()} == {
        "/$schema": "annotation",
        "/const": "ignored",
        "/additionalItems": "enforced",
        "/items": "enforced",
    }
    vocabulary = "https://json-schema.org/draft/2020-12/"
    mine = {"$schema": vocabulary + "schema", "$vocabulary": {vocabulary + "vocab/applicator": True}}
    found = report({"$schema": "http://mine", "minimum": 1, "not": {}}, registry={"http://mine": mine})
    assert found["/minimum"] == ("ignored", "the metaschema leaves the vocabulary validation out")
    assert found["/not"] == ("enforced", "")


def test_recursive_schemas_have_finite_reports() -> None:
    assert len(report({"properties": {"a": {"$ref": "#"}}, "items": {"$ref": "#/items"}})) == 4
    metaschema = dict(metaschemas())["https://json-schema.org/draft/2020-12/schema"]
    assert len(report(metaschema.decode())) > 100


def test_reports_name_values_that_are_not_written() -> None:
    """A lone surrogate can be told in JSON, by an escape, and no text is read to it."""
    halves = {"a": {"enum": ["\ud800", "b", {"\udc00": 1}, "\ud83d\ude00"]}, "c": {"const": ["\ud800" * 50]}}
    many = {"enum": ["b", *(chr(0xD800 + i) for i in range(5))]}
    report = tokamata.json_schema({"properties": {**halves, "d": many, "e": {"enum": ["\ud83d\ude00"]}}}).report
    found = {e.place: (e.status, e.detail) for e in report}
    said = "not written, as no text has lone surrogates: "
    assert found["/properties/a/enum"] == ("narrowed", said + r'"\ud800", {"\udc00": 1}')
    assert found["/properties/c/const"] == ("narrowed", said + '["' + r"\ud800" * 9 + r"\...")
    assert found["/properties/d/enum"] == ("narrowed", said + r'"\ud800", "\ud801", "\ud802" and 2 more')
    assert found["/properties/e/enum"] == ("enforced", "")


def test_reports_show_keys_with_lone_surrogates_as_escapes() -> None:
    """JSON may spell such keys, and text that is shown may not have them."""
    schema = r'{"properties": {"\ud800": {"anyOf": [{"type": "null", "enum": [1]}, {"type": "string"}]}}, "\udc00": 1}'
    report = tokamata.json_schema(schema).report
    found = {e.place: e.status for e in report}
    assert found[r"/properties/\ud800/anyOf/1/type"] == "enforced"
    assert found[r"/properties/\ud800/anyOf/0"] == "empty"
    assert found[r"/\udc00"] == "ignored"
    assert "".join(e.place + e.subject + e.detail for e in report).encode()
