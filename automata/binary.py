"""OpenFst's binary files."""

from __future__ import annotations

import os
from typing import Literal

from .._core import Fst as _NativeFst
from .._core import read_fst as _read_fst
from .._core import to_boolean as _to_boolean
from .._core import write_fst as _write_fst
from .checks import checked_path, quoted
from .errors import FstError, MissingFileError
from .whole_file import write_whole

FileKind = Literal["vector", "const", "const_aligned"]


def read_native(source: str | os.PathLike[str] | bytes, semiring: str | None) -> _NativeFst:
    """See `Fst.read`."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        place = "bytes"
    else:
        path = checked_path("Fst.read", source)
        place = str(path)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise MissingFileError(f"Fst.read: there is no file {place!r}; check the path") from None
        except IsADirectoryError:
            raise FstError(f"Fst.read: {place!r} is a folder; pass the path of a file in it") from None
    try:
        native, _ = _read_fst(data)
    except FstError as error:
        raise FstError(f"{error} [{place}]") from None
    if semiring is None or semiring == native.semiring():
        return native
    if semiring == "boolean":
        return _to_boolean(native)
    raise FstError(
        f"Fst.read: expected a machine over the {semiring} semiring, got {native.semiring()} [{place}]; "
        "leave semiring out to take the file's"
    )


def write_native(native: _NativeFst, path: str | os.PathLike[str], kind: FileKind) -> None:
    """See `Fst.write`."""
    write_whole(path, to_bytes_native(native, kind))


def to_bytes_native(native: _NativeFst, kind: FileKind) -> bytes:
    """See `Fst.to_bytes`."""
    if kind not in ("vector", "const", "const_aligned"):
        raise FstError(f'Fst.write: unknown kind {quoted(kind)}; expected "vector", "const" or "const_aligned"')
    return _write_fst(native, kind)
