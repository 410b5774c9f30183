"""Tool calls whose arguments are written one by one: samples are valid and read back, what is valid is allowed."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema
import pytest
from oracle.tool_texts import BY_PARAMETERS, bare, calls_text
from tokamata.constraints.tool_format import TOOL_FORMATS

from tokamata import ConstraintError, ParameterFormat, ToolCall, ToolFormat, UnsupportedError, tools

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"$ref": "#/$defs/city"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["C", "F"]},
        "note": {"type": ["string", "null", "integer"]},
        "where": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"city": {"type": "string", "maxLength": 20}},
}
STRINGS = {"city", "unit"}
DEFINITIONS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "now"}},
]
SCHEMAS = {"get_weather": WEATHER, "now": {"maxProperties": 0}}
VALIDATORS = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


def values(rng: random.Random) -> dict[str, Any]:
    texts = [
        "",
        "Paris",
        "3",
        "null",
        " x ",
        "a\nb",
        "<b>",
        '"q"',
        "{",
        "1 < 2",
        "é🦜",
        "</param",
        "-Infinity",
        "true ",
    ]
    found = {
        "city": rng.choice(texts),
        "days": rng.randint(1, 14),
        "unit": rng.choice("CF"),
        "note": rng.choice([None, 7, *texts]),
        "where": {"lat": rng.choice([0, -1.5]), rng.choice(texts) + "k": rng.choice([texts, None])},
        "tags": rng.sample(texts, rng.randint(0, 3)),
    }
    return {key: value for key, value in found.items() if key == "city" or rng.random() < 0.6}


@pytest.mark.parametrize("convention", BY_PARAMETERS)
def test_what_is_valid_is_allowed_and_read(convention: str) -> None:
    made = tools(DEFINITIONS, convention)
    rng = random.Random(convention)
    for _ in range(150):
        calls = [("get_weather", values(rng)) if rng.random() < 0.8 else ("now", {}) for _ in range(rng.randint(1, 3))]
        text = rng.choice(["", "Let me see.\n"]) + calls_text(convention, calls, STRINGS)
        reply = made.parse(text)
        assert [(call.name, call.arguments) for call in reply.calls] == calls, text


@pytest.mark.parametrize("convention", BY_PARAMETERS)
@pytest.mark.parametrize("key_order", ["schema", "any", "sorted"])
def test_samples_are_valid(convention: str, key_order: Any) -> None:
    made = tools(DEFINITIONS, convention, tool_choice="required", key_order=key_order)
    marks = TOOL_FORMATS[convention].parameter.reserved  # type: ignore[union-attr]
    names = set()
    for sample in made.examples(150, seed=5):
        reply = made.parse(sample)
        for call in reply.calls:
            VALIDATORS[call.name].validate(call.arguments)
            names |= set(call.arguments)
            assert not any(mark in value for value in strings_of(call.arguments) for mark in marks)
            if key_order == "sorted":
                assert list(call.arguments) == sorted(call.arguments)
        if float("inf") in map(abs, numbers_of([call.arguments for call in reply.calls])):
            continue  # 1e400, which json.dumps cannot write
        again = calls_text(convention, [(call.name, call.arguments) for call in reply.calls], STRINGS)
        assert made.parse(again) == reply
    assert names > {"city", "days", "note"}


def strings_of(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.items() for part in item for text in strings_of(part)]
    return [text for item in value for text in strings_of(item)] if isinstance(value, list) else []


def numbers_of(value: Any) -> list[float]:
    if isinstance(value, (int, float)):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [number for item in inside for number in numbers_of(item)]


@pytest.mark.parametrize("convention", BY_PARAMETERS)
def test_what_is_not_valid_is_refused(convention: str) -> None:
    made = tools(DEFINITIONS, convention)

    def accepts(**arguments: Any) -> bool:
        return made.accepts(calls_text(convention, [("get_weather", arguments)], STRINGS))

    mark = TOOL_FORMATS[convention].parameter.reserved[-1]  # type: ignore[union-attr]
    assert accepts(city="Paris")
    assert accepts(city="Paris", where={"lat": 1, mark[:-1]: 1}, tags=[mark[:-1]])
    assert not accepts()
    assert not accepts(city="Llanfairpwllgwyngyllgogerych")
    assert not accepts(city="Paris", days=15)
    assert not accepts(city="Paris", days="3")
    assert not accepts(city="Paris", more=1)
    assert not accepts(city="Paris", unit="K")
    assert not accepts(city=mark)
    assert not accepts(city="Paris", note=mark)
    assert not accepts(city="Paris", tags=[f"a{mark}"])
    assert not accepts(city="Paris", where={"lat": 1, mark: 1})
    assert not accepts(city="Paris", where={"lon": 1})
    text = calls_text(convention, [("get_weather", {"city": "Paris", "unit": "C"})], STRINGS)
    swapped = calls_text(convention, [("get_weather", {"unit": "C", "city": "Paris"})], STRINGS)
    assert made.accepts(text)
    assert not made.accepts(swapped)
    assert tools(DEFINITIONS, convention, key_order="any").accepts(swapped)
    twice = text.replace("unit", "city").replace("C", "X")
    assert not made.accepts(twice)
    assert not tools(DEFINITIONS, convention, key_order="any").accepts(twice)
    escaped = json.dumps({"lat": 1, "k": mark}).replace("<", "\\u003c")
    inside = calls_text(convention, [("get_weather", {"city": "Paris", "where": 5})], STRINGS)
    assert made.accepts(inside.replace("5", '{"lat": 1}'))
    assert not made.accepts(inside.replace("5", escaped))  # in no spelling


def test_a_text_has_one_value() -> None:
    """Strings stand in quotes exactly where they might be read as something else."""
    mixed = {"type": "object", "properties": {"x": {"type": ["string", "integer", "boolean", "null", "array"]}}}
    made = tools([{"name": "f", "parameters": mixed}], "glm-4.7", tool_choice="required")
    before, after = "<tool_call>f<arg_key>x</arg_key><arg_value>", "</arg_value></tool_call>"
    for text in [
        "",
        "3",
        "-3",
        "3.5",
        "3x",
        "null",
        "nul",
        " true",
        "True",
        "[",
        "[1]",
        '"',
        "x[",
        "NaN",
        "1e5",
        "-",
        "\t",
    ]:
        quoted = before + json.dumps(text) + after
        assert made.accepts(quoted) == (bare(text) != text), text
        if made.accepts(quoted):
            assert made.parse(quoted).calls[0].arguments == {"x": text}
        if made.accepts(before + text + after):
            value = made.parse(before + text + after).calls[0].arguments["x"]
            assert value == (json.loads(text) if text in ("3", "-3", "null", "[1]") else text)
        else:
            assert bare(text) != text
    assert made.parse(before + "[]" + after).calls == (ToolCall("f", {"x": []}),)
    strings = {"type": "object", "properties": {"x": {"type": "string"}}}
    made = tools([{"name": "f", "parameters": strings}], "glm-4.7")
    for text in ["", "3", "null", '"q"', "[", " "]:
        assert made.parse(before + text + after).calls[0].arguments == {"x": text}


def test_numbers_of_calls_are_their_identifiers() -> None:
    made = tools(DEFINITIONS, "kimi-k2")
    text = "So." + calls_text("kimi-k2", [("now", {}), ("get_weather", {"city": "Rome"})])
    assert made.parse(text).calls == (
        ToolCall("now", {}, "functions.now:0"),
        ToolCall("get_weather", {"city": "Rome"}, "functions.get_weather:1"),
    )
    assert made.accepts(text.replace("now:0", "now:12"))
    assert not made.accepts(text.replace("now:0", "now:012"))
    assert not made.accepts(text.replace("functions.now", "now"))
    assert not made.accepts(text.replace("now:0", "now"))


@pytest.mark.parametrize("convention", ["deepseek-v3", "deepseek-v3.1", "kimi-k2", *BY_PARAMETERS])
def test_marks_as_special_tokens(convention: str) -> None:
    made = tools(DEFINITIONS, convention, special=True, tool_choice="required")
    assert set(made.special_tokens) <= set(TOOL_FORMATS[convention].marks)
    for text in made.examples(20, seed=2):
        plain = text.replace(b"\xff", b"")
        assert made.parse(text).calls == made.parse(plain).calls
        assert tools(DEFINITIONS, convention, tool_choice="required").accepts(plain)


def test_what_is_said_of_several_parameters() -> None:
    def parameters(**more: Any) -> list[dict[str, Any]]:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, **more}
        return [{"name": "f", "parameters": schema}]

    holds = [
        {"maxProperties": 2},
        {"minProperties": 1, "required": ["a"]},
        {"propertyNames": {"maxLength": 1}},
        {"patternProperties": {"^[ab]$": {"type": ["string", "integer"]}}},
        {"unevaluatedProperties": False},
        {"dependentRequired": {"b": ["a"]}, "required": ["a"]},
        {"allOf": [{"properties": {"a": {"type": "number"}}}]},
    ]
    for more in holds:
        made = tools(parameters(**more), "qwen3-coder")
        assert made.accepts(calls_text("qwen3-coder", [("f", {"a": 1, "b": "x"})], {"b"}))
    refused = [
        {"minProperties": 1},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"dependentRequired": {"b": ["a"]}},
        {"allOf": [{"properties": {"a": {"minimum": 3}}}]},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
    ]
    for more in refused:
        keyword = sorted(more)[0]
        with pytest.raises(UnsupportedError, match=rf'at "/0/parameters/{keyword}".*one by one; say it of single'):
            tools(parameters(**more), "qwen3-coder")
        made = tools(parameters(**more), "qwen3-coder", lenient=True)
        widened = [entry.subject for entry in made.report if entry.status == "widened"]
        assert keyword in widened
        assert made.accepts(calls_text("qwen3-coder", [("f", {"b": "x"})], {"b"}))


def test_schemas_that_refer() -> None:
    root = {
        "$ref": "#/$defs/A~1rgs",
        "$defs": {"A/rgs": {"properties": {"x": {"$ref": "#/$defs/n"}}}, "n": {"const": 5}},
    }
    made = tools([{"name": "f", "parameters": root}], "glm-4.5", tool_choice="required")
    assert made.accepts(calls_text("glm-4.5", [("f", {"x": 5})]))
    assert not made.accepts(calls_text("glm-4.5", [("f", {"x": 6})]))
    places = {entry.place for entry in made.report}
    assert {"/0/parameters/$defs/A~1rgs/additionalProperties", "/0/parameters/$defs/n/const"} <= places | {
        "/0/parameters/$defs/A~1rgs/additionalProperties"
    }
    assert "/0/parameters/$defs/n/const" in places
    tree = {
        "type": "object",
        "properties": {"t": {"$ref": "#/$defs/t"}, "odd/na~me": {"$ref": "#/properties/t"}},
        "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}},
    }
    made = tools([{"name": "f", "parameters": tree}], "minimax-m2")
    assert made.accepts(calls_text("minimax-m2", [("f", {"t": [[], [[]]], "odd/na~me": [[]]})]))
    assert not made.accepts(calls_text("minimax-m2", [("f", {"t": [[], [[1]]]})]))


def test_parameters_without_values() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "array", "enum": ["a"]}, "y": {"type": "integer"}}}
    made = tools([{"name": "f", "parameters": schema}], "qwen3-coder")
    assert made.accepts(calls_text("qwen3-coder", [("f", {"y": 1})]))
    assert [(e.place, e.subject) for e in made.report if e.status == "empty"] == [("/0/parameters/properties/x", "x")]
    with pytest.raises(
        ConstraintError, match="at \"/0/parameters/properties/x\", the parameter 'x' of 'f': json_schema"
    ):
        tools([{"name": "f", "parameters": {**schema, "required": ["x"]}}], "qwen3-coder")
    for only in ("</parameter>", "a<parameter=b"):
        marked = {"type": "object", "properties": {"x": {"const": only}}, "required": ["x"]}
        with pytest.raises(ConstraintError, match="the parameter 'x' of 'f'"):
            tools([{"name": "f", "parameters": marked}], "qwen3-coder")


def test_loose_tools_have_their_parameters_with_any_values() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    made = tools([{"name": "f", "parameters": schema, "strict": False}], "minimax-m2")
    for arguments in [{}, {"x": "y"}, {"x": [None]}]:
        assert made.parse(calls_text("minimax-m2", [("f", arguments)])).calls[0].arguments == arguments
    assert not made.accepts(calls_text("minimax-m2", [("f", {"z": 1})]))
    assert tools([{"name": "f", "strict": False}], "minimax-m2").accepts(calls_text("minimax-m2", [("f", {})]))


def test_required_parameters_without_a_schema_of_their_own() -> None:
    schema = {"type": "object", "required": ["k"], "additionalProperties": {"type": "integer"}}
    made = tools([{"name": "f", "parameters": schema}], "glm-4.7")
    assert made.accepts(calls_text("glm-4.7", [("f", {"k": 1})]))
    assert not made.accepts(calls_text("glm-4.7", [("f", {"k": "a"})]))
    assert not made.accepts(calls_text("glm-4.7", [("f", {})]))


def test_names_that_begin_alike() -> None:
    schema = {"type": "object", "properties": {"a": True, "ab": True}}
    definitions = [{"name": name, "parameters": schema} for name in ("go", "go-on", "g")]
    for convention in BY_PARAMETERS:
        made = tools(definitions, convention)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("go", {"a": 1}),
            ("go-on", {"ab": "x"}),
            ("g", {}),
            ("go-on", {"a": 2, "ab": 3}),
        ]
        assert [(c.name, c.arguments) for c in made.parse(calls_text(convention, calls)).calls] == calls


def test_errors_name_the_place() -> None:
    def f(schema: Any) -> list[dict[str, Any]]:
        return [{"name": "f", "parameters": schema}]

    many = {"type": "object", "properties": {f"p{i}": True for i in range(11)}}
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (
            {"type": "array"},
            {},
            ConstraintError,
            "at \"/0/parameters\", the schema of 'f': expected a schema that allows",
        ),
        (False, {}, ConstraintError, "expected a schema that allows an object"),
        ({"$ref": "#/$defs/x"}, {}, ConstraintError, "#/$defs/x"),
        ({"properties": []}, {}, ConstraintError, "expected properties as an object and required as a list of texts"),
        (
            {"properties": {"a>\nb": {}}},
            {},
            UnsupportedError,
            "the name 'a>\\nb' cannot be told from what stands around",
        ),
        (
            {"properties": {"x": {"type": 3}}},
            {},
            ConstraintError,
            "at \"/0/parameters/properties/x\", the parameter 'x'",
        ),
        (many, {"key_order": "any"}, UnsupportedError, 'key_order="any" takes at most 10 parameters that are written'),
    ]
    for schema, options, kind, text in cases:
        with pytest.raises(kind, match=re.escape(text)):
            tools(f(schema), "qwen3-coder", **options)
    for text in ["<tool_call>\n<function=f>\n<parameter=y>\n", "<tool_call>\n<function=f>\n<parameter=x>\n1"]:
        with pytest.raises(ConstraintError, match="at character"):
            tools(f({"properties": {"x": {}}}), "qwen3-coder").parse(text)


def test_formats_of_ones_own() -> None:
    written = ParameterFormat("[", "=", "]", reserved=("]",))
    form = ToolFormat(before="CALL ", middle="(", after=")", parameter=written, quoted=False, trigger="CALL ")
    schema = {"type": "object", "properties": {"x": {"type": "string"}, "n": {"type": "integer"}}}
    made = tools([{"name": "f", "parameters": schema}], form)
    assert made.parse("CALL f([x=a b][n=3])").calls == (ToolCall("f", {"x": "a b", "n": 3}),)
    assert not made.accepts("CALL f([x=a]b][n=3])")
    with pytest.raises(ConstraintError, match="and a reserved phrase in what comes after, got"):
        ParameterFormat("[", "=", "]", reserved=("}",))
    with pytest.raises(ConstraintError, match="begin neither before nor within ']>', but for whole ones, got 'a]'"):
        ParameterFormat("[", "=", "]>", reserved=("]>", "a]"))
    with pytest.raises(ConstraintError, match="expected names without quotes beside the scope"):
        ToolFormat(before="a", middle="b", after="c", trigger="a", scope="s.")


@pytest.mark.parametrize("convention", [*BY_PARAMETERS, "hermes"])
def test_numbers_of_schemas_as_texts_stay_as_they_are_written(convention: str) -> None:
    fine, rounded = "0.1000000000000000000001", "0.1"
    for draft in ("", '"$schema": "http://json-schema.org/draft-07/schema#", '):
        schema = f'{{{draft}"type": "object", "required": ["x"], "properties": {{"x": {{"enum": [{fine}, 7]}}}}}}'
        made = tools([{"name": "f", "parameters": schema}], convention, tool_choice="required")
        written = calls_text(convention, [("f", {"x": 7})], set())
        assert made.accepts(written)
        assert made.accepts(written.replace("7", fine))
        assert not made.accepts(written.replace("7", rounded))


def test_texts_that_are_no_schema() -> None:
    for text in ("{", '{"type": "object", "type": "object"}'):
        with pytest.raises(ConstraintError, match=r"JSON|twice"):
            tools([{"name": "f", "parameters": text}], "qwen3-coder")
