"""Differences, intersections and counterexamples of JSON Schemas, checked with jsonschema."""

from __future__ import annotations

import itertools
import json
import random
import string
from typing import Any

import jsonschema
import pytest

import tokamata
from tokamata import json_schema

VALUES: list[object] = [None, True, False, 0, 1, 2, 3, -1, "", "a", "ab", "b", [], [1], [1, 2], ["a"], [1, "a"], {}]
VALUES += [dict(zip("ab", pair, strict=False)) for pair in itertools.product([1, "a", None], repeat=2)]
VALUES += [{"a": 1}, {"b": "a"}, {"c": 1}, {"a": 1, "c": 2}, [{"a": 1}], {"a": {"a": 1}}, {"a": [1]}]


def random_schema(rng: random.Random, depth: int = 2) -> object:
    """A small schema over the keys a, b, c and values near the ones above."""
    below = depth - 1
    pick = rng.randrange(15 if depth else 6)
    if pick == 0:
        types = ["null", "boolean", "integer", "number", "string", "array", "object"]
        return {"type": rng.sample(types, rng.randint(1, 3))}
    if pick == 1:
        return {"enum": rng.sample(VALUES, rng.randint(1, 4))}
    if pick == 2:
        return {"minimum": rng.randint(-1, 2), "maxLength": rng.randint(0, 2)}
    if pick == 3:
        return {"required": rng.sample(["a", "b", "c"], rng.randint(0, 2)), "maxProperties": rng.randint(0, 3)}
    if pick == 4:
        return {"minItems": rng.randint(0, 2), "pattern": rng.choice(["^a", "b$", "a?"])}
    if pick == 5:
        return rng.choice([True, {}, {"type": "object"}, {"const": rng.choice(VALUES)}])
    sub = [random_schema(rng, below) for _ in range(3)]
    return [
        {"allOf": sub[:2]},
        {"anyOf": sub[:2]},
        {"oneOf": sub},
        {"not": sub[0]},
        {"if": sub[0], "then": sub[1], "else": sub[2]},
        {"properties": {"a": sub[0], "b": sub[1]}, "additionalProperties": sub[2]},
        {"patternProperties": {"^[ab]$": sub[0]}, "propertyNames": {"maxLength": rng.randint(0, 2)}},
        {"prefixItems": [sub[0]], "items": sub[1], "contains": sub[2], "minContains": rng.randint(0, 1)},
        {"properties": {"a": sub[0]}, "anyOf": [{"properties": {"b": sub[1]}}, True], "unevaluatedProperties": sub[2]},
    ][pick - 6]


def compiled(schema: object) -> tokamata.Constraint | None:
    """The constraint of a schema; None where it has no values or a stated limit is reached."""
    try:
        return tokamata.json_schema(schema, key_order="any", numbers="any")
    except tokamata.LimitError:
        return None
    except tokamata.UnsupportedError:
        return None
    except tokamata.ConstraintError as error:
        if "contradicts itself" not in str(error):
            raise
        return tokamata.literal("a") & tokamata.literal("b")


def accepts(constraint: tokamata.Constraint, value: object) -> bool:
    """Whether the text that json.dumps writes is a member."""
    return constraint.accepts(json.dumps(value))


@pytest.mark.parametrize("seed", range(60))
def test_membership_agrees_with_jsonschema(seed: int) -> None:
    rng = random.Random(seed)
    decided = 0
    for _ in range(5):
        schema = random_schema(rng)
        constraint = compiled(schema)
        if constraint is None:
            continue
        validator = jsonschema.Draft202012Validator(schema)
        for value in VALUES:
            assert accepts(constraint, value) == validator.is_valid(value), (seed, schema, value)
            decided += 1
    assert decided, seed


