"""Artifact: one `.fst` file that OpenFst opens, with named binary sections behind the FST that it does not read."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._core import (
    ARTIFACT_FOOTER,
    ARTIFACT_UNSUMMED,
    Checksum,
    artifact_index,
    artifact_index_offset,
    artifact_tail,
)
from ..automata.errors import VocabularyError
from ..automata.whole_file import write_whole
from .source import open_file

_PIECE = 1 << 18  # bytes of the FST at a time, which is only summed


def write_artifact(path: str | os.PathLike[str], fst: bytes, sections: Mapping[str, bytes]) -> None:
    """Write an FST in OpenFst's binary format and sections behind it.

    The file appears whole or not at all: see `write_whole`.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(path, fst, artifact_tail(fst, dict(sections)))


def read_artifact(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """Read the sections of a file that `write_artifact` wrote, by name; the FST itself is not parsed.

    The checksum covers the whole file, the FST too. Each byte is read once, and only the sections stay in memory.

    Raises:
        MissingFileError: no such file.
        VocabularyError: an FST without sections, of another version, truncated or damaged.
    """
    return read_sections(path, ())[0]


def has_sections(path: str | os.PathLike[str]) -> bool:
    """Whether a file ends as those do that `write_artifact` writes, be it damaged elsewhere or not."""
    with open_file(Path(path)) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - ARTIFACT_FOOTER))
        try:
            artifact_index_offset(file.read(ARTIFACT_FOOTER), size)
        except VocabularyError:
            return False
        return True


def read_sections(
    path: str | os.PathLike[str], as_arrays: Container[str]
) -> tuple[dict[str, bytes], dict[str, NDArray[np.uint8]]]:
    """Read like `read_artifact`, the sections named in ``as_arrays`` into arrays.

    Those are for sections of many megabytes: numpy asks for huge pages, so that they are read in half the time and
    found more quickly later.
    """
    with open_file(Path(path), "pass the path of a file that save wrote") as file:
        try:
            return _read_sections(file, as_arrays)
        except VocabularyError as error:
            raise VocabularyError(f"{os.fspath(path)}: {error}") from error


def _read_sections(
    file: BufferedReader, as_arrays: Container[str]
) -> tuple[dict[str, bytes], dict[str, NDArray[np.uint8]]]:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - ARTIFACT_FOOTER))
    file.seek(artifact_index_offset(file.read(ARTIFACT_FOOTER), size))
    expected, entries = artifact_index(file.read(), size)
    checksum = Checksum()
    piece = np.empty(_PIECE, np.uint8)

    def take(into: NDArray[np.uint8]) -> None:
        length = file.readinto(into.data)  # less if somebody cuts the file meanwhile: the checksum tells
        checksum.add(into[:length])

    def skip_to(end: int) -> None:
        for at in range(file.tell(), end, _PIECE):
            take(piece[: end - at])

    file.seek(0)
    sections, arrays = {}, {}
    for encoded, offset, length in entries:
        skip_to(offset)
        array = np.empty(length, np.uint8)
        take(array)
        name = encoded.decode(errors="replace")  # a damaged one is found by the checksum
        if name in as_arrays:
            arrays[name] = array
        else:
            sections[name] = array.tobytes()
    skip_to(size - ARTIFACT_UNSUMMED)
    checksum.require(expected)
    return sections, arrays
