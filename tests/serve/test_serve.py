"""The server over HTTP on this machine: the openai client reads every answer, answers obey what was asked for."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import signal
import socket
import string
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import numpy as np
import openai
import pytest
import torch
from oracle.http_server import HttpServer
from oracle.tiny_model import byte_tokenizer, save_tiny_model
from oracle.tool_texts import BY_PARAMETERS, calls_text
from tokamata.constraints.tool_format import TOOL_FORMATS

import tokamata
from tokamata.serve import BadRequest, ServerLimits, TransformersModel
from tokamata.serve.model import told_convention

TOKENS: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), b"true", b'":', b'"}', b"ab", None]
SPECIAL = {"<end>": 0, "[TOOL_CALLS]": len(TOKENS) - 1}
LIMITS = ServerLimits(new_tokens=400, source_bytes=3000, seconds=4.0, waiting=30, running=4, constraints=4, choices=30)


class Scripted:
    """A model with a pull towards a script's next byte, and random scores else."""

    name = "scripted"
    context = 2000
    tool_convention: str | None = "hermes"

    def __init__(self) -> None:
        self.vocabulary = tokamata.Vocabulary(TOKENS, eos_token_ids=[0], special_tokens=SPECIAL)
        self.script = b""
        self.pause = 0.0
        self.started = 0
        self.tools: Sequence[Mapping[str, Any]] = ()

    def chat(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        if messages[-1]["content"] == "refuse me":
            raise BadRequest("no such conversation", "messages")
        self.tools = tools
        return self.text("\n".join(f"{m['role']}: {m['content']}" for m in messages))

    def text(self, text: str) -> list[int]:
        return [1 + b for b in text.encode()] or [0]

    def start(self, prompt: Sequence[int]) -> ScriptedRun:
        self.started += 1
        return ScriptedRun(self, prompt)


class ScriptedRun:
    def __init__(self, model: Scripted, prompt: Sequence[int]) -> None:
        self.model = model
        self.random = np.random.default_rng(sum(prompt) + model.started)
        self.at = 0

    def push(self, token_id: int) -> None:
        self.at += len(TOKENS[token_id] or b"")

    def logits(self) -> np.ndarray:
        time.sleep(self.model.pause)
        if self.model.script == b"raise":
            raise RuntimeError("the model broke")
        scores = self.random.normal(size=len(TOKENS) + 11).astype(np.float32)  # padded, as real models are
        script = self.model.script
        scores[1 + script[self.at] if self.at < len(script) else 0] += 30
        return scores


class Running(HttpServer):
    def __init__(self, model: Any, limits: ServerLimits) -> None:
        super().__init__(model, limits, timeout=60)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    server = Running(Scripted(), LIMITS)
    yield server
    server.close()


@pytest.fixture
def model(running: Running) -> Scripted:
    running.model.script, running.model.pause, running.model.tool_convention = b"", 0.0, "hermes"
    return running.model


SAY = [{"role": "user", "content": "say it"}]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "maximum": 120}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def ask(running: Running, **options: Any) -> Any:
    return running.client.chat.completions.create(**{"model": "scripted", "messages": SAY, **options})


def schema_format(schema: object, **more: object) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, **more}}


def test_a_script_comes_back(running: Running, model: Scripted) -> None:
    model.script = "Grüße, 日本 🦜!".encode()
    answer = ask(running, temperature=0)
    assert answer.choices[0].message.content == "Grüße, 日本 🦜!"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.completion_tokens == len(model.script) + 1
    assert answer.usage.prompt_tokens == len(b"user: say it")
    pieces = [
        part.choices[0].delta.content or ""
        for part in ask(running, temperature=0, stream=True, stream_options={"include_usage": True})
        if part.choices
    ]
    assert "".join(pieces) == "Grüße, 日本 🦜!"
    assert not any("\ufffd" in piece for piece in pieces)
    assert [m.id for m in running.client.models.list()] == ["scripted"]
    assert running.client.models.retrieve("scripted").owned_by == "tokamata"


