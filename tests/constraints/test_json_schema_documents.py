"""References, identifiers, dialects and dynamic scopes of schema documents; `referencing` is the outside oracle."""

from __future__ import annotations

import json
import random
import re
from typing import Any
from urllib.parse import urljoin

import jsonschema
import pytest
import referencing
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with
from tokamata.automata.errors import ConstraintError, UnsupportedError

import tokamata
from tokamata._core import SchemaDocuments, SchemaUse, resolve_uri

DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def documents(schema: Any, registry: dict[str, Any] | None = None, draft: str = "2020-12") -> SchemaDocuments:
    entries = [(uri, json.dumps(value).encode()) for uri, value in (registry or {}).items()]
    return SchemaDocuments(json.dumps(schema).encode(), entries, draft)


def follow(schema: Any, *path: str, registry: dict[str, Any] | None = None) -> Any:
    """Start at the root; steps that begin with "$" follow that keyword, others go down a JSON Pointer."""
    docs = documents(schema, registry)
    use = docs.root()
    for step in path:
        use = docs.follow(use, step) if step.startswith("$") else docs.child(use, step)
    return json.loads(docs.text(use))


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", {"here": "root"}),
        ("#/$defs/a~1b", {"here": "slash"}),
        ("#/$defs/a~0b", {"here": "tilde"}),
        ("#/$defs/a%25b", {"here": "percent"}),
        ("#/$defs/%C3%A9", {"here": "accent"}),
        ("#/$defs/a%22b", {"here": "quote"}),
        ("#/$defs/list/allOf/1", {"here": "element"}),
        ("#/unknown/place", {"here": "unknown"}),
        ("#name", {"here": "anchor"}),
        ("http://example.com/root.json", {"here": "root"}),
        ("root.json#/$defs/a~1b", {"here": "slash"}),
        ("item.json", {"here": "item"}),
        ("item.json#/$defs/x", {"here": "x of item"}),
        ("item.json#name", {"here": "anchor of item"}),
        ("folder/leaf.json", {"here": "leaf"}),
        ("other.json", {"here": "other"}),
        ("http://elsewhere.org/deep.json#in", {"here": "anchor elsewhere"}),
        ("http://elsewhere.org/inner.json", {"here": "inner elsewhere"}),
        ("urn:uuid:deadbeef#name", {"here": "anchor of urn"}),
        ("urn:uuid:deadbeef#/$defs/a/not", {"here": "below urn"}),
    ],
)
def test_references_lead_where_the_specification_says(reference: str, target: dict[str, str]) -> None:
    schema = {
        "$id": "http://example.com/root.json",
        "here": "root",
        "properties": {"p": {"$ref": reference}},
        "unknown": {"place": {"here": "unknown"}},
        "$defs": {
            "a/b": {"here": "slash"},
            "a~b": {"here": "tilde"},
            "a%b": {"here": "percent"},
            "é": {"here": "accent"},
            'a"b': {"here": "quote"},
            "list": {"allOf": [True, {"here": "element"}]},
            "named": {"$anchor": "name", "here": "anchor"},
            "item": {
                "$id": "item.json",
                "here": "item",
                "$defs": {"x": {"here": "x of item"}, "y": {"$anchor": "name", "here": "anchor of item"}},
            },
            "urn": {
                "$id": "urn:uuid:deadbeef",
                "$defs": {"a": {"$anchor": "name", "here": "anchor of urn", "not": {"here": "below urn"}}},
            },
            "folder": {"$id": "folder/", "$defs": {"leaf": {"$id": "leaf.json", "here": "leaf"}}},
        },
    }
    registry = {
        "http://example.com/other.json": {"here": "other"},
        "http://elsewhere.org/deep.json#": {
            "$defs": {
                "a": {"$anchor": "in", "here": "anchor elsewhere"},
                "b": {"$id": "inner.json", "here": "inner elsewhere"},
            }
        },
    }
    assert follow(schema, "/properties/p", "$ref", registry=registry)["here"] == target["here"]


