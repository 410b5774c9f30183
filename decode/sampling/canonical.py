"""Canonical: which token sequences are what the tokenizer itself makes of their text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...automata.checks import checked_callable, checked_flag, checked_type
from ...tokenizer_fst import Vocabulary
from ..canonical import BytePairs
from ..token_automaton import TokenAutomaton


class Canonical:
    """Tells token sequences that are the tokenizer's own segmentation of their text.

    Args:
        encode: text to token ids, without special tokens; for texts that stand behind the prompt.
        vocabulary: the bytes of the tokens.
        prefix_closed: every prefix of a canonical sequence is canonical, as for byte-pair merging without
            pretokenization (sentencepiece, Gemma) or with one that never looks ahead. Then prefixes are pruned as soon
            as they are not canonical. False: only complete texts are checked, and what cannot be completed canonically
            shows only there; samplers weigh or reject it.
        by_pairs: every two neighbours of a canonical sequence are canonical by themselves, as for byte-pair merging
            without pretokenization, where this is all that it takes (Vieira et al., "Language models over canonical
            byte-pair encodings", 2025). Then a token is tested against the one before it, once for each pair.

    Complete texts are exact in any case; a text that is no UTF-8 has no segmentation. ``encode`` is called once for
    each prefix and complete text, and with ``by_pairs`` once for each pair of neighbours, with ``prefix_closed`` alone
    once for each allowed token of positive probability at each new prefix.

    Raises TypeError for no function, no vocabulary, flags that are neither True nor False.
    """

    def __init__(
        self,
        encode: Callable[[str], Sequence[int]],
        vocabulary: Vocabulary,
        *,
        prefix_closed: bool = False,
        by_pairs: bool = False,
    ) -> None:
        """Keep the callable."""
        checked_callable("Canonical", "encode as a function", encode, "see Canonical.of for tokenizers")
        checked_type("Canonical", "a Vocabulary second", vocabulary, Vocabulary, "pass that of the model")
        checked_flag("Canonical", "prefix_closed", prefix_closed)
        checked_flag("Canonical", "by_pairs", by_pairs)
        self.encode = encode
        self.vocabulary = vocabulary
        self.prefix_closed = prefix_closed
        self.by_pairs = by_pairs
        self._known: dict[int, dict[int, bool]] = {}  # of pairs; the token before the first is -1

    @classmethod
    def of(cls, source: Any, vocabulary: Vocabulary) -> Canonical:
        """Of a Canonical, BytePairs, a tokenizer (transformers, tokenizers, tiktoken, sentencepiece) or a callable.

        Fast tokenizers that merge byte pairs and do not split texts first (Gemma's, Llama 2's) are ``prefix_closed``
        and decided ``by_pairs``. Others are taken as neither: pretokenizers that look ahead are common. Callables
        likewise. `tokamata.decode.canonical.BytePairs`, which know the pretokenizer, prune all prefixes exactly.
        """
        if isinstance(source, Canonical):
            return source
        if isinstance(source, BytePairs):
            from .canonical_prefixes import CanonicalPrefixes

            return CanonicalPrefixes(source, vocabulary)
        if hasattr(source, "convert_ids_to_tokens"):  # transformers
            plain = merges_alone(getattr(source, "backend_tokenizer", None))
            encode = lambda text: list(source.encode(text, add_special_tokens=False))  # noqa: E731
            return cls(encode, vocabulary, prefix_closed=plain, by_pairs=plain)
        if hasattr(source, "encode_ordinary"):  # tiktoken
            return cls(source.encode_ordinary, vocabulary)
        if hasattr(source, "token_to_id") and hasattr(source, "encode"):  # tokenizers
            plain = merges_alone(source)
            encode = lambda text: list(source.encode(text, add_special_tokens=False).ids)  # noqa: E731
            return cls(encode, vocabulary, prefix_closed=plain, by_pairs=plain)
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
        checked_type("Canonical.by_rank", "a Vocabulary", vocabulary, Vocabulary, "pass that of the model")
        return cls(_ByRank(vocabulary), vocabulary, prefix_closed=True, by_pairs=True)

    def over(self, automaton: TokenAutomaton) -> Canonical:
        """What samplers of an automaton use: itself, where the constraint does not matter."""
        return self

    def accepts(self, tokens: tuple[int, ...]) -> bool:
        """Whether the tokens are the segmentation of their text."""
        text = self._text(tokens)
        return text is not None and tuple(self.encode(text)) == tokens

    def may_begin(self, prefix: tuple[int, ...]) -> bool:
        """Whether the prefix may begin a canonical sequence; not decided where prefixes tell nothing."""
        return not self.prefix_closed or self._is_own(prefix)

    def extends(self, prefix: tuple[int, ...], ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """For each token whether the prefix with it may begin a canonical sequence.

        With ``by_pairs`` as far as the last two tokens tell: `may_begin` is to be asked about the prefix made.
        """
        if self.by_pairs:
            last = prefix[-1] if prefix else -1
            known = self._known.setdefault(last, {})
            tokens = [int(i) for i in ids]
            for token in tokens:
                if token not in known:
                    known[token] = self._is_own((token,)) and (last < 0 or self._is_own((last, token)))
            return np.array([known[token] for token in tokens], np.bool_)
        if not self.prefix_closed:
            return np.ones(len(ids), np.bool_)
        return np.array([self._is_own((*prefix, int(i))) for i in ids], np.bool_)

    def _is_own(self, tokens: tuple[int, ...]) -> bool:
        text = self._text(tokens)
        return text is None or tuple(self.encode(text)) == tokens  # a character may be completed yet

    def _text(self, tokens: tuple[int, ...]) -> str | None:
        try:
            return b"".join(self.vocabulary.token_bytes(t) or b"" for t in tokens).decode()
        except UnicodeDecodeError:
            return None


def merges_alone(tokenizer: Any) -> bool:
    """Whether a tokenizer of the tokenizers package segments texts by byte-pair merges alone.

    Texts may be changed by replacing blanks, and added tokens may be cut out first, as they stand.
    """
    model = getattr(tokenizer, "model", None)
    if type(model).__name__ != "BPE":
        return False
    settings = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges")
    if any(getattr(model, name, None) for name in settings):
        return False
    if any(t.single_word or t.lstrip or t.rstrip for t in tokenizer.get_added_tokens_decoder().values()):
        return False
    normalizer, splitter = (_settings(part) for part in (tokenizer.normalizer, tokenizer.pre_tokenizer))
    pattern = {"String": " "}
    replaces = normalizer is not None and normalizer.get("type") == "Replace" and normalizer.get("pattern") == pattern
    if normalizer is not None and not (replaces and len(normalizer.get("content", "")) == 1):
        return False
    if splitter is None:
        return True
    if splitter.get("type") == "Split":  # by blanks, of which none are left
        return replaces and (normalizer or {})["content"] != " " and splitter.get("pattern") == pattern
    return splitter.get("type") == "ByteLevel" and not splitter.get("use_regex") and not splitter["add_prefix_space"]


def _settings(part: Any) -> dict[str, Any] | None:
    """The settings of a normalizer or pretokenizer, as tokenizer.json has them."""
    return None if part is None else json.loads(part.__getstate__())


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
