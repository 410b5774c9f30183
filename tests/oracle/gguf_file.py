"""Writes small GGUF files that hold a tokenizer."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def _string(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _value(value: object) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<Ii", 5, value)
    if isinstance(value, bytes):
        return struct.pack("<I", 8) + _string(value)
    assert isinstance(value, list)
    if isinstance(value[0], bytes):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_string, value))
    return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)


def gguf_bytes(model: bytes, tokens: Sequence[bytes], kinds: Sequence[int], **keys: object) -> bytes:
    """Return a GGUF file without tensors; keys are those of tokenizer.ggml."""
    metadata = {"model": model, "tokens": list(tokens), "token_type": list(kinds), **keys}
    body = b"".join(_string(f"tokenizer.ggml.{k}".encode()) + _value(v) for k, v in metadata.items())
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(metadata)) + body
