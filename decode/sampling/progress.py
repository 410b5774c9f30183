"""Progress of long runs: a bar, a function, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from ...automata.checks import checked_flag

Progress: TypeAlias = "bool | Callable[[int, int], None]"


@contextmanager
def progress_of(progress: Progress, total: int, title: str) -> Iterator[Callable[[int], None]]:
    """Give a function to call with what is done: it draws a bar with rich, calls a function (done, total), or nothing.

    Without rich, a bar is silence.
    """
    if callable(progress):
        yield lambda done: progress(done, total)
        return
    if checked_flag(f"{title}.sample", "progress a function, or", progress):
        try:
            from rich.console import Console
            from rich.progress import Progress as Bar
        except ImportError:
            pass
        else:
            with Bar(console=Console(stderr=True)) as bar:
                task = bar.add_task(title, total=total)
                yield lambda done: bar.update(task, completed=done)
            return
    yield lambda done: None
