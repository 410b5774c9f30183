"""Tool calls: what is sampled is read by json and jsonschema, and what the models' own tokenizers write is allowed."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from oracle.packages import vocabulary_file

import tokamata
from tokamata import ConstraintError, LimitError, Limits, Reply, ToolCall, ToolFormat, UnsupportedError, tools

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"$ref": "#/$defs/city"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["C", "F"]},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"city": {"type": "string", "maxLength": 20}},
}
DEFINITIONS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "get_weather", "description": "…", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "now"}},
    {"type": "function", "name": "note", "parameters": {"type": "object"}, "strict": False},
]
SCHEMAS = {"get_weather": WEATHER, "now": {"maxProperties": 0}, "note": {"type": "object"}}
CONVENTIONS = ["hermes", "llama3", "llama3-python-tag", "mistral", "mistral-v11"]
BY_NAME = {"type": "function", "function": {"name": "now"}}

HERMES_CALLS = "\n".join(
    f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>' for name in ("now", "note")
)
CALL = '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}'


def read(text: str, convention: str) -> tuple[str, list[tuple[str, Any]]]:
    """Text and calls, by the regular expressions that the parsers of inference servers use."""
    if convention == "hermes":
        found = re.findall(r"<tool_call>(.*?)</tool_call>", text, re.S)
        return text.split("<tool_call>")[0], [(c["name"], c["arguments"]) for c in map(json.loads, found)]
    if convention == "llama3":
        if not text.startswith("{"):
            return text, []
        values, at = [], 0
        while at < len(text):
            value, at = json.JSONDecoder().raw_decode(text, at)
            values.append((value["name"], value["parameters"]))
            assert text[at:][:2] in ("", "; ")
            at += 2
        return "", values
    if convention == "llama3-python-tag":
        content, tag, rest = text.partition("<|python_tag|>")
        return content, read(rest, "llama3")[1] if tag else []
    content, *rest_ = text.split("[TOOL_CALLS]")
    if convention == "mistral":
        return content, [(c["name"], c["arguments"]) for c in (json.loads(rest_[0]) if rest_ else [])]
    pairs = [call.split("[ARGS]") for call in rest_]
    return content, [(name, json.loads(arguments)) for name, arguments in pairs]


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("choice", ["auto", "required", "none", BY_NAME], ids=["auto", "required", "none", "name"])
def test_samples_are_calls_of_the_tools(convention: str, parallel: bool, choice: Any) -> None:
    made = tools(DEFINITIONS, convention, tool_choice=choice, parallel=parallel)
    counts = set()
    for text in made.examples(40, seed=1):
        plain = text.replace(b"\xff", b"").decode()
        content, calls = read(plain, convention)
        counts.add(min(len(calls), 2))
        for name, arguments in calls:
            jsonschema.validate(arguments, SCHEMAS[name])
            assert choice != BY_NAME or name == "now"
        expected = Reply(content, tuple(ToolCall(name, arguments) for name, arguments in calls))
        for written in (text, plain):
            reply = made.parse(written)
            assert Reply(reply.text, tuple(ToolCall(c.name, c.arguments) for c in reply.calls)) == expected
    allowed = {"none": {0}, "auto": {0, 1, 2}, "required": {1, 2}}[choice if choice in ("none", "auto") else "required"]
    assert counts <= (allowed if parallel else allowed - {2})
    if choice == "required":
        assert 1 in counts


def test_hermes_as_templates_write_it() -> None:
    made = tools(DEFINITIONS)
    text = (
        f"I'll look.\n<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n"
        + '{"name": "now", "arguments": {}}\n</tool_call>'
    )
    assert made.accepts(text)
    assert made.parse(text) == Reply(
        "I'll look.\n", (ToolCall("get_weather", {"city": "Paris", "days": 3}), ToolCall("now", {}))
    )
    assert made.parse("No <tool_calls here.").text == "No <tool_calls here."
    for wrong in [
        text + "more",
        text.replace("3", "15"),
        text.replace("now", "later"),
        text.replace("Paris", "Llanfairpwllgwyngyllgogerych"),
        "<tool_call>",
        "<tool_call>\n{}\n</tool_call>",
    ]:
        assert not made.accepts(wrong)
    assert not tools(DEFINITIONS, parallel=False).accepts(text)
    assert not tools(DEFINITIONS, tool_choice="required").accepts(text)
    assert tools(DEFINITIONS, tool_choice="required", text=True).accepts(text)
    assert not tools(DEFINITIONS, tool_choice="required", text=True).accepts("No.")
    assert not tools(DEFINITIONS, text=False).accepts(text)
    assert tools(DEFINITIONS, text=False).accepts("No.")


@pytest.mark.parametrize(
    ("convention", "text"),
    [
        ("qwen", HERMES_CALLS),
        ("llama3", '{"name": "now", "parameters": {}}; {"name": "note", "parameters": {}}'),
        ("llama3-python-tag", '<|python_tag|>{"name": "now", "parameters": {}}; {"name": "note", "parameters": {}}'),
        ("mistral", '[TOOL_CALLS] [{"name": "now", "arguments": {}}, {"name": "note", "arguments": {}}]'),
        (
            "mistral",
            '[TOOL_CALLS][{"name": "now", "arguments": {}, "id": "abcDEF123"}, {"name": "note", "arguments": {}}]',
        ),
        ("mistral-v11", "[TOOL_CALLS]now[ARGS]{}[TOOL_CALLS]note[ARGS]{}"),
    ],
)
def test_several_calls(convention: str, text: str) -> None:
    calls = tools(DEFINITIONS, convention).parse(text).calls
    assert [(c.name, c.arguments) for c in calls] == [("now", {}), ("note", {})]
    assert calls[0].id == ("abcDEF123" if "abc" in text else None)


def test_mentioned_marks_inside_arguments_are_text() -> None:
    made = tools(DEFINITIONS, "mistral-v11")
    arguments = {"q": "[TOOL_CALLS]now[ARGS]{} </tool_call>"}
    text = "[TOOL_CALLS]note[ARGS]" + json.dumps(arguments)
    assert made.parse(text) == Reply("", (ToolCall("note", arguments),))
    text = '<tool_call>\n{"name": "note", "arguments": ' + json.dumps(arguments) + "}\n</tool_call>"
    assert tools(DEFINITIONS).parse(text) == Reply("", (ToolCall("note", arguments),))


def test_llama_text_does_not_begin_like_a_call() -> None:
    made = tools(DEFINITIONS, "llama3")
    assert all(map(made.accepts, ["a {", " ", "", "\n- {}"]))
    assert not made.accepts(' {"name"')
    assert not made.accepts("{}")
    call = '{"name": "now", "parameters": {}}'
    assert made.parse(f"{call}; {call}").calls == (ToolCall("now", {}),) * 2
    assert not tools(DEFINITIONS, "llama3", tool_choice="none").accepts(call)


def test_some_of_the_tools() -> None:
    three = [{"name": name} for name in ("a", "b", "c")]
    names = [{"type": "function", "name": "b"}, {"type": "function", "function": {"name": "c"}}]
    for mode in ("auto", "required"):
        choice = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": names}}
        made = tools(three, "llama3", tool_choice=choice)
        assert made.equivalent(tools(three[1:], "llama3", tool_choice=mode))
    with pytest.raises(ValueError, match='expected allowed_tools with "mode" and a list of "tools"'):
        tools(DEFINITIONS, tool_choice={"type": "allowed_tools", "mode": "none", "tools": []})
    with pytest.raises(ValueError, match='expected allowed_tools with "mode" and a list of "tools", got 5'):
        tools(DEFINITIONS, tool_choice={"type": "allowed_tools", "allowed_tools": 5})
    with pytest.raises(ConstraintError, match=r"expected tool_choice to name one of the tools, .*, got 'x'; add"):
        tools(DEFINITIONS, tool_choice={"type": "allowed_tools", "tools": [{"type": "function", "name": "x"}]})
    with pytest.raises(ValueError, match="got 'now'"):
        tools(DEFINITIONS, tool_choice={"type": "allowed_tools", "tools": ["now"]})


def test_strictness() -> None:
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"x": []}}\n</tool_call>'
    assert not tools(DEFINITIONS).accepts(call)
    assert tools(DEFINITIONS, strict=False).accepts(call)
    loose = [{"name": "get_weather", "parameters": {"required": ["x"]}, "strict": False}]
    assert tools(loose).accepts(call.replace('{"x": []}', "{}"))
    assert not tools(loose, strict=True).accepts(call.replace('{"x": []}', "{}"))
    assert not tools([{"name": "get_weather", "parameters": True}]).accepts(call.replace('{"x": []}', "[]"))


def mistral_tokens(version: str) -> tuple[Any, Path]:
    from mistral_common.tokens.tokenizers import instruct
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    folder = vocabulary_file("mistral").parent
    if version == "tekken":
        path = folder / "tekken_240718.json"
        return instruct.InstructTokenizerV3(Tekkenizer.from_file(path)), path
    path = next(iter(sorted(folder.glob(f"*.model.{version}"))))
    kind = {"v2": instruct.InstructTokenizerV2, "v3": instruct.InstructTokenizerV3, "v7": instruct.InstructTokenizerV7}
    return kind[version](SentencePieceTokenizer(str(path))), path


@pytest.mark.parametrize("version", ["v2", "v3", "v7", "tekken"])
def test_what_mistral_tokenizers_write_is_allowed(version: str) -> None:
    from mistral_common.protocol.instruct.messages import AssistantMessage
    from mistral_common.protocol.instruct.tool_calls import FunctionCall
    from mistral_common.protocol.instruct.tool_calls import ToolCall as MistralCall

    tokenizer, path = mistral_tokens(version)
    vocabulary = tokamata.Vocabulary.from_file(path)
    automaton = tokamata.compile(tools(DEFINITIONS, "mistral"), vocabulary)
    random_ = random.Random(version)
    for _ in range(3):
        calls = [
            MistralCall(
                id="null" if random_.random() < 0.5 else "".join(random_.choices("abcXYZ019", k=9)),
                function=FunctionCall(name="get_weather", arguments=json.dumps({"city": city, "days": 2})),
            )
            for city in random_.choices(["Paris", "São Paulo", 'a "b" \\ c'], k=random_.randint(1, 3))
        ]
        ids = tokenizer._encode_tool_calls_in_assistant_message(AssistantMessage(content=None, tool_calls=calls))
        state = automaton.start()
        assert state.validate(ids) == len(ids)
        for token in ids:
            state.advance(token)
        assert state.is_final
        text = b"".join(vocabulary.with_markers(["[TOOL_CALLS]"]).token_bytes(t) or b"" for t in ids)
        reply = tools(DEFINITIONS, "mistral").parse(text)
        assert [c.arguments for c in reply.calls] == [json.loads(c.function.arguments) for c in calls]
        if version != "v2":
            assert [c.id or "null" for c in reply.calls] == [c.id for c in calls]


@pytest.mark.parametrize("version", ["v11", "v13"])
def test_what_later_mistral_tokenizers_write_is_allowed(version: str, tmp_path: Path) -> None:
    """Their files are not in the package, so one is made: the format is the tokenizers' code, not their vocabulary."""
    from mistral_common.protocol.instruct.messages import AssistantMessage
    from mistral_common.protocol.instruct.tool_calls import FunctionCall
    from mistral_common.protocol.instruct.tool_calls import ToolCall as MistralCall
    from mistral_common.tokens.tokenizers import instruct
    from mistral_common.tokens.tokenizers.base import SpecialTokens
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    file = json.loads(vocabulary_file("tekken").read_text(encoding="utf-8"))
    names = [token.value for token in SpecialTokens]
    file["vocab"] = file["vocab"][:2000]
    file["config"] |= {"version": version, "default_vocab_size": 2100, "default_num_special_tokens": 100}
    file["special_tokens"] = [{"rank": i, "token_str": name, "is_control": True} for i, name in enumerate(names)]
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(file), encoding="utf-8")
    kind = {"v11": instruct.InstructTokenizerV11, "v13": instruct.InstructTokenizerV13}[version]
    calls = [
        MistralCall(id="null" if version == "v11" else "a" * 9, function=FunctionCall(name=name, arguments=arguments))
        for name, arguments in [("get_weather", '{"city": "Paris"}'), ("now", "{}")]
    ]
    message = AssistantMessage(content=None, tool_calls=calls)
    ids = kind(Tekkenizer.from_file(path))._encode_tool_calls_in_assistant_message(message)
    vocabulary = tokamata.Vocabulary.from_file(path)
    made = tools(DEFINITIONS, "mistral-v11")
    assert tokamata.compile(made, vocabulary).start().validate([*ids, 2]) == len(ids) + 1
    text = b"".join(vocabulary.with_markers(["[TOOL_CALLS]", "[ARGS]"]).token_bytes(t) or b"" for t in ids)
    assert made.parse(text).calls == (ToolCall("get_weather", {"city": "Paris"}), ToolCall("now", {}))