def test_identifiers_in_data_are_none() -> None:
    schema = {
        "properties": {"p": {"$ref": "x.json"}, "q": {"$ref": "#name"}},
        "const": {"$id": "x.json", "$anchor": "name", "type": "string"},
        "unknown": {"$id": "x.json", "$anchor": "name"},
        "enum": [{"$id": "x.json"}],
        "$defs": {"$id": {"$id": "x.json", "type": "null"}, "a": {"$anchor": "name", "type": "boolean"}},
    }
    assert follow(schema, "/properties/p", "$ref")["type"] == "null"
    assert follow(schema, "/properties/q", "$ref")["type"] == "boolean"


def test_old_drafts_ignore_what_stands_beside_a_reference() -> None:
    schema = {
        "$schema": DRAFTS["7"],
        "$id": "http://example.com/root.json",
        "definitions": {"a": {"type": "string"}, "b": {"$id": "#old", "type": "null"}},
        "properties": {
            "p": {"$id": "http://other.org/", "$ref": "root.json#/definitions/a", "maxLength": 1},
            "q": {"$ref": "#old"},
        },
    }
    assert follow(schema, "/properties/p", "$ref") == {"type": "string"}
    assert follow(schema, "/properties/q", "$ref")["type"] == "null"
    for draft, uri in DRAFTS.items():
        docs = documents({"$schema": uri, "properties": {"p": {"$ref": "#"}, "q": {"type": "null"}}})
        root = docs.root()
        assert docs.is_only_reference(docs.child(root, "/properties/p")) == (draft in ("4", "6", "7"))
        assert not docs.is_only_reference(docs.child(root, "/properties/q"))
        assert not docs.is_only_reference(root)


def test_draft_4_uses_id() -> None:
    schema = {
        "$schema": DRAFTS["4"],
        "id": "http://example.com/root.json",
        "properties": {"id": {"$ref": "sub.json#inner"}, "x": {"$ref": "sub.json"}},
        "definitions": {
            "a": {"id": "sub.json", "title": "sub", "definitions": {"b": {"id": "#inner", "title": "inner"}}},
            "c": {"$id": "sub.json"},
        },
    }
    assert follow(schema, "/properties/id", "$ref")["title"] == "inner"
    assert follow(schema, "/properties/x", "$ref")["title"] == "sub"


def test_identifiers_of_the_own_document_come_first() -> None:
    def document(title: str) -> dict[str, Any]:
        return {
            "$id": "http://example.com/same",
            "properties": {"p": {"$ref": "inner"}, "q": {"$ref": "same"}},
            "title": title,
            "$defs": {"inner": {"$id": "inner", "title": f"inner {title}"}},
        }

    schema = {"allOf": [{"$ref": "x:a"}, {"$ref": "x:b"}]}
    registry = {"x:a": document("a"), "x:b": document("b")}
    for position, title in enumerate("ab"):
        root = f"/allOf/{position}"
        assert follow(schema, root, "$ref", "/properties/p", "$ref", registry=registry)["title"] == f"inner {title}"
        assert follow(schema, root, "$ref", "/properties/q", "$ref", registry=registry)["title"] == title


def test_old_drafts_fall_back_to_the_root_of_the_document() -> None:
    inner = {"id": "inner", "properties": {"a": {"$ref": "#/definitions/b"}, "c": {"$ref": "#/definitions/d"}}}
    schema = {
        "$schema": DRAFTS["4"],
        "properties": {"x": {**inner, "definitions": {"d": {"title": "inner d"}}}},
        "definitions": {"b": {"title": "b"}, "d": {"title": "d"}},
    }
    assert follow(schema, "/properties/x", "/properties/a", "$ref")["title"] == "b"
    assert follow(schema, "/properties/x", "/properties/c", "$ref")["title"] == "inner d"
    schema["$schema"] = DRAFTS["2020-12"]
    schema["properties"]["x"]["$id"] = "inner"  # type: ignore[index]
    with pytest.raises(ConstraintError, match=r'"inner" has no JSON Pointer "/definitions/b"'):
        follow(schema, "/properties/x", "/properties/a", "$ref")


