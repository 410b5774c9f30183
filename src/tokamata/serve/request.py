"""Requests: the bodies that clients send, checked, with the place and the reason where one cannot be served."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from ..automata.errors import ConstraintError
from ..constraints.exact_json import ExactJson
from .limits import ServerLimits
from .sampling import Settings

# In pydantic's places, which of a field's types it means.
_SHAPES = ("str", "list[str]", "list[int]", "list[list[int]]", "dict[str,any]")


class BadRequest(Exception):
    """A request that cannot be served as it is. ``parameter``: the field that is wrong; ``status``: of HTTP."""

    def __init__(self, reason: str, parameter: str | None = None, status: int = 400) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.parameter = parameter
        self.status = status


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SchemaFormat(_Strict):
    """``json_schema`` of a response format."""

    name: str
    schema_: dict[str, Any] | bool = Field(alias="schema", default=True)
    strict: bool | None = None
    description: str | None = None


class TextFormat(_Strict):
    """Any text."""

    type: Literal["text"]


class ObjectFormat(_Strict):
    """Any JSON object."""

    type: Literal["json_object"]


class JsonSchemaFormat(_Strict):
    """JSON documents of a schema."""

    type: Literal["json_schema"]
    json_schema: SchemaFormat


ResponseFormat = Annotated[TextFormat | ObjectFormat | JsonSchemaFormat, Field(discriminator="type")]


class StreamOptions(_Strict):
    """``stream_options``."""

    include_usage: bool = False


class _Common(_Strict):
    """What both endpoints take."""

    model: str | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    temperature: float = Field(default=1.0, ge=0, le=2, allow_inf_nan=False)
    top_p: float = Field(default=1.0, gt=0, le=1, allow_inf_nan=False)
    n: int = Field(default=1, ge=1)
    stop: str | list[str] | None = None
    seed: int | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    presence_penalty: float = Field(default=0.0, ge=-2, le=2, allow_inf_nan=False)
    frequency_penalty: float = Field(default=0.0, ge=-2, le=2, allow_inf_nan=False)
    logit_bias: dict[int, Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]] | None = None
    logprobs: Literal[False] = False
    store: Literal[False] = False
    user: str | None = None
    metadata: dict[str, str] | None = None
    response_format: ResponseFormat | None = None
    # Extensions: the whole answer is a member.
    regex: str | None = None
    grammar: str | None = None
    grammar_syntax: Literal["lark", "gbnf", "ebnf"] = "lark"
    choice: list[str] | None = Field(default=None, min_length=1)
    _body: ExactJson = PrivateAttr()  # in which numbers of schemas are as they were written

    @property
    def schema_text(self) -> str:
        """The schema of a response format that has one, as JSON text."""
        assert isinstance(self.response_format, JsonSchemaFormat)
        if "schema_" not in self.response_format.json_schema.model_fields_set:
            return "true"
        return self._body.text("response_format", "json_schema", "schema")

    @property
    def settings(self) -> Settings:
        """How tokens are drawn."""
        return Settings(
            self.temperature, self.top_p, self.presence_penalty, self.frequency_penalty, self.logit_bias or {}
        )

    @property
    def stops(self) -> tuple[str, ...]:
        """The texts that end an answer and are left out of it."""
        given = [self.stop] if isinstance(self.stop, str) else self.stop or []
        return tuple(text for text in given if text)

    @property
    def most_tokens(self) -> int | None:
        """The number of new tokens that the request names."""
        return self.max_tokens

    @property
    def tokens_field(self) -> str:
        """The field that `most_tokens` comes from."""
        return "max_tokens"

    @property
    def prompts(self) -> int:
        """The number of texts that are continued, each ``n`` times."""
        return 1


class Completion(_Common):
    """A body of ``/v1/completions``."""

    prompt: str | list[str] | list[int] | list[list[int]]
    echo: Literal[False] = False

    @property
    def prompts(self) -> int:
        """The number of texts that are continued, each ``n`` times; a list of token ids is one."""
        if isinstance(self.prompt, str) or not self.prompt or isinstance(self.prompt[0], int):
            return 1
        return len(self.prompt)


class Chat(_Common):
    """A body of ``/v1/chat/completions``."""

    messages: list[dict[str, Any]] = Field(min_length=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool = True

    @property
    def most_tokens(self) -> int | None:
        """The number of new tokens that the request names."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens

    @property
    def tokens_field(self) -> str:
        """The field that `most_tokens` comes from."""
        return "max_tokens" if self.max_completion_tokens is None else "max_completion_tokens"

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """The tools, the schemas of their parameters as JSON texts."""
        return [self._definition(tool, i) for i, tool in enumerate(self.tools or [])]

    def _definition(self, tool: dict[str, Any], i: int) -> dict[str, Any]:
        function = tool.get("function")
        if isinstance(function, dict):
            return {**tool, "function": self._with_text(function, "tools", i, "function")}
        return self._with_text(tool, "tools", i)

    def _with_text(self, function: dict[str, Any], *path: str | int) -> dict[str, Any]:
        if function.get("parameters") is None:
            return function
        return {**function, "parameters": self._body.text(*path, "parameters")}


