"""Tool calls as models write them, spelled out from their chat templates rather than by the code under test."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

READ_AS_JSON = re.compile(
    r"[ \t\r\n]*([\"\[{].*|(null|true|false|NaN|-?Infinity|-?\d+(\.\d+)?([eE][-+]?\d+)?)?[ \t\r\n]*)", re.S | re.A
)


def bare(value: Any, string_only: bool = False) -> str:
    """A value as text between marks: strings without quotes, unless they might be something else."""
    if isinstance(value, str) and (string_only or not READ_AS_JSON.fullmatch(value)):
        return value
    return json.dumps(value, ensure_ascii=False)


def call_text(
    convention: str,
    name: str,
    arguments: dict[str, Any],
    number: int = 0,
    strings: Collection[str] = (),
    identifier: str = "",
) -> str:
    """One call; ``strings``: parameters that are strings only; ``identifier``: where the convention has one."""
    data = json.dumps(arguments, ensure_ascii=False)
    each = [(key, bare(value, key in strings)) for key, value in arguments.items()]
    if convention in ("hermes", "qwen"):
        return f'<tool_call>\n{{"name": {json.dumps(name, ensure_ascii=False)}, "arguments": {data}}}\n</tool_call>'
    if convention.startswith("llama3"):
        return f'{{"name": {json.dumps(name, ensure_ascii=False)}, "parameters": {data}}}'
    if convention == "mistral":
        last = f', "id": "{identifier}"' if identifier else ""
        return f'{{"name": {json.dumps(name, ensure_ascii=False)}, "arguments": {data}{last}}}'
    if convention == "mistral-v11":
        return f"[TOOL_CALLS]{name}[ARGS]{data}"
    if convention == "deepseek-v3":
        return f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{data}\n```<｜tool▁call▁end｜>"
    if convention == "deepseek-v3.1":
        return f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{data}<｜tool▁call▁end｜>"
    if convention == "kimi-k2":
        return f"<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>{data}<|tool_call_end|>"
    if convention == "qwen3-coder":
        inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in each)
        return f"<tool_call>\n<function={name}>\n{inner}</function>\n</tool_call>"
    if convention == "glm-4.5":
        inner = "".join(f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in each)
        return f"<tool_call>{name}\n{inner}</tool_call>"
    if convention == "glm-4.7":
        inner = "".join(f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>" for key, value in each)
        return f"<tool_call>{name}{inner}</tool_call>"
    assert convention == "minimax-m2", convention
    inner = "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in each)
    return f'<invoke name="{name}">\n{inner}</invoke>\n'


_AROUND = {  # what begins calls, what joins them, what ends them
    "hermes": ("", "\n", ""),
    "qwen": ("", "\n", ""),
    "llama3": ("", "; ", ""),
    "llama3-python-tag": ("<|python_tag|>", "; ", ""),
    "mistral": ("[TOOL_CALLS] [", ", ", "]"),
    "mistral-v11": ("", "", ""),
    "deepseek-v3": ("<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>"),
    "deepseek-v3.1": ("<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>"),
    "kimi-k2": ("<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
    "qwen3-coder": ("", "\n", ""),
    "glm-4.5": ("", "\n", ""),
    "glm-4.7": ("", "", ""),
    "minimax-m2": ("<minimax:tool_call>\n", "", "</minimax:tool_call>"),
}
BY_PARAMETERS = ("qwen3-coder", "glm-4.5", "glm-4.7", "minimax-m2")


def calls_text(
    convention: str, calls: list[tuple[str, dict[str, Any]]], strings: Collection[str] = (), identifier: str = ""
) -> str:
    """Some calls, one after another."""
    begin, between, end = _AROUND[convention]
    texts = [call_text(convention, name, found, i, strings, identifier) for i, (name, found) in enumerate(calls)]
    return begin + between.join(texts) + end
