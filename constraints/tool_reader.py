"""ToolReader: the free text and the calls of a text that calls tools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..automata.errors import ConstraintError
from .constraint import SPECIAL

if TYPE_CHECKING:
    from .tools import ToolsConstraint

_MARK = SPECIAL.decode("utf-8", "surrogateescape")


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


class ToolReader:
    """Reads a member from left to right, the only way there is, and writes it with markers."""

    def __init__(self, constraint: ToolsConstraint, data: bytes) -> None:
        """Begin before the first byte of a text that may be a member."""
        self.constraint = constraint
        self.format = constraint.format
        self.text = data.decode("utf-8", "surrogateescape")  # the byte 0xff is U+DCFF
        self.marked = _MARK in self.text
        self.at = 0
        self.written: list[str] = []

    def reply(self) -> Reply:
        """What the text says. Raises ConstraintError, with the place, for a text that is no member."""
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
        begun = self.at
        self._expect(self.format.scope)
        if self.format.quoted:
            name = self._json("the name of a tool")
        else:
            name = self._one_of([tool.name for tool in self.constraint.tools], self._may_end_name)
            self._write(name)
        if name not in [tool.name for tool in self.constraint.tools]:
            raise ConstraintError(f"tools: at character {self.at}: {name!r} is none of the tools that may be called")
        identifier = None
        if self.format.number:
            self._expect(self.format.number)
            self._write(self._digits())
            identifier = self.text[begun : self.at]
        self._expect(self.format.middle)
        arguments = self._parameters(name) if self.format.parameter else self._json("arguments as JSON")
        if self.format.identifier and self._matches(self.format.identifier) is not None:
            self._expect(self.format.identifier)
            identifier = self._json("an identifier")
        self._expect(self.format.after)
        return ToolCall(name, arguments, identifier)

    def _parameters(self, tool: str) -> dict[str, Any]:
        written = self.format.parameter
        assert written is not None
        known = {parameter.name: parameter for parameter in self.constraint.parameters[tool]}
        arguments = {}
        while self._matches(written.before) is not None:
            self._expect(written.before)
            name = self._one_of(list(known), lambda at: self._matches(written.middle, at) is not None)
            if not name:
                raise ConstraintError(f"tools: at character {self.at}: expected a parameter of {tool!r}")
            self._write(name)
            self._expect(written.middle)
            end = self._find(written.after)
            value = self.text[self.at : end]
            self._write(value)
            self._expect(written.after)
            arguments[name] = known[name].read(value)
        return arguments

    def _may_end_name(self, at: int) -> bool:
        """Whether the name of a tool may end at a place."""
        written = self.format
        follows = written.number or written.middle
        if follows:
            return self._matches(follows, at) is not None
        assert written.parameter is not None
        return any(self._matches(phrase, at) is not None for phrase in (written.parameter.before, written.after))

    def _one_of(self, names: list[str], may_end: Any) -> str:
        """The longest of some names that stands here and may end where it does; "": none."""
        found = [name for name in names if self.text.startswith(name, self.at) and may_end(self.at + len(name))]
        return max(found, key=len, default="")

    def _digits(self) -> str:
        rest = self.text[self.at :]
        return rest[: len(rest) - len(rest.lstrip("0123456789"))]

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

    def _spelled(self, phrase: str) -> str:
        """A phrase of the format as the text has it."""
        parts = self.format.pieces(phrase)
        return "".join(_MARK + part + _MARK if mark and self.marked else part for part, mark in parts)

    def _matches(self, phrase: str, at: int | None = None) -> int | None:
        """Where a phrase of the format ends that stands here, or None."""
        at = self.at if at is None else at
        spelled = self._spelled(phrase)
        return at + len(spelled) if self.text.startswith(spelled, at) else None

    def _find(self, phrase: str) -> int:
        """Where a phrase of the format begins next; the end of the text where it does not."""
        found = self.text.find(self._spelled(phrase), self.at)
        return len(self.text) if found < 0 else found

    def _expect(self, phrase: str) -> None:
        end = self._matches(phrase)
        if end is None:
            got = self.text[self.at : self.at + len(phrase) + 10]
            raise ConstraintError(f"tools: at character {self.at}: expected {phrase!r}, got {got!r}")
        self.written += [_MARK + part + _MARK if mark else part for part, mark in self.format.pieces(phrase)]
        self.at = end
