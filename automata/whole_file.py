"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

_REMEDIES = {
    errno.ENOENT: "make its folder first",
    errno.ENOTDIR: "make its folder first",
    errno.EISDIR: "pass the name of a file in it",
}


def write_whole(path: str | os.PathLike[str], *pieces: bytes) -> None:
    """Write bytes under another name beside ``path``, then rename the file; a link's target is written, not the link.

    What is no regular file (a pipe, a device) is written to as it is. Raises OSError, which names ``path`` and, where
    a folder is missing or of that name, the remedy.
    """
    try:
        _write(Path(path), pieces)
    except OSError as error:
        remedy = f"; {_REMEDIES[error.errno]}" if error.errno in _REMEDIES else ""
        raise OSError(error.errno, f"{error.strerror}{remedy}", os.fspath(path)) from None


def _write(target: Path, pieces: tuple[bytes, ...]) -> None:
    if _is_special(target):
        with target.open("wb") as file:
            file.writelines(pieces)
        return
    whole = target.resolve()
    beside = whole.with_name(f"{whole.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("wb") as file:
            file.writelines(pieces)
        beside.replace(whole)
    finally:
        with contextlib.suppress(NotADirectoryError):
            beside.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether there is something that is no regular file; OSError where links lead round in a circle."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False
