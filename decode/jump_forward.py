"""Text that must follow, taken without asking the model, in tokens that the tokenizer itself would choose.

A forced text can be spelled by many tokens, and those near its end depend on what comes after it. So the text so far
and the forced text are tokenized together, and what is taken is what the tokenizer writes whatever follows: some token
covers the boundary to what is still open, so the tokens before it are those of a text that is shorter by what of this
token lies before the boundary; the beginning that all such texts share is safe. Patterns that cut texts also look at
the character behind a cut, so the text is tokenized with a character of each kind that may follow as well. That is
right for byte-pair encoders with the patterns of GPT-2, Llama 3, Qwen, DeepSeek and their like, which look no further.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .._core import DecodeState
from ..automata.checks import checked_callable, checked_ids, checked_method, checked_range, checked_type, is_utf8
from ..automata.errors import ConstraintError
from ..constraints import Constraint, literal
from ..constraints.literal import as_constraint
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

    The tokens are those of ``encode`` for the text so far and what is forced, as far as they do not depend on what may
    follow: the others, mostly the last one or two, are given back, so the text that is appended may be shorter than
    what is forced, and the state's mask allows every token that continues it. Where nothing can follow, all of it is
    taken. Nothing happens where there is no gain, where the tokenizer changes the text (normalization, prefix spaces),
    or where a budget does not leave room.

    Args:
        state: what the tokens led to; it is rolled back and advanced.
        token_ids: the tokens since the state's start (or since a prompt), at least the last ``window`` of them.
        vocabulary: their bytes.
        encode: the tokenizer without special tokens, ``lambda text: tokenizer.encode(text, add_special_tokens=False)``.
        window: so many tokens are read again, more only where the tokenizer, which sees no text before them, may cut
            them otherwise than with it: where it does not write the first ones again, where no word among them ends
            (before a space, a line break or punctuation), where they are shorter than the longest token.

    Returns what stays and what is new: ``token_ids[:keep] + tokens`` is the text now. The model's cache has to drop
    what is behind ``keep``.

    Raises TypeError and ValueError for arguments that make no sense.
    """
    checked_method("jump_forward", "a state", state, "forced_bytes", "make one with automaton.start()")
    if not isinstance(token_ids, Sequence):
        token_ids = checked_ids("jump_forward", token_ids)
    checked_type("jump_forward", "a Vocabulary", vocabulary, Vocabulary, "pass the one that the state was made for")
    remedy = "pass lambda text: tokenizer.encode(text, add_special_tokens=False)"
    checked_callable("jump_forward", "encode as a function", encode, remedy)
    window = checked_range("jump_forward", "window", window, 1)
    nothing = Jump(len(token_ids), [])
    forced = state.forced_bytes()
    if not forced or state.is_finished:
        return nothing
    most = min(len(token_ids), state.num_tokens)
    count = min(window, most)
    while True:
        old = checked_ids("jump_forward", token_ids[len(token_ids) - count :])
        pieces = [vocabulary.token_bytes(token) for token in old]
        special = None in pieces  # special tokens are no text: read on behind the last one
        while None in pieces:
            cut = pieces.index(None) + 1
            old, pieces = old[cut:], pieces[cut:]
        before = b"".join(piece or b"" for piece in pieces)
        text = _whole_characters(before + forced)
        new = None if text is None else _encoded(text, vocabulary, encode)
        same = 0 if new is None else _common(old, new)
        if special or count == most or (same >= min(_SAME, len(old)) and _is_cut_alike(before, vocabulary)):
            break
        count = min(2 * count, most)
    if text is None or new is None:
        return nothing
    ahead = state.copy()
    ahead.rollback(len(old) - same)
    if ahead.validate(new[same:]) < len(new) - same:
        return nothing
    for token in new[same:]:
        ahead.advance(token)
    kept = _safe(ahead, text, new, len(forced) - (len(before) + len(forced) - len(text)), vocabulary, encode)
    if sum(len(vocabulary.token_bytes(token) or b"") for token in new[:kept]) <= len(before):
        return nothing
    same = min(same, kept)
    state.rollback(len(old) - same)
    for token in new[same:kept]:
        state.advance(token)
    return Jump(len(token_ids) - len(old) + same, new[same:kept])


_LOOKED_AT = 2048  # tokens, for the kinds of characters that may follow
_SAME = 8  # tokens that are written again show that the tokenizer writes the window as it writes the text
# The end of a word. All patterns cut there, and what is behind a cut does not depend on what is before it; elsewhere a
# window may begin inside of a piece that ends otherwise than its rest does: the line breaks of '."\n\n\n' belong to it.
_CUT = re.compile(r"[^\W_][\s!-&(-/:-@\[-`{-~、。，：；！？「」（）]")


def _is_cut_alike(before: bytes, vocabulary: Vocabulary) -> bool:
    """Whether the tokenizer, from some place in a window on, makes the pieces that it makes in the whole text.

    Encoders that look up whole pieces (``ignore_merges``) may have one token for a piece that begins before the window.
    """
    whole = len(before) >= vocabulary._native.max_token_bytes
    return whole and _CUT.search(before.decode(errors="ignore")) is not None


