"""BatchState: the masks and steps of many decoding states in one native call."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from .._core import DecodeState, Workers
from ..automata.checks import checked_count, checked_flag, checked_several, cut
from ..automata.errors import ConstraintError, LimitError, TokenRejected
from .mask_row import array_of, shown_memory

if TYPE_CHECKING:
    import torch

_MOST_THREADS = 8  # of the default; more seldom help: masks are bound by memory
_ERRORS: tuple[type[Exception], ...] = (TokenRejected, LimitError, ConstraintError, MemoryError, RuntimeError)
_CAUGHT = (TokenRejected, LimitError, ConstraintError, RuntimeError, MemoryError)  # of rows that are not native


@runtime_checkable
class RowState(Protocol):
    """What a batch asks of a state that is not native: DynamicState and CanonicalState."""

    @property
    def words(self) -> int:
        """int32 words of a mask."""

    @property
    def eos_token_ids(self) -> Sequence[int]:
        """The tokens that end a text."""

    @property
    def is_finished(self) -> bool:
        """Whether EOS was consumed."""

    @property
    def num_tokens(self) -> int:
        """Tokens so far."""

    def fill_mask(self, out: Any) -> None:
        """Write the mask, int32 [words]."""

    def advance(self, token_id: int) -> None:
        """Append a token, or raise TokenRejected."""

    def rollback(self, n: int) -> None:
        """Take back the last n tokens."""

    def copy(self) -> RowState:
        """An independent copy."""


State = DecodeState | RowState


class BatchState:
    """Decoding states side by side: one row of a batch each, over any constraints and vocabularies.

    Rows join and leave at any time; a row without a state (None) is unconstrained. Masks are filled by native threads
    without the GIL; rows of dynamic and canonical automata come after them one by one. What goes wrong in a row
    stays there: it is noted in `errors`, and the others go on.

    No row of masks is ever all zero, so no softmax sees minus infinity alone. A state that is not finished always
    allows some token: a mask never leads into a dead end. A row whose state is finished, or whose mask cannot be
    computed (`errors`), allows EOS and nothing else.

    The states are the batch's while they are in it: use them from one thread at a time, and none in two rows.

    Args:
        states: one DecodeState, DynamicState or CanonicalState, or None, for each row.
        threads: native threads, the calling one included. None: one for each processor, at most 8.

    Raises:
        TypeError: other objects than states.
        ValueError: one state in two rows, threads < 1.
    """

    __slots__ = ("_errors", "_native", "_others", "_states", "_words", "_workers")

    def __init__(self, states: Iterable[State | None] = (), threads: int | None = None) -> None:
        """Keep the states; threads start with the first call that needs them."""
        count = default_threads() if threads is None else checked_count("BatchState", "threads", threads)
        if count < 1:
            raise ValueError(f"BatchState: expected threads >= 1, got {cut(threads)}")
        self._states: list[State | None] = []
        self._errors: dict[int, Exception] = {}
        self._words: int | None = None
        self._native: list[DecodeState | None] = []  # this and what follows: by _arranged
        self._others: list[tuple[int, RowState]] = []
        self._workers = Workers(min(count, 2**31))
        self._assign("BatchState", states)

    # -------------------------------------------------------------------------------------------- rows

    def assign(self, states: Iterable[State | None]) -> None:
        """Make row i the i-th of the states, and no other rows; errors are forgotten. For schedulers that pick anew."""
        self._assign("BatchState.assign", states)

    def _assign(self, function: str, states: Iterable[State | None]) -> None:
        rows = checked_several(function, "states", states)
        seen: set[int] = set()
        for state in rows:
            self._check(function, state, seen)
            seen.add(id(state))
        self._states, self._errors, self._words = rows, {}, None

    def join(self, state: State) -> int:
        """Put a state into the first row that has none, or a new one behind all others; return the row."""
        self._check("BatchState.join", state)
        row = next((i for i, s in enumerate(self._states) if s is None), len(self._states))
        if row == len(self._states):
            self._states.append(None)
        self[row] = state
        return row

    def leave(self, row: int) -> State | None:
        """Take the state out of a row and return it; the row stays, unconstrained, and its error is forgotten."""
        row = self._row("BatchState.leave", row)
        state, self._states[row] = self._states[row], None
        self._errors.pop(row, None)
        self._words = None
        return state

    def reorder(self, rows: Sequence[int]) -> None:
        """Make row i what row rows[i] was; rows that are not named leave, rows named twice are copied (beam search).

        Complexity: O(rows), and O(tokens so far) for each copy.
        """
        rows = [self._row("BatchState.reorder", r) for r in checked_several("BatchState.reorder", "rows", rows)]
        seen: set[int] = set()
        states: list[State | None] = []
        for r in rows:
            state = self._states[r]
            states.append(state.copy() if state is not None and r in seen else state)
            seen.add(r)
        self._errors = {i: self._errors[r] for i, r in enumerate(rows) if r in self._errors}
        self._states = states
        self._words = None

    def __setitem__(self, row: int, state: State | None) -> None:
        """Put another state into a row; its error is forgotten."""
        row = self._row("BatchState", row)
        if state is not self._states[row]:
            self._check("BatchState", state)
        self._states[row] = state
        self._errors.pop(row, None)
        self._words = None

    def __getitem__(self, row: int) -> State | None:
        """Return the state of a row."""
        return self._states[self._row("BatchState", row)]

    def __len__(self) -> int:
        """Return the number of rows, those without a state included."""
        return len(self._states)

    def __iter__(self) -> Iterator[State | None]:
        """Iterate over the states by row."""
        return iter(list(self._states))

    # -------------------------------------------------------------------------------------------- decoding

    @property
    def words(self) -> int:
        """int32 words of the widest mask."""
        return self._arranged() if self._words is None else self._words

    @property
    def errors(self) -> dict[int, Exception]:
        """What went wrong, by row: TokenRejected, LimitError, ...; kept until the row's state leaves or is replaced."""
        return dict(self._errors)

    @property
    def finished(self) -> npt.NDArray[np.bool_]:
        """Whether EOS was consumed, by row; False where there is no state."""
        return np.array([s is not None and s.is_finished for s in self._states], np.bool_)

    def masks(self, pinned: bool = False) -> Any:
        """Return a buffer for `fill_masks`, zeroed int32 [rows, words]: numpy, or torch in page-locked memory."""
        shape = (len(self._states), self.words)
        if not checked_flag("BatchState.masks", "pinned", pinned):
            return np.zeros(shape, np.int32)
        import torch

        return torch.zeros(shape, dtype=torch.int32, pin_memory=torch.cuda.is_available())

    def fill_masks(self, out: npt.NDArray[np.int32] | torch.Tensor) -> None:
        """Write the mask of every row; see DecodeState.fill_mask for the layout of one.

        Args:
            out: C-contiguous int32 [rows, words], numpy or a CPU tensor (pinned, if it goes to a device), with at least
                as many rows and words as the batch. Words behind a row's own vocabulary become 0, those of rows
                without a state -1 (all bits); rows behind the batch stay as they are.

        Raises:
            ValueError: another dtype, shape or layout. Never for what happens in a row: see `errors`.
        """
        array = self._array(out)
        self._note(self._workers.fill_masks(self._native, array))
        for row, state in self._others:
            array[row] = 0
            if not state.is_finished:
                try:
                    state.fill_mask(array[row, : state.words])
                    continue
                except _CAUGHT as error:
                    self._errors.setdefault(row, error)
            for token in state.eos_token_ids:
                array.view(np.uint32)[row, token // 32] |= np.uint32(1 << token % 32)

    def advance(self, token_ids: Sequence[int] | npt.NDArray[np.integer[Any]] | torch.Tensor) -> npt.NDArray[np.bool_]:
        """Append a token to each row; return which rows took theirs, bool [rows].

        A token that a row refuses leaves its state unchanged and is noted in `errors`. Tokens below 0 mean none; rows
        without a state take anything, and so do finished rows, whose state stays finished (padding after EOS).

        Args:
            token_ids: integers [rows].

        Raises:
            ValueError: not one integer for each row.
        """
        ids = _integers("BatchState.advance", token_ids)
        if ids.shape != (len(self._states),):
            raise ValueError(
                f"BatchState.advance: expected one token for each of {len(self._states)} rows, got shape {ids.shape}; "
                "pass -1 for rows without one"
            )
        taken = np.ones(len(ids), np.bool_)
        if self._words is None:
            self._arranged()
        refused = self._workers.advance(self._native, ids)
        if refused:
            self._note(refused)
            taken[[row for row, _, _ in refused]] = False
        for row, state in self._others:
            if ids[row] >= 0 and not state.is_finished:
                try:
                    state.advance(int(ids[row]))
                except _CAUGHT as error:
                    self._errors.setdefault(row, error)
                    taken[row] = False
        return taken

    def rollback(self, counts: int | Sequence[int] | npt.NDArray[np.integer[Any]]) -> None:
        """Take back the last tokens of each row: one number for all, or one for each. O(rows).

        Raises:
            IndexError: a row has fewer tokens; no row is changed then.
            ValueError: not one integer for each row.
        """
        given = _integers("BatchState.rollback", counts)
        if given.ndim == 0:
            given = np.full(len(self._states), given)
        if given.shape != (len(self._states),):
            raise ValueError(f"BatchState.rollback: expected {len(self._states)} counts, got shape {given.shape}")
        pairs = [(s, int(n)) for s, n in zip(self._states, given, strict=True) if s is not None]
        for state, n in pairs:
            if not 0 <= n <= state.num_tokens:
                raise IndexError(f"BatchState.rollback: expected 0 <= n <= {state.num_tokens}, got {n}")
        for state, n in pairs:
            state.rollback(n)

    # -------------------------------------------------------------------------------------------- helpers

    def _arranged(self) -> int:
        """Tell rows that native threads serve from others; return the words of the widest mask."""
        self._native = [s if isinstance(s, DecodeState) else None for s in self._states]
        self._others = [(i, s) for i, s in enumerate(self._states) if s is not None and not isinstance(s, DecodeState)]
        self._words = max((s.words for s in self._states if s is not None), default=0)
        return self._words

    def _row(self, function: str, row: int) -> int:
        row = checked_count(function, "row", row)
        if not 0 <= row < len(self._states):
            raise IndexError(f"{function}: expected 0 <= row < {len(self._states)}, got {cut(row)}")
        return row

    def _check(self, function: str, state: State | None, seen: set[int] | None = None) -> None:
        if state is None:
            return
        if not isinstance(state, (DecodeState, RowState)):
            raise TypeError(
                f"{function}: expected a DecodeState, DynamicState, CanonicalState or None, got "
                f"{type(state).__name__}; make one with automaton.start()"
            )
        if any(s is state for s in self._states) if seen is None else id(state) in seen:
            raise ValueError(f"{function}: one state cannot be in two rows; put state.copy() into the second one")

    def _array(self, out: npt.NDArray[np.int32] | torch.Tensor) -> npt.NDArray[np.int32]:
        array: Any = out
        got = ""
        if not isinstance(array, np.ndarray) and hasattr(array, "numpy"):
            if array.device.type != "cpu":
                raise ValueError(
                    f"BatchState.fill_masks: expected a CPU tensor, got one on {array.device}; "
                    "fill a pinned one and copy it"
                )
            try:
                array = shown_memory(out)
            except ValueError as error:
                array, got = None, str(error)
        good = isinstance(array, np.ndarray) and array.dtype == np.int32 and array.ndim == 2
        if not good or not array.flags.c_contiguous or not array.flags.writeable:
            got = got or f"{getattr(out, 'dtype', type(out).__name__)} of shape {tuple(getattr(out, 'shape', ()))}"
            raise ValueError(
                "BatchState.fill_masks: expected a writable C-contiguous int32 array or CPU tensor [rows, words], got "
                f"{got}; make one with batch.masks()"
            )
        if array.shape[0] < len(self._states) or array.shape[1] < self.words:
            raise ValueError(
                f"BatchState.fill_masks: expected at least shape [{len(self._states)}, {self.words}], got "
                f"{list(array.shape)}; make one with batch.masks()"
            )
        checked: npt.NDArray[np.int32] = array
        return checked

    def _note(self, errors: list[tuple[int, int, str]] | None) -> None:
        for row, kind, text in errors or ():
            self._errors.setdefault(row, _ERRORS[kind](text))  # the first one is the cause of others

    def __repr__(self) -> str:
        used = sum(s is not None for s in self._states)
        return f"<tokamata.decode.BatchState of {len(self._states)} rows, {used} with a state>"


def raise_first(errors: list[tuple[int, int, str]] | None) -> None:
    """Raise the first of the errors that native threads return, if any."""
    if errors:
        _, kind, text = errors[0]
        raise _ERRORS[kind](text)


def _integers(function: str, values: Any) -> npt.NDArray[np.int64]:
    """Integers from a sequence, an array or a tensor on any device."""
    if not isinstance(values, np.ndarray) and hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = array_of(values)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{function}: expected integers, got {array.dtype}; pass one for each row")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(2**63 - 1))  # as much out of any range
    return np.asarray(array, np.int64, order="C")


def default_threads() -> int:
    """One thread for each processor that this process may use, at most 8."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:
        count = os.cpu_count() or 1
    return min(count, _MOST_THREADS)
