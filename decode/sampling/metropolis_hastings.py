"""MetropolisHastings: a walk over members whose limit is the conditional law."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from ..token_automaton import TokenAutomaton
from .log_space import NOTHING, log_add, log_sum
from .model import LanguageModel
from .sample import Sample, Statistics
from .sampler import Sampler

Proposal = Literal["mixed", "uniform", "restart"]
_RESTARTS = {"mixed": 0.5, "uniform": 0.0, "restart": 1.0}


class MetropolisHastings(Sampler):
    """Begin with a masked sample, cut it off somewhere and complete it anew by masking, accept or stay, and so on.

    Every sample is a member whatever the number of steps, and the law comes nearer to the conditional one with each:
    the cut is a uniform place, and the probability of accepting takes every cut into account that leads from one text
    to the other.

    Args:
        steps: proposals before a sample is returned.
        proposal: ``"uniform"``: cut at any token, the end included; ``"restart"``: always propose a whole new text;
            ``"mixed"``: one or the other, each in half of the steps.
        independent: every sample has a walk of its own. False: one walk, with ``steps`` steps between samples; nearer
            to the law with time, but neighbours are alike.

    Other arguments and errors as `Sampler`. ``statistics.tries`` counts proposals and ``accepted`` those accepted;
    samples have no weights (``log_weight`` 0), Z is not estimated.

    Source: Gonzalez et al., "Constrained Sampling for Language Models Should Be Easy: An MCMC Perspective" (2025).
    """

    def __init__(
        self,
        model: LanguageModel,
        automaton: TokenAutomaton,
        *,
        steps: int = 10,
        proposal: Proposal = "mixed",
        independent: bool = True,
        **options: Any,
    ) -> None:
        """Ask the model for nothing yet."""
        super().__init__(model, automaton, **options)
        if steps < 0:
            raise ValueError(f"MetropolisHastings: expected steps >= 0, got {steps}")
        if proposal not in _RESTARTS:
            raise ValueError(f'MetropolisHastings: expected proposal "mixed", "uniform" or "restart", got {proposal!r}')
        self.steps = int(steps)
        self.proposal = proposal
        self._restarts = _RESTARTS[proposal]
        self.independent = bool(independent)
        self._here: _Text | None = None

    def _sample(self, n: int, samples: list[Sample], tell: Callable[[int], None]) -> None:
        for _ in range(n):
            text = None if self.independent else self._here
            text = text or self._completed((), [], [])
            for _ in range(self.steps):
                text = self._step(text)
            self._here = text
            samples.append(self._made(text.tokens, text.log_p, 0.0, False))
            tell(len(samples))

    def _step(self, here: _Text) -> _Text:
        cut = 0
        if self._random.random() >= self._restarts:
            cut = self._random.randrange(len(here.tokens) + 1)
        there = self._completed(here.tokens[:cut], here.edges[:cut], here.masses[:cut])
        self._statistics.tries += 1
        if there.tokens == here.tokens:
            self._statistics.accepted += 1
            return there
        ratio = there.log_p + self._log_way(there, here) - here.log_p - self._log_way(here, there)
        if ratio >= 0 or self._random.random() < math.exp(ratio):
            self._statistics.accepted += 1
            return there
        return here

    def _log_way(self, here: _Text, there: _Text) -> float:
        """Log of the probability of proposing ``there`` at ``here``: over all cuts in what they share."""
        anew = there.log_behind(0)
        if self._restarts == 1:
            return anew
        shared = 0
        for a, b in zip(here.tokens, there.tokens, strict=False):
            if a != b:
                break
            shared += 1
        cuts = log_sum(there.log_behind(cut) for cut in range(shared + 1)) - math.log(len(here.tokens) + 1)
        if not self._restarts:
            return cuts
        return log_add(anew + math.log(self._restarts), cuts + math.log1p(-self._restarts))

    def _completed(self, tokens: tuple[int, ...], edges: list[float], masses: list[float]) -> _Text:
        """A text by masking behind a beginning; into a dead end it goes anew."""
        tries = 0
        while True:
            text, edge_list, mass_list = tokens, list(edges), list(masses)
            while True:
                row = self._row(text)
                self._statistics.steps += 1
                if row.log_mass == NOTHING:
                    break
                token, edge = row.choose(self._random.random)
                edge_list.append(edge)
                mass_list.append(row.log_mass)
                if token is None:
                    return _Text(text, edge_list, mass_list)
                text = (*text, token)
            tries += 1
            if tries > self.max_tries:
                raise self._too_many()

    def _tell(self, known: Statistics) -> None:
        """Z is not estimated."""


class _Text:
    """A member with the log-probability of each token and of the stop, and the allowed masses before them."""

    __slots__ = ("_behind", "edges", "log_p", "masses", "tokens")

    def __init__(self, tokens: tuple[int, ...], edges: list[float], masses: list[float]) -> None:
        self.tokens, self.edges, self.masses = tokens, edges, masses
        self.log_p = math.fsum(edges)
        behind = [0.0]
        for edge, mass in zip(reversed(edges), reversed(masses), strict=True):
            behind.append(behind[-1] + edge - mass)
        self._behind = behind[::-1]

    def log_behind(self, cut: int) -> float:
        """Log of the probability that masking completes the first ``cut`` tokens to this text."""
        return self._behind[cut]
