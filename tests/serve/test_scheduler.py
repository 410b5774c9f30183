"""Scheduler: its thread ends when it is closed, and not before."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

import tokamata
from tokamata.serve import ServerLimits
from tokamata.serve.scheduler import Done, Event, Job, Scheduler


class Endless:
    """A model that never ends a text; it stands still at a token until somebody lets it go on."""

    name, context, tool_convention = "endless", 1 << 20, None
    vocabulary = tokamata.Vocabulary([None, b"x"], eos_token_ids=[0])

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)

    def chat(self, messages: Sequence[Any], tools: Sequence[Any]) -> list[int]:
        return [1]

    def text(self, text: str) -> list[int]:
        return [1]

    def start(self, prompt: Sequence[int]) -> Endless:
        return self

    def push(self, token_id: int) -> None:
        pass

    def logits(self) -> np.ndarray:
        self.asked.release()
        assert self.go_on.acquire(timeout=30)
        return np.array([-1e9, 0], np.float32)


def test_closing_gives_up_what_was_not_written() -> None:
    model = Endless()
    scheduler = Scheduler(model, ServerLimits(running=1, waiting=9))
    events: list[Event] = []
    scheduler.submit([Job([1], 40, events.append), Job([1], 40, events.append)])
    assert model.asked.acquire(timeout=30)
    closing = threading.Thread(target=scheduler.close)
    closing.start()
    closing.join(0.2)  # it waits for the token
    model.go_on.release(1000)
    closing.join(30)
    assert not closing.is_alive()
    assert len(events) == 1, events


def test_whoever_takes_no_events_ends_no_other_answer() -> None:
    def gone(event: Event) -> None:
        raise RuntimeError("Event loop is closed")

    model = Endless()
    model.go_on.release(1000)
    scheduler = Scheduler(model, ServerLimits(running=2))
    done = threading.Event()
    events: list[Event] = []

    def taken(event: Event) -> None:
        events.append(event)
        if not hasattr(event, "text"):
            done.set()

    scheduler.submit([Job([1], 5, gone), Job([1], 5, taken)])
    assert done.wait(10)
    assert events[-1] == Done("length", 5)
    scheduler.close()
