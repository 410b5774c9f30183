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
        """Nothing observed: all values 0, that is probability 1. ``prior``: how many observations a mean weighs."""
        self._rows = rows
        self.prior = prior
        self._labels: dict[tuple[int, int, int], int] = {}
        self._groups: dict[tuple[int, ...], int] = {}
        self._count = 1  # classes in use
        self._classes = np.zeros((2, 16))  # sum and number of what was observed in each class
        self._group = np.zeros((2, 16))  # of each group of classes: group 0 is everything
        # Of each class: the groups of its state with any number of tokens left, and of its tokens left in any state.
        self._state_of = np.zeros(16, np.int64)
        self._left_of = np.zeros(16, np.int64)

    def values(self, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64 [k]: log of the estimate of each class."""
        prior = self.prior
        group_sum, group_count = self._group
        overall = group_sum[0] / (group_count[0] + prior)
        left, state = self._left_of[labels], self._state_of[labels]
        value = (group_sum[left] + prior * overall) / (group_count[left] + prior)
        value = (group_sum[state] + prior * value) / (group_count[state] + prior)
        value = (self._classes[0, labels] + prior * value) / (self._classes[1, labels] + prior)
        return np.where(labels > 0, value, overall)

    def observe(self, label: int, log_future: float, before: float = math.nan) -> None:
        """Take the estimate of a prefix's future in its class, in place of the one from before if there was one."""
        if label < 0 or not math.isfinite(log_future):
            return
        if math.isnan(before):
            change, more = log_future, 1
        else:
            change, more = log_future - before, 0
        self._classes[0, label] += change
        self._classes[1, label] += more
        for group in (0, self._state_of[label], self._left_of[label]):
            self._group[0, group] += change
            self._group[1, group] += more

    def behind(self, prefix: tuple[int, ...], row: Row) -> NDArray[np.float64]:
        """float64 [k]: log of the estimate behind each token of a row."""
        return self.values(self.labels(prefix, row))

    def labels(self, prefix: tuple[int, ...], row: Row) -> NDArray[np.int32]:
        """int32 [k]: the classes behind the tokens of a row; found once for each row."""
        if row.labels is None:
            labels = np.zeros(len(row.ids), np.int32)
            likely = np.arange(len(row.ids))
            if len(likely) > _LOOKED_AT:
                likely = np.argpartition(-row.log_p, _LOOKED_AT)[:_LOOKED_AT]
            self._rows.within_limits(lambda: self._look_behind(prefix, row, likely, labels))
            row.labels = labels
        return row.labels

    def _look_behind(
        self, prefix: tuple[int, ...], row: Row, likely: NDArray[np.int64], labels: NDArray[np.int32]
    ) -> None:
        state, left = self._rows.state(prefix), self._rows.max_tokens - len(prefix) - 1
        for at in likely.tolist():
            state.advance(int(row.ids[at]))
            labels[at] = self._label(state.state_id, left)
            state.rollback(1)

    def is_new(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether nothing was observed in the states of classes, with any number of tokens left; never of class 0."""
        return np.asarray((labels > 0) & (self._group[1, self._state_of[labels]] == 0), np.bool_)

    def state_of(self, label: int) -> int:
        """A number for the state of a class."""
        return int(self._state_of[label])

    def label(self, prefix: tuple[int, ...]) -> int:
        """The class of a prefix."""
        return self._label(self._rows.state(prefix).state_id, self._rows.max_tokens - len(prefix))

    def _label(self, state: int, left: int) -> int:
        generation = self._rows.automaton.generations
        key = (generation, state, left)
        label = self._labels.get(key)
        if label is None:
            label = self._labels[key] = self._count
            self._count += 1
            if label == len(self._state_of):
                self._classes = np.hstack([self._classes, np.zeros_like(self._classes)])
                self._state_of = np.hstack([self._state_of, np.zeros_like(self._state_of)])
                self._left_of = np.hstack([self._left_of, np.zeros_like(self._left_of)])
            self._state_of[label] = self._group_number((generation, state))
            self._left_of[label] = self._group_number((left,))
        return label

    def _group_number(self, key: tuple[int, ...]) -> int:
        group = self._groups.setdefault(key, len(self._groups) + 1)
        if group == self._group.shape[1]:
            self._group = np.hstack([self._group, np.zeros_like(self._group)])
        return group
