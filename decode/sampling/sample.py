"""Sample and Statistics: what samplers return and report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Sample:
    """A member of the constraint that a sampler drew.

    Attributes:
        tokens: without the stop token.
        text: the bytes of the tokens as UTF-8, U+FFFD for what is none.
        log_p_model: the model's log-probability (natural logarithm) of the tokens and then a stop token, at the
            sampler's temperature.
        log_weight: averages over the samples of one sampler with weights exp(log_weight) tend to those of the exact
            conditional law. 0 where samples need no weights (Enumerate, Rejection, CARS, MetropolisHastings). For
            Masked, ASAp, SMC and AWRS the mean weight of all tries and particles estimates Z, where those that came to
            no member count as 0, as ``statistics.log_z`` counts them. They are not among the samples, whose mean
            weight is larger then and no estimate of Z: for Masked it tends to Z over the share of tries that come to a
            member. AlignedSampler(method="auto") scales weights of particles to a mean of 1.
        exact: drawn from the exact conditional law, independent of the other samples.
    """

    tokens: tuple[int, ...]
    text: str
    log_p_model: float
    log_weight: float
    exact: bool


@dataclass
class Statistics:
    """What a sampler did so far; ``statistics.tries`` and ``statistics["tries"]`` are the same.

    Attributes:
        model_calls: prefixes that the model was asked for.
        model_batches: calls of ``next_log_probs``.
        steps: positions that samples passed; without a prefix cache each would be a model call.
        tries: samples begun, rejected ones included; for SMC and AWRS particles, for MetropolisHastings proposals.
        accepted: proposals that were accepted, for MetropolisHastings.
        checks: texts that were tested, for AWRS.
        samples: samples returned.
        log_z: estimate of log Z, Z the model's probability of the constraint (with a potential of SMC the mean of its
            exponential over what the model writes, 0 outside of the constraint); exact where ``log_z_lower`` and
            ``log_z_upper`` meet. nan as long as nothing is known.
        log_z_error: standard error of ``log_z`` (that of Z relative to Z); nan where it is unknown.
        log_z_lower: a proven bound, -inf without one.
        log_z_upper: a proven bound, 0 without one.
        effective_sample_size: of the samples returned, (sum w)^2 / sum w^2.
        nodes: visited prefixes in the trie, 0 without one.
        trie_bytes: memory of the trie.
        cache_bytes: memory of the prefix cache.
    """

    model_calls: int = 0
    model_batches: int = 0
    steps: int = 0
    tries: int = 0
    accepted: int = 0
    checks: int = 0
    samples: int = 0
    log_z: float = float("nan")
    log_z_error: float = float("nan")
    log_z_lower: float = float("-inf")
    log_z_upper: float = 0.0
    effective_sample_size: float = 0.0
    nodes: int = 0
    trie_bytes: int = 0
    cache_bytes: int = 0

    @property
    def saved_steps(self) -> float:
        """The part of all steps that needed no model call, 0 to 1."""
        return 1 - self.model_calls / self.steps if self.steps else 0.0

    def keys(self) -> Iterator[str]:
        """The names of the figures."""
        return (field.name for field in fields(self))

    def __getitem__(self, name: str) -> float:
        if name not in {field.name for field in fields(self)}:
            raise KeyError(name)
        return getattr(self, name)  # type: ignore[no-any-return]
