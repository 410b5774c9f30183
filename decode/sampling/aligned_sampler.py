"""AlignedSampler: chooses the sampler."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

from ...automata.checks import checked_choice, checked_range
from ...automata.errors import LimitError
from ..token_automaton import TokenAutomaton
from .asap import ASAp
from .awrs import AWRS
from .cars import CARS
from .enumeration import Enumerate
from .log_space import log_sum
from .masked import Masked
from .metropolis_hastings import MetropolisHastings
from .model import LanguageModel
from .progress import Progress, progress_of
from .rejection import Rejection
from .sample import Sample, Statistics
from .sampler import RunningWeights, Sampler, check_operands
from .smc import SMC

Method = Literal["auto", "enumerate", "masked", "rejection", "asap", "cars", "smc", "awrs", "metropolis_hastings"]
_METHODS: dict[str, type[Sampler]] = {
    "enumerate": Enumerate,
    "masked": Masked,
    "rejection": Rejection,
    "asap": ASAp,
    "cars": CARS,
    "smc": SMC,
    "awrs": AWRS,
    "metropolis_hastings": MetropolisHastings,
}
_FEW = 256  # prefixes that "auto" enumerates


class AlignedSampler:
    """The sampler of the chosen method; ``"auto"`` looks for the best law that it can afford.

    ``"auto"`` counts prefixes of members first, without the model: up to ``max_prefixes`` it enumerates them, exactly.
    Else it draws by CARS, exactly as well, until ``patience`` tries in a row were rejected; from then on by SMC with
    futures of states as its twist, whose samples have weights (``sample.exact`` and ``sampler.method`` tell). These
    weights are divided by the mean weight of the first of them, so that samples from before and after weigh alike and
    may be averaged over together. What was learned of the model is kept.

    Args:
        method: ``"auto"``, ``"enumerate"``, ``"masked"``, ``"rejection"``, ``"asap"``, ``"cars"``, ``"smc"``,
            ``"awrs"`` or ``"metropolis_hastings"``.
        max_prefixes: of ``"auto"``, None: 256; of ``"enumerate"``, None: that of `Enumerate`. Each takes a model call.
        patience: of ``"auto"``.

    Other arguments are those of the method's sampler, for ``"auto"`` those of `Sampler`.
    """

    def __init__(
        self,
        model: LanguageModel,
        automaton: TokenAutomaton,
        *,
        method: Method = "auto",
        max_prefixes: int | None = None,
        patience: int = 200,
        **options: Any,
    ) -> None:
        """Ask the model for nothing yet."""
        check_operands("AlignedSampler", model, automaton)
        checked_choice("AlignedSampler", "a method", method, ("auto", *_METHODS))
        patience = checked_range("AlignedSampler", "patience", patience, 0)
        if max_prefixes is not None:
            max_prefixes = checked_range("AlignedSampler", "max_prefixes", max_prefixes, 0)
        self.model, self.automaton = model, automaton
        self._is_auto = method == "auto"
        self._options = dict(options)
        self._log_scale: float | None = None  # of particles' weights
        self._returned = RunningWeights()
        self._sampler: Sampler
        if self._is_auto:
            cars = self._made(CARS, {**options, "max_tries": patience})
            most = _FEW if max_prefixes is None else max_prefixes
            small = _has_few_prefixes(cars, most)
            self._sampler = self._made_from(Enumerate, cars, max_prefixes=most) if small else cars
        else:
            if method == "enumerate" and max_prefixes is not None:
                options["max_prefixes"] = max_prefixes
            self._sampler = self._made(_METHODS[method], options)

    @property
    def method(self) -> str:
        """What samples are drawn by now."""
        return next(name for name, kind in _METHODS.items() if type(self._sampler) is kind)

    @property
    def sampler(self) -> Sampler:
        """The sampler in use."""
        return self._sampler

    @property
    def statistics(self) -> Statistics:
        """Those of the sampler in use; model calls, samples and their effective size are those of all of them."""
        known = self._sampler.statistics
        return replace(known, samples=self._returned.count, effective_sample_size=self._returned.effective_size)

    def sample(self, n: int = 1, *, progress: Progress = False) -> list[Sample]:
        """Draw n samples, as `Sampler.sample`; samples of two methods where ``"auto"`` changes over."""
        n = checked_range("AlignedSampler.sample", "n", n, 0)
        if self._is_auto and isinstance(self._sampler, CARS):
            samples = self._drawn_by_turns(n, progress)
        else:
            samples = self._on_one_scale(self._sampler.sample(n, progress=progress))
        for sample in samples:
            self._returned.add(sample.log_weight)
        return samples

    def _drawn_by_turns(self, n: int, progress: Progress) -> list[Sample]:
        """Samples of CARS, and from where it rejects too much on of particles."""
        samples: list[Sample] = []
        with progress_of(progress, n, "AlignedSampler") as tell:
            while len(samples) < n:
                try:
                    samples += self._sampler.sample(1)
                except LimitError as error:
                    if "max_tries" not in str(error):
                        raise
                    self._sampler = self._made_from(SMC, self._sampler, twist="state")
                    done = len(samples)
                    more = self._sampler.sample(n - done, progress=lambda new, _: tell(done + new))  # noqa: B023
                    samples += self._on_one_scale(more)
                tell(len(samples))
        return samples

    def _on_one_scale(self, samples: list[Sample]) -> list[Sample]:
        """Samples whose weights are about 1 on average, as those of exact samples are, where methods change."""
        if not (self._is_auto and isinstance(self._sampler, SMC) and samples):
            return samples
        if self._log_scale is None:
            self._log_scale = log_sum(s.log_weight for s in samples) - math.log(len(samples))
        return [replace(s, log_weight=s.log_weight - self._log_scale) for s in samples]

    def _made_from(self, kind: type[Sampler], other: Sampler, **more: Any) -> Sampler:
        made = self._made(kind, {**self._options, **more})
        made._go_on_from(other)
        return made

    def _made(self, kind: type[Sampler], options: dict[str, Any]) -> Sampler:
        """One of a method; errors about options name this class, to which they were given."""
        try:
            return kind(self.model, self.automaton, **options)
        except (TypeError, ValueError) as error:
            names = (f"{kind.__name__}: ", *(f"{base.__name__}.__init__() " for base in kind.__mro__))
            for name in names:
                if str(error).startswith(name):
                    error.args = (f"AlignedSampler: {str(error)[len(name) :]}",)
            raise


def _has_few_prefixes(sampler: Sampler, limit: int) -> bool:
    """Whether at most so many prefixes are allowed, told by masks alone."""
    stack: list[tuple[int, ...]] = [()]
    seen = 1
    while stack:
        prefix = stack.pop()
        ids = sampler._rows.allowed(prefix)
        seen += len(ids)
        if seen > limit:
            return False
        stack += [(*prefix, int(t)) for t in ids]
    return True
