"""Tool definitions in the format of OpenAI's API, and which of them may be called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..automata.checks import checked_several, cut
from ..automata.errors import ConstraintError, UnsupportedError
from .constraint import to_bytes

Mode = Literal["none", "auto", "required"]
_NO_PARAMETERS = {"type": "object", "properties": {}, "additionalProperties": False}
_MODES = ("none", "auto", "required")
_NAMED = '{"type": "function", "function": {"name": ...}}'


@dataclass(frozen=True)
class ToolDefinition:
    """One tool: its name, the JSON Schema of its arguments, and where that stands in the definitions."""

    name: str
    parameters: Any
    place: str  # JSON Pointer of the schema
    loose: Any = None  # the schema that was given, of a tool that is not strict


def read_definitions(definitions: Iterable[Mapping[str, Any]], strict: bool | None) -> list[ToolDefinition]:
    """The tools of a list of definitions.

    Each is ``{"type": "function", "function": {"name", "parameters", "strict", ...}}`` or, as in the Responses API,
    has these at the top. Without parameters a tool takes none. ``strict`` True or False overrides the definitions';
    a tool that is not strict takes any JSON object.
    """
    if isinstance(definitions, (str, bytes, Mapping)):
        raise TypeError(
            f"tools: expected a list of tool definitions, got {type(definitions).__name__}; put one into a list"
        )
    tools: list[ToolDefinition] = []
    for i, given in enumerate(checked_several("tools", "tools", definitions)):
        function, place = _function(given, i)
        name = function.get("name")
        if not isinstance(name, str) or not name:
            raise ConstraintError(
                f'tools: at "{place}/name": expected the name of a function, got {name!r}; pass a text'
            )
        to_bytes(name, f'tools: at "{place}/name"')
        if any(tool.name == name for tool in tools):
            raise ConstraintError(f'tools: at "{place}/name": there is another tool {name!r}; rename one of them')
        declared = function.get("strict")
        if declared is not None and not isinstance(declared, bool):
            raise ConstraintError(
                f'tools: at "{place}/strict": expected true or false, got {cut(declared)}; pass a bool, or leave it out'
            )
        loose = declared is False if strict is None else not strict
        given_schema = function.get("parameters")
        parameters = {"type": "object"} if loose else _NO_PARAMETERS if given_schema is None else given_schema
        tools.append(ToolDefinition(name, parameters, f"{place}/parameters", given_schema if loose else None))
    return tools


def _function(given: Mapping[str, Any], i: int) -> tuple[Mapping[str, Any], str]:
    if not isinstance(given, Mapping):
        raise TypeError(
            f'tools: at "/{i}": expected a tool definition as a dict, got {type(given).__name__}; write it as '
            "OpenAI's API has it"
        )
    kind = given.get("type", "function")
    if kind != "function":
        raise UnsupportedError(f'tools: at "/{i}/type": expected "function", got {kind!r}; other tools have no schema')
    if "function" not in given:
        return given, f"/{i}"
    function = given["function"]
    if not isinstance(function, Mapping):
        raise ConstraintError(
            f'tools: at "/{i}/function": expected a dict, got {type(function).__name__}; give name and parameters'
        )
    return function, f"/{i}/function"


def read_choice(choice: str | Mapping[str, Any], tools: list[ToolDefinition]) -> tuple[Mode, list[ToolDefinition]]:
    """Whether tools may or must be called, and which: "none", "auto", "required", one by name, or some with a mode."""
    if isinstance(choice, str):
        if choice not in _MODES:
            raise ValueError(
                f'tools: expected tool_choice "none", "auto", "required" or {_NAMED}, got {choice!r}; pass one of them'
            )
        mode: Mode = choice  # type: ignore[assignment]
        if mode == "required" and not tools:
            raise ConstraintError('tools: expected at least one tool for tool_choice "required", got none; use "auto"')
        return mode, ([] if mode == "none" else tools)
    if not isinstance(choice, Mapping):
        raise TypeError(
            f"tools: expected tool_choice as str or dict, got {type(choice).__name__}; pass it as OpenAI's API has it"
        )
    if choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools", choice)
        mode, chosen = "auto", None
        if isinstance(allowed, Mapping):
            mode, chosen = allowed.get("mode", "auto"), allowed.get("tools")
        if mode not in ("auto", "required") or not isinstance(chosen, list):
            raise ValueError(
                f'tools: expected allowed_tools with "mode" and a list of "tools", got {allowed!r:.100}; the mode is '
                '"auto" '
                'or "required"'
            )
        return read_choice(mode, [_named(one, tools) for one in chosen])
    return "required", [_named(choice, tools)]


def _named(choice: Any, tools: list[ToolDefinition]) -> ToolDefinition:
    function = choice.get("function", choice) if isinstance(choice, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or choice.get("type") != "function":
        raise ValueError(f"tools: expected tool_choice {_NAMED}, got {choice!r:.100}; name a function")
    for tool in tools:
        if tool.name == name:
            return tool
    known = ", ".join(tool.name for tool in tools) or "(none)"
    raise ConstraintError(
        f"tools: expected tool_choice to name one of the tools, {known}, got {name!r}; add its definition"
    )
