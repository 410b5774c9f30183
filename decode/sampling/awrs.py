"""AWRS: adaptive weighted rejection sampling of tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..token_automaton import TokenAutomaton
from .log_space import NOTHING, log_minus, log_sum_array
from .model import LanguageModel
from .smc import SMC

_DIGITS = math.log(1e4)  # what a running difference may lose before it is summed anew
_AHEAD = 64  # tokens put in order at a time


class AWRS(SMC):
    """SMC whose tokens are drawn from the whole row and tested one at a time: no mask, few tests.

    For conditions that are expensive and say only yes or no to one text. At each step tokens are drawn without
    replacement until one passes; it has the masked law. Then tokens are drawn on, the tokens that failed left out and
    the one that passed put back, until one passes again: with r_a the mass of what had not failed after a failures and
    k failures in all, 1 / (1/r_0 + ... + 1/r_k) is an unbiased estimate of the allowed mass (the conditional
    probability, given the failures, that the very first draw passes). So weights and ``statistics.log_z`` are unbiased
    as those of SMC.

    Args:
        condition: a function (text, is_complete) -> bool beside the constraint, for instance a parser's or checker's
            verdict; a text that is not complete may pass as long as it can still become one that does. None: the
            constraint alone.

    Other arguments as `SMC`; without ``twist`` and with ``tokenization="all"``. ``statistics.checks`` counts tests,
    each text is tested once in a run. Where nearly nothing is allowed nearly all tokens are tested: SMC's masks are
    better then.

    Source: Lipkin et al., "Fast Controlled Generation from Language Models with Adaptive Weighted Rejection Sampling"
    (2025); the estimate is the one above.
    """

    def __init__(
        self,
        model: LanguageModel,
        automaton: TokenAutomaton,
        *,
        condition: Callable[[str, bool], bool] | None = None,
        **options: Any,
    ) -> None:
        """Ask the model for nothing yet."""
        if options.get("twist") is not None:
            raise ValueError("AWRS: expected no twist: it would need every token's state; use SMC")
        if options.get("tokenization", "all") != "all":
            raise ValueError('AWRS: expected tokenization "all"; use SMC')
        super().__init__(model, automaton, **options)
        self.condition = condition
        self._verdicts: dict[tuple[int, ...], bool] = {}
        self._whole: dict[tuple[int, ...], NDArray[np.float64]] = {}
        self._ends = set(self.stop) | set(automaton.vocabulary.eos_token_ids)

    def _run_particles(self) -> list[Any]:
        self._verdicts = {}
        return super()._run_particles()

    def _ask(self, prefixes: list[tuple[int, ...]]) -> dict[tuple[int, ...], Any]:
        missing = [p for p in prefixes if p not in self._whole]
        if missing:
            table = self._rows.log_probs(missing)
            if sum(row.nbytes for row in self._whole.values()) + 8 * table.size > self._rows.cache_bytes:
                self._whole = {p: self._whole[p] for p in prefixes if p in self._whole}
            for prefix, row in zip(missing, table, strict=True):
                log_p = row.astype(np.float64)
                if np.isnan(log_p).any() or log_sum_array(log_p) > 1e-3:
                    raise ValueError(f"AWRS: expected log-probabilities after {prefix}; apply log_softmax to logits")
                stop = log_sum_array(log_p[self._rows.stop])
                log_p[self._rows.stop] = NOTHING
                log_p[self._rows.stop[0]] = stop  # stands for all of them
                self._whole[prefix] = log_p
        self._rows.used_bytes = sum(row.nbytes for row in self._whole.values())
        return {p: self._whole[p] for p in prefixes}

    def _propose(self, tokens: tuple[int, ...], row: Any) -> tuple[int | None, float, float, int, float]:
        left = row.copy()
        rest = base = log_sum_array(left)
        inverse = [-rest]  # logarithms of 1 / r_a
        chosen = -1
        passed = 0
        order: list[int] = []
        while passed < 2:
            if not order:
                order = self._in_order(left)
                if not order:  # nothing is left that could pass
                    return None, NOTHING, NOTHING, -1, 0.0
            token = order.pop()
            if self._passes(tokens, token):
                passed += 1
                if passed == 1:
                    chosen = token
                order = []  # put back: the next draw is from all that have not failed
                continue
            rest = log_minus(rest, left[token])
            left[token] = NOTHING
            if rest < base - _DIGITS:
                rest = base = log_sum_array(left)
            if rest == NOTHING:
                return None, NOTHING, NOTHING, -1, 0.0
            inverse.append(-rest)
        mass = -log_sum_array(np.array(inverse))
        stops = chosen == int(self._rows.stop[0])
        return None if stops else chosen, float(row[chosen]), mass, -1, 0.0

    def _in_order(self, left: NDArray[np.float64]) -> list[int]:
        """Tokens in the order of drawing without replacement, the first last; not all of them."""
        possible = np.flatnonzero(left > NOTHING)
        keys = left[possible] + self._rng.gumbel(size=len(possible))
        if len(keys) > _AHEAD:
            likely = np.argpartition(-keys, _AHEAD)[:_AHEAD]
            possible, keys = possible[likely], keys[likely]
        return [int(t) for t in possible[np.argsort(keys)]]

    def _passes(self, tokens: tuple[int, ...], token: int) -> bool:
        text = (*tokens, token)
        verdict = self._verdicts.get(text)
        if verdict is None:
            verdict = self._verdicts[text] = self._test(tokens, token)
            self._statistics.checks += 1
        return verdict

    def _test(self, tokens: tuple[int, ...], token: int) -> bool:
        state = self._rows.state(tokens)
        stops = token == int(self._rows.stop[0])
        if stops:
            if not state.is_final:
                return False
        elif token in self._ends or not state.allows(token):
            return False
        if self.condition is None:
            return True
        whole = tokens if stops else (*tokens, token)
        data = b"".join(self.automaton.vocabulary.token_bytes(t) or b"" for t in whole)
        return bool(self.condition(data.decode(errors="ignore"), stops))