@pytest.mark.parametrize("colon", [":", ": ", " \n:\t", "\r\n : \n"])
def test_identifiers_are_found_however_they_are_written(colon: str) -> None:
    """A document's text tells whether there are any inside; keys of that name that are no strings are none."""

    def found(schema: Any, change: tuple[str, str] = ("", "")) -> Any:
        text = json.dumps(schema).replace(*change).replace('": ', f'"{colon}')
        docs = SchemaDocuments(text.encode(), [])
        use = docs.follow(docs.child(docs.root(), "/properties/p"), "$ref")
        return json.loads(docs.text(use))["title"], docs.dialect(use)["draft"]

    names = {"$schema": True, "$id": {"type": "string"}, "id": {"type": "string"}, "p": {"$ref": "x"}}
    for draft, uri in DRAFTS.items():
        keyword = "id" if draft == "4" else "$id"
        for root in ({}, {keyword: "http://example.com/"}):
            inner = {keyword: "x", "title": "inner"}
            schema = {"$schema": uri, **root, "properties": names, "definitions": {"a": {"not": inner}}}
            assert found(schema) == ("inner", draft)
            assert found(schema, (f'"{keyword}"', f'"{keyword[:-2]}\\u0069d"')) == ("inner", draft)
            assert found(schema, ('"$schema"', '"$sch\\u0065ma"')) == ("inner", draft)
            del inner[keyword]
            with pytest.raises(ConstraintError, match="no such document was given"):
                found(schema)
            inner |= {"$schema": DRAFTS["4"], "id": "x"}
            assert found(schema) == ("inner", "4")


def test_dialects() -> None:
    for draft, uri in DRAFTS.items():
        for spelling in (uri, uri.rstrip("#"), uri.replace("http:", "https:")):
            docs = documents({"$schema": spelling})
            assert docs.dialect(docs.root())["draft"] == draft
        docs = documents({}, draft=draft)
        assert docs.dialect(docs.root())["draft"] == draft
    docs = documents(
        {"$schema": DRAFTS["7"], "definitions": {"a": {"$id": "a", "$schema": DRAFTS["2020-12"], "not": {}}}}
    )
    assert docs.dialect(docs.root())["draft"] == "7"
    assert docs.dialect(docs.child(docs.root(), "/definitions/a/not"))["draft"] == "2020-12"
    docs = documents({"\u0024schema": DRAFTS["7"]})
    escaped = SchemaDocuments(b'{"$defs": {"a": {"\\u0024schema": "http://json-schema.org/draft-07/schema"}}}', [])
    assert escaped.dialect(escaped.child(escaped.root(), "/$defs/a"))["draft"] == "7"
    with pytest.raises(UnsupportedError, match=r"draft-03.*expected draft 4, 6, 7, 2019-09 or 2020-12"):
        documents({"$schema": "http://json-schema.org/draft-03/schema#"})


def test_other_documents_have_the_dialect_of_the_root_by_default() -> None:
    registry = {"http://x": {"definitions": {"a": {"$id": "#name", "title": "found"}}}}
    schema = {"$schema": DRAFTS["7"], "$ref": "http://x#name"}
    assert follow(schema, "$ref", registry=registry)["title"] == "found"
    with pytest.raises(ConstraintError, match='has no anchor "name"'):
        follow({"$ref": "http://x#name"}, "$ref", registry=registry)


