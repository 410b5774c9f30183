"""Text that must follow, taken without asking the model, in tokens that the tokenizer itself would choose.

A forced text can be spelled by many tokens, and one that ends where the forced text ends may be a token that no
tokenizer would write there. So the text so far and the forced text are tokenized together, and the token at the
boundary to what is still open is given back: the mask there allows every token that goes on from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .._core import DecodeState
from ..automata.errors import ConstraintError
from ..constraints import Constraint, literal
from ..tokenizer_fst import Vocabulary
from .token_automaton import compile as compile_automaton

Encode = Callable[[str], Sequence[int]]


class Jump(NamedTuple):
    """What `jump_forward` did: the first ``keep`` tokens stay, ``tokens`` come after them."""

    keep: int
    tokens: list[int]


class Healed(NamedTuple):
    """What `heal` did: the prompt without its last tokens, and the constraint with their text before it."""

    prompt_ids: list[int]
    constraint: Constraint
    prefix: bytes


def jump_forward(
    state: DecodeState, token_ids: Sequence[int], vocabulary: Vocabulary, encode: Encode, *, window: int = 64
) -> Jump:
    """Append the text that every continuation starts with, re-tokenized together with the last tokens.

    The tokens are those of ``encode`` for the text so far and what is forced. The last one is given back where
    something else may follow, because it may belong together with that: then the text that is appended is shorter than
    what is forced, and the state's mask allows every token that continues it. Where nothing can follow, all of it is
    taken. Nothing happens where there is no gain, where the tokenizer changes the text (normalization, prefix spaces),
    or where a budget does not leave room.

    Args:
        state: what the tokens led to; it is rolled back and advanced.
        token_ids: the tokens since the state's start (or since a prompt), at least the last ``window`` of them.
        vocabulary: their bytes.
        encode: the tokenizer without special tokens, ``lambda text: tokenizer.encode(text, add_special_tokens=False)``.
        window: so many tokens are read again at most; the tokenizer sees no text before them.

    Returns what stays and what is new: ``token_ids[:keep] + tokens`` is the text now. The model's cache has to drop
    what is behind ``keep``.
    """
    nothing = Jump(len(token_ids), [])
    forced = state.forced_bytes()
    if not forced or state.is_finished:
        return nothing
    first = max(0, len(token_ids) - min(window, state.num_tokens))
    old = list(token_ids[first:])
    pieces = [vocabulary.token_bytes(token) for token in old]
    while None in pieces:  # special tokens are no text: read on behind the last one
        cut = pieces.index(None) + 1
        first, old, pieces = first + cut, old[cut:], pieces[cut:]
    before = b"".join(piece or b"" for piece in pieces)
    text = _whole_characters(before + forced)
    if text is None:
        return nothing
    new = [int(token) for token in encode(text.decode())]
    if b"".join(vocabulary.token_bytes(token) or b"" for token in new) != text:
        return nothing
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    ahead = state.copy()
    ahead.rollback(len(old) - same)
    accepted = ahead.validate(new[same:])
    if accepted < len(new) - same:
        return nothing
    for token in new[same:]:
        ahead.advance(token)
    if new and not _must_end(ahead, vocabulary):
        new.pop()
    gained = sum(len(vocabulary.token_bytes(token) or b"") for token in new) - len(before)
    if gained <= 0:
        return nothing
    state.rollback(len(old) - same)
    for token in new[same:]:
        state.advance(token)
    return Jump(first + same, new[same:])


def heal(prompt_ids: Sequence[int], constraint: Constraint, vocabulary: Vocabulary, *, most: int = 4) -> Healed:
    """Give back the tokens at a prompt's end that a longer token might have continued (token healing).

    A prompt that ends inside of what would be one token ("https:" before "//") makes the model see a token that it has
    seen before nothing of the kind. So these tokens are taken off the prompt, and the constraint starts with their
    text: the model writes it again, in tokens that may go on beyond it.

    Args:
        prompt_ids: the prompt.
        constraint: what may come after it.
        vocabulary: the model's tokens.
        most: tokens that are given back at most.

    Returns the shorter prompt, the constraint with the text before it, and that text: what is generated begins with it.
    """
    best, suffix = 0, b""
    for count in range(1, min(most, len(prompt_ids)) + 1):
        piece = vocabulary.token_bytes(prompt_ids[-count])
        if not piece:
            break
        suffix = piece + suffix
        least = len(suffix) + (count == 1)  # longer than the prompt's last token
        if _is_text(suffix) and _is_continued(suffix, least, constraint, vocabulary):
            best = count
    if not best:
        return Healed(list(prompt_ids), constraint, b"")
    prefix = b"".join(vocabulary.token_bytes(token) or b"" for token in prompt_ids[-best:])
    return Healed(list(prompt_ids[:-best]), literal(prefix) + constraint, prefix)


def _is_continued(text: bytes, least: int, constraint: Constraint, vocabulary: Vocabulary) -> bool:
    """Whether a token of at least so many bytes begins with the text and fits the constraint."""
    try:
        mask = compile_automaton(literal(text) + constraint, vocabulary).start().mask()
    except ConstraintError:  # the constraint is empty
        return False
    ids = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
    return any(len(vocabulary.token_bytes(int(i)) or b"") >= least for i in ids)


def _must_end(state: DecodeState, vocabulary: Vocabulary) -> bool:
    """Whether the text can only end here."""
    if state.is_finished:
        return True
    ends = set(vocabulary.eos_token_ids)
    bits = np.unpackbits(state.mask().view(np.uint8), bitorder="little")
    return state.is_final and int(bits.sum()) == len(ends)


def _whole_characters(text: bytes) -> bytes | None:
    """The text without a character that is cut off at its end; None where it is no UTF-8 otherwise."""
    for cut in range(min(4, len(text) + 1)):
        part = text[: len(text) - cut]
        if _is_text(part):
            return part
    return None


def _is_text(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
