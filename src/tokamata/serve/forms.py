"""Forms: how answers are written, whole and in pieces, at each endpoint."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..automata.errors import ConstraintError
from ..constraints.tools import ToolsConstraint
from .scheduler import Done, Event, Piece
from .tool_stream import CallBegins, Said, ToolStream


@dataclass
class Answer:
    """What one choice has become so far."""

    index: int
    text: str = ""
    reason: str | None = None
    tokens: int = 0


def take(answer: Answer, event: Event) -> None:
    """Add what an event brought."""
    if isinstance(event, Piece):
        answer.text += event.text
    elif isinstance(event, Done):
        answer.reason, answer.tokens = event.reason, event.tokens


def _usage(answers: list[Answer], prompt: int) -> dict[str, int]:
    written = sum(answer.tokens for answer in answers)
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


class Form:
    """How answers are written; the endpoints differ in names."""

    kind = ""
    chunk = ""
    prefix = ""

    def __init__(self, model: str) -> None:
        self.id = f"{self.prefix}-{uuid.uuid4().hex}"
        self.common: dict[str, Any] = {"id": self.id, "created": int(time.time()), "model": model}

    def whole(self, answers: list[Answer], prompt: int) -> dict[str, Any]:
        """All answers at once."""
        choices = [
            {"index": a.index, "logprobs": None, **self.content(a), "finish_reason": self.reason(a)} for a in answers
        ]
        return self.common | {"object": self.kind, "choices": choices, "usage": _usage(answers, prompt)}

    def begin(self, answer: Answer) -> Iterator[dict[str, Any]]:
        """What a stream begins an answer with."""
        return iter(())

    def parts(self, answer: Answer, event: Event) -> Iterator[dict[str, Any]]:
        """What a stream says of an event."""
        text = event.text if isinstance(event, Piece) else ""
        yield self.piece(answer, self.added(text), self.reason(answer))

    def piece(self, answer: Answer, added: dict[str, Any], reason: str | None) -> dict[str, Any]:
        """One chunk of a stream."""
        choice = {"index": answer.index, "logprobs": None, **added, "finish_reason": reason}
        return self.common | {"object": self.chunk, "choices": [choice]}

    def usage(self, answers: list[Answer], prompt: int) -> dict[str, Any]:
        """The chunk that counts tokens."""
        return self.common | {"object": self.chunk, "choices": [], "usage": _usage(answers, prompt)}

    def reason(self, answer: Answer) -> str | None:
        """Why an answer ended."""
        return answer.reason

    def content(self, answer: Answer) -> dict[str, Any]:
        """A whole text."""
        return {"text": answer.text}

    def added(self, text: str) -> dict[str, Any]:
        """A piece of text."""
        return {"text": text}


class TextForm(Form):
    """Answers of /v1/completions."""

    kind, chunk, prefix = "text_completion", "text_completion", "cmpl"


class ChatForm(Form):
    """Answers of /v1/chat/completions."""

    kind, chunk, prefix = "chat.completion", "chat.completion.chunk", "chatcmpl"

    def begin(self, answer: Answer) -> Iterator[dict[str, Any]]:
        """What a stream begins an answer with."""
        yield self.piece(answer, {"delta": {"role": "assistant", "content": ""}}, None)

    def content(self, answer: Answer) -> dict[str, Any]:
        """A whole text."""
        return {"message": {"role": "assistant", "content": answer.text, "refusal": None}}

    def added(self, text: str) -> dict[str, Any]:
        """A piece of text."""
        return {"delta": {"content": text} if text else {}}


class ToolsForm(ChatForm):
    """Answers that may call tools. Arguments are streamed as the model writes them."""

    def __init__(self, model: str, constraint: ToolsConstraint) -> None:
        super().__init__(model)
        self.constraint = constraint
        self.streams: dict[int, ToolStream] = {}  # by answer

    def reason(self, answer: Answer) -> str | None:
        """Why an answer ended."""
        return "tool_calls" if answer.reason == "stop" and self._calls(answer)[1] else answer.reason

    def content(self, answer: Answer) -> dict[str, Any]:
        """A whole text."""
        said, calls = self._calls(answer)
        message = {"role": "assistant", "content": said or (None if calls else ""), "refusal": None}
        return {"message": message | ({"tool_calls": calls} if calls else {})}

    def parts(self, answer: Answer, event: Event) -> Iterator[dict[str, Any]]:
        """What a stream says of an event."""
        stream = self.streams.setdefault(answer.index, ToolStream(self.constraint))
        text = event.text if isinstance(event, Piece) else ""
        for part in stream.add(text, final=answer.reason is not None):
            if isinstance(part, Said):
                yield self.piece(answer, self.added(part.text), None)
                continue
            call: dict[str, Any] = {"index": part.index}
            if isinstance(part, CallBegins):
                call |= {"id": part.id or self.call_id(answer, part.index), "type": "function"}
                call["function"] = {"name": part.name, "arguments": ""}
            else:
                call["function"] = {"arguments": part.text}
            yield self.piece(answer, {"delta": {"tool_calls": [call]}}, None)
        if answer.reason is not None:
            yield self.piece(answer, {"delta": {}}, self.reason(answer))

    def call_id(self, answer: Answer, index: int) -> str:
        """The identifier of a call that has no other."""
        return f"call-{self.id}-{answer.index}-{index}"

    def _calls(self, answer: Answer) -> tuple[str, list[dict[str, Any]]]:
        """What was said, and the calls; an answer that a stop text or a limit cut off is text."""
        try:
            reply = self.constraint.parse(answer.text)
        except ConstraintError:
            return answer.text, []
        calls = []
        for k, call in enumerate(reply.calls):
            function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
            made = call.id or self.call_id(answer, k)
            calls.append({"id": made, "type": "function", "function": function})
        return reply.text, calls
