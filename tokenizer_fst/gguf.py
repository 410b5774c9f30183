"""Vocabularies in GGUF files: the tokenizer in the metadata at the file's beginning; tensors are not read."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..automata.errors import MissingFileError, VocabularyError
from .byte_level import ByteLevelDecoder
from .sentencepiece import CONTROL, NORMAL, UNKNOWN, USER_DEFINED, piece_bytes
from .source import MAX_TOKENS, TokenSource, checked_id, utf8

MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_PREFIX = "tokenizer.ggml."
_EOS_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")
_NEEDED = frozenset(("model", "tokens", "token_type", "add_space_prefix", *_EOS_KEYS))
_NO_TOKEN = (-1, 2**32 - 1)  # how a file says that there is no such token
_DEPTH = 1000  # of arrays in arrays
_MOST_VALUES = 3 * MAX_TOKENS  # keys, strings and arrays of a file: tokens, merges and some more


class _Reader:
    """Reads values one after another; every length is checked against what is left, every count against a bound."""

    def __init__(self, data: mmap.mmap, where: str) -> None:
        self.data, self.at, self.where = data, 0, where
        self.order = "<"  # little-endian
        self.left = _MOST_VALUES

    def skip(self, count: int) -> None:
        if count > len(self.data) - self.at:
            raise VocabularyError(
                f"{self.where}: truncated at byte {len(self.data)}: the metadata go on; fetch it again"
            )
        self.at += count

    def take(self, count: int) -> bytes:
        self.skip(count)
        return self.data[self.at - count : self.at]

    def scalar(self, kind: str) -> Any:
        return struct.unpack(self.order + kind, self.take(struct.calcsize("<" + kind)))[0]

    def string(self) -> bytes:
        return self.take(self.scalar("Q"))

    def count(self, count: int) -> int:
        """Take a number of values off the bound on those of a file, so that time stays bounded where it is damaged."""
        self.left -= count
        if self.left < 0:
            raise VocabularyError(f"{self.where}: more than {_MOST_VALUES} metadata values; the file is damaged")
        return count

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind in _SCALARS:
            return self.scalar(_SCALARS[kind])
        if kind != _ARRAY:
            raise self.unknown(kind)
        kind, count = self.scalar("I"), self.scalar("Q")
        if kind == _ARRAY:
            raise VocabularyError(
                f"{self.where}: an array of arrays where the tokenizer should be; the file is damaged"
            )
        if count > MAX_TOKENS:
            raise VocabularyError(f"{self.where}: an array of {count} is past the limit of {MAX_TOKENS} tokens")
        if kind == _STRING:
            return [self.string() for _ in range(self.count(count))]
        if kind not in _SCALARS:
            raise self.unknown(kind)
        code = _SCALARS[kind]
        return list(struct.unpack(f"{self.order}{count}{code}", self.take(count * struct.calcsize("<" + code))))

    def pass_over(self, kind: int) -> None:
        """Go behind a value of any kind, arrays of arrays included, without making it."""
        work = [(kind, 1)]
        while work:
            kind, count = work.pop()
            if kind in _SCALARS:
                self.skip(count * struct.calcsize("<" + _SCALARS[kind]))
            elif kind == _STRING:
                for _ in range(self.count(count)):
                    self.skip(self.scalar("Q"))
            elif kind != _ARRAY:
                raise self.unknown(kind)
            elif count:
                self.count(1)
                work += [(kind, count - 1), (self.scalar("I"), self.scalar("Q"))]
                if len(work) > _DEPTH:
                    raise VocabularyError(f"{self.where}: arrays in arrays, {_DEPTH} deep; the file is damaged")

    def unknown(self, kind: int) -> VocabularyError:
        return VocabularyError(f"{self.where}: metadata of unknown type {kind}; the file is damaged")


def read_gguf(path: Path) -> TokenSource:
    """Read the tokenizer of a GGUF file: byte-level BPE (`gpt2`), sentencepiece (`llama`, `t5`) or WordPiece (`bert`).

    Normal tokens are decoded as their kind says, user-defined ones are text, control and unknown ones are special,
    unused ones have no bytes. EOS ids are those of the keys eos_token_id, eot_token_id and eom_token_id; the id -1 says
    that there is none. Files of either byte order are read. Time and memory follow what the tokenizer needs and the
    length of the other metadata, whatever counts a damaged file names.

    Raises:
        MissingFileError: no such file.
        VocabularyError: not GGUF, truncated or damaged metadata, no tokenizer, another kind of tokenizer.
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
        raise VocabularyError(f"{where}: cannot be read: {error.strerror or error}") from error


def _metadata(reader: _Reader, needed: Collection[str] = _NEEDED) -> dict[str, Any]:
    """The values of some of the tokenizer's keys, by their names without the prefix; the others are passed over."""
    reader.take(4)
    version = reader.scalar("I")
    if version % 65536 == 0:
        reader.order, version = ">", int.from_bytes(version.to_bytes(4, "little"), "big")
    _, count = reader.scalar("Q"), reader.scalar("Q")
    if version not in (2, 3):
        raise VocabularyError(f"{reader.where}: GGUF version {version}; versions 2 and 3 are read")
    found: dict[str, Any] = {}
    for _ in range(count):
        key = reader.string().decode(errors="replace")
        kind = reader.scalar("I")
        reader.count(1)
        name = key.removeprefix(_PREFIX)
        if name != key and name in needed:
            found[name] = reader.value(kind)
        else:
            reader.pass_over(kind)
    return found


def _tokens(metadata: dict[str, Any], where: str) -> TokenSource:
    pieces, model = metadata.get("tokens"), metadata.get("model")
    if not isinstance(pieces, list) or not isinstance(model, bytes):
        raise VocabularyError(f"{where}: the metadata hold no tokenizer (tokenizer.ggml.tokens); pass another file")
    kinds = metadata.get("token_type", [NORMAL] * len(pieces))
    if not isinstance(kinds, list) or len(kinds) != len(pieces):
        raise VocabularyError(f"{where}: {len(pieces)} tokens but another number of token types; the file is damaged")
    if wrong := [kind for kind in kinds if type(kind) is not int]:
        raise VocabularyError(f"{where}: expected integers as token types, got {wrong[0]!r}; the file is damaged")
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
    ends = [(key, metadata[key]) for key in _EOS_KEYS if metadata.get(key, -1) not in _NO_TOKEN]
    eos = [checked_id(token_id, f"{where}: {key}") for key, token_id in ends]
    prefix = metadata.get("add_space_prefix", name in ("llama", "t5"))
    if not isinstance(prefix, int):
        raise VocabularyError(f"{where}: add_space_prefix: expected true or false, got {prefix!r}; the file is damaged")
    return TokenSource(tokens, eos, special, name == "bert" or (bool(prefix) and name != "gpt2"))
