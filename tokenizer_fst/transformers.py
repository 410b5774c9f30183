"""Vocabularies of tokenizers of the transformers package, fast and slow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..automata.errors import MissingFileError, VocabularyError
from .byte_level import byte_alphabet
from .files import read_file
from .sentencepiece import USER_DEFINED, parse_model, piece_bytes
from .source import TokenSource, checked_id, place, utf8
from .tiktoken import from_encoding
from .tokenizer_json import read_tokenizer_json
from .wordpiece import wordpiece_bytes


def read_transformers(tokenizer: Any) -> TokenSource:
    """Read a transformers tokenizer (also a tokenizers.Tokenizer or a tiktoken.Encoding).

    Fast tokenizers are read through their tokenizer.json; slow ones through the sentencepiece model, byte alphabet,
    WordPiece pieces, or bytes that they hold; mistral-common ones through their file. EOS is the tokenizer's
    ``eos_token_id``, or its ``sep_token_id`` if it has no EOS. Texts are what the tokenizer's own ``decode`` writes:
    ClvpTokenizer, for one, reads a space as the token ``[SPACE]`` and writes it so.

    Raises:
        VocabularyError: a tokenizer of an unknown kind, or with a part written in Python.
    """
    where = f"tokenizer {type(tokenizer).__name__}"
    source = _by_kind(tokenizer, where)
    for token_id, name in _special(tokenizer):
        if 0 <= token_id < len(source.tokens):
            source.tokens[token_id] = None
            source.special_tokens.setdefault(name, token_id)
    for name in ("eos_token_id", "sep_token_id"):
        ids = getattr(tokenizer, name, None)
        if ids is not None:
            source.eos_token_ids = [int(i) for i in (ids if isinstance(ids, (list, tuple)) else [ids])]
            break
    return source


def _by_kind(tokenizer: Any, where: str) -> TokenSource:
    if (backend := _fast_backend(tokenizer)) is not None:
        try:
            text = backend.to_str()
        except Exception as error:  # of a part written in Python; the library raises no narrower kind
            raise VocabularyError(
                f"{where}: expected one that can be written as a tokenizer.json, got one that cannot ({error}); "
                "use Vocabulary.from_file, or Vocabulary(tokens, eos_token_ids=[...]) with the bytes of every token"
            ) from error
        return read_tokenizer_json(json.loads(text), where)
    if hasattr(tokenizer, "decode_single_token_bytes"):
        return from_encoding(tokenizer)
    inner = getattr(getattr(getattr(tokenizer, "tokenizer", None), "instruct_tokenizer", None), "tokenizer", None)
    if inner is not None and hasattr(inner, "file_path"):  # mistral-common
        try:
            return read_file(Path(inner.file_path))
        except MissingFileError as error:
            raise VocabularyError(f"{where}: its file {inner.file_path} is gone; use Vocabulary.from_file") from error
    for name in ("tokenizer", "encoder", "tiktoken_encoder"):  # slow tokenizers around tiktoken
        if hasattr(getattr(tokenizer, name, None), "decode_single_token_bytes"):
            return from_encoding(getattr(tokenizer, name))
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return _slow(tokenizer, where)
    raise VocabularyError(
        f"from_transformers: expected a tokenizer of the transformers package, got {type(tokenizer).__name__}; "
        "use Vocabulary.from_file(path), or Vocabulary(tokens, eos_token_ids=[...]) with the bytes of every token"
    )


def _fast_backend(tokenizer: Any) -> Any:
    for candidate in (tokenizer, getattr(tokenizer, "backend_tokenizer", None), getattr(tokenizer, "_tokenizer", None)):
        if hasattr(candidate, "to_str") and hasattr(candidate, "get_vocab_size"):
            return candidate
    return None


def _special(tokenizer: Any) -> Iterable[tuple[int, str]]:
    ids = getattr(tokenizer, "all_special_ids", None) or []
    names = getattr(tokenizer, "all_special_tokens", None) or []
    return [(int(i), str(name)) for i, name in zip(ids, names, strict=False)]


def _slow(tokenizer: Any, where: str) -> TokenSource:
    """Read a slow tokenizer: its texts by id, and the rule that its kind has for their bytes."""
    texts = {checked_id(int(i), where): str(text) for text, i in tokenizer.get_vocab().items()}
    added = {checked_id(int(i), where): token for i, token in getattr(tokenizer, "added_tokens_decoder", {}).items()}
    decode, dummy_prefix = _rule(tokenizer, where)
    tokens: list[bytes | None] = []
    special: dict[str, int] = {}
    for token_id, text in texts.items():
        if token_id not in added:
            place(tokens, token_id, decode(text))
    for token_id, token in added.items():
        text = str(token)
        if getattr(token, "special", True):
            place(tokens, token_id, None)
            special[text] = token_id
        else:
            place(tokens, token_id, utf8(text, where))
    unknown = getattr(tokenizer, "unk_token", None)
    if unknown is not None and (token_id := tokenizer.get_vocab().get(str(unknown))) is not None:
        place(tokens, checked_id(int(token_id), where), None)
        special[str(unknown)] = int(token_id)
    return TokenSource(tokens, [], special, dummy_prefix)


def _rule(tokenizer: Any, where: str) -> tuple[Callable[[str], bytes | None], bool]:
    """Return the function from a slow token's text to its bytes, and whether there is a dummy prefix."""
    pieces = getattr(tokenizer, "sp_model", None)
    if pieces is not None and hasattr(pieces, "serialized_model_proto"):
        model = parse_model(pieces.serialized_model_proto(), where)
        kinds = dict(model.pieces)
        # A text that is no piece was added by the tokenizer's class; it is text, with ▁ for the space.
        return lambda text: piece_bytes(text, kinds.get(text, USER_DEFINED), where), model.add_dummy_prefix
    if isinstance(getattr(tokenizer, "byte_decoder", None), dict):
        table = byte_alphabet() | tokenizer.byte_decoder
        return lambda text: bytes(table[c] for c in text) if all(c in table for c in text) else utf8(text, where), bool(
            getattr(tokenizer, "add_prefix_space", False)
        )
    if _joins_wordpieces(tokenizer):
        return lambda text: wordpiece_bytes(text, "##", where), True
    if hasattr(tokenizer, "_utf_vocab_size"):  # one token a byte (ByT5)
        return lambda text: text.encode("latin-1") if len(text) == 1 and ord(text) < 256 else None, False
    raise VocabularyError(
        f"{where}: a slow tokenizer without a sentencepiece model, byte alphabet or WordPiece pieces; use the fast "
        "tokenizer, Vocabulary.from_file, or Vocabulary(tokens, eos_token_ids=[...]) with the bytes of every token"
    )


def _joins_wordpieces(tokenizer: Any) -> bool:
    """Whether a slow tokenizer writes pieces as BERT does; others have a subword tokenizer too, of another spelling."""
    if not (hasattr(tokenizer, "wordpiece_tokenizer") or hasattr(tokenizer, "subword_tokenizer")):
        return False
    if getattr(tokenizer, "subword_tokenizer_type", None) == "sentencepiece":  # of BertJapaneseTokenizer
        return False
    return str(tokenizer.convert_tokens_to_string(["a", "##b", "c"])) == "ab c"
