"""Scheduler: decodes the sequences of all requests in turns, in a thread of its own."""

from __future__ import annotations

import codecs
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..decode import DecodeState
from .limits import ServerLimits
from .model import Model, Run
from .request import BadRequest
from .sampling import Settings, draw

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Piece:
    """Text that was added to an answer; never half a character."""

    text: str


@dataclass(frozen=True)
class Done:
    """The end of an answer: "stop" (an end token, a stop text) or "length". ``tokens``: drawn, the end included."""

    reason: Literal["stop", "length"]
    tokens: int


@dataclass(frozen=True)
class Failed:
    """The answer could not be written on."""

    error: Exception


Event = Piece | Done | Failed


@dataclass
class Job:
    """One answer that is asked for. ``state``: its constraint, at the start; ``deliver`` is called by the thread."""

    prompt: Sequence[int]
    most_tokens: int
    deliver: Callable[[Event], None]
    state: DecodeState | None = None
    settings: Settings = field(default_factory=Settings)
    stops: tuple[str, ...] = ()
    seed: int | None = None
    names: Mapping[int, str] = field(default_factory=dict)  # special tokens that stand in the text by their names
    cancelled: bool = False  # set by whoever no longer wants the answer


class Scheduler:
    """Runs a model for many jobs: each running sequence draws one token, then the next one does.

    A job's error is delivered to that job alone; one whose ``deliver`` raises ends. Waiting jobs start in the order in
    which they came.
    """

    def __init__(self, model: Model, limits: ServerLimits) -> None:
        """Start the thread."""
        self._model = model
        self._limits = limits
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()  # of what waits, and whether it is closed
        self._running: deque[_Writing] = deque()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="tokamata-serve", daemon=True)
        self._thread.start()

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs. Raises BadRequest with status 429 where too many are waiting; cancelled ones no longer wait."""
        with self._changed:
            self._waiting = deque(job for job in self._waiting if not job.cancelled)
            if len(self._waiting) + len(jobs) > self._limits.waiting:
                raise BadRequest(
                    f"{len(self._waiting)} answers are waiting; this server's limit is waiting={self._limits.waiting}; "
                    "try again later",
                    status=429,
                )
            self._waiting += jobs
            self._changed.notify()

    def close(self) -> None:
        """End the thread after its current token; what was not written is given up."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while not self._closed:
            while len(self._running) < self._limits.running and (job := self._next()) is not None:
                self._running.append(_Writing(job, self._model))
            if self._running:
                writing = self._running.popleft()
                if writing.step():
                    self._running.append(writing)

    def _next(self) -> Job | None:
        """The next job that is still wanted; waits for one where nothing else is to be done. None: there is none."""
        with self._changed:
            while not self._closed:
                while self._waiting:
                    job = self._waiting.popleft()
                    if not job.cancelled:
                        return job
                if self._running:
                    return None
                self._changed.wait()
        return None


class _Writing:
    """A job whose answer is being written."""

    def __init__(self, job: Job, model: Model) -> None:
        self._job = job
        self._model = model
        self._run: Run | None = None
        self._random = np.random.default_rng(job.seed)
        self._counts: Counter[int] = Counter()
        self._drawn = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""  # may be the beginning of a stop text
        self._hold = max((len(stop) for stop in job.stops), default=1) - 1

    def step(self) -> bool:
        """Draw a token; False at the end."""
        if self._job.cancelled:
            return False
        try:
            return self._step()
        except Exception as error:  # whatever fails, fails this answer alone
            _log.warning("an answer failed", exc_info=error)
            failed = Failed(error)
        try:
            self._job.deliver(failed)
        except Exception as error:  # nobody is there any more
            _log.warning("a failure could not be delivered", exc_info=error)
        return False

    def _step(self) -> bool:
        job, vocabulary = self._job, self._model.vocabulary
        if self._run is None:
            self._run = self._model.start(job.prompt)
        token = self._forced()
        if token is None:
            scores = self._run.logits()[: len(vocabulary)]
            mask = None if job.state is None else job.state.mask()
            token = draw(scores, mask, job.settings, self._counts, self._random)
        self._drawn += 1
        self._counts[token] += 1
        if job.state is not None:
            job.state.advance(token)
        if token in vocabulary.eos_token_ids:
            return self._end("stop")
        self._run.push(token)
        data = vocabulary.token_bytes(token) or job.names.get(token, "").encode()
        if self._add(self._decoder.decode(data)):
            return self._end("stop")
        if self._drawn == job.most_tokens:
            return self._end("length")
        return True

    def _forced(self) -> int | None:
        """The only token that may follow, which needs no scores."""
        state = self._job.state
        forced = [] if state is None or state.is_final else state.forced_tokens(1)
        return forced[0] if forced else None

    def _add(self, text: str) -> bool:
        """Deliver text as far as it cannot be part of a stop text; True where one was written."""
        self._held += text
        found = [at for stop in self._job.stops if (at := self._held.find(stop)) >= 0]
        if found:
            self._held = self._held[: min(found)]
            self._decoder.reset()
            return True
        ready = len(self._held) - self._hold
        if ready > 0:
            self._job.deliver(Piece(self._held[:ready]))
            self._held = self._held[ready:]
        return False

    def _end(self, reason: Literal["stop", "length"]) -> bool:
        rest = self._held + self._decoder.decode(b"", final=True)
        if rest:
            self._job.deliver(Piece(rest))
        self._job.deliver(Done(reason, self._drawn))
        return False
