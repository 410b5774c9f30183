"""DynamicState: a position in a dynamic automaton, with its history."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._core import ByteState
from ..automata.checks import checked_count, checked_ids, checked_range
from ..automata.errors import ConstraintError, LimitError, TokenRejected
from ..constraints.constraint import to_bytes
from .dynamic_captures import captured
from .mask_row import mask_row

if TYPE_CHECKING:
    from .dynamic_automaton import DynamicAutomaton

_MOST_READINGS = 10_000
_MOST_FORCED = 2**63  # no limit at all
Reading = tuple[int, ByteState]  # a part and a state in it from which it can go on


class TextSoFar:
    """A text that paths lead on from, as callbacks get it."""

    __slots__ = ("_automaton", "_cut", "_data", "_shown")

    def __init__(self, automaton: DynamicAutomaton, data: bytes) -> None:
        """Keep the bytes; they are decoded when a callback is asked."""
        self._automaton = automaton
        self._data = data
        self._shown: str | None = None
        self._cut = False  # whether the bytes end inside a character

    def shown(self, path: bytes) -> str:
        """The text and the path."""
        if self._shown is None:
            self._shown = self._automaton._shown(self._data)
            self._cut = "\udc80" <= self._shown[-1:] <= "\udcff"
        if self._cut or b"\xff" in path:
            return self._automaton._shown(self._data + path)
        return self._shown + path.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, eq=False)
class _Position:
    readings: tuple[Reading, ...]
    end: bool  # whether the text may end here
    length: int  # bytes of text
    finished: bool = False


class DynamicState:
    """A position in a dynamic automaton: what was written so far, what may come next.

    Made by ``DynamicAutomaton.start()``; the same calls as of a :class:`tokamata.DecodeState`. Every call that needs an
    answer of a callback may raise ConstraintError, with the state unchanged. One thread at a time; copies are
    independent.
    """

    __slots__ = ("_automaton", "_history", "_row", "_text")

    def __init__(self, automaton: DynamicAutomaton) -> None:
        """Begin; use ``start()``."""
        self._automaton = automaton
        self._text = bytearray()
        readings, end = automaton._enter(automaton._plan.first, TextSoFar(automaton, b""), b"")
        self._history = [_Position(tuple(readings), end, 0)]
        self._row: tuple[_Position, npt.NDArray[np.int32]] | None = None  # the last mask

    # ---- masks
    def mask(self) -> npt.NDArray[np.int32]:
        """The mask as a new int32 array [words]."""
        return np.array(self._current_row())

    def fill_mask(self, out: object, row: int = 0) -> None:
        """Write the mask into a row of a C-contiguous int32 array or CPU tensor, [words] or [rows, words].

        words = ceil(V / 32); token t is bit t % 32 of word t // 32; 1 is allowed. All zero once EOS was consumed.
        Raises ValueError for another dtype, shape or layout, IndexError for a row outside, ConstraintError where
        callbacks raised or left nothing to be written. Microseconds for each part that may be read here, and those of
        the callbacks.
        """
        mask_row(out, row, self._automaton.words)[:] = self._current_row()

    def draft_masks(self, token_ids: Sequence[int], parents: Sequence[int] | None = None) -> npt.NDArray[np.int32]:
        """Masks before each draft token and after the last, int32 [len(token_ids) + 1, words]; the state is unchanged.

        Rows after the first token that is not allowed are 0. With ``parents`` the tokens are a draft tree: token i
        comes after token parents[i] < i, or after the text so far where that is -1. Raises ValueError for other
        parents.
        """
        tokens = checked_ids("draft_masks", token_ids)
        rows = np.zeros((len(tokens) + 1, self._automaton.words), np.int32)
        self.fill_mask(rows)
        after: list[DynamicState | None] = [self]
        for i, (token, parent) in enumerate(zip(tokens, _parents(parents, len(tokens)), strict=True)):
            before = after[parent + 1]
            state = None if before is None else before.copy()
            if state is not None and not state._advanced(token):
                state = None
            if state is not None:
                state.fill_mask(rows, i + 1)
            after.append(state)
        return rows

    def _current_row(self) -> npt.NDArray[np.int32]:
        position = self._history[-1]
        if self._row is None or self._row[0] is not position:
            self._row = (position, self._made_row(position))
        return self._row[1]

    def _made_row(self, position: _Position) -> npt.NDArray[np.int32]:
        automaton = self._automaton
        row = np.zeros(automaton.words, np.int32)
        if position.finished:
            return row
        text = TextSoFar(automaton, bytes(self._text))
        work: list[tuple[int, ByteState, dict[int, bytes]]] = []  # parts that are read from nodes on, with their paths
        work += [(part, state, {0: b""}) for part, state in position.readings]
        done: dict[tuple[int, tuple[int, int], int], ByteState] = {}  # keys stay those of states that exist
        while work:
            part, state, paths = work.pop()
            following = automaton._following(part)
            nodes = [node for node in paths if (part, state.key, node) not in done]
            done |= {(part, state.key, node): state for node in nodes}
            if not following.parts and nodes == [0]:
                state.add_mask([], row)
            elif not following.parts:
                state.add_tokens(nodes, row)
            else:
                entered: dict[tuple[int, tuple[int, int]], tuple[int, ByteState, dict[int, bytes]]] = {}
                last = []
                for at, goes_on, leaf, more, origin in automaton._ends(part, state, nodes, row):
                    path = paths[nodes[origin]] + more
                    readings, end = automaton._enter(following, text, path)
                    if not goes_on and (readings or end):
                        last.append(at)
                    if not leaf:
                        for next_part, next_state in readings:
                            key = (next_part, next_state.key)
                            entered.setdefault(key, (next_part, next_state, {}))[2][at] = path
                state.add_tokens_at(last, row)
                work += entered.values()
        if position.end:
            for token in automaton.vocabulary.eos_token_ids:
                row.view(np.uint32)[token // 32] |= np.uint32(1 << token % 32)
        elif not row.any():
            raise ConstraintError(
                f"dynamic: nothing may come after {text.shown(b'')[-60:]!r}: what callbacks returned leaves no token; "
                "return a constraint that has members, or allow another way in the constraint around it"
            )
        return row

    # ---- tokens
    def allows(self, token_id: int) -> bool:
        """Whether the token may come next; False for ids outside the vocabulary."""
        return self._after(checked_count("allows", "a token id", token_id)) is not None

    def advance(self, token_id: int) -> None:
        """Append a token. Raises TokenRejected, with the state unchanged, when it is not allowed."""
        token_id = checked_count("advance", "a token id", token_id)
        if self._advanced(token_id):
            return
        name = f"advance: token {token_id}"
        if not 0 <= token_id < len(self._automaton.vocabulary):
            raise TokenRejected(
                f"{name} is outside the vocabulary's ids 0..{len(self._automaton.vocabulary) - 1}; "
                "check that model and vocabulary belong together"
            )
        if self.is_finished:
            raise TokenRejected(f"{name} comes after the end-of-sequence token; use rollback or reset first")
        if token_id in self._automaton.vocabulary.eos_token_ids:
            raise TokenRejected(
                f"{name} ends the sequence, but the text after {self.num_tokens} tokens is not complete; "
                "take a token that the mask allows"
            )
        raise TokenRejected(
            f"{name} is not allowed after {self.num_tokens} tokens: its text cannot be extended to a member of the "
            "constraint; take a token that the mask allows"
        )

    def validate(self, token_ids: list[int]) -> int:
        """The length of the longest prefix of the tokens that would be accepted; the state is unchanged."""
        state = self.copy()
        tokens = checked_ids("validate", token_ids)
        return next((i for i, token in enumerate(tokens) if not state._advanced(token)), len(tokens))

    def rollback(self, n: int) -> None:
        """Take back the last n tokens (EOS counts as one). Raises IndexError when there are fewer."""
        if not 0 <= checked_count("rollback", "n", n) <= self.num_tokens:
            raise IndexError(f"rollback: expected 0 <= n <= {self.num_tokens} (the tokens so far), got {n}")
        del self._history[len(self._history) - n :]
        del self._text[self._history[-1].length :]

    def copy(self) -> DynamicState:
        """An independent copy; O(tokens and bytes so far)."""
        state = DynamicState.__new__(DynamicState)
        state._automaton = self._automaton
        state._text = bytearray(self._text)
        state._history = list(self._history)
        state._row = self._row
        return state

    def __copy__(self) -> DynamicState:
        return self.copy()

    def __deepcopy__(self, memo: object) -> DynamicState:
        return self.copy()

    def __repr__(self) -> str:
        where = ", finished" if self.is_finished else ", final" if self.is_final else ""
        return f"<tokamata.decode.DynamicState after {self.num_tokens} tokens{where}>"

    def reset(self) -> None:
        """Back to the beginning."""
        self.rollback(self.num_tokens)

    @property
    def is_final(self) -> bool:
        """Whether EOS is allowed here."""
        return self._history[-1].end and not self.is_finished

    @property
    def is_finished(self) -> bool:
        """Whether EOS was consumed."""
        return self._history[-1].finished

    @property
    def num_tokens(self) -> int:
        """Tokens consumed so far, EOS included."""
        return len(self._history) - 1

    @property
    def words(self) -> int:
        """int32 words of a mask: ceil(V / 32)."""
        return self._automaton.words

    @property
    def eos_token_ids(self) -> tuple[int, ...]:
        """The tokens that end a text."""
        return tuple(self._automaton.vocabulary.eos_token_ids)

    @property
    def tokens_left(self) -> None:
        """None: there are no budgets."""
        return None

    def captures(self) -> dict[str, bytes]:
        """What the named parts have read so far, the last piece of each: see `Constraint.captures`.

        Parts that no callback fills in, what callbacks return, and places (``capture(name, dynamic(...))``) may have
        names. Each part takes as much as it can. Callbacks are asked again where their answers were forgotten.
        O(bytes so far) for each part and place where it may begin.
        """
        return {name: texts[-1] for name, texts in self.capture_lists().items()}

    def capture_lists(self) -> dict[str, list[bytes]]:
        """All pieces that the named parts have read so far; otherwise as `captures`."""
        return captured(self._automaton, bytes(self._text), self.is_finished)

    # ---- what is forced
    def forced_bytes(self, limit: int = 1 << 16) -> bytes:
        """What every continuation starts with: the bytes up to the first choice or possible end, at most ``limit``."""
        limit = checked_range("forced_bytes", "limit", limit, 0, _MOST_FORCED)
        position: _Position | None = self._history[-1]
        forced = b""
        while position is not None and not position.end and len(forced) < limit:
            live = set().union(*(state.live_bytes for _, state in position.readings))
            if len(live) != 1 or any(state.begins_marker(min(live)) for _, state in position.readings):
                break
            forced += bytes(live)
            position = self._walked(self._history[-1], forced)
        return forced if position is not None else forced[:-1]

    def forced_tokens(self, limit: int = 1 << 12) -> list[int]:
        """The tokens up to the first mask with more than one of them (or a possible end), at most ``limit``."""
        limit = checked_range("forced_tokens", "limit", limit, 0, _MOST_FORCED)
        state, tokens = self.copy(), list[int]()
        while len(tokens) < limit and not state._history[-1].end and not state.is_finished:
            words = state._current_row().view(np.uint32)
            places = np.flatnonzero(words)
            only = int(words[places[0]])
            if len(places) > 1 or only & (only - 1):
                break
            tokens.append(int(places[0]) * 32 + only.bit_length() - 1)
            state.advance(tokens[-1])
        return tokens

    # ---- steps
    def _advanced(self, token_id: int) -> bool:
        position = self._after(token_id)
        if position is None:
            return False
        self._text += b"" if position.finished else self._automaton._tokens.token_bytes(token_id) or b""
        self._history.append(position)
        return True

    def _after(self, token_id: int) -> _Position | None:
        position = self._history[-1]
        if position.finished or not 0 <= token_id < len(self._automaton.vocabulary):
            return None
        if token_id in self._automaton.vocabulary.eos_token_ids:
            return _Position((), False, position.length, finished=True) if position.end else None
        data = self._automaton._tokens.token_bytes(token_id)
        return self._walked(position, data) if data else None

    def _walked(self, position: _Position, data: bytes) -> _Position | None:
        """The position behind some bytes; None where they lead nowhere."""
        if not data:
            return position
        automaton = self._automaton
        length = position.length + len(data)
        if len(position.readings) == 1:
            (part, state) = position.readings[0]
            following = automaton._following(part)
            if not following.parts:  # the last part
                after = state.after(data)
                return None if after is None else _Position(((part, after),), after.is_final and following.end, length)
        text = TextSoFar(automaton, bytes(self._text))
        readings, end = list(position.readings), position.end
        for i in range(len(data)):
            kept: dict[tuple[int, tuple[int, int]], Reading] = {}
            end = False
            for part, before in readings:
                after = before.after(data[i : i + 1])
                if after is None:
                    continue
                if after.goes_on:
                    kept[part, after.key] = (part, after)
                if after.is_final:
                    entered, ends = automaton._enter(automaton._following(part), text, data[: i + 1])
                    end |= ends
                    kept.update(((p, s.key), (p, s)) for p, s in entered)
            if len(kept) > _MOST_READINGS:
                raise LimitError(
                    f"dynamic: the limit of {_MOST_READINGS} readings of one text was reached; make clearer where "
                    "parts end"
                )
            readings = list(kept.values())
            if not readings and not (end and i == len(data) - 1):
                return None
        return _Position(tuple(readings), end, length)

    def _read(self, function: str, text: str | bytes) -> tuple[bool, bool]:
        """Whether the text can go on or end here, and whether it may end."""
        position = self._walked(self._history[-1], to_bytes(text, function))
        return position is not None, position is not None and position.end


def _parents(parents: object, count: int) -> Sequence[int]:
    """The parents of a draft tree of so many tokens; without any, each token comes after the one before."""
    if parents is None:
        return range(-1, count - 1)
    try:
        numbers = [operator.index(p) for p in parents]  # type: ignore[attr-defined]
    except TypeError:
        wrong = repr(parents)
    else:
        later = next((i for i, p in enumerate(numbers) if not -1 <= p < i), None)
        if len(numbers) == count and later is None:
            return numbers
        wrong = f"{len(numbers)} of them for {count} tokens"
        if len(numbers) == count:
            wrong = f"parents[{later}]={numbers[later or 0]}"
    raise ValueError(
        f"draft_masks: expected for each token the number of an earlier one, or -1, got {wrong}; "
        "order the tree so that parents come first"
    )