def test_special_or_spelled() -> None:
    names = {"<tool_call>": 1, "</tool_call>": 2}
    vocabulary = tokamata.Vocabulary(
        [None, None, None, *(bytes([b]) for b in range(256))], eos_token_ids=[0], special_tokens=names
    )
    spelled = [3 + b for b in f"<tool_call>\n{CALL}\n</tool_call>".encode()]
    special = [1, *(3 + b for b in f"\n{CALL}\n".encode()), 2]
    for chosen, tokens in [(False, spelled), (True, special)]:
        state = tokamata.compile(tools(DEFINITIONS, special=chosen), vocabulary).start()
        assert state.validate([*tokens, 0]) == len(tokens) + 1
        state = tokamata.compile(tools(DEFINITIONS, special=chosen, tool_choice="required"), vocabulary).start()
        assert state.validate(special if tokens is spelled else spelled) == 0


def test_a_format_of_ones_own() -> None:
    fenced = ToolFormat(
        begin=("<calls>",),
        before="<call>",
        middle="\n```json\n",
        after="\n```</call>",
        end="</calls>",
        quoted=False,
        trigger="<calls>",
        marks=("<calls>", "<call>", "</call>", "</calls>"),
        special=True,
    )
    made = tools([{"name": "f"}, {"name": "f2"}], fenced)
    text = "Well: <calls><call>f2\n```json\n{}\n```</call><call>f\n```json\n{}\n```</call></calls>"
    assert made.parse(text) == Reply("Well: ", (ToolCall("f2", {}), ToolCall("f", {})))
    with pytest.raises(ConstraintError, match=r"^ToolFormat: expected a trigger that begins begin \+ before, got"):
        ToolFormat("a", "b", "c", trigger="x")