@pytest.mark.parametrize("seed", range(30))
def test_counterexamples_tell_schemas_apart(seed: int) -> None:
    rng = random.Random(1000 + seed)
    schemas = [random_schema(rng, 1), random_schema(rng, 1)]
    valid = [jsonschema.Draft202012Validator(s) for s in schemas]
    try:
        left, right = (tokamata.json_schema(s, key_order="any", numbers="any") for s in schemas)
        found = left.counterexample(right)
    except tokamata.ConstraintError as error:
        assert "contradicts itself" in str(error), schemas  # noqa: PT017
        assert any(not v.is_valid(x) for v in valid for x in VALUES)
        return
    if found is not None:
        value = json.loads(found)
        assert valid[0].is_valid(value) != valid[1].is_valid(value), (seed, schemas, value)
    else:
        for value in VALUES:
            assert valid[0].is_valid(value) == valid[1].is_valid(value), (seed, schemas, value)
    both, first = left & right, left - right
    for value in VALUES:
        yes = [v.is_valid(value) for v in valid]
        assert accepts(both, value) == all(yes), (seed, schemas, value)
        assert accepts(first, value) == (yes[0] and not yes[1]), (seed, schemas, value)


def node(**value: object) -> dict[str, object]:
    """A schema of linked lists whose values are restricted."""
    return {
        "$id": "https://example.com/list",
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"v": {"type": "integer", **value}, "next": {"$ref": "#/$defs/node"}},
                "required": ["v"],
                "additionalProperties": False,
            }
        },
    }


def test_two_versions_of_a_recursive_schema_with_one_identifier() -> None:
    old, new = tokamata.json_schema(node()), tokamata.json_schema(node(minimum=3))
    assert old.counterexample(new) == b'{"v":0}'
    assert (new - old).is_empty()
    assert not (old - new).is_empty()
    assert old.equivalent(tokamata.json_schema(node()))


def test_recursive_values_and_dead_ends() -> None:
    # A list that needs a next one for ever has no finite value; one that may end has.
    endless = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
        tokamata.json_schema(endless)
    # The branch that cannot end is never entered.
    schema = {"type": "object", "properties": {"a": endless | {"$id": "urn:endless"}, "b": {"type": "null"}}}
    constraint = tokamata.json_schema(schema | {"additionalProperties": False})
    assert constraint.accepts('{"b": null}')
    assert not constraint.accepts_prefix('{"a')


def test_unique_items_where_elements_are_listed() -> None:
    constraint = tokamata.json_schema({"items": {"enum": ["a", 1, None, True]}, "type": "array", "uniqueItems": True})
    for size in range(4):
        for items in itertools.product(["a", 1, None, True], repeat=size):
            texts = [json.dumps(i) for i in items]
            assert constraint.accepts(json.dumps(items)) == (len(set(texts)) == size), items
    with pytest.raises(tokamata.UnsupportedError, match="uniqueItems at '/properties/x'"):
        tokamata.json_schema({"properties": {"x": {"type": "array", "uniqueItems": True, "contains": {"minimum": 1}}}})
    with pytest.raises(
        tokamata.UnsupportedError, match=r"uniqueItems at the root cannot be enforced: .*unique_keys=False"
    ):
        tokamata.json_schema({"type": "array", "uniqueItems": True, "items": {"type": "string"}}, unique_keys=False)
    lenient = tokamata.json_schema({"type": "array", "uniqueItems": True, "contains": {}}, lenient=True)
    assert lenient.accepts("[1, 1]")
    assert [e.place for e in lenient.report if e.status == "widened"] == ["/uniqueItems"]
    (detail,) = [e.detail for e in lenient.report if e.status == "widened"]
    assert detail.endswith("lists the elements' values, or there is no contains or not beside it")
    free = tokamata.json_schema({"type": "object"}, unique_keys=False)
    assert [e.place for e in free.report if e.status == "widened"] == [""]
    hosts = tokamata.json_schema({"type": "string", "format": "hostname"})
    assert [e.place for e in hosts.report if e.status == "widened"] == ["/format"]
    with pytest.raises(
        tokamata.UnsupportedError, match=r'format "regex" at "/not/format" lets more strings through .* negated'
    ):
        tokamata.json_schema({"not": {"format": "regex"}}).accepts('"a"')