def test_vocabularies_of_custom_metaschemas() -> None:
    vocab = "https://json-schema.org/draft/2020-12/vocab/"
    registry = {
        "http://example.com/no-validation": {
            "$schema": DRAFTS["2020-12"],
            "$vocabulary": {vocab + "core": True, vocab + "applicator": True, "http://mine": False},
        },
        "http://example.com/mine": {"$schema": DRAFTS["2020-12"], "$vocabulary": {"http://mine": True}},
        "http://example.com/old": {"$schema": DRAFTS["7"]},
    }
    docs = documents({"$schema": "http://example.com/no-validation"}, registry)
    assert docs.dialect(docs.root()) == {
        "draft": "2020-12",
        "declared": True,
        "applicator": True,
        "unevaluated": False,
        "validation": False,
        "format": False,
        "format_assertion": False,
    }
    docs = documents({"$schema": "http://example.com/old#"}, registry)
    assert docs.dialect(docs.root())["draft"] == "7"
    with pytest.raises(
        UnsupportedError, match=r'http://example.com/mine#/\$vocabulary.*demands the vocabulary "http://mine"'
    ):
        documents({"$schema": "http://example.com/mine"}, registry)
    chain = {f"http://m/{i}": {"$schema": f"http://m/{i + 1}"} for i in range(5000)}
    docs = documents({"$schema": "http://m/0"}, chain)
    assert docs.dialect(docs.root())["draft"] == "2020-12"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"properties": {"a/b": {"$ref": "other.json#/x"}}, "$id": "http://example.com/root.json"},
            'at "/properties/a~1b/$ref": the reference "other.json#/x" leads to the URI '
            '"http://example.com/other.json", and no such document was given; '
            'pass registry={"http://example.com/other.json": its schema} '
            "(nothing is ever fetched)",
        ),
        (
            {"$ref": "#/$defs/missing"},
            'at "/$ref": the reference "#/$defs/missing" leads to nothing: '
            'the schema has no JSON Pointer "/$defs/missing"',
        ),
        ({"$ref": "#missing"}, 'the schema has no anchor "missing"; add it, or write a JSON Pointer such as'),
        ({"$ref": "#/unknown/a", "unknown": {"a": 3}}, "leads to a number; expected a schema, an object or a boolean"),
        ({"$ref": ["#"]}, 'at "/$ref": expected a URI reference as a string, got an array'),
        ({"$ref": "known.json"}, 'registry["known.json"]: line 1, column 1: expected a value'),
        ({"$ref": "list.json"}, "leads to an array; expected a schema"),
    ],
)
def test_errors_name_the_place_and_the_remedy(schema: Any, message: str) -> None:
    docs = SchemaDocuments(json.dumps(schema).encode(), [("known.json", b"nothing"), ("list.json", b"[1]")])
    use = docs.root()
    if "properties" in schema:
        docs = documents(schema)
        use = docs.child(docs.root(), "/properties/a~1b")
    with pytest.raises(ConstraintError) as caught:
        docs.follow(use, "$ref")
    assert message in str(caught.value)


def test_roots_that_are_no_schemas_are_refused() -> None:
    with pytest.raises(ConstraintError, match="json_schema: expected a schema, an object or a boolean, got an array"):
        documents([])
    with pytest.raises(ConstraintError, match=r"json_schema: line 1, column 2: expected a key"):
        SchemaDocuments(b"{1}", [])


# ---- keywords
@pytest.mark.parametrize("draft", DRAFTS)
def test_schemas_that_their_metaschema_refuses_are_refused(draft: str) -> None:
    """Random values for random keywords: refused when the metaschema of the draft refuses them, but for a few rules."""
    validator = jsonschema.validators.validator_for({"$schema": DRAFTS[draft]})
    metaschema = validator(validator.META_SCHEMA)
    keywords = (
        "items contains additionalItems prefixItems properties patternProperties additionalProperties propertyNames not"
        " allOf anyOf oneOf if then else dependencies dependentSchemas dependentRequired required enum const type"
        " minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems"
        " minProperties maxProperties minContains maxContains uniqueItems pattern format unevaluatedItems"
        " unevaluatedProperties definitions other"
    ).split()
    counts = {True: 0, False: 0}
    for seed in range(1500):
        rng = random.Random(f"{draft} {seed}")

        def value(depth: int, rng: random.Random = rng) -> Any:
            simple = [True, False, None, 0, 2, 2.0, 0.5, -1, "a", "string", ["a"], ["string", "null"], {}, {"a": ["b"]}]
            kind = rng.randrange(4)
            if depth == 0 or kind == 0:
                return rng.choice(simple)
            if kind == 1:
                return [schema(depth - 1)]
            return {"a": schema(depth - 1)} if kind == 2 else schema(depth - 1)

        def schema(depth: int, rng: random.Random = rng) -> Any:
            return {keyword: value(depth) for keyword in rng.sample(keywords, rng.choice([1, 1, 2]))}

        made = {"$schema": DRAFTS[draft]} | schema(2)
        allowed = metaschema.is_valid(made)
        if draft == "4" and any(isinstance(e, bool) for e in _schemas(made)):
            continue  # the metaschema of draft 4 knows no boolean schemas; we do
        refusal = ""
        try:
            documents(made)
        except ConstraintError as error:
            refusal = str(error)
        if refusal:
            assert not allowed, (seed, made, refusal)
            assert re.match(r'json_schema: at "/.*": expected .*, got ', refusal, re.DOTALL), refusal
        else:
            more = {"required", "definitions", "dependencies"}
            lenient = any(not more.isdisjoint(e) for e in _schemas(made) if isinstance(e, dict))
            assert allowed or lenient or draft == "4", (seed, made)
        counts[allowed] += 1
    assert min(counts.values()) > 100


