"""tools: texts that call tools as a model's chat template writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

from ..automata.checks import checked_flag
from ..automata.errors import ConstraintError, LimitError
from .constraint import SPECIAL, Constraint, LazyReport, ReportEntry, Text, to_bytes
from .free_text import free_text, text_up_to
from .json_schema import json_schema
from .literal import literal
from .regex import regex
from .sequence import any_of, optional, sequence
from .special_token import special_token
from .tool_definitions import ToolDefinition, read_choice, read_definitions
from .tool_format import TOOL_FORMATS, ToolFormat

_IDENTIFIER = "[a-zA-Z0-9]{9}"
_MARK = SPECIAL.decode("utf-8", "surrogateescape")


class _Options(TypedDict):
    """Of json_schema."""

    whitespace: str
    key_order: Literal["schema", "any", "sorted"]
    formats: bool
    lenient: bool


@dataclass(frozen=True)
class ToolCall:
    """One call that a model wrote."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True)
class Reply:
    """What a model wrote under :func:`tools`: free text, then calls."""

    text: str
    calls: tuple[ToolCall, ...] = ()


class ToolsConstraint(Constraint):
    """Free text and tool calls; see :func:`tools`."""

    __slots__ = ("format", "tools")

    def __init__(
        self,
        whole: Constraint,
        tools: list[ToolDefinition],
        tool_format: ToolFormat,
        report: tuple[LazyReport | ReportEntry, ...] = (),
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
        self.format = tool_format

    def parse(self, text: Text) -> Reply:
        """The free text and the calls of a member.

        Special tokens may stand as their names, as in a text that was decoded with special tokens kept, or in bytes as
        their markers (:func:`tokamata.special_token`); as names they are told from equal text by their places. Raises
        ConstraintError for a text that is no member, with the place. O(n).
        """
        return _Reader(self, to_bytes(text, "parse")).reply()


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
) -> ToolsConstraint:
    """Free text and calls of tools, with arguments that are valid against the tools' JSON Schemas.

    Calls are written exactly as the model's chat template writes them, the arguments in any spelling that
    :func:`tokamata.json_schema` allows; free text, in which no call begins, may come before them, nothing after.
    Conventions: ``"hermes"`` (Hermes, Qwen), ``"llama3"``, ``"llama3-python-tag"``, ``"mistral"`` (tokenizers v2 to
    v7), ``"mistral-v11"``, or a :class:`ToolFormat` of one's own.

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

    Raises:
        ConstraintError: malformed definitions, with the JSON Pointer; a choice of no tool.
        UnsupportedError: tools that are no functions, schemas that cannot be enforced exactly.
    """
    checked_flag("tools", "parallel", parallel)
    for name, value in (("text", text), ("special", special), ("strict", strict)):
        if value is not None:
            checked_flag("tools", name, value)
    chosen = _format(convention, special)
    mode, callable_tools = read_choice(tool_choice, read_definitions(definitions, strict))
    if chosen.whole and text:
        raise ValueError("tools: in this convention calls are all of the text, so nothing comes before; pass text=None")
    if not callable_tools:
        return ToolsConstraint(_free_text(chosen), [], chosen)
    options: _Options = {"whitespace": whitespace, "key_order": key_order, "formats": formats, "lenient": lenient}
    arguments = [_arguments(tool, options) for tool in callable_tools]
    named = [_phrase(_name(tool, chosen) + chosen.middle, chosen) for tool in callable_tools]
    call = any_of([sequence(*both) for both in zip(named, arguments, strict=True)])
    after = _phrase(chosen.after, chosen)
    if chosen.identifier:
        after = optional(_phrase(chosen.identifier + '"', chosen) + regex(_IDENTIFIER) + '"') + after
    cut = len(chosen.trigger)
    first = any_of([_phrase((begin + chosen.before)[cut:], chosen) for begin in chosen.begin])
    calls = [first, call, after]
    if parallel:
        calls.append(sequence(_phrase(chosen.separator + chosen.before, chosen), call, after).repeat())
    if chosen.end:
        calls.append(_phrase(chosen.end, chosen))
    if chosen.whole or not (mode == "auto" if text is None else text):
        begun = _phrase(chosen.trigger, chosen)
    elif chosen.special:
        begun = _free_text(chosen) + _phrase(chosen.trigger, chosen)
    else:
        begun = text_up_to(chosen.trigger.encode(), [chosen.trigger.encode()])
    whole = sequence(begun, *calls)
    report = tuple(_ToolReport(s._report, tool.place) for tool, s in zip(callable_tools, arguments, strict=True))
    return ToolsConstraint(whole | _free_text(chosen) if mode == "auto" else whole, callable_tools, chosen, report)


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


def _pieces(text: str, chosen: ToolFormat) -> list[tuple[str, bool]]:
    """The text, cut into special tokens (True) and what is between them."""
    if not chosen.special:
        return [(text, False)] if text else []
    parts = re.split("(" + "|".join(map(re.escape, chosen.marks)) + ")", text)
    return [(part, i % 2 == 1) for i, part in enumerate(parts) if part]


