"""Schemas as texts, metaschemas and reports."""

from __future__ import annotations

import dataclasses
import enum
import json
import random
import sys
import threading
import time
from typing import Any

import pydantic
import pytest
from jsonschema_specifications import REGISTRY
from tokamata.automata.errors import ConstraintError
from tokamata.constraints.constraint import ReportEntry
from tokamata.constraints.json_schema_report import schema_report
from tokamata.constraints.json_schema_source import metaschemas, registry_texts, schema_text
from typing_extensions import TypedDict

from tokamata._core import SchemaDocuments, mentions_metaschemas

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


def test_registries() -> None:
    assert registry_texts(None, b"{}") == []
    assert registry_texts({"http://a": {"type": "null"}, "http://b": "true"}, b"{}") == [
        ("http://a", b'{"type":"null"}'),
        ("http://b", b"true"),
    ]
    assert registry_texts({}, b'{"$schema": "http://json-schema.org/draft-07/schema#"}') == []
    assert len(registry_texts({}, b'{"$ref": "http://json-schema.org/draft-07/schema#"}')) == len(metaschemas())
    assert len(registry_texts({"a": {"$ref": "http://json-schema.org/draft-07/schema#"}}, b"{}")) > 10
    with pytest.raises(TypeError, match="expected registry as a mapping from URI to schema, got list"):
        registry_texts([], b"{}")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected URIs as str in registry, got 1"):
        registry_texts({1: True}, b"{}")  # type: ignore[dict-item]
    with pytest.raises(ConstraintError, match=r'json_schema: registry\["x"\]: at "/a": expected a JSON value, got set'):
        registry_texts({"x": {"a": set()}}, b"{}")


def test_mentions_of_metaschemas() -> None:
    rng = random.Random(SEED)
    uri = "http://json-schema.org/draft-07/schema#"
    for i in range(300):
        schema: dict[str, Any] = {}
        speaks = False
        for key in rng.sample(["$schema", "$ref", "$id", "title", "schema", "x$schema"], rng.randint(0, 4)):
            value = rng.choice([uri, uri.upper(), "json-schema.org", "schema.org", ":", '"$schema":"', uri + '"' + uri])
            schema[key] = rng.choice([value, [value], {"$schema": value}])
            named = (key == "$schema" and isinstance(schema[key], str)) or isinstance(schema[key], dict)
            speaks |= "json-schema.org" in value and (not named or '"' in value)
        text = json.dumps(schema, indent=rng.choice([None, 0, 2])).replace(
            '":', rng.choice(['":', '" \t:', '"\n:\r\n '])
        )
        assert mentions_metaschemas(text.encode()) == speaks, f"seed {SEED}, case {i}: {text}"
    for text in (b"", b"json-schema.org", b'"json-schema.org', b':"json-schema.org', b'"$schema""json-schema.org'):
        assert mentions_metaschemas(text) == (text != b"")


def test_mentions_of_metaschemas_are_looked_for_in_linear_time() -> None:
    many = b"json-schema.org " * 50_000
    began = time.process_time()
    assert not mentions_metaschemas(b'{"$schema": "' + many + b'"}')
    assert not mentions_metaschemas(b'{"$schema"' + b" " * len(many) + b': "' + many + b'"}')
    assert time.process_time() - began < 1


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
        documents = SchemaDocuments(text, registry_texts(None, text))
        assert b"$schema" in documents.text(documents.follow(documents.root(), "$ref"))


# ---- reports
def report(schema: Any, **options: Any) -> dict[str, tuple[str, str]]:
    text = schema_text(schema)
    entries = schema_report(text, registry_texts(options.pop("registry", None), text), **options)
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