def _schemas(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [value] + [found for child in inner for found in _schemas(child)]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "strin"}, 'at "/type": expected one of "array", "boolean"'),
        (
            {"properties": {"a/b": {"minLength": -1}}},
            'at "/properties/a~1b/minLength": expected an integer of at least 0, got -1',
        ),
        (
            {"$schema": DRAFTS["2020-12"], "items": [True]},
            "expected a schema (an array of them is prefixItems in draft 2020-12, which $schema names), got [true]",
        ),
        ({"items": [True], "prefixItems": [True]}, "expected a schema, as prefixItems stands beside it, got [true]"),
        (
            {"$schema": DRAFTS["2019-09"], "minimum": 1, "exclusiveMinimum": True},
            "expected a number (only draft 4 has booleans), got true",
        ),
        ({"required": True}, 'at "/required": expected an array of names, strings, got true'),
        ({"multipleOf": 0}, "expected a number greater than 0, got 0"),
        ({"$ref": "#/x/y", "x": {"y": {"type": 3}}}, 'at "/x/y/type": expected one of'),
    ],
)
def test_malformed_keywords_are_named(schema: Any, message: str) -> None:
    with pytest.raises(ConstraintError) as caught:
        docs = documents(schema)
        docs.follow(docs.root(), "$ref")
    assert message in str(caught.value)


def test_keywords_that_do_not_count_are_not_checked() -> None:
    documents({"const": {"type": 3}, "default": {"required": 1}, "unknown": {"type": 3}})
    documents({"$schema": DRAFTS["7"], "$ref": "#", "type": 3, "minContains": "x"})
    documents({"$schema": DRAFTS["4"], "const": 1, "if": 3, "items": [{"exclusiveMinimum": True}]})


# ---- dynamic scope
def test_dynamic_references_take_the_outermost_anchor() -> None:
    schema = {
        "$id": "http://example.com/strict",
        "$dynamicAnchor": "node",
        "title": "strict",
        "$ref": "tree",
        "$defs": {
            "tree": {
                "$id": "tree",
                "$dynamicAnchor": "node",
                "title": "tree",
                "properties": {
                    "child": {"$dynamicRef": "#node"},
                    "pointer": {"$dynamicRef": "#"},
                    "static": {"$ref": "#node"},
                    "plain": {"$dynamicRef": "#plain"},
                },
                "$defs": {"plain": {"$anchor": "plain", "title": "plain"}},
            }
        },
    }
    assert follow(schema, "$ref", "/properties/child", "$dynamicRef")["title"] == "strict"
    assert follow(schema, "$ref", "/properties/pointer", "$dynamicRef")["title"] == "tree"
    assert follow(schema, "$ref", "/properties/static", "$ref")["title"] == "tree"
    assert follow(schema, "$ref", "/properties/plain", "$dynamicRef")["title"] == "plain"
    tree = schema["$defs"]["tree"]
    assert follow(tree, "/properties/child", "$dynamicRef")["title"] == "tree"
    registry = {"http://example.com/tree": tree}
    outer = {
        "$id": "http://example.com/outer",
        "$ref": "tree",
        "$defs": {"n": {"$dynamicAnchor": "node", "title": "n"}},
    }
    assert follow(outer, "$ref", "/properties/child", "$dynamicRef", registry=registry)["title"] == "n"


