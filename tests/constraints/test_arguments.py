"""Arguments that make no sense: errors name the function, what it expected, what it got, and what to do."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from oracle.odd_arguments import refusals
from tokamata.constraints import grammars

import tokamata

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
WORD = tokamata.regex(r"\w+")


def empty(text: str) -> str:
    return ""


CALLS: dict[str, Callable[[], Any]] = {
    "quoted_text": lambda: tokamata.quoted_text("ab"),
    "image": lambda: tokamata.image("a"),  # type: ignore[arg-type]
    "image, no bounds": lambda: tokamata.image(3, 2),
    "token_group": lambda: tokamata.token_group(3),  # type: ignore[arg-type]
    "token_group, no name": lambda: tokamata.token_group(""),
    "special_token": lambda: tokamata.special_token(5),  # type: ignore[arg-type]
    "one_token": lambda: tokamata.one_token("a"),  # type: ignore[arg-type]
    "text_until": lambda: tokamata.text_until(5),  # type: ignore[arg-type]
    "text_until, element": lambda: tokamata.text_until([5]),  # type: ignore[list-item]
    "substring_of": lambda: tokamata.substring_of(["a"]),  # type: ignore[arg-type]
    "substring_of, unit": lambda: tokamata.substring_of("a", "letters"),  # type: ignore[arg-type]
    "delimited_list": lambda: tokamata.delimited_list(5),  # type: ignore[arg-type]
    "delimited_list, bounds": lambda: tokamata.delimited_list("a", low=3, high=1),
    "delimited_list, no bound": lambda: tokamata.delimited_list("a", low="3"),  # type: ignore[arg-type]
    "delimited_subsequence_of": lambda: tokamata.delimited_subsequence_of(5),  # type: ignore[arg-type]
    "delimited_subsequence_of, none": lambda: tokamata.delimited_subsequence_of([]),
    "choice": lambda: tokamata.choice(None),  # type: ignore[arg-type]
    "choice, one text": lambda: tokamata.choice("abc"),
    "choice, element": lambda: tokamata.choice([1]),  # type: ignore[list-item]
    "literal": lambda: tokamata.literal(5),  # type: ignore[arg-type]
    "capture": lambda: tokamata.capture("a", 5),  # type: ignore[arg-type]
    "capture, no name": lambda: tokamata.capture("", "a"),
    "sequence": lambda: tokamata.sequence("a", None),  # type: ignore[arg-type]
    "optional": lambda: tokamata.optional(5),  # type: ignore[arg-type]
    "free_text": lambda: tokamata.free_text(5),  # type: ignore[arg-type]
    "structural_tags": lambda: tokamata.structural_tags(5),  # type: ignore[arg-type]
    "structural_tags, element": lambda: tokamata.structural_tags({"a": 5}),  # type: ignore[arg-type]
    "reasoning": lambda: tokamata.reasoning("a", max_length="5"),  # type: ignore[arg-type]
    "reasoning, fraction": lambda: tokamata.reasoning("a", max_length=1.5),  # type: ignore[arg-type]
    "tools": lambda: tokamata.tools(5),  # type: ignore[arg-type]
    "tools, one": lambda: tokamata.tools(TOOL),  # type: ignore[arg-type]
    "tools, choice": lambda: tokamata.tools([TOOL], tool_choice=5),  # type: ignore[arg-type]
    "dynamic": lambda: tokamata.dynamic(5),  # type: ignore[arg-type]
    "dynamic, key": lambda: tokamata.dynamic(empty, key=4),  # type: ignore[arg-type]
    "dynamic, special tokens": lambda: tokamata.dynamic(empty, special_tokens="<a>"),
    "dynamic, places": lambda: tokamata.dynamic(empty, max_places=0),
    "dynamic, name": lambda: tokamata.dynamic(empty, name=5),  # type: ignore[arg-type]
    "dataclass_call": lambda: tokamata.dataclass_call(5),  # type: ignore[type-var]
    "function_call": lambda: tokamata.function_call(5),  # type: ignore[arg-type]
    "integer": lambda: tokamata.integer(1.5, 2),  # type: ignore[arg-type]
    "integer, order": lambda: tokamata.integer(5, 1),
    "decimal": lambda: tokamata.decimal("x", "y"),
    "date": lambda: tokamata.date("2026-12-01", "2026-01-01"),
    "json_value": lambda: tokamata.json_value("a"),  # type: ignore[arg-type]
    "repeat": lambda: WORD.repeat("a"),  # type: ignore[arg-type]
    "repeat, fraction": lambda: WORD.repeat(1.5),  # type: ignore[arg-type]
    "repeat, dynamic": lambda: tokamata.dynamic(empty).repeat(2, 1),
    "accepts": lambda: WORD.accepts(5),  # type: ignore[arg-type]
    "captures": lambda: tokamata.regex("(?P<a>b)").captures(5),  # type: ignore[arg-type]
    "captures, no member": lambda: tokamata.regex("(?P<a>b)").captures("c"),
    "equivalent": lambda: WORD.equivalent("a"),  # type: ignore[arg-type]
    "captures, partial": lambda: WORD.captures("a", partial="no"),  # type: ignore[arg-type]
    "capture_lists": lambda: WORD.capture_lists(1),  # type: ignore[arg-type]
    "capture_lists, no member": lambda: WORD.capture_lists(""),
    "capture_lists, partial": lambda: WORD.capture_lists("a", partial="no"),  # type: ignore[arg-type]
    "to_fst": lambda: WORD.to_fst(None),  # type: ignore[arg-type]
    "to_fst, negative": lambda: WORD.to_fst(-1),
    "structural_tags, content": lambda: tokamata.structural_tags([("a", 1, "c")], ["a"]),  # type: ignore[list-item]
    "structural_tags, end": lambda: tokamata.structural_tags([("a", "b", None)], ["a"]),  # type: ignore[list-item]
    "grammar: import_paths": lambda: tokamata.grammar('start: "a"', import_paths=["a\0b"]),
    "grammar: import_paths, surrogate": lambda: tokamata.grammar('start: "a"', import_paths=["\ud800"]),
    "grammar_pdt": lambda: tokamata.constraints.grammar_pdt(None),  # type: ignore[arg-type]
    "penn_brackets": lambda: grammars.penn_brackets(None),  # type: ignore[arg-type]
    "penn_brackets, word": lambda: grammars.penn_brackets([b"a"]),  # type: ignore[list-item]
    "penn_brackets, labels": lambda: grammars.penn_brackets(["a"], labels="S"),
    "penn_brackets, tags": lambda: grammars.penn_brackets(["a"], tags="S"),
    "penn_brackets, depth": lambda: grammars.penn_brackets(["a"], max_depth="3"),  # type: ignore[arg-type]
    "xml_markup": lambda: grammars.xml_markup(None),  # type: ignore[arg-type]
    "xml_markup, name": lambda: grammars.xml_markup([b"a"]),  # type: ignore[list-item]
    "xml_markup, attributes": lambda: grammars.xml_markup(["a"], None),  # type: ignore[arg-type]
    "sygus_terms": lambda: grammars.sygus_terms(None),  # type: ignore[arg-type]
    "sygus_terms, bytes": lambda: grammars.sygus_terms(b"(a)"),  # type: ignore[arg-type]
    "sygus_terms, function": lambda: grammars.sygus_terms("", 5),  # type: ignore[arg-type]
    "counterexample": lambda: WORD.counterexample("a"),  # type: ignore[arg-type]
    "examples": lambda: WORD.examples("x"),  # type: ignore[arg-type]
    "count": lambda: WORD.count("x"),  # type: ignore[arg-type]
    "sample": lambda: WORD.sample(1, "x"),  # type: ignore[arg-type]
    "compile": lambda: tokamata.compile(5, None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_say_what_to_do(name: str) -> None:
    function = name.partition(",")[0]
    with pytest.raises((TypeError, ValueError), match=rf"^{function}: expected ") as raised:
        CALLS[name]()
    assert "got " in str(raised.value)
    assert "; " in str(raised.value)


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        ({"name": "f", "strict": "no"}, r'^tools: at "/0/strict": expected true or false, got \'no\'; pass a bool'),
        ({"name": "\ud800"}, r'^tools: at "/0/name": expected Unicode text, got the lone surrogate .*; replace it'),
    ],
)
def test_definitions_that_make_no_sense(definition: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tokamata.tools([definition])


@pytest.mark.parametrize(
    "call",
    [
        lambda many: WORD.examples(-many),
        lambda many: WORD.sample(-many, 1),
        lambda many: WORD.count(-many),
        lambda many: WORD.to_fst(-many),
        lambda many: tokamata.dynamic(empty, max_places=-many),
        lambda many: tokamata.reasoning("a", max_length=many),
        lambda many: tokamata.integer(1, many),
    ],
)
def test_numbers_that_are_too_long_to_be_shown(call: Callable[[int], Any]) -> None:
    with pytest.raises(ValueError, match=r"^\w+: expected .* got .*a number of 16610 bits.*; "):
        call(10**5000)


def test_samples_past_a_machine_word_meet_the_limits() -> None:
    limits = tokamata.Limits(search_seconds=0.01)
    for pattern, n, length in (("[ab]{1,3}", 10**30, 2), ("[ab]+", 1, 10**30)):
        with pytest.raises(tokamata.LimitError, match=r"^sample: the limit search_seconds=0.01 was reached"):
            tokamata.regex(pattern, limits=limits).sample(n, length)


def test_seconds_past_what_a_float_holds_are_no_limit() -> None:
    assert tokamata.regex("a", limits=tokamata.Limits(seconds=10**400)).accepts("a")


def test_names_of_places_can_be_printed() -> None:
    place = tokamata.dynamic(empty, name="\ud800")
    assert repr(place).encode() == rb"<tokamata.DynamicConstraint dynamic(\ud800)>"


@dataclass
class Point:
    x: int


def move(x: int) -> None:
    """Be called."""


class Odd:
    """What no function expects."""


ODD: list[Any] = [
    None, 5, -1, 0, 10**30, 1.5, float("nan"), "", "a", "\ud800", "x" * 300, b"", b"\xff", True, [], [1], [None],
    ["a", "a"], {}, {"a": 1}, (), set(), object, Odd(), empty, WORD, tokamata.Limits(),
]  # fmt: skip
# Of each function, arguments that are in order.
VALID: dict[str, tuple[Any, ...]] = {
    "regex": ("a",), "json_schema": ({},), "json_value": (), "grammar": ('start: "a"',), "choice": (["a"],),
    "literal": ("a",), "yaml_schema": ({},), "dataclass_call": (Point,), "function_call": (move,),
    "from_fst": (WORD.to_fst(),), "quoted_text": (), "unquoted_text": (), "image": (), "text_token": (),
    "paragraph_token": (), "token_group": ("a",), "special_token": ("<a>",), "one_token": (WORD,), "text_until": ("a",),
    "substring_of": ("abc",), "delimited_list": ("a",), "delimited_subsequence_of": (["a", "b"],),
    "capture": ("n", "a"), "hidden": ("a",), "sequence": ("a",), "optional": ("a",), "free_text": (),
    "structural_tags": ([("<a>", "b", "</a>")],), "reasoning": ("a",), "tools": ([TOOL],), "dynamic": (empty,),
    "integer": (1, 2), "decimal": ("1", "2"), "number": (1, 2), "date": ("2026-01-01", "2026-02-01"), "time": (),
    "datetime": (), "Limits": (), "ToolFormat": ("a", "b", "c", "a"), "ParameterFormat": ("a", "b", "c", ("c",)),
}  # fmt: skip


@pytest.mark.parametrize("function", VALID)
def test_odd_arguments(function: str) -> None:
    """One argument at a time is odd: either it is taken, or the error says where, and what to do."""
    told = refusals(getattr(tokamata, function), VALID[function], ODD, TypeError, ValueError, tokamata.LimitError)
    for parameter, odd, text in told:
        assert text.startswith(f"{function}: "), (parameter, odd, text)
        assert "; " in text, (parameter, odd, text)


def test_whole_numbers_of_other_types_are_counts() -> None:
    import numpy as np

    assert WORD.repeat(np.int64(2), np.uint8(2)).accepts("ab")  # type: ignore[arg-type]
    assert len(WORD.examples(np.int32(3))) == 3  # type: ignore[arg-type]
    assert tokamata.regex("[ab]").count(np.int64(1)) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda odd: tokamata.structural_tags([("<a>", "b", "</a>")], at_least_one=odd),
        lambda odd: tokamata.structural_tags([("<a>", "b", "</a>")], stop_after_first=odd),
        lambda odd: tokamata.delimited_subsequence_of(["a", "b"], empty=odd),
        lambda odd: tokamata.reasoning("a", required=odd),
        lambda odd: tokamata.tools([TOOL], parallel=odd),
        lambda odd: tokamata.tools([TOOL], text=odd),
        lambda odd: tokamata.tools([TOOL], special=odd),
        lambda odd: tokamata.tools([TOOL], strict=odd),
        lambda odd: tokamata.json_schema({}, lenient=odd),
        lambda odd: tokamata.ToolFormat("a", "b", "c", "a", quoted=odd),
        lambda odd: WORD.captures("a", partial=odd),
        lambda odd: WORD.capture_lists("a", partial=odd),
    ],
)
def test_flags_are_true_or_false(call: Callable[[Any], Any]) -> None:
    """ "no" is not taken for yes, nor 0 for no."""
    for odd in ("no", 0, 1, "", []):
        with pytest.raises(TypeError, match=r"expected .* True or False, got"):
            call(odd)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(tokamata.Limits)])
def test_limits_are_numbers_that_the_engine_takes(name: str) -> None:
    with pytest.raises(TypeError, match=f"Limits: expected {name} "):
        tokamata.Limits(**{name: True})
    if name.endswith("seconds"):
        assert tokamata.regex("a", limits=tokamata.Limits(**{name: float("inf")})).accepts("a")
        return
    with pytest.raises(ValueError, match=rf"Limits: expected 0 <= {name} <= (\d+), got ") as error:
        tokamata.Limits(**{name: 2**63})
    most = int(re.search(r"<= (\d+),", str(error.value))[1])
    largest = tokamata.Limits(**{name: most})
    assert tokamata.regex("a|b{2}", limits=largest).count(2) == 1
    assert tokamata.json_schema({"type": "boolean"}, limits=largest).accepts("true")
