"""Sampler: what all samplers share."""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import Any, Literal

import numpy as np

from ...automata.checks import (
    checked_choice,
    checked_count,
    checked_number,
    checked_range,
    checked_several,
    checked_type,
    cut,
)
from ...automata.errors import LimitError, UnsupportedError
from ..token_automaton import TokenAutomaton
from .canonical import Canonical
from .log_space import NOTHING, log_add
from .model import LanguageModel, checked_model
from .progress import Progress, progress_of
from .rows import Row, Rows
from .sample import Sample, Statistics

Tokenization = Literal["all", "canonical"]
# A try asks for rows by yielding prefixes, and returns a sample, or None when it was rejected.
Try = Generator["tuple[int, ...]", Row, "Sample | None"]


class Sampler(ABC):
    """Draws members of a constraint from a model; subclasses say how.

    The aim of all of them is the model's own law on condition that the text is a member and ends within ``max_tokens``
    tokens, P(tokens, stop | member). One sampler keeps what it learned (rows of the model, trie, futures) for its next
    samples; it belongs to one model with its prompt, one automaton and one temperature, and to one thread at a time.

    Args:
        model: an object with ``next_log_probs(prefixes) -> float [rows, V]`` (see `LanguageModel`).
        automaton: what `tokamata.compile` returned, for the model's vocabulary.
        stop: ids of the tokens that end a text, several share one probability; they are never text here. None: the
            vocabulary's EOS ids.
        max_tokens: a text and its stop have at most so many tokens; longer members count as none.
        temperature: the model's log-probabilities are divided by it and normalized again, before masks; > 0.
        tokenization: ``"all"``: every token sequence whose text is a member; ``"canonical"``: only those that the
            tokenizer itself makes of their text.
        canonical: a tokenizer, ``encode`` function, `Canonical`, or, to prune prefixes exactly, the tokenizer's
            `tokamata.decode.canonical.BytePairs`, for ``tokenization="canonical"``. None: byte-pair
            merging by token id (`Canonical.by_rank`), right for tiktoken's vocabularies.
        seed: of the random numbers; the same seed and calls give the same samples.
        cache_bytes: memory for rows of the model; past it they are asked for anew.
        max_tries: rejections in a row before LimitError.
        top_k, top_p: refused, because they change the law that is aimed at; wrap the model in `TruncatedModel`.

    Raises:
        BudgetError: no member fits ``max_tokens``; the text names the smallest that works.
        UnsupportedError: ``top_k`` or ``top_p``.
        TypeError: arguments of other types.
        ValueError: a temperature, limit or stop token out of range.
    """

    def __init__(
        self,
        model: LanguageModel,
        automaton: TokenAutomaton,
        *,
        stop: Sequence[int] | int | None = None,
        max_tokens: int = 256,
        temperature: float = 1.0,
        tokenization: Tokenization = "all",
        canonical: Any = None,
        seed: int = 0,
        cache_bytes: int = 1 << 28,
        max_tries: int = 1_000_000,
        top_k: int | None = None,
        top_p: float | None = None,
    ) -> None:
        """Ask the model for nothing yet."""
        name = type(self).__name__
        check_operands(name, model, automaton)
        if top_k is not None or top_p is not None:
            raise UnsupportedError(
                f"{name}: top_k and top_p change the law that is sampled; declare them part of the model: "
                "TruncatedModel(model, top_k=..., top_p=...)"
            )
        if not 0 < checked_number(name, "a temperature", temperature) < math.inf:
            raise ValueError(f"{name}: expected a temperature > 0, got {cut(temperature)}; 1 leaves the model as it is")
        checked_choice(name, "tokenization", tokenization, ("all", "canonical"))
        if canonical is not None and tokenization == "all":
            raise ValueError(f'{name}: canonical needs tokenization="canonical", got tokenization="all"')
        self.model = model
        self.automaton = automaton
        self.stop = _checked_stop(name, automaton.vocabulary.eos_token_ids if stop is None else stop)
        self.max_tokens = checked_count(name, "max_tokens", max_tokens)
        self.temperature = float(temperature)
        self.max_tries = checked_range(name, "max_tries", max_tries, 0)
        self._seed = checked_count(name, "seed", seed)
        self._random = random.Random(self._seed)
        segmentation = None
        if tokenization == "canonical":
            vocabulary = automaton.vocabulary
            segmentation = Canonical.of(canonical, vocabulary) if canonical else Canonical.by_rank(vocabulary)
            segmentation = segmentation.over(automaton)
        room = checked_range(name, "cache_bytes", cache_bytes, 0)
        self._rows = Rows(model, automaton, self.stop, self.max_tokens, self.temperature, segmentation, room)
        self._statistics = Statistics()
        self._weights = RunningWeights()  # of all tries, for log_z
        self._returned = RunningWeights()  # of the samples returned

    def sample(self, n: int = 1, *, progress: Progress = False) -> list[Sample]:
        """Draw n samples.

        Args:
            n: how many.
            progress: True for a bar on standard error (rich, if it is there), or a function (done, total).

        Raises:
            LimitError: more than ``max_tries`` rejections in a row, or a limit of the constraint.
            ConstraintError: what the model returned is no table of log-probabilities.
        """
        name = f"{type(self).__name__}.sample"
        n = checked_range(name, "n", n, 0)
        samples: list[Sample] = []
        with progress_of(progress, n, type(self).__name__) as tell:
            self._sample(n, samples, tell)
        for sample in samples:
            self._returned.add(sample.log_weight)
        self._statistics.samples += len(samples)
        return samples

    def _go_on_from(self, other: Sampler) -> None:
        """Take the rows of a sampler of the same model, and its random numbers, so that none is used by both."""
        self._rows, self._random = other._rows, other._random

    @property
    def statistics(self) -> Statistics:
        """What was done so far, brought up to date."""
        known = self._statistics
        known.model_calls = self._rows.calls
        known.model_batches = self._rows.batches
        known.cache_bytes = self._rows.used_bytes
        known.effective_sample_size = self._returned.effective_size
        self._tell(known)
        return known

    @abstractmethod
    def _sample(self, n: int, samples: list[Sample], tell: Callable[[int], None]) -> None:
        """Append samples, up to n of them."""

    def _tell(self, known: Statistics) -> None:
        """Fill in what the sampler knows of Z."""
        known.log_z, known.log_z_error = self._weights.log_mean, self._weights.relative_error

    def _row(self, prefix: tuple[int, ...]) -> Row:
        return self._rows.ask([prefix])[prefix]

    def _run(
        self, begin: Callable[[], Try], n: int, width: int, samples: list[Sample], tell: Callable[[int], None]
    ) -> None:
        """Run tries, ``width`` side by side, until n were accepted; rows that they wait for come from one call.

        Samples are taken in the order in which tries began: the first to finish would be the shorter ones.
        """
        queue: list[_Running] = []  # in the order of beginning
        refused = 0
        while len(samples) < n:
            while len(queue) < min(width, n - len(samples)):
                self._statistics.tries += 1
                queue.append(_Running(begin()))
            waiting = [t for t in queue if not t.done]
            if waiting:
                rows = self._rows.ask([t.wants for t in waiting if t.wants is not None])
                for running in waiting:
                    running.go_on(rows, self._rows)
            while queue and queue[0].done and len(samples) < n:
                result = queue.pop(0).result
                if result is None:
                    refused += 1
                    if refused > self.max_tries:
                        raise self._too_many()
                else:
                    refused = 0
                    samples.append(result)
                    tell(len(samples))

    def _too_many(self) -> LimitError:
        return LimitError(
            f"{type(self).__name__}: max_tries = {self.max_tries} tries in a row were rejected; raise it, or use a "
            "sampler that learns from them (CARS, ASAp), which also tell when the model gives all members probability "
            "zero"
        )

    def _made(self, tokens: tuple[int, ...], log_p: float, log_weight: float, exact: bool) -> Sample:
        return Sample(tokens, self._rows.text(tokens), log_p, log_weight, exact)


