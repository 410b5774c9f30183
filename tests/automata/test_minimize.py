"""minimize against Moore's algorithm and OpenFst in size, and against the operand in meaning."""

from __future__ import annotations

import random

import pytest
from oracle.machines import by_label, chain, is_deterministic, machine, ring, shuffled
from oracle.openfst import to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from oracle.relation import assert_same, relation
from tokamata.automata import (
    Fst,
    FstError,
    LimitError,
    determinize,
    equivalent,
    isomorphic,
    minimize,
    rmepsilon,
    shortestdistance,
)


def moore(fst: Fst) -> int:
    """Classes of states on accepted paths of an unweighted deterministic machine."""
    moves = {(s, a.nextstate) for s in fst.states() for a in fst.arcs(s)}

    def closure(states: set[int], pairs: set[tuple[int, int]]) -> set[int]:
        while more := {t for s, t in pairs if s in states and t not in states}:
            states |= more
        return states

    ahead = closure({fst.start()} - {-1}, moves)
    live = sorted(ahead & closure({s for s in fst.states() if fst.is_final(s)}, {(t, s) for s, t in moves}))
    block = {s: int(fst.is_final(s)) for s in live}
    while True:
        key = {
            s: (
                block[s],
                *sorted((a.ilabel, a.olabel, block[a.nextstate]) for a in fst.arcs(s) if a.nextstate in block),
            )
            for s in live
        }
        names = {k: i for i, k in enumerate(sorted(set(key.values())))}
        refined = {s: names[key[s]] for s in live}
        if len(names) == len(set(block.values())):
            return len(names)
        block = refined


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_unweighted_against_moore_and_openfst(semiring):
    merged = 0
    for seed in range(300):
        rng = random.Random(seed)
        fst = random_fst(rng, semiring, states=14, arcs=40, labels=2, acceptor=True, deterministic=True, weighted=False)
        got = minimize(fst)
        note = f"{semiring} seed {seed}"
        assert got.num_states() == moore(fst), note
        assert equivalent(got, fst), note
        assert isomorphic(minimize(got), got), note
        assert isomorphic(minimize(shuffled(fst, rng)), got), note
        merged += 0 < got.num_states() < fst.num_states()
        if semiring != "log" and fst.start() >= 0:
            theirs = to_openfst(by_label(fst, "ilabel"))  # OpenFst misses merges where arcs are in different orders
            theirs.connect()
            theirs.minimize()
            assert theirs.num_states() == got.num_states(), note
    assert merged > 20


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_weighted_acceptors(semiring):
    merged = 0
    for seed in range(300):
        rng = random.Random(seed)
        fst = rmepsilon(random_fst(rng, semiring, states=6, arcs=14, labels=2, acceptor=True))
        note = f"{semiring} seed {seed}"
        try:
            fst = determinize(fst, max_states=200)
            got = minimize(fst, delta=1e-4)
        except (LimitError, FstError):  # no twins, or no finite total weight
            assert semiring != "boolean", note
            continue
        merged += got.num_states() < fst.num_states()  # or states on no path
        assert is_deterministic(got), note
        assert_same(relation(got, 4), relation(fst, 4), note, 1e-3)
        assert semiring == "log" or equivalent(got, fst), note
        again = minimize(got, delta=1e-4)
        assert again.num_states() == got.num_states(), note
        if semiring == "tropical":
            assert isomorphic(again, got), note
            theirs = to_openfst(fst)
            theirs.minimize()
            # OpenFst adds a start state where it cannot leave the total weight on the start's arcs.
            assert theirs.num_states() - 1 <= got.num_states() <= max(theirs.num_states(), 0), note
            back = shortestdistance(got, reverse=True)
            if got.num_states() and back[got.start()] == 0:
                assert got.num_states() == theirs.num_states(), note
    assert merged > 5


def test_weights_move_toward_the_start_so_that_states_merge():
    arcs = [(0, 1, 1, 1.0, 1), (0, 2, 2, 2.0, 2), (1, 3, 3, 3.0, 3), (2, 3, 3, 1.0, 4)]
    got = minimize(machine(arcs, {3: 1.0, 4: 2.0}))
    assert got.num_states() == 3
    assert relation(got, 2) == {((1, 3), (1, 3)): 5.0, ((2, 3), (2, 3)): 5.0}
    assert got.final(2) == 0


def test_total_weight_without_a_new_state():
    got = minimize(machine([(0, 1, 1, 1.0, 1), (1, 1, 1, 1.0, 0)], {0: 2.0, 1: 2.0}))
    assert (got.num_states(), got.final(0), next(got.arcs(0)).weight) == (1, 2, 1)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_transducers_keep_their_relation(semiring):
    for seed in range(200):
        rng = random.Random(seed)
        fst = random_fst(rng, semiring, states=6, arcs=14, labels=2, deterministic=True, acyclic=semiring == "log")
        assert_same(relation(minimize(fst), 3), relation(fst, 3), f"{semiring} seed {seed}", 1e-3)


def test_large_machines():
    rng = random.Random(3)
    words = {tuple(rng.randint(1, 3) for _ in range(9)) for _ in range(4000)}
    trie, arcs, finals = {(): 0}, [], []
    for word in sorted(words):
        for i, x in enumerate(word):
            if word[: i + 1] not in trie:
                trie[word[: i + 1]] = len(trie)
                arcs.append((trie[word[:i]], x, x, None, trie[word[: i + 1]]))
        finals.append(trie[word])
    fst = machine(arcs, finals)
    suffixes = {frozenset(w[len(p) :] for w in words if w[: len(p)] == p) for p in list(trie) if len(p) < 2}
    got = minimize(fst)
    assert len(suffixes) <= got.num_states() < fst.num_states() / 2
    assert got.num_states() == moore(fst)
    n = 100_000
    ring = machine([(s, 1, 1, None, (s + 1) % n) for s in range(n)], range(n))
    assert minimize(ring).num_states() == 1
    assert minimize(chain([1] * n)).num_states() == n + 1


def test_refused_operands():
    with pytest.raises(FstError, match=r"minimize: expected a deterministic machine, .*apply determinize first"):
        minimize(machine([(0, 1, 1, None, 0), (0, 1, 1, 2.0, 1)], [1]))
    with pytest.raises(FstError, match=r"minimize: a cycle of negative total weight"):
        minimize(machine([(0, 1, 1, -1.0, 0)], [0]))
    with pytest.raises(LimitError, match=r"minimize: reached max_visits \(11/10\)"):
        minimize(ring(40, 0.001), max_visits=10)
    assert minimize(Fst()).num_states() == 0
