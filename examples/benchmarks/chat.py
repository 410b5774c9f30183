"""Masks of chat constraints: free text, reasoning, structural tags, tool calls, and places that callbacks fill in.

    python examples/benchmarks/chat.py [--vocabulary deepseek] [--engines llguidance] [--csv chat.csv] [--plot chat.svg]

Each repeat compiles the constraint anew and goes through the tokens of a text twice. "build": from Python values to the
first mask, processor time, best of the repeats; "fresh": masks of the first walk, most of which are of states that were
seen before in the same text; "again": those of the second. Times are microseconds, for each place the least of the
repeats. What installed peers have too, tags in free text, is measured beside them: "build" and "fresh" again, and how
many times as long as ours a peer takes. Theirs may be followed by text and calls of other kinds, ours of tools may not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from common import (
    FOX,
    Engine,
    LLGuidance,
    Session,
    Tokamata,
    Walk,
    XGrammar,
    chosen,
    console,
    engines,
    parser,
    plot_bars,
    table_of,
    token_index,
    tokenize,
    vocabulary,
    walk,
    write_csv,
)

import tokamata

TOOL = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
FUNCTIONS = [(f"<function=f{i}>", tokamata.json_schema({"type": "object"}), "</function>") for i in range(10)]
PROSE = (FOX + "Is 3 < 4? </ no, <b>not</b> quite.\n") * 8
CALL = '<tool_call>\n{"name": "get_weather_0", "arguments": {"city": "Paris", "days": 12, "unit": "C"}}\n</tool_call>'
BY_PARAMETERS = "".join(
    f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in (("city", "Paris"), ("days", 12), ("unit", "C"))
)
BY_PARAMETERS = f"<tool_call>\n<function=get_weather_0>\n{BY_PARAMETERS}</function>\n</tool_call>"
OBJECT = tokamata.json_schema({"type": "object"})
NAMES = [name for name in dir(math) if not name.startswith("_")]


def definitions(count: int) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": f"get_weather_{i}", "parameters": TOOL}} for i in range(count)]


def names() -> tokamata.Constraint:
    return tokamata.dynamic(lambda text: tokamata.choice(NAMES), key=lambda text: None, name="names")


# What is built, and a member.
CASES: dict[str, tuple[Callable[[], tokamata.Constraint], str]] = {
    "free text": (lambda: tokamata.free_text(), PROSE),
    "without </think>": (lambda: tokamata.free_text("</think>"), PROSE),
    "reasoning": (lambda: tokamata.reasoning(OBJECT), f'<think>{PROSE}</think>\n\n{{"a": [1, 2]}}'),
    "10 tags": (
        lambda: tokamata.structural_tags(FUNCTIONS, ["<function="]),
        PROSE + '<function=f3>{"a": [1, 2]}</function>' + PROSE,
    ),
    "2 triggers": (
        lambda: tokamata.structural_tags([("```json\n", OBJECT, "\n```"), ("<n>", tokamata.regex("[0-9]+"), "</n>")]),
        PROSE + '```json\n{"a": [1, 2]}\n```' + PROSE + "<n>12</n>",
    ),
    "1 tool": (lambda: tokamata.tools(definitions(1)), PROSE + (CALL + "\n") * 5 + CALL),
    "20 tools": (lambda: tokamata.tools(definitions(20)), PROSE + (CALL + "\n") * 5 + CALL),
    "100 tools, required": (lambda: tokamata.tools(definitions(100), tool_choice="required"), (CALL + "\n") * 5 + CALL),
    "1 tool, qwen3-coder": (
        lambda: tokamata.tools(definitions(1), "qwen3-coder"),
        PROSE + (BY_PARAMETERS + "\n") * 5 + BY_PARAMETERS,
    ),
    "20 tools, qwen3-coder": (
        lambda: tokamata.tools(definitions(20), "qwen3-coder"),
        PROSE + (BY_PARAMETERS + "\n") * 5 + BY_PARAMETERS,
    ),
    "callback": (lambda: "y = math." + names() + tokamata.regex(r"\([a-z, ]*\)\n"), "y = math.hypot(a, b)\n"),
    "callback in tags": (lambda: tokamata.structural_tags([("math.", names(), "")]), "x = math.sin(y)\ny = 2\n" * 8),
}


# What peers can build, too: a trigger in free text, and tags (begin, schema, end).
TAGS: dict[str, tuple[str, list[tuple[str, dict[str, Any], str]]]] = {
    "10 tags": ("<function=", [(f"<function=f{i}>", {"type": "object"}, "</function>") for i in range(10)]),
} | {
    f"{count} tool{'s' * (count > 1)}": (
        "<tool_call>",
        [(f'<tool_call>\n{{"name": "get_weather_{i}", "arguments": ', TOOL, "}\n</tool_call>") for i in range(count)],
    )
    for count in (1, 20)
}


def tagged(engine: Engine, name: str) -> Session:
    """Build the tags in a peer."""
    trigger, tags = TAGS[name]
    if isinstance(engine, LLGuidance):
        from llguidance import StructTag

        made = [StructTag(trigger=trigger, begin=begin, grammar=schema, end=end) for begin, schema, end in tags]
        return engine._start(StructTag.to_grammar(made, assume_special=False))
    assert isinstance(engine, XGrammar)
    contents = [
        {"begin": begin, "content": {"type": "json_schema", "json_schema": schema}, "end": end}
        for begin, schema, end in tags
    ]
    form = {"type": "triggered_tags", "triggers": [trigger], "tags": contents}
    return engine._start(engine.compiler.compile_structural_tag({"type": "structural_tag", "format": form}))


class Built(Tokamata):
    """Our engine on constraints that are built by name."""

    def case(self, name: str) -> Session:
        """From Python values to a session at its start."""
        return self._start(CASES[name][0]())


def main() -> None:
    assert __doc__
    asked = parser(__doc__).parse_args()
    name, tokens = vocabulary(asked)
    engine, index = Built(tokens), token_index(tokens)
    peers = [peer for peer in engines(asked, tokens) if isinstance(peer, LLGuidance | XGrammar)]
    compared = ("build", "fresh mean", "fresh p99", "build / ours", "mean / ours")
    beside = table_of("µs beside peers", ("constraint", "engine"), compared)
    columns = ("tokens", "build", "fresh mean", "fresh p99", "again mean", "again p99")
    table = table_of(f"µs of masks ({name}, {len(tokens):,} tokens)", ("constraint",), columns)
    figures: list[dict[str, object]] = []
    bars: dict[str, dict[str, float]] = {"fresh": {}, "again": {}}
    for case in chosen(asked, CASES, ("reasoning", "1 tool", "callback")):
        path = tokenize(index, CASES[case][1].encode())
        went = Walk()
        for _ in range(1 if asked.quick else asked.repeat):
            walk(engine, engine.case, case, path, went)
        if went.error:
            table.add_row(case, str(len(path)), f"failed: {went.error}")
            continue
        again = np.min(went.again, axis=0)
        values = (min(went.first), *of(went.masks), *of(again))
        table.add_row(case, str(len(path)), *(f"{value:,.2f}" for value in values))
        figures.append(
            {"constraint": case, "engine": engine.name} | dict(zip(columns, (len(path), *values), strict=True))
        )
        bars["fresh"][case], bars["again"][case] = values[1], values[3]
        for peer in peers if case in TAGS else ():
            theirs = Walk()
            for _ in range(asked.repeat):
                walk(peer, partial(tagged, peer), case, path, theirs)
            if theirs.error:
                beside.add_row(case, peer.name, f"failed: {theirs.error}")
                continue
            found = (min(theirs.first), *of(theirs.masks))
            ratios = (found[0] / values[0], found[1] / values[1])
            beside.add_row(case, peer.name, *(f"{value:,.2f}" for value in found), *(f"{r:,.1f}" for r in ratios))
            figures.append({"constraint": case, "engine": peer.name} | dict(zip(columns[1:4], found, strict=True)))
    console().print(table)
    if peers:
        console().print(beside)
    write_csv(asked.csv, figures)
    plot_bars(asked.plot, f"Masks of chat constraints, {name}", "µs, mean", bars)


def of(times: np.ndarray) -> tuple[float, float]:
    return float(times.mean()), float(np.percentile(times, 99))


if __name__ == "__main__":
    main()
