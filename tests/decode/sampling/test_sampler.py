from __future__ import annotations

import math

import numpy as np
import pytest
from oracle.lm_trees import load
from oracle.random_model import RandomModel, conditional
from tokamata.decode.sampling import CARS, SMC, ASAp, Enumerate, Masked, Rejection

import tokamata

VOCABULARY = tokamata.Vocabulary([b"a", b"b", b"\n", None, None], eos_token_ids=[3])
AUTOMATON = tokamata.compile(tokamata.regex("[ab]{1,3}"), VOCABULARY)


def test_wrong_arguments() -> None:
    model = RandomModel(5, 0)
    with pytest.raises(tokamata.UnsupportedError, match="declare them part of the model"):
        Masked(model, AUTOMATON, top_k=5)
    with pytest.raises(tokamata.UnsupportedError, match="TruncatedModel"):
        ASAp(model, AUTOMATON, top_p=0.9)
    with pytest.raises(ValueError, match="expected a temperature > 0, got 0"):
        Masked(model, AUTOMATON, temperature=0)
    with pytest.raises(ValueError, match='expected tokenization "all" or "canonical"'):
        Masked(model, AUTOMATON, tokenization="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected at least one stop token"):
        Masked(model, AUTOMATON, stop=[])
    for name, sampler in (("max_tokens", Masked), ("max_prefixes", Enumerate), ("batch", CARS), ("particles", SMC)):
        with pytest.raises(TypeError, match=f"{sampler.__name__}: expected {name} as an int, got float 6.5; pass"):
            sampler(model, AUTOMATON, **{name: 6.5})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Masked.sample: expected n as an int, got str 'x'"):
        Masked(model, AUTOMATON).sample("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Masked: expected several stop tokens, got one str; pass ids, not texts"):
        Masked(model, AUTOMATON, stop="<end>")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a TokenAutomaton second"):
        Masked(model, VOCABULARY)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="next_log_probs"):
        Masked(object(), AUTOMATON)  # type: ignore[arg-type]
    with pytest.raises(tokamata.BudgetError, match="2"):
        Masked(model, AUTOMATON, max_tokens=1)
    with pytest.raises(ValueError, match='expected leaf "one" or "state"'):
        ASAp(model, AUTOMATON, leaf="two")  # type: ignore[arg-type]


def test_wrong_models() -> None:
    class Wrong:
        def __init__(self, table: object) -> None:
            self.table = table

        def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
            return np.array(self.table)

    for table, text in (
        ([[0.0] * 4], r"V >= 5"),
        ([0.0] * 5, r"got \(5,\)"),
        ([[1.0, 2.0, 3.0, 0.0, 0.0]], "apply log_softmax"),
        ([[math.nan] * 5], "got nan"),
    ):
        with pytest.raises(tokamata.ConstraintError, match=text):
            Masked(Wrong(table), AUTOMATON).sample(1)
    with pytest.raises(
        tokamata.ConstraintError, match="expected stop tokens below 5, the length of the model's rows, got 7"
    ):
        Masked(RandomModel(5, 0), AUTOMATON, stop=[4, 7]).sample(1)


def test_several_stop_tokens_and_text_that_stops() -> None:
    # "\n" stops here: it is no text then, and its probability counts with that of the other stop.
    model = RandomModel(5, 3)
    sampler = Enumerate(model, AUTOMATON, stop=[2, 4], max_tokens=9)
    expected = {}
    for length in range(1, 4):
        for tokens in np.ndindex(*[2] * length):
            p = sum(model.row(tokens[:i])[tokens[i]] for i in range(length))
            expected[tokens] = p + math.log(np.exp(model.row(tokens)[[2, 4]]).sum())
    members = sampler.members()
    assert members.keys() == expected.keys()
    assert all(math.isclose(members[t], p, abs_tol=1e-12) for t, p in expected.items())
    assert not any("\n" in s.text for s in sampler.sample(50))


def test_max_tokens_counts_the_stop() -> None:
    constraint = tokamata.regex("a*b?")
    automaton = tokamata.compile(constraint, VOCABULARY)
    model = RandomModel(5, 4)
    for max_tokens in (1, 2, 5):
        exact, _ = conditional(model, VOCABULARY, constraint, max_tokens)
        assert Enumerate(model, automaton, max_tokens=max_tokens).members().keys() == exact.keys()
        assert max(map(len, exact)) == max_tokens - 1


def test_the_same_seed_gives_the_same_samples() -> None:
    model, automaton = load("bv4-eq-bvand-depth1")
    for kind in (Masked, ASAp, CARS):
        one, two = (kind(model, automaton, max_tokens=40, seed=11).sample(30) for _ in range(2))
        assert one == two
        assert one != kind(model, automaton, max_tokens=40, seed=12).sample(30)


@pytest.mark.parametrize("kind", [Masked, ASAp, CARS])
@pytest.mark.parametrize("name", ["binary5-fewshot", "bv4-eq-bvand-depth1"])
def test_the_prefix_cache_saves_the_model(name: str, kind: type) -> None:
    model, automaton = load(name)
    sampler = kind(model, automaton, max_tokens=40, seed=2)
    samples = sampler.sample(2000)
    statistics = sampler.statistics
    assert statistics.steps >= sum(len(s.tokens) + 1 for s in samples)
    assert 1 - statistics.model_calls / sum(len(s.tokens) + 1 for s in samples) > 0.95
    if name == "binary5-fewshot" or kind is CARS:
        assert statistics.saved_steps >= 0.99


def test_a_small_cache_changes_calls_and_nothing_else() -> None:
    model, automaton = load("bv4-eq-bvand-depth1")
    for kind, options in ((CARS, {}), (ASAp, {}), (ASAp, {"leaf": "state"})):
        large, small = (
            kind(model, automaton, max_tokens=40, seed=1, cache_bytes=size, **options)  # type: ignore[operator]
            for size in (1 << 24, 4000)
        )
        assert large.sample(100) == small.sample(100)
        assert small.statistics.model_calls > large.statistics.model_calls
        assert small.statistics.cache_bytes <= 4000


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    Masked(RandomModel(5, 0), AUTOMATON).sample(3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_statistics_by_name() -> None:
    sampler = Rejection(RandomModel(5, 0), AUTOMATON)
    sampler.sample(2)
    statistics = sampler.statistics
    assert statistics["tries"] == statistics.tries >= 2
    assert set(statistics.keys()) >= {"model_calls", "tries", "log_z", "effective_sample_size"}
    assert statistics.effective_sample_size == pytest.approx(2)
    with pytest.raises(KeyError):
        statistics["nothing"]