def test_scopes_are_few_and_zero_without_dynamic_anchors() -> None:
    schema = {
        "$defs": {
            name: {
                "$id": name,
                "$defs": {"t": {"$dynamicAnchor": "t", "title": name}},
                "properties": {other: {"$ref": other} for other in "abc"} | {"d": {"$dynamicRef": "#t"}},
            }
            for name in "abc"
        }
        | {"plain": {"$id": "plain", "$ref": "plain"}}
    }
    docs = documents(schema)
    scopes: dict[int, str] = {}
    todo: list[SchemaUse] = [docs.child(docs.root(), f"/$defs/{name}") for name in "abc"]
    seen: set[tuple[str, int]] = set()
    while todo:
        use = todo.pop()
        key = (docs.place(use), use.scope)
        if key in seen:
            continue
        seen.add(key)
        title = json.loads(docs.text(docs.follow(docs.child(use, "/properties/d"), "$dynamicRef")))["title"]
        assert scopes.setdefault(use.scope, title) == title
        todo += [docs.follow(docs.child(use, f"/properties/{other}"), "$ref") for other in "abc"]
    assert len(scopes) == 3
    assert docs.follow(docs.child(docs.root(), "/$defs/plain"), "$ref").scope == 0


def test_recursive_references() -> None:
    tree = {
        "$schema": DRAFTS["2019-09"],
        "$id": "http://example.com/tree",
        "$recursiveAnchor": True,
        "title": "tree",
        "properties": {"child": {"$recursiveRef": "#"}},
    }
    strict = {
        "$schema": DRAFTS["2019-09"],
        "$id": "http://example.com/strict",
        "$recursiveAnchor": True,
        "title": "strict",
        "$ref": "tree",
    }
    registry = {"http://example.com/tree": tree}
    assert follow(strict, "$ref", "/properties/child", "$recursiveRef", registry=registry)["title"] == "strict"
    del strict["$recursiveAnchor"]
    assert follow(strict, "$ref", "/properties/child", "$recursiveRef", registry=registry)["title"] == "tree"
    del tree["$recursiveAnchor"]
    strict["$recursiveAnchor"] = True
    assert follow(strict, "$ref", "/properties/child", "$recursiveRef", registry=registry)["title"] == "tree"


# ---- against `referencing`
class Walk:
    """Follows all references of a schema here and in `referencing`, and compares where they lead."""

    def __init__(self, schema: Any, registry: dict[str, Any], draft: str) -> None:
        specification = specification_with(DRAFTS[draft])
        self.docs = documents(schema, registry, draft)
        known: Any = referencing.Registry().with_resources(
            (uri, referencing.Resource.from_contents(value, default_specification=specification))
            for uri, value in registry.items()
        )
        resource = referencing.Resource.from_contents(schema, default_specification=specification)
        self.specification = specification
        self.old = draft in ("4", "6", "7")
        self.start = known.resolver_with_root(resource)
        self.schema = schema

    def run(self) -> int:
        compared = 0
        todo: list[tuple[Any, Any, SchemaUse]] = [(self.schema, self.start, self.docs.root())]
        seen: set[tuple[str, int]] = set()
        while todo:
            contents, resolver, use = todo.pop()
            key = (self.docs.place(use), use.scope)
            if key in seen or not isinstance(contents, dict):
                continue
            seen.add(key)
            if "$ref" in contents:
                try:
                    wanted = resolver.lookup(contents["$ref"])
                except Unresolvable:
                    if not (self.old and contents["$ref"].startswith("#/")):
                        with pytest.raises(ConstraintError):
                            self.docs.follow(use, "$ref")
                else:
                    found = self.docs.follow(use, "$ref")
                    assert json.loads(self.docs.text(found)) == wanted.contents, contents["$ref"]
                    todo.append((wanted.contents, wanted.resolver, found))
                compared += 1
            for keyword, steps in (
                ("properties", "map"),
                ("$defs", "map"),
                ("definitions", "map"),
                ("not", ""),
                ("allOf", "list"),
            ):
                value = contents.get(keyword)
                if value is None:
                    continue
                children = (
                    [(f"/{keyword}/{k}", v) for k, v in value.items()]
                    if steps == "map"
                    else [(f"/{keyword}/{i}", v) for i, v in enumerate(value)]
                    if steps == "list"
                    else [(f"/{keyword}", value)]
                )
                for pointer, child in children:
                    inner = resolver.in_subresource(
                        referencing.Resource.from_contents(child, default_specification=self.specification)
                    )
                    todo.append((child, inner, self.docs.child(use, pointer)))
        return compared


