"""Vocabularies in Mistral's tekken*.json files."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from ..automata.errors import VocabularyError
from .source import MAX_TOKENS, TokenSource, checked_id

# Names of the control tokens of files that do not list them, by id (files of version v3; newer ones list their own).
_CONTROL_NAMES = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] "
    "[IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]"
).split()


def read_tekken(document: dict[str, Any], where: str) -> TokenSource:
    """Read a parsed tekken file: control tokens first, then the ranked byte strings, cut at the vocabulary's size.

    Raises:
        VocabularyError: a missing or malformed entry, no `</s>`.
    """
    try:
        config = document["config"]
        size = int(config["default_vocab_size"])
        reserved = int(config["default_num_special_tokens"])
        listed = document.get("special_tokens")
        if listed is None:
            names = {name: i for i, name in enumerate(_CONTROL_NAMES) if i < reserved}
        else:
            names = {str(t["token_str"]): checked_id(t["rank"], where) for t in listed}
        if not 0 <= reserved <= size <= MAX_TOKENS:
            raise VocabularyError(f"{where}: {reserved} special tokens of {size} tokens in all; the file is damaged")
        tokens: list[bytes | None] = [None] * size
        count = 0
        for entry in document["vocab"]:
            rank = checked_id(entry["rank"], where)
            if rank + reserved < size:
                count += tokens[rank + reserved] is None
                tokens[rank + reserved] = base64.b64decode(entry["token_bytes"], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error, OverflowError) as error:
        if isinstance(error, VocabularyError):
            raise
        raise VocabularyError(
            f"{where}: not a tekken file as expected ({type(error).__name__}: {error}); fetch it again"
        ) from error
    if count < size - reserved:
        raise VocabularyError(
            f"{where}: {count} tokens, but the configuration promises {size - reserved}; the file is truncated"
        )
    if "</s>" not in names or names["</s>"] >= size:
        raise VocabularyError(
            f"{where}: no special token </s>, so the end of a text is unknown; pass eos_token_ids=[...]"
        )
    return TokenSource(tokens, [names["</s>"]], {name: i for name, i in names.items() if i < size})