@pytest.mark.parametrize("stream", [False, True])
def test_answers_obey_the_schema_and_the_budget(running: Running, model: Scripted, stream: bool) -> None:
    validator = jsonschema.Draft202012Validator(PERSON)
    for seed in range(5):
        asked = {"response_format": schema_format(PERSON), "seed": seed, "max_tokens": 40}
        if stream:
            parts = list(ask(running, **asked, stream=True))
            text = "".join(part.choices[0].delta.content or "" for part in parts)
            assert parts[-1].choices[0].finish_reason == "stop"
        else:
            answer = ask(running, **asked)
            text = answer.choices[0].message.content
            assert answer.choices[0].finish_reason == "stop"
            assert answer.usage.completion_tokens <= 40
        validator.validate(json.loads(text))


WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather somewhere.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 5}, "days": {"type": "integer", "maximum": 9}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "maxProperties": 0}}}


def answer_of(running: Running, stream: bool, **options: Any) -> tuple[str, list[tuple[str, Any]], str]:
    """Text, calls and the reason of an end, whole or put together from a stream."""
    if not stream:
        choice = ask(running, **options).choices[0]
        calls = [(c.function.name, json.loads(c.function.arguments)) for c in choice.message.tool_calls or []]
        return choice.message.content or "", calls, choice.finish_reason
    parts = [part.choices[0] for part in ask(running, **options, stream=True)]
    found: list[tuple[str, str]] = []
    for call in (c for part in parts for c in part.delta.tool_calls or []):
        if call.id is not None:
            assert (call.index, call.type, call.function.arguments) == (len(found), "function", "")
            found.append((call.function.name, ""))
        else:
            assert (call.index, call.function.name) == (len(found) - 1, None)
            found[-1] = (found[-1][0], found[-1][1] + call.function.arguments)
    calls = [(name, json.loads(arguments)) for name, arguments in found]
    assert not any(part.finish_reason for part in parts[:-1])
    return "".join(part.delta.content or "" for part in parts), calls, parts[-1].finish_reason


@pytest.mark.parametrize("stream", [False, True])
def test_tools(running: Running, model: Scripted, stream: bool) -> None:
    both = {"tools": [WEATHER, CLOCK]}
    said = 'Let me look.\n<tool_call>\n{"name": "weather", "arguments": {"city": "Ulm", "days": 2}}\n</tool_call>'
    model.script = said.encode()
    text, calls, reason = answer_of(running, stream, **both, temperature=0)
    assert (text, calls, reason) == ("Let me look.\n", [("weather", {"city": "Ulm", "days": 2})], "tool_calls")
    assert [tool["function"]["name"] for tool in model.tools] == ["weather", "clock"]
    model.script = b"No need."
    assert answer_of(running, stream, **both, temperature=0) == ("No need.", [], "stop")
    model.script = b""
    for seed in range(4):  # random scores: the constraint alone writes calls
        options = {"tool_choice": "required", "seed": seed, "max_tokens": 200, "parallel_tool_calls": False}
        _, calls, reason = answer_of(running, stream, **both, **options)
        assert reason == "tool_calls"
        ((name, arguments),) = calls
        tool = {"weather": WEATHER, "clock": CLOCK}[name]
        jsonschema.validate(arguments, tool["function"]["parameters"])
    named = {"type": "function", "function": {"name": "clock"}}
    assert answer_of(running, stream, **both, tool_choice=named)[1:] == ([("clock", {})], "tool_calls")
    model.script = said.encode()
    assert not answer_of(running, stream, **both, tool_choice="none", max_tokens=60)[1]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("convention", ["deepseek-v3", "deepseek-v3.1", "kimi-k2", *BY_PARAMETERS])
def test_tools_in_other_conventions(running: Running, model: Scripted, convention: str, stream: bool) -> None:
    model.tool_convention = convention
    calls: list[tuple[str, dict[str, Any]]] = [("weather", {"city": "Ulm", "days": 2}), ("clock", {})]
    model.script = ("So. " + calls_text(convention, calls)).encode()
    both = {"tools": [WEATHER, CLOCK]}
    assert answer_of(running, stream, **both, temperature=0) == ("So. ", calls, "tool_calls")
    if stream:
        parts = list(ask(running, **both, temperature=0, stream=True))
        ids = [call.id for part in parts for call in part.choices[0].delta.tool_calls or [] if call.id]
    else:
        ids = [call.id for call in ask(running, **both, temperature=0).choices[0].message.tool_calls or []]
    assert len(set(ids)) == 2
    assert (ids == ["functions.weather:0", "functions.clock:1"]) == (convention == "kimi-k2")