def read_body(body: bytes, kind: type[Chat] | type[Completion], limits: ServerLimits) -> Chat | Completion:
    """Check a body, in which null is what is left out. Raises BadRequest with the first thing that is wrong."""
    try:
        read = ExactJson(body, "the body")
        data = read.value
        if b"\\u" in body:
            json.dumps(data, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except ConstraintError as error:
        raise BadRequest(str(error)) from error
    except UnicodeEncodeError as error:
        raise BadRequest(f"the body is not JSON that can be read: {error}") from error
    if not isinstance(data, dict):
        raise BadRequest(f"the body is a JSON {type(data).__name__}; expected an object")
    try:
        request = kind.model_validate({name: value for name, value in data.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"] if part not in _SHAPES)
        unknown = first["type"] == "extra_forbidden"
        if first["type"] == "literal_error" and first["ctx"]["expected"] == "False":
            reason = f"this server knows {place} as false only"
        else:
            reason = f"this server knows no field {place}" if unknown else f"{place}: {first['msg']}"
        raise BadRequest(reason, place) from error
    except RecursionError as error:
        raise BadRequest(f"the body is nested too deeply: {error}") from error
    request._body = read
    if "grammar_syntax" in request.model_fields_set and request.grammar is None:
        raise BadRequest("grammar_syntax: expected a grammar beside it, got none", "grammar_syntax")
    if request.n > limits.choices:
        raise BadRequest(f"n: {request.n} choices; this server's limit is choices={limits.choices}", "n")
    if (answers := request.prompts * request.n) > limits.waiting:
        name = "prompt" if request.prompts > 1 else "n"
        raise BadRequest(
            f"{name}: {answers} answers asked for; this server's limit is waiting={limits.waiting}; ask for at most "
            f"{limits.waiting} in one request",
            name,
        )
    for name in ("regex", "grammar", "choice", "response_format", "tools"):
        source_size(getattr(request, name, None), name, limits)
    return request


def source_size(source: object, name: str, limits: ServerLimits) -> None:
    """Refuse a source of a constraint that is larger than the limit."""
    if source is None:
        return
    plain = source.model_dump(by_alias=True) if isinstance(source, BaseModel) else source
    try:
        size = len(plain.encode()) if isinstance(plain, str) else len(json.dumps(plain))
    except RecursionError as error:
        raise BadRequest(f"{name}: nested too deeply: {error}", name) from error
    if size > limits.source_bytes:
        raise BadRequest(f"{name}: {size:,} bytes; this server's limit is source_bytes={limits.source_bytes:,}", name)


def plain_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages for a chat template: parts of text joined. Raises BadRequest for what is not text."""
    found = []
    for i, message in enumerate(messages):
        role = message.get("role")
        if not isinstance(role, str) or role not in {"system", "developer", "user", "assistant", "tool"}:
            raise BadRequest(f"messages.{i}.role: expected system, user, assistant or tool, got {role!r}", "messages")
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(_text_of(part, i) for part in content)
        elif content is not None and not isinstance(content, str):
            raise BadRequest(f"messages.{i}.content: expected a text, got {type(content).__name__}", "messages")
        if content is None and not message.get("tool_calls"):
            raise BadRequest(f"messages.{i}.content: expected a text", "messages")
        plain = {**message, "role": "system" if role == "developer" else role, "content": content or ""}
        if calls := message.get("tool_calls"):
            if not isinstance(calls, list):
                raise BadRequest(f"messages.{i}.tool_calls: expected a list, got {type(calls).__name__}", "messages")
            plain["tool_calls"] = [_call_of(call, i) for call in calls]
        found.append(plain)
    return found


def _text_of(part: object, i: int) -> str:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    kind = part.get("type") if isinstance(part, dict) else type(part).__name__
    raise BadRequest(f"messages.{i}.content: this server reads text alone, got a part of type {kind!r}", "messages")


def _call_of(call: object, i: int) -> dict[str, Any]:
    """A tool call of an earlier answer, its arguments as an object, which templates expect."""
    try:
        function = call["function"]  # type: ignore[index]
        arguments = function["arguments"]
        decoded = json.loads(arguments) if isinstance(arguments, str) else arguments
        return {**call, "function": {**function, "arguments": decoded}}  # type: ignore[dict-item]
    except (TypeError, KeyError, ValueError, RecursionError) as error:
        raise BadRequest(
            f"messages.{i}.tool_calls: expected calls with function.name and function.arguments: {error!r}", "messages"
        ) from error
