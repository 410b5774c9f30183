"""Classes of tokens that constraints ask for one of: their tokens, and acceptors in which they occur."""

from __future__ import annotations

import base64
from functools import partial
from typing import Any

import numpy as np

from .._core import Language, expand_terminals, tokens_in
from ..automata import Fst
from ..automata.errors import UnsupportedError, VocabularyError
from ..constraints import Constraint, from_fst, paragraph_token, text_token
from ..constraints.token_class import TokenClass
from ..tokenizer_fst import Vocabulary


def tokens_for(constraint: Constraint, vocabulary: Vocabulary) -> Vocabulary:
    """The tokens as the constraint reads them: special tokens as markers, classes of tokens as further tokens.

    Raises VocabularyError where the vocabulary lacks one of them, UnsupportedError for markers beside raw bytes 0xff.
    """
    if not constraint.special_tokens:
        return vocabulary
    if constraint._has_raw_bytes:
        raise UnsupportedError(
            "compile: special tokens are joined to a machine over raw bytes (from_fst, literal) that reads 0xff, which "
            "marks their places; intersect the machine with text first: "
            'machine & tokamata.regex(r"(?s:.*)")'
        )
    classes = {name for name in constraint.special_tokens if isinstance(name, TokenClass)}
    named = set(constraint.special_tokens - classes)
    of_text: dict[str, partial[list[int]]] = {}  # tokens that the vocabulary has as text: classes of one
    for name in sorted(named - vocabulary.special_tokens.keys()):
        if (token := _token_of_text(name, vocabulary)) is not None:
            of_text[name] = partial(list, [token])
    if any(name.language is not None for name in classes):
        for usual in (text_token(), paragraph_token()):  # so that one vocabulary serves other constraints, too
            classes |= {name for name in usual.special_tokens if isinstance(name, TokenClass)}
    found = {str(c): partial(_tokens_of, c, vocabulary) for c in sorted(classes)}
    return vocabulary.with_markers(named - of_text.keys(), of_text | found)


def _tokens_of(named: TokenClass, vocabulary: Vocabulary) -> list[int]:
    """The tokens of a class; a VocabularyError where there are none."""
    if named.language is not None:
        ids = tokens_in(named.language._native, vocabulary._native)
        if not ids:
            raise VocabularyError(
                f"compile: expected tokens whose whole text is a member of {named.language.source}, the vocabulary has "
                "none; ask for text, which several tokens may spell"
            )
        return ids
    if named.only is not None:
        return [_token(named.only, vocabulary)]
    if named.but is not None:
        without = {_token(named.but, vocabulary), *vocabulary.eos_token_ids}
        special = set(vocabulary.special_tokens.values())
        return [i for i in range(len(vocabulary)) if i not in without and (vocabulary.token_bytes(i) or i in special)]
    groups = vocabulary.token_groups
    if named.group not in groups:
        known = ", ".join(map(repr, groups)) or "none"
        raise VocabularyError(
            f"compile: expected a vocabulary with the token group {named.group!r}, got one with {known}; add it by "
            "vocabulary.with_token_groups({...})"
        )
    return groups[named.group]


def _token(token: int | str, vocabulary: Vocabulary) -> int:
    """A token by id, or the special one or else the one of text that is written so."""
    if isinstance(token, int):
        if token < len(vocabulary) and token not in vocabulary.eos_token_ids:
            return token
        raise VocabularyError(
            f"compile: expected <[id]> to name a token below {len(vocabulary)} that does not end the sequence, got "
            f"{token}; a sequence may end where the grammar may"
        )
    special = vocabulary.special_tokens.get(token)
    if special is not None:
        return special
    of_text = _token_of_text(token, vocabulary)
    if of_text is None:
        raise VocabularyError(
            f"compile: expected a vocabulary with the token {token!r}, special or of text, got one without; "
            "write <[id]>"
        )
    return of_text


def _token_of_text(name: str, vocabulary: Vocabulary) -> int | None:
    eos = set(vocabulary.eos_token_ids)
    ids = tokens_in(Language.literal(name.encode(errors="surrogatepass")), vocabulary._native)
    return next((i for i in ids if i not in eos), None)


def expand_classes(fst: Fst, tokens: Vocabulary) -> Fst:
    """Replace the labels of classes in an acceptor over `tokens_for` by their tokens; it may be ambiguous then."""
    ids = list(tokens._class_ids.values())
    if not ids:
        return fst
    offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
    size = len(tokens) - len(ids)
    return Fst._wrap(expand_terminals(fst._native, size, offsets, np.concatenate(ids), 2**40))


def class_to_json(named: TokenClass) -> dict[str, Any]:
    """What a saved token automaton keeps of a class."""
    if named.language is None:
        about = {"group": named.group, "only": named.only, "but": named.but}
        return {"name": named, **{key: value for key, value in about.items() if value is not None}}
    fst = named.language.to_fst(1_000_000).to_bytes("const")
    return {"name": named, "source": named.language.source, "fst": base64.b64encode(fst).decode()}


def class_from_json(about: dict[str, Any]) -> TokenClass:
    """The class that `class_to_json` wrote."""
    if "fst" not in about:
        return TokenClass(**about)
    language = from_fst(Fst.read(base64.b64decode(about["fst"])))
    language.source = about["source"]
    return TokenClass(about["name"], language)