def test_conventions_are_told_from_chat_templates() -> None:
    for convention in TOOL_FORMATS:
        if convention not in ("qwen", "llama3"):  # the same as Hermes; no mark of its own
            text = calls_text(convention, [("f", {"a": 1})])
            expected = "llama3" if convention == "llama3-python-tag" else convention
            assert told_convention("{{ x }}" + text + "{% endfor %}") == expected
    assert told_convention("{{ messages }}") is None


def test_calls_are_streamed_while_they_are_written(running: Running, model: Scripted) -> None:
    said = 'Ja. <tool_call>\n{"name": "weather", "arguments": {"city": "Ulm", "days": 2}}\n</tool_call>'
    model.script, model.pause = said.encode(), 0.005
    begin = time.perf_counter()
    came: dict[str, float] = {}  # the first of each kind
    pieces = 0
    for part in ask(running, tools=[WEATHER, CLOCK], temperature=0, stream=True):
        delta = part.choices[0].delta
        for kind in ("content", "tool_calls"):
            if getattr(delta, kind):
                came.setdefault(kind, time.perf_counter() - begin)
        pieces += bool(delta.tool_calls)
    whole = time.perf_counter() - begin
    assert came["content"] < came["tool_calls"] < 0.9 * whole
    assert pieces > 5
    with running.client.chat.completions.stream(
        model="scripted", messages=SAY, tools=[WEATHER, CLOCK], temperature=0
    ) as stream:  # the client's own reader of deltas
        for _ in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    assert message.content == "Ja. "
    assert [(c.function.name, c.function.arguments) for c in message.tool_calls or []] == [
        ("weather", '{"city": "Ulm", "days": 2}')
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_tools_with_special_tokens(running: Running, model: Scripted, stream: bool) -> None:
    model.tool_convention = "mistral"
    options = {"tools": [WEATHER, CLOCK], "tool_choice": "required", "max_tokens": 300}
    for seed in range(4):
        text, calls, reason = answer_of(running, stream, **options, seed=seed)
        assert (text, reason) == ("", "tool_calls")
        assert {name for name, _ in calls} <= {"weather", "clock"}
        assert calls
    model.tool_convention = None
    with pytest.raises(openai.BadRequestError, match="--tool-convention"):
        ask(running, **options)


def test_calls_of_earlier_answers_are_read(running: Running, model: Scripted) -> None:
    model.script = b"Done."
    call = {"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    earlier = [
        *SAY,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "12:00"},
    ]
    answer = ask(running, messages=earlier, tools=[CLOCK], temperature=0)
    assert answer.choices[0].message.content == "Done."
    call["function"] = {"name": "clock", "arguments": "{"}
    with pytest.raises(openai.BadRequestError, match="tool_calls: expected calls"):
        ask(running, messages=earlier, tools=[CLOCK])


LONG = "0.1000000000000000000001"


def completed(running: Running, schema: str) -> httpx.Response:
    form = f'{{"type": "json_schema", "json_schema": {{"name": "x", "schema": {schema}}}}}'
    body = f'{{"prompt": "a", "max_tokens": 60, "response_format": {form}}}'
    return httpx.post(f"{running.url}/v1/completions", content=body)


def test_numbers_of_schemas_stay_as_they_are_written(running: Running, model: Scripted) -> None:
    bounds = '{"type": "integer", "minimum": 9007199254740993.0, "maximum": 9007199254740993.0}'
    for schema, text in (('{"const": 0.1}', "0.1"), (f'{{"const": {LONG}}}', LONG), (bounds, "9007199254740993")):
        assert completed(running, schema).json()["choices"][0]["text"] == text
    refused = completed(running, '{"type": "number", "minimum": 1e400, "maximum": 1}')
    assert refused.status_code == 400
    assert "inf" not in refused.json()["error"]["message"]