def check_operands(function: str, model: object, automaton: object) -> None:
    """Raise TypeError for what is no automaton or no model."""
    remedy = "make one with tokamata.compile(constraint, vocabulary)"
    checked_type(function, "a TokenAutomaton second", automaton, TokenAutomaton, remedy)
    checked_model(function, "a model first,", model)


class _Running:
    """A try between two rows."""

    __slots__ = ("done", "result", "steps", "wants")

    def __init__(self, steps: Try) -> None:
        self.steps = steps
        self.done = False
        self.wants: tuple[int, ...] | None = None
        self.result: Sample | None = None

    def go_on(self, rows: dict[tuple[int, ...], Row], kept: Rows) -> None:
        """Run until a row is missing."""
        try:
            if self.wants is None:
                self.wants = next(self.steps)
            row = rows.get(self.wants) or kept.get(self.wants)
            while row is not None:
                self.wants = self.steps.send(row)
                row = kept.get(self.wants)
        except StopIteration as end:
            self.done = True
            self.result = end.value


class RunningWeights:
    """Running sums of weights in log space."""

    __slots__ = ("count", "log_squares", "log_total")

    def __init__(self) -> None:
        """None yet."""
        self.count = 0
        self.log_total = NOTHING
        self.log_squares = NOTHING

    def add(self, log_weight: float) -> None:
        """Take one more, by its logarithm."""
        self.count += 1
        self.log_total = log_add(self.log_total, log_weight)
        self.log_squares = log_add(self.log_squares, 2 * log_weight)

    @property
    def log_mean(self) -> float:
        """Log of the mean weight; nan for none."""
        return self.log_total - math.log(self.count) if self.count else math.nan

    @property
    def effective_size(self) -> float:
        """(sum w)^2 / sum w^2; 0 for none."""
        return math.exp(2 * self.log_total - self.log_squares) if self.log_total > NOTHING else 0.0

    @property
    def relative_error(self) -> float:
        """Standard error of the mean over the mean; nan for fewer than two."""
        if self.count < 2 or self.log_total == NOTHING:
            return math.nan
        variance = self.count / self.effective_size - 1
        return math.sqrt(max(variance, 0.0) / (self.count - 1))


def _checked_stop(name: str, stop: Sequence[int] | int) -> list[int]:
    several = [stop] if isinstance(stop, (int, np.integer)) else stop
    listed = checked_several(name, "stop tokens", several, "pass ids, not texts")
    ids = [checked_range(name, "a stop token", i, 0, 2**31 - 1) for i in listed]
    if not ids:
        raise ValueError(f"{name}: expected at least one stop token, got none; leave stop out for the vocabulary's")
    return ids
