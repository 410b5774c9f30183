"""YAML arrays of distinct elements: masks are what can be extended, and PyYAML finds no element twice."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
import yaml
from oracle import mask_walk
from oracle.yaml_schema_random import StrictLoader

import tokamata

TOKENS = [bytes([b]) for b in range(256)] + [
    text.encode()
    for text in (
        "aa", "ab", "- a", "- a\n", "\n-", "\n- ", "\n- a", "\n- a\n- a", "\n- b\n", "a\n- b", " a", " 1", "1\n- 1",
        "1\n- 2", "12", "11", "\n- 1", "\n- 12\n- 1", ".0", "0.5", "e+", " 'a'", "'a'", '"a"', "''", "'\n", '"\n- "',
        '"\\x61"', "\\x", "\\u006", "it's", "é", "日", "😀", "null", " true", "\n- true\n- null", ": ", ": 1", "a: 1",
        "- a: 1", "- a: 1\n- a: 1", "\n  b: 2", "\n  ", "\n    ", "a: 1\n  b: 2", "b: 2\n  a: 1", "\n  - 1", "- - 1",
        "- - 1\n- - 1", " - 1", " {}", "[]", "{}\n- {}", "\n- []", " [1", ", 1", ", 1,", ", 1]", "1, 1", "1, 2",
        ', "a"', '"a", "a"', '"a", "b"', '["a"', "}, {", '{"a": 1}', ', {"a": 1}', "\n...", "\n\n", "- |\n  a",
        "yes", "1:30",
    )
]  # fmt: skip
CLOSED: dict[str, Any] = {"properties": {"a": {"type": "boolean"}}, "additionalProperties": False}
NAMED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
VALUES: list[Any] = [1, 0, 12, 1.5, None, True, "a", "b", "1", "it's", {}, [], {"a": 1}, {"a": 1, "b": 2}, [1], [1, 2]]
# A schema of elements, of the array beside, options, and values to draw elements from.
CASES: list[tuple[Any, dict[str, Any], dict[str, Any], list[Any]]] = [
    ({"type": "integer"}, {}, {}, [0, 1, 11, 12, 2, 121]),
    ({"type": "string"}, {}, {}, ["a", "b", "aa", "it's", "", "yes", "é", "日", "😀", "1", "\n", "-a"]),
    ({"type": "string", "pattern": "^[ab]{1,2}$"}, {"minItems": 5}, {}, ["a", "b", "aa", "ab", "ba", "bb"]),
    ({"type": "integer", "minimum": 0, "maximum": 11}, {"minItems": 11}, {}, list(range(12))),
    ({"type": ["number", "null", "boolean"]}, {"minItems": 2, "maxItems": 3}, {}, [0, 1, 1.5, None, True, False]),
    ({"type": ["string", "integer", "null"]}, {}, {"max_depth": 0}, [1, "1", None, "a", "null", 12]),
    ({"type": "integer"}, {"minItems": 1}, {"max_depth": 0}, [1, 2, 11, 12]),
    ({"type": "object", **CLOSED}, {"minItems": 3}, {}, [{}, {"a": True}, {"a": False}]),
    (NAMED, {}, {}, [{"a": "b"}, {"a": "b", "b": 1}, {"a": "a"}, {"a": "b", "b": 12}]),
    (NAMED, {}, {"key_order": "any"}, [{"a": "b"}, {"b": 1, "a": "b"}, {"a": "a"}, {"a": "b", "b": 12}]),
    ({"additionalProperties": {"type": "boolean"}, "type": "object", "maxProperties": 2}, {}, {}, [
        {}, {"a": True}, {"b": True, "a": True}, {"a": True, "b": True}, {"a": False}
    ]),
    ({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, {}, {}, [[], [1], [1, 1], [12], [1, 12]]),
    ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, {}, {}, [[], [1], [1, 12], [12, 1]]),
    ({}, {}, {}, VALUES),
    ({}, {}, {"max_depth": 0}, VALUES),
    ({}, {}, {"max_depth": 1, "sequences": "flush"}, VALUES),
    ({"properties": {"c": {"uniqueItems": True, "type": "array"}}, "type": "object"}, {}, {}, [
        {"c": [1, 2]}, {"c": [1]}, {}
    ]),
]  # fmt: skip


def made(number: int) -> tokamata.Constraint:
    elements, array, options, _ = CASES[number]
    return tokamata.yaml_schema({"type": "array", "items": elements, "uniqueItems": True, **array}, **options)


def scalar(rng: random.Random, value: Any, flow: bool) -> str:
    """A scalar in some style."""
    if not isinstance(value, str):
        text = json.dumps(value)
        return text + ".0" if type(value) is int and rng.random() < 0.2 else text
    double = json.dumps(value) if rng.random() < 0.5 else json.dumps(value, ensure_ascii=False)
    if rng.random() < 0.3:
        double = '"' + "".join(c if " " < c < "\x7f" and c not in '"\\' else f"\\U{ord(c):08X}" for c in value) + '"'
    styles = [double] if flow else [double, "'" + value.replace("'", "''") + "'", value]
    for style in rng.sample(styles, len(styles)):
        if "\n" not in style and style:
            try:
                if yaml.safe_load(style) == value:
                    return style
            except yaml.YAMLError:
                pass
    return double


def text_of(
    rng: random.Random, value: Any, level: int, deepest: int, flat: bool = False, under_key: bool = False
) -> str:
    """A value as it stands behind a dash or, beginning with white space, behind the colon of a key."""
    if not isinstance(value, dict | list):
        return (" " if under_key else "") + scalar(rng, value, level > deepest + 1)
    flush = under_key and isinstance(value, list) and level <= deepest + 1 and (flat or level > deepest)
    if not value or (level > deepest and not flush):
        if isinstance(value, list):
            flow = "[" + ", ".join(text_of(rng, v, deepest + 2, deepest) for v in value) + "]"
        else:
            members = [f"{scalar(rng, k, True)}: {text_of(rng, v, deepest + 2, deepest)}" for k, v in value.items()]
            flow = "{" + ", ".join(members) + "}"
        return (" " if under_key else "") + flow
    level -= flush
    line = "\n" + "  " * level
    before = line if under_key else ""
    if isinstance(value, list):
        return before + line.join("- " + text_of(rng, v, level + 1, deepest, flat) for v in value)
    members = [f"{scalar(rng, k, False)}:{text_of(rng, v, level + 1, deepest, flat, True)}" for k, v in value.items()]
    return before + line.join(members)


def element_text(rng: random.Random, values: list[Any], options: dict[str, Any]) -> bytes:
    return text_of(rng, values, 0, options.get("max_depth", 16), options.get("sequences") == "flush").encode()


def compared(value: Any) -> Any:
    """What is equal for equal JSON values only."""
    if isinstance(value, bool | str) or value is None:
        return (type(value).__name__, value)
    if isinstance(value, list):
        return ("array", tuple(map(compared, value)))
    if isinstance(value, dict):
        return ("object", frozenset((k, compared(v)) for k, v in value.items()))
    return ("number", value)


def is_distinct(values: list[Any]) -> bool:
    return len({compared(v) for v in values}) == len(values)


INTEGERS = re.compile(r"- (0|-?[1-9][0-9]*)(\n- (0|-?[1-9][0-9]*))*(\n|\n- )?")


def begins_distinct(text: str) -> bool:
    """Whether a text begins a sequence of distinct integers."""
    *whole, last = (
        re.sub(r"\n?$", "", text[2:]).split("\n- ") if not text.endswith("\n- ") else [*text[2:-3].split("\n- "), ""]
    )
    if len(set(whole)) < len(whole):
        return False
    if text.endswith("\n"):
        return last not in whole
    return last != "0" or "0" not in whole  # all else can go on


@pytest.mark.parametrize("number", range(len(CASES)))
def test_masks_are_what_can_be_extended(number: int) -> None:
    constraint = made(number)
    options, values = CASES[number][2:]
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)

    def viable(written: bytes, token: bytes) -> bool | None:
        longer = (written + token).decode("latin-1")
        return begins_distinct(longer) if INTEGERS.fullmatch(longer) else None

    arrays = mask_walk.elements(values, 5, rng)
    if number in (2, 3):  # which have to be nearly all of them
        arrays[1] = rng.sample(values, len(values))
    for drawn in arrays:
        text = element_text(rng, drawn, options)
        written = mask_walk.walk(constraint, automaton, TOKENS, text, rng, viable if number == 0 else None)
        assert (written == text) >= constraint.accepts(text), (number, written, text)
        if constraint.accepts(text):
            assert is_distinct(yaml.load(text.decode(), StrictLoader)), text


def test_a_text_is_refused_where_an_element_comes_twice() -> None:
    """Whatever the styles and the order of keys are; all others are allowed."""
    anything = {
        (depth, order): tokamata.yaml_schema({"uniqueItems": True}, key_order=order, max_depth=depth)  # type: ignore[arg-type]
        for depth in (0, 1, 16)
        for order in ("schema", "any", "sorted")
    }
    rng = random.Random(0)
    counts = {True: 0, False: 0}
    for _ in range(400):
        depth, order = rng.choice([0, 1, 16]), rng.choice(["schema", "any", "sorted"])
        values = [rng.choice(VALUES) for _ in range(rng.randrange(2, 4))]
        if rng.random() < 0.3:
            values = [values, rng.choice([values, [*values, 0], values[::-1]])]
        elif rng.random() < 0.3:
            values = [{"x": v, "y": 1} if rng.random() < 0.5 else {"y": 1, "x": v} for v in values]
        text = text_of(rng, values, 0, depth, rng.random() < 0.5)
        valid = is_distinct(yaml.load(text, StrictLoader))
        assert anything[depth, order].accepts(text) == valid, (depth, order, text)
        counts[valid] += 1
    assert min(counts.values()) > 60


@pytest.mark.parametrize("number", [0, 1, 2, 4, 6, 8, 11, 13])
def test_budgets_are_used_up(number: int) -> None:
    constraint = made(number)
    automaton = mask_walk.compiled(constraint, TOKENS)
    rng = random.Random(number)
    for budget in (30, 45):
        text = mask_walk.spend(constraint, automaton, TOKENS, budget, rng)
        assert is_distinct(yaml.load(text.decode(), StrictLoader)), (number, budget, text)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_examples_are_distinct(number: int) -> None:
    constraint = made(number)
    for text in constraint.examples(5, seed=number):
        assert constraint.accepts(text), (number, text)
        assert is_distinct(yaml.load(text.decode(), StrictLoader)), (number, text)
    assert [e.status for e in constraint.report if e.subject == "uniqueItems"][:1] == ["enforced"]


def test_counterexamples_are_distinct() -> None:
    arrays = {"type": "array", "items": {"type": ["integer", "string"]}, "uniqueItems": True}
    constraint, fewer = tokamata.yaml_schema(arrays), tokamata.yaml_schema({**arrays, "maxItems": 2})
    found = constraint.counterexample(fewer)
    assert found is not None
    assert len(yaml.safe_load(found)) == 3
    assert constraint.accepts(found)
    assert constraint.equivalent(tokamata.yaml_schema({"allOf": [arrays]}))


def test_numbers_stay_within_those_of_floats() -> None:
    """As all numbers of YAML do: beyond, PyYAML would read infinities, which are equal."""
    constraint = tokamata.yaml_schema({"type": "array", "uniqueItems": True})
    assert constraint.accepts("- 1.5e+307\n- 1.5e-307\n- 1.5e+20")
    assert not constraint.accepts_prefix("- 1.5e+308\n")
    assert not constraint.accepts("- 1.50e+20\n- 1.5e+20")