def test_formats_that_are_a_little_wider_are_negated_as_they_are() -> None:
    hosts = {"oneOf": [{"type": "string", "format": f} for f in ("hostname", "ipv6", "uuid")]}
    constraint = tokamata.json_schema(hosts)
    for text in ("example.com", "::1", "xn--bcher-kva.example", "a" * 63, "12"):
        assert constraint.accepts(f'"{text}"'), text
    for text in ("a b", "", "a" * 64, "00000000-0000-0000-0000-000000000000", ":::"):  # an UUID is a host name, too
        assert not constraint.accepts(f'"{text}"'), text
    details = {e.place: e.detail for e in constraint.report if e.status == "widened"}
    assert list(details) == ["/oneOf/0/format"]
    assert "where the format is negated (not, oneOf, if)" in details["/oneOf/0/format"]
    for name in ("hostname", "idn-hostname", "idn-email"):
        wide = tokamata.json_schema({"type": "string", "format": name})
        rest = tokamata.json_schema({"type": "string", "not": {"format": name}})
        for text in ("example.com", "a@b.de", "a b", "", "\u00e4.example", "x@\u00e4", "-a", "xn--"):
            assert wide.accepts(f'"{text}"') != rest.accepts(f'"{text}"'), text
        assert not any(wide.accepts(text) for text in rest.examples(20))


def test_one_of_two_formats_whatever_they_count() -> None:
    counted = ("email", "hostname", "idn-email", "idn-hostname", "ipv4", "ipv6", "iri", "iri-reference", "uri", "uuid")
    texts = (
        "example.com",
        "::1",
        "1.2.3.4",
        "http://a.b/c",
        "a@b.de",
        "00000000-0000-0000-0000-000000000000",
        "a b",
        "\u00e4",
    )
    alone = {f: tokamata.json_schema({"type": "string", "format": f}) for f in counted}
    for one, other in itertools.combinations(counted, 2):
        if {one, other} == {"hostname", "idn-hostname"}:
            continue  # a LimitError: each label of the one is compared with each of the other
        either = tokamata.json_schema({"type": "string", "oneOf": [{"format": one}, {"format": other}]})
        for text in texts:
            wanted = alone[one].accepts(f'"{text}"') != alone[other].accepts(f'"{text}"')
            assert either.accepts(f'"{text}"') == wanted, (one, other, text)


def test_branches_of_which_it_is_open_whether_they_exclude_each_other() -> None:
    """That they do is not found in the time that there is, so that each is taken without the other."""
    either = {"type": "number", "oneOf": [{"minimum": 0, "maximum": 360}, {"minimum": 1024, "multipleOf": 256}]}
    constraint = tokamata.json_schema(either, numbers="any")
    for text, valid in (("0", True), ("360", True), ("361", False), ("1.28e3", True), ("1281", False), ("1e30", True)):
        assert constraint.accepts(text) == valid, text


def test_nesting_is_deep_and_linear() -> None:
    constraint = tokamata.json_schema({"type": "array", "items": {"$ref": "#"}})
    assert constraint.accepts("[" * 10_000 + "]" * 10_000)
    assert not constraint.accepts("[" * 10_000 + "]" * 9_999)


def test_what_is_negated_twice_evaluates_nothing() -> None:
    schema = {
        "properties": {"foo": True},
        "not": {"not": {"properties": {"bar": {"const": 1}}, "required": ["bar"]}},
        "unevaluatedProperties": False,
    }
    assert not accepts(tokamata.json_schema(schema | {"unevaluatedProperties": {"type": "null"}}), {"foo": 1, "bar": 1})
    assert accepts(tokamata.json_schema(schema | {"unevaluatedProperties": True}), {"foo": 1, "bar": 1})


