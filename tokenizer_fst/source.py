"""What every loader returns: the tokens of a tokenizer in id order, and what is known about them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

from ..automata.errors import MissingFileError, VocabularyError

MAX_TOKENS = 10_000_000
"""Ids from here on are refused by the loaders: the number comes from the file, and memory follows it."""

EOS_NAMES = (
    "<|endoftext|>",
    "<|end_of_text|>",
    "<｜end▁of▁sentence｜>",
    "</s>",
    "<eos>",
    "<|eos|>",
    "<|end|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|END_OF_TURN_TOKEN|>",
    "[EOS]",
    "<EOS>",
    "[SEP]",
)
"""Names under which models write the end of a text, tried in this order when no file names it."""


@dataclasses.dataclass
class TokenSource:
    """Tokens in id order (``None``: special or unused), EOS ids, names of special tokens.

    ``adds_dummy_prefix``: encoding puts one space before the text.
    """

    tokens: list[bytes | None]
    eos_token_ids: list[int]
    special_tokens: dict[str, int]
    adds_dummy_prefix: bool = False


def utf8(text: str, where: str) -> bytes:
    """Encode a token's text; a lone surrogate (possible in JSON) is a VocabularyError."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise VocabularyError(f"{where}: token {text!r} is not valid Unicode text; the file is damaged") from error


@contextlib.contextmanager
def open_file(path: Path, remedy: str = "pass the path of a tokenizer file") -> Iterator[BufferedReader]:
    """Open a file for reading; MissingFileError if it is not there, VocabularyError if it cannot be read."""
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise MissingFileError(f"{path}: no such file; {remedy}") from error
    except IsADirectoryError as error:
        raise VocabularyError(f"{path}: expected a file, got a folder") from error
    except OSError as error:
        raise VocabularyError(f"{path}: cannot be read: {error.strerror or error}") from error


def read_bytes(path: Path) -> bytes:
    """Read a whole file, with the errors of `open_file`."""
    with open_file(path) as file:
        return file.read()


def parse_json(data: bytes, where: str) -> Any:
    """Parse JSON; VocabularyError if it is not JSON, with the place."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise VocabularyError(
            f"{where}: not valid JSON ({error}); the file is damaged or truncated, fetch it again"
        ) from error


def checked_id(token_id: object, where: str) -> int:
    """Check a token id that comes from a file."""
    if not isinstance(token_id, int) or isinstance(token_id, bool) or token_id < 0:
        raise VocabularyError(f"{where}: expected a token id, got {token_id!r}; the file is damaged")
    if token_id >= MAX_TOKENS:
        raise VocabularyError(f"{where}: token id {token_id} is past the limit of {MAX_TOKENS} tokens")
    return token_id


def place(tokens: list[bytes | None], token_id: int, token: bytes | None) -> None:
    """Set one token; ids between the present end and this one become unused."""
    if token_id >= len(tokens):
        tokens.extend([None] * (token_id + 1 - len(tokens)))
    tokens[token_id] = token


def eos_from_neighbours(folder: Path, names: Mapping[str, int]) -> list[int]:
    """Look up the EOS ids that the configuration files beside a tokenizer file name.

    Read are generation_config.json, config.json (``eos_token_id``), tokenizer_config.json and
    special_tokens_map.json (``eos_token``, looked up in ``names``). Damaged neighbours raise VocabularyError.
    """
    found: list[int] = []
    for file in ("generation_config.json", "config.json", "tokenizer_config.json", "special_tokens_map.json"):
        path = folder / file
        if not path.is_file():
            continue
        config = parse_json(read_bytes(path), str(path))
        if not isinstance(config, dict):
            continue
        if (ids := config.get("eos_token_id")) is not None:
            found += [checked_id(i, f"{path}: eos_token_id") for i in (ids if isinstance(ids, list) else [ids])]
        token = config.get("eos_token")
        name = token.get("content") if isinstance(token, dict) else token
        if isinstance(name, str) and name in names:
            found.append(names[name])
    return sorted(set(found))


def eos_by_name(names: Mapping[str, int]) -> list[int]:
    """Return the first of the usual EOS names that is a special token, or nothing."""
    return next(([names[name]] for name in EOS_NAMES if name in names), [])


def require_eos(eos: Iterable[int], where: str) -> list[int]:
    """Refuse a source whose EOS ids are not known."""
    ids = list(eos)
    if not ids:
        raise VocabularyError(
            f"{where}: the file does not say which token ends a text; pass eos_token_ids=[...] "
            "(the model's generation_config.json or tokenizer_config.json names it)"
        )
    return ids
