"""create_app: the HTTP side of the server, an ASGI application of starlette."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ..automata.errors import BudgetError, LimitError
from ..constraints.tools import ToolsConstraint
from ..decode import TokenAutomaton
from ..decode.automaton_cache import AutomatonCache
from .forms import Answer, ChatForm, Form, TextForm, ToolsForm, take
from .limits import ServerLimits
from .model import Model
from .request import BadRequest, Chat, Completion, plain_messages, read_body
from .requested import requested_automaton
from .scheduler import Event, Failed, Job, Scheduler

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

T = TypeVar("T")
_LARGE = 1 << 16  # bytes of a body that is read beside the other requests
_AT_ONCE = max(1, min(4, os.cpu_count() or 1))  # constraints that are built at once, and so many that are begun


def create_app(model: Model, limits: ServerLimits | None = None) -> Starlette:
    """An ASGI application that answers as OpenAI's API does: /v1/models, /v1/chat/completions, /v1/completions.

    ``response_format`` (``json_schema``, ``json_object``), and as extensions ``regex``, ``grammar`` with
    ``grammar_syntax``, and ``choice``, hold for the whole answer, which ends within ``max_tokens``: a budget too small
    for any member is refused. A request that cannot be served exactly gets status 400, with the reason and the field
    (fields that the server does not know included); past a limit of `ServerLimits` the reason names it.

    Raises ImportError where the extra ``serve`` is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError as error:
        raise ImportError(f"serve: {error}; install the extra: pip install 'tokamata[serve]'") from error
    server = _Server(model, limits or ServerLimits())

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        server.pool.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(server.scheduler.close)

    return Starlette(
        routes=[
            Route("/health", server.health),
            Route("/v1/models", server.models),
            Route("/v1/models/{name:path}", server.one_model),
            Route("/v1/chat/completions", server.chat, methods=["POST"]),
            Route("/v1/completions", server.completion, methods=["POST"]),
        ],
        lifespan=lifespan,
        exception_handlers={404: _no_such_page, 405: _no_such_page},
    )


