"""Vocabularies in sentencepiece *.model files (Kudo & Richardson 2018), read from their protocol buffer."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from ..automata.errors import VocabularyError
from .source import TokenSource, eos_from_neighbours, read_bytes

SPACE = "▁"
_BYTE_PIECE = re.compile("<0x([0-9A-Fa-f]{2})>")
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""Piece types of the format; GGUF files number the same types alike."""


@dataclasses.dataclass
class Model:
    """Pieces in id order with their types, the EOS id (-1: none), and whether a space is put before a text.

    A model whose pieces end with their space (``treat_whitespace_as_suffix``) puts it behind the text instead.
    """

    pieces: list[tuple[str, int]]
    eos_id: int
    add_dummy_prefix: bool


def piece_bytes(piece: str, kind: int, where: str) -> bytes | None:
    """Return the bytes of one piece: `▁` is a space, `<0x0A>` of type byte is one byte; control pieces have none.

    Unused and unknown pieces have none either: encoding never produces them.

    Raises:
        VocabularyError: a byte piece that is not spelled `<0x..>`.
    """
    if kind == BYTE:
        if match := _BYTE_PIECE.fullmatch(piece):
            return bytes.fromhex(match[1])
        raise VocabularyError(f"{where}: byte piece {piece!r} is not spelled like <0x0A>; the file is damaged")
    if kind not in (NORMAL, USER_DEFINED):
        return None
    return piece.replace(SPACE, " ").encode()


def read_sentencepiece(path: Path) -> TokenSource:
    """Read a sentencepiece model file.

    With a dummy prefix (``adds_dummy_prefix``) encoding puts one space before the text, so the bytes of the ids are a
    space and the text. A model with ``treat_whitespace_as_suffix`` puts the space behind the text: the bytes of the
    ids are the text and a space, which is no dummy prefix. EOS is the model's eos_id, and what configuration files
    beside it name.

    Raises:
        MissingFileError: no such file.
        VocabularyError: damaged or truncated, or not a sentencepiece model.
    """
    where = str(path)
    model = parse_model(read_bytes(path), where)
    source = from_model(model, where)
    source.eos_token_ids = sorted({*source.eos_token_ids, *eos_from_neighbours(path.parent, source.special_tokens)})
    return source


def from_model(model: Model, where: str) -> TokenSource:
    """Turn a parsed model into tokens."""
    tokens = [piece_bytes(piece, kind, where) for piece, kind in model.pieces]
    special = {piece: i for i, (piece, kind) in enumerate(model.pieces) if kind in (UNKNOWN, CONTROL)}
    eos = [model.eos_id] if 0 <= model.eos_id < len(tokens) else []
    return TokenSource(tokens, eos, special, model.add_dummy_prefix)


def parse_model(data: bytes, where: str) -> Model:
    """Parse ModelProto: pieces (1), trainer_spec (2: suffix 24, eos_id 42), normalizer_spec (3: add_dummy_prefix 3)."""
    pieces: list[tuple[str, int]] = []
    eos_id, add_dummy_prefix, suffix, specs = 2, True, False, set()
    try:
        for field, value in _fields(data):
            if field == 1:
                pieces.append(_piece(value))
            elif field == 2:
                specs.add(field)
                eos_id = next((_signed(v) for f, v in _fields(value) if f == 42), eos_id)
                suffix = bool(next((v for f, v in _fields(value) if f == 24), suffix))
            elif field == 3:
                specs.add(field)
                add_dummy_prefix = bool(next((v for f, v in _fields(value) if f == 3), add_dummy_prefix))
    except (ValueError, IndexError, TypeError) as error:
        raise VocabularyError(f"{where}: damaged or truncated sentencepiece model ({error}); fetch it again") from error
    if not pieces or specs != {2, 3}:
        raise VocabularyError(
            f"{where}: expected a sentencepiece model with pieces, trainer and normalizer, got {len(pieces)} pieces; "
            "the file is truncated or of another kind"
        )
    return Model(pieces, eos_id, add_dummy_prefix and not suffix)


def _piece(data: bytes | int) -> tuple[str, int]:
    text, kind = "", NORMAL
    for field, value in _fields(data):
        if field == 1:
            text = str(value, "utf-8")  # type: ignore[arg-type]
        elif field == 3:
            kind = int(value)
    return text, kind


def _fields(data: bytes | int) -> Iterator[tuple[int, bytes | int]]:
    """Yield (field number, value) of a protocol buffer message: varints as int, everything else as bytes."""
    if isinstance(data, int):
        raise ValueError("a number where a message should be")
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        wire = key & 7
        value: bytes | int
        if wire == 0:
            value, at = _varint(data, at)
        else:
            length = {1: 8, 5: 4}.get(wire, -1)
            if wire == 2:
                length, at = _varint(data, at)
            if length < 0 or length > end - at:
                raise ValueError(f"field {key >> 3} at byte {at} does not fit the message")
            value = data[at : at + length]
            at += length
        yield key >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError(f"a number at byte {at} is too long")


def _signed(value: bytes | int) -> int:
    value = int(value)
    return value - (1 << 64) if value >> 63 else value
