"""Writes sentencepiece models (the ModelProto protocol buffer), for reading back by the sentencepiece package."""

from __future__ import annotations

import struct
from collections.abc import Sequence

BPE = 2


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def model_bytes(
    pieces: Sequence[tuple[bytes, float, int]], *, ids: dict[str, int], dummy_prefix: bool, model_type: int = BPE
) -> bytes:
    """Return a model file of (piece, score, type) with identity normalization. ids: unk, bos, eos, pad."""
    out = [
        _bytes(1, _bytes(1, piece) + b"\x15" + struct.pack("<f", score) + _number(3, kind))
        for piece, score, kind in pieces
    ]
    trainer = _number(3, model_type) + _number(35, 1)
    for field, name in ((40, "unk"), (41, "bos"), (42, "eos"), (43, "pad")):
        trainer += _number(field, ids.get(name, -1))
    normalizer = _bytes(1, b"identity") + _number(3, dummy_prefix) + _number(4, 0) + _number(5, 1)
    return b"".join(out) + _bytes(2, trainer) + _bytes(3, normalizer)