def test_the_report_names_places_in_the_definitions() -> None:
    places = {(entry.place, entry.status) for entry in tools(DEFINITIONS).report}
    assert ("/0/function/parameters/properties/days/minimum", "enforced") in places
    assert ("/2/parameters/type", "enforced") in places
    assert len(tools(DEFINITIONS).report) == len(places)


def test_errors() -> None:
    with pytest.raises(ConstraintError, match=r"of 'f': expected a schema that allows an object, which arguments are"):
        tokamata.tools([{"name": "f", "parameters": {"type": "array"}}])
    function = {"name": "f", "parameters": {"$ref": "#/x"}}
    cases: list[tuple[list[Any], dict[str, Any], type[Exception], str]] = [
        ([{"type": "function", "function": {}}], {}, ConstraintError, 'at "/0/function/name": expected the name'),
        ([{"name": "f"}, {"name": "f"}], {}, ConstraintError, "at \"/1/name\": there is another tool 'f'"),
        ([{"type": "web_search"}], {}, UnsupportedError, 'at "/0/type": expected "function", got \'web_search\''),
        ([{"type": "function", "function": 3}], {}, ConstraintError, 'at "/0/function": expected a dict, got int'),
        ([3], {}, TypeError, 'at "/0": expected a tool definition as a dict, got int'),
        ([function], {}, ConstraintError, 'at "/0/parameters", the schema of \'f\': json_schema: at "/$ref"'),
        (
            [],
            {"tool_choice": "required"},
            ConstraintError,
            'expected at least one tool for tool_choice "required", got none; use "auto"',
        ),
        (
            [],
            {"tool_choice": BY_NAME},
            ConstraintError,
            "expected tool_choice to name one of the tools, (none), got 'now'; add",
        ),
        ([], {"tool_choice": "any"}, ValueError, 'expected tool_choice "none", "auto", "required" or'),
        ([], {"tool_choice": {"type": "x"}}, ValueError, "got {'type': 'x'}"),
        ([], {"convention": "gpt"}, ValueError, "expected a convention of hermes, qwen, llama3"),
        ([], {"convention": "llama3", "special": True}, ValueError, "has no marks that could be special tokens"),
        ([], {"convention": "llama3", "text": True}, ValueError, "calls are all of the text"),
    ]
    for definitions, options, kind, text in cases:
        with pytest.raises(kind, match=re.escape(text)):
            tools(definitions, **options)
    with pytest.raises(TypeError, match="expected a list of tool definitions, got dict"):
        tools(function)  # type: ignore[arg-type]


