"""yaml_schema: PyYAML reads what is allowed, to values that the schema accepts; and what PyYAML writes is allowed."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema
import pytest
import yaml
from oracle import mask_walk, maskbench
from oracle.yaml_schema_random import (
    TEXTS,
    StrictLoader,
    beyond_floats,
    dumped,
    plain_integers,
    random_text,
    random_value,
    run,
)

import tokamata

BYTES = tokamata.Vocabulary([bytes([b]) for b in range(256)] + [None], eos_token_ids=[256])
BREAKS = set("\n\x85\u2028\u2029")
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z:# -]*$"}, "maxItems": 3},
        "place": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
            "required": ["x", "y"],
            "additionalProperties": False,
        },
        "kind": {"enum": ["yes", "no", "maybe", 1, None, [1, [2, []]], {"a": {}}]},
        "since": {"type": "string", "format": "date"},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
TREE: dict[str, Any] = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "next": {"$ref": "#/$defs/node"},
            },
            "required": ["value"],
            "additionalProperties": False,
        }
    },
}


def read(text: bytes) -> Any:
    return yaml.load(text.decode(), StrictLoader)


def texts_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for part in (*value, *value.values()) for text in texts_of(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts_of(part)]
    return [value] if isinstance(value, str) else []


def keys_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for part in value.values() for key in keys_of(part))]
    return [key for part in value for key in keys_of(part)] if isinstance(value, list) else []


def walk(state: tokamata.DecodeState, rng: random.Random) -> bytes:
    """Random bytes that the masks allow, up to the end."""
    text = bytearray()
    while True:
        allowed = mask_walk.allowed(state.mask())
        assert allowed, f"no way on after {bytes(text)!r}"
        ascii_ones = [token for token in allowed if token < 128] if rng.random() < 0.9 else []
        token = rng.choice(ascii_ones or allowed)
        state.advance(token)
        if state.is_finished:
            return bytes(text)
        text.append(token)


@pytest.mark.parametrize("draft", ["7", "2020-12"])
def test_random_schemas(draft: str) -> None:
    counts, wrong = run(draft, range(250))
    assert wrong == []
    assert counts["samples"] > 1000
    assert counts["valid"] > 100
    assert counts["invalid"] > 100
    assert counts["refused"] < 5


@pytest.mark.slow
@pytest.mark.parametrize("draft", ["4", "6", "7", "2019-09", "2020-12"])
def test_many_random_schemas(draft: str) -> None:
    assert run(draft, range(1000, 3000))[1] == []


def test_maskbench_sample() -> None:
    data = maskbench.find()
    if data is None:
        pytest.skip("the files are not part of the project: set TOKAMATA_DATA to the folder that has them")
    counts = {"same": 0, "read": 0, "limited": 0}
    for name, text in list(maskbench.read(data))[::50]:
        content = json.loads(text)
        try:
            constraint = tokamata.yaml_schema(content["schema"], key_order="any")
            in_order = tokamata.yaml_schema(content["schema"])
            like = tokamata.json_schema(content["schema"], key_order="any")
        except (tokamata.UnsupportedError, tokamata.ConstraintError):
            continue
        for value in [plain_integers(test["data"]) for test in content["tests"]]:
            if all(0 < len(key) <= 100 and not BREAKS & set(key) for key in keys_of(value)):
                assert constraint.accepts(dumped(value)) == like.accepts(json.dumps(value)), (name, value)
                counts["same"] += 1
        try:
            examples = in_order.examples(1)
        except tokamata.LimitError:  # many optional members, each in several spellings: too many states to look through
            counts["limited"] += 1
            continue
        for example in examples:
            value = yaml.safe_load(example.decode())
            if not beyond_floats(value):
                assert like.accepts(json.dumps(value)), (name, example)
                counts["read"] += 1
    assert counts["same"] > 100
    assert counts["read"] > 20
    assert counts["limited"] <= 3


def test_texts_are_written_so_that_they_are_read_as_strings() -> None:
    seed = 5
    rng = random.Random(seed)
    for text in [*TEXTS, *(random_text(rng) for _ in range(150))]:
        constraint = tokamata.yaml_schema({"const": text})
        for example in constraint.examples(6, seed=rng.randrange(1000)):
            assert yaml.safe_load(example.decode()) == text, (seed, text, example)
        key = tokamata.yaml_schema(
            {"type": "object", "required": [text], "properties": {text: {"const": text}}, "maxProperties": 1}
        )
        for example in key.examples(6, seed=rng.randrange(1000)):
            assert yaml.safe_load(example.decode()) == {text: text}, (seed, text, example)
        if "\n" in text:  # written in several lines
            continue
        for unicode in (False, True) if not set(text) & BREAKS else (False,):
            assert constraint.accepts(dumped(text, allow_unicode=unicode)), (seed, text)
            if text and not set(text) & BREAKS:  # otherwise written as an explicit key
                assert key.accepts(dumped({text: text}, allow_unicode=unicode)), (seed, text)


def test_any_line_of_text_means_the_same_to_pyyaml() -> None:
    seed = 6
    rng = random.Random(seed)
    strings = tokamata.yaml_schema({"type": "string"})
    values = tokamata.yaml_schema({"type": ["boolean", "null", "integer"]})
    for _ in range(4000):
        text = random_text(rng).replace("\n", " ")
        try:
            value = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError):
            value = None
        if strings.accepts(text):
            assert isinstance(value, str), (seed, text)
        if values.accepts(text):
            assert value is None or isinstance(value, (bool, int)), (seed, text)


def test_dumps_of_random_values_are_allowed() -> None:
    seed = 7
    rng = random.Random(seed)
    anything = tokamata.yaml_schema(True)
    asked = 0
    for _ in range(400):
        value = random_value(rng, 4)
        if any(not key or BREAKS & set(key) for key in keys_of(value)):  # written as explicit keys
            continue
        unusual = BREAKS - {"\n"} & set("".join(texts_of(value)))  # written raw with allow_unicode
        for text in [dumped(value)] + [dumped(value, allow_unicode=True)] * (not unusual):
            assert anything.accepts(text), (seed, text)
            assert anything.accepts(text.removesuffix("\n")), (seed, text)
            asked += 1
    assert asked > 400


@pytest.mark.parametrize("schema", [PERSON, TREE, True, {"items": {"type": "string", "maxLength": 3}, "type": "array"}])
@pytest.mark.parametrize("max_depth", [0, 2, 16])
def test_masks_lead_to_valid_documents(schema: Any, max_depth: int) -> None:
    automaton = tokamata.compile(tokamata.yaml_schema(schema, max_depth=max_depth), BYTES)
    rng = random.Random(f"{max_depth}")
    for most in (40, 80, 200):
        for _ in range(3):
            text = walk(automaton.start(max_tokens=most), rng)
            assert len(text) < most
            jsonschema.validate(yaml.safe_load(text.decode()), schema)
            if schema is True:  # strings of several lines may begin with spaces
                continue
            depth = max((len(line) - len(line.lstrip(" "))) // 2 for line in text.decode().split("\n"))
            assert depth <= max_depth


def test_layout() -> None:
    value = {"name": "Ann", "age": 3, "tags": ["a", "b: c"], "place": {"x": 1.5, "y": -2}, "kind": [1, [2, []]]}
    flush = "name: Ann\nage: 3\ntags:\n- a\n- 'b: c'\nplace:\n  x: 1.5\n  y: -2\nkind:\n- 1\n- - 2\n  - []\n"
    indented = (
        "name: Ann\nage: 3\ntags:\n  - a\n  - 'b: c'\nplace:\n  x: 1.5\n  y: -2\nkind:\n  - 1\n  - - 2\n    - []\n"
    )
    assert flush == dumped(value)
    assert yaml.safe_load(indented) == value
    for sequences, yes, no in [("flush", flush, indented), ("indented", indented, flush)]:
        constraint = tokamata.yaml_schema(PERSON, sequences=sequences)  # type: ignore[arg-type]
        assert constraint.accepts(yes)
        assert constraint.accepts(yes[:-1])
        assert not constraint.accepts(no)
    both = tokamata.yaml_schema(PERSON)
    assert both.accepts(flush)
    assert both.accepts(indented)
    for wrong in [
        "name: Ann\n age: 3",
        "name: Ann\nage: 3\n\n",
        "name:  Ann\nage: 3",
        "name: Ann\nage: 3\ntags:\n - a",
        "name: Ann\nage: 3\ntags: [a]",
        "name: Ann\nage: 3\nplace: {x: 1, y: 2}",
        "name: Ann\nage: 3\nplace:\n  x: 1",
        "name: Ann\nage: 3\nplace:\n    x: 1\n    y: 2",
        "name: Ann\nage: 3\nname: Bob",
        "age: 3\nname: Ann",
    ]:
        assert not both.accepts(wrong), wrong


def test_what_lies_too_deep_is_written_in_flow_style() -> None:
    deep = '- - - [[{}, {"a": 1}], "b"]\n'
    constraint = tokamata.yaml_schema(True, max_depth=2)
    assert constraint.accepts(deep)
    assert yaml.safe_load(deep) == [[[[[{}, {"a": 1}], "b"]]]]
    assert not constraint.accepts("- - - - 1")
    assert tokamata.yaml_schema(True, max_depth=3).accepts("- - - - 1")
    tree = {"value": 1, "next": {"value": 2, "next": {"value": 3, "children": [{"value": 4}]}}}
    text = 'value: 1\nnext:\n  value: 2\n  next: {"value": 3, "children": [{"value": 4}]}'
    assert yaml.safe_load(text) == tree
    assert tokamata.yaml_schema(TREE, max_depth=1).accepts(text)
    assert not tokamata.yaml_schema(TREE).accepts(text)
    assert tokamata.yaml_schema(TREE).accepts(dumped(tree))


def test_strings_of_several_lines() -> None:
    texts = {
        "note: |\n  line one\n    more: # text\n\n  last\nend: 1\n": {
            "note": "line one\n  more: # text\n\nlast\n",
            "end": 1,
        },
        "note: |-\n  one\n  two\nend: 1": {"note": "one\ntwo", "end": 1},
        "note: >-\n  one\n  two\n": {"note": "one two"},
        "note: |\n  one": {"note": "one"},
        "note: 'a\n\n  b'": {"note": "a\nb"},
        'note: "a \\\n  \\ b"': {"note": "a  b"},
        "- - |\n    x\n  - y\n": [["x\n", "y"]],
        "|\n  top\n": "top\n",
        "note: a plain text\n  that goes on\n\n  and on\n": {"note": "a plain text that goes on\nand on"},
    }
    anything = tokamata.yaml_schema(True)
    for text, value in texts.items():
        assert yaml.safe_load(text) == value
        assert anything.accepts(text), text
    for text in [
        "note: |\n one",
        "note: |\nend: 1",
        "note: |\n  one\n two",
        "note: |\n   one",
        "|\ntop",
        "a: 'b\nc'",
        "a: 2026-1-2\n  10:00:00",
    ]:
        assert not anything.accepts(text), text
    some = tokamata.yaml_schema({"additionalProperties": {"type": "string", "minLength": 1}})
    assert some.accepts("note: |\n  one")
    assert some.accepts("note: 'a\n\n  b'")
    assert not some.accepts('note: "\\\n  "')  # reads as the empty string
    few = tokamata.yaml_schema({"additionalProperties": {"type": "string", "maxLength": 9}})
    assert not few.accepts("note: |\n  one")  # where lengths or patterns say something, a string is one line
    value = {"text": "a\nb", "list": ["\n", "x\n\ny\n", {"z": "it's\n two "}]}
    assert anything.accepts(dumped(value))
    seed = 8
    rng = random.Random(seed)
    for _ in range(200):
        words = ["no", "12", "word", "caf\u00e9", "-", "(x)", "it's", "a:b", "2026-01-02", "#1", '"quoted"', "end."]
        text = "Long text " + " ".join(rng.choices(words, k=30))
        folded = yaml.safe_dump([{"text": text}], allow_unicode=rng.random() < 0.5)
        if not re.search(r"\n +- ", folded):  # a line that looks like an element of an array
            assert anything.accepts(folded), (seed, folded)
        prefix = folded[: rng.randrange(len(folded))]
        if anything.accepts(prefix):
            assert yaml.safe_load(prefix) is not None, (seed, prefix)


def test_numbers() -> None:
    constraint = tokamata.yaml_schema({"type": "number"})
    for text in ["0", "-1", "12", "1.5", "-0.25", "1.0e+20", "1.5e-7", "2.5E+3"]:
        assert constraint.accepts(text), text
        assert isinstance(yaml.safe_load(text), (int, float))
    for text in ["010", "0o17", "0x1F", "1_000", "1:30", "1e5", "1.5e7", ".5", "1.", "+1", ".inf", "1.5e+400"]:
        assert not constraint.accepts(text), text
    large = tokamata.yaml_schema({"type": "number", "minimum": 1e20})
    assert large.accepts(dumped(1e20))
    assert large.accepts(dumped(3e25))
    assert not large.accepts("9.0e+19")
    assert not large.accepts("3e+25")
    for value in (1e20, 1.5e-7, 5e-324, 1.7e308, -2e-5, 0.1, 7):
        assert tokamata.yaml_schema({"const": value}).accepts(dumped(value)), value
        assert tokamata.yaml_schema({"type": "number", "not": {"const": value}}).accepts(dumped(value)) is False


def test_strings_are_constrained_by_what_they_mean() -> None:
    constraint = tokamata.yaml_schema({"type": "string", "pattern": "^'[01:]+'?$", "maxLength": 4})
    for text, yes in [
        ("'''01'", True),
        ("'''01'''", True),
        ('"\'01"', True),
        ('"\\x2701"', False),  # not escaped where that is not needed
        ('"\\x01"', False),
        ("'01'", False),
        ("'''0101'", False),
        ("''01'", False),
    ]:
        assert constraint.accepts(text) == yes, text
    date = tokamata.yaml_schema({"type": "string", "format": "date-time"})
    assert date.accepts("'2026-01-02T03:04:05Z'")
    assert not date.accepts("2026-01-02T03:04:05Z")  # a timestamp to YAML
    boundary = tokamata.yaml_schema({"type": "string", "pattern": "\\bon\\b(?!\\n)"})
    assert boundary.accepts("on it")
    assert boundary.accepts("'on'")
    assert not boundary.accepts("on")
    assert not boundary.accepts("once")
    assert not boundary.accepts('"on\\n"')


def test_values_of_two_schemas() -> None:
    person, aged = tokamata.yaml_schema(PERSON), tokamata.yaml_schema({"properties": {"age": {"minimum": 60}}})
    both = person & aged
    assert both.accepts("name: Ann\nage: 61")
    assert not both.accepts("name: Ann\nage: 6")
    assert (person - aged).accepts("name: Ann\nage: 6")
    assert person.equivalent(tokamata.yaml_schema({"allOf": [PERSON]}))
    found = person.counterexample(both)
    assert found is not None
    assert read(found)["age"] < 60
    assert isinstance(tokamata.json_schema(PERSON) & person, tokamata.Constraint)  # by their texts


def test_report_and_options() -> None:
    entries = {(e.subject, e.status): e.detail for e in tokamata.yaml_schema(TREE, max_depth=3).report}
    assert "max_depth=3" in entries["max_depth", "enforced"]
    assert "1000 characters, 500 in single and 100 in double quotes" in entries["max_key", "narrowed"]
    with pytest.raises(ValueError, match='expected sequences "any", "indented" or "flush", got \'block\''):
        tokamata.yaml_schema(True, sequences="block")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected 0 <= max_depth <= 1000, got -1"):
        tokamata.yaml_schema(True, max_depth=-1)
    with pytest.raises(tokamata.ConstraintError, match=r"^yaml_schema: .*contradicts itself"):
        tokamata.yaml_schema(False)
    with pytest.raises(tokamata.UnsupportedError, match=r"^yaml_schema: uniqueItems at '/items' .* no contains"):
        tokamata.yaml_schema({"items": {"uniqueItems": True, "contains": {"type": "string"}}})
    with pytest.raises(tokamata.UnsupportedError, match=r"^yaml_schema: .*1200 characters.*at most 1024"):
        tokamata.yaml_schema({"required": ["k" * 1200]})


def test_long_keys() -> None:
    constraint = tokamata.yaml_schema(
        {"type": "object", "required": ["k" * 900], "properties": {"k" * 900: {"const": 1}}}
    )
    assert constraint.accepts(f"{'k' * 900}: 1")
    assert constraint.accepts(f'"{"k" * 900}": 1')
    accents = tokamata.yaml_schema({"type": "object", "required": ["\u00e9" * 150]})
    assert accents.accepts(f"{chr(233) * 150}: 1")
    assert not accents.accepts('"' + "\\xe9" * 150 + '": 1')
    anything = tokamata.yaml_schema(True)
    for quote, most in (("", 1000), ("'", 500), ('"', 100)):
        longest = f"{quote}{'k' * most}{quote}"
        assert anything.accepts(f"{longest}: 1")
        assert read(f"{longest}: 1".encode()) == {"k" * most: 1}
        assert not anything.accepts(f"{quote}k{longest[len(quote) :]}: 1")
    for escaped in ("''" * 500, "\\U0001F600" * 100):  # the most that are written for a character
        quote = "'" if escaped[0] == "'" else '"'
        assert anything.accepts(f"{quote}{escaped}{quote}: 1")
        assert len(read(f"{quote}{escaped}{quote}: 1".encode()).popitem()[0]) in (100, 500)


def test_members_that_could_be_written_twice_are_not_counted() -> None:
    """PyYAML takes the last of equal keys; where that matters, schemas are refused if keys may be written twice."""
    for schema, place in (
        ({"minProperties": 2}, "/minProperties"),
        ({"items": {"minProperties": 3, "required": ["a"]}}, "/items/minProperties"),
        ({"patternProperties": {"^a~/": {"minProperties": 2}}}, "/patternProperties/^a~0~1/minProperties"),
        ({"not": {"maxProperties": 1}}, "/not/maxProperties"),
        ({"oneOf": [{"maxProperties": 2}, {"type": "object"}]}, "/oneOf/0/maxProperties"),
        ({"not": {"additionalProperties": {"type": "null"}}}, "/not/additionalProperties"),
    ):
        with pytest.raises(
            tokamata.UnsupportedError,
            match=rf'^yaml_schema: at "{re.escape(place)}", .*written twice.*; name .*drop unique_keys=False$',
        ):
            tokamata.yaml_schema(schema, unique_keys=False)
        wide = tokamata.yaml_schema(schema, unique_keys=False, lenient=True)
        assert [e.place for e in wide.report if e.status == "widened" and e.place] == [place]
    for schema in (
        {"minProperties": 1},
        {"minProperties": 2, "required": ["a"]},
        {"minProperties": 2, "properties": {"a": {}, "b": {}, "c": {}}, "additionalProperties": False},
        {"type": "string", "minProperties": 2},
        {"const": {"minProperties": 2}},
        {"not": {"additionalProperties": False}},
        {"not": {"not": {"maxProperties": 1}}},
    ):
        for text in tokamata.yaml_schema(schema, unique_keys=False).examples(40):
            assert tokamata.json_schema(schema, key_order="any").accepts(json.dumps(yaml.safe_load(text)))
