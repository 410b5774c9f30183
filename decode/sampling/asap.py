"""ASAp: adaptive sampling with approximate expected futures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...automata.checks import checked_ids, checked_number
from ..token_automaton import TokenAutomaton
from .log_space import NOTHING, log_sum, log_sum_array
from .model import LanguageModel
from .rows import Row
from .sampler import Try
from .trie_sampler import NEW, STOP, Leaf, TrieSampler

_LOOKS = 32  # at states that were never seen, after one walk
_SWEEP = 20  # all futures are recomputed after each twentieth of as many walks as there are prefixes


class ASAp(TrieSampler):
    """Each sample makes the next ones better: tokens are weighed by how likely what follows stays inside.

    The law of the next sample (`log_prob`) goes from that of Masked to the conditional law, which it is once every
    prefix of positive probability was visited. Samples carry importance weights model / law, so weighted averages are
    right from the start; the mean weight of all walks, those into dead ends counted as 0, estimates Z
    (``statistics.log_z``). ``exact`` tells samples that were drawn when nothing was left to learn. With ``leaf="one"``
    every sample proves bounds, ``statistics.log_z_lower`` and ``log_z_upper``.

    Futures come from sums of log-probabilities, never from 1 - sum, so masses of 1e-300 are as precise as any.

    Args:
        leaf: the value of a prefix that was never visited. ``"one"``: 1, as in the paper. ``"state"``: what was
            learned of prefixes that reach the same automaton state with as many tokens left (`StateFutures`): an
            approximation that makes the first samples much better where states are shared.
        explore: with ``leaf="state"``: after a walk, the model is also asked about one prefix of each automaton state
            that was never seen, where what is behind it could have that share of all mass, at most 32 of them; 0:
            about none.
        batch: walks made side by side over what is known when they pass, so that the model sees several prefixes at
            once; later walks learn from earlier ones a little later.

    Other arguments and errors as `Sampler`; ConstraintError where the model gives all members probability zero.

    Source: Park, Wang, Berg-Kirkpatrick, Polikarpova, D'Antoni, "Grammar-Aligned Decoding" (2024), algorithm 1.
    """

    def __init__(
        self,
        model: LanguageModel,
        automaton: TokenAutomaton,
        *,
        leaf: Leaf = "one",
        explore: float = 0.001,
        batch: int = 1,
        **options: Any,
    ) -> None:
        """Ask the model for nothing yet."""
        super().__init__(model, automaton, leaf=leaf, batch=batch, **options)
        self._since_sweep = 0
        if not (explore := checked_number("ASAp", "explore", explore)) >= 0:
            raise ValueError(f"ASAp: expected explore >= 0, got {explore}; 0 asks about no further prefix")
        self._least_share = math.log(explore) if explore > 0 else math.inf

    def log_prob(self, token_ids: Sequence[int]) -> float:
        """Log-probability that the next sample is exactly these tokens, then a stop; -inf for what is no member.

        That of the walk that ``sample`` makes next (with ``batch=1``), at what is known now; a walk into a dead end is
        made anew, which is not divided out. Learns nothing but rows, so the law stays as it is. O(tokens), and a model
        call for each prefix whose row is not kept.
        """
        tokens = tuple(checked_ids("ASAp.log_prob", token_ids))
        trie, node, total = self.trie, 0, 0.0
        for at in range(len(tokens) + 1):
            prefix = tokens[:at]
            if node >= 0 and trie.is_expanded(node):
                needs_row = self._futures is not None and trie.rest_count[node]
                rest = self._rest(node, prefix, self._row(prefix) if needs_row else None)
                mass = self._total(node, rest)
                if at == len(tokens):
                    chosen = trie.log_stop[node]
                elif (child := trie.child(node, tokens[at])) >= 0:
                    chosen = trie.log_edge[child] + trie.log_future[child]
                    node = child
                else:
                    chosen = self._leaf_weight(prefix, tokens[at])
                    node = -1
            else:
                row = self._row(prefix)
                weights = [log_sum_array(self._leaf_weights(prefix, row)), row.log_stop]
                mass = log_sum(weights)
                chosen = row.log_stop if at == len(tokens) else self._leaf_weight(prefix, tokens[at])
                if at < len(tokens):
                    node = trie.child(node, tokens[at]) if node >= 0 else -1
            if chosen == NOTHING:
                return NOTHING
            total += chosen - mass
        return total

    def _leaf_weight(self, prefix: tuple[int, ...], token: int) -> float:
        row = self._row(prefix)
        at = int(np.searchsorted(row.ids, token))
        if at == len(row.ids) or row.ids[at] != token:
            return NOTHING
        return float(self._leaf_weights(prefix, row)[at])

    def _try(self) -> Try:
        trie, futures = self.trie, self._futures
        node = 0
        tokens: tuple[int, ...] = ()
        log_p = log_q = 0.0
        complete = self._is_complete()
        while True:
            self._statistics.steps += 1
            row: Row | None = None
            if not trie.is_expanded(node):
                row = yield tokens
                if not trie.is_expanded(node):
                    self._expand(node, row)
            if futures is not None and row is None and trie.rest_count[node]:
                row = yield tokens
            rest = self._rest(node, tokens, row)
            total = self._total(node, rest)
            if total == NOTHING:
                self._learn(node)
                self._weights.add(NOTHING)
                if trie.log_future[0] == NOTHING:
                    raise self._no_members()
                return None
            choice, log_share = self._choose(node, rest, total)
            log_q += log_share
            if choice == STOP:
                log_p += trie.log_stop[node]
                break
            if choice == NEW:
                row = row or self._row(tokens)
                index = self._draw_new(node, tokens, row)
                log_q += float(self._leaf_weights(tokens, row)[index]) - rest
                node = self._visit(node, tokens, row, index)
            else:
                node = choice
            tokens = (*tokens, trie.token[node])
            log_p += trie.log_edge[node]
        self._learn(node)
        self._weights.add(log_p - log_q)
        return self._made(tokens, log_p, log_p - log_q, complete)

    def _learn(self, node: int) -> None:
        """Take what a walk has seen up to the prompt."""
        if self._futures is None:
            return  # done at each new prefix
        self._reestimate(node)
        walked = [node]
        while walked[-1]:
            walked.append(self.trie.parent[walked[-1]])
        looks = _LOOKS
        while looks and (walked := self._look_at(walked, looks)):
            looks -= len(walked)
            for node in walked:
                self._reestimate(node)
        self._since_sweep += 1
        if self._since_sweep * _SWEEP >= len(self.trie):
            self._since_sweep = 0
            self._sweep()

    def _sweep(self) -> None:
        """Recompute the futures of all visited prefixes, the deepest first: those that no walk passes go stale."""
        for node in range(len(self.trie) - 1, -1, -1):
            if self.trie.is_expanded(node):
                self._reestimate_one(node)

    def _reestimate(self, node: int) -> None:
        """Recompute the future of a prefix and of those above it with what is known of the states."""
        while node >= 0:
            self._reestimate_one(node)
            node = self.trie.parent[node]

    def _reestimate_one(self, node: int) -> None:
        trie, futures = self.trie, self._futures
        assert futures is not None
        tokens = trie.path(node)
        row = self._row(tokens) if trie.rest_count[node] else None
        trie.log_rest[node] = self._rest(node, tokens, row)
        trie.update(node)
        futures.observe(trie.label[node], trie.log_future[node], trie.observed[node])
        if trie.log_future[node] > NOTHING:
            trie.observed[node] = trie.log_future[node]

    def _look_at(self, nodes: list[int], most: int) -> list[int]:
        """Visit one prefix of each state that was never seen and has a share behind one of the nodes; the new ones."""
        trie, futures = self.trie, self._futures
        assert futures is not None
        found: dict[int, tuple[float, int, tuple[int, ...], int]] = {}
        for node in nodes:
            if not trie.rest_count[node]:
                continue
            tokens = trie.path(node)
            row = self._row(tokens)
            labels = futures.labels(tokens, row)
            shares = self._leaf_weights(tokens, row) + trie.log_path(node) - trie.log_future[0]
            news = self._never_taken(node, row) & (shares > self._least_share) & futures.is_new(labels)
            for index in np.flatnonzero(news).tolist():
                state = futures.state_of(int(labels[index]))
                if state not in found or found[state][0] < shares[index]:
                    found[state] = (float(shares[index]), node, tokens, index)
        if not found:
            return []
        made = []
        for _, node, tokens, index in sorted(found.values(), reverse=True)[:most]:
            made.append(self._visit(node, tokens, self._row(tokens), index))
        rows = self._rows.ask([trie.path(node) for node in made])
        for node in made:
            self._expand(node, rows[trie.path(node)])
        return made
