"""Speculative sampling under a constraint, as a reference: the target's constrained distribution, drafted by another.

Leviathan, Kalman, Matias, "Fast inference from transformers via speculative decoding" (ICML 2023), with the penalties
of a constraint on the draft as well (Koo et al. 2024, §5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .._core import DecodeState
from ..automata.checks import checked_count, checked_flag, checked_method, checked_range, checked_type
from .token_automaton import TokenAutomaton

Floats = npt.NDArray[np.float64]


class Model(Protocol):
    """What samplers ask of a language model."""

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> npt.NDArray[np.floating]:
        """Return the log-probabilities of every next token, float [len(prefixes), V]."""
        ...


@dataclass(frozen=True)
class SpeculativeSample:
    """One text: its tokens, EOS included where it was reached, and its bytes."""

    tokens: tuple[int, ...]
    text: bytes


def constrained_probs(log_probs: npt.NDArray[np.floating], mask: npt.NDArray[np.int32]) -> Floats:
    """Probabilities restricted to a mask and renormalized, float64 [V].

    Args:
        log_probs: float [V or more]; what lies beyond the mask's vocabulary is refused.
        mask: int32 [words], not all zero. Where every allowed token has probability 0 they become equally likely.
    """
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(log_probs)].astype(bool)
    allowed = np.zeros(len(log_probs), bool)
    allowed[: len(bits)] = bits
    values = np.where(allowed, np.asarray(log_probs, np.float64), -np.inf)
    most = values.max()
    if most == -np.inf:
        values, most = np.where(allowed, 0.0, -np.inf), 0.0
    weights: Floats = np.exp(values - most)
    weights /= weights.sum()
    return weights


def residual(target: Floats, draft: Floats) -> Floats:
    """What is left of the target's distribution where it exceeds the draft's: max(0, target - draft), renormalized."""
    left = np.maximum(target - draft, 0.0)
    total = left.sum()
    return left / total if total > 0 else target


def verify(
    target: Sequence[Floats], draft: Sequence[Floats], tokens: Sequence[int], rng: np.random.Generator
) -> tuple[int, int]:
    """Accept a prefix of a draft; return its length and the token after it.

    Whatever the draft's distributions are, the tokens that come out are distributed as the target's (Leviathan et al.,
    theorem 3.5 and algorithm 1): token i is kept with probability min(1, target / draft); at the first one that is not,
    the next token is drawn from the `residual`; after all of them, from the last target distribution.

    Args:
        target: len(tokens) + 1 distributions [V], before each draft token and after the last.
        draft: those that the draft tokens were drawn from, [V] each.
        tokens: the draft.
        rng: where chance comes from.
    """
    for i, token in enumerate(tokens):
        if rng.random() * draft[i][token] >= target[i][token]:
            return i, int(rng.choice(len(target[i]), p=residual(target[i], draft[i])))
    return len(tokens), int(rng.choice(len(target[-1]), p=target[-1]))


class Speculative:
    """Draws texts from the target model masked by a constraint at every token, several tokens a call of the target.

    The draft model proposes ``lookahead`` tokens, the target looks at all of them in one call, and `verify` keeps a
    prefix, so that the samples have exactly the distribution of masking the target alone. With ``constrain_draft`` the
    draft is masked as well, and the masks are shared: the target's are those that the draft was given. Without it a
    draft ends at its first token that the constraint refuses, which is never accepted. The models' rows may be wider
    than the vocabulary or narrower, as models of one family are padded: what is behind it is never drawn, and what a
    row lacks has probability 0.

    Args:
        target: the model to sample from.
        draft: a cheaper one over the same tokens.
        automaton: the constraint over the models' vocabulary.
        lookahead: tokens of a draft, at least 1.
        constrain_draft: whether the draft's distributions are masked.
        max_tokens: every text ends within so many tokens, EOS included (see TokenAutomaton.start).
        seed: of the random numbers.

    Raises:
        TypeError: arguments of other types.
        ValueError: ``lookahead`` below 1.
        BudgetError: no member fits ``max_tokens``.
    """

    def __init__(
        self,
        target: Model,
        draft: Model,
        automaton: TokenAutomaton,
        *,
        lookahead: int = 4,
        constrain_draft: bool = True,
        max_tokens: int | None = None,
        seed: int = 0,
    ) -> None:
        """Check the arguments; nothing is sampled yet."""
        for name, model in (("target", target), ("draft", draft)):
            checked_method("Speculative", f"the {name} as a model", model, "next_log_probs", "see Model")
        remedy = "make one with tokamata.compile(constraint, vocabulary)"
        self.target = target
        self.draft = draft
        self.automaton = checked_type("Speculative", "a TokenAutomaton third", automaton, TokenAutomaton, remedy)
        self.lookahead = checked_range("Speculative", "lookahead", lookahead, 1)
        self.constrain_draft = checked_flag("Speculative", "constrain_draft", constrain_draft)
        self._start = automaton.start(max_tokens)
        self._rng = np.random.default_rng(abs(checked_count("Speculative", "seed", seed)))
        self._everything = np.full(automaton.words, -1, np.int32)
        self.proposed = 0
        self.accepted = 0
        self.target_calls = 0
        self.tokens = 0

    @property
    def statistics(self) -> dict[str, float]:
        """Counts since the beginning: proposed, accepted, acceptance rate, target_calls, tokens, tokens_per_call."""
        return {
            "proposed": self.proposed,
            "accepted": self.accepted,
            "acceptance_rate": self.accepted / max(1, self.proposed),
            "target_calls": self.target_calls,
            "tokens": self.tokens,
            "tokens_per_call": self.tokens / max(1, self.target_calls),
        }

    def sample(self, n: int = 1) -> list[SpeculativeSample]:
        """Draw n texts, independently of each other. Raises ValueError for less than none."""
        n = checked_range("Speculative.sample", "n", n, 0)
        return [self._sample() for _ in range(n)]

    def _sample(self) -> SpeculativeSample:
        state = self._start.copy()
        eos = set(self.automaton.vocabulary.eos_token_ids)
        tokens: list[int] = []
        while not state.is_finished:
            draft, draft_probs, masks = self._propose(state.copy(), tuple(tokens))
            known = int(masks.any(axis=1).sum())  # nothing comes after EOS, or after a token that is refused
            log_probs = self.target.next_log_probs([(*tokens, *draft[:i]) for i in range(known)])
            self.target_calls += 1
            probs = [self._probs(row, mask) for row, mask in zip(log_probs, masks[:known], strict=True)]
            if known == len(draft):
                probs.append(np.eye(1, len(probs[0]))[0])  # whose token is dropped
            accepted, following = verify(probs, draft_probs, draft, self._rng)
            self.proposed += len(draft)
            self.accepted += accepted
            for token in (*draft[:accepted], following):
                if not state.is_finished:
                    state.advance(token)
                    tokens.append(token)
        self.tokens += len(tokens)
        text = b"".join(self.automaton.vocabulary.token_bytes(t) or b"" for t in tokens if t not in eos)
        return SpeculativeSample(tuple(tokens), text)

    def _propose(
        self, ahead: DecodeState, prefix: tuple[int, ...]
    ) -> tuple[list[int], list[Floats], npt.NDArray[np.int32]]:
        """Draft tokens, the distributions they were drawn from, and the constraint's masks [len(tokens) + 1, words].

        The last mask is 0 where the last token is EOS or was refused.
        """
        tokens: list[int] = []
        probs: list[Floats] = []
        masks = [ahead.mask()]
        while len(tokens) < self.lookahead and masks[-1].any():
            (log_probs,) = self.draft.next_log_probs([(*prefix, *tokens)])
            mask = masks[-1] if self.constrain_draft else self._everything
            probs.append(self._probs(log_probs, mask))
            token = int(self._rng.choice(len(probs[-1]), p=probs[-1]))
            tokens.append(token)
            allowed = ahead.allows(token)
            if allowed:
                ahead.advance(token)
            masks.append(ahead.mask() if allowed else np.zeros_like(masks[0]))
        return tokens, probs, np.stack(masks)

    def _probs(self, log_probs: npt.NDArray[np.floating], mask: npt.NDArray[np.int32]) -> Floats:
        """`constrained_probs` over exactly the tokens of the vocabulary, so that those of both models compare."""
        row = np.full(len(self.automaton.vocabulary), -np.inf)
        width = min(len(row), len(log_probs))
        row[:width] = log_probs[:width]
        return constrained_probs(row, mask)
