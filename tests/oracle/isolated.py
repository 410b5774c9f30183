"""A function in a child process with limits on its processor time and memory, one question at a time.

A script that calls :func:`serve` under ``--worker`` is the child; :class:`Isolated` starts it, asks it, and starts it
anew after a crash, a timeout or too much memory. Linux only (it reads /proc).
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def serve(handler: Callable[[Any], Any]) -> None:
    """Answer the questions on standard input, a line of JSON each, until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the handler prints is no answer
    for line in sys.stdin:
        answers.write(json.dumps(handler(json.loads(line))) + "\n")
        answers.flush()


class Isolated:
    """A child process that answers questions; ``ask`` raises :class:`Failure` where it does not."""

    def __init__(self, script: str, *, seconds: float, megabytes: float) -> None:
        self.command = [sys.executable, script, "--worker"]
        self.seconds = seconds
        self.megabytes = megabytes
        self.child: subprocess.Popen[str] | None = None

    def ask(self, question: Any) -> Any:
        if self.child is None:
            path = os.pathsep.join([str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")])
            self.child = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": path},
            )
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        start, began = self._processor_seconds(), time.monotonic()
        try:
            self.child.stdin.write(json.dumps(question) + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            raise self._failure("crash") from None
        with selectors.DefaultSelector() as selector:
            selector.register(self.child.stdout, selectors.EVENT_READ)
            while not selector.select(0.05):
                if self._processor_seconds() - start > self.seconds or time.monotonic() - began > 6 * self.seconds + 60:
                    raise self._failure("timeout")
                if self._memory() > self.megabytes:
                    raise self._failure("memory")
        line = self.child.stdout.readline()
        if not line:
            raise self._failure("crash")
        return json.loads(line)

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            for pipe in (self.child.stdin, self.child.stdout):
                if pipe is not None:
                    pipe.close()
            self.child = None

    def _failure(self, kind: str) -> Failure:
        if self.child is not None and kind == "crash":
            with contextlib.suppress(subprocess.TimeoutExpired):
                kind = f"crash (exit code {self.child.wait(5)})"
        self.close()
        return Failure(kind)

    def _processor_seconds(self) -> float:
        assert self.child is not None
        try:
            fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / _TICKS
        except (OSError, IndexError):
            return 0.0

    def _memory(self) -> float:
        assert self.child is not None
        try:
            return int(Path(f"/proc/{self.child.pid}/statm").read_text().split()[1]) * _PAGE / 1e6
        except (OSError, IndexError):
            return 0.0


class Failure(Exception):
    """The child gave no answer: "timeout", "memory" or "crash (exit code ...)"."""
