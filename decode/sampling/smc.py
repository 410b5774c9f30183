"""SMC: sequential Monte Carlo over texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...automata.checks import checked_callable, checked_number, checked_range, cut
from ...automata.errors import LimitError
from ..token_automaton import TokenAutomaton
from .futures import StateFutures
from .log_space import NOTHING, effective_size, log_sum, log_sum_array
from .model import LanguageModel
from .rows import Row, draw_index
from .sample import Sample
from .sampler import Sampler

Twist = Literal["state"]
# Scores a text, complete or not, with the logarithm of a factor; -inf forbids it.
Potential = Callable[[str, bool], float]

_MOST_PARTICLES = 1_000_000
_HOPELESS = -8.0  # what is learned of a state from which no particle of a run came to an end


class Particle:
    """A text on its way: tokens, the model's log-probability, the weight, and what it passed."""

    __slots__ = ("done", "factors", "labels", "log_p", "log_weight", "score", "tokens", "twist")

    def __init__(self) -> None:
        """Begin at the prompt."""
        self.tokens: tuple[int, ...] = ()
        self.log_p = 0.0
        self.log_weight = 0.0
        self.done = False
        self.twist = 0.0  # log of the estimated future at this place
        self.score = 0.0  # of the potential
        self.labels: list[tuple[int, float]] = []  # classes passed, with their twists
        self.factors: list[float] = []  # log of what the weight was multiplied by at each step

    def copy(self) -> Particle:
        """An independent copy."""
        other = Particle()
        other.tokens, other.log_p, other.log_weight = self.tokens, self.log_p, self.log_weight
        other.done, other.twist, other.score = self.done, self.twist, self.score
        other.labels, other.factors = list(self.labels), list(self.factors)
        return other