class RandomSchemas:
    """Schemas whose identifiers are all different, for they mean nothing where two resources share one."""

    def __init__(self, rng: random.Random, draft: str) -> None:
        self.rng = rng
        self.old = draft in ("4", "6", "7")
        self.id = "id" if draft == "4" else "$id"
        self.definitions = "definitions" if self.old else "$defs"
        self.count = 0

    def reference(self) -> str:
        address = self.rng.choice(["", "", "y/", "http://h/", "../", "/"]) + f"n{self.rng.randrange(1, 8)}.json"
        address = self.rng.choice([address, address, "", "r.json", "q.json", "http://h/q.json"])
        return address + self.rng.choice(
            ["", "#", "#a1", "#a2", "#a3", "#/properties/a", f"#/{self.definitions}/b", "#/allOf/0"]
        )

    def schema(self, depth: int) -> Any:
        rng = self.rng
        schema: dict[str, Any] = {"title": str(rng.randrange(10**6))}
        if depth == 0:
            return schema
        self.count += 1
        kind = rng.randrange(5)
        if kind == 0:
            prefix = rng.choice(["", "", "y/", "http://h/", "../", "/"])
            schema[self.id] = f"{prefix}n{self.count}.json"
        elif kind == 1 and self.old:
            schema[self.id] = f"#a{self.count}"
        elif kind == 1:
            schema["$anchor"] = f"a{self.count}"
        elif rng.random() < 0.6:
            schema["$ref"] = self.reference()
        for keyword in rng.sample(["properties", self.definitions, "not", "allOf"], rng.randrange(1, 4)):
            if keyword == "not":
                schema["not"] = self.schema(depth - 1)
            elif keyword == "allOf":
                schema["allOf"] = [self.schema(depth - 1) for _ in range(2)]
            else:
                schema[keyword] = {name: self.schema(depth - 1) for name in rng.sample("abc", 2)}
        return schema


@pytest.mark.parametrize("draft", DRAFTS)
def test_random_documents_resolve_as_referencing_resolves_them(draft: str) -> None:
    compared = 0
    for seed in range(200):
        rng = random.Random(f"{draft} {seed}")
        made = RandomSchemas(rng, draft)
        schema = {made.id: "http://start/", "allOf": [made.schema(3)]}
        registry = {uri: {"not": made.schema(2)} for uri in ("http://start/r.json", "http://h/q.json")}
        try:
            compared += Walk(schema, registry, draft).run()
        except (AssertionError, ConstraintError, pytest.fail.Exception) as error:
            raise AssertionError(f"draft {draft}, seed {seed}: {error}") from error
    assert compared > 100


# ---- URIs
@pytest.mark.parametrize(
    ("reference", "result"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
    ],
)
def test_the_examples_of_rfc_3986(reference: str, result: str) -> None:
    assert resolve_uri("http://a/b/c/d;p?q", reference) == result


def test_bases_without_scheme() -> None:
    assert resolve_uri("", "x.json#/a") == "x.json#/a"
    assert resolve_uri("folder/x.json", "y.json") == "folder/y.json"
    assert resolve_uri("urn:uuid:1-2", "#/a") == "urn:uuid:1-2#/a"
    rng = random.Random(0)
    for _ in range(2000):
        base = "http://h" + "".join(rng.choice(["/a", "/b"]) for _ in range(rng.randrange(4)))
        reference = "".join(rng.choice(["../", "./", "a", "b/", "c"]) for _ in range(rng.randrange(5)))
        assert resolve_uri(base, reference) == urljoin(base, reference), (base, reference)


def test_a_report_of_long_numbers_and_deep_schemas() -> None:
    nines = "9" * 5000
    (kind, least, *_) = tokamata.json_schema(f'{{"type": "integer", "minimum": {nines}}}').report
    assert (kind.subject, least.subject, least.status) == ("type", "minimum", "enforced")
    deep = tokamata.json_schema('{"items": ' * 1000 + '{"format": "regex"}' + "}" * 1000)
    assert [entry.place for entry in deep.report if "nests too deep" in entry.detail] == [""]
