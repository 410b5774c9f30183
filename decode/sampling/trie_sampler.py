"""TrieSampler: walks over visited prefixes by what is known of their futures; ASAp and CARS."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ...automata.checks import checked_choice, checked_range
from ...automata.errors import ConstraintError
from .futures import StateFutures
from .log_space import NOTHING, log_sum, log_sum_array
from .rows import Row, draw_index
from .sample import Sample, Statistics
from .sampler import Sampler, Try
from .trie import Trie

Leaf = Literal["one", "state"]
STOP, NEW = -1, -2  # what a walk does other than going to a visited child


class TrieSampler(Sampler):
    """Keeps a trie of visited prefixes, each with the mass of what is known not to be outside the constraint.

    A walk begins at the prompt. At a prefix it goes to a visited child in proportion to (edge probability x estimated
    future), to a token never taken in proportion to (edge probability x leaf value), or stops. What it learns goes up
    to the prompt at once.
    """

    def __init__(self, model: Any, automaton: Any, *, leaf: Leaf = "one", batch: int = 1, **options: Any) -> None:
        super().__init__(model, automaton, **options)
        self.leaf = checked_choice(type(self).__name__, "leaf", leaf, ("one", "state"))
        self.batch = checked_range(type(self).__name__, "batch", batch, 1)
        self.trie = Trie()
        self._futures = StateFutures(self._rows) if leaf == "state" else None
        self._complete = False

    def _sample(self, n: int, samples: list[Sample], tell: Callable[[int], None]) -> None:
        self._run(self._try, n, self.batch, samples, tell)

    @abstractmethod
    def _try(self) -> Try:
        """One walk from the prompt, as a generator that asks for rows."""

    def _tell(self, known: Statistics) -> None:
        super()._tell(known)
        trie = self.trie
        known.nodes = len(trie) - 1
        known.trie_bytes = trie.nbytes
        known.log_z_lower = trie.log_lower[0]
        if self._is_complete():
            known.log_z = known.log_z_upper = known.log_z_lower
            known.log_z_error = 0.0
        elif self._futures is None:
            known.log_z_upper = trie.log_future[0]

    def _is_complete(self) -> bool:
        """Whether nothing is left to learn; futures of states prove nothing, with them only visits do."""
        trie = self.trie
        if not self._complete and trie.log_lower[0] == trie.log_future[0]:
            self._complete = self._futures is None or not any(trie.rest_count)
        return self._complete

    def _expand(self, node: int, row: Row) -> None:
        """Take the row of a node into the trie and tell its ancestors."""
        self.trie.expand(node, row.log_text, len(row.ids), row.log_stop)
        if self._futures is None:
            self.trie.update_path(node)

    def _visit(self, node: int, tokens: tuple[int, ...], row: Row, index: int) -> int:
        """The new child by the index-th token of the row."""
        trie = self.trie
        edge = float(row.log_p[index])
        label, future = -1, 0.0
        if self._futures is not None:
            labels = self._futures.labels(tokens, row)[index : index + 1]
            label, future = int(labels[0]), float(self._futures.values(labels)[0])
        child = trie.add(node, int(row.ids[index]), edge, future, label)
        if self._futures is not None:
            trie.rest_count[node] -= 1  # the weight of the rest is summed anew wherever it is needed
        elif not trie.take(node, edge):
            trie.set_rest(node, log_sum_array(row.log_p[self._never_taken(node, row)]))
        return child

    def _never_taken(self, node: int, row: Row) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which tokens of a row are no children yet."""
        keep = np.ones(len(row.ids), np.bool_)
        taken = [self.trie.token[c] for c in self.trie.children(node)]
        keep[np.searchsorted(row.ids, taken)] = False
        return keep

    def _draw_new(self, node: int, tokens: tuple[int, ...], row: Row) -> int:
        """The index of a token never taken, drawn in proportion to its weight."""
        weights = row.log_p
        if self._futures is not None:
            weights = weights + self._futures.behind(tokens, row)
        weights = np.where(self._never_taken(node, row), weights, NOTHING)
        return draw_index(np.exp(weights - weights.max()).cumsum(), self._random.random())

    def _rest(self, node: int, tokens: tuple[int, ...], row: Row | None) -> float:
        """The weight of all tokens never taken together."""
        if not self.trie.rest_count[node]:
            return NOTHING
        if self._futures is None:
            return self.trie.log_rest[node]
        assert row is not None
        keep = self._never_taken(node, row)
        return log_sum_array((row.log_p + self._futures.behind(tokens, row))[keep])

    def _total(self, node: int, rest: float) -> float:
        """The log of the summed weights of a node's children, its stop and its tokens never taken."""
        trie = self.trie
        if self._futures is None:
            return trie.log_future[node]
        weights = [trie.log_edge[c] + trie.log_future[c] for c in trie.children(node)]
        return log_sum([*weights, trie.log_stop[node], rest])

    def _leaf_weights(self, prefix: tuple[int, ...], row: Row) -> np.ndarray[Any, np.dtype[np.float64]]:
        if self._futures is None:
            return row.log_p
        return row.log_p + self._futures.behind(prefix, row)

    def _no_members(self) -> ConstraintError:
        return ConstraintError(
            f"{type(self).__name__}: the model gives every member of the constraint within max_tokens = "
            f"{self.max_tokens} probability zero; check the prompt, the stop tokens and the vocabulary"
        )

    def _choose(self, node: int, rest: float, total: float) -> tuple[int, float]:
        """Draw a visited child, STOP or NEW in proportion to the weights, whose sum is total; with the log of its part.

        ``rest`` is the weight of the tokens never taken.
        """
        trie, exp = self.trie, math.exp
        edge, future, following = trie.log_edge, trie.log_future, trie.next_sibling
        u, likeliest, most = self._random.random(), STOP, NOTHING
        child = trie.first_child[node]
        while child >= 0:
            weight = edge[child] + future[child]
            u -= exp(weight - total)
            if u < 0:
                return child, weight - total
            if weight > most:
                likeliest, most = child, weight
            child = following[child]
        for choice, weight in ((STOP, trie.log_stop[node]), (NEW, rest)):
            u -= exp(weight - total)
            if u < 0:
                return choice, weight - total
            if weight > most:
                likeliest, most = choice, weight
        return likeliest, most - total  # the parts sum to 1 - 1e-16
