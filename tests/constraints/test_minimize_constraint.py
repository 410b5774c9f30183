"""minimize on constraints against Moore's refinement of explicit automata."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from oracle import mask_walk
from oracle.dfa import Dfa
from oracle.random_constraint import random_constraint

import tokamata


def minimal_size(model: Dfa) -> int:
    """Live states of the minimal automaton, by refining classes until nothing changes (Moore 1956)."""
    classes = model.final.astype(np.int64)
    while True:
        signature = np.column_stack([classes, classes[model.next]])
        _, refined = np.unique(signature, axis=0, return_inverse=True)
        refined = refined.ravel()
        if refined.max() == classes.max():
            break
        classes = refined
    reached, stack = {0}, [0]
    while stack:
        for target in np.unique(model.next[stack.pop()]):
            if int(target) not in reached:
                reached.add(int(target))
                stack.append(int(target))
    return len({int(classes[s]) for s in reached if model.alive[s]})


def test_as_small_as_possible() -> None:
    for seed in range(60):
        constraint, model, text = random_constraint(random.Random(seed))
        where = f"seed {seed}: {text}"
        minimal = constraint.minimize()
        fst = minimal.to_fst()
        assert fst.num_states() == minimal_size(model), where
        assert minimal.equivalent(constraint), where
        for member in constraint.examples(3, seed=seed):
            assert minimal.accepts(member), where
            assert minimal.accepts(member + b"a") == model.accepts(member + b"a"), where


def test_equal_constraints_have_equal_automata() -> None:
    """Canonical: state for state, arc for arc."""
    for seed in range(40):
        rng = random.Random(seed)
        a, _, text_a = random_constraint(rng, depth=2)
        b, _, text_b = random_constraint(rng, depth=2)
        where = f"seed {seed}: {text_a} / {text_b}"
        left, right = (a - b) | (a & b), a | (a & b)
        assert left.equivalent(right), where
        assert left.minimize().to_fst().to_text() == right.minimize().to_fst().to_text(), where
        same = a.minimize().to_fst().to_text() == b.minimize().to_fst().to_text()
        assert same == a.equivalent(b), where


def test_algebra_goes_on() -> None:
    minimal = tokamata.regex("(a|b)*abb").minimize()
    assert minimal.to_fst().num_states() == 4
    assert (minimal + "c").accepts("aabbc")
    assert not (~minimal).accepts("abb")
    assert minimal.repeat(2, 2).accepts("abbabb")
    assert (tokamata.literal("a") & "b").minimize().is_empty()
    assert tokamata.literal("").minimize().accepts("")
    assert repr(minimal).endswith(".minimize()>")


def test_masks_stay_the_same() -> None:
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), b"ab", b"abb", b"ba", None], [259])
    for seed in range(20):
        constraint, _, text = random_constraint(random.Random(seed))
        if constraint.is_empty():
            continue
        states = [tokamata.compile(c, vocabulary).start() for c in (constraint, constraint.minimize())]
        rng = random.Random(seed)
        for _ in range(10):
            masks = [s.mask() for s in states]
            assert (masks[0] == masks[1]).all(), f"seed {seed}: {text}"
            token = rng.choice(mask_walk.allowed(masks[0]))
            for s in states:
                s.advance(token)
            if states[0].is_finished:
                break


def test_infinite_and_large_ones_are_refused() -> None:
    constraint = tokamata.regex("(a|b)*a(a|b){30}")
    with pytest.raises(tokamata.LimitError, match=r"the limit states=\d+ was reached"):
        constraint.minimize()
    assert constraint.accepts("a" * 31)


@pytest.mark.parametrize(
    "nested",
    [
        tokamata.json_value(),
        tokamata.json_schema({"type": "array", "items": {"$ref": "#"}}),
        "x" + tokamata.json_schema({"type": "array", "items": {"$ref": "#"}}),
    ],
)
def test_what_nests_without_bound_is_refused_soon(nested: tokamata.Constraint) -> None:
    start = time.thread_time()
    with pytest.raises(
        tokamata.LimitError, match=r"states=200000 is too small, as any .* whenever b'\[.*' is read"
    ) as e:
        nested.minimize()
    assert "bound its depth, or its length: (constraint & tokamata.regex" in str(e.value)
    assert time.thread_time() - start < 3
    short = nested & tokamata.regex("(?s:.{0,4})")
    assert short.minimize().equivalent(short)


def test_what_may_nest_says_so_at_its_limit() -> None:
    nested = tokamata.grammar('start: "(" start ")" |', limits=tokamata.Limits(states=3000))
    with pytest.raises(tokamata.LimitError, match=r"states=3000 .* no limit is enough .* bound its depth"):
        nested.minimize()


def test_regular_rules_are_minimized() -> None:
    """Rules that call each other or themselves, but only with an end of states."""
    listed = tokamata.grammar('start: "a" start | "b" other |\nother: "c" start | "d"')
    assert listed.minimize().equivalent(tokamata.regex("(a|bc)*(bd)?"))
    deep = tokamata.json_value(max_depth=1)
    assert deep.minimize().to_fst().num_states() > 20
    large = tokamata.regex("(a|b)*a(a|b){12}")  # states of which there are many
    assert large.minimize().to_fst().num_states() == 2**13
