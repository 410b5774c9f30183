"""ConstrainedLogitsProcessor: masks for ``model.generate`` of the transformers package."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._core import DecodeState, Workers, mask_scores
from ..automata.checks import checked_count
from ..automata.errors import ConstraintError, TokenRejected
from .batch_state import default_threads, raise_first
from .canonical import CanonicalAutomaton, CanonicalState
from .dynamic_automaton import DynamicAutomaton
from .dynamic_state import DynamicState
from .masked_logits import mask_logits_, tensor_shown
from .token_automaton import TokenAutomaton

if TYPE_CHECKING:
    import torch

_ROWS_A_THREAD = 8  # fewer are done before a thread wakes up


class ConstrainedLogitsProcessor:
    """Keeps ``model.generate`` inside a constraint, as one entry of its ``logits_processor``.

    Where a row stands is derived from its ``input_ids`` at every call, so rows may be reordered, dropped and repeated
    (beam search), and one processor serves any number of calls of ``generate``. Only the states of the last call's
    rows are kept; a row that continues one of them costs one step, another one is read from its prompt on. Rows that
    have written the same share a state, whatever their prompts.

    A row that has written EOS may only write EOS again: ``generate`` replaces that by its padding. Logits wider than
    the vocabulary (padded models) are minus infinity beyond it.

    Args:
        automaton: what :func:`tokamata.compile` returned, for the model's own vocabulary, or a `CanonicalAutomaton`.
        prompt_length: how many leading columns of ``input_ids`` are prompt, padding included; one number, or one for
            each prompt of the batch. For encoder-decoder models 1, the start token. None: the width at the first call
            of each ``generate``, told from a continuation by the tokens. Pass the number where a prompt may be the
            last one and a beginning of the text behind it, with or without one more token.
        max_tokens: each row ends within so many tokens behind its prompt, EOS included (see TokenAutomaton.start).
            Pass the ``max_new_tokens`` of ``generate``, so that no text is cut off.

    Raises:
        TypeError: another object than a TokenAutomaton, a prompt_length that is not a whole number.
        BudgetError: no member fits max_tokens; the text names the smallest that works.
        UnsupportedError: max_tokens where the automaton keeps no budget, with callbacks and for canonical tokens.
    """

    def __init__(
        self,
        automaton: TokenAutomaton | DynamicAutomaton | CanonicalAutomaton,
        prompt_length: int | Sequence[int] | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """Keep the automaton; no mask is computed yet."""
        if not isinstance(automaton, (TokenAutomaton, DynamicAutomaton, CanonicalAutomaton)):
            raise TypeError(
                f"ConstrainedLogitsProcessor: expected a TokenAutomaton, got {type(automaton).__name__}; "
                "make one with tokamata.compile(constraint, vocabulary)"
            )
        self.automaton = automaton
        self.prompt_length = _checked_lengths(prompt_length)
        if max_tokens is not None:
            max_tokens = checked_count("ConstrainedLogitsProcessor", "max_tokens", max_tokens)
        self.max_tokens = max_tokens
        self._start = automaton.start(max_tokens)
        self._first_width: int | None = None
        self._last: torch.Tensor | None = None  # the last call's input_ids, where prompts are told by them
        # States of the last call, by the tokens behind the prompt; None where a row left the constraint.
        self._rows: dict[bytes, DecodeState | DynamicState | CanonicalState | None] = {}
        self._workers: Workers | None = None
        self._masks: npt.NDArray[np.int32] | None = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return ``scores`` with minus infinity where a token is not allowed; the argument is not changed.

        Args:
            input_ids: integers [rows, columns], the prompt and what was written.
            scores: float [rows, width] of any floating dtype, on any device, width >= len(vocabulary).

        Raises:
            ValueError: shapes that do not fit each other or the vocabulary.
            ConstraintError: a row holds tokens behind its prompt that the constraint does not allow.
        """
        self._check_shapes(input_ids, scores)
        masks = self._buffer(input_ids.shape[0], scores.device)
        self._fill(self._states(input_ids), masks)
        return apply_masks(scores, masks, len(self.automaton.vocabulary))

    def __getstate__(self) -> dict[str, Any]:
        """For copies: without the threads and the memory for masks."""
        return {**self.__dict__, "_workers": None, "_masks": None}

    def _buffer(self, rows: int, device: torch.device) -> npt.NDArray[np.int32]:
        """Memory for masks, the last call's where it is enough: nothing reads that any more."""
        if self._masks is None or len(self._masks) < rows:
            import torch

            pinned = device.type == "cuda"
            self._masks = torch.zeros((rows, self.automaton.words), dtype=torch.int32, pin_memory=pinned).numpy()
        return self._masks[:rows]

    def _fill(
        self, states: Sequence[DecodeState | DynamicState | CanonicalState | None], masks: npt.NDArray[np.int32]
    ) -> None:
        """Write the rows' masks: those of different native states by threads, if they are many."""
        first: dict[int, int] = {}  # row, by the state's identity
        native: list[DecodeState | None] = [None] * len(states)
        for row, state in enumerate(states):
            if isinstance(state, DecodeState) and not state.is_finished and first.setdefault(id(state), row) == row:
                native[row] = state
        threads = min(default_threads(), max(1, len(first) // _ROWS_A_THREAD))
        if self._workers is None or self._workers.threads < threads:
            self._workers = Workers(threads)
        raise_first(self._workers.fill_masks(native, masks))
        for row, state in enumerate(states):
            if state is None or state.is_finished:
                masks[row] = 0
                for token in self.automaton.vocabulary.eos_token_ids:
                    masks[row, token // 32] |= np.int64(1 << token % 32).astype(np.int32)
            elif native[row] is None:
                if isinstance(state, DecodeState):
                    masks[row] = masks[first[id(state)]]
                else:
                    state.fill_mask(masks, row)

    def _check_shapes(self, input_ids: torch.Tensor, scores: torch.Tensor) -> None:
        shapes = [tuple(getattr(given, "shape", ())) for given in (input_ids, scores)]
        if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][0] != shapes[1][0]:
            raise ValueError(
                "ConstrainedLogitsProcessor: expected input_ids [rows, columns] and scores [rows, width], "
                f"got {tensor_shown(input_ids)} and {tensor_shown(scores)}"
            )
        size = len(self.automaton.vocabulary)
        if scores.shape[1] < size:
            raise ValueError(
                f"ConstrainedLogitsProcessor: the model's logits are {scores.shape[1]} wide, the vocabulary has {size} "
                "tokens; build it with Vocabulary.from_transformers(tokenizer, size=model.config.vocab_size)"
            )

    def _states(self, input_ids: torch.Tensor) -> list[DecodeState | DynamicState | CanonicalState | None]:
        ids = input_ids.detach()
        starts = self._starts(ids)
        first = min(starts, default=0)
        tokens = np.ascontiguousarray(ids[:, first:].cpu().numpy(), dtype=np.int64)  # prompts stay where they are
        following: dict[bytes, DecodeState | DynamicState | CanonicalState | None] = {}
        states = []
        for row, start in zip(tokens, starts, strict=True):
            written = row[start - first :].tobytes()
            if written not in following:
                following[written] = self._state(written, start)
            states.append(following[written])
        self._rows = following
        return states

    def _starts(self, ids: torch.Tensor) -> list[int]:
        rows, width = ids.shape
        lengths = self.prompt_length
        if lengths is None:
            if self._first_width is None or not self._continues(ids, self._first_width):
                self._first_width = width
            self._last = ids.clone()  # loops may write the next tokens into the same memory
            return [self._first_width] * rows
        if rows % len(lengths) and len(lengths) > 1:
            raise ValueError(
                f"ConstrainedLogitsProcessor: prompt_length has {len(lengths)} entries, input_ids {rows} rows; "
                "pass one number, or one for each prompt"
            )
        each = rows // len(lengths) if len(lengths) > 1 else rows
        starts = [n for n in lengths for _ in range(each)]
        if max(starts, default=0) > width:
            raise ValueError(
                f"ConstrainedLogitsProcessor: prompt_length is {max(starts)}, input_ids has {width} columns; "
                "pass the number of columns of the prompt, inputs.input_ids.shape[1]"
            )
        return starts

    def _continues(self, ids: torch.Tensor, start: int) -> bool:
        """Whether every row is one of the last call's, or a token behind one of them or behind a beginning of one.

        A beginning is what is left of a draft that was not taken (assisted generation).
        """
        import torch

        last, width = self._last, ids.shape[1]
        if last is None or last.device != ids.device:
            return False
        known = width - 1 if width > start else width
        if known == width and last.shape[1] != width:
            return False
        now, before = ids[:, :known], last[:, :known].to(ids.dtype)
        if torch.equal(now, before):
            return True
        beginnings = {tuple(row) for row in before.tolist()}
        return all(tuple(row) in beginnings for row in now.tolist())

    def _state(self, written: bytes, start: int) -> DecodeState | DynamicState | CanonicalState | None:
        """The state after a row's tokens (int64): known, one step from a known one, or read from the first on."""
        if written in self._rows:
            return self._rows[written]
        tokens = np.frombuffer(written, np.int64)
        if written[:-8] in self._rows:
            known = self._rows[written[:-8]]
            if known is None or known.is_finished:
                return known
            state = known.copy()
            try:
                state.advance(int(tokens[-1]))
            except TokenRejected:
                return None  # beam search keeps candidates of score -inf when there are too few others
            return state
        state = self._start.copy()
        for position, token in enumerate(tokens.tolist()):
            if state.is_finished:
                break
            try:
                state.advance(token)
            except TokenRejected as error:
                raise ConstraintError(
                    f"ConstrainedLogitsProcessor: token {token} in column {start + position} is not allowed after a "
                    f"prompt of {start} columns: {error}; check prompt_length, or use a new processor"
                ) from error
        return state


def apply_masks(scores: torch.Tensor, masks: np.ndarray, size: int) -> torch.Tensor:
    """Return scores [rows, width] with minus infinity outside the packed masks int32 [rows, ceil(size / 32)].

    On the CPU native code reads and writes each score once; elsewhere the packed words are sent to the device.
    """
    import torch

    width = scores.shape[1]
    if scores.device.type == "cpu":
        out = torch.empty_like(scores)
        mask_scores(scores.detach(), out, masks)
        if size < width:
            out[:, size:] = float("-inf")
        return out
    return mask_logits_(scores.clone(), torch.from_numpy(masks).to(scores.device), size)


def _checked_lengths(prompt_length: int | Sequence[int] | None) -> list[int] | None:
    if prompt_length is None:
        return None
    try:
        if isinstance(prompt_length, Sequence) and not isinstance(prompt_length, (str, bytes)):
            lengths = [operator.index(n) for n in prompt_length]
        else:
            lengths = [operator.index(prompt_length)]  # type: ignore[arg-type]
    except TypeError:
        lengths = []
        wrong = True
    else:
        wrong = not lengths or min(lengths) < 0
    if wrong:
        error = ValueError if lengths else TypeError
        raise error(
            "ConstrainedLogitsProcessor: prompt_length must be a number of columns, or one for each prompt, "
            f"got {prompt_length!r}; usually inputs.input_ids.shape[1]"
        )
    return lengths
