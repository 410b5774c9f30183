"""Trie: the visited prefixes of one model under one constraint."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator

from .log_space import NOTHING, log_minus

_DIGITS = math.log(1e4)  # what a running difference may lose before it is summed anew
_EMPTY = -1


class Trie:
    """Visited prefixes as columns of numbers: node 0 is the prompt, node n > 0 adds ``token[n]`` to ``parent[n]``.

    Only visited nodes are kept; of the allowed tokens that were never taken a node knows their number and the
    logarithm of their mass. So insertion takes the same time and memory, about 90 bytes, whatever the vocabulary and
    however many tokens are allowed. All masses are natural logarithms.

    Columns, one entry a node:
        parent, token, first_child, next_sibling: int32, -1 for none.
        log_edge: the model's log-probability of the token after its parent.
        log_future: the estimated log-probability that the rest of the text stays inside the constraint.
        log_lower: the same as a proven lower bound (never taken tokens count as nothing).
        log_rest, rest_count: mass and number of allowed tokens never taken; rest_count is -1 before `expand`.
        log_stop: log-probability of stopping here, -inf where it is not allowed.
        label: the class of the automaton state and the tokens left, -1 where nobody asked.

    Children are found in a hash table of (parent, token), expected O(1); memory grows by an eighth at a time.
    """

    __slots__ = (
        "_base",
        "_slots",
        "first_child",
        "label",
        "log_edge",
        "log_future",
        "log_lower",
        "log_rest",
        "log_stop",
        "next_sibling",
        "observed",
        "parent",
        "rest_count",
        "token",
    )

    def __init__(self) -> None:
        """Begin with the prompt alone."""
        self.parent = array("i")
        self.token = array("i")
        self.first_child = array("i")
        self.next_sibling = array("i")
        self.label = array("i")
        self.rest_count = array("i")
        self.log_edge = array("d")
        self.log_future = array("d")
        self.log_lower = array("d")
        self.log_rest = array("d")
        self.log_stop = array("d")
        self.observed = array("d")
        self._base = array("f")  # log_rest when it was last summed
        self._slots = array("i", [_EMPTY]) * 16
        self._append(-1, -1, 0.0, 0.0, -1)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def nbytes(self) -> int:
        """Memory of all columns and of the hash table, reserved room not counted."""
        columns = (getattr(self, name) for name in self.__slots__)
        return sum(len(column) * column.itemsize for column in columns)

    def add(self, parent: int, token: int, log_edge: float, log_future: float = 0.0, label: int = -1) -> int:
        """Return the new node for a token that was never taken; expected O(1)."""
        node = self._append(parent, token, log_edge, log_future, label)
        self.next_sibling[node] = self.first_child[parent]
        self.first_child[parent] = node
        if 3 * node > 2 * len(self._slots):
            self._rehash()
        else:
            self._place(node)
        return node

    def child(self, node: int, token: int) -> int:
        """Return the child by a token, -1 when it was never taken; expected O(1)."""
        slots, parent, tokens = self._slots, self.parent, self.token
        last = len(slots) - 1
        at = _hash(node, token) & last
        while (found := slots[at]) != _EMPTY:
            if tokens[found] == token and parent[found] == node:
                return found
            at = (at + 1) & last
        return -1

    def children(self, node: int) -> Iterator[int]:
        """The visited children, the newest first."""
        following = self.next_sibling
        child = self.first_child[node]
        while child >= 0:
            yield child
            child = following[child]

    def path(self, node: int) -> tuple[int, ...]:
        """The tokens from the prompt to a node."""
        tokens = []
        while node:
            tokens.append(self.token[node])
            node = self.parent[node]
        return tuple(reversed(tokens))

    def log_path(self, node: int) -> float:
        """The model's log-probability of the tokens from the prompt to a node."""
        total = 0.0
        while node:
            total += self.log_edge[node]
            node = self.parent[node]
        return total

    def is_expanded(self, node: int) -> bool:
        """Whether the model was asked for what follows."""
        return self.rest_count[node] >= 0

    def expand(self, node: int, log_rest: float, rest_count: int, log_stop: float) -> None:
        """Tell what follows a node: the allowed tokens, none of them taken yet, and the stop."""
        self.set_rest(node, log_rest)
        self.rest_count[node] = rest_count
        self.log_stop[node] = log_stop

    def set_rest(self, node: int, log_rest: float) -> None:
        """Set the mass of the tokens never taken, summed anew."""
        self.log_rest[node] = log_rest
        self._base[node] = log_rest

    def take(self, node: int, log_edge: float) -> bool:
        """Move one token from those never taken to the children; False when the rest must be summed anew.

        The rest is a running difference as long as it keeps 12 digits; what is left of 1 after 1 - 1e-53 was taken
        is a sum over the tokens that are left (`set_rest`), not a difference.
        """
        self.rest_count[node] -= 1
        if not self.rest_count[node]:
            self.log_rest[node] = NOTHING
            return True
        left = log_minus(self.log_rest[node], log_edge)
        self.log_rest[node] = left
        return left > self._base[node] - _DIGITS

    def update(self, node: int) -> bool:
        """Recompute the future and the lower bound of an expanded node from its children; whether one changed."""
        edge, future, lower = self.log_edge, self.log_future, self.log_lower
        stop = self.log_stop[node]
        futures, lowers = [self.log_rest[node], stop], [stop]
        following, child = self.next_sibling, self.first_child[node]
        while child >= 0:
            futures.append(edge[child] + future[child])
            lowers.append(edge[child] + lower[child])
            child = following[child]
        high, low = _log_sum(futures), _log_sum(lowers)
        if high == future[node] and low == lower[node]:
            return False
        future[node], lower[node] = high, low
        return True

    def update_path(self, node: int) -> None:
        """Recompute a node and its ancestors, up to the first that does not change."""
        while node >= 0 and self.update(node):
            node = self.parent[node]

    def _append(self, parent: int, token: int, log_edge: float, log_future: float, label: int) -> int:
        self.parent.append(parent)
        self.token.append(token)
        self.first_child.append(-1)
        self.next_sibling.append(-1)
        self.label.append(label)
        self.rest_count.append(-1)
        self.log_edge.append(log_edge)
        self.log_future.append(log_future)
        self.log_lower.append(NOTHING)
        self.log_rest.append(NOTHING)
        self.log_stop.append(NOTHING)
        self.observed.append(math.nan)
        self._base.append(NOTHING)
        return len(self.parent) - 1

    def _place(self, node: int) -> None:
        slots, last = self._slots, len(self._slots) - 1
        at = _hash(self.parent[node], self.token[node]) & last
        while slots[at] != _EMPTY:
            at = (at + 1) & last
        slots[at] = node

    def _rehash(self) -> None:
        self._slots = array("i", [_EMPTY]) * (2 * len(self._slots))
        for node in range(1, len(self.parent)):
            self._place(node)


def _hash(parent: int, token: int) -> int:
    mixed = (parent * 0x9E3779B1 + token * 0x85EBCA77) & 0xFFFFFFFFFFFF
    return mixed ^ (mixed >> 17)


def _log_sum(values: list[float]) -> float:
    top = max(values)
    if top == NOTHING:
        return NOTHING
    return top + math.log(math.fsum([math.exp(v - top) for v in values]))