@pytest.mark.parametrize("nested", [True, False])
def test_numbers_of_tools_stay_as_they_are_written(running: Running, model: Scripted, nested: bool) -> None:
    parameters = f'{{"type": "object", "properties": {{"x": {{"const": {LONG}}}}}, "required": ["x"]}}'
    tool = f'"name": "f", "parameters": {parameters}'
    tool = f'{{"type": "function", "function": {{{tool}}}}}' if nested else f'{{"type": "function", {tool}}}'
    model.script = f'<tool_call>\n{{"name": "f", "arguments": {{"x": {LONG}}}}}\n</tool_call>'.encode()
    body = f'{{"messages": [{{"role": "user", "content": "x"}}], "tools": [{tool}], "tool_choice": "required", '
    url = f"{running.url}/v1/chat/completions"
    answer = httpx.post(url, content=body + '"temperature": 0, "max_tokens": 300, "stream": true}').text
    lines = [json.loads(line[6:]) for line in answer.splitlines() if line.startswith("data: {")]
    deltas = [call for line in lines for call in line["choices"][0]["delta"].get("tool_calls", ())]
    assert "".join(call["function"]["arguments"] for call in deltas) == f'{{"x": {LONG}}}'


def test_json_object(running: Running, model: Scripted) -> None:
    text = ask(running, response_format={"type": "json_object"}, max_tokens=50).choices[0].message.content
    assert isinstance(json.loads(text), dict)


def test_extensions(running: Running, model: Scripted) -> None:
    text = ask(running, extra_body={"regex": r"[0-9]{4}-[01][0-9]"}).choices[0].message.content
    assert re.fullmatch(r"[0-9]{4}-[01][0-9]", text)
    assert ask(running, extra_body={"choice": ["ja", "nein"]}).choices[0].message.content in {"ja", "nein"}
    lark = 'start: "(" start ")" | "x"'
    text = ask(running, extra_body={"grammar": lark}, max_tokens=30).choices[0].message.content
    assert re.fullmatch(r"\(*x\)*", text)
    assert text.count("(") == text.count(")")
    gbnf = 'root ::= "a" root "b" | "c"'
    extra = {"grammar": gbnf, "grammar_syntax": "gbnf"}
    text = ask(running, extra_body=extra, max_tokens=30).choices[0].message.content
    assert re.fullmatch(r"a*cb*", text)
    assert text.count("a") == text.count("b")


def test_plain_completions(running: Running, model: Scripted) -> None:
    model.script = b"one two three"
    complete = running.client.completions.create
    assert complete(model="scripted", prompt="count", temperature=0).choices[0].text == "one two three"
    several = complete(model="scripted", prompt=["a", "b"], n=2, temperature=0)
    assert [c.text for c in several.choices] == ["one two three"] * 4
    assert complete(model="scripted", prompt=[66, 67], temperature=0, max_tokens=3).choices[0].text == "one"
    assert complete(model="scripted", prompt="x", temperature=0, max_tokens=3).choices[0].finish_reason == "length"
    lists = complete(model="scripted", prompt=[[66], [67, 68]], temperature=0, max_tokens=3)
    assert ([c.text for c in lists.choices], lists.usage.prompt_tokens) == (["one", "one"], 3)
    for wrong in ([], [[66], []], [[66], [99_999]], [99_999]):
        with pytest.raises(openai.BadRequestError, match=r"prompt: expected (a text|token ids below)") as refused:
            complete(model="scripted", prompt=wrong)
        assert refused.value.param == "prompt"


@pytest.mark.parametrize("stop", ["two", ["zzz", " two th", "three"], "one"])
def test_stop_texts_end_an_answer_and_stay_out_of_it(running: Running, model: Scripted, stop: Any) -> None:
    model.script = b"one two three"
    stops = [stop] if isinstance(stop, str) else stop
    expected = "one two three"[: min(at for s in stops if (at := "one two three".find(s)) >= 0)]
    whole = ask(running, temperature=0, stop=stop).choices[0]
    assert (whole.message.content, whole.finish_reason) == (expected, "stop")
    parts = ask(running, temperature=0, stop=stop, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in parts) == expected


def test_seeds_repeat_answers(running: Running, model: Scripted) -> None:
    def answers(seed: int) -> list[str | None]:
        model.started = 0
        found = ask(running, seed=seed, n=3, extra_body={"regex": "[a-z]{20}"}).choices
        return [choice.message.content for choice in found]

    assert answers(1) == answers(1) != answers(2)


