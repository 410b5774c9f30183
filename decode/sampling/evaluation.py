"""How near a sampler's law is to the exact one: divergences, expectations, and both against samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...automata.checks import (
    checked_callable,
    checked_count,
    checked_mapping,
    checked_several,
    checked_type,
    cut,
)
from .log_space import NOTHING, log_add, log_sum
from .sample import Sample

Tokens = tuple[int, ...]
Law = Mapping[Tokens, float]  # log-probability of each member
_Key = TypeVar("_Key")
_LAW = "{(5, 7): -0.1}"


def kl_divergence(law: Callable[[Tokens], float] | Law, exact: Law) -> float:
    """KL divergence of a law from the exact one, in nats: the mean under the law of log(law / exact).

    Args:
        law: tokens -> log-probability, for instance ``sampler.log_prob``, or a mapping (what is not in it has none).
        exact: log-probability of every member, for instance of ``Enumerate(...)``: log p - log Z.

    What the law gives to no member at all does not count; it is infinite where the law has a member that the exact one
    gives probability 0.
    """
    of = _law_of("kl_divergence", law)
    checked_mapping("kl_divergence", "exact", exact, _LAW)
    terms = []
    for tokens, log_p in exact.items():
        log_q = of(tokens)
        if log_q > NOTHING:
            if log_p == NOTHING:
                return math.inf
            terms.append(math.exp(log_q) * (log_q - log_p))
    return math.fsum(terms)


def expectation(law: Callable[[Tokens], float] | Law, exact: Law, value: Callable[[Tokens], float]) -> float:
    """The mean of a value of the tokens under a law over the members of ``exact``."""
    of = _law_of("expectation", law)
    checked_mapping("expectation", "exact", exact, _LAW)
    checked_callable("expectation", "value as a function", value, "pass one of the tokens")
    return math.fsum(math.exp(of(tokens)) * value(tokens) for tokens in exact)


def weighted_law(samples: Iterable[Sample]) -> dict[Tokens, float]:
    """Log of the share of each token sequence among samples, weights taken into account."""
    several = checked_several("weighted_law", "samples", samples)
    for sample in several:
        checked_type("weighted_law", "a Sample", sample, Sample, "pass what sampler.sample(n) returned")
    return _shares((s.tokens, s.log_weight) for s in several)


def over_texts(law: Law, text: Callable[[Tokens], Any]) -> dict[Any, float]:
    """The law of the texts: token sequences with one text are taken together."""
    checked_mapping("over_texts", "law", law, _LAW)
    checked_callable("over_texts", "text as a function", text, "pass one of the tokens")
    return _shares((text(tokens), log_p) for tokens, log_p in law.items())


@dataclass(frozen=True)
class Curve:
    """Divergence and expectation after numbers of samples, a row for each seed.

    Attributes:
        marks: int [m], samples drawn before.
        kl: float [seeds, m], nats.
        expectation: float [seeds, m], of the exact conditional probability of a sample.
        model_calls: int [seeds, m].
    """

    marks: NDArray[np.int64]
    kl: NDArray[np.float64]
    expectation: NDArray[np.float64]
    model_calls: NDArray[np.int64]


def learning_curve(
    sampler: Callable[[int], Any], exact: Law, marks: Sequence[int], seeds: Iterable[int] = range(20)
) -> Curve:
    """Draw samples and look at the law of the next one (``log_prob``) after each number of them.

    Args:
        sampler: seed -> a fresh sampler with ``sample`` and ``log_prob``.
        exact: log-probability of every member.
        marks: numbers of samples, ascending; 0 is the law before the first.
        seeds: one row for each.

    Raises TypeError for arguments of other types, ValueError for marks that do not rise.

    Complexity: ``log_prob`` of every member at every mark.
    """
    checked_callable("learning_curve", "sampler as a function", sampler, "pass one of the seed")
    checked_mapping("learning_curve", "exact", exact, _LAW)
    marks = [
        checked_count("learning_curve", "a mark", mark) for mark in checked_several("learning_curve", "marks", marks)
    ]
    seeds = checked_several("learning_curve", "seeds", seeds)
    if not marks or sorted(marks) != marks or marks[0] < 0:
        raise ValueError(f"learning_curve: expected marks that rise from 0 or more, got {cut(marks)}; sort them")
    kls, means, calls = [], [], []
    for seed in seeds:
        one = sampler(seed)
        drawn = 0
        for mark in marks:
            one.sample(mark - drawn)
            drawn = mark
            law = {tokens: one.log_prob(tokens) for tokens in exact}
            kls.append(kl_divergence(law, exact))
            means.append(expectation(law, exact, lambda tokens: math.exp(exact[tokens])))
            calls.append(one.statistics.model_calls)
    shape = (-1, len(marks))
    return Curve(
        np.array(marks, np.int64),
        np.array(kls).reshape(shape),
        np.array(means).reshape(shape),
        np.array(calls, np.int64).reshape(shape),
    )


def _law_of(function: str, law: Callable[[Tokens], float] | Law) -> Callable[[Tokens], float]:
    """A law as a function."""
    if callable(law):
        return law
    known: Law = checked_mapping(function, "law", law, _LAW)
    return lambda tokens: known.get(tokens, NOTHING)


def _shares(pairs: Iterable[tuple[_Key, float]]) -> dict[_Key, float]:
    mass: dict[_Key, float] = {}
    for key, log_weight in pairs:
        mass[key] = log_add(mass.get(key, NOTHING), log_weight)
    total = log_sum(mass.values())
    return {key: m - total for key, m in mass.items() if m > NOTHING}