def test_constants_evaluate_no_members() -> None:
    object_, array = {"enum": [{"a": 1}]}, {"const": [1]}
    assert accepts(tokamata.json_schema(object_ | {"unevaluatedProperties": {"type": "integer"}}), {"a": 1})
    assert accepts(tokamata.json_schema(array | {"unevaluatedItems": {"type": "integer"}}), [1])
    for schema in (object_ | {"unevaluatedProperties": False}, array | {"unevaluatedItems": False}):
        with pytest.raises(tokamata.ConstraintError, match="contradicts itself"):
            tokamata.json_schema(schema)


def test_combined_schemas_are_combined_again() -> None:
    first, second, third = (
        tokamata.json_schema({"type": "integer", name: 5}) for name in ("minimum", "maximum", "multipleOf")
    )
    both = first & second
    assert first.counterexample(both) is not None
    assert (both & third).equivalent(tokamata.json_schema({"const": 5}))
    assert ((first - second) - third).accepts("6")
    assert not ((first - second) - third).accepts("10")


DRAFT_4, DRAFT_7 = (f"http://json-schema.org/draft-0{number}/schema#" for number in (4, 7))


@pytest.mark.parametrize(
    ("schema", "registry", "same"),
    [
        ({"$ref": "http://e/r"}, {"http://e/r": {"type": "integer"}}, {"type": "integer"}),
        ({"$ref": "r"}, {"r": {"type": "integer"}}, {"type": "integer"}),
        ({"$id": "a/b", "$ref": "r"}, {"a/r": {"type": "integer"}}, {"type": "integer"}),
        ({"$ref": "r", "$defs": {"x": {"$id": "r", "type": "integer"}}}, {}, {"type": "integer"}),
        (
            {"$schema": DRAFT_4, "$ref": "http://e/r"},
            {"http://e/r": {"type": "integer", "minimum": 3, "exclusiveMinimum": True}},
            {"type": "integer", "minimum": 4},
        ),
        (
            {"$schema": DRAFT_7, "$ref": "http://e/r"},
            {"http://e/r": {"$ref": "#/definitions/x", "minimum": 9, "definitions": {"x": {"type": "integer"}}}},
            {"type": "integer"},
        ),
    ],
)
def test_operands_keep_their_own_documents(schema: object, registry: dict[str, object], same: object) -> None:
    """URIs of one operand mean nothing to another one, and the draft of its root is that of its documents."""
    first = tokamata.json_schema(schema, registry=registry)
    texts = {uri: {"type": "string"} for uri in (*registry, "http://e/r", "r")}
    second = tokamata.json_schema({"$ref": "http://e/r"}, registry=texts)
    plain = tokamata.json_schema(same)
    for left, right in ((first, plain), (plain, first)):
        assert left.equivalent(right)
        assert (left & right).accepts("9")
        assert (left - right).is_empty()
    for left, right in ((first, second), (second, first)):
        assert (left & right).is_empty()
        assert (left - right).equivalent(left)
        assert left.counterexample(right) in (b"0", b"4", b'""')
        assert ((left - right) & (left - right)).counterexample(right - (left & right)) in (b"0", b"4", b'""')


def test_keys_that_a_schema_names_mask_like_walking(byte_vocabulary: tokamata.Vocabulary) -> None:
    schema = {"properties": {"name": {}, "names": {}, "nada": {}}, "additionalProperties": {"type": "null"}}
    automaton = tokamata.compile(tokamata.json_schema(schema), byte_vocabulary)
    state = automaton.start()
    for token in b'{"name":1,"nb':
        mask = state.mask()
        for other in range(len(byte_vocabulary)):
            assert bool(mask[other >> 5] >> (other & 31) & 1) == state.allows(other), (token, other)
        state.advance(token)


@pytest.fixture(scope="module")
def byte_vocabulary() -> tokamata.Vocabulary:
    """All bytes, and every text of two to four characters over a few that keys have."""
    tokens = [bytes([b]) for b in range(256)]
    tokens += ["".join(t).encode() for n in (2, 3, 4) for t in itertools.product('nameds"b:\\u', repeat=n)]
    return tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])


