"""Canonical tokenizations: only the tokens that the tokenizer itself would write for the text, exactly.

A byte-pair encoder applies its merges in the order of their ranks, so a sequence of tokens is what it writes for its
text exactly when every two neighbours are (Vieira et al., "Language models over canonical byte-pair encodings", 2025):
no merge across their boundary comes before the merges that hide one of its sides. Masks must also look ahead: a token
is of no use where everything that the constraint allows next would have merged with it.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import device_tables as _device_tables
from .._core import token_table as _token_table
from ..automata.errors import ConstraintError, LimitError, TokenRejected, UnsupportedError, VocabularyError
from .token_automaton import TokenAutomaton

Bits = npt.NDArray[np.bool_]
_NEVER = 2**31 - 1  # the rank at which a whole token is merged further


class BytePairs:
    """The merges of a byte-pair encoder without a pretokenizer.

    Args:
        size: tokens of the vocabulary.
        merges: pairs (left id, right id) with the id of what they become, in the order of their ranks.
        units: ids that no merge makes: the single bytes, or characters. All other ids that no merge makes are special.

    Raises:
        UnsupportedError: a merge comes before one that makes its parts, so that ranks do not rise along derivations.
    """

    def __init__(self, size: int, merges: Sequence[tuple[int, int, int]], units: Iterable[int]) -> None:
        """Find out which tokens the encoder can write, and how each is made."""
        self.size = size
        self._ranks = {(a, b): rank for rank, (a, b, _) in reversed(list(enumerate(merges)))}
        self._left = np.full(size, -1, np.int64)
        self._right = np.full(size, -1, np.int64)
        self._rank = np.full(size, -1, np.int64)
        self.written = np.zeros(size, bool)
        self.written[list(units)] = True
        first_made = {made: rank for rank, (*_, made) in reversed(list(enumerate(merges)))}
        for rank, (a, b, made) in enumerate(merges):
            for part in (a, b):
                if first_made.get(part, -1) >= rank:
                    raise UnsupportedError(
                        f"canonical: merge {rank} joins token {part} before a merge makes it; tokenizations of such "
                        "encoders are not decided by neighbouring tokens"
                    )
            alive = self.written[a] and self.written[b] and not self.written[made] and self._ranks[a, b] == rank
            if alive and self._first_conflict(a, b) == rank:
                self._left[made], self._right[made], self._rank[made] = a, b, rank
                self.written[made] = True
        self._followers = _Forest(self._left, self._rank)
        self._leaders = _Forest(self._right, self._rank)
        self._by_left: dict[int, list[tuple[int, int]]] = {}
        self._by_right: dict[int, list[tuple[int, int]]] = {}
        for (a, b), rank in self._ranks.items():
            self._by_left.setdefault(a, []).append((b, rank))
            self._by_right.setdefault(b, []).append((a, rank))

    @classmethod
    def from_tokenizer_json(
        cls, source: str | os.PathLike[str] | Mapping[str, Any], size: int | None = None
    ) -> BytePairs:
        """Read a ``tokenizer.json``: a path, or what is in it.

        Args:
            source: the file.
            size: the vocabulary's, where it is padded.

        Raises:
            UnsupportedError: no byte-pair encoder, or one whose tokenization is not that of its merges alone: with a
                normalizer, a pretokenizer that splits texts, dropout, or prefixes of words.
        """
        data = source if isinstance(source, Mapping) else json.loads(Path(source).read_text("utf-8"))
        model = data.get("model") or {}
        _check_plain(data, model)
        vocab: dict[str, int] = model["vocab"]
        pairs = [tuple(m.split(" ", 1)) if isinstance(m, str) else tuple(m) for m in model["merges"]]
        try:
            merges = [(vocab[a], vocab[b], vocab[a + b]) for a, b in pairs]
        except (KeyError, ValueError) as error:
            raise VocabularyError(f"canonical: a merge names a token that is not in the vocabulary: {error}") from error
        made = {m for *_, m in merges}
        special = {int(token["id"]) for token in data.get("added_tokens", [])}
        units = [i for token, i in vocab.items() if i not in made and i not in special]
        return cls(max([*vocab.values(), *special, (size or 0) - 1]) + 1, merges, units)

    def neighbours(self, left: int, right: int) -> bool:
        """Whether the encoder, given the text of both tokens, writes them. O(product of the depths of their merges)."""
        return bool(self.written[left] and self.written[right]) and self._first_conflict(left, right) == _NEVER

    def after(self, token: int) -> Bits:
        """Which tokens may follow a token, bool [size]; those that the encoder never writes may not."""
        blocked = np.zeros(self.size, bool)
        for node, hidden in self._spine(token, self._right):
            for other, rank in self._by_left.get(node, ()):
                if rank < hidden:
                    self._followers.mark(other, rank, blocked)
        return self.written & ~self._followers.by_token(blocked)

    def before(self, token: int) -> Bits:
        """Which tokens may come before a token, bool [size]."""
        blocked = np.zeros(self.size, bool)
        for node, hidden in self._spine(token, self._left):
            for other, rank in self._by_right.get(node, ()):
                if rank <= hidden:
                    self._leaders.mark(other, rank + 1, blocked)
        return self.written & ~self._leaders.by_token(blocked)

    def _spine(self, token: int, side: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
        """The parts of a token at one of its ends, and the rank at which each is merged further."""
        found, hidden = [], _NEVER
        while token >= 0:
            found.append((token, hidden))
            hidden, token = int(self._rank[token]), int(side[token])
        return found

    def _first_conflict(self, left: int, right: int) -> int:
        """The least rank of a merge across the boundary of two tokens that happens; _NEVER where none does."""
        first = _NEVER
        for a, hides_a in self._spine(left, self._right):
            for b, hides_b in self._spine(right, self._left):
                rank = self._ranks.get((a, b), _NEVER)
                # Of equal merges the left one comes first.
                if rank < first and rank < hides_a and rank <= hides_b:
                    first = rank
        return first


class _Forest:
    """Tokens below the token that is their part at one end, so that those with a part hidden late are an interval."""

    def __init__(self, part: npt.NDArray[np.int64], rank: npt.NDArray[np.int64]) -> None:
        size = len(part)
        children: dict[int, list[int]] = {}
        for token in np.argsort(-rank, kind="stable").tolist():  # late ones first
            if part[token] >= 0:
                children.setdefault(int(part[token]), []).append(token)
        self._rank = rank
        self._children = children
        self._place = np.full(size, -1, np.int64)
        self._end = np.zeros(size, np.int64)
        count = 0
        for root in range(size):
            if part[root] >= 0:
                continue
            work = [(root, False)]
            while work:
                token, done = work.pop()
                if done:
                    self._end[token] = count
                    continue
                self._place[token] = count
                count += 1
                work.append((token, True))
                work += [(child, False) for child in reversed(children.get(token, []))]

    def mark(self, token: int, least: int, marked: Bits) -> None:
        """Mark, by place, a token and those in which it is a part at the end until a rank of at least ``least``."""
        begin = end = int(self._place[token])
        end += 1
        for child in self._children.get(token, []):
            if self._rank[child] < least:
                break
            end = int(self._end[child])
        marked[begin:end] = True

    def by_token(self, marked: Bits) -> Bits:
        """What was marked by place, by token."""
        return marked[self._place]


class CanonicalAutomaton:
    """A token automaton without the token sequences that the tokenizer would not write.

    Its member sequences are the tokenizer's for the members of the constraint, one for each; a mask allows a token
    exactly when the text so far and the token can be extended to one of them. For constraints with finitely many
    states.

    Args:
        automaton: the constraint over the vocabulary that ``pairs`` belongs to.
        pairs: the tokenizer's merges.
        max_states: LimitError for a constraint with more states.
        max_entries: LimitError where states times tokens are more; each takes 5 bytes.
    """

    def __init__(
        self, automaton: TokenAutomaton, pairs: BytePairs, *, max_states: int = 65_536, max_entries: int = 50_000_000
    ) -> None:
        """Find out what can be finished canonically: O(states * tokens), a few times where the constraint has loops."""
        size = len(automaton.vocabulary)
        if pairs.size > size:
            raise ConstraintError(
                f"canonical: the tokenizer has {pairs.size} tokens, the vocabulary {size}; they must be of one model"
            )
        if automaton.constraint.special_tokens:
            raise UnsupportedError(
                "canonical: special tokens in constraints are not supported; use the plain automaton"
            )
        self.automaton = automaton
        self.pairs = pairs
        self.size = size
        native = automaton._tokens._native
        class_of, successors, _, _, final = _device_tables(
            automaton._language, native, min(operator.index(max_states), 2**31 - 1), 2**62
        )
        if len(successors) * size > max_entries:
            raise LimitError(
                f"canonical: limit max_entries={max_entries} reached: {len(successors)} states over {size} tokens; "
                "simplify the constraint or raise the limit"
            )
        self._final = final.reshape(-1).astype(bool)
        begins, lengths, data = _token_table(native)
        written = np.zeros(size, bool)
        written[: pairs.size] = pairs.written
        self._targets = _token_targets(
            successors, class_of.reshape(-1)[data.reshape(-1)], begins.reshape(-1), lengths.reshape(-1), written
        )
        self._after: dict[int, Bits] = {}
        self._useful = self._finishable()
        if not self._mask_of(2, None).any() and not self._final[2]:
            raise ConstraintError("canonical: no member of the constraint has a tokenization of these merges")

    def start(self) -> CanonicalState:
        """Return a state at the beginning."""
        return CanonicalState(self)

    def _follow(self, token: int) -> Bits:
        if token not in self._after:
            row = np.zeros(self.size, bool)
            row[: self.pairs.size] = self.pairs.after(token)
            self._after[token] = row
        return self._after[token]

    def _mask_of(self, state: int, last: int | None) -> Bits:
        """The text tokens that are allowed in a state after a token."""
        row: Bits = self._useful[state]
        return row if last is None else row & self._follow(last)

    def _finishable(self) -> Bits:
        """Which tokens out of each state lead on to a member, bool [states, size]: the least fixed point.

        Token t out of state q is useful when its target is final, or has a useful token that may follow t.
        """
        states = len(self._targets)
        useful = np.zeros((states, self.size), bool)
        ends = np.zeros((states, self.size), bool)  # tokens after which something useful, or the end, may follow
        ends[self._final] = True
        changed = True
        while changed:
            changed = False
            for state in range(states - 1, 1, -1):
                now = (self._targets[state] > 0) & ends[self._targets[state], np.arange(self.size)]
                if (now != useful[state]).any():
                    useful[state] = now
                    changed = True
                    if not self._final[state]:
                        self._extend(ends[state], now)
        return useful

    def _extend(self, ends: Bits, following: Bits) -> None:
        """Add to ``ends`` the tokens that one of ``following`` may follow."""
        some = np.flatnonzero(following)
        for token in some[np.linspace(0, len(some) - 1, min(8, len(some))).astype(int)]:
            ends[: self.pairs.size] |= self.pairs.before(int(token))
        for token in np.flatnonzero(~ends[: self.pairs.size] & self.pairs.written):
            ends[token] = bool((self._follow(int(token)) & following).any())


class CanonicalState:
    """A position in a `CanonicalAutomaton`, with the methods of `DecodeState` that loops need."""

    def __init__(self, automaton: CanonicalAutomaton) -> None:
        """Start at the beginning."""
        self.automaton = automaton
        self._history: list[tuple[int, int | None]] = [(2, None)]  # state and last token; state 1 has ended

    @property
    def is_final(self) -> bool:
        """Whether EOS is allowed here."""
        return bool(self.automaton._final[self._history[-1][0]])

    @property
    def is_finished(self) -> bool:
        """Whether EOS was consumed."""
        return self._history[-1][0] == 1

    @property
    def num_tokens(self) -> int:
        """Tokens consumed so far, EOS included."""
        return len(self._history) - 1

    def mask(self) -> npt.NDArray[np.int32]:
        """The mask as a new int32 array [words]; see DecodeState.fill_mask for the layout."""
        bits = np.zeros(32 * -(-self.automaton.size // 32), bool)
        state, last = self._history[-1]
        if state != 1:
            bits[: self.automaton.size] = self.automaton._mask_of(state, last)
            bits[self.automaton.automaton.vocabulary.eos_token_ids] = self.is_final
        return np.packbits(bits, bitorder="little").view(np.int32)

    def fill_mask(self, out: npt.NDArray[np.int32] | Any, row: int = 0) -> None:
        """Write the mask into a row of an int32 array or CPU tensor, [words] or [rows, words]."""
        array = out if isinstance(out, np.ndarray) else out.numpy()
        np.atleast_2d(array)[row] = self.mask()

    def allows(self, token_id: int) -> bool:
        """Whether the token may come next."""
        if not 0 <= token_id < self.automaton.size:
            return False
        return bool(self.mask()[token_id // 32] >> np.int32(token_id % 32) & 1)

    def advance(self, token_id: int) -> None:
        """Append a token. Raises TokenRejected, with the state unchanged, when it is not allowed."""
        if not self.allows(token_id):
            raise TokenRejected(
                f"advance: token {token_id} is not allowed after {self.num_tokens} tokens: its text cannot be extended "
                "to a member, or the tokenizer would not write it here; take a token that the mask allows"
            )
        ends = token_id in self.automaton.automaton.vocabulary.eos_token_ids
        state = 1 if ends else int(self.automaton._targets[self._history[-1][0], token_id])
        self._history.append((state, token_id))

    def rollback(self, n: int) -> None:
        """Take back the last n tokens. Raises IndexError when there are fewer."""
        if not 0 <= n <= self.num_tokens:
            raise IndexError(f"rollback: expected 0 <= n <= {self.num_tokens} (the tokens so far), got {n}")
        del self._history[len(self._history) - n :]

    def copy(self) -> CanonicalState:
        """An independent copy."""
        other = CanonicalState(self.automaton)
        other._history = list(self._history)
        return other

    def reset(self) -> None:
        """Back to the beginning."""
        del self._history[1:]


def _token_targets(
    successors: npt.NDArray[np.int32],
    classes: npt.NDArray[np.uint8],
    begins: npt.NDArray[np.uint32],
    lengths: npt.NDArray[np.uint32],
    written: Bits,
) -> npt.NDArray[np.int32]:
    """The state after each token from each state, int32 [states, tokens]; 0 for dead ones and tokens without text."""
    states = len(successors)
    targets = np.zeros((states, len(lengths)), np.int32)
    tokens = np.flatnonzero((lengths > 0) & written)
    at = np.repeat(np.arange(states, dtype=np.int32)[:, None], len(tokens), axis=1)
    for i in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths[tokens] > i)
        at[:, longer] = successors[at[:, longer], classes[begins[tokens[longer]] + i]]
    targets[:, tokens] = at
    return targets


def _check_plain(data: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """Refuse what makes tokenizations depend on more than merges."""
    reasons = []
    if model.get("type", "BPE") != "BPE" or "merges" not in model:
        reasons.append(f"its model is {model.get('type')!r}, not BPE")
    settings = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges")
    reasons += [f"its model has {name}" for name in settings if model.get(name)]
    if data.get("normalizer"):
        reasons.append(f"it normalizes texts ({data['normalizer'].get('type')})")
    splitter = data.get("pre_tokenizer") or {}
    harmless = not splitter or (
        splitter.get("type") == "ByteLevel"
        and splitter.get("use_regex") is False
        and not splitter.get("add_prefix_space")
    )
    if not harmless:
        reasons.append(f"its pretokenizer ({splitter.get('type')}) splits texts, and where depends on what follows")
    if reasons:
        raise UnsupportedError(
            f"canonical: tokenizations of this tokenizer are not decided by its merges alone: {'; '.join(reasons)}"
        )
