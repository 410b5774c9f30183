"""Arguments that make no sense, of samplers and of what measures them: taken, or an error that names the call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokamata.decode.sampling as s

import tokamata

VOCABULARY = tokamata.Vocabulary([None, b"a", b"b", b"ab"], eos_token_ids=[0])
AUTOMATON = tokamata.compile(tokamata.regex("[ab]{1,2}"), VOCABULARY)


class Even:
    """A model that finds all tokens equally likely."""

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
        return np.full((len(prefixes), len(VOCABULARY)), -np.log(len(VOCABULARY)))


EVEN = Even()
LAW = {(1,): 0.0}


def made(name: str, **options: Any) -> Any:
    return getattr(s, name)(EVEN, AUTOMATON, **{"max_tokens": 4, **options})


def few(odd: Any) -> Any:
    """A number of samples."""
    return -1 if isinstance(odd, int) and odd > 9 else odd


OF_ALL = ("model", "automaton", "stop", "max_tokens", "temperature", "tokenization", "seed", "cache_bytes", "max_tries")
OPTIONS = {
    "Masked": OF_ALL,
    "ASAp": ("leaf", "explore", "batch"),
    "SMC": ("particles", "twist", "potential", "threshold", "seed"),
    "AWRS": ("condition", "estimate"),
    "MetropolisHastings": ("steps", "proposal", "independent"),
    "Enumerate": ("max_prefixes",),
    "AlignedSampler": ("model", "automaton", "method", "max_prefixes", "patience"),
}


def call_of(name: str, option: str) -> Callable[[Any], Any]:
    kind = getattr(s, name)
    if option == "model":
        return lambda odd: kind(odd, AUTOMATON)
    if option == "automaton":
        return lambda odd: kind(EVEN, odd)
    return lambda odd: made(name, **{option: odd})


CALLS: dict[str, Callable[[Any], Any]] = {
    **{f"{name}, {option}": call_of(name, option) for name, options in OPTIONS.items() for option in options},
    "SMC, potential's value": lambda odd: made("SMC", potential=lambda text, done: odd, particles=2).sample(),
    "Masked.sample": lambda odd: made("Masked").sample(few(odd)),
    "Masked.sample, progress": lambda odd: made("Masked").sample(1, progress=odd is not True and none_for_class(odd)),
    "AlignedSampler.sample": lambda odd: made("AlignedSampler").sample(few(odd)),
    **{
        f"{name}.log_prob{what}": lambda odd, name=name, wrap=wrap: made(name).log_prob(wrap(odd))
        for name in ("Masked", "ASAp", "Enumerate")
        for what, wrap in (("", lambda odd: odd), (", token", lambda odd: [odd]))
    },
    "TruncatedModel": lambda odd: s.TruncatedModel(odd, top_k=1),
    "TruncatedModel, top_k": lambda odd: s.TruncatedModel(EVEN, top_k=odd),
    "TruncatedModel, top_p": lambda odd: s.TruncatedModel(EVEN, top_p=odd),
    "Canonical": lambda odd: s.Canonical(odd, VOCABULARY),
    "Canonical, vocabulary": lambda odd: s.Canonical(list, odd),  # type: ignore[arg-type]
    "Canonical, prefix_closed": lambda odd: s.Canonical(list, VOCABULARY, prefix_closed=odd),  # type: ignore[arg-type]
    "Canonical, by_pairs": lambda odd: s.Canonical(list, VOCABULARY, by_pairs=odd),  # type: ignore[arg-type]
    "Canonical.by_rank": lambda odd: s.Canonical.by_rank(odd),
    "kl_divergence": lambda odd: s.kl_divergence(none_for_class(odd), LAW),
    "kl_divergence, exact": lambda odd: s.kl_divergence(LAW, odd or None),
    "expectation": lambda odd: s.expectation(none_for_class(odd), LAW, len),
    "expectation, exact": lambda odd: s.expectation(LAW, odd, len),
    "expectation, value": lambda odd: s.expectation(LAW, LAW, none_for_class(odd)),
    "weighted_law": lambda odd: s.weighted_law(odd),
    "weighted_law, sample": lambda odd: s.weighted_law([odd]),
    "over_texts": lambda odd: s.over_texts(none_for_class(odd), len),
    "over_texts, text": lambda odd: s.over_texts(LAW, none_for_class(odd)),
    "learning_curve": lambda odd: s.learning_curve(none_for_class(odd), LAW, [0]),
    "learning_curve, exact": lambda odd: s.learning_curve(lambda seed: made("Masked"), none_for_class(odd), [0], [1]),
    "learning_curve, marks": lambda odd: s.learning_curve(lambda seed: made("Masked"), LAW, odd, [1]),
    "learning_curve, mark": lambda odd: s.learning_curve(lambda seed: made("Masked"), LAW, [1, few(odd)], [1]),
    "learning_curve, seeds": lambda odd: s.learning_curve(lambda seed: made("Masked"), LAW, [0], odd),
    "plot_kl": lambda odd: s.plot_kl(odd or None),
    "plot_expectation": lambda odd: s.plot_expectation(odd or None),
    "TransformersModel": lambda odd: s.TransformersModel(None, none_for_text(odd)),
}
ODD: list[Any] = [
    None, 5, -1, 0, 10**30, 1.5, float("nan"), float("inf"), "", "a", "\ud800", b"a", True, [], [1], [None], {},
    {"a": 1}, (), set(), object, object(), AUTOMATON, VOCABULARY,
]  # fmt: skip
INSIDE = ("start: ", "sampling: ")  # of what arguments that are in order say


def none_for_class(odd: Any) -> Any:
    """A class can be called; a law of other keys is one, too."""
    return None if odd is object or odd == {"a": 1} else odd


def none_for_text(odd: Any) -> Any:
    """Token ids that are in order need a model."""
    return None if odd in ([1], {"a": 1}, ()) else odd


@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments(name: str) -> None:
    function = name.partition(",")[0]
    for odd in ODD:
        try:
            CALLS[name](odd)
        except (TypeError, ValueError, tokamata.LimitError) as error:
            text = str(error)
            assert text.startswith((f"{function}: ", *INSIDE)), (odd, text)


@pytest.mark.parametrize(
    "call",
    [
        lambda: made("Masked").log_prob([1.5]),
        lambda: made("ASAp").log_prob("12"),
        lambda: made("Enumerate").log_prob(["1"]),
        lambda: made("ASAp", explore=float("nan")),
        lambda: made("SMC", particles=2**31),
        lambda: made("SMC", threshold=10**400),
        lambda: made("Masked", temperature=10**400),
        lambda: s.TruncatedModel(EVEN, top_p=10**400),
        lambda: made("SMC", threshold=float("nan")),
        lambda: made("Masked", cache_bytes=-1),
        lambda: made("Masked", seed=None),
        lambda: made("Masked", max_tries=-1),
        lambda: made("Masked").sample(1, progress=5),
        lambda: made("SMC", potential=b"a"),
        lambda: made("SMC", particles=2, potential=lambda text, done: "no").sample(),
        lambda: made("AWRS", condition=1),
        lambda: made("Enumerate", max_prefixes=-1),
        lambda: s.Canonical(list, None),  # type: ignore[arg-type]
        lambda: s.Canonical(list, VOCABULARY, prefix_closed="no"),  # type: ignore[arg-type]
        lambda: s.Canonical(list, VOCABULARY, by_pairs="no"),  # type: ignore[arg-type]
        lambda: made("MetropolisHastings", independent="no"),
        lambda: s.TruncatedModel(None, top_k=1),  # type: ignore[arg-type]
        lambda: s.Canonical(None, VOCABULARY),  # type: ignore[arg-type]
        lambda: s.learning_curve(lambda seed: made("Masked"), LAW, [2, 1], [1]),
    ],
)
def test_nonsense_is_not_taken(call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^[\w.]+: expected .* got .*; "):
        call()


def test_seeds_below_zero_are_seeds() -> None:
    assert made("SMC", seed=-1, particles=2).sample(3) == made("SMC", seed=1, particles=2).sample(3)


def test_files_that_are_no_trees(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    with pytest.raises(
        tokamata.MissingFileError, match=r"tree.json: no such file; pass the path of a tree's JSON file"
    ):
        s.PrefixTreeModel.load(path)
    for text in ("5", "{}", '{"parent": 1}'):
        path.write_text(text)
        with pytest.raises(tokamata.ConstraintError, match=r"^PrefixTreeModel.load: '.*': expected an object with the"):
            s.PrefixTreeModel.load(path)
