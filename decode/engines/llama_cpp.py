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

    Args:
        automaton: what :func:`tokamata.compile` returned.
        max_tokens: the text ends within so many tokens, EOS included; pass that of ``create_completion``.

    Raises BudgetError where no member fits max_tokens.
    """

    def __init__(self, automaton: TokenAutomaton, max_tokens: int | None = None) -> None:
        """Keep the automaton; no mask is computed yet."""
        self._first = automaton.start(max_tokens)
        self._state: DecodeState = self._first
        self._size = len(automaton.vocabulary)
        self._eos = automaton.vocabulary.eos_token_ids
        self._mask = np.zeros(automaton.words, np.int32)
        self._seen: NDArray[np.intc] | None = None

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        """Return the scores, changed in place: minus infinity where a token is not allowed.

        Raises ValueError where there are fewer scores than tokens.
        """
        if len(scores) < self._size:
            raise ValueError(
                f"LogitsProcessor: {len(scores)} scores for a vocabulary of {self._size} tokens; "
                "make it from the model's own file"
            )
        self._follow(np.asarray(input_ids))
        allowed = np.zeros(len(scores), bool)
        if self._state.is_finished:
            allowed[self._eos] = True
        else:
            self._state.fill_mask(self._mask)
            bits = np.unpackbits(self._mask.view(np.uint8), count=self._size, bitorder="little")
            allowed[: self._size] = bits
        scores[~allowed] = -np.inf
        return scores

    def _follow(self, ids: NDArray[np.intc]) -> None:
        """Take the token that was added since the last call, or begin anew, as also behind an error."""
        seen, self._seen = self._seen, None
        step = seen is not None and len(ids) == len(seen) + 1 and np.array_equal(ids[:-1], seen)
        if not (step and self._state.is_finished and ids[-1] in self._eos):
            try:
                if step:
                    self._state.advance(int(ids[-1]))
            except TokenRejected:  # another text, which happens to begin with the last one's tokens
                step = False
            if not step:
                self._state = self._first.copy()
        self._seen = ids.copy()
