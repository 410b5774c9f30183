"""MetropolisHastings: a walk over members whose limit is the conditional law."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ...automata.checks import checked_choice, checked_flag, checked_range
from ..token_automaton import TokenAutomaton
from .log_space import NOTHING, log_add, log_sum
from .model import LanguageModel
from .sample import Sample, Statistics
from .sampler import Sampler
from .smc import SMC

Proposal = Literal["mixed", "uniform", "restart", "smc"]
_RESTARTS = {"mixed": 0.5, "uniform": 0.0, "restart": 1.0, "smc": 1.0}


class MetropolisHastings(Sampler):
    """Begin with a masked sample, cut it off somewhere and complete it anew by masking, accept or stay, and so on.

    Every sample is a member whatever the number of steps, and the law comes nearer to the conditional one with each:
    the cut is a uniform place, and the probability of accepting takes every cut into account that leads from one text
    to the other. A completion that runs into a dead end is refused.

    Args:
        steps: proposals before a sample is returned.
        proposal: ``"uniform"``: cut at any token, the end included; ``"restart"``: always propose a whole new text;
            ``"mixed"``: one or the other, each in half of the steps; ``"smc"``: propose a text from a run of `SMC`, and
            accept by the ratio of the two runs' estimates of Z (particle independent Metropolis-Hastings). Where
            masking seldom writes what the model means, as with deep terms, walks that complete one text at a time stay
            for long where they are; runs of particles seldom come to such places.
        particles: of a run of ``"smc"``; one particle is ``"restart"``.
        independent: every sample has a walk of its own. False: one walk, with ``steps`` steps between samples; nearer
            to the law with time, but neighbours are alike.

    Other arguments and errors as `Sampler`. ``statistics.tries`` counts proposals and ``accepted`` those accepted;
    samples have no weights (``log_weight`` 0); whole new texts estimate Z on the way.

    Source: Gonzalez et al., "Constrained Sampling for Language Models Should Be Easy: An MCMC Perspective" (2025);
    Andrieu, Doucet, Holenstein, "Particle Markov chain Monte Carlo methods" (2010), section 2.4.2.
    """

    def __init__(
        self,
        model: LanguageModel,
        automaton: TokenAutomaton,
        *,
        steps: int = 10,
        proposal: Proposal = "mixed",
        particles: int = 16,
        independent: bool = True,
        **options: Any,
    ) -> None:
        """Ask the model for nothing yet."""
        super().__init__(model, automaton, **options)
        self.steps = checked_range("MetropolisHastings", "steps", steps, 0)
        self.proposal = checked_choice("MetropolisHastings", "a proposal", proposal, _RESTARTS)
        self._restarts = _RESTARTS[proposal]
        self.independent = checked_flag("MetropolisHastings", "independent", independent)
        self._here: _Text | None = None
        self._runs: SMC | None = None
        if proposal == "smc":
            self._runs = SMC(model, automaton, particles=particles, **options)
            self._runs._go_on_from(self)

    def _sample(self, n: int, samples: list[Sample], tell: Callable[[int], None]) -> None:
        for _ in range(n):
            text = None if self.independent else self._here
            text = text or self._anew()
            for _ in range(self.steps):
                text = self._step(text)
            self._here = text
            samples.append(self._made(text.tokens, text.log_p, 0.0, False))
            tell(len(samples))

    def _step(self, here: _Text) -> _Text:
        cut = 0
        if self._random.random() >= self._restarts:
            cut = self._random.randrange(len(here.tokens) + 1)
        # Whole new texts die alike wherever the walk is, so they may be made until one lives. Behind a cut that would
        # favour the ways that die often: what runs into a dead end is refused.
        there = self._anew() if self._restarts == 1 else self._completed(here, cut)
        self._statistics.tries += 1
        if there is None:
            return here
        if self._restarts == 1:
            ratio = there.log_weight - here.log_weight
        else:
            ratio = there.log_p + self._log_way(there, here) - here.log_p - self._log_way(here, there)
        if ratio >= 0 or self._random.random() < math.exp(ratio):
            self._statistics.accepted += 1
            return there
        return here

    def _log_way(self, here: _Text, there: _Text) -> float:
        """Log of the probability of proposing ``there`` at ``here``: over all cuts in what they share."""
        anew = there.log_behind(0)
        shared = 0
        for a, b in zip(here.tokens, there.tokens, strict=False):
            if a != b:
                break
            shared += 1
        cuts = log_sum(there.log_behind(cut) for cut in range(shared + 1)) - math.log(len(here.tokens) + 1)
        if not self._restarts:
            return cuts
        return log_add(anew + math.log(self._restarts), cuts + math.log1p(-self._restarts))

    def _anew(self) -> _Text:
        """A whole new text, with its weight."""
        if self._runs is None:
            nothing = _Text((), [], [], 0.0)
            for _ in range(self.max_tries + 1):
                made = self._completed(nothing, 0)
                if made is not None:
                    return made
            raise self._too_many()
        runs = self._runs
        for _ in range(self.max_tries + 1):
            found = [p for p in runs._run_particles() if p.log_weight > NOTHING]
            if found:
                (at,) = runs._resampled(np.array([p.log_weight for p in found]), 1)
                log_weight = log_sum(p.log_weight for p in found) - math.log(runs.particles)
                return _Text(found[at].tokens, [found[at].log_p], [0.0], log_weight)
        raise self._too_many()

    def _completed(self, here: _Text, cut: int) -> _Text | None:
        """A text by masking behind the first tokens of another, None where it runs into a dead end."""
        text, edges, masses = here.tokens[:cut], here.edges[:cut], here.masses[:cut]
        while True:
            row = self._row(text)
            self._statistics.steps += 1
            if row.log_mass == NOTHING:
                if not cut:
                    self._weights.add(NOTHING)
                return None
            token, edge = row.choose(self._random.random)
            edges.append(edge)
            masses.append(row.log_mass)
            if token is None:
                made = _Text(text, edges, masses, math.fsum(masses))
                if not cut:
                    self._weights.add(made.log_weight)
                return made
            text = (*text, token)

    def _tell(self, known: Statistics) -> None:
        """Take what runs of particles did as well."""
        super()._tell(known)
        if self._runs is not None:
            self._runs._tell(known)
            known.steps = self._runs._statistics.steps


class _Text:
    """A member with the log-probability of each token and of the stop, and the allowed masses before them.

    Its weight: of masking, or the estimate of Z of the run that it is from.
    """

    __slots__ = ("_behind", "edges", "log_p", "log_weight", "masses", "tokens")

    def __init__(self, tokens: tuple[int, ...], edges: list[float], masses: list[float], log_weight: float) -> None:
        self.tokens, self.edges, self.masses, self.log_weight = tokens, edges, masses, log_weight
        self.log_p = math.fsum(edges)
        behind = [0.0]
        for edge, mass in zip(reversed(edges), reversed(masses), strict=True):
            behind.append(behind[-1] + edge - mass)
        self._behind = behind[::-1]

    def log_behind(self, cut: int) -> float:
        """Log of the probability that masking completes the first ``cut`` tokens to this text."""
        return self._behind[cut]
