"""Canonical tokenizations: only the tokens that the tokenizer itself would write for the text, exactly.

A pretokenizer cuts a text into pieces, and a byte-pair encoder writes each by applying its merges in the order of their
ranks. Within a piece a sequence of tokens is what it writes exactly when every two neighbours are (Vieira et al.,
"Language models over canonical byte-pair encodings", 2025). Where a text is cut can depend on what follows, so a
position keeps the guesses about its last cuts that may still come true. Masks also look ahead: a token is of no use
where everything that the constraint allows next would have merged with it, or have been cut otherwise.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import operator
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import BytePairs as _NativePairs
from .._core import CanonicalAutomaton as _NativeAutomaton
from .._core import CanonicalState as _NativeState
from .._core import CanonicalTexts as _NativeTexts
from .._core import CanonicalTokens as _NativeTokens
from ..automata.checks import (
    checked_flag,
    checked_method,
    checked_path,
    checked_range,
    checked_several,
    checked_text,
    checked_type,
    cut,
)
from ..automata.errors import ConstraintError, UnsupportedError, VocabularyError
from ..constraints import Constraint, choice, regex
from ..tokenizer_fst import Vocabulary
from ..tokenizer_fst.byte_level import byte_alphabet
from ..tokenizer_fst.source import MAX_TOKENS, checked_id, parse_json, read_bytes
from .mask_row import array_of, mask_row
from .pretokenizer import Pretokenizer
from .token_automaton import TokenAutomaton

Bits = npt.NDArray[np.bool_]


class BytePairs:
    """A byte-pair encoder: its merges, and the pretokenizer that cuts texts into the pieces they stay inside of.

    Args:
        size: tokens of the vocabulary.
        merges: pairs (left id, right id) with the id of what they become, in the order of their ranks.
        units: ids that texts are made of before any merge: the single bytes, or characters.
        pretokenizer: None: texts are one piece.
        whole_pieces: a piece that is a token is that token, whether merges make it or not (``ignore_merges``,
            tiktoken).
        texts: the encoder changes all texts but these (normalization), or reads them in another way (added tokens);
            None: none. `CanonicalAutomaton` leaves members that are not among them out.

    Raises:
        TypeError: arguments of other types.
        ValueError: a size above 10 million, units outside of it, merges that are no triples.
        VocabularyError: merges outside of the vocabulary.
    """

    def __init__(
        self,
        size: int,
        merges: Sequence[tuple[int, int, int]],
        units: Iterable[int],
        *,
        pretokenizer: Pretokenizer | None = None,
        whole_pieces: bool = False,
        texts: Constraint | None = None,
    ) -> None:
        """Find out which tokens the encoder can write, and how each is made. O(merges * depth of merges squared)."""
        size = checked_range("BytePairs", "size", size, 0, MAX_TOKENS)
        columns = _triples(merges).T
        rank = np.arange(columns.shape[1], dtype=np.int32)
        left, right, made = (np.ascontiguousarray(column) for column in columns)
        units = [
            checked_range("BytePairs", "a unit", i, 0, max(0, size - 1))
            for i in checked_several("BytePairs", "units", units)
        ]
        checked_flag("BytePairs", "whole_pieces", whole_pieces)
        if pretokenizer is not None:
            checked_type(
                "BytePairs", "pretokenizer as a Pretokenizer", pretokenizer, Pretokenizer, "pass one, or leave it out"
            )
        if texts is not None:
            checked_type("BytePairs", "texts as a Constraint", texts, Constraint, "pass one, or leave it out")
        native = _NativePairs.from_merges(size, left, right, made, rank, units, whole_pieces)
        self._set(native, pretokenizer, texts)

    def _set(self, native: _NativePairs, pretokenizer: Pretokenizer | None, texts: Constraint | None) -> None:
        self._native = native
        self.size = native.size
        self.pretokenizer = pretokenizer or Pretokenizer([])
        self.texts = texts
        self._known: _Known | None = None

    def _known_of(self, vocabulary: Vocabulary) -> _Known:
        """What is known of the tokenizer over a vocabulary; kept for the last one."""
        if self._known is None or self._known.vocabulary is not vocabulary:
            self._known = _Known(self, vocabulary)
        return self._known

    @classmethod
    def from_tokenizer_json(
        cls, source: str | os.PathLike[str] | Mapping[str, Any], size: int | None = None
    ) -> BytePairs:
        """Read a ``tokenizer.json``: a path, or what is in it.

        Args:
            source: the file.
            size: the vocabulary's, where it is padded.

        A normalizer NFC changes some texts: canonical are those that its quick check (Unicode Standard Annex 15) knows
        to be normalized, that is, without characters that may compose with one before them. Added tokens that are not
        special are found in texts before anything else: canonical are texts without them. Texts that spell special
        tokens are read as text (``encode_special_tokens``); but where whole pieces are tokens (``ignore_merges``),
        special ones of the model's vocabulary as well, canonical are texts without these.

        Raises:
            MissingFileError: no such file.
            UnsupportedError: no byte-pair encoder, or a part of one that is not followed, by name.
            VocabularyError: a damaged file.
        """
        data, where = _read_json(source)
        with _damaged(where, "tokenizer.json"):
            return cls._from_tokenizer_json(data, where, size)

    @classmethod
    def _from_tokenizer_json(cls, data: Mapping[str, Any], where: str, size: int | None) -> BytePairs:
        model = data.get("model") or {}
        normalized = _check(data, model)
        vocab: dict[str, int] = {token: checked_id(i, where) for token, i in model["vocab"].items()}
        pairs = [tuple(m.split(" ", 1)) if isinstance(m, str) else tuple(m) for m in model["merges"]]
        try:
            merges = [(vocab[a], vocab[b], vocab[a + b]) for a, b in pairs]
        except (KeyError, ValueError) as error:
            raise VocabularyError(f"canonical: a merge names a token that is not in the vocabulary: {error}") from error
        added = data.get("added_tokens") or []
        special = {checked_id(token["id"], where) for token in added}
        alphabet = byte_alphabet() if _is_byte_level(data) else None
        whole_pieces = bool(model.get("ignore_merges"))
        if alphabet is not None and whole_pieces:
            _check_alphabet(vocab, special, alphabet)
        single = [token for token in vocab if len(token) == 1 and (alphabet is None or token in alphabet)]
        units = [vocab[token] for token in single if vocab[token] not in special]
        found = [token for token in added if not token.get("special") and token.get("content")]
        plain = {str(token["content"]) for token in found}
        if normalized:
            plain |= {unicodedata.normalize("NFC", str(t["content"])) for t in found if t.get("normalized", True)}
        if whole_pieces:
            plain |= _spelled([token for token, i in vocab.items() if i in special], alphabet)
        texts = _normal_texts() if normalized else None
        if plain:
            without = ~(regex("(?s:.*)") + choice(sorted(plain)) + regex("(?s:.*)"))
            texts = without if texts is None else texts & without
        return cls(
            max([*vocab.values(), *special, (size or 0) - 1]) + 1,
            merges,
            units,
            pretokenizer=Pretokenizer.from_tokenizer_json(data.get("pre_tokenizer")),
            whole_pieces=whole_pieces,
            texts=texts,
        )

    @classmethod
    def from_tiktoken(
        cls, ranks: Mapping[bytes, int] | Any, pattern: str | None = None, *, nfc: bool = False
    ) -> BytePairs:
        """Read ranks and the pattern as tiktoken has them.

        Args:
            ranks: bytes to ranks, which are the token ids; or a ``tiktoken.Encoding``, which has the pattern as well.
            pattern: the pattern that texts are cut by.
            nfc: the tokenizer brings texts into the normal form NFC first (Qwen's); see `from_tokenizer_json`.
        """
        if not isinstance(ranks, Mapping):
            remedy = "pass a mapping from bytes to ranks"
            checked_method("from_tiktoken", "a tiktoken.Encoding", ranks, "_mergeable_ranks", remedy)
            ranks, pattern = ranks._mergeable_ranks, ranks._pat_str
        pattern = checked_text("from_tiktoken", "the pattern that texts are cut by", pattern)
        for token, rank in ranks.items():
            checked_type("from_tiktoken", "tokens as bytes", token, bytes, "pass a mapping from bytes to ranks")
            checked_range("from_tiktoken", "a rank", rank, 0, MAX_TOKENS - 1)
        tokens = [b""] * (max(ranks.values(), default=-1) + 1)
        for token, rank in ranks.items():
            tokens[rank] = token
        self = cls.__new__(cls)
        self._set(
            _NativePairs.from_ranks(tokens), Pretokenizer([pattern], "tiktoken"), _normal_texts() if nfc else None
        )
        return self

    @classmethod
    def from_tekken(cls, source: str | os.PathLike[str] | Mapping[str, Any]) -> BytePairs:
        """Read a ``tekken.json`` of mistral-common: a path, or what is in it.

        Raises:
            MissingFileError: no such file.
            UnsupportedError: a pattern that is not followed.
            VocabularyError: a damaged file.
        """
        data, where = _read_json(source)
        with _damaged(where, "tekken.json"):
            config = data["config"]
            first = checked_id(config["default_num_special_tokens"], where)
            size = min(int(config["default_vocab_size"]), MAX_TOKENS)
            ranks = {
                base64.b64decode(entry["token_bytes"], validate=True): first + checked_id(entry["rank"], where)
                for entry in data["vocab"]
            }
            return cls.from_tiktoken({token: rank for token, rank in ranks.items() if rank < size}, config["pattern"])

    @property
    def written(self) -> Bits:
        """Which tokens the encoder writes for their own text by merging, bool [size]."""
        return np.array([self._native.written(token) for token in range(self.size)], bool)

    def neighbours(self, left: int, right: int) -> bool:
        """Whether merges, given the text of both tokens, make these. O(product of the depths of their merges)."""
        for token in (left, right):
            checked_range("BytePairs.neighbours", "a token id", token, 0, self.size - 1)
        return self._native.neighbours(left, right)

    def after(self, token: int) -> Bits:
        """Which tokens may follow a token in a piece, bool [size]; those that merges never make may not."""
        checked_range("BytePairs.after", "token", token, 0, self.size - 1)
        return np.unpackbits(self._native.after(token).view(np.uint8), bitorder="little")[: self.size].astype(bool)


class _Known:
    """What constraints over a vocabulary share."""

    def __init__(self, pairs: BytePairs, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        cuts = bool(pairs.pretokenizer.patterns)
        self.native = _NativeTokens(vocabulary._native, pairs._native, pairs.pretokenizer._native, cuts)
        self._texts: dict[tuple[Constraint | None, bool], _NativeTexts | None] = {}

    def texts(self, unchanged: Constraint | None, utf8: bool) -> _NativeTexts | None:
        """The texts that the encoder leaves alone, those that are UTF-8 if that is to be asked for; None: all."""
        if (unchanged, utf8) not in self._texts:
            parts = [unchanged] if unchanged is not None else []
            parts += [regex("(?s:.*)")] if utf8 else []
            found = functools.reduce(operator.and_, parts) if parts else None
            native = None if found is None else _NativeTexts(found._native, self.vocabulary._native)
            self._texts[unchanged, utf8] = native
        return self._texts[unchanged, utf8]


class CanonicalAutomaton:
    """A token automaton without the token sequences that the tokenizer would not write.

    Its member sequences are the tokenizer's for the members of the constraint, one for each; a mask allows a token
    exactly when the text so far and the token can be extended to one of them. States are made on the way. Safe to
    share between threads.

    Args:
        automaton: the constraint over the vocabulary that ``pairs`` belongs to.
        pairs: the tokenizer.
        cache_bytes: memory for finished sets of tokens; past it they are made anew.
        max_nodes: LimitError past so many places in pieces, or pairs of a place and a token that searches look at.

    Raises:
        TypeError: no TokenAutomaton, no BytePairs.
        ConstraintError: the tokenizer belongs to another vocabulary, or can write no member.
        UnsupportedError: special tokens in the constraint; a tokenizer with a pretokenizer that lacks single bytes.
    """

    def __init__(
        self,
        automaton: TokenAutomaton,
        pairs: BytePairs,
        *,
        cache_bytes: int = 1 << 28,
        max_nodes: int = 10_000_000,
    ) -> None:
        """Cheap, but for the search whether any member can be written."""
        name, remedy = "CanonicalAutomaton", "make one with tokamata.compile(constraint, vocabulary)"
        checked_type(name, "a TokenAutomaton first", automaton, TokenAutomaton, remedy)
        checked_type(name, "the tokenizer as BytePairs", pairs, BytePairs, "see BytePairs.from_tokenizer_json")
        cache_bytes = min(checked_range(name, "cache_bytes", cache_bytes, 0), 2**63)
        max_nodes = min(checked_range(name, "max_nodes", max_nodes, 1), 2**63)
        vocabulary = automaton.vocabulary
        if pairs.size > len(vocabulary):
            raise ConstraintError(
                f"canonical: the tokenizer has {pairs.size} tokens, the vocabulary {len(vocabulary)}; they must be of "
                "one model"
            )
        if automaton.constraint.special_tokens:
            raise UnsupportedError(
                "canonical: special tokens in constraints are not supported; use the plain automaton"
            )
        self.automaton = automaton
        self.pairs = pairs
        tokens = pairs._known_of(vocabulary)
        self._native = _NativeAutomaton(
            automaton._language,
            tokens.texts(pairs.texts, automaton.constraint._has_raw_bytes),
            tokens.native,
            cache_bytes,
            max_nodes,
        )

    def start(self, max_tokens: int | None = None) -> CanonicalState:
        """Return a state at the beginning.

        Raises:
            UnsupportedError: ``max_tokens`` is given: how few canonical tokens can end a text is not known.
        """
        if max_tokens is not None:
            raise UnsupportedError(
                "start: a canonical automaton keeps no budget; leave max_tokens out, or bound the constraint"
            )
        return CanonicalState(self)

    @property
    def constraint(self) -> Constraint:
        """What may be written."""
        return self.automaton.constraint

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens."""
        return self.automaton.vocabulary

    @property
    def words(self) -> int:
        """int32 words of a mask: ceil(len(vocabulary) / 32)."""
        return self._native.words

    @property
    def num_states(self) -> int:
        """Places in pieces that are known now."""
        return self._native.num_states

    @property
    def num_renewals(self) -> int:
        """How often all that was known was forgotten, since it took more room than the limits give."""
        return self._native.num_renewals


class CanonicalState:
    """A position in a `CanonicalAutomaton`, with the methods of `DecodeState` that loops need."""

    __slots__ = ("_native", "automaton")

    def __init__(self, automaton: CanonicalAutomaton) -> None:
        """Start at the beginning."""
        self.automaton = automaton
        self._native = _NativeState(automaton._native)

    @property
    def words(self) -> int:
        """int32 words of a mask."""
        return self.automaton.words

    @property
    def eos_token_ids(self) -> tuple[int, ...]:
        """The tokens that end a text."""
        return tuple(self.automaton.automaton.vocabulary.eos_token_ids)

    @property
    def is_final(self) -> bool:
        """Whether EOS is allowed here."""
        return self._native.is_final

    @property
    def is_finished(self) -> bool:
        """Whether EOS was consumed."""
        return self._native.is_finished

    @property
    def num_tokens(self) -> int:
        """Tokens consumed so far, EOS included."""
        return self._native.num_tokens

    def mask(self) -> npt.NDArray[np.int32]:
        """The mask as a new int32 array [words]; see DecodeState.fill_mask for the layout."""
        row = np.empty(self.automaton.words, np.uint32)
        self._native.fill(row)
        return row.view(np.int32)

    def fill_mask(self, out: npt.NDArray[np.int32] | Any, row: int = 0) -> None:
        """Write the mask into a row of a C-contiguous int32 array or CPU tensor, [words] or [rows, words].

        Raises ValueError for another dtype, shape or layout, IndexError for a row outside.
        """
        self._native.fill(mask_row(out, row, self.automaton.words).view(np.uint32))

    def allows(self, token_id: int) -> bool:
        """Whether the token may come next."""
        return self._native.allows(token_id)

    def advance(self, token_id: int) -> None:
        """Append a token. Raises TokenRejected, with the state unchanged, when it is not allowed."""
        self._native.advance(token_id)

    def validate(self, token_ids: Sequence[int]) -> int:
        """How many of these tokens would be accepted in order."""
        return self._native.validate(token_ids)

    def rollback(self, n: int) -> None:
        """Take back the last n tokens. Raises IndexError when there are fewer."""
        self._native.rollback(n)

    def copy(self) -> CanonicalState:
        """An independent copy."""
        other = CanonicalState.__new__(CanonicalState)
        other.automaton = self.automaton
        other._native = self._native.copy()
        return other

    def __copy__(self) -> CanonicalState:
        return self.copy()

    def __deepcopy__(self, memo: object) -> CanonicalState:
        return self.copy()

    def __repr__(self) -> str:
        where = ", finished" if self.is_finished else ", final" if self.is_final else ""
        return f"<tokamata.decode.CanonicalState after {self.num_tokens} tokens{where}>"

    def reset(self) -> None:
        """Back to the beginning."""
        self._native.reset()


def _triples(merges: object) -> npt.NDArray[np.int32]:
    """Merges, int32 [merges, 3]."""
    table = array_of(merges if isinstance(merges, np.ndarray) else checked_several("BytePairs", "merges", merges))
    if not table.size:
        return np.zeros((0, 3), np.int32)
    good = table.dtype.kind in "iu" and table.shape[1:] == (3,)
    good = good and -(2**31) <= table.min() <= table.max() < 2**31
    if not good:
        raise ValueError(f"BytePairs: expected merges as triples of token ids, got {cut(merges)}; pass a list of them")
    return table.astype(np.int32)


def _read_json(source: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """What a file holds, and its name for errors."""
    if isinstance(source, Mapping):
        return source, "canonical"
    path = checked_path("canonical", source)
    where = os.fspath(path)
    data = parse_json(read_bytes(path), where)
    if not isinstance(data, Mapping):
        raise VocabularyError(f"{where}: expected a JSON object, got {type(data).__name__}; pass a tokenizer file")
    return data, where


@contextlib.contextmanager
def _damaged(where: str, kind: str) -> Iterator[None]:
    """Whatever reading stumbles over is an error of the file."""
    try:
        yield
    except ConstraintError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        raise VocabularyError(
            f"{where}: not a {kind} as expected ({type(error).__name__}: {error}); fetch it again"
        ) from error


def _is_byte_level(data: Mapping[str, Any]) -> bool:
    """Whether tokens are spelled in the byte alphabet; UnsupportedError where texts and tokens do not agree on that."""
    encodes = any(p.get("type") == "ByteLevel" for p in _parts(data.get("pre_tokenizer"), "pretokenizers"))
    decoders = {str(p.get("type")) for p in _parts(data.get("decoder"), "decoders")} - {"Fuse"}
    if decoders - {"ByteLevel"} or (decoders and not encodes):
        raise UnsupportedError(
            f"canonical: the decoder {' and '.join(sorted(decoders))} does not undo what the pretokenizer does, which "
            f"is {'' if encodes else 'not '}ByteLevel, so tokens do not spell the text that was encoded"
        )
    return encodes


def _check_alphabet(vocab: Mapping[str, int], added: Set[int], alphabet: Mapping[str, int]) -> None:
    """Refuse tokens that only look like whole pieces: what is outside of the byte alphabet is never written."""
    for token, i in vocab.items():
        if i not in added and not alphabet.keys() >= set(token):
            raise UnsupportedError(
                f"canonical: token {i}, {token!r}, is outside of the byte alphabet, so the encoder never writes it; "
                "pass a tokenizer without it, or one without ignore_merges"
            )


def _spelled(tokens: Iterable[str], alphabet: Mapping[str, int] | None) -> set[str]:
    """The texts that tokens of the model's vocabulary spell, as far as they spell any."""
    texts: set[str] = set()
    for token in tokens:
        if alphabet is None:
            texts.add(token)
        elif alphabet.keys() >= set(token):
            with contextlib.suppress(UnicodeDecodeError):
                texts.add(bytes(alphabet[c] for c in token).decode())
    return texts - {""}


def _check(data: Mapping[str, Any], model: Mapping[str, Any]) -> bool:
    """Refuse what is not followed; whether texts are brought into NFC."""
    reasons = []
    if model.get("type", "BPE") != "BPE" or "merges" not in model:
        reasons.append(f"its model is {model.get('type')!r}, not BPE")
    settings = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback")
    reasons += [f"its model has {name}" for name in settings if model.get(name)]
    normalizers = [n.get("type") for n in _parts(data.get("normalizer"), "normalizers")]
    reasons += [f"it normalizes texts ({name})" for name in normalizers if name != "NFC"]
    for token in data.get("added_tokens") or []:
        flags = [name for name in ("lstrip", "rstrip", "single_word") if token.get(name)]
        if flags and not token.get("special"):
            reasons.append(f"its added token {token.get('content')!r} has {' and '.join(flags)}")
    if reasons:
        raise UnsupportedError(
            f"canonical: tokenizations of this tokenizer are not decided by its pieces and merges alone: "
            f"{'; '.join(reasons)}"
        )
    return bool(normalizers)


def _parts(part: Mapping[str, Any] | None, name: str) -> list[Mapping[str, Any]]:
    """The members of a sequence, flat."""
    if not part:
        return []
    if part.get("type") != "Sequence":
        return [part]
    return [each for member in part[name] for each in _parts(member, name)]


def _normal_texts() -> Constraint:
    """Texts whose characters the quick check of NFC passes, each by itself and none with a combining class."""
    second: set[int] = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))  # Hangul vowels and finals
    changed: list[int] = []
    for c in range(sys.maxunicode + 1):
        if 0xD800 <= c < 0xE000 or not (unicodedata.decomposition(chr(c)) or unicodedata.combining(chr(c))):
            continue
        character = chr(c)
        if unicodedata.normalize("NFC", character) != character or unicodedata.combining(character):
            changed.append(c)
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            second.add(int(parts[1], 16))
    refused = sorted({*changed, *second})
    return regex("[^" + "".join(f"\\U{c:08x}" for c in refused) + "]*")
