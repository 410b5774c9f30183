"""Clients that go away, at whatever moment: their answers end, and nobody else's."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import openai
import pytest
from oracle.http_server import HttpServer
from tokamata.decode import TokenAutomaton
from tokamata.decode.automaton_cache import AutomatonCache

import tokamata
from tokamata.serve import ServerLimits

SAY = [{"role": "user", "content": "say it"}]


class Counting:
    """A model that says as many x as the prompt asks for by its length, or for ever, and counts."""

    name, context, tool_convention = "counting", 100_000, None
    vocabulary = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256))], eos_token_ids=[0])

    def __init__(self) -> None:
        self.started = self.asked = 0

    def chat(self, messages: Sequence[Any], tools: Sequence[Any]) -> list[int]:
        return self.text(str(messages[-1]["content"]))

    def text(self, text: str) -> list[int]:
        return [1 + b for b in text.encode()]

    def start(self, prompt: Sequence[int]) -> CountingRun:
        self.started += 1
        return CountingRun(self)


class CountingRun:
    def __init__(self, model: Counting) -> None:
        self.model = model

    def push(self, token_id: int) -> None:
        pass

    def logits(self) -> np.ndarray:
        self.model.asked += 1
        time.sleep(0.002)
        scores = np.zeros(257, np.float32)
        scores[1 + ord("x")] = 50
        return scores


class Server(HttpServer):
    model: Counting

    def __init__(self, limits: ServerLimits) -> None:
        super().__init__(Counting(), limits, timeout=30)

    def raw(self, **body: Any) -> socket.socket:
        """A connection that has sent a request and reads nothing."""
        data = json.dumps({"messages": SAY, **body}).encode()
        connection = socket.create_connection(self.address)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n"
        connection.sendall(head.encode() + data)
        return connection

    def ask(self, **options: Any) -> Any:
        return self.client.chat.completions.create(**{"model": "counting", "messages": SAY, **options})

    def quiet(self) -> bool:
        """Whether nothing is being written any more, soon."""
        return reached(lambda: not self.goes_on())

    def plain(self) -> str | None:
        """What is answered to a request without a constraint, which others must not hold up."""
        client = self.client.with_options(timeout=5)
        answer = client.chat.completions.create(model="counting", messages=SAY, max_tokens=4)  # type: ignore[call-overload]
        return answer.choices[0].message.content

    def goes_on(self) -> bool:
        asked = self.model.asked
        time.sleep(0.05)
        return self.model.asked > asked


def reached(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 10
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def drop(connection: socket.socket, reset: bool) -> None:
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


@contextlib.contextmanager
def serving(**limits: int) -> Iterator[Server]:
    server = Server(ServerLimits(**{"new_tokens": 50_000, **limits}))  # type: ignore[arg-type]
    try:
        yield server
    finally:
        server.close()


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_is_being_written_ends(stream: bool, reset: bool) -> None:
    with serving() as server:
        connection = server.raw(stream=stream, n=3)
        assert reached(lambda: server.model.asked > 5)
        other = server.raw(stream=True)
        drop(connection, reset)
        assert server.ask(max_tokens=20).choices[0].message.content == "x" * 20
        assert server.goes_on()  # the other one's
        drop(other, reset)
        assert server.quiet()
        assert server.model.started == 5


@pytest.mark.parametrize("stream", [False, True])
def test_whoever_is_gone_waits_no_longer(stream: bool) -> None:
    with serving(running=1, waiting=2) as server:
        first = server.raw(stream=True)
        assert reached(lambda: server.model.asked > 2)
        for _ in range(5):
            waiting = [server.raw(stream=stream), server.raw(stream=stream)]
            full = lambda: _status(server, max_tokens=1) == 429  # noqa: E731
            assert reached(full)
            for connection in waiting:
                connection.close()
            time.sleep(0.2)
            again = server.raw(n=2)  # their places are free
            again.settimeout(0.2)
            with pytest.raises(TimeoutError):
                again.recv(99)  # it waits and is not refused
            assert reached(full)
            again.close()
            time.sleep(0.2)
        assert server.model.started == 1
        first.close()
        assert server.ask(max_tokens=3).choices[0].message.content == "xxx"
        assert server.quiet()
        assert server.model.started == 2


def _status(server: Server, **body: Any) -> int:
    """The status of a request that is refused at once; 0 where it would have to wait."""
    with contextlib.suppress(httpx.ReadTimeout):
        return httpx.post(f"{server.url}/v1/chat/completions", json={"messages": SAY, **body}, timeout=0.1).status_code
    return 0


class Gate:
    """Constraints are built only when it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.building = 0
        build = AutomatonCache.get

        def get(*arguments: Any) -> Any:
            self.building += 1
            assert self.open.wait(30)
            return build(*arguments)

        monkeypatch.setattr(AutomatonCache, "get", get)


