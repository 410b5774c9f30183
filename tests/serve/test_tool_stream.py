"""ToolStream: whatever the pieces, put together they are what parse finds."""

from __future__ import annotations

import json
import random

import pytest
from oracle.tool_texts import calls_text
from tokamata.constraints.tool_format import TOOL_FORMATS
from tokamata.constraints.tools import ToolsConstraint

import tokamata
from tokamata.serve.tool_stream import ArgumentsGrow, CallBegins, Part, Said, ToolStream

ANYTHING: dict[str, object] = {
    "type": "object",
    "properties": dict.fromkeys(["a", "b", "parameters", "y", "id", "id2"], True),
}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": ANYTHING}} for name in ("go", "go-on", "é")]
ARGUMENTS = [
    {},
    {"a": 'x"}{[\\', "b": [1, {"c": "<tool_cal>"}]},
    {"parameters": {"x": None}, "y": "\n\t\\u00e9 é 🦜"},
    {"id": ["]", "[TOOL_CALLS]"], "id2": "null"},
    {"b": "</parameter", "y": '{"k": 1}'},
]


def pieces(rng: random.Random, text: str) -> list[str]:
    cuts = sorted(rng.randint(0, len(text)) for _ in range(rng.choice([0, 1, 3, 10, len(text)])))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def read(constraint: ToolsConstraint, parts: list[str]) -> list[Part]:
    stream = ToolStream(constraint)
    found = [part for text in parts for part in stream.add(text)]
    return [*found, *stream.add("", final=True)]


def put_together(parts: list[Part]) -> tuple[str, list[tuple[str, str]]]:
    said, calls = "", []
    for part in parts:
        if isinstance(part, Said):
            assert not calls
            said += part.text
        elif isinstance(part, CallBegins):
            assert part.index == len(calls)
            calls.append((part.name, ""))
        else:
            assert part.index == len(calls) - 1
            calls[-1] = (calls[-1][0], calls[-1][1] + part.text)
    return said, calls


def written(rng: random.Random, name: str) -> str:
    """Calls as a model writes them, maybe after free text."""
    form = TOOL_FORMATS[name]
    calls = [(rng.choice(["go", "go-on", "é"]), rng.choice(ARGUMENTS)) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    free = rng.choice(["", "Let me look.\n", form.trigger[:-1], "a < b [TOOL", "{ no", "\n"])
    if not calls:
        return "" if form.whole and free.startswith(form.trigger) else free
    text = calls_text(name, calls, identifier="a1B2c3D4e" if rng.random() < 0.5 else "")
    return ("" if form.whole else free) + text


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_like_parse_whatever_the_pieces(name: str) -> None:
    constraint = tokamata.tools(TOOLS, name)
    rng = random.Random(name)
    called = 0
    for _ in range(120):
        text = written(rng, name)
        reply = constraint.parse(text)
        said, calls = put_together(read(constraint, pieces(rng, text)))
        expected = [(call.name, call.arguments) for call in reply.calls]
        assert (said, [(tool, json.loads(data)) for tool, data in calls]) == (reply.text, expected), text
        called += len(calls)
    assert called > 100


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_texts_that_are_cut_off(name: str) -> None:
    constraint = tokamata.tools(TOOLS, name)
    rng = random.Random(name)
    for _ in range(60):
        text = written(rng, name)
        whole_said, whole_calls = put_together(read(constraint, [text]))
        cut = text[: rng.randint(0, len(text))]
        said, calls = put_together(read(constraint, pieces(rng, cut)))
        if not calls:
            assert said == cut
            continue
        assert said == whole_said
        assert [tool for tool, _ in calls] == [tool for tool, _ in whole_calls[: len(calls)]]
        assert [data for _, data in calls[:-1]] == [data for _, data in whole_calls[: len(calls) - 1]]
        assert whole_calls[len(calls) - 1][1].startswith(calls[-1][1])


def test_nothing_waits_that_is_certain() -> None:
    constraint = tokamata.tools(TOOLS, "hermes")
    stream = ToolStream(constraint)
    text = 'So: <tool_call>\n{"name": "go", "arguments": {"a": [1]}}\n</tool_call>'
    found = [list(stream.add(c)) for c in text]
    assert [parts for parts in found if parts] == [
        *([Said(c)] for c in "So: "),
        [CallBegins(0, "go")],
        *([ArgumentsGrow(0, c)] for c in '{"a": [1]}'),
    ]
    stream = ToolStream(constraint)
    assert list(stream.add("a <tool")) == [Said("a ")]
    assert list(stream.add("s>")) == [Said("<tools>")]


def test_no_tool_may_be_called() -> None:
    constraint = tokamata.tools(TOOLS, "hermes", tool_choice="none")
    assert read(constraint, ["a <tool_", "call> b"]) == [Said("a <tool_"), Said("call> b")]
