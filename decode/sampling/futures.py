"""StateFutures: how likely texts stay inside the constraint, learned for each automaton state."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .rows import Row, Rows

_LOOKED_AT = 256  # likeliest tokens of a row whose states are told apart


class StateFutures:
    """Estimates of log P(the rest stays inside | state, tokens left), shared by all prefixes that reach the state.

    A class is an automaton state with the number of tokens left. Its value is the mean of what was observed there,
    drawn towards the mean of the state with any number of tokens left, that towards the mean of all states with as many
    tokens left, and that towards the mean of everything: few observations count little. Means are of logarithms: where
    prefixes of one state differ, too high a value costs more than too low a one. What stands behind a token that is
    not among the 256 likeliest of its row is not looked up; it has the class 0, the mean of everything.

    Approximate by nature: it may be used as a leaf value that is labelled so, or as a twist that weights correct.
    """

    def __init__(self, rows: Rows, prior: float = 1.0) -> None:
        """Nothing observed: all values 0, that is probability 1."""
        self._rows = rows
        self.prior = prior
        self._labels: dict[tuple[int, int, int], int] = {}
        self._groups: dict[tuple[int, ...], int] = {}
        self._state_of = [0]  # of each class: its state, with any number of tokens left
        self._left_of = [0]  # of each class: the number of tokens left, in any state
        self._sums, self._counts = [0.0], [0.0]  # of each class
        self._group_sums, self._group_counts = [0.0], [0.0]  # of each group; group 0 is everything
        self._values: NDArray[np.float64] | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """float64 [classes]: log of the estimate of each class."""
        if self._values is None or len(self._values) < len(self._sums):
            prior = self.prior
            overall = self._group_sums[0] / (self._group_counts[0] + prior)
            sums, counts = np.array(self._group_sums), np.array(self._group_counts)
            left = (sums[self._left_of] + prior * overall) / (counts[self._left_of] + prior)
            state = (sums[self._state_of] + prior * left) / (counts[self._state_of] + prior)
            self._values = (np.array(self._sums) + prior * state) / (np.array(self._counts) + prior)
            self._values[0] = overall
        return self._values

    def observe(self, label: int, log_future: float, before: float = math.nan) -> None:
        """Take the estimate of a prefix's future in its class, in place of the one from before if there was one."""
        if label < 0 or not math.isfinite(log_future):
            return
        known = not math.isnan(before)
        change, more = (log_future - before, 0) if known else (log_future, 1)
        self._sums[label] += change
        self._counts[label] += more
        for group in (0, self._state_of[label], self._left_of[label]):
            self._group_sums[group] += change
            self._group_counts[group] += more
        self._values = None

    def behind(self, prefix: tuple[int, ...], row: Row) -> NDArray[np.float64]:
        """float64 [k]: log of the estimate behind each token of a row."""
        labels = self.labels(prefix, row)
        return self.values[labels]

    def labels(self, prefix: tuple[int, ...], row: Row) -> NDArray[np.int32]:
        """int32 [k]: the classes behind the tokens of a row; found once for each row."""
        if row.labels is None:
            labels = np.zeros(len(row.ids), np.int32)
            likely = np.arange(len(row.ids))
            if len(likely) > _LOOKED_AT:
                likely = np.argpartition(-row.log_p, _LOOKED_AT)[:_LOOKED_AT]
            state = self._rows.state(prefix)
            for at in likely.tolist():
                state.advance(int(row.ids[at]))
                labels[at] = self._label(state.state_id, state.tokens_left or 0)
                state.rollback(1)
            row.labels = labels
        return row.labels

    def is_new(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether nothing was observed in the states of classes, with any number of tokens left; never of class 0."""
        counts = np.array(self._group_counts)
        return np.asarray((labels > 0) & (counts[np.array(self._state_of)[labels]] == 0), np.bool_)

    def state_of(self, label: int) -> int:
        """A number for the state of a class."""
        return self._state_of[label]

    def label(self, prefix: tuple[int, ...]) -> int:
        """The class of a prefix."""
        state = self._rows.state(prefix)
        return self._label(state.state_id, state.tokens_left or 0)

    def _label(self, state: int, left: int) -> int:
        generation = self._rows.automaton.generations
        key = (generation, state, left)
        label = self._labels.get(key)
        if label is None:
            label = self._labels[key] = len(self._sums)
            self._sums.append(0.0)
            self._counts.append(0.0)
            self._state_of.append(self._group((generation, state)))
            self._left_of.append(self._group((left,)))
        return label

    def _group(self, key: tuple[int, ...]) -> int:
        group = self._groups.setdefault(key, len(self._group_sums))
        if group == len(self._group_sums):
            self._group_sums.append(0.0)
            self._group_counts.append(0.0)
        return group