@pytest.mark.parametrize("stream", [False, True])
def test_whoever_is_gone_while_a_constraint_is_built_gets_no_answer(
    stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    with serving() as server:
        connections = [
            server.raw(stream=stream, response_format={"type": "json_object"}, max_tokens=40 + i) for i in range(12)
        ]
        assert reached(lambda: gate.building > 0)
        for connection in connections:
            connection.close()
        time.sleep(0.2)
        gate.open.set()
        assert server.ask(extra_body={"regex": "x{7}"}).choices[0].message.content == "xxxxxxx"
        assert server.quiet()
        assert server.model.started <= 1  # what is forced is not asked of the model
        assert gate.building < 10  # those that were not begun are not built


def test_building_stands_in_nobodys_way(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with serving() as server, ThreadPoolExecutor(20) as pool:
        build = lambda i: server.ask(extra_body={"regex": f"y{{{i}}}x"}).choices[0].message.content  # noqa: E731
        answers = [pool.submit(build, i) for i in range(20)]
        assert reached(lambda: gate.building > 0)
        time.sleep(0.1)
        try:
            text = server.plain()
        finally:
            gate.open.set()
        assert text == "xxxx"
        assert [future.result(30) for future in answers] == ["y" * i + "x" for i in range(20)]


def test_budgets_stand_in_nobodys_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether an answer can end in time is a long search for some constraints, also for those that are known."""
    opened, start = threading.Event(), TokenAutomaton.start

    def slow(automaton: Any, *arguments: Any) -> Any:
        if arguments:
            assert opened.wait(30)
        return start(automaton, *arguments)

    with serving() as server, ThreadPoolExecutor(20) as pool:
        build = lambda i: server.ask(extra_body={"regex": f"y{{{i % 2}}}x"}).choices[0].message.content  # noqa: E731
        assert [build(i) for i in range(2)] == ["x", "yx"]
        monkeypatch.setattr(TokenAutomaton, "start", slow)
        answers = [pool.submit(build, i) for i in range(20)]
        time.sleep(0.3)
        try:
            text = server.plain()
        finally:
            opened.set()
        assert text == "xxxx"
        assert [future.result(30) for future in answers] == ["x", "yx"] * 10


def test_too_many_requests_that_are_prepared_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with serving(running=1, waiting=2) as server:
        connections = [server.raw(regex=f"x{{{i}}}") for i in (5, 6, 7)]
        try:
            time.sleep(0.3)
            with pytest.raises(
                openai.RateLimitError, match=r"3 requests are being prepared; .* running \+ waiting = 3"
            ):
                server.client.with_options(timeout=5).chat.completions.create(
                    model="counting", messages=SAY, max_tokens=4
                )  # type: ignore[call-overload]
            for connection in connections:
                connection.close()
            assert reached(lambda: _status(server, max_tokens=1) == 200)
        finally:
            gate.open.set()


def test_half_a_body_is_no_error_of_the_server(capfd: pytest.CaptureFixture[str]) -> None:
    with serving() as server:
        for reset in (False, True):
            connection = socket.create_connection(server.address)
            connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.1)
            drop(connection, reset)
        assert server.ask(max_tokens=2).choices[0].message.content == "xx"
    assert "Traceback" not in capfd.readouterr().err


def test_many_clients_of_whom_some_go_at_any_moment(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(running=3, waiting=64) as server, ThreadPoolExecutor(8) as pool:

        def client(seed: int) -> None:
            rng = random.Random(seed)
            for _ in range(6):
                kind, count = rng.randrange(5), rng.randrange(1, 25)
                more = {"regex": f"x{{{count}}}"} if rng.random() < 0.5 else {}
                if kind == 0:
                    connection = server.raw(stream=rng.random() < 0.5, n=rng.randrange(1, 3), **more)
                    time.sleep(rng.random() * 0.1)
                    drop(connection, rng.random() < 0.5)
                elif kind == 1:
                    with contextlib.suppress(openai.APITimeoutError):
                        server.client.with_options(timeout=0.01 + rng.random() * 0.1).chat.completions.create(
                            model="counting", messages=SAY, extra_body=more
                        )  # type: ignore[call-overload]
                elif kind == 2:
                    with server.ask(stream=True, extra_body=more) as stream:
                        for _, _part in zip(range(rng.randrange(1, 6)), stream, strict=False):
                            pass
                elif kind == 3:
                    with server.ask(stream=True, max_tokens=count) as stream:
                        text = "".join(part.choices[0].delta.content or "" for part in stream)
                    assert text == "x" * count, seed
                else:
                    answer = server.ask(max_tokens=count, n=2)
                    assert [choice.message.content for choice in answer.choices] == ["x" * count] * 2, seed

        for done in [pool.submit(client, seed) for seed in range(8)]:
            done.result(60)
        assert server.quiet()
        assert server.ask(max_tokens=5, n=3).choices[2].message.content == "xxxxx"
    assert "Traceback" not in capfd.readouterr().err
