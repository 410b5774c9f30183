"""Canonical: which token sequences are what the tokenizer itself makes of their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...tokenizer_fst import Vocabulary


class Canonical:
    """Tells token sequences that are the tokenizer's own segmentation of their text.

    Args:
        encode: text to token ids, without special tokens; for texts that stand behind the prompt.
        vocabulary: the bytes of the tokens.
        prefix_closed: every prefix of a canonical sequence is canonical, as for byte-pair merging without
            pretokenization (sentencepiece, Gemma) or with one that never looks ahead. Then prefixes are pruned as soon
            as they are not canonical, and masks lead into no dead end because of it. False: only complete texts are
            checked, and what cannot be completed canonically shows only there; samplers weigh or reject it.

    Complete texts are exact either way; a text that is no UTF-8 has no segmentation. One call of ``encode`` for each
    allowed token of positive probability at each new prefix with ``prefix_closed``, else one for each text.
    """

    def __init__(
        self, encode: Callable[[str], Sequence[int]], vocabulary: Vocabulary, *, prefix_closed: bool = False
    ) -> None:
        """Keep the callable."""
        self.encode = encode
        self.vocabulary = vocabulary
        self.prefix_closed = prefix_closed

    @classmethod
    def of(cls, source: Any, vocabulary: Vocabulary) -> Canonical:
        """Of a Canonical, a tokenizer (transformers, tokenizers, tiktoken, sentencepiece) or an ``encode`` callable.

        Tokenizers are taken as not ``prefix_closed``: pretokenizers that look ahead are common. Callables likewise.
        """
        if isinstance(source, Canonical):
            return source
        if hasattr(source, "convert_ids_to_tokens"):  # transformers
            return cls(lambda text: list(source.encode(text, add_special_tokens=False)), vocabulary)
        if hasattr(source, "encode_ordinary"):  # tiktoken
            return cls(source.encode_ordinary, vocabulary)
        if hasattr(source, "token_to_id") and hasattr(source, "encode"):  # tokenizers
            return cls(lambda text: list(source.encode(text, add_special_tokens=False).ids), vocabulary)
        if hasattr(source, "encode"):
            return cls(source.encode, vocabulary)
        if callable(source):
            return cls(source, vocabulary)
        raise TypeError(
            f"canonical: expected a tokenizer or a function from text to token ids, got {type(source).__name__}"
        )

    @classmethod
    def by_rank(cls, vocabulary: Vocabulary) -> Canonical:
        """Byte-pair merging that takes token ids for ranks: of all neighbours that make a token, the smallest id first.

        Right for vocabularies whose ids are in the order of their merges, as tiktoken's are, as far as no pretokenizer
        separates words; give the tokenizer itself for others.
        """
        return cls(_ByRank(vocabulary), vocabulary, prefix_closed=True)

    def accepts(self, tokens: tuple[int, ...]) -> bool:
        """Whether the tokens are the segmentation of their text."""
        text = self._text(tokens)
        return text is not None and tuple(self.encode(text)) == tokens

    def extends(self, prefix: tuple[int, ...], ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """For each token whether the prefix with it may begin a canonical sequence."""
        if not self.prefix_closed:
            return np.ones(len(ids), np.bool_)
        return np.array([self._may_begin((*prefix, int(i))) for i in ids], np.bool_)

    def _may_begin(self, tokens: tuple[int, ...]) -> bool:
        text = self._text(tokens)
        return text is None or tuple(self.encode(text)) == tokens  # a character may be completed yet

    def _text(self, tokens: tuple[int, ...]) -> str | None:
        try:
            return b"".join(self.vocabulary.token_bytes(t) or b"" for t in tokens).decode()
        except UnicodeDecodeError:
            return None


class _ByRank:
    """Segments texts by merging neighbours; O(length squared) at worst."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._rank: dict[bytes, int] = {}
        all_bytes = [vocabulary.token_bytes(token) for token in range(len(vocabulary))]
        # A run of all 256 bytes is sentencepiece's, for what has no other token.
        every = [bytes([b]) for b in range(256)]
        zeros = [i for i, data in enumerate(all_bytes) if data == every[0]]
        runs = {i + b for i in zeros if all_bytes[i : i + 256] == every for b in range(256)}
        for token in [*(t for t in range(len(all_bytes)) if t not in runs), *sorted(runs)]:
            data = all_bytes[token]
            if data:
                self._rank.setdefault(data, token)

    def __call__(self, text: str) -> list[int]:
        rank = self._rank
        parts: list[bytes] = []
        for character in text:
            data = character.encode()
            parts += [data] if data in rank else [data[i : i + 1] for i in range(len(data))]
        while True:
            pairs = [rank.get(a + b, -1) for a, b in pairwise(parts)]
            best = min((r for r in pairs if r >= 0), default=-1)
            if best < 0:
                break
            at, merged = 0, []
            while at < len(parts):
                if at + 1 < len(parts) and rank.get(parts[at] + parts[at + 1]) == best:
                    merged.append(parts[at] + parts[at + 1])
                    at += 2
                else:
                    merged.append(parts[at])
                    at += 1
            parts = merged
        return [rank.get(part, -1) for part in parts]