def test_bias_and_top_p(running: Running, model: Scripted) -> None:
    vowels = {"regex": "[aeiou]{8}"}
    bias = {str(1 + ord("e")): 50.0}
    assert ask(running, extra_body=vowels, logit_bias=bias).choices[0].message.content == "e" * 8
    assert ask(running, extra_body=vowels, top_p=1e-6, logit_bias=bias).choices[0].message.content == "e" * 8
    spread = ask(running, extra_body=vowels, logit_bias=bias, frequency_penalty=2, presence_penalty=2, n=30)
    assert all(c.message.content == "e" * 8 for c in spread.choices)  # 50 is more than eight penalties


def test_requests_run_side_by_side(running: Running, model: Scripted) -> None:
    model.pause = 0.002
    patterns = [rf"{letter}{{30}}" for letter in string.ascii_lowercase[:12]]

    def one(pattern: str) -> str:
        return str(ask(running, extra_body={"regex": pattern + "[xy]"}).choices[0].message.content)

    with ThreadPoolExecutor(12) as pool:
        for pattern, text in zip(patterns, pool.map(one, patterns), strict=True):
            assert re.fullmatch(pattern + "[xy]", text)


HOSTILE = "".join(f"(?=([ab]{{{n}}})*$)" for n in (11, 13, 17, 19, 23)) + "[ab]+"
BAD = {
    "unknown field": ({"extra_body": {"guided_regexp": "a"}}, "guided_regexp"),
    "type": ({"temperature": "hot"}, "temperature"),
    "range": ({"top_p": 1.5}, "top_p"),
    "role": ({"messages": [{"role": "oracle", "content": "x"}]}, "messages.0.role"),
    "image": ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "image_url"),
    "template": ({"messages": [{"role": "user", "content": "refuse me"}]}, "no such conversation"),
    "pattern": ({"extra_body": {"regex": "(a"}}, "regex"),
    "empty": ({"extra_body": {"regex": "a(?!)"}}, "regex"),
    "grammar": ({"extra_body": {"grammar": "start: missing"}}, "missing"),
    "syntax": ({"extra_body": {"grammar": "x", "grammar_syntax": "yacc"}}, "grammar_syntax"),
    "two constraints": ({"extra_body": {"regex": "a", "choice": ["a"]}}, "expected one constraint"),
    "schema": ({"response_format": schema_format({"type": "strin"})}, "type"),
    "unsupported": (
        {"response_format": schema_format({"type": "array", "uniqueItems": True, "contains": {}})},
        "uniqueItems",
    ),
    "contradiction": (
        {"response_format": schema_format({"type": "integer", "minimum": 3, "maximum": 2})},
        "response_format",
    ),
    "source size": ({"extra_body": {"choice": ["x" * 4000]}}, "source_bytes=3,000"),
    "budget": ({"extra_body": {"regex": "[a-z]{20}"}, "max_tokens": 5}, "max_tokens"),
    "too many tokens": ({"max_tokens": 500}, "new_tokens=400"),
    "too many completion tokens": ({"max_tokens": None, "max_completion_tokens": 500}, "max_completion_tokens: 500; "),
    "too few completion tokens": (
        {"max_tokens": None, "max_completion_tokens": 2, "extra_body": {"regex": "a{9}"}},
        "max_completion_tokens: start: max_completion_tokens=2 is too small",
    ),
    "a syntax of nothing": ({"extra_body": {"grammar_syntax": "gbnf"}}, "grammar_syntax: expected a grammar beside it"),
    "elsewhere": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"$ref": "http://a/b"}}}},
        'no such document was given; put it into "$defs", with its "$id" (nothing is ever fetched)',
    ),
    "context": ({"messages": [{"role": "user", "content": "x" * 3000}]}, "the model reads 2000"),
    "tool": ({"tools": [{"type": "function"}]}, "tools"),
    "tool choice": ({"tools": [CLOCK], "tool_choice": "sometimes"}, "tool_choice"),
    "tool and schema": ({"tools": [CLOCK], "response_format": {"type": "json_object"}}, "expected one constraint"),
    "choices": ({"n": 31}, "choices=30"),
    "format": ({"response_format": {"type": "xml"}}, "response_format"),
    "hostile": ({"extra_body": {"regex": HOSTILE}}, "the limit emptiness"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_requests_get_the_reason(running: Running, model: Scripted, case: str) -> None:
    options, expected = BAD[case]
    with pytest.raises(openai.BadRequestError) as info:
        ask(running, **options)
    assert expected in info.value.body["message"], info.value.body
    field, _, reason = info.value.body["message"].partition(": ")
    assert not reason.startswith(f"{field}: "), info.value.body
    assert info.value.body["type"] == "invalid_request_error"
    assert not field.startswith("max_") or info.value.body["param"] == field
    assert ask(running, extra_body={"choice": ["ja"]}).choices[0].message.content == "ja"


def test_other_wrong_requests(running: Running, model: Scripted) -> None:
    with pytest.raises(openai.NotFoundError, match="this server runs scripted"):
        ask(running, model="other")
    with pytest.raises(openai.NotFoundError, match="this server runs scripted, not a/b"):
        running.client.models.retrieve("a/b")
    with pytest.raises(openai.NotFoundError, match=r"no POST /v1/embeddings; expected POST /v1/chat/completions or"):
        running.client.embeddings.create(model="scripted", input="x")
    url = f"{running.url}/v1/chat/completions"
    answer = httpx.get(url)
    assert (answer.status_code, answer.json()["error"]["type"]) == (405, "invalid_request_error")
    assert "no GET /v1/chat/completions; expected POST" in answer.json()["error"]["message"]
    for body in (b"", b"[1]", b"{", b"[" * 100_000, b"\xff"):
        answer = httpx.post(url, content=body)
        assert answer.status_code == 400, body[:10]
        assert "body" in answer.json()["error"]["message"], body[:10]
    assert httpx.post(url, content=b" " * (LIMITS.body_bytes + 1)).status_code == 413
    assert httpx.get(f"{running.url}/health").json() == {"status": "ok"}


WRITTEN = '"type": "null", "type'
SAID = '"messages": [{"role": "user", "content": "x"}]'
ODD = {  # what clients in general do not write
    "role": ('{"messages": [{"role": ["user"], "content": "x"}]}', "messages.0.role"),
    "calls": ('{"messages": [{"role": "assistant", "content": "x", "tool_calls": 5}]}', "expected a list"),
    "nested calls": (
        json.dumps({"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": "[" * 9999}}]}]}),
        "messages.0.tool_calls",
    ),
    "surrogate": ('{"messages": [{"role": "user", "content": "\\ud800"}]}', "surrogates not allowed"),
    "surrogate shown": (f'{{{SAID}, "model": "\\ud800"}}', "surrogates not allowed"),
    "other encoding": (f"{{{SAID}}}".encode("utf-16"), "the body is not JSON"),
    "not a number": (f'{{{SAID}, "temperature": NaN}}', "the body: line 1, column"),
    "key twice": (f'{{{SAID}, "regex": "a+", "regex": "b+"}}', '"regex"'),
    "key of a schema twice": (
        f'{{{SAID}, "response_format": {json.dumps(schema_format({"x": 0})).replace(chr(34) + "x", WRITTEN)}}}',
        '"type"',
    ),
    "endless": (f'{{{SAID}, "logit_bias": {{"5": 1e999}}}}', "logit_bias"),
    "negative": (f'{{{SAID}, "logit_bias": {{"-5": 1}}}}', "logit_bias: expected token ids below"),
    "no number of answers": (f'{{{SAID}, "n": 0}}', "n: Input should be greater than or equal to 1"),
    "no tools": (f'{{{SAID}, "tool_choice": "required"}}', "tool_choice: expected tools to choose from"),
    "texts in texts": (f'{{{SAID}, "stop": [["x"]]}}', "stop: Input should be a valid string"),
    "nested": (f'{{{SAID}, "choice": [{"[" * 9000}]}}', "body"),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_bodies_get_the_reason(running: Running, model: Scripted, case: str) -> None:
    body, expected = ODD[case]
    answer = httpx.post(f"{running.url}/v1/chat/completions", content=body)
    assert answer.status_code == 400, answer.text
    assert expected in answer.json()["error"]["message"], answer.text