def _phrase(text: str, chosen: ToolFormat) -> Constraint:
    if not chosen.special:
        return literal(text)
    return sequence(*(special_token(part) if mark else literal(part) for part, mark in _pieces(text, chosen)))


def _name(tool: ToolDefinition, chosen: ToolFormat) -> str:
    return json.dumps(tool.name, ensure_ascii=False) if chosen.quoted else tool.name


def _arguments(tool: ToolDefinition, options: _Options) -> Constraint:
    try:
        made: Constraint = json_schema(tool.parameters, **options)
        if not (isinstance(tool.parameters, Mapping) and tool.parameters.get("type") == "object"):
            made = made & json_schema({"type": "object"}, **options)
            if made.is_empty():
                raise ConstraintError(
                    "expected a schema that allows an object, which arguments are, got one that does not; "
                    'pass {"type": "object", ...}'
                )
    except (ValueError, LimitError, TypeError) as error:
        raise type(error)(f'tools: at "{tool.place}", the schema of {tool.name!r}: {error}') from None
    return made


class _ToolReport:
    """The report of a tool's schema, with places in the definitions."""

    def __init__(self, report: tuple[ReportEntry | LazyReport, ...], place: str) -> None:
        self.report = report
        self.place = place

    def entries(self) -> tuple[ReportEntry, ...]:
        found: list[ReportEntry] = []
        for item in self.report:
            found += [item] if isinstance(item, ReportEntry) else item.entries()
        return tuple(replace(entry, place=self.place + entry.place) for entry in found)


class _Reader:
    """Reads a member from left to right, the only way there is, and writes it with markers."""

    def __init__(self, constraint: ToolsConstraint, data: bytes) -> None:
        self.constraint = constraint
        self.format = constraint.format
        self.text = data.decode("utf-8", "surrogateescape")  # the byte 0xff is U+DCFF
        self.marked = _MARK in self.text
        self.at = 0
        self.written: list[str] = []

    def reply(self) -> Reply:
        start = self._start()
        free = self.text if start < 0 else self.text[:start]
        self._write(free)
        calls = []
        if start >= 0 and self.constraint.tools:
            begins = [begin + self.format.before for begin in self.format.begin]
            self._expect(next((b for b in begins if self._matches(b) is not None), begins[0]))
            calls.append(self._call())
            while self._matches(self.format.separator + self.format.before) is not None:
                self._expect(self.format.separator + self.format.before)
                calls.append(self._call())
            self._expect(self.format.end)
            self._write(self.text[self.at :])
        data = "".join(self.written).encode("utf-8", "surrogateescape")
        if not self.constraint.accepts(data):
            known = max(0, self.constraint.viable_prefix(data))
            raise ConstraintError(
                f"tools: expected a member to parse; the first {known} bytes of it begin one, then come "
                f"{data[known : known + 20]!r}"
            )
        return Reply(free, tuple(calls))

    def _start(self) -> int:
        """Where calls begin, or -1."""
        trigger = self.format.trigger
        if self.format.whole:
            return 0 if self.text.startswith(trigger) else -1
        return self.text.find(_MARK + trigger + _MARK if self.format.special and self.marked else trigger)

    def _call(self) -> ToolCall:
        if self.format.quoted:
            name = self._json("the name of a tool")
        else:
            end = self._end_of_name()
            name = self.text[self.at : end]
            self._write(name)
        if name not in [tool.name for tool in self.constraint.tools]:
            raise ConstraintError(f"tools: at character {self.at}: {name!r} is none of the tools that may be called")
        self._expect(self.format.middle)
        arguments = self._json("arguments as JSON")
        identifier = None
        if self.format.identifier and self._matches(self.format.identifier) is not None:
            self._expect(self.format.identifier)
            identifier = self._json("an identifier")
        self._expect(self.format.after)
        return ToolCall(name, arguments, identifier)

    def _end_of_name(self) -> int:
        names = [tool.name for tool in self.constraint.tools if self.text.startswith(tool.name, self.at)]
        for name in sorted(names, key=len, reverse=True):
            if self._matches(self.format.middle, self.at + len(name)) is not None:
                return self.at + len(name)
        return self.at

    def _json(self, what: str) -> Any:
        try:
            value, end = json.JSONDecoder().raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            raise ConstraintError(f"tools: at character {self.at}: expected {what}: {error}") from None
        self._write(self.text[self.at : end])
        return value

    def _write(self, text: str) -> None:
        self.written.append(text)
        self.at += len(text)

    def _matches(self, phrase: str, at: int | None = None) -> int | None:
        """Where a phrase of the format ends that stands here, or None."""
        at = self.at if at is None else at
        for part, mark in _pieces(phrase, self.format):
            part = _MARK + part + _MARK if mark and self.marked else part
            if not self.text.startswith(part, at):
                return None
            at += len(part)
        return at

    def _expect(self, phrase: str) -> None:
        end = self._matches(phrase)
        if end is None:
            got = self.text[self.at : self.at + len(phrase) + 10]
            raise ConstraintError(f"tools: at character {self.at}: expected {phrase!r}, got {got!r}")
        self.written += [_MARK + part + _MARK if mark else part for part, mark in _pieces(phrase, self.format)]
        self.at = end
