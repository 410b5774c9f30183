"""What a small machine means, by brute force in float64: the weight of every pair of strings up to a length."""

from __future__ import annotations

import math

import numpy as np
from tokamata.automata import Fst

Pair = tuple[tuple[int, ...], tuple[int, ...]]


class _Algebra:
    """Semirings as real numbers: boolean (or, and), tropical (min, +), log as probabilities (+, *)."""

    def __init__(self, semiring: str) -> None:
        self.semiring = semiring
        self.zero = math.inf if semiring == "tropical" else 0.0
        self.one = 0.0 if semiring == "tropical" else 1.0

    def of(self, weight: float) -> float:
        return math.exp(-weight) if self.semiring == "log" else weight

    def back(self, value: float) -> float:
        return (-math.log(value) if value > 0 else math.inf) if self.semiring == "log" else value

    def plus(self, a: float, b: float) -> float:
        return min(a, b) if self.semiring == "tropical" else a + b if self.semiring == "log" else max(a, b)

    def times(self, a: float, b: float) -> float:
        return a + b if self.semiring == "tropical" else a * b if self.semiring == "log" else min(a, b)

    def star(self, m: list[list[float]]) -> list[list[float]]:
        n = len(m)
        if self.semiring == "log":
            matrix = np.array(m)
            if n and max(abs(np.linalg.eigvals(matrix))) >= 1 - 1e-9:
                raise ValueError("epsilon cycles whose sum does not converge")
            return np.linalg.inv(np.eye(n) - matrix).tolist()  # type: ignore[no-any-return]
        d = [[self.plus(m[i][j], self.one if i == j else self.zero) for j in range(n)] for i in range(n)]
        for k in range(n):
            for i in range(n):
                if d[i][k] != self.zero:
                    for j in range(n):
                        d[i][j] = self.plus(d[i][j], self.times(d[i][k], d[k][j]))
        return d


def relation(fst: Fst, length: int = 4, olength: int | None = None) -> dict[Pair, float]:
    """Weights (in the Fst's own terms) of all pairs of strings up to `length` and `olength` labels, zeros left out.

    Sums over all paths, with epsilon cycles summed in full. Exponential in the lengths; for machines of a few states.
    """
    olength = length if olength is None else olength
    k = _Algebra(fst.semiring)
    n = fst.num_states()
    if fst.start() < 0:
        return {}
    epsilon = [[k.zero] * n for _ in range(n)]
    moves = []
    for s in range(n):
        for a in fst.arcs(s):
            w = k.of(a.weight)
            if a.ilabel == 0 and a.olabel == 0:
                epsilon[s][a.nextstate] = k.plus(epsilon[s][a.nextstate], w)
            else:
                moves.append((s, a.ilabel, a.olabel, w, a.nextstate))
    star = k.star(epsilon)
    final = [k.of(fst.final(s)) for s in range(n)]
    first = [k.zero] * n
    first[fst.start()] = k.one
    levels: list[dict[Pair, list[float]]] = [{} for _ in range(length + olength + 1)]
    levels[0][((), ())] = first
    out: dict[Pair, float] = {}
    for total, level in enumerate(levels):
        for (x, y), entry in level.items():
            alpha = [k.zero] * n
            for i in range(n):
                if entry[i] != k.zero:
                    for j in range(n):
                        alpha[j] = k.plus(alpha[j], k.times(entry[i], star[i][j]))
            value = k.zero
            for i in range(n):
                value = k.plus(value, k.times(alpha[i], final[i]))
            if value != k.zero:
                out[x, y] = k.back(value)
            for s, a, b, w, t in moves:
                if alpha[s] == k.zero:
                    continue
                x2, y2 = ((*x, a) if a else x), ((*y, b) if b else y)
                if len(x2) <= length and len(y2) <= olength:
                    target = levels[total + (a != 0) + (b != 0)].setdefault((x2, y2), [k.zero] * n)
                    target[t] = k.plus(target[t], k.times(alpha[s], w))
    return out


def assert_same(got: dict[Pair, float], want: dict[Pair, float], note: str = "", tolerance: float = 1e-4) -> None:
    """The same pairs with the same weights, up to the tolerance (relative beyond 1)."""
    wrong = [
        f"{pair}: got {got.get(pair)}, want {want.get(pair)}"
        for pair in sorted(got.keys() | want.keys())
        if pair not in got or pair not in want or abs(got[pair] - want[pair]) > tolerance * max(1.0, abs(want[pair]))
    ]
    assert not wrong, f"{note}: {len(wrong)} pairs differ, e.g. " + "; ".join(wrong[:5])


def assert_equivalent(a: Fst, b: Fst, length: int = 4, note: str = "") -> None:
    """Both machines give every pair of strings up to the length the same weight."""
    assert_same(relation(a, length), relation(b, length), note)
