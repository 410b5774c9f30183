"""Vocabulary: what bytes each token of a language model stands for."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Vocabulary as _NativeVocabulary
from ..automata.checks import (
    checked_count,
    checked_flag,
    checked_mapping,
    checked_name,
    checked_path,
    checked_range,
    checked_several,
    cut,
)
from ..automata.errors import VocabularyError
from ..automata.fst import Fst
from .artifact import read_sections, write_artifact
from .lexicon import lexicon
from .source import MAX_TOKENS, TokenSource, parse_json, require_eos

_TOKENS, _TABLES, _ABOUT = "tokens", "tables", "about"  # sections of a saved vocabulary


class Vocabulary:
    """The bytes of every token id of a model, immutable.

    Args:
        tokens: the bytes of tokens 0, 1, 2, ...; ``None`` for a special token, which text never produces, and for a
            padding id. ``b""`` is an empty token. Several ids may have the same bytes.
        eos_token_ids: the ids that end a text. They count as special even if they have bytes.
        special_tokens: names of special tokens, each with its id: constraints speak of them by name
            (`tokamata.special_token`, ``<|name|>`` in grammars).
        adds_dummy_prefix: the tokenizer puts a space before a text, so that the bytes of the ids of ``encode(text)``
            are a space and the text. It does not speak of a space behind: tokenizers whose pieces end with their space
            (``end_of_word_suffix`` of CLIP and OpenAI's GPT, sentencepiece's ``treat_whitespace_as_suffix``) give the
            text and a space.

    Raises:
        VocabularyError: no tokens, no token with bytes, a token that is not bytes, no EOS id, an id out of range.
    """

    __slots__ = (
        "__weakref__",
        "_class_ids",
        "_fst",
        "_native",
        "_sections",
        "_special_tokens",
        "_token_groups",
        "_with_markers",
        "adds_dummy_prefix",
    )
    _native: _NativeVocabulary
    _fst: Fst | None
    _with_markers: tuple[frozenset[object], Vocabulary] | None  # of the last call
    _token_groups: dict[str, list[int]]
    _class_ids: dict[str, NDArray[np.int32]]  # of the classes in what with_markers makes, the last tokens there
    _sections: dict[str, bytes]  # further sections of the saved file: kept by save, found by load

    def __init__(
        self,
        tokens: Sequence[bytes | None],
        eos_token_ids: Iterable[int] = (),
        *,
        special_tokens: Mapping[str, int] | None = None,
        adds_dummy_prefix: bool = False,
    ) -> None:
        """Build from the tokens in id order; O(total bytes)."""
        eos = _ids(eos_token_ids)
        self._native = _NativeVocabulary(
            tokens if isinstance(tokens, list) else checked_several("Vocabulary", "tokens, bytes or None each", tokens),
            eos,
        )
        self._special_tokens = _checked_names(_named(special_tokens), len(self._native))
        self._fst = None
        self._with_markers = None
        self._token_groups = {}
        self._class_ids = {}
        self._sections = {}
        self.adds_dummy_prefix = checked_flag("Vocabulary", "adds_dummy_prefix", adds_dummy_prefix)

    @classmethod
    def from_transformers(
        cls, tokenizer: Any, size: int | None = None, *, eos_token_ids: Iterable[int] | None = None
    ) -> Vocabulary:
        """Read a tokenizer of the transformers package, fast or slow.

        Args:
            tokenizer: the tokenizer; also a tokenizers.Tokenizer or a tiktoken.Encoding.
            size: the model's vocabulary size (the width of its logits). Ids above the tokenizer's are padding, never
                allowed.
            eos_token_ids: the ids that end a text, in place of the tokenizer's ``eos_token_id``. Chat models often
                have several: pass the list of the model's generation_config.json.

        Raises:
            VocabularyError: a tokenizer of an unknown kind, no EOS, a size that cuts off tokens with bytes.
        """
        from .transformers import read_transformers

        return cls._from_source(
            read_transformers(tokenizer), f"tokenizer {type(tokenizer).__name__}", size, eos_token_ids
        )

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        size: int | None = None,
        eos_token_ids: Iterable[int] | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Vocabulary:
        """Read tokenizer.json, ``*.tiktoken``, sentencepiece ``*.model``, ``tekken*.json``, ``*.gguf`` or vocab.txt.

        The kind is told by the content; a folder that holds one of them will do. No other package is needed.

        Args:
            path: the file or model folder.
            size: the model's vocabulary size, if it is padded.
            eos_token_ids: the ids that end a text. By default what the file names, with the configuration files
                beside it (generation_config.json, tokenizer_config.json, ...), or the usual names (``</s>``, ...).
            special_tokens: names and ids of special tokens that the file does not hold (tiktoken files hold none;
                those of published files are known).

        Raises:
            MissingFileError: no such file.
            VocabularyError: of an unknown kind, damaged, truncated; EOS unknown; a size that cuts off tokens.
        """
        from .files import read_file

        special = _checked_names(_named(special_tokens), MAX_TOKENS) if special_tokens is not None else None
        return cls._from_source(
            read_file(checked_path("Vocabulary.from_file", path), special), os.fspath(path), size, eos_token_ids
        )

    @classmethod
    def _from_source(
        cls, source: TokenSource, where: str, size: int | None, eos_token_ids: Iterable[int] | None
    ) -> Vocabulary:
        tokens = source.tokens
        if size is not None:
            size = checked_range("Vocabulary", "size", size, 1, MAX_TOKENS)
            if any(tokens[size:]):
                raise VocabularyError(
                    f"{where}: size {size} cuts off tokens with bytes, the tokenizer has {len(tokens)}; "
                    "pass the width of the model's logits"
                )
            tokens = tokens[:size] + [None] * (size - len(tokens))
        eos = require_eos(source.eos_token_ids, where) if eos_token_ids is None else eos_token_ids
        special = {name: i for name, i in source.special_tokens.items() if i < len(tokens)}
        return cls(tokens, eos, special_tokens=special, adds_dummy_prefix=source.adds_dummy_prefix)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write D in OpenFst's binary format (const), with tokens, names and mask tables in sections behind it.

        OpenFst opens the file as D (`pynini.Fst.read`, `fstinfo`); `load` reads the sections. The mask tables are what
        masks precompute for the vocabulary; they save `load` building them anew. The file appears whole or not at all.
        O(total bytes).

        Raises:
            OSError: the file cannot be written.
        """
        path = checked_path("Vocabulary.save", path)
        sections = {_TABLES: self._native.tables_to_bytes(), **self._all_sections()}
        write_artifact(path, self.fst.to_bytes("const"), sections)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """Read a vocabulary that `save` wrote, ready for masks; D is built again when it is asked for. O(file size).

        Mask tables of another release or byte order are built anew, silently, when they are first needed. Whatever the
        file, loading and masks never crash; but a file whose author forged tables or tokens has the masks that they
        give: load files from where you would load a model from.

        Raises:
            MissingFileError: no such file.
            VocabularyError: an .fst without a vocabulary in it, another version, truncated or damaged.
        """
        sections, arrays = read_sections(checked_path("Vocabulary.load", path), {_TABLES})
        if _TOKENS not in sections or _ABOUT not in sections:
            raise VocabularyError(f"{os.fspath(path)}: the file holds no vocabulary; save one with Vocabulary.save")
        return cls._restore(sections, arrays.get(_TABLES))

    @classmethod
    def _restore(cls, sections: dict[str, bytes], tables: bytes | NDArray[np.uint8] | None = None) -> Vocabulary:
        vocabulary = cls.__new__(cls)
        vocabulary._native = _NativeVocabulary.from_bytes(sections.pop(_TOKENS), tables)
        about = parse_json(sections.pop(_ABOUT), "saved vocabulary")
        try:
            vocabulary._special_tokens = _checked_names(about["special_tokens"], len(vocabulary._native))
            vocabulary.adds_dummy_prefix = bool(about["adds_dummy_prefix"])
            groups = {str(name): [int(i) for i in ids] for name, ids in about.get("token_groups", {}).items()}
            vocabulary._token_groups = groups
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise VocabularyError("saved vocabulary: the names are damaged; save the vocabulary again") from error
        vocabulary._fst = None
        vocabulary._with_markers = None
        vocabulary._class_ids = {}
        vocabulary._sections = sections
        return vocabulary

    def _all_sections(self) -> dict[str, bytes]:
        about: dict[str, object] = {
            "special_tokens": self._special_tokens,
            "adds_dummy_prefix": self.adds_dummy_prefix,
        }
        if self._token_groups:
            about["token_groups"] = self._token_groups
        return {_TOKENS: self._native.to_bytes(), _ABOUT: json.dumps(about).encode(), **self._sections}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._restore, (self._all_sections(), self._native.tables_to_bytes())

    def __len__(self) -> int:
        """Return the number of token ids, padding included: the V of a mask."""
        return len(self._native)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens, eos_token_ids={self.eos_token_ids})"

    def token_bytes(self, token_id: int) -> bytes | None:
        """Return the bytes of a token; ``None`` for special, padding and EOS tokens.

        Raises:
            IndexError: the id is not in ``0..len(self) - 1``.
        """
        return self._native.token_bytes(token_id)

    @property
    def eos_token_ids(self) -> list[int]:
        """The ids that end a text, ascending."""
        return list(self._native.eos_token_ids)

    @property
    def fst(self) -> Fst:
        """D, the detokenizing transducer: input token id + 1, output byte (see `lexicon`); built on first use.

        It is shared: copy it before changing it. O(total bytes) once.
        """
        if self._fst is None:
            self._fst = lexicon(self)
        return self._fst

    @property
    def memory_bytes(self) -> int:
        """Memory of the tokens and mask tables, without `fst`; the tables are made if they are not there yet."""
        return self._native.memory_bytes

    @property
    def special_tokens(self) -> dict[str, int]:
        """The known names of special tokens, each with its id (a copy)."""
        return dict(self._special_tokens)

    @property
    def token_groups(self) -> dict[str, list[int]]:
        """The groups of tokens that constraints may name, each with its ids, rising (a copy)."""
        return {name: list(ids) for name, ids in self._token_groups.items()}

    def with_token_groups(self, groups: Mapping[str, Iterable[int | str]]) -> Vocabulary:
        """The same vocabulary with groups of tokens that constraints name (`tokamata.token_group`, `tokamata.image`).

        A token is given by its id, or by its name where it is a special one. Groups that the vocabulary has already
        stay unless they are named here; all are saved with it. O(tokens of the groups): everything else is shared.

        Raises:
            VocabularyError: an empty group, an unknown name, an id out of range, a token that ends a text.
        """
        made = Vocabulary.__new__(Vocabulary)
        made._native = self._native
        made._special_tokens = self._special_tokens
        made._fst = self._fst
        made._with_markers = None
        made._class_ids = {}
        made._sections = self._sections
        made.adds_dummy_prefix = self.adds_dummy_prefix
        made._token_groups = dict(self._token_groups)
        eos = set(self.eos_token_ids)
        function = "with_token_groups"
        for name, tokens in checked_mapping(function, "groups", groups, '{"IMAGE": [5, 6]}').items():
            members = checked_several(function, f"tokens of the group {name!r}", tokens)
            named = [
                self._require_special(t) if isinstance(t, str) else checked_count(function, "a token", t)
                for t in members
            ]
            wrong = [i for i in named if not 0 <= i < len(self) or i in eos]
            if wrong or not named:
                what = f"id {wrong[0]}, which ends a text or is outside 0..{len(self) - 1}" if wrong else "none"
                raise VocabularyError(f"vocabulary: expected tokens of the group {name!r}, got {what}")
            made._token_groups[str(name)] = sorted(set(named))
        return made

    def with_markers(
        self, names: Iterable[str], classes: Mapping[str, Callable[[], Sequence[int]]] | None = None
    ) -> Vocabulary:
        """The same tokens, but the special ones with bytes: 0xff, the name, 0xff, which no text contains.

        A constraint that speaks of special tokens means these bytes. All special tokens with a name get them, but for
        EOS; a token of text only if it is among ``names``, and then it is no text any more. Tokens of text with a byte
        0xff lose theirs, so that no others spell a marker. `compile` does this for constraints with
        `special_tokens`; the result is for masks and `fst`, not to be saved. ``classes``: names of classes of tokens
        that constraints ask for one of, and what finds their ids; each becomes one more token, behind those of the
        vocabulary, with the name in markers as its bytes. O(total bytes) and the mask tables anew (a
        third of a second for 150,000 tokens), once: the result is kept for the next calls.

        Raises:
            VocabularyError: a name that no special token has, an EOS token's, or two names of one token; a class
                without tokens.
        """
        several = checked_several("with_markers", "names", names)
        names = sorted({checked_name("with_markers", name, "pass names of special tokens") for name in several})
        name_of: dict[int, str] = {}
        for name in names:
            token_id = self._require_special(name)
            if name_of.setdefault(token_id, name) != name:
                raise VocabularyError(
                    f"vocabulary: {name_of[token_id]!r} and {name!r} are names of one token, {token_id}, so a "
                    "constraint can speak of one of them only; use the same name everywhere"
                )
        eos = set(self.eos_token_ids)
        for name, token_id in self._special_tokens.items():
            writable = name and name == name.encode(errors="ignore").decode()  # no lone surrogates
            if writable and token_id not in eos and self.token_bytes(token_id) is None:
                name_of.setdefault(token_id, name)
        classes = classes or {}
        wanted = frozenset([*name_of.items(), *classes])
        if self._with_markers is None or self._with_markers[0] != wanted:
            made = Vocabulary.__new__(Vocabulary)
            ids = {name: list(find()) for name, find in classes.items()}
            made._native = self._native.with_markers(list(name_of.items()), list(ids.items()))
            made._class_ids = {name: np.unique(np.array(i, np.int32)) for name, i in ids.items()}
            made._special_tokens = self._special_tokens
            made._fst = made._with_markers = None
            made._sections = {}
            made._token_groups = {}
            made.adds_dummy_prefix = self.adds_dummy_prefix
            self._with_markers = (wanted, made)
        return self._with_markers[1]

    def _require_special(self, name: str) -> int:
        if name not in self._special_tokens:
            known = ", ".join(list(self._special_tokens)[:8]) or "none"
            text = name.encode(errors="surrogatepass")
            same = next((i for i in range(len(self)) if self.token_bytes(i) == text), None)
            remedy = (
                "pass special_tokens={...} if it has more"
                if same is None
                else f"token {same} is text of these characters: write it as text, or pass special_tokens={{...}}"
            )
            raise VocabularyError(
                f"vocabulary: expected the name of a special token, got {name!r}; it has {known}: {remedy}"
            )
        if self._special_tokens[name] in self.eos_token_ids:
            raise VocabularyError(
                f"vocabulary: {name} ends a text here, so it cannot stand inside one; leave it out, or pass other "
                "eos_token_ids"
            )
        return self._special_tokens[name]