DRAFT_7 = "http://json-schema.org/draft-07/schema#"
UNCHANGED: list[dict[str, Any]] = [
    {"type": "string", "format": "date-time", "maxLength": 64},
    {"type": "string", "format": "idn-hostname"},
    {"type": "string", "format": "regex"},
    {"type": "string", "pattern": r"^(?:\S+\s+){0,29}\S+$", "maxLength": 300},
    {"type": "array", "uniqueItems": True, "items": {"type": "object", "properties": {"n": {"type": "string"}}}},
    {"anyOf": [{"required": [c], "properties": {c: True}, "additionalProperties": False} for c in "abcdefghij"]},
    {"$ref": "#/$defs/tree"},
]  # fmt: skip


@pytest.mark.parametrize("part", UNCHANGED, ids=str)
def test_what_both_versions_say_is_not_searched(part: dict[str, Any]) -> None:
    """The values of a part that are none of the same part: to search for one takes seconds, or is refused."""
    tree = {"properties": {"left": {"$ref": "#/$defs/tree"}, "pattern": {"type": "string", "format": "regex"}}}
    old = {"$defs": {"tree": tree}, "type": "object", "properties": {"e": part}}
    new = {"$defs": {"tree": {**tree, "title": "T"}}, "type": "object", "properties": {"e": {**part, "title": "E"}}}
    if "$ref" in part:  # by another way round
        new["$defs"] = {"tree": {"$ref": "#/$defs/two"}, "two": {**tree, "properties": {**tree["properties"]}}}
    assert json_schema(old).equivalent(json_schema(new))
    wider = json_schema({**new, "properties": {**new["properties"], "z": {"type": "integer"}}})
    assert json_schema(old).counterexample(wider) == b'{"z":""}'
    assert json_schema(part | {"$defs": old["$defs"]}).equivalent(
        json_schema({**part, "$defs": new["$defs"], "title": ""})
    )


def test_equal_references_lead_to_different_schemas() -> None:
    """Of two documents: the text of a reference says nothing, and neither do schemas of two drafts."""
    a = {"properties": {"e": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer"}}}
    b = {"properties": {"e": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "number"}}}
    found = json_schema(a).counterexample(json_schema(b))
    assert found is not None
    assert json_schema(b).accepts(found)
    assert not json_schema(a).accepts(found)
    circle = {"properties": {"e": {"$ref": "#"}}, "type": ["object", "null"]}
    spiral = {"$ref": "#/$defs/a", "$defs": {"a": {**circle, "properties": {"e": {"$ref": "#/$defs/b"}}}, "b": circle}}
    assert json_schema(circle).counterexample(json_schema(spiral)) is None
    spiral["$defs"]["b"] = {**circle, "type": "object"}  # type: ignore[index]
    assert json_schema(circle).counterexample(json_schema(spiral)) == b'{"e":null}'
    both = {"properties": {"e": {"$ref": "#/definitions/a", "type": "string"}}, "definitions": {"a": True}}
    seventh = json_schema({"$schema": DRAFT_7, **both})
    assert seventh.accepts('{"e":1}')
    assert seventh.counterexample(json_schema(both)) == b'{"e":0}'
    pair = {"prefixItems": [False]}  # which draft 7 does not know
    assert json_schema({"$schema": DRAFT_7, **pair}).counterexample(json_schema(pair)) == b"[0]"


def test_the_limits_of_both_hold_for_their_comparison() -> None:
    record = {"type": "object", "propertyNames": {"pattern": "^[ab]*$"}}  # of few short keys
    limits = tokamata.Limits(search_seconds=0.2, states=10**8)
    old = json_schema(record, limits=limits)
    new = json_schema({**record, "maxProperties": 40}, limits=limits)
    with pytest.raises(tokamata.LimitError, match=r"counterexample: the limit search_seconds=0\.2 was reached"):
        old.counterexample(new)


def test_examples_are_no_numbers_that_readers_make_zero() -> None:
    found = json_schema({"type": "number", "exclusiveMinimum": 0}).examples(300)
    assert len(found) == 300
    assert all(0 < json.loads(text) < float("inf") for text in found)


@pytest.mark.parametrize("key_order", ["schema", "any", "sorted"])
@pytest.mark.parametrize("most", [1, 2, 5, 21, 40])
def test_documents_with_a_key_too_many_are_shortest(most: int, key_order: Any) -> None:
    def objects(inside: bool, **more: Any) -> Any:
        schema: dict[str, Any] = {"type": "object", "required": ["a"], **more}
        schema = {"type": "array", "items": schema} if inside else schema
        return tokamata.json_schema(schema, key_order=key_order)

    keys = ["", "a", *string.digits, *"bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO"][: most + 1]
    shortest = len(json.dumps(dict.fromkeys(keys, 0), separators=(",", ":")))
    for inside in (False, True):
        found = objects(inside).counterexample(objects(inside, maxProperties=most))
        assert found is not None
        value = json.loads(found)
        assert len((value[0] if inside else value).keys() | {"a"}) == most + 1
        assert len(found) == shortest + 2 * inside


@pytest.mark.parametrize("most", [1, 2, 5, 9])
@pytest.mark.parametrize(
    "items", [True, {"type": "integer"}, {"type": ["number", "string"]}, {"type": "string"}], ids=str
)
def test_documents_with_a_distinct_element_too_many_are_shortest(items: object, most: int) -> None:
    def arrays(high: int) -> tokamata.Constraint:
        return tokamata.json_schema({"type": "array", "items": items, "uniqueItems": True, "maxItems": high})

    found = arrays(most + 1).counterexample(arrays(most))
    assert found is not None
    elements = json.loads(found)
    assert len(elements) == len(set(elements)) == most + 1
    texts = ["", *string.ascii_letters][: most + 1] if items == {"type": "string"} else list(range(most + 1))
    assert len(found) == len(json.dumps(texts, separators=(",", ":")))


REPEATED: list[dict[str, Any]] = [
    {"type": "array"},
    {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}},
    {"type": "array", "items": {"type": "string", "format": "date"}, "minItems": 3, "maxItems": 4},
    {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 2},
]


