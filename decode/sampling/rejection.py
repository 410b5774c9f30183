"""Rejection: sample without the constraint, keep the members."""

from __future__ import annotations

import math
from collections.abc import Callable

from .log_space import NOTHING
from .sample import Sample
from .sampler import Sampler, Try

_SIDE_BY_SIDE = 32


class Rejection(Sampler):
    """Draw from the model alone until a member comes: exact and independent, 1 / Z tries for each sample.

    A try ends at the first token that no member allows. ``statistics.log_z`` is the log of the part of tries that were
    accepted. LimitError after ``max_tries`` rejections in a row: use CARS, which learns from them.
    """

    def _sample(self, n: int, samples: list[Sample], tell: Callable[[int], None]) -> None:
        self._run(self._try, n, _SIDE_BY_SIDE, samples, tell)

    def _try(self) -> Try:
        tokens: tuple[int, ...] = ()
        log_p = 0.0
        while True:
            row = yield tokens
            self._statistics.steps += 1
            if row.log_mass == NOTHING or self._random.random() >= math.exp(row.log_mass):
                self._weights.add(NOTHING)
                return None
            token, edge = row.choose(self._random.random)
            log_p += edge
            if token is None:
                self._weights.add(0.0)
                return self._made(tokens, log_p, 0.0, True)
            tokens = (*tokens, token)
