"""llama-cpp-python: a logits processor for ``Llama.create_completion`` and its like.

Follows the protocol of llama-cpp-python 0.3, ``LogitsProcessor``: called with the tokens so far, int32 [columns], and
the scores of the next, float32 [vocabulary], which it returns. Tested with 0.3.36 itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._core import DecodeState
from ...automata.errors import TokenRejected
from ..token_automaton import TokenAutomaton


class LogitsProcessor:
    """Keeps ``llama_cpp.Llama`` inside a constraint, as one entry of a ``LogitsProcessorList``.

    The vocabulary is that of the model's file, ``Vocabulary.from_file("model.gguf")``. A call with the last call's
    tokens and one more takes a step; any other call begins a text anew, with all its tokens as the prompt, so one
    processor serves any number of completions one after another. Behind EOS only EOS is allowed.

    The package calls processors from C, where an error is printed and no more, and the token is drawn all the same. So
    a call that raises allows EOS alone before, and so do those behind it: the text ends, and `error` tells why.

    Args:
        automaton: what :func:`tokamata.compile` returned.
        max_tokens: the text ends within so many tokens, EOS included; pass that of ``create_completion``.
        drafts: for a Llama with a ``draft_model``, whose drafts are among the tokens of a call: each call takes one
            step, however many tokens there are. Then make a new processor for each completion.

    Raises BudgetError where no member fits max_tokens.
    """

    error: Exception | None
    """What ended the last text before its end, or None."""

    def __init__(self, automaton: TokenAutomaton, max_tokens: int | None = None, *, drafts: bool = False) -> None:
        """Keep the automaton; no mask is computed yet."""
        self._first = automaton.start(max_tokens)
        self._state: DecodeState = self._first
        self._size = len(automaton.vocabulary)
        self._eos = automaton.vocabulary.eos_token_ids
        self._mask = np.zeros(automaton.words, np.int32)
        self._seen: NDArray[np.intc] | None = None
        self._drafts = drafts
        self.error = None

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        """Return the scores, changed in place: minus infinity where a token is not allowed.

        Raises ValueError where there are fewer scores than tokens, LimitError where a limit is reached.
        """
        try:
            allowed = self._allowed(np.asarray(input_ids), len(scores))
        except Exception as error:
            self.error = error
            scores[:] = -np.inf
            scores[[token for token in self._eos if token < len(scores)]] = 0.0
            raise
        scores[~allowed] = -np.inf
        return scores

    def _allowed(self, ids: NDArray[np.intc], width: int) -> NDArray[np.bool_]:
        self._follow(ids)
        if width < self._size:
            raise ValueError(
                f"LogitsProcessor: {width} scores for a vocabulary of {self._size} tokens; "
                "make it from the model's own file"
            )
        allowed = np.zeros(width, bool)
        if self._state.is_finished or self.error is not None:
            allowed[self._eos] = True
        else:
            self._state.fill_mask(self._mask)
            bits = np.unpackbits(self._mask.view(np.uint8), count=self._size, bitorder="little")
            allowed[: self._size] = bits
        return allowed

    def _follow(self, ids: NDArray[np.intc]) -> None:
        """Take the token that was added since the last call, or begin anew."""
        seen = self._seen
        more = 0 if seen is None or not np.array_equal(ids[: len(seen)], seen) else len(ids) - len(seen)
        step = more == 1 or (self._drafts and more > 1)
        self._seen = ids[: len(seen) + 1].copy() if step and seen is not None else ids.copy()
        token = int(self._seen[-1]) if step else -1
        if step and (self.error is not None or (self._state.is_finished and token in self._eos)):
            return
        try:
            if step:
                self._state.advance(token)
        except TokenRejected:  # another text, which happens to begin with the last one's tokens
            step = False
            self._seen = ids.copy()
        if not step:
            self._state = self._first.copy()
            self.error = None
