"""tools: texts that call tools as a model's chat template writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, Protocol, TypedDict

from ..automata.checks import checked_flag
from ..automata.errors import ConstraintError, LimitError
from .constraint import Constraint, LazyReport, Limits, ReportEntry, Text, native_limits, to_bytes
from .free_text import free_text, text_up_to
from .json_schema import json_schema, schema_options
from .regex import regex
from .sequence import any_of, optional, sequence
from .tool_definitions import ToolDefinition, read_choice, read_definitions
from .tool_format import TOOL_FORMATS, ToolFormat
from .tool_parameters import Parameter, ToolParameters
from .tool_reader import Reply, ToolReader

_IDENTIFIER = "[a-zA-Z0-9]{9}"
_NUMBER = "0|[1-9][0-9]{0,8}"  # of a call


class _Options(TypedDict):
    """Of json_schema."""

    whitespace: str
    key_order: Literal["schema", "any", "sorted"]
    formats: bool
    lenient: bool
    limits: Limits | None


class ToolsConstraint(Constraint):
    """Free text and tool calls; see :func:`tools`."""

    __slots__ = ("format", "parameters", "tools")

    def __init__(
        self,
        whole: Constraint,
        tools: list[ToolDefinition],
        tool_format: ToolFormat,
        report: tuple[LazyReport | ReportEntry, ...] = (),
        parameters: dict[str, list[Parameter]] | None = None,
    ) -> None:
        """Keep how calls are written, for parsing; use :func:`tokamata.tools`."""
        names = ", ".join(tool.name for tool in tools)
        super().__init__(
            whole._native,
            source=f"tools({names})",
            report=report,
            special_tokens=whole.special_tokens,
            has_raw_bytes=whole._has_raw_bytes,
        )
        self._parts = whole._parts
        self.tools = tuple(tools)
        self.parameters = parameters or {}  # of each tool, where they are written one by one
        self.format = tool_format

    def parse(self, text: Text) -> Reply:
        """The free text and the calls of a member.

        Special tokens may stand as their names, as in a text that was decoded with special tokens kept, or in bytes as
        their markers (:func:`tokamata.special_token`); as names they are told from equal text by their places. Raises
        ConstraintError for a text that is no member, with the place. O(n).
        """
        return ToolReader(self, to_bytes(text, "parse")).reply()


def tools(
    definitions: Iterable[Mapping[str, Any]],
    convention: str | ToolFormat = "hermes",
    *,
    tool_choice: str | Mapping[str, Any] = "auto",
    parallel: bool = True,
    text: bool | None = None,
    special: bool | None = None,
    strict: bool | None = None,
    whitespace: str = "flexible",
    key_order: Literal["schema", "any", "sorted"] = "schema",
    formats: bool = True,
    lenient: bool = False,
    limits: Limits | None = None,
) -> ToolsConstraint:
    """Free text and calls of tools, with arguments that are valid against the tools' JSON Schemas.

    Calls are written exactly as the model's chat template writes them, the arguments in any spelling that
    :func:`tokamata.json_schema` allows; free text, in which no call begins, may come before them, nothing after.
    Conventions: ``"hermes"`` (Hermes, Qwen), ``"llama3"``, ``"llama3-python-tag"``, ``"mistral"`` (tokenizers v2 to
    v7), ``"mistral-v11"``, ``"deepseek-v3"`` (V3, R1), ``"deepseek-v3.1"``, ``"kimi-k2"``, or a :class:`ToolFormat` of
    one's own.

    In ``"qwen3-coder"``, ``"glm-4.5"`` (4.5, 4.6), ``"glm-4.7"`` and ``"minimax-m2"`` arguments are written one by one:
    strings as their text, without the convention's marks inside, all else as JSON; only those that the schema names.
    What the schema says of several together must hold whatever each of them is.

    Args:
        definitions: tools in the format of OpenAI's API. A definition with ``"strict": False`` takes any JSON object.
        convention: how calls are written.
        tool_choice: "auto"; "none": text without calls; "required": at least one call; or the one to be called,
            ``{"type": "function", "function": {"name": ...}}``, or some of them with a mode (``"allowed_tools"``), as
            OpenAI's API has it.
        parallel: whether there may be several calls.
        text: whether free text may come before calls; None: where no call is required.
        special: whether the convention's markers are special tokens of the vocabulary; None: as the convention has it
            (Mistral: yes; Hermes: no, although some tokenizers call ``<tool_call>`` special).
        strict: True or False in place of the definitions' own.
        whitespace: of the arguments; see :func:`tokamata.json_schema`, as for the three that follow.
        key_order: of the arguments.
        formats: whether ``format`` restricts strings.
        lenient: widen what cannot be enforced exactly.
        limits: of the schemas; what surrounds the arguments has the usual ones, and the whole the wider of both.

    Raises:
        ConstraintError: malformed definitions, with the JSON Pointer; a choice of no tool.
        LimitError: a schema that cannot be compiled within the limits.
        UnsupportedError: tools that are no functions, schemas that cannot be enforced exactly.
    """
    checked_flag("tools", "parallel", parallel)
    for name, value in (("text", text), ("special", special), ("strict", strict)):
        if value is not None:
            checked_flag("tools", name, value)
    native_limits(limits, "tools")
    chosen = _format(convention, special)
    mode, callable_tools = read_choice(tool_choice, read_definitions(definitions, strict))
    if chosen.whole and text:
        raise ValueError("tools: in this convention calls are all of the text, so nothing comes before; pass text=None")
    if not callable_tools:
        return ToolsConstraint(_free_text(chosen), [], chosen)
    options: _Options = {
        "whitespace": whitespace,
        "key_order": key_order,
        "formats": formats,
        "lenient": lenient,
        "limits": limits,
    }
    arguments = [_arguments(tool, chosen, options) for tool in callable_tools]
    number = [regex(_NUMBER)] if chosen.number else []
    calls_of = [
        sequence(
            chosen.phrase(chosen.scope + _name(tool, chosen) + chosen.number),
            *number,
            chosen.phrase(chosen.middle),
            made.texts(),
        )
        for tool, made in zip(callable_tools, arguments, strict=True)
    ]
    call = any_of(calls_of)
    after = chosen.phrase(chosen.after)
    if chosen.identifier:
        after = optional(chosen.phrase(chosen.identifier + '"') + regex(_IDENTIFIER) + '"') + after
    cut = len(chosen.trigger)
    first = any_of([chosen.phrase((begin + chosen.before)[cut:]) for begin in chosen.begin])
    calls = [first, call, after]
    if parallel:
        calls.append(sequence(chosen.phrase(chosen.separator + chosen.before), call, after).repeat())
    if chosen.end:
        calls.append(chosen.phrase(chosen.end))
    if chosen.whole or not (mode == "auto" if text is None else text):
        begun = chosen.phrase(chosen.trigger)
    elif chosen.special:
        begun = _free_text(chosen) + chosen.phrase(chosen.trigger)
    else:
        begun = text_up_to(chosen.trigger.encode(), [chosen.trigger.encode()])
    whole = sequence(begun, *calls)
    report = tuple(_ToolReport(made, tool.place) for tool, made in zip(callable_tools, arguments, strict=True))
    parameters = {
        tool.name: made.parameters
        for tool, made in zip(callable_tools, arguments, strict=True)
        if isinstance(made, ToolParameters)
    }
    whole = whole | _free_text(chosen) if mode == "auto" else whole
    return ToolsConstraint(whole, callable_tools, chosen, report, parameters)


def _format(convention: str | ToolFormat, special: bool | None) -> ToolFormat:
    if isinstance(convention, ToolFormat):
        chosen = convention
    elif not isinstance(convention, str):
        raise TypeError(
            f"tools: expected the convention's name or a ToolFormat, got {type(convention).__name__}; pass one of "
            f"{', '.join(TOOL_FORMATS)}"
        )
    elif convention not in TOOL_FORMATS:
        raise ValueError(
            f"tools: expected a convention of {', '.join(TOOL_FORMATS)}, got {convention!r}; pass a ToolFormat for "
            "another one"
        )
    else:
        chosen = TOOL_FORMATS[convention]
    if special is None or special == chosen.special:
        return chosen
    if not chosen.marks:
        raise ValueError("tools: this convention has no marks that could be special tokens; pass special=None")
    return replace(chosen, special=special)


def _free_text(chosen: ToolFormat) -> Constraint:
    if chosen.whole:
        return free_text() - (regex(r"[ \t\r\n]*") + chosen.trigger + free_text())
    return free_text(() if chosen.special else chosen.trigger)


def _name(tool: ToolDefinition, chosen: ToolFormat) -> str:
    return json.dumps(tool.name, ensure_ascii=False) if chosen.quoted else tool.name


class _Arguments(Protocol):
    """The arguments of a tool."""

    def texts(self) -> Constraint:
        """What may stand between what begins and what ends a call."""

    def entries(self) -> Iterable[ReportEntry]:
        """The report, with places below that of the schema."""


class _JsonArguments:
    """The arguments of a tool as a JSON object."""

    def __init__(self, made: Constraint) -> None:
        self._made = made

    def texts(self) -> Constraint:
        return self._made

    def entries(self) -> Iterable[ReportEntry]:
        for item in self._made._report:
            yield from [item] if isinstance(item, ReportEntry) else item.entries()


def _arguments(tool: ToolDefinition, chosen: ToolFormat, options: _Options) -> _Arguments:
    if chosen.parameter:
        return ToolParameters(tool, chosen, schema_options(**options), options["key_order"], options["limits"])
    try:
        made: Constraint = json_schema(tool.parameters, **options)
        if not _says_object(tool.parameters):
            made = made & json_schema({"type": "object"}, **options)
            if made.is_empty():
                raise ConstraintError(
                    "expected a schema that allows an object, which arguments are, got one that does not; "
                    'pass {"type": "object", ...}'
                )
    except (ValueError, LimitError, TypeError) as error:
        raise type(error)(f'tools: at "{tool.place}", the schema of {tool.name!r}: {error}') from None
    return _JsonArguments(made)


def _says_object(schema: object) -> bool:
    found = json.loads(schema) if isinstance(schema, (str, bytes)) else schema
    return isinstance(found, Mapping) and found.get("type") == "object"


class _ToolReport:
    """The report of a tool's arguments, with places in the definitions."""

    def __init__(self, arguments: _Arguments, place: str) -> None:
        self.arguments = arguments
        self.place = place

    def entries(self) -> tuple[ReportEntry, ...]:
        return tuple(replace(entry, place=self.place + entry.place) for entry in self.arguments.entries())
