"""Ctrl-C ends a command at once, also while the native core works, to which Python's own handler does not come."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from .common import errors

_GRACE = 1.0  # seconds in which Python may end by itself


def interrupted() -> None:
    """Say so."""
    errors.print("tokamata: interrupted", style="red", soft_wrap=True)


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """While this is entered, Ctrl-C raises KeyboardInterrupt; where that is not heard of soon, the process ends.

    The native core returns to Python when it is done or at a limit, which may take a minute; only then could Python
    raise. So another thread is told of the signal. It does nothing where somebody else handles signals: a parent that
    has them ignored, a server of the command's own.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    heard = threading.Event()

    def handler(number: int, frame: FrameType | None) -> None:
        heard.set()
        signal.default_int_handler(number, frame)

    ear, mouth = socket.socketpair()

    def listen() -> None:
        while number := ear.recv(1):
            if number[0] == signal.SIGINT and signal.getsignal(signal.SIGINT) is handler and not heard.wait(_GRACE):
                errors.show_cursor()
                interrupted()
                os._exit(130)

    mouth.setblocking(False)
    before = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, handler)
    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before)
        mouth.close()
        listener.join()
        ear.close()
