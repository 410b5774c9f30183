"""Ctrl-C ends a command soon, also while the native core works, where Python's own handler does not run."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .common import errors

_GRACE = 1.0  # seconds in which Python may end by itself


def interrupted() -> None:
    """Say so."""
    errors.print("tokamata: interrupted", style="red", soft_wrap=True)


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """Where Ctrl-C has not ended what is run here within a second, end the process.

    The native core returns to Python when it is done or at a limit, which may take a minute, and only then does Python
    raise KeyboardInterrupt. So another thread is told of signals. It leaves them to whoever else handles them: a server
    of the command's own, a parent that has them ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ended = threading.Event()
    ear, mouth = socket.socketpair()

    def listen() -> None:
        while number := ear.recv(1):
            plain = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            if number[0] == signal.SIGINT and plain and not ended.wait(_GRACE):
                errors.show_cursor()
                interrupted()
                os._exit(130)

    mouth.setblocking(False)
    before = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        mouth.close()
        listener.join()
        ear.close()