def test_no_member_is_parsed() -> None:
    made = tools(DEFINITIONS)
    for text, error in [
        ("<tool_call>", r"at character 0: expected '<tool_call>\\n\{\"name\": ', got '<tool_call>'"),
        ('<tool_call>\n{"name": 3', "3 is none of the tools"),
        ('<tool_call>\n{"name": x', "at character 21: expected the name of a tool"),
        (f"<tool_call>\n{CALL}\n</tool_call>x", "the first 91 bytes of it begin one, then come b'x'"),
        (f"<tool_call>\n{CALL.replace('3', '99')}\n</tool_call>", "bytes of it begin one, then come b'9}}"),
        (b"a\xff", "the first 1 bytes of it begin one"),
    ]:
        with pytest.raises(ConstraintError, match=error):
            made.parse(text)


@pytest.mark.parametrize(
    ("convention", "place"), [("hermes", ", the schema of"), ("qwen3-coder", "/properties/city, the parameter")]
)
def test_limits_of_the_schemas(convention: str, place: str) -> None:
    with pytest.raises(LimitError, match="the limit expression_nodes=50 was reached") as refused:
        tools(DEFINITIONS, convention, limits=Limits(expression_nodes=50))
    assert str(refused.value).replace('"', "").startswith(f"tools: at /0/function/parameters{place}")
    with pytest.raises(TypeError, match=r"tools: expected limits as tokamata\.Limits or None, got int"):
        tools([], convention, limits=3)  # type: ignore[arg-type]
    assert tools(DEFINITIONS, convention, limits=Limits(seconds=9)).accepts("No need.")
