"""Artifact: one `.fst` file that OpenFst opens, with named binary sections behind the FST that it does not read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from .._core import artifact_parse, artifact_tail
from ..automata.errors import VocabularyError
from .source import read_bytes


def write_artifact(path: str | os.PathLike[str], fst: bytes, sections: Mapping[str, bytes]) -> None:
    """Write an FST in OpenFst's binary format and sections behind it.

    The file appears whole or not at all: it is written under another name beside ``path`` and then renamed.

    Raises:
        OSError: the file cannot be written.
    """
    path = Path(path)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("wb") as file:
            file.write(fst)
            file.write(artifact_tail(fst, dict(sections)))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read_artifact(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """Read the sections of a file that `write_artifact` wrote, by name; the FST itself is not parsed.

    The checksum covers the whole file, the FST too.

    Raises:
        MissingFileError: no such file.
        VocabularyError: an FST without sections, of another version, truncated or damaged.
    """
    data = read_bytes(Path(path))
    try:
        _, sections = artifact_parse(data)
        return {name.decode(): data[at : at + length] for name, at, length in sections}
    except UnicodeDecodeError as error:
        raise VocabularyError(f"{os.fspath(path)}: a section's name is not text; the file is damaged") from error
    except VocabularyError as error:
        raise VocabularyError(f"{os.fspath(path)}: {error}") from error