class _Server:
    """The endpoints, and what they share."""

    def __init__(self, model: Model, limits: ServerLimits) -> None:
        self.model = model
        self.limits = limits
        self.automata = AutomatonCache(model.vocabulary, limits.constraints)
        self.scheduler = Scheduler(model, limits)
        self.started = int(time.time())
        self.preparing = 0  # requests whose answers do not wait for a place yet
        self.building = asyncio.Semaphore(_AT_ONCE)
        self.beginning = asyncio.Semaphore(_AT_ONCE)  # of constraints that are known: whether an answer fits its budget
        self.pool = ThreadPoolExecutor(2 * _AT_ONCE, "tokamata-build")

    async def health(self, request: Request) -> Response:
        """Whether the server answers."""
        return _json({"status": "ok"})

    async def models(self, request: Request) -> Response:
        """The one model, in a list."""
        return _json({"object": "list", "data": [self._entry()]})

    async def one_model(self, request: Request) -> Response:
        """The one model."""
        if (error := self._other_model(request.path_params["name"])) is not None:
            return _json(_error(error), error.status)
        return _json(self._entry())

    def _entry(self) -> dict[str, Any]:
        return {"id": self.model.name, "object": "model", "created": self.started, "owned_by": "tokamata"}

    def _other_model(self, name: str) -> BadRequest | None:
        if name == self.model.name:
            return None
        return BadRequest(f"model: this server runs {self.model.name}, not {name}", "model", 404)

    async def chat(self, request: Request) -> Response:
        """A chat completion."""
        return await self._answer(request, Chat)

    async def completion(self, request: Request) -> Response:
        """A completion of a plain text."""
        return await self._answer(request, Completion)

    async def _answer(self, request: Request, kind: type[Chat] | type[Completion]) -> Response:
        from starlette.requests import ClientDisconnect

        try:
            body = await _body(request, self.limits)
        except ClientDisconnect:
            return _json({}, 499)
        except BadRequest as error:
            return _json(_error(error), error.status)
        gone = asyncio.create_task(_disconnected(request))
        try:
            return await self._answered(body, kind, gone)
        except BadRequest as error:
            return _json(_error(error), error.status)
        except _GoneError:
            return _json({}, 499)
        finally:
            gone.cancel()

    async def _answered(self, body: bytes, kind: type[Chat] | type[Completion], gone: asyncio.Task[None]) -> Response:
        """The response; raises _GoneError as soon as the client is gone, whatever is being done."""
        from starlette.responses import StreamingResponse

        events: asyncio.Queue[tuple[int, Event]] = asyncio.Queue()
        with self._preparation():
            if len(body) > _LARGE:
                asked = await _in_thread(gone, lambda: read_body(body, kind, self.limits))
            else:
                asked = read_body(body, kind, self.limits)
            automaton, jobs = await self._prepared(asked, gone, events)
            self.scheduler.submit(jobs)
        form: Form = TextForm(self.model.name) if isinstance(asked, Completion) else ChatForm(self.model.name)
        if automaton is not None and isinstance(automaton.constraint, ToolsConstraint):
            form = ToolsForm(self.model.name, automaton.constraint)
        prompt = sum(len(job.prompt) for job in jobs[:: asked.n])
        if not asked.stream:
            return await self._whole(gone, form, jobs, events, prompt)
        if gone.done():
            _give_up(jobs)
            raise _GoneError
        usage = bool(asked.stream_options and asked.stream_options.include_usage)

        class Streamed(StreamingResponse):
            """Gives the answers up when it ends, in whatever way, and also where it never began."""

            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                # Of this version servers do not tell by an error of `send`, so starlette itself looks for the end.
                told = {**scope, "asgi": {**scope.get("asgi", {}), "spec_version": "2.3"}}
                try:
                    await super().__call__(told, receive, send)
                finally:
                    _give_up(jobs)

        return Streamed(self._stream(form, jobs, events, prompt, usage), media_type="text/event-stream")

    @contextlib.contextmanager
    def _preparation(self) -> Iterator[None]:
        """Count a request. Raises BadRequest with status 429 where too many are being prepared."""
        most = self.limits.running + self.limits.waiting
        if self.preparing >= most:
            raise BadRequest(
                f"{self.preparing} requests are being prepared; this server's limit is running + waiting = {most}; try "
                "again later",
                status=429,
            )
        self.preparing += 1
        try:
            yield
        finally:
            self.preparing -= 1

    async def _prepared(
        self, asked: Chat | Completion, gone: asyncio.Task[None], events: asyncio.Queue[tuple[int, Event]]
    ) -> tuple[TokenAutomaton | None, list[Job]]:
        """The constraint of a request, compiled, and its answers.

        What constraints cost is done for a few requests at once, in threads of their own: others find theirs free.
        """
        if asked.model is not None and (error := self._other_model(asked.model)) is not None:
            raise error
        width = len(self.model.vocabulary)
        if any(not 0 <= token < width for token in asked.logit_bias or ()):
            raise BadRequest(f"logit_bias: expected token ids below {width}", "logit_bias")
        convention, loop = self.model.tool_convention, asyncio.get_running_loop()
        found = await _in_thread(gone, lambda: requested_automaton(asked, self.automata, self.limits, convention))
        if found is None:
            return None, await _in_thread(gone, lambda: self._jobs(asked, None, events, loop))
        known = found if isinstance(found, TokenAutomaton) else None
        slots = self.building if known is None else self.beginning
        await _unless_gone(gone, asyncio.ensure_future(slots.acquire()))

        def made() -> tuple[TokenAutomaton, list[Job]]:
            try:
                automaton = found if isinstance(found, TokenAutomaton) else found()
                return automaton, self._jobs(asked, automaton, events, loop)
            finally:  # also where the client is gone: only now another one has its turn
                try:
                    loop.call_soon_threadsafe(slots.release)
                except RuntimeError:  # the loop is closed
                    slots.release()

        return await _in_thread(gone, made, self.pool)

    def _jobs(
        self,
        asked: Chat | Completion,
        automaton: TokenAutomaton | None,
        events: asyncio.Queue[tuple[int, Event]],
        loop: asyncio.AbstractEventLoop,
    ) -> list[Job]:
        """The answers of a request."""
        special = self.model.vocabulary.special_tokens if isinstance(asked, Chat) and asked.tools else {}
        names = {token: name for name, token in special.items()}
        jobs: list[Job] = []
        for tokens in self._prompts(asked):
            most = self._most_tokens(asked, len(tokens))
            try:
                start = automaton.start(most) if automaton is not None else None
            except (BudgetError, LimitError) as error:
                reason = str(error).replace("max_tokens=", f"{asked.tokens_field}=")
                raise BadRequest(f"{asked.tokens_field}: {reason}", asked.tokens_field) from error
            for k in range(asked.n):
                index = len(jobs)

                def deliver(event: Event, index: int = index) -> None:
                    loop.call_soon_threadsafe(events.put_nowait, (index, event))

                seed = None if asked.seed is None else (asked.seed + k) % 2**64
                state = None if start is None else start.copy()
                jobs.append(Job(tokens, most, deliver, state, asked.settings, asked.stops, seed, names))
        return jobs

    def _prompts(self, asked: Chat | Completion) -> Iterator[list[int]]:
        if isinstance(asked, Chat):
            yield self.model.chat(plain_messages(asked.messages), asked.tools or [])
        elif isinstance(asked.prompt, str):
            yield self.model.text(asked.prompt)
        elif all(isinstance(part, int) for part in asked.prompt):
            yield self._checked_ids([part for part in asked.prompt if isinstance(part, int)])
        else:
            for part in asked.prompt:
                yield self._checked_ids(part) if isinstance(part, list) else self.model.text(str(part))

    def _checked_ids(self, ids: list[int]) -> list[int]:
        if not ids:
            raise BadRequest("prompt: expected a text, texts or token ids, got an empty list", "prompt")
        if min(ids) < 0 or max(ids) >= len(self.model.vocabulary):
            raise BadRequest(f"prompt: expected token ids below {len(self.model.vocabulary)}", "prompt")
        return ids

    def _most_tokens(self, asked: Chat | Completion, prompt: int) -> int:
        room, most = self.model.context - prompt, asked.most_tokens
        if room < 1 or (most or 1) > room:
            raise BadRequest(
                f"{asked.tokens_field}: the prompt has {prompt} tokens and asks for {most or 1} more; the model reads "
                f"{self.model.context}",
                asked.tokens_field,
            )
        if most is not None and most > self.limits.new_tokens:
            raise BadRequest(
                f"{asked.tokens_field}: {most}; this server's limit is new_tokens={self.limits.new_tokens}",
                asked.tokens_field,
            )
        return most or min(room, self.limits.new_tokens)

    async def _whole(
        self,
        gone: asyncio.Task[None],
        form: Form,
        jobs: list[Job],
        events: asyncio.Queue[tuple[int, Event]],
        prompt: int,
    ) -> Response:
        answers = [Answer(i) for i in range(len(jobs))]
        try:
            while any(answer.reason is None for answer in answers):
                index, event = await _unless_gone(gone, asyncio.ensure_future(events.get()))
                if isinstance(event, Failed):
                    return _json(_error(event.error), _status(event.error))
                take(answers[index], event)
        finally:
            _give_up(jobs)
        return _json(form.whole(answers, prompt))

    async def _stream(
        self, form: Form, jobs: list[Job], events: asyncio.Queue[tuple[int, Event]], prompt: int, usage: bool
    ) -> AsyncIterator[str]:
        answers = [Answer(i) for i in range(len(jobs))]
        for answer in answers:
            for first in form.begin(answer):
                yield _line(first)
        while any(answer.reason is None for answer in answers):
            index, event = await events.get()
            if isinstance(event, Failed):
                yield _line(_error(event.error))
                return
            take(answers[index], event)
            for part in form.parts(answers[index], event):
                yield _line(part)
        if usage:
            yield _line(form.usage(answers, prompt))
        yield "data: [DONE]\n\n"