class SMC(Sampler):
    """Particles grow side by side by masked tokens; those whose beginnings the constraint starves are replaced.

    A particle's weight is the product of the allowed masses that it passed, so weighted particles stand for the
    conditional law, the better the more there are, and the mean weight of a run, in which dead particles count as
    0, is an unbiased estimate of Z. When the effective sample size falls below ``threshold`` times the particles,
    they are drawn anew in proportion to their weights (systematic resampling).

    ``sample(n)`` makes runs until it has n; all particles of a run that came to a member are returned, with their
    weights: take the weights into account. Of a last run that is not needed whole, particles are drawn in
    proportion to their weights.

    Args:
        particles: of a run, at most a million.
        twist: ``"state"``: particles prefer tokens by the future of the state they lead to, as earlier runs saw it
            (`StateFutures`); weights correct whatever is wrong with it. None: by the model alone.
        potential: a function (text, is_complete) -> log of a factor; the law that is aimed at is then the model's times
            exp(potential of the complete text), on condition of the constraint. Texts that are not complete are scored
            to steer, their scores cancel; -inf gives one up. Text that ends inside a character is scored without its
            last bytes. Asked once for each text of a run.
        threshold: 0 never resamples, 1 always.

    Other arguments and errors as `Sampler`. ``statistics.log_z`` and its error are those of the runs.

    Source: Lew, Zhi-Xuan, Grand, Mansinghka, "Sequential Monte Carlo Steering of Large Language Models" (2023); Loula
    et al., "Syntactic and Semantic Control of Large Language Models via Sequential Monte Carlo" (2025).
    """

    def __init__(
        self,
        model: LanguageModel,
        automaton: TokenAutomaton,
        *,
        particles: int = 16,
        twist: Twist | None = None,
        potential: Potential | None = None,
        threshold: float = 0.5,
        **options: Any,
    ) -> None:
        """Ask the model for nothing yet."""
        super().__init__(model, automaton, **options)
        name = type(self).__name__
        self.particles = checked_range(name, "particles", particles, 1, _MOST_PARTICLES)
        if twist is not None and (not isinstance(twist, str) or twist != "state"):
            raise ValueError(f'{name}: expected twist None or "state", got {cut(twist)}; pass one of them')
        if potential is not None:
            checked_callable(name, "potential as a function", potential, "pass one of (text, is_complete)")
        if not 0 <= checked_number(name, "threshold", threshold) <= 1:
            raise ValueError(f"{name}: expected threshold from 0 to 1, got {cut(threshold)}; pass one between them")
        self.twist = twist
        self.potential = potential
        self.threshold = float(threshold)
        self._rng = np.random.default_rng(abs(self._seed))
        self._futures = StateFutures(self._rows) if twist == "state" else None
        self._scores: dict[tuple[str, bool], float] = {}

    def _go_on_from(self, other: Sampler) -> None:
        super()._go_on_from(other)
        if self._futures is not None:
            self._futures._rows = self._rows

    def _sample(self, n: int, samples: list[Sample], tell: Callable[[int], None]) -> None:
        lost = 0
        while len(samples) < n:
            found = self._run_particles()
            alive = [p for p in found if p.log_weight > NOTHING]
            lost = 0 if alive else lost + len(found)
            if lost > self.max_tries:
                raise self._too_many()
            wanted = n - len(samples)
            # Whether a run is needed whole must not depend on how many of its particles live: all runs count alike.
            if alive and wanted < len(found):
                weights = np.array([p.log_weight for p in alive])
                mean = log_sum_array(weights) - math.log(len(found))
                alive = [alive[i] for i in self._resampled(weights, wanted)]
                samples += [self._made(p.tokens, p.log_p, mean, False) for p in alive]
            else:
                samples += [self._made(p.tokens, p.log_p, p.log_weight, False) for p in alive]
            tell(len(samples))

    def _too_many(self) -> LimitError:
        return LimitError(
            f"{type(self).__name__}: max_tries = {self.max_tries} particles in a row came to no member of positive "
            "weight; raise it, check what forbids texts (potential, condition), or let CARS tell whether the model "
            "gives all members probability zero"
        )

    def _run_particles(self) -> list[Particle]:
        """One run: all particles at their ends, dead ones with weight -inf."""
        self._scores = {}
        found = [Particle() for _ in range(self.particles)]
        self._statistics.tries += len(found)
        while going := [p for p in found if not p.done]:
            rows = self._ask(list(dict.fromkeys(p.tokens for p in going)))
            for particle in going:
                self._statistics.steps += 1
                self._grow(particle, rows[particle.tokens])
            weights = np.array([p.log_weight for p in found])
            total = log_sum_array(weights)
            if total == NOTHING:
                break
            if effective_size(weights) < self.threshold * len(found):
                found = [found[i].copy() for i in self._resampled(weights, len(found))]
                for particle in found:
                    particle.log_weight = total - math.log(len(found))
        weights = np.array([p.log_weight for p in found])
        self._weights.add(log_sum_array(weights) - math.log(len(found)))
        if self._futures is not None:
            self._learn(found)
        return found

    def _ask(self, prefixes: list[tuple[int, ...]]) -> dict[tuple[int, ...], Any]:
        return self._rows.ask(prefixes)

    def _grow(self, particle: Particle, row: Any) -> None:
        """Add a token or the stop, and weigh."""
        token, log_p, log_mass, label, twist = self._propose(particle.tokens, row)
        factor = log_mass - particle.twist
        particle.labels.append((label, particle.twist))
        if log_mass > NOTHING:
            particle.log_p += log_p
            particle.twist = twist
            if token is None:
                particle.done = True
            else:
                particle.tokens = (*particle.tokens, token)
            if self.potential is not None:
                score = self._score(particle)
                factor += score - particle.score if score > NOTHING else NOTHING
                particle.score = score
        particle.factors.append(factor)
        particle.log_weight += factor
        if particle.log_weight == NOTHING:
            particle.done = True

    def _propose(self, tokens: tuple[int, ...], row: Row) -> tuple[int | None, float, float, int, float]:
        """Draw (token or None, its log-probability, log of the mass drawn from, class here, twist behind the token)."""
        if self._futures is None:
            if row.log_mass == NOTHING:
                return None, NOTHING, NOTHING, -1, 0.0
            token, log_p = row.choose(self._random.random)
            return token, log_p, row.log_mass, -1, 0.0
        label = self._futures.label(tokens)
        behind = self._futures.behind(tokens, row)
        weights = np.append(row.log_p + behind, row.log_stop)
        mass = log_sum_array(weights)
        if mass == NOTHING:
            return None, NOTHING, NOTHING, label, 0.0
        at = draw_index(np.exp(weights - weights.max()).cumsum(), self._random.random())
        if at == len(row.ids):
            return None, row.log_stop, mass, label, 0.0
        return int(row.ids[at]), float(row.log_p[at]), mass, label, float(behind[at])

    def _score(self, particle: Particle) -> float:
        assert self.potential is not None
        data = b"".join(self.automaton.vocabulary.token_bytes(t) or b"" for t in particle.tokens)
        key = (data.decode(errors="ignore"), particle.done)
        if key not in self._scores:
            given = self.potential(*key)
            try:
                score = float(given)
            except (TypeError, ValueError):
                score = math.nan
            if math.isnan(score) or score == math.inf:
                raise ValueError(
                    f"{type(self).__name__}: expected a number or -inf from the potential, got {cut(given)}; "
                    "return the log of a factor"
                )
            self._scores[key] = score
        return self._scores[key]

    def _resampled(self, log_weights: NDArray[np.float64], n: int) -> list[int]:
        """Draw n indices in proportion to weights, systematically."""
        cumulative = np.exp(log_weights - log_weights.max()).cumsum()
        places = (np.arange(n) + self._random.random()) / n
        return [draw_index(cumulative, float(u)) for u in places]

    def _learn(self, found: list[Particle]) -> None:
        """Tell each state passed what followed: the product of the later factors estimates the mass behind it.

        Within a run the estimates of a class are averaged, those of particles that died included.
        """
        assert self._futures is not None
        seen: dict[int, dict[tuple[int, ...], float]] = {}
        for particle in found:
            future = 0.0
            for at in range(len(particle.factors) - 1, -1, -1):
                label, twist = particle.labels[at]
                future += particle.factors[at]
                seen.setdefault(label, {}).setdefault(particle.tokens[:at], future + twist)
        for label, futures in seen.items():
            mean = log_sum(futures.values()) - math.log(len(futures))
            self._futures.observe(label, max(mean, _HOPELESS))
