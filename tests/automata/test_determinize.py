"""determinize keeps weights and is deterministic; non-functional and endless cases end in named errors."""

from __future__ import annotations

import math
import random

import pytest
import pywrapfst
from oracle.machines import chain, is_deterministic, machine, shuffled, turned_around
from oracle.openfst import from_openfst, to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import (
    DeterminizeFst,
    Fst,
    FstError,
    LimitError,
    SymbolTable,
    determinize,
    rmepsilon,
    shortestdistance,
)

# aa* with weight 1 per letter, or aab* with 2 per letter: no twins.
NO_TWINS = [(0, 1, 1, 1.0, 1), (0, 1, 1, 2.0, 2), (1, 2, 2, 1.0, 1), (2, 2, 2, 2.0, 2)]


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_random_acceptors(semiring):
    finished = 0
    for seed in range(300):
        rng = random.Random(seed)
        fst = random_fst(rng, semiring, states=6, arcs=14, labels=2, acceptor=True, acyclic=rng.random() < 0.5)
        note = f"{semiring} seed {seed}"
        try:
            got = determinize(rmepsilon(fst), max_states=300)
        except LimitError:
            assert semiring != "boolean", note
            continue
        finished += got.num_arcs() > 0
        assert is_deterministic(got), note
        assert_same(relation(got, 4), relation(fst, 4), note, 1e-3)
        assert all([a.ilabel for a in got.arcs(s)] == sorted(a.ilabel for a in got.arcs(s)) for s in got.states()), note
        if semiring != "log":
            total, after = shortestdistance(fst, reverse=True), shortestdistance(got, reverse=True)
            assert (after[got.start()] if got.num_states() else got.num_states()) == (
                total[fst.start()] if got.num_states() else 0
            ), note
            theirs = pywrapfst.determinize(to_openfst(rmepsilon(fst)))
            assert theirs.num_states() == got.num_states(), note
            assert_same(relation(from_openfst(theirs, semiring), 4), relation(got, 4), f"{note} (OpenFst)", 1e-3)
    assert finished > 100


def test_epsilon_is_a_label_like_others():
    fst = machine([(0, 0, 0, 1.0, 1), (0, 0, 0, 2.0, 2), (1, 1, 1, None, 3), (2, 1, 1, None, 3)], [3])
    got = determinize(fst)
    assert is_deterministic(got)
    assert (got.num_states(), relation(got, 2)) == (3, {((1,), (1,)): 1.0})


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_functional_transducers(semiring):
    finished = delayed = 0
    for seed in range(300):
        rng = random.Random(seed)
        one_way = random_fst(rng, semiring, states=5, arcs=9, labels=2, deterministic=True)
        fst = turned_around(one_way)
        note = f"{semiring} seed {seed}"
        try:
            got = determinize(fst, max_states=300, max_delay=20)
        except LimitError:
            continue
        finished += got.num_arcs() > 0 and not is_deterministic(fst)
        delayed += got.num_states() > fst.num_states()
        # Only arcs that write what is left at the end may have epsilon on the input side.
        for s in got.states():
            labels = [a.ilabel for a in got.arcs(s) if a.ilabel]
            assert len(labels) == len(set(labels)), note
            assert sum(a.ilabel == 0 for a in got.arcs(s)) <= 1, note
        assert_same(relation(got, 4, 8), relation(fst, 4, 8), note, 1e-3)
    assert finished > 30
    assert delayed > 10


def test_outputs_are_written_early_and_left_over_at_the_end():
    fst = machine([(0, 1, 5, None, 1), (0, 1, 6, None, 2), (1, 2, 7, None, 3), (2, 3, 8, None, 4)], [3, 4])
    assert relation(determinize(fst), 2) == {((1, 2), (5, 7)): 0, ((1, 3), (6, 8)): 0}
    at_end = machine([(0, 1, 5, None, 1), (0, 1, 0, 1.0, 2), (2, 1, 6, None, 3)], {1: None, 3: None})
    got = determinize(at_end, subsequential_label=9)
    assert relation(got, 3) == {((1, 9), (5,)): 0, ((1, 1), (6,)): 1}