def _encoded(text: bytes, vocabulary: Vocabulary, encode: Encode) -> list[int] | None:
    """The tokens of a text; None where the tokenizer changes it."""
    tokens = checked_ids("jump_forward: encode", encode(text.decode()), len(vocabulary))
    return tokens if b"".join(vocabulary.token_bytes(token) or b"" for token in tokens) == text else None


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    return same


def _safe(
    state: DecodeState, text: bytes, tokens: list[int], forced: int, vocabulary: Vocabulary, encode: Encode
) -> int:
    """How many of a text's tokens stand whatever follows; the state is behind them, `forced` bytes are the only way."""
    kept = len(tokens)
    for character in _kinds_of_next(state, vocabulary):
        longer = _encoded(text + character.encode(), vocabulary, encode)
        kept = 0 if longer is None else min(kept, _common(tokens, longer))
    for length in vocabulary._native.overlaps(text):
        # Some token may cover the boundary and begin so many bytes before it.
        begin = len(text) - length
        inside = False
        while begin and text[begin] & 0xC0 == 0x80:  # of a character: what is before it, less what may end in it
            begin -= 1
            inside = True
        shorter = _encoded(text[:begin], vocabulary, encode)
        if shorter is None:
            return 0
        same = _common(tokens, shorter)
        if same - inside >= kept:
            continue
        if not inside and length <= forced and not _covers(state, tokens, shorter, same, length, vocabulary):
            continue
        kept = max(0, min(kept, same - inside))
    return kept


def _covers(
    state: DecodeState, tokens: list[int], shorter: list[int], same: int, length: int, vocabulary: Vocabulary
) -> bool:
    """Whether a token of more than so many bytes is allowed behind the tokens of a shorter text."""
    there = state.copy()
    there.rollback(len(tokens) - same)
    for token in shorter[same:]:
        if not there.allows(token):  # a budget
            return True
        there.advance(token)
    ids = np.flatnonzero(np.unpackbits(there.mask().view(np.uint8), bitorder="little"))
    return any(len(vocabulary.token_bytes(int(i)) or b"") > length for i in ids)


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

    Raises TypeError and ValueError for arguments that make no sense.
    """
    prompt_ids, constraint = checked_ids("heal", prompt_ids), as_constraint("heal", constraint)
    checked_type("heal", "a Vocabulary", vocabulary, Vocabulary, "pass the model's")
    most = checked_range("heal", "most", most, 0)
    checked_ids("heal", prompt_ids[max(0, len(prompt_ids) - most) :], len(vocabulary))
    best, suffix = 0, b""
    for count in range(1, min(most, len(prompt_ids)) + 1):
        piece = vocabulary.token_bytes(prompt_ids[-count])
        if not piece:
            break
        suffix = piece + suffix
        least = len(suffix) + (count == 1)  # longer than the prompt's last token
        if is_utf8(suffix) and _is_continued(suffix, least, constraint, vocabulary):
            best = count
    if not best:
        return Healed(prompt_ids, constraint, b"")
    prefix = b"".join(vocabulary.token_bytes(token) or b"" for token in prompt_ids[-best:])
    return Healed(prompt_ids[:-best], literal(prefix) + constraint, prefix)


def _is_continued(text: bytes, least: int, constraint: Constraint, vocabulary: Vocabulary) -> bool:
    """Whether a token of at least so many bytes begins with the text and fits the constraint."""
    try:
        mask = compile_automaton(literal(text) + constraint, vocabulary).start().mask()
    except ConstraintError:  # the constraint is empty
        return False
    ids = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
    return any(len(vocabulary.token_bytes(int(i)) or b"") >= least for i in ids)


def _kinds_of_next(state: DecodeState, vocabulary: Vocabulary) -> list[str]:
    """Characters that may come next, one of each kind that patterns tell apart: at least one where any may."""
    kinds: dict[str, str] = {}
    seen: set[bytes] = set()
    ids = np.flatnonzero(np.unpackbits(state.mask().view(np.uint8), bitorder="little"))
    if len(ids) > _LOOKED_AT:  # single characters mostly come first
        ids = np.concatenate([ids[: _LOOKED_AT // 2], ids[:: 2 * len(ids) // _LOOKED_AT + 1]])
    for i in ids:
        first = (vocabulary.token_bytes(int(i)) or b"")[:4]
        if first in seen:
            continue
        seen.add(first)
        character = first.decode(errors="ignore")[:1]
        if character and len(character.encode()) == _width(first[0]):
            plain = unicodedata.category(character)
            kinds.setdefault(character if character in "\r\n' " else plain, character)
    return list(kinds.values())


def _width(byte: int) -> int:
    return 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


def _whole_characters(text: bytes) -> bytes | None:
    """The text without a character that is cut off at its end; None where it is no UTF-8 otherwise."""
    for cut in range(min(4, len(text) + 1)):
        part = text[: len(text) - cut]
        if is_utf8(part):
            return part
    return None