def _error(error: Exception) -> dict[str, Any]:
    status = _status(error)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    where = error.parameter if isinstance(error, BadRequest) else None
    return {"error": {"message": str(error) or type(error).__name__, "type": kind, "param": where, "code": None}}


def _status(error: Exception) -> int:
    """A limit that an answer reaches is the request's own doing, all else the server's."""
    return error.status if isinstance(error, BadRequest) else 400 if isinstance(error, LimitError) else 500


def _json(data: object, status: int = 200) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse(data, status)


def _line(data: object) -> str:
    return f"data: {json.dumps(data)}\n\n"


async def _no_such_page(request: Request, error: Exception) -> Response:
    """What is said of other paths and methods."""
    method, path = request.method, request.url.path
    reason = f"this server has no {method} {path}; expected POST /v1/chat/completions or /v1/completions, or GET "
    status = getattr(error, "status_code", 404)
    return _json(_error(BadRequest(reason + "/v1/models or /health", None, status)), status)


async def _body(request: Request, limits: ServerLimits) -> bytes:
    """The body, read no further than the limit."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > limits.body_bytes:
            raise BadRequest(
                f"the body is too large; this server's limit is body_bytes={limits.body_bytes:,}", None, 413
            )
    return bytes(found)


class _GoneError(Exception):
    """The client is gone."""


async def _unless_gone(gone: asyncio.Task[None], work: asyncio.Future[T], *, keep: bool = False) -> T:
    """What some work comes to; raises _GoneError where the client goes first, and ends the work unless it is kept."""
    either: set[asyncio.Future[Any]] = {gone, work}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise _GoneError
        return work.result()
    finally:
        if not keep:
            work.cancel()


async def _in_thread(gone: asyncio.Task[None], work: Callable[[], T], pool: ThreadPoolExecutor | None = None) -> T:
    """What a function comes to in another thread; it runs to its end, also where the client goes."""
    running = asyncio.get_running_loop().run_in_executor(pool, work)
    running.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be left to be told
    return await _unless_gone(gone, running, keep=True)


def _give_up(jobs: list[Job]) -> None:
    for job in jobs:
        job.cancelled = True


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
