"""Masked: plain constrained decoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...automata.checks import checked_ids
from .log_space import NOTHING
from .sample import Sample
from .sampler import Sampler, Try

_SIDE_BY_SIDE = 32


class Masked(Sampler):
    """At each step the model's probabilities of the allowed tokens, normalized: fast, and not the conditional law.

    The law is p(tokens) / product of the allowed masses on the way, so texts that begin like many others that the
    constraint forbids come too often. The product is the importance weight: weighted by exp(log_weight) samples are
    right in the limit.

    A prefix after which the model gives every allowed token probability zero is a dead end; such a try is made anew.
    ``statistics.log_z`` counts it as one of weight zero: the mean weight of all tries estimates Z, that of the samples
    alone Z over the share of tries that are no dead ends.
    """

    def log_prob(self, token_ids: Sequence[int]) -> float:
        """Log-probability that a sample is exactly these tokens, then a stop; -inf for what is no member.

        Dead ends are not divided out.
        """
        tokens = tuple(checked_ids("Masked.log_prob", token_ids))
        total = 0.0
        for at, token in enumerate(tokens):
            row = self._row(tokens[:at])
            edge = row.log_p_of(token)
            if edge == NOTHING:
                return NOTHING
            total += edge - row.log_mass
        row = self._row(tokens)
        return total + row.log_stop - row.log_mass if row.log_stop > NOTHING else NOTHING

    def _sample(self, n: int, samples: list[Sample], tell: Callable[[int], None]) -> None:
        self._run(self._try, n, _SIDE_BY_SIDE, samples, tell)

    def _try(self) -> Try:
        tokens: tuple[int, ...] = ()
        log_p = log_weight = 0.0
        while True:
            row = yield tokens
            self._statistics.steps += 1
            log_weight += row.log_mass
            if log_weight == NOTHING:
                self._weights.add(NOTHING)
                return None
            token, edge = row.choose(self._random.random)
            log_p += edge
            if token is None:
                self._weights.add(log_weight)
                return self._made(tokens, log_p, log_weight, False)
            tokens = (*tokens, token)
