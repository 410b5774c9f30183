"""CanonicalPrefixes: canonical segmentations of the members of one constraint, pruned prefix by prefix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...tokenizer_fst import Vocabulary
from ..canonical import BytePairs, CanonicalAutomaton, CanonicalState
from ..token_automaton import TokenAutomaton
from .canonical import Canonical


class CanonicalPrefixes(Canonical):
    """Tells the segmentations of an encoder whose pieces and merges are known (`tokamata.decode.canonical.BytePairs`).

    Over an automaton a token is kept exactly when the prefix and the token begin the segmentation of some member, so
    that no sampler meets a dead end on account of segmentations, and no text is encoded. The limit on the number of
    tokens is not looked at: a text whose own segmentation is too long is a dead end as others are.
    """

    def __init__(self, pairs: BytePairs, vocabulary: Vocabulary) -> None:
        """Keep the encoder; `over` gives what samplers use."""
        super().__init__(self._encode, vocabulary, prefix_closed=True)
        self.pairs = pairs
        self._state: CanonicalState | None = None
        self._at: tuple[int, ...] = ()

    def over(self, automaton: TokenAutomaton) -> CanonicalPrefixes:
        """The same for the members of a constraint. Raises what `CanonicalAutomaton` does."""
        made = CanonicalPrefixes(self.pairs, self.vocabulary)
        made._state = CanonicalAutomaton(automaton, self.pairs).start()
        return made

    def accepts(self, tokens: tuple[int, ...]) -> bool:
        """Whether the tokens are the segmentation of their text, and that is a member."""
        state = self._moved_to(tokens)
        return state is not None and state.is_final

    def may_begin(self, prefix: tuple[int, ...]) -> bool:
        """Whether the prefix begins the segmentation of a member."""
        return self._moved_to(prefix) is not None

    def extends(self, prefix: tuple[int, ...], ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """For each token whether the prefix with it begins the segmentation of a member."""
        state = self._moved_to(prefix)
        if state is None:
            return np.zeros(len(ids), np.bool_)
        if len(ids) < 4:
            return np.array([state.allows(int(token)) for token in ids], np.bool_)
        return (state.mask()[ids // 32] >> (ids % 32) & 1).astype(np.bool_)

    def _moved_to(self, prefix: tuple[int, ...]) -> CanonicalState | None:
        """The state after a prefix; None where that is not allowed."""
        state = self._state
        if state is None:
            raise TypeError("canonical: ask CanonicalPrefixes.over(automaton), which knows what members there are")
        same = 0
        while same < min(len(self._at), len(prefix)) and self._at[same] == prefix[same]:
            same += 1
        state.rollback(len(self._at) - same)
        for i in range(same, len(prefix)):
            if not state.allows(prefix[i]):
                self._at = prefix[:i]
                return None
            state.advance(prefix[i])
        self._at = prefix
        return state

    def _encode(self, text: str) -> list[int]:
        raise TypeError("canonical: BytePairs tell segmentations without encoding texts")