def test_transducers_that_are_not_functional_are_refused():
    for arcs, finals in [
        ([(0, 1, 1, None, 1), (0, 1, 2, None, 1)], [1]),
        ([(0, 1, 1, None, 1), (0, 1, 2, None, 2)], [1, 2]),
    ]:
        with pytest.raises(FstError, match=r"determinize: expected a functional transducer .*project"):
            determinize(machine(arcs, finals))


def test_endless_results_end_at_a_limit():
    fst = machine(NO_TWINS, [1, 2])
    with pytest.raises(LimitError, match=r"determinize: reached max_states \(1001/1000\): .*twins.*raise it with"):
        determinize(fst, max_states=1000)
    with pytest.raises(LimitError, match=r"determinize: reached max_arcs \(501/500\)"):
        determinize(fst, max_arcs=500)
    late = machine(
        [
            (0, 1, 1, None, 1),
            (1, 1, 1, None, 1),
            (1, 2, 0, None, 3),
            (0, 1, 2, None, 2),
            (2, 1, 2, None, 2),
            (2, 3, 0, None, 3),
        ],
        [3],
    )
    with pytest.raises(LimitError, match=r"determinize: reached max_delay \(51/50\): .*project"):
        determinize(late, max_delay=50)


def test_threshold_keeps_what_is_near_the_best():
    pruned = 0
    for seed in range(300):
        rng = random.Random(seed)
        fst = rmepsilon(random_fst(rng, states=6, arcs=14, labels=2, acceptor=True))
        threshold = rng.randint(0, 20) / 4
        try:
            got = relation(determinize(fst, weight=threshold, max_states=2000), 5)
        except LimitError:  # cycles of weight 0
            continue
        want = relation(fst, 5)
        total = shortestdistance(fst, reverse=True)[fst.start()] if fst.start() >= 0 else math.inf
        near = {s: w for s, w in want.items() if w <= total + threshold}
        pruned += len(got) < len(want)
        assert_same({s: w for s, w in got.items() if s in near}, near, f"seed {seed}")
        assert_same(got, {s: w for s, w in want.items() if s in got}, f"seed {seed}")
    assert pruned > 50


def test_number_of_states_must_not_be_negative():
    with pytest.raises(FstError, match=r"^determinize: nstate must not be negative, got -1; "):
        determinize(machine([], [0]), nstate=-1)


def test_threshold_makes_an_endless_result_finite():
    got = determinize(machine(NO_TWINS, [1, 2]), weight=3)
    assert got.num_states() == 5
    assert set(relation(got, 9)) == {((1, *[2] * n), (1, *[2] * n)) for n in range(4)}
    # The machine starts with a state of its own, so two expanded states are one letter.
    assert set(relation(determinize(machine(NO_TWINS, [1, 2]), weight=3, nstate=2), 9)) == {((1,), (1,))}
    assert determinize(machine(NO_TWINS, [1, 2]), nstate=0).num_states() == 0  # nothing is expanded
    for semiring in ("log", "boolean"):
        with pytest.raises(FstError, match=r"determinize: weight= and nstate= need the tropical semiring"):
            determinize(Fst(semiring), weight=1)


def test_delta_joins_weights():
    arcs = [
        (0, 1, 1, 0.0, 1),
        (0, 1, 1, 0.5, 2),
        (1, 2, 2, 0.0, 3),
        (2, 2, 2, 0.0, 3),
        (0, 3, 3, 0.0, 1),
        (0, 3, 3, 0.5001, 2),
    ]
    assert determinize(machine(arcs, [3])).num_states() == 3
    assert determinize(machine(arcs, [3]), delta=1e-6).num_states() == 4


