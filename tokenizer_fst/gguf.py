"""Vocabularies in GGUF files: the tokenizer in the metadata at the file's beginning; tensors are not read."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

from ..automata.errors import MissingFileError, VocabularyError
from .byte_level import ByteLevelDecoder
from .sentencepiece import CONTROL, NORMAL, UNKNOWN, USER_DEFINED, piece_bytes
from .source import MAX_TOKENS, TokenSource, utf8

MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_PREFIX = "tokenizer.ggml."
_EOS_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")


class _Reader:
    """Reads little-endian values one after another; every length is checked against what is left."""

    def __init__(self, data: mmap.mmap, where: str) -> None:
        self.data, self.at, self.where = data, 0, where

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise VocabularyError(
                f"{self.where}: truncated at byte {len(self.data)}: the metadata go on; fetch it again"
            )
        self.at += count
        return self.data[self.at - count : self.at]

    def scalar(self, kind: str) -> Any:
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def string(self) -> bytes:
        return self.take(self.scalar("Q"))

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind in _SCALARS:
            return self.scalar(_SCALARS[kind])
        if kind != _ARRAY:
            raise VocabularyError(f"{self.where}: metadata of unknown type {kind}; the file is damaged")
        kind, count = self.scalar("I"), self.scalar("Q")
        if kind == _STRING:
            if count > (len(self.data) - self.at) // 8:
                self.take(len(self.data) + 1)
            return [self.string() for _ in range(count)]
        if kind not in _SCALARS:
            raise VocabularyError(f"{self.where}: an array of type {kind}; arrays of arrays are not read")
        code = _SCALARS[kind]
        return list(struct.unpack(f"<{count}{code}", self.take(count * struct.calcsize("<" + code))))


def read_gguf(path: Path) -> TokenSource:
    """Read the tokenizer of a GGUF file: byte-level BPE (`gpt2`), sentencepiece (`llama`, `t5`) or WordPiece (`bert`).

    Normal tokens are decoded as their kind says, user-defined ones are text, control and unknown ones are special,
    unused ones have no bytes. EOS ids are those of the keys eos_token_id, eot_token_id and eom_token_id.

    Raises:
        MissingFileError: no such file.
        VocabularyError: not GGUF, truncated metadata, no tokenizer, another kind of tokenizer.
    """
    where = str(path)
    try:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise VocabularyError(f"{where}: not a GGUF file (it should begin with {MAGIC!r})")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _tokens(_metadata(_Reader(data, where)), where)
    except FileNotFoundError as error:
        raise MissingFileError(f"{where}: no such file; pass the path of a .gguf file") from error
    except OSError as error:
        raise VocabularyError(f"{where}: cannot be read: {error.strerror}") from error


def _metadata(reader: _Reader) -> dict[str, Any]:
    reader.take(4)
    version, _, count = reader.scalar("I"), reader.scalar("Q"), reader.scalar("Q")
    if version not in (2, 3):
        raise VocabularyError(f"{reader.where}: GGUF version {version}; versions 2 and 3 are read")
    found: dict[str, Any] = {}
    for _ in range(count):
        key = reader.string().decode(errors="replace")
        value = reader.value(reader.scalar("I"))
        if key.startswith(_PREFIX) and key != _PREFIX + "merges":
            found[key[len(_PREFIX) :]] = value
    return found


def _tokens(metadata: dict[str, Any], where: str) -> TokenSource:
    pieces, model = metadata.get("tokens"), metadata.get("model")
    if not isinstance(pieces, list) or not isinstance(model, bytes):
        raise VocabularyError(f"{where}: the metadata hold no tokenizer (tokenizer.ggml.tokens); pass another file")
    if len(pieces) > MAX_TOKENS:
        raise VocabularyError(f"{where}: {len(pieces)} tokens are past the limit of {MAX_TOKENS}")
    kinds = metadata.get("token_type", [NORMAL] * len(pieces))
    if not isinstance(kinds, list) or len(kinds) != len(pieces):
        raise VocabularyError(f"{where}: {len(pieces)} tokens but another number of token types; the file is damaged")
    name = model.decode(errors="replace")
    try:
        texts = [piece.decode() for piece in pieces]
    except (AttributeError, UnicodeDecodeError) as error:
        raise VocabularyError(f"{where}: a token is not UTF-8 text ({error}); the file is damaged") from error
    tokens: list[bytes | None]
    if name == "gpt2":
        byte_level = ByteLevelDecoder()
        tokens = [
            byte_level(text) if kind == NORMAL else utf8(text, where) if kind == USER_DEFINED else None
            for text, kind in zip(texts, kinds, strict=True)
        ]
    elif name in ("llama", "t5", "bert"):  # bert: word-initial pieces begin with ▁, continuations have no mark
        tokens = [piece_bytes(text, kind, where) for text, kind in zip(texts, kinds, strict=True)]
    else:
        raise VocabularyError(
            f"{where}: tokenizer kind {name!r} is not read (gpt2, llama, t5 and bert are); "
            "use Vocabulary.from_transformers or pass the tokens"
        )
    special = {t: i for i, (t, k) in enumerate(zip(texts, kinds, strict=True)) if k in (CONTROL, UNKNOWN)}
    eos = [metadata[key] for key in _EOS_KEYS if isinstance(metadata.get(key), int)]
    prefix = bool(metadata.get("add_space_prefix", name in ("llama", "t5"))) and name != "gpt2"
    return TokenSource(tokens, eos, special, prefix or name == "bert")