@pytest.mark.parametrize("named", ["sometimes", "", {}, {"type": "function", "function": {"name": "watch"}}], ids=str)
@pytest.mark.parametrize("tools", [[CLOCK], []], ids=["tools", "no tools"])
def test_a_wrong_choice_of_tools_is_named(running: Running, model: Scripted, named: Any, tools: Any) -> None:
    body = {"messages": SAY, "tools": tools, "tool_choice": named}
    answer = httpx.post(f"{running.url}/v1/chat/completions", json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "tool_choice"), answer.text
    expected = "tool_choice: tools: expected tool_choice " if tools else "tool_choice: expected tools to choose from"
    assert answer.json()["error"]["message"].startswith(expected)


@pytest.mark.parametrize("left_out", [{}, {"tool_choice": None}], ids=str)
def test_tools_may_be_called_where_no_choice_is_named(running: Running, model: Scripted, left_out: Any) -> None:
    model.script = b"No need."
    body = {"messages": SAY, "tools": [CLOCK], "temperature": 0, **left_out}
    answer = httpx.post(f"{running.url}/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["choices"][0]["message"]["content"] == "No need."


def test_tools_have_the_limits_of_the_server(running: Running, model: Scripted, monkeypatch: Any) -> None:
    asked: list[Any] = []

    def seen(*arguments: Any, limits: Any, **options: Any) -> tokamata.Constraint:
        asked.append(limits)
        return tokamata.tools(*arguments, limits=limits, **options)

    monkeypatch.setattr("tokamata.serve.requested.tools", seen)
    ask(running, tools=[{"type": "function", "function": {"name": "own"}}], max_tokens=60)
    assert asked == [tokamata.Limits(seconds=LIMITS.seconds)]


def test_null_is_what_is_left_out(running: Running, model: Scripted) -> None:
    """As in OpenAI's API, where most fields are nullable."""
    model.script = b"fine"
    fields = "temperature top_p n stop seed stream stream_options presence_penalty frequency_penalty logit_bias user "
    fields += "metadata response_format tools tool_choice parallel_tool_calls regex grammar grammar_syntax choice model"
    body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 9, **dict.fromkeys(fields.split())}
    answer = httpx.post(f"{running.url}/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["choices"][0]["message"]["content"] == "fine"


@pytest.mark.parametrize("field", ["echo", "logprobs", "store"])
def test_fields_that_may_only_be_false(running: Running, model: Scripted, field: str) -> None:
    """Clients that write defaults out are served."""
    model.script = b"x"
    url, body = f"{running.url}/v1/completions", {"prompt": "ab", "max_tokens": 3, "temperature": 0}
    assert httpx.post(url, json={**body, field: False}).json()["choices"][0]["text"] == "x"
    answer = httpx.post(url, json={**body, field: True})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, field)
    assert answer.json()["error"]["message"] == f"this server knows {field} as false only"


