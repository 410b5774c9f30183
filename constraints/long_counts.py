"""How many members have a large length, by the linear recurrence of a small automaton.

The numbers of members by length are the coefficients of P(x)/Q(x), where Q(x) = det(1 - xA) for the matrix A of how
many bytes lead from state to state. One coefficient takes the logarithm of its length in steps: P(x)/Q(x) =
P(x)Q(-x)/(Q(x)Q(-x)), whose denominator has even powers only, so that half of the numerator is not needed.

Sources: Schützenberger (1961), for the series; Bostan and Mori, "A simple and fast algorithm for computing the N-th
term of a linearly recurrent sequence" (2021), for one coefficient; Faddeev and LeVerrier, for the determinant.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..automata.errors import LimitError

if TYPE_CHECKING:
    from ..automata import Fst

MOST_STATES = 16  # the determinant takes the fourth power of it
LEAST_LENGTH = 4096  # below, adding up length by length is as fast


def count_of_length(fst: Fst, length: int, seconds: float, most_bytes: float) -> int:
    """The number of texts of exactly ``length`` labels that a deterministic acceptor has; LimitError past the limits.

    O(states⁴) operations on small numbers, then O(states²) products of numbers of O(length) bits: the time of their
    multiplication, three times as much for twice the bits.
    """
    matrix = [[0] * fst.num_states() for _ in fst.states()]
    for state in fst.states():
        for arc in fst.arcs(state):
            matrix[state][arc.nextstate] += 1
    below = _determinant(matrix)
    reached = [int(state == fst.start()) for state in fst.states()]
    first = []  # the numbers of members of 0, 1, ... labels
    for _ in below:
        first.append(sum(number for state, number in enumerate(reached) if fst.is_final(state)))
        reached = [sum(map(_times, reached, column)) for column in zip(*matrix, strict=True)]
    above = _product(below, first)[: len(below) - 1]
    return _coefficient(above, below, length, seconds, most_bytes)


def _coefficient(above: list[int], below: list[int], index: int, seconds: float, most_bytes: float) -> int:
    """That of x^index in a fraction of power series whose denominator begins with 1."""
    start = before = time.thread_time()
    while index:
        mirrored = [-number if power % 2 else number for power, number in enumerate(below)]
        above = _product(above, mirrored)[index % 2 :: 2]
        below = _product(below, mirrored)[::2]
        while below and not below[-1]:
            below.pop()
        above = above[: index // 2 + 1]
        below = below[: index // 2 + 1]
        index //= 2
        if sum(number.bit_length() for number in above + below) > 4 * most_bytes:  # the next have twice as many bits
            raise LimitError(
                f"count: the limit count_bytes={most_bytes} was reached (big numbers); ask for a shorter length or "
                "raise it: tokamata.Limits(count_bytes=...)"
            )
        now = time.thread_time()
        if index and now - start + 3 * (now - before) > seconds:
            raise LimitError(
                f"count: the limit search_seconds={seconds:g} was reached (processor time of one call); ask for a "
                "shorter length or raise it: tokamata.Limits(search_seconds=...)"
            )
        before = now
    return above[0] if above else 0


def _determinant(matrix: list[list[int]]) -> list[int]:
    """The coefficients of det(1 - xA), by powers of x; the first is 1."""
    size = len(matrix)
    out = [1]
    power = [[0] * size for _ in matrix]
    for k in range(1, size + 1):
        for i in range(size):
            power[i][i] += out[-1]
        columns = list(zip(*power, strict=True))
        power = [[sum(map(_times, row, column)) for column in columns] for row in matrix]
        out.append(-sum(power[i][i] for i in range(size)) // k)
    return out


def _product(a: list[int], b: list[int]) -> list[int]:
    """That of two polynomials, by powers."""
    out = [0] * max(len(a) + len(b) - 1, 0)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                out[i + j] += x * y
    return out


def _times(x: int, y: int) -> int:
    return x * y
