"""AWRS: adaptive weighted rejection sampling of tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...automata.checks import checked_callable, checked_choice
from ..token_automaton import TokenAutomaton
from .log_space import NOTHING, log_minus, log_sum_array
from .model import LanguageModel
from .rows import draw_index
from .smc import SMC

Estimate = Literal["averaged", "paper"]

_DIGITS = math.log(1e4)  # what a running difference may lose before it is summed anew
_REDRAWS = 30  # of tokens that are out, before the running sums are made anew


class _Whole:
    """A row of the model: log-probabilities float64 [V], their running sums and the log of the total."""

    __slots__ = ("cumulative", "log_p", "log_total")

    def __init__(self, log_p: NDArray[np.float64]) -> None:
        self.log_p = log_p
        self.log_total = log_sum_array(log_p)
        self.cumulative = np.exp(log_p - log_p.max()).cumsum() if self.log_total > NOTHING else log_p

    @property
    def nbytes(self) -> int:
        return self.log_p.nbytes + self.cumulative.nbytes


class _Left:
    """What is left of a row while tokens are removed from it."""

    def __init__(self, row: _Whole, random: Callable[[], float]) -> None:
        self.log_mass = self._summed = row.log_total
        self._log_p, self._cumulative, self._random = row.log_p, row.cumulative, random
        self._removed: set[int] = set()

    def draw(self) -> int:
        """A token in proportion to its probability, among those left."""
        for _ in range(_REDRAWS):
            token = draw_index(self._cumulative, self._random())
            if token not in self._removed:
                return token
        log_p = self._remaining()
        self._cumulative = np.exp(log_p - log_p.max()).cumsum()
        return draw_index(self._cumulative, self._random())

    def remove(self, token: int) -> None:
        """Take a token out."""
        self._removed.add(token)
        self.log_mass = log_minus(self.log_mass, float(self._log_p[token]))
        if self.log_mass < self._summed - _DIGITS:
            self.log_mass = self._summed = log_sum_array(self._remaining())

    def _remaining(self) -> NDArray[np.float64]:
        log_p = np.array(self._log_p, np.float64)
        log_p[list(self._removed)] = NOTHING
        return log_p


class AWRS(SMC):
    """SMC whose tokens are drawn from the whole row and tested one at a time: no mask, few tests.

    For conditions that are expensive and say only yes or no to one text. At each step tokens are drawn without
    replacement until one passes; it has the masked law. Then tokens are drawn on, the tokens that failed left out and
    the one that passed put back, until one passes again. With r_a the mass of what had not failed after a failures,
    j failures before the first token passed and k failures in all, r_j / (k + 1) is an unbiased estimate of the allowed
    mass. Given what failed, in which order, the token passed after j failures with a probability in proportion to
    1 / r_j; the mean of the estimate over j is 1 / (1/r_0 + ... + 1/r_k), from the same tests, just as unbiased, and of
    no larger variance. So weights and ``statistics.log_z`` are unbiased as those of SMC.

    Args:
        condition: a function (text, is_complete) -> bool beside the constraint, for instance a parser's or checker's
            verdict; a text that is not complete may pass as long as it can still become one that does. None: the
            constraint alone.
        estimate: ``"averaged"``: the mean over j above. ``"paper"``: r_j / (k + 1), as the paper has it.

    Other arguments as `SMC`; without ``twist`` and with ``tokenization="all"``. ``statistics.checks`` counts tests,
    each text is tested once in a run. Where nearly nothing is allowed nearly all tokens are tested: SMC's masks are
    better then.

    Source: Lipkin et al., "Fast Controlled Generation from Language Models with Adaptive Weighted Rejection Sampling"
    (2025).
    """

    def __init__(
        self,
        model: LanguageModel,
        automaton: TokenAutomaton,
        *,
        condition: Callable[[str, bool], bool] | None = None,
        estimate: Estimate = "averaged",
        **options: Any,
    ) -> None:
        """Ask the model for nothing yet."""
        checked_choice("AWRS", "estimate", estimate, ("averaged", "paper"))
        if condition is not None:
            checked_callable("AWRS", "condition as a function", condition, "pass one of (text, is_complete)")
        if options.get("twist") is not None:
            raise ValueError("AWRS: expected no twist: it would need every token's state; use SMC")
        if options.get("tokenization", "all") != "all":
            raise ValueError('AWRS: expected tokenization "all"; use SMC')
        super().__init__(model, automaton, **options)
        self.condition = condition
        self.estimate = estimate
        self._verdicts: dict[tuple[int, ...], bool] = {}
        self._whole: dict[tuple[int, ...], _Whole] = {}
        self._ends = set(self.stop) | set(automaton.vocabulary.eos_token_ids)

    def _run_particles(self) -> list[Any]:
        self._verdicts = {}
        return super()._run_particles()

    def _ask(self, prefixes: list[tuple[int, ...]]) -> dict[tuple[int, ...], Any]:
        missing = [p for p in prefixes if p not in self._whole]
        if missing:
            table = self._rows.log_probs(missing)
            if sum(row.nbytes for row in self._whole.values()) + 16 * table.size > self._rows.cache_bytes:
                self._whole = {p: self._whole[p] for p in prefixes if p in self._whole}
            for prefix, row in zip(missing, table, strict=True):
                log_p = row.astype(np.float64)
                if np.isnan(log_p).any() or log_sum_array(log_p) > 1e-3:
                    raise ValueError(f"AWRS: expected log-probabilities after {prefix}; apply log_softmax to logits")
                stop = log_sum_array(log_p[self._rows.stop])
                log_p[self._rows.stop] = NOTHING
                log_p[self._rows.stop[0]] = stop  # stands for all of them
                self._whole[prefix] = _Whole(log_p)
        self._rows.used_bytes = sum(row.nbytes for row in self._whole.values())
        return {p: self._whole[p] for p in prefixes}

    def _propose(self, tokens: tuple[int, ...], row: Any) -> tuple[int | None, float, float, int, float]:
        left = _Left(row, self._random.random)
        inverse = [-left.log_mass]  # logarithms of 1 / r_a
        chosen = -1
        passed = 0
        log_left = NOTHING  # log of r_j
        while passed < 2:
            token = left.draw()
            if self._passes(tokens, token):
                passed += 1
                if passed == 1:
                    chosen = token  # and put back
                    log_left = left.log_mass
                continue
            left.remove(token)
            if left.log_mass == NOTHING:  # nothing is left that could pass
                return None, NOTHING, NOTHING, -1, 0.0
            inverse.append(-left.log_mass)
        mass = log_left - math.log(len(inverse)) if self.estimate == "paper" else -log_sum_array(np.array(inverse))
        stops = chosen == int(self._rows.stop[0])
        return None if stops else chosen, float(row.log_p[chosen]), mass, -1, 0.0

    def _passes(self, tokens: tuple[int, ...], token: int) -> bool:
        text = (*tokens, token)
        verdict = self._verdicts.get(text)
        if verdict is None:
            verdict = self._verdicts[text] = self._test(tokens, token)
            self._statistics.checks += 1
        return verdict

    def _test(self, tokens: tuple[int, ...], token: int) -> bool:
        stops = token == int(self._rows.stop[0])
        if stops:
            if not self._rows.state(tokens).is_final:
                return False
        elif token in self._ends or not self._rows.allows(tokens, token):
            return False
        if self.condition is None:
            return True
        whole = tokens if stops else (*tokens, token)
        data = b"".join(self.automaton.vocabulary.token_bytes(t) or b"" for t in whole)
        return bool(self.condition(data.decode(errors="ignore"), stops))