def test_known_blow_up_and_linear_cases():
    n = 12  # the n-th letter from the end is 2
    arcs = [(0, 1, 1, None, 0), (0, 2, 2, None, 0), (0, 2, 2, None, 1)]
    arcs += [(s, x, x, None, s + 1) for s in range(1, n) for x in (1, 2)]
    assert determinize(machine(arcs, [n], semiring="boolean")).num_states() == 2**n
    with pytest.raises(LimitError, match=r"determinize: reached max_elements \(1001/1000\): .*memory.*max_elements="):
        determinize(machine(arcs, [n], semiring="boolean"), max_elements=1000)
    fst = shuffled(chain([1, 2] * 50_000, weight=1.0), random.Random(0))
    got = determinize(fst)
    assert (got.num_states(), got.num_arcs()) == (100_001, 100_000)
    assert all(a.weight == 1 for s in got.states() for a in got.arcs(s))


def test_symbols_and_empty():
    fst = chain([1])
    fst.input_symbols = SymbolTable("names")
    got = determinize(fst)
    assert got.input_symbols is not None
    assert got.input_symbols.name == "names"
    assert determinize(Fst()).num_states() == 0
    with pytest.raises(FstError, match=r"subsequential_label must be"):
        determinize(fst, subsequential_label=-1)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_delayed(semiring):
    for seed in range(100):
        fst = rmepsilon(random_fst(random.Random(seed), semiring, acyclic=True, acceptor=True))
        want, delayed = relation(determinize(fst), 4), DeterminizeFst(fst)
        if delayed.start() >= 0:
            assert delayed.num_known_states() == 1
        assert_same(relation(delayed.expand(), 4), want, f"{semiring} seed {seed}", 1e-3)


def test_delayed_walks_where_eager_cannot_end():
    delayed = DeterminizeFst(machine(NO_TWINS, [1, 2]))
    s, weight = delayed.start(), 0.0
    for label in (1, 2, 2, 2):
        (arc,) = delayed.arcs(s)
        assert arc.ilabel == label
        s, weight = arc.nextstate, weight + arc.weight
    assert weight + delayed.final(s) == 4
    assert delayed.num_known_states() == 5
    with pytest.raises(IndexError, match=r"DeterminizeFst: state 9 has not been reached"):
        delayed.arcs(9)


def test_delayed_answers_for_the_other_states_when_a_limit_was_reached():
    arcs = []
    for i in range(1, 41):  # two paths read i, 90 and owe outputs of their own until the end
        q = 5 * i
        arcs += [(0, i, 100 + i, None, q), (0, i, 200 + i, None, q + 1)]
        arcs += [(q, 90, 300 + i, None, q + 2), (q + 1, 90, 300 + i, None, q + 3), (q + 3, 91, 400, None, q + 4)]
    fst = machine(arcs, [5 * i + j for i in range(1, 41) for j in (2, 4)])
    delayed = DeterminizeFst(fst, max_states=81)
    first = [arc.nextstate for arc in delayed.arcs(delayed.start())]
    second = [arc.nextstate for s in first for arc in delayed.arcs(s)]
    assert delayed.num_known_states() == 81
    for _ in range(3):
        for s in second:
            with pytest.raises(LimitError, match=r"reached max_states \(82/81\)"):
                delayed.arcs(s)
    assert delayed.num_known_states() == 81
    assert [arc.nextstate for arc in delayed.arcs(delayed.start())] == first
    assert relation(DeterminizeFst(fst, max_states=1000).expand(), 3) == relation(fst, 3)


def test_outputs_compare_without_epsilons():
    arcs = [(0, 1, 0, None, 1), (0, 1, 5, None, 2), (1, 2, 5, None, 3), (2, 2, 0, None, 3)]
    assert relation(determinize(machine(arcs, [3])), 2) == {((1, 2), (5,)): 0}
