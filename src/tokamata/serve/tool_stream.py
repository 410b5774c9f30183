"""ToolStream: reads text that calls tools while it is being written."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from ..constraints.tool_format import ParameterFormat
from ..constraints.tools import ToolsConstraint


@dataclass(frozen=True)
class Said:
    """Free text."""

    text: str


@dataclass(frozen=True)
class CallBegins:
    """Call number ``index`` is one of the tool ``name``; ``id``: where the model names calls."""

    index: int
    name: str
    id: str | None = None


@dataclass(frozen=True)
class ArgumentsGrow:
    """More of the arguments of a call: JSON as the model writes it, or of parameters that it wrote one by one."""

    index: int
    text: str


Part = Said | CallBegins | ArgumentsGrow


class ToolStream:
    """Cuts a growing text into what is said and what is called, as soon as either is certain.

    The parts of a member of the constraint, put together, are what `ToolsConstraint.parse` finds in it. Of a text that
    is cut off, the beginning of a first call that never came is free text; what is missing later is left out.
    """

    def __init__(self, constraint: ToolsConstraint) -> None:
        """Begin before the first character."""
        self._format = constraint.format
        written = self._format
        ends = [written.number or written.middle]
        if not ends[0] and written.parameter:  # then what comes after the name ends it, and stays
            ends = [written.parameter.before, written.after]
        self._parameters = constraint.parameters
        self._names: dict[str, tuple[str, str]] = {}  # by the name and what follows it: the name, what follows
        for name in [tool.name for tool in constraint.tools]:
            spelled = json.dumps(name, ensure_ascii=False) if written.quoted else name
            self._names |= {f"{written.scope}{spelled}{end}": (name, end) for end in ends}
        self._held = ""
        self._final = False
        self._parts = self._read()

    def add(self, text: str, final: bool = False) -> Iterator[Part]:
        """Yield what more text brings; ``final``: no more will come, so nothing is held back."""
        self._held += text
        self._final = final
        for part in self._parts:
            if part is None:
                return
            yield part

    # Generators yield None where they need more text; with the last text they end.

    def _read(self) -> Generator[Part | None]:
        written = self._format
        index, begun = -1, None
        if self._names:
            yield from self._text()
            begun = yield from self._match([begin + written.before for begin in written.begin])
        while begun:
            phrase = yield from self._match(list(self._names))
            if phrase is None:
                break
            index += 1
            name, end = self._names[phrase]
            number, complete = "", True
            if written.number:
                number = yield from self._digits()
                complete = bool((yield from self._match([written.middle])))
            elif not written.middle:
                self._held = end + self._held
            yield CallBegins(index, name, phrase + number if written.number and complete else None)
            if not complete:
                break
            if written.parameter:
                ended = yield from self._named_arguments(index, name, written.parameter)
                if not ended:
                    break
            else:
                yield from self._arguments(index)
            if written.identifier and (yield from self._match([written.identifier + '"', ""])):
                yield from self._identifier()
            if not written.parameter and (yield from self._match([written.after])) is None:
                break
            begun = yield from self._match([written.separator + written.before, written.end])
            if begun == written.end:
                break
        if index >= 0:
            return
        self._held = (begun or "") + self._held
        while not self._final or self._held:
            yield Said(self._take(len(self._held))) if self._held else None

    def _text(self) -> Generator[Part | None]:
        """Free text, up to the trigger."""
        trigger = self._format.trigger
        while self._format.whole and trigger.startswith(self._held) and self._held != trigger and not self._final:
            yield None
        if self._format.whole:  # calls from the first character on, or none
            return
        while (at := self._held.find(trigger)) < 0 and not self._final:
            length = len(self._held)
            kept = next(
                k for k in range(min(len(trigger) - 1, length), -1, -1) if trigger.startswith(self._held[length - k :])
            )
            yield Said(self._take(length - kept)) if length > kept else None
        if at > 0:
            yield Said(self._take(at))

    def _arguments(self, index: int) -> Generator[Part | None]:
        """A JSON object."""
        depth, quoted, escaped = 0, False, False
        while True:
            for at, c in enumerate(self._held):
                if quoted:
                    quoted, escaped = c != '"' or escaped, c == "\\" and not escaped
                elif c == '"':
                    quoted = True
                elif c in "{[":
                    depth += 1
                elif c in "}]":
                    depth -= 1
                if not depth:
                    yield ArgumentsGrow(index, self._take(at + 1))
                    return
            if self._held:
                yield ArgumentsGrow(index, self._take(len(self._held)))
            if self._final:
                return
            yield None

    def _named_arguments(self, index: int, tool: str, written: ParameterFormat) -> Generator[Part | None, None, bool]:
        """Parameters, each when it is complete, and what ends the call; whether that came."""
        known = {parameter.name + written.middle: parameter for parameter in self._parameters[tool]}
        before = "{"
        while (found := (yield from self._match([written.before, self._format.after]))) == written.before:
            phrase = yield from self._match(list(known))
            if phrase is None:
                return False
            while (at := self._held.find(written.after)) < 0:
                if self._final:
                    return False
                yield None
            value = known[phrase].read(self._take(at))
            self._take(len(written.after))
            name = json.dumps(known[phrase].name, ensure_ascii=False)
            yield ArgumentsGrow(index, f"{before}{name}: {json.dumps(value, ensure_ascii=False)}")
            before = ", "
        if found is None:
            return False
        yield ArgumentsGrow(index, "{}" if before == "{" else "}")
        return True

    def _digits(self) -> Generator[Part | None, None, str]:
        while not (rest := self._held.lstrip("0123456789")) and not self._final:
            yield None
        return self._take(len(self._held) - len(rest))

    def _identifier(self) -> Generator[Part | None]:
        while '"' not in self._held and not self._final:
            yield None
        self._take(self._held.find('"') + 1)

    def _match(self, phrases: Sequence[str]) -> Generator[Part | None, None, str | None]:
        """Take the longest of some phrases, or, where none stands here, nothing."""
        while not self._final and any(p.startswith(self._held) and p != self._held for p in phrases):
            yield None
        found = max((p for p in phrases if self._held.startswith(p)), key=len, default=None)
        self._take(len(found or ""))
        return found

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken
