"""The front end of JSON Schema: sources, options, errors, reports."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pydantic
import pytest

import tokamata


class Item(pydantic.BaseModel):
    name: str
    tags: list[str] = []


@dataclasses.dataclass
class Point:
    x: int
    y: int


def test_schemas_of_all_kinds() -> None:
    for schema in (Item, pydantic.TypeAdapter(Item), Item.model_json_schema(), json.dumps(Item.model_json_schema())):
        constraint = tokamata.json_schema(schema)
        assert constraint.accepts(Item(name="a", tags=["b"]).model_dump_json())
        assert constraint.accepts('{"name": "a"}')
        assert not constraint.accepts('{"tags": []}')
    assert tokamata.json_schema(Point).accepts('{"x": 1, "y": 2}')
    assert tokamata.json_schema(True).accepts("[null, {}]")
    with pytest.raises(tokamata.ConstraintError, match="contradict"):
        tokamata.json_schema(False)


@pytest.mark.parametrize(
    ("options", "yes", "no"),
    [
        ({"whitespace": "compact"}, ['{"a":1,"b":[2,3]}'], ['{"a": 1}', '{"a":1 }', '{"b":[2, 3]}']),
        ({"whitespace": "flexible"}, ['{"a": 1, "b": [2, 3]}', '{"a":1,"b":[2,3]}', '{\n  "a": 1\n}'], ['{"a":\n\n1}']),
        ({"whitespace": "pretty"}, ['{\n  "a": 1,\n  "b": [\n    2,\n    3\n  ]\n}', "{}"], ['{"a": 1}']),
        ({"whitespace": "any"}, [' {\t"a"\n:\r1 , "b" : [ 2,3 ] } '], ['{"a"\v:1}']),
        ({"whitespace": " {0,2}"}, ['{  "a" :1}'], ['{   "a":1}', '{\n"a":1}']),
        (
            {"key_order": "schema"},
            ['{"b": [], "c": 1}', '{"a": 1, "b": []}'],
            ['{"b": [], "a": 1}', '{"a": 1, "a": 1}'],
        ),
        ({"key_order": "any"}, ['{"b": [], "a": 1}', '{"c": 1, "a": 1}'], ['{"a": 1, "b": [], "a": 1}']),
        ({"key_order": "sorted"}, ['{"a": 1, "aa": 0, "b": []}'], ['{"b": [], "a": 1}', '{"a": 1, "b": [], "aa": 0}']),
        ({"strings": "any"}, [r'{"\u0061": 1}', '{"s": "\\u0041"}'], [r'{"\u0061": "x"}']),
        ({"strings": "canonical"}, ['{"a": 1, "s": "é"}'], [r'{"\u0061": 1}', r'{"s": "\u00e9"}']),
        ({"numbers": "canonical"}, ['{"a": 1}'], ['{"a": 1.0}', '{"a": 1e0}']),
        ({"numbers": "any"}, ['{"a": 1.0}', '{"a": 1e0}'], ['{"a": 1.5}']),
        ({"formats": True}, ['{"d": "2026-02-28"}'], ['{"d": "2026-02-30"}']),
        ({"formats": False}, ['{"d": "2026-13-30"}'], ['{"d": 1}']),
    ],
)
def test_options(options: dict[str, Any], yes: list[str], no: list[str]) -> None:
    schema = {
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "array", "items": {"type": "integer"}},
            "d": {"type": "string", "format": "date"},
        }
    }
    constraint = tokamata.json_schema(schema, **options)
    for text in yes:
        assert constraint.accepts(text), text
    for text in no:
        assert not constraint.accepts(text), text


def test_flexible_white_space_is_that_of_json_dumps() -> None:
    constraint = tokamata.json_schema(True)
    documents: list[object] = [
        {},
        [],
        "a",
        {"a": 1},
        [1, 2],
        [[], {}],
        {"a": {"b": [1, {"c": []}]}, "d": [[1], {}, [2, 3]]},
    ]
    for document in documents:
        for indent in (None, *range(9), "\t"):
            for comma, colon in itertools.product((",", ", ", " ,", " , "), (":", ": ", " : ")):
                text = json.dumps(document, indent=indent, separators=(comma, colon))
                refused = " ," in text or " :" in text or ", \n" in text
                assert constraint.accepts(text) != refused, text
    for depth, expected in ((51, True), (52, False)):  # lines begin with up to 100 blanks
        text = json.dumps(json.loads("[" * depth + "]" * depth), indent=2)
        assert constraint.accepts(text) == expected, depth


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key_order": "alphabetical"}, 'expected key_order "schema", "any" or "sorted", got \'alphabetical\''),
        ({"strings": 1}, 'expected strings "any" or "canonical", got 1'),
        ({"numbers": "exact"}, 'expected numbers "canonical" or "any"'),
        ({"whitespace": "tight"}, "a regular expression that matches white space only, got 'tight', which matches"),
        ({"whitespace": "( "}, "or a regular expression that matches white space only, got '( ': regex:"),
    ],
)
def test_options_that_do_not_exist_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        tokamata.json_schema(True, **options)
    assert message in str(caught.value)


def test_registries_and_metaschemas() -> None:
    constraint = tokamata.json_schema(
        {"items": {"$ref": "http://example.com/item"}, "type": "array"},
        registry={"http://example.com/item": {"type": "string", "maxLength": 2}},
    )
    assert constraint.accepts('["ab", ""]')
    assert not constraint.accepts('["abc"]')
    with pytest.raises(tokamata.ConstraintError, match=r"pass registry="):
        tokamata.json_schema({"$ref": "http://example.com/item"}).accepts("1")
    reference = {"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}
    assert tokamata.json_schema(reference).accepts("3")
    assert not tokamata.json_schema(reference).accepts("-3")


@pytest.mark.parametrize("first", ["additionalItems", "prefixItems", "items"])
@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2020-12/schema"]
)
def test_item_keywords_of_other_drafts_say_nothing(first: str, draft: str) -> None:
    old = "draft-07" in draft
    items: Any = {"additionalItems": False, "items": {"type": "string"}, "prefixItems": [{"type": "null"}]}
    schema = {"$schema": draft, first: items[first], **items}
    constraint = tokamata.json_schema(schema)
    assert constraint.accepts('["a", "b"]') == old
    assert constraint.accepts('[null, "b"]') != old
    assert not constraint.accepts("[1, 1]")


LISTED = [
    {"items": [{"type": "integer"}, {"type": "string"}]},
    {"items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False},
    {"additionalItems": {"type": "boolean"}, "items": [{"type": "integer"}]},
    {"additionalItems": False, "items": {"type": "integer"}},
    {"items": {"type": "integer"}, "additionalItems": False},
    {"additionalItems": False},
    {"items": [True, {"items": [{"const": 1}]}], "unevaluatedItems": False},
    {"not": {"items": [{"const": 1}], "additionalItems": False}},
]


@pytest.mark.parametrize("named", [{}, {"$schema": "http://example.com/unknown"}])
@pytest.mark.parametrize("schema", LISTED)
def test_lists_of_items_mean_what_they_meant_where_no_draft_is_named(
    schema: dict[str, Any], named: dict[str, Any]
) -> None:
    constraint = tokamata.json_schema({**named, "type": "array", **schema})
    check = jsonschema.Draft201909Validator({"type": "array", **schema})
    rng, found = random.Random(5), set()
    for _ in range(200):
        value = [rng.choice([1, 2, "x", True, [1], [2]]) for _ in range(rng.randrange(4))]
        valid = check.is_valid(value)
        assert constraint.accepts(json.dumps(value)) == valid, value
        found.add(valid)
    assert True in found
    noted = any(e.subject == "items" and "as drafts up to 2019-09 have it" in e.detail for e in constraint.report)
    assert noted == ('"items": [' in json.dumps(schema))


def test_additional_items_beside_no_list_may_refer_to_nothing() -> None:
    schema = {"type": "array", "additionalItems": {"$ref": "#/nothing"}, "items": {"type": "integer"}}
    assert tokamata.json_schema(schema).accepts("[1, 2]")
    with pytest.raises(
        tokamata.ConstraintError, match=r'at "/additionalItems/\$ref": the reference "#/nothing" leads to'
    ):
        tokamata.json_schema({**schema, "items": [True]})


@pytest.mark.parametrize(
    "high", [{}, {"maximum": 4}, {"maximum": 4, "exclusiveMaximum": True}, {"exclusiveMaximum": 4}]
)
@pytest.mark.parametrize(
    "low",
    [{"exclusiveMinimum": True}, {"exclusiveMinimum": True, "minimum": 1}, {"minimum": 1, "exclusiveMinimum": False}],
)
def test_booleans_as_exclusive_bounds_mean_what_they_meant_in_draft_4(
    low: dict[str, Any], high: dict[str, Any]
) -> None:
    constraint = tokamata.json_schema({"type": "integer", **low, **high})
    for value in range(-1, 7):
        valid = jsonschema.Draft4Validator({"type": "integer", **low}).is_valid(value)
        if high.get("exclusiveMaximum") == 4:
            valid = valid and value < 4
        else:
            valid = valid and jsonschema.Draft4Validator({"type": "integer", **high}).is_valid(value)
        assert constraint.accepts(str(value)) == valid, value
    assert any(e.detail == "as drafts up to 4 have it, since $schema names none" for e in constraint.report)


def test_limits_are_passed_on() -> None:
    with pytest.raises(tokamata.LimitError):
        tokamata.json_schema({"pattern": "(a|b)*a(a|b){12}$"}, limits=tokamata.Limits(expression_nodes=30)).accepts(
            '"ab"'
        )


def test_reports_come_with_constraints() -> None:
    constraint = tokamata.json_schema({"title": "t", "type": "string", "format": "what"})
    assert [(entry.place, entry.status) for entry in constraint.report] == [
        ("/title", "annotation"),
        ("/type", "enforced"),
        ("/format", "ignored"),
    ]
    assert (constraint | tokamata.literal("x") | constraint).report == constraint.report * 2
    assert constraint.report is not None


def test_json_values() -> None:
    value = tokamata.json_value()
    deep = "[" * 300 + "]" * 300
    assert value.accepts(deep)
    assert value.accepts('{"a": [{"b": null}, 1.5e3, "x"]}')
    assert not value.accepts("[1,]")
    for depth in range(4):
        limited = tokamata.json_value(max_depth=depth)
        assert limited.accepts("[" * depth + "1" + "]" * depth)
        assert limited.accepts('{"a":' * depth + "1" + "}" * depth)
        assert not limited.accepts_prefix("[" * (depth + 1))
        assert not limited.accepts("[" * (depth + 1) + "]" * (depth + 1))
    with pytest.raises(ValueError, match="json_value: expected 0 <= max_depth <= 100000, got -1; pass"):
        tokamata.json_value(max_depth=-1)


def test_no_dead_end_where_a_rule_begins_with_an_intersection() -> None:
    constraint = tokamata.json_schema({"multipleOf": 2, "enum": [1, 123456789012345678901234567890]}, numbers="any")
    assert constraint.accepts("123456789012345678901234567890")
    assert not constraint.accepts_prefix("0")  # of 0.1e1, which is odd


def test_listed_numbers_are_written_as_they_are_or_as_integers() -> None:
    listed = tokamata.json_schema({"enum": [2.0, 3, 1e20, -0.0, -5.0]})
    members = ["2", "2.0", "3", "100000000000000000000", "1e+20", "0", "-0.0", "-5", "-5.0"]
    assert all(listed.accepts(text) for text in members)
    assert not any(listed.accepts(text) for text in ("3.0", "2.00", "2e0", "-0", "5"))
    assert tokamata.json_schema({"type": "integer", "const": 2.0}).examples(3) == [b"2"]


def test_cases_are_limited_as_asked() -> None:
    schema = {"enum": [{"a": i} for i in range(2500)]}
    with pytest.raises(
        tokamata.LimitError, match=r"limit schema_cases=2000 .*raise it: tokamata.Limits\(schema_cases=\.\.\.\)"
    ):
        tokamata.json_schema(schema)
    texts = tokamata.json_schema(schema, limits=tokamata.Limits(schema_cases=2500))
    assert texts.accepts('{"a": 2499}')
    assert not texts.accepts('{"a": 2500}')
    with pytest.raises(tokamata.LimitError, match="limit schema_cases=2499 "):
        tokamata.json_schema(schema, limits=tokamata.Limits(schema_cases=2499))


@pytest.mark.parametrize(
    ("grown", "document", "message"),
    [
        (
            {"allOf": [{"anyOf": [{"propertyNames": {"minLength": 4 * j + i}} for i in range(4)]} for j in range(12)]},
            {},
            r"limit schema_cases=2000 was reached at '/properties/x'",
        ),
        (
            {"type": "object", "allOf": [{"not": {"additionalProperties": {"minimum": i}}} for i in range(70)]},
            {"a": 1},
            r"limit owed=63 was reached at '/properties/x/allOf/69/not'",
        ),
        (
            {"type": "array", "allOf": [{"not": {"items": {"minimum": i}}} for i in range(70)]},
            [1],
            r"limit owed=63 was reached at '/properties/x/allOf/69/not'",
        ),
        (
            {"type": "array", "allOf": [{"contains": {"minimum": i}} for i in range(70)]},
            [1],
            r"limit contains=64 was reached at '/properties/x/allOf/69/contains'",
        ),
    ],
)
def test_limits_name_the_schema_that_grew(grown: dict[str, Any], document: Any, message: str) -> None:
    with pytest.raises(tokamata.LimitError, match=message):
        tokamata.json_schema({"properties": {"x": grown}}, key_order="any").accepts(json.dumps({"x": document}))


GROWING = {"type": "string", "pattern": "^(a|b)*a(a|b){12}c$"}


@pytest.mark.parametrize(
    ("schema", "document", "place"),
    [
        (GROWING, "", "the root"),
        ({"properties": {"y": {"properties": {"z": GROWING}}}}, {"y": {"z": ""}}, "'/properties/y/properties/z'"),
        ({"$defs": {"g": GROWING}, "items": {"$ref": "#/$defs/g"}}, [""], "'/$defs/g'"),
    ],
)
@pytest.mark.parametrize(("limit", "value"), [("expression_nodes", 2000), ("states", 8)])
def test_limits_of_states_name_the_schema_that_is_read(
    schema: Any, document: Any, place: str, limit: str, value: int
) -> None:
    constraint = tokamata.json_schema(schema, limits=tokamata.Limits(**{limit: value}))
    vocabulary = tokamata.Vocabulary([bytes([b]) for b in range(256)] + [b"ab" * 20, None], eos_token_ids=[257])
    text = json.dumps(document).replace('""', '"ab')
    state = tokamata.compile(constraint, vocabulary).start()

    def write() -> None:
        rng = random.Random(0)
        for byte in text[: text.index('"ab') + 3].encode():
            state.advance(byte)
        for _ in range(2000):
            state.mask()
            state.advance(rng.choice(b"ab"))

    with pytest.raises(tokamata.LimitError, match=rf"limit {limit}={value} was reached at {re.escape(place)} \("):
        write()


def test_limits_that_are_reached_at_once_name_the_schema() -> None:
    long = "|".join(f"a{{{i}}}b{{{j}}}" for i in range(60) for j in range(60))
    with pytest.raises(tokamata.LimitError, match="expression_nodes=4000 was reached at '/properties/q/pattern'"):
        tokamata.json_schema({"properties": {"q": {"pattern": long}}}, limits=tokamata.Limits(expression_nodes=4000))
    hard = {"type": "string", "pattern": "(a|b)*a(a|b){200}c", "not": {"pattern": "(a|b)*a(a|b){300}"}}
    inner = {"type": "object", "properties": {"q": hard}, "required": ["q"]}
    schema = {"properties": {"r": inner}, "required": ["r"], "type": "object"}
    with pytest.raises(tokamata.LimitError, match="emptiness=300 was reached at '/properties/r/properties/q'"):
        tokamata.json_schema(schema, limits=tokamata.Limits(emptiness=300))


def test_time_ends_what_looks_at_every_pair_of_branches() -> None:
    """Each pair takes long, and is not decided; the time is that of all of them, not of each."""
    branches = [{"pattern": f"x{i}y"} for i in range(1900)]
    with pytest.raises(tokamata.LimitError, match=r"limit seconds=0\.1 was reached at the root"):
        tokamata.json_schema({"oneOf": branches}, limits=tokamata.Limits(seconds=0.1))


def test_integers_of_draft_4_have_neither_fraction_nor_exponent() -> None:
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 1}
    draft6 = {"$schema": "http://json-schema.org/draft-06/schema#", "type": "integer", "minimum": 1}
    for text in ("1", "12", "1.0", "1e2", "10e-1", "0", "01"):
        spelled = text in ("1", "12")
        by_value = spelled or text in ("1.0", "1e2", "10e-1")
        assert tokamata.json_schema(draft4, numbers="any").accepts(text) == spelled, text
        assert tokamata.json_schema(draft6, numbers="any").accepts(text) == by_value, text
    numbers = {"$schema": draft4["$schema"], "type": "number", "not": {"type": "integer"}}
    assert tokamata.json_schema(numbers, numbers="any").accepts("1.0")
    assert tokamata.json_schema({"$schema": draft4["$schema"], "enum": [1]}, numbers="any").accepts("1.0")


def test_report_of_exponents() -> None:
    def narrowed(schema: Any, **options: Any) -> bool:
        report = tokamata.json_schema(schema, **options).report
        return any((e.subject, e.status) == ("numbers", "narrowed") for e in report)

    assert narrowed({"minimum": 1}, numbers="any")
    assert not narrowed({"minimum": 1})
    assert not narrowed({"minLength": 1}, numbers="any")
    bounded = tokamata.json_schema({"type": "number", "minimum": 1}, numbers="any")
    assert bounded.accepts("1.5e10")
    assert not bounded.accepts("15e9")
    assert tokamata.json_schema({"type": "number"}, numbers="any").accepts("15e9")


def test_what_is_no_integer_has_a_fraction_that_is_not_zero() -> None:
    """From draft 6 on 1.0 is an integer, so that it is none of the numbers that are no integers."""
    texts = ["1", "1.0", "-10.00", "0.0", "-0.0", "1.5", "12.50", "1e-07", "0.001", "-2.25"]
    for schema in (
        {"type": "number", "not": {"type": "integer"}},
        {"oneOf": [{"type": "number"}, {"type": ["integer", "null"]}]},
        {"if": {"type": "integer"}, "then": False, "else": {"type": "number"}},
    ):
        for numbers in ("canonical", "any"):
            made = tokamata.json_schema(schema, numbers=numbers)  # type: ignore[arg-type]
            for text in texts:
                assert made.accepts(text) == (float(text) % 1 != 0), (schema, numbers, text)
    assert tokamata.json_schema(
        {"$schema": "http://json-schema.org/draft-04/schema#", "not": {"type": "integer"}}
    ).accepts("1.0")


@pytest.mark.parametrize(
    "step",
    [
        lambda below: {"allOf": [below, below]},
        lambda below: {"anyOf": [below, {"allOf": [below]}]},
        lambda below: {"oneOf": [below, {"not": below}]},
        lambda below: {"not": {"anyOf": [{"not": below}, {"not": below}]}},
        lambda below: {"if": below, "then": below, "else": below},
        lambda below: {**below, "allOf": [below], "unevaluatedProperties": True},
        lambda below: {"type": "object", "dependentSchemas": {"a": below, "b": below}},
    ],
)
def test_schemas_that_are_shared_are_evaluated_once(step: Callable[[Any], Any]) -> None:
    """Each level leads to the next one twice or more: 40 of them end at once."""
    levels = {str(i): step({"$ref": f"#/$defs/{i + 1}"}) for i in range(40)}
    schema = {"$ref": "#/$defs/0", "$defs": {**levels, "40": {"properties": {"q": {"type": "integer"}}}}}
    constraint = tokamata.json_schema(schema, limits=tokamata.Limits(search_seconds=2))
    assert constraint.accepts('{"q": 1}')
    assert not any(entry.status == "empty" for entry in constraint.report if entry.place == "")
    inline: Any = {"required": ["q"]}
    for _ in range(40):
        inline = {"if": inline, "then": {"maxProperties": 3}}
    assert tokamata.json_schema(inline).accepts('{"q": 1}')
    wide = {str(i): {"allOf": [{"$ref": f"#/$defs/{i + 1}"}] * 9} for i in range(20)}
    listed = {"$ref": "#/$defs/0", "$defs": {**wide, "20": {"uniqueItems": True, "type": "array"}}}
    assert tokamata.json_schema(listed).accepts("[1, 2]")


@pytest.mark.parametrize("beside", [{"maxLength": 20}, {"pattern": "^2024"}, {"pattern": "Z$"}, {"not": {"const": ""}}])
@pytest.mark.parametrize("strings", ["any", "canonical"])
def test_moments_meet_other_conditions_without_looking_at_all_of_them(beside: dict[str, Any], strings: Any) -> None:
    schema = {"type": "string", "format": "date-time", **beside}
    constraint = tokamata.json_schema(schema, strings=strings, limits=tokamata.Limits(seconds=0.15))
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    state = tokamata.compile(constraint, vocabulary).start()
    for byte in b'"2024-02-29T23:59:60Z"':
        assert state.allows(byte)
        assert state.mask()[byte >> 5] >> (byte & 31) & 1
        state.advance(byte)
    assert state.is_final


def test_many_elements_that_contains_asks_for() -> None:
    """They are counted, not looked at one inside of the other."""
    for schema in ({"contains": {}, "minContains": 10**6}, {"contains": {"type": "integer"}, "minContains": 100_000}):
        constraint = tokamata.json_schema(schema)
        assert constraint.accepts("5")
        assert not constraint.accepts("[1, 2]")
        assert constraint.accepts_prefix("[1, 2")
    constraint = tokamata.json_schema({"contains": {"type": "integer"}, "minContains": 300, "items": {"minimum": 1}})
    assert constraint.accepts(json.dumps([1] * 300 + ["a"]))
    assert not constraint.accepts(json.dumps([1] * 299 + ["a"]))
    with pytest.raises(tokamata.ConstraintError, match="'/minContains'"):
        tokamata.json_schema({"type": "array", "contains": {"type": "null"}, "minContains": 3, "maxItems": 2})
    both = {"contains": {"type": "integer"}, "minContains": 5000, "maxContains": 6000}
    with pytest.raises(tokamata.LimitError, match=r"the limit ahead=3000 was reached at '/contains'"):
        tokamata.json_schema(both).accepts("[1]")
    assert tokamata.json_schema({**both, "minContains": 1000}).accepts(json.dumps([1] * 1000))


def test_combinations_of_what_one_element_settles() -> None:
    """They are as many as there are lengths, not two to the power of that."""
    many = [{"contains": {"minLength": length}} for length in range(24)]
    constraint = tokamata.json_schema({"type": "array", "items": {"type": "string"}, "allOf": many})
    assert constraint.accepts(json.dumps(["a", "a" * 23]))
    assert not constraint.accepts(json.dumps(["a", "a" * 22]))
