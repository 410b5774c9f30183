"""ONNX Runtime GenAI: an ``onnxruntime_genai.Generator`` whose rows stay inside constraints.

Follows the Python interface of onnxruntime-genai 0.18, ``Generator``: ``get_logits()`` gives float32 [rows, 1, width],
``set_logits`` takes them back before ``generate_next_token()`` draws, ``get_next_tokens()`` gives int32 [rows].
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._core import DecodeState, mask_scores
from ..batch_state import BatchState


class ConstrainedGenerator:
    """Takes the place of a ``Generator`` in its loop; what is not named here is the generator's own.

        generator = ConstrainedGenerator(og.Generator(model, params), [automaton.start()])
        generator.append_tokens(prompt)
        while not generator.is_done():
            generator.generate_next_token()

    The vocabulary is that of the model's folder, ``Vocabulary.from_file("model/tokenizer.json")``, and its EOS tokens
    those of ``genai_config.json``. Beam search reorders rows unseen: leave ``num_beams`` at 1.
    What goes wrong in a row stays there, see `BatchState.errors` of ``batch``; such a row ends.

    Args:
        generator: an ``onnxruntime_genai.Generator``.
        states: one DecodeState for each row, None for rows without a constraint.
        threads: of the masks; see BatchState.

    Raises what BatchState raises.
    """

    def __init__(self, generator: Any, states: Iterable[DecodeState | None], threads: int | None = None) -> None:
        """Keep the generator and the states; no mask is computed yet."""
        self.generator = generator
        self.batch = BatchState(states, threads)
        self._masks = self.batch.masks()
        self._draws: list[tuple[int, list[int]]] = []  # length of the text and tokens of each state, before each draw

    def generate_next_token(self) -> None:
        """Draw a token for each row among those that its constraint allows, and take them.

        Raises ValueError where the logits do not fit the states; the generator is then unchanged.
        """
        logits = np.asarray(self.generator.get_logits())
        rows, width = len(self.batch), logits.shape[-1]
        if logits.size != rows * width or width <= 32 * (self.batch.words - 1):
            raise ValueError(
                f"ConstrainedGenerator: expected logits [{rows}, 1, width] of at least the vocabulary's width, got "
                f"{list(logits.shape)}; pass one state (or None) for each row, over the model's own vocabulary"
            )
        if self._masks.shape[1] != self.batch.words:
            self._masks = self.batch.masks()
        self.batch.fill_masks(self._masks)
        scores = np.ascontiguousarray(logits, np.float32).reshape(rows, width)
        free = [row for row, state in enumerate(self.batch) if state is None]
        kept = scores[free]
        if self.batch.words:
            mask_scores(scores, scores, self._masks)
        scores[free] = kept  # all of their width, padding included
        self.generator.set_logits(scores.reshape(logits.shape))
        length = self.generator.token_count()
        self.generator.generate_next_token()
        self._draws.append((length, self._tokens()))
        self.batch.advance(self.generator.get_next_tokens())

    def append_tokens(self, tokens: Any) -> None:
        """Append tokens that the constraints do not see, of a prompt; `rewind_to` does not go back behind them."""
        self.generator.append_tokens(tokens)
        self._draws.clear()

    def rewind_to(self, length: int) -> None:
        """Go back to a text of so many tokens, prompt included, in every row.

        GenAI itself, which does so for one row only, keeps the token behind them and would go on behind that one; here
        the last of the tokens is appended again instead, so that the next one comes behind it.

        Raises IndexError where that is before the first token drawn here since tokens were appended, RuntimeError where
        the generator has several rows; nothing has changed then.
        """
        rows = [np.asarray(self.generator.get_sequence(row)) for row in range(max(1, len(self.batch)))]
        lengths = [drawn for drawn, _ in self._draws]  # EOS may be drawn without being part of the text
        if length in lengths:
            place = lengths.index(length)
            last = np.array([[row[length - 1]] for row in rows], np.int32)
            self.generator.rewind_to(length - 1)
            self.generator.append_tokens(last)
            counts = [now - then for now, then in zip(self._tokens(), self._draws[place][1], strict=True)]
            self.batch.rollback(counts)
            del self._draws[place:]
        elif length != len(rows[0]):
            first, now = min(lengths, default=len(rows[0])), len(rows[0])
            raise IndexError(f"rewind_to: expected a length from {first} to {now}, got {length}")

    def _tokens(self) -> list[int]:
        return [0 if s is None else s.num_tokens for s in self.batch]

    def __getattr__(self, name: str) -> Any:
        """Anything else is the generator's."""
        return getattr(self.generator, name)