@pytest.mark.parametrize("schema", REPEATED, ids=str)
@pytest.mark.parametrize("place", ["root", "property", "element"])
def test_a_version_with_unique_items_is_told_by_a_repeated_one(schema: dict[str, Any], place: str) -> None:
    def placed(s: dict[str, Any]) -> dict[str, Any]:
        if place == "property":
            return {"type": "object", "properties": {"list": s, "other": {"type": "boolean"}}, "required": ["list"]}
        return {"type": "array", "items": s, "minItems": 1} if place == "element" else s

    before, after = placed(schema), placed({**schema, "uniqueItems": True})
    old, new = tokamata.json_schema(before), tokamata.json_schema(after)
    found = old.counterexample(new)
    assert found is not None
    assert jsonschema.Draft202012Validator(before).is_valid(json.loads(found))
    assert not jsonschema.Draft202012Validator(after).is_valid(json.loads(found))
    assert new.difference_example(old) is None


def test_unique_items_that_no_example_breaks_are_not_said_to_be_kept() -> None:
    schema = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}
    with pytest.raises(tokamata.UnsupportedError, match="uniqueItems at the root cannot be enforced"):
        tokamata.json_schema(schema).counterexample(tokamata.json_schema({"type": "array", "uniqueItems": True}))


def record(i: int, tagged: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {f"p{i}_{j}": {"type": t} for j, t in enumerate(["string", "integer", "boolean"])}
    required = [f"p{i}_0"]
    if tagged:
        properties["type"], required = {"const": f"t{i}"}, ["type"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@pytest.mark.parametrize("place", ["root", "reference", "property"])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("tagged", [True, False])
def test_an_edit_of_one_record_of_many(tagged: bool, keyword: str, place: str) -> None:
    def schema(records: list[dict[str, Any]]) -> dict[str, Any]:
        if place == "root":
            return {keyword: records}
        if place == "reference":
            return {"$ref": "#/$defs/r", "$defs": {"r": {"type": "object", keyword: records}}}
        return {"type": "object", "properties": {"r": {keyword: records}}, "required": ["r"]}

    before = [record(i, tagged) for i in range(60)]
    narrower, wider = record(7, tagged), record(7, tagged)
    narrower["properties"]["p7_0"] = {"type": "string", "maxLength": 5}
    wider["properties"]["new"] = {"type": "null"}
    old = schema(before)
    for edited, lost, gained in ((narrower, True, False), (wider, False, True)):
        new = schema([*before[:7], edited, *before[8:]])
        a, b = tokamata.json_schema(old), tokamata.json_schema(new)
        for found, told, valid, invalid in (
            (a.difference_example(b), lost, old, new),
            (b.difference_example(a), gained, new, old),
        ):
            assert (found is not None) == told
            if found is not None:
                assert jsonschema.Draft202012Validator(valid).is_valid(json.loads(found))
                assert not jsonschema.Draft202012Validator(invalid).is_valid(json.loads(found))


@pytest.mark.parametrize("seed", range(40))
def test_differences_of_unions_of_records_agree_with_jsonschema(seed: int) -> None:
    rng = random.Random(seed)

    def part() -> dict[str, Any]:
        some: dict[str, Any] = {"type": "object", "properties": {}}
        for key in rng.sample("abt", rng.randint(1, 3)):
            some["properties"][key] = rng.choice(
                [{"const": rng.choice([1, "a"])}, {"enum": [1, None]}, {"type": "string"}, True]
            )
        if rng.random() < 0.7:
            some["required"] = rng.sample(sorted(some["properties"]), 1)
        if rng.random() < 0.6:
            some["additionalProperties"] = rng.choice([False, {"type": "null"}])
        if rng.random() < 0.2:
            some["patternProperties"] = {"^[bc]": {"type": "string"}}
        return some

    def union() -> dict[str, Any]:
        return {rng.choice(["anyOf", "anyOf", "oneOf"]): [part() for _ in range(rng.randint(2, 5))]}

    before, after = union(), union()
    after["anyOf"] = after.pop("oneOf", after.get("anyOf"))
    if rng.random() < 0.5:
        after = {"oneOf": after["anyOf"]}
    old, new = (tokamata.json_schema(s, key_order="any") for s in (before, after))
    left = old - new
    valid = [jsonschema.Draft202012Validator(s) for s in (before, after)]
    values = [None, 1, "a", "b"]
    differ = False
    for keys in itertools.chain.from_iterable(itertools.combinations("abct", n) for n in range(4)):
        for chosen in itertools.product(values, repeat=len(keys)):
            value = dict(zip(keys, chosen, strict=True))
            wanted = valid[0].is_valid(value) and not valid[1].is_valid(value)
            differ = differ or wanted
            assert left.accepts(json.dumps(value)) == wanted, (seed, before, after, value)
    found = old.difference_example(new)
    assert found is not None or not differ
    if found is not None:
        assert valid[0].is_valid(json.loads(found)), (seed, before, after, found)
        assert not valid[1].is_valid(json.loads(found)), (seed, before, after, found)


@pytest.mark.parametrize("keys", [2, 3, 6, 30])
@pytest.mark.parametrize("required", [[], [""], ["a"]], ids=str)
def test_the_shorter_of_objects_and_strings(required: list[str], keys: int) -> None:
    """What is known of an object's length is no more than it has: else a longer string would be found first."""
    names = list(dict.fromkeys([*required, "", *string.ascii_letters]))[:keys]
    shortest = len(json.dumps(dict.fromkeys(names, 0), separators=(",", ":")))
    nothing = tokamata.json_schema({"type": "null"})
    for longer in (-1, 1):
        text = {"type": "string", "minLength": shortest + longer - 2}
        record = {"type": "object", "required": required, "minProperties": keys}
        found = tokamata.json_schema({"anyOf": [text, record]}).difference_example(nothing)
        assert found is not None
        assert found.startswith(b"{" if longer > 0 else b'"')
        assert len(found) == shortest + min(longer, 0)