def test_a_broken_model_fails_the_answer_and_not_the_server(running: Running, model: Scripted) -> None:
    model.script = b"raise"
    with pytest.raises(openai.InternalServerError, match="the model broke"):
        ask(running)
    with pytest.raises(openai.APIError, match="the model broke"):
        list(ask(running, stream=True))
    model.script = b"fine"
    assert ask(running, temperature=0).choices[0].message.content == "fine"


def test_too_many_waiting_requests_are_refused(model: Scripted) -> None:
    small = Running(Scripted(), ServerLimits(running=1, waiting=2, choices=8))
    try:
        assert ask(small, n=2, extra_body={"regex": "a[bc]"}).choices[1].message.content in {"ab", "ac"}
        small.model.pause, small.model.script = 0.05, b"x" * 1000
        with ask(small, stream=True) as first:
            assert any(part.choices[0].delta.content for part in first)  # it is running
            with (
                ask(small, stream=True),
                pytest.raises(openai.RateLimitError, match=r"1 answers are waiting; .* waiting=2; try again later"),
            ):
                ask(small, n=2)
    finally:
        small.close()


def test_more_answers_than_may_ever_wait_are_refused_for_good() -> None:
    """Nobody waits, so a later try would be refused as well."""
    small = Running(Scripted(), ServerLimits(waiting=4))
    try:
        rest = "answers asked for; this server's limit is waiting=4; ask for at most 4 in one request"
        for endpoint, body, parameter, count in (
            ("completions", {"prompt": list("abcde")}, "prompt", 5),
            ("completions", {"prompt": ["a", "b", "c"], "n": 2}, "prompt", 6),
            ("completions", {"prompt": "a", "n": 5}, "n", 5),
            ("chat/completions", {"messages": SAY, "n": 5, "stream": True}, "n", 5),
        ):
            answer = httpx.post(f"{small.url}/v1/{endpoint}", json=body)
            error = answer.json()["error"]
            expected = (400, parameter, f"{parameter}: {count} {rest}")
            assert (answer.status_code, error["param"], error["message"]) == expected
        for prompt, n in ((list("abcd"), 1), (["a", "b"], 2), ([66, 67, 68, 69, 70], 4), ("abcde", 4)):
            answer = httpx.post(f"{small.url}/v1/completions", json={"prompt": prompt, "n": n, "max_tokens": 1})
            assert answer.status_code == 200, answer.text
            assert len(answer.json()["choices"]) == 4
    finally:
        small.close()


