"""Enumerate: the exact law of a small finite language."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from ...automata.checks import checked_ids, checked_range
from ...automata.errors import ConstraintError, LimitError
from ..token_automaton import TokenAutomaton
from .log_space import NOTHING, log_sum
from .model import LanguageModel
from .sample import Sample, Statistics
from .sampler import Sampler

_SIDE_BY_SIDE = 64


class Enumerate(Sampler):
    """Asks the model about every prefix of every member, once, and then knows the law exactly.

    For finite languages with few prefixes. Samples are exact and independent; ``law`` is the conditional law of all
    members, ``log_prob`` that of one, ``members`` what the model itself says, ``statistics.log_z`` the exact log Z.

    Args:
        max_prefixes: LimitError when more are allowed (by the constraint within ``max_tokens`` tokens).

    Other arguments and errors as `Sampler`. Complexity: a model call for each prefix, 64 at a time.
    """

    def __init__(
        self, model: LanguageModel, automaton: TokenAutomaton, *, max_prefixes: int = 100_000, **options: Any
    ) -> None:
        """Ask the model for nothing yet."""
        super().__init__(model, automaton, **options)
        self.max_prefixes = checked_range("Enumerate", "max_prefixes", max_prefixes, 0)
        self._members: dict[tuple[int, ...], float] | None = None
        self._log_z = math.nan
        self._order: list[tuple[int, ...]] = []
        self._cumulative: list[float] = []

    def members(self) -> dict[tuple[int, ...], float]:
        """All members of positive probability with the model's log-probability of tokens and stop."""
        if self._members is None:
            members = self._found()
            log_z = log_sum(members.values())
            if log_z == NOTHING:
                raise ConstraintError(
                    f"Enumerate: the model gives every member within max_tokens = {self.max_tokens} probability zero; "
                    "check the prompt, the stop tokens and the vocabulary"
                )
            self._order = list(members)
            self._cumulative = list(accumulate(math.exp(log_p - log_z) for log_p in members.values()))
            self._members, self._log_z = members, log_z
        return dict(self._members)

    def law(self) -> dict[tuple[int, ...], float]:
        """All members with their log-probabilities under the conditional law: what `kl_divergence` compares with."""
        return {tokens: log_p - self._log_z for tokens, log_p in self.members().items()}

    def log_prob(self, token_ids: Sequence[int]) -> float:
        """Log-probability of exactly these tokens, then a stop, under the conditional law."""
        tokens = tuple(checked_ids("Enumerate.log_prob", token_ids))
        self.members()
        assert self._members is not None
        return self._members.get(tokens, NOTHING) - self._log_z

    def _found(self) -> dict[tuple[int, ...], float]:
        members: dict[tuple[int, ...], float] = {}
        frontier: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
        seen = 1
        while frontier:
            # The last ones first: the frontier stays as small as in a search in depth.
            batch = frontier[-_SIDE_BY_SIDE:]
            del frontier[-_SIDE_BY_SIDE:]
            rows = self._rows.ask([prefix for prefix, _ in batch])
            self._statistics.steps += len(batch)
            for prefix, log_p in batch:
                row = rows[prefix]
                if row.log_stop > NOTHING:
                    members[prefix] = log_p + row.log_stop
                seen += len(row.ids)
                if seen > self.max_prefixes:
                    raise LimitError(
                        f"Enumerate: max_prefixes = {self.max_prefixes} is reached; raise it, lower max_tokens, or use "
                        "CARS, which is exact as well"
                    )
                frontier += [((*prefix, int(t)), log_p + float(p)) for t, p in zip(row.ids, row.log_p, strict=True)]
        return members

    def _sample(self, n: int, samples: list[Sample], tell: Callable[[int], None]) -> None:
        self.members()
        assert self._members is not None
        for _ in range(n):
            at = bisect.bisect(self._cumulative, self._random.random() * self._cumulative[-1])
            tokens = self._order[min(at, len(self._order) - 1)]
            self._statistics.tries += 1
            samples.append(self._made(tokens, self._members[tokens], 0.0, True))
            tell(len(samples))

    def _tell(self, known: Statistics) -> None:
        if self._members is not None:
            known.log_z = known.log_z_lower = known.log_z_upper = self._log_z
            known.log_z_error = 0.0