def _ids(eos_token_ids: Iterable[int]) -> list[int]:
    if isinstance(eos_token_ids, (str, bytes)):
        raise VocabularyError(f"vocabulary: eos_token_ids must be a list of ids, got {eos_token_ids!r}")
    try:
        one = operator.index(eos_token_ids)  # type: ignore[arg-type]
    except TypeError:
        pass
    else:
        eos_token_ids = [one]
    try:
        ids = [operator.index(i) for i in eos_token_ids]
    except TypeError as error:
        raise VocabularyError(f"vocabulary: eos_token_ids must be a list of ids, got {eos_token_ids!r}") from error
    for i in ids:
        if abs(i) >= 1 << 62:
            raise VocabularyError(
                f"vocabulary: end-of-sequence id {cut(i)} is out of range; pass an id of this vocabulary"
            )
    return ids


def _named(special_tokens: Mapping[str, int] | None) -> dict[str, int]:
    """Names and ids that a caller gives. Raises TypeError for anything else."""
    if special_tokens is None:
        return {}
    given = checked_mapping("Vocabulary", "special_tokens", special_tokens, '{"<image>": 5}')
    if wrong := [name for name in given if not isinstance(name, str)]:
        raise TypeError(
            f"Vocabulary: expected names of special tokens as str, got {type(wrong[0]).__name__}; pass names and ids"
        )
    return {name: checked_count("Vocabulary", f"the id of {name!r}", i) for name, i in given.items()}


def _checked_names(special_tokens: Mapping[str, int], size: int) -> dict[str, int]:
    names: dict[str, int] = {}
    for name, token_id in special_tokens.items():
        if not 0 <= token_id < size:
            raise VocabularyError(f"vocabulary: special token {name!r} has id {cut(token_id)}, outside 0..{size - 1}")
        names[name] = int(token_id)
    return names
