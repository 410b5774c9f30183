"""CARS: rejection sampling that learns from what it rejects."""

from __future__ import annotations

import math
from typing import Any

from ..token_automaton import TokenAutomaton
from .log_space import NOTHING
from .model import LanguageModel
from .sampler import Try
from .trie_sampler import NEW, STOP, TrieSampler


class CARS(TrieSampler):
    """Exact and independent samples from the first one on, with fewer and fewer rejections.

    A try draws from the model on condition that it does not enter what is known to be outside the constraint. At a
    prefix that was never visited all tokens that no member allows become known at once, and the try is rejected with
    their probability. A try is accepted with probability Z / (what is not known to be outside), which only grows, to 1
    once all prefixes of positive probability were visited.

    ``statistics.log_z_lower`` and ``log_z_upper`` are proven bounds; ``log_z`` averages over tries and is unbiased.

    Args:
        batch: tries made side by side, so that the model sees several prefixes at once. Samples stay exact and
            independent: they are taken in the order in which tries began.

    Other arguments and errors as `Sampler`; LimitError after ``max_tries`` rejections in a row, ConstraintError where
    the model gives all members probability zero.

    Source: Parys, Vaidya, Berg-Kirkpatrick, D'Antoni, "Constrained Adaptive Rejection Sampling" (2025).
    """

    def __init__(self, model: LanguageModel, automaton: TokenAutomaton, *, batch: int = 1, **options: Any) -> None:
        """Ask the model for nothing yet."""
        super().__init__(model, automaton, leaf="one", batch=batch, **options)

    def _try(self) -> Try:
        trie, random = self.trie, self._random.random
        node = 0
        tokens: tuple[int, ...] = ()
        log_p = 0.0
        expected = begin = trie.log_future[0]
        while True:
            self._statistics.steps += 1
            if not trie.is_expanded(node):
                row = yield tokens
                if not trie.is_expanded(node):
                    self._expand(node, row)
            # What the way here was chosen for, and what is left of it now that the forbidden tokens are known.
            known = trie.log_future[node]
            if known == NOTHING or (known < expected and random() >= math.exp(known - expected)):
                self._weights.add(NOTHING)
                if trie.log_future[0] == NOTHING:
                    raise self._no_members()
                return None
            choice, _ = self._choose(node, trie.log_rest[node], known)
            if choice == STOP:
                log_p += trie.log_stop[node]
                self._weights.add(begin)
                return self._made(tokens, log_p, 0.0, True)
            if choice == NEW:
                row = self._row(tokens)
                node = self._visit(node, tokens, row, self._draw_new(node, tokens, row))
            else:
                node = choice
            tokens = (*tokens, trie.token[node])
            log_p += trie.log_edge[node]
            expected = trie.log_future[node]