def test_an_answer_that_nobody_reads_ends(running: Running, model: Scripted) -> None:
    model.pause, model.script = 0.01, b"x" * 390
    for stream in (True, False):
        started, begin = model.started, time.perf_counter()
        with pytest.raises(httpx.ReadTimeout):
            body = {"messages": SAY, "temperature": 0, "stream": stream}
            with httpx.stream("POST", f"{running.url}/v1/chat/completions", json=body, timeout=0.2) as answer:
                for _ in answer.iter_lines():
                    if stream and time.perf_counter() - begin > 0.2:
                        raise httpx.ReadTimeout("enough")
        assert model.started == started + 1
    model.script = b"quick"
    assert ask(running, temperature=0).choices[0].message.content == "quick"
    assert time.perf_counter() - begin < 3.5  # the whole answer would have taken four seconds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random model with a byte-level tokenizer and a chat template, saved as a model folder."""
    tokenizer = byte_tokenizer(["<end>", "<stop>"])
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ (tools or [])|length }}"
    )
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", tokenizer, size=270, eos=[0, 1])


def test_a_transformers_model(folder: Path) -> None:
    model = TransformersModel(folder)
    assert (model.name, model.context, model.vocabulary.eos_token_ids) == ("tiny", 512, [0, 1])
    prompt = model.chat([{"role": "user", "content": "hé"}], [])
    assert b"".join(model.vocabulary.token_bytes(t) or b"" for t in prompt).decode() == "user: hé\n0"
    run = model.start(prompt)
    for token in (5, 6, 7):
        run.push(token)
        with torch.inference_mode():
            expected = model.network(torch.tensor([[*prompt, 5, 6, 7][: len(prompt) + token - 4]])).logits[0, -1]
        np.testing.assert_allclose(run.logits(), expected.numpy(), atol=1e-5)
    server = Running(model, LIMITS)
    try:
        answer = ask(server, model="tiny", response_format=schema_format(PERSON), max_tokens=60, n=3)
        for choice in answer.choices:
            jsonschema.validate(json.loads(choice.message.content), PERSON)
        model.tokenizer.chat_template = None
        with pytest.raises(openai.BadRequestError, match="no chat template"):
            ask(server, model="tiny")
    finally:
        server.close()


def test_every_limit_is_an_option_of_the_command() -> None:
    from tokamata.cli.serve import command

    options = inspect.signature(command).parameters
    assert {f.name: options[f.name].default for f in dataclasses.fields(ServerLimits)} == vars(ServerLimits())


def test_a_tool_convention_that_is_none(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a tool convention of hermes, .* got 'magic'; leave it out"):
        TransformersModel(folder, tool_convention="magic")


def test_the_command_line(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tokamata", "serve", "-m", str(folder), "--port", str(port), "--new-tokens", "50"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            for _ in range(600):
                try:
                    assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
                    break
                except httpx.TransportError:
                    assert process.poll() is None, process.communicate()[0]
                    time.sleep(0.1)
            body = {"prompt": "x", "regex": "[ab]{9}", "max_tokens": 10}
            answer = httpx.post(f"http://127.0.0.1:{port}/v1/completions", json=body).json()
            assert re.fullmatch("[ab]{9}", answer["choices"][0]["text"]), answer
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
    assert process.returncode == 0
