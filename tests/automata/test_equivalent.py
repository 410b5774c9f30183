"""equivalent against a product search by brute force, and against OpenFst."""

from __future__ import annotations

import math
import random

import pytest
import pywrapfst
from oracle.machines import chain, machine, rebuilt, ring, shuffled
from oracle.openfst import to_openfst
from oracle.random_fst import SEMIRINGS, random_fst
from tokamata.automata import Fst, FstError, LimitError, SymbolTable, equivalent, minimize, push


def same_language(a: Fst, b: Fst) -> bool:
    """Walks pairs of states (None: no more) of two unweighted deterministic machines."""
    first = tuple(f.start() if f.start() >= 0 else None for f in (a, b))
    pending, seen = [first], {first}
    while pending:
        s, t = pending.pop()
        if (s is not None and a.is_final(s)) != (t is not None and b.is_final(t)):
            return False
        x = {arc.ilabel: arc.nextstate for arc in a.arcs(s)} if s is not None else {}
        y = {arc.ilabel: arc.nextstate for arc in b.arcs(t)} if t is not None else {}
        for label in x.keys() | y.keys():
            pair = (x.get(label), y.get(label))
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return True


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_unweighted(semiring):
    equal = 0
    for seed in range(600):
        rng = random.Random(seed)
        a, b = (
            random_fst(rng, semiring, states=4, arcs=8, labels=2, acceptor=True, deterministic=True, weighted=False)
            for _ in range(2)
        )
        want = same_language(a, b)
        equal += want
        assert equivalent(a, b) == equivalent(b, a) == want, f"{semiring} seed {seed}"
        if semiring != "log":
            assert pywrapfst.equivalent(to_openfst(a), to_openfst(b)) == want, f"{semiring} seed {seed} (OpenFst)"
    assert equal > 20


def test_weights():
    different = 0
    for seed in range(300):
        rng = random.Random(seed)
        a = random_fst(rng, states=6, arcs=14, labels=2, acceptor=True, deterministic=True)
        note = f"seed {seed}"
        for b in (shuffled(a, rng), minimize(a), push(a), push(a, reweight_type="to_final")):
            assert equivalent(a, b), note
        kept = minimize(a)
        if not kept.num_arcs():
            continue
        s = rng.choice([s for s in kept.states() if kept.num_arcs(s)])
        arcs = {t: list(kept.arcs(t)) for t in kept.states()}
        arcs[s][0] = arcs[s][0]._replace(weight=arcs[s][0].weight + 1)
        heavier = rebuilt(kept, arcs)
        want = pywrapfst.equivalent(to_openfst(heavier), to_openfst(kept))
        assert equivalent(heavier, kept) == want, note
        different += not want
    assert different > 100


def test_renumbered_machines_of_large_weights():
    """Sums that differ by rounding only: in which order states are looked at makes no difference."""
    for seed in range(300):
        rng = random.Random(seed)
        potentials = [rng.randint(-(10**6), 10**6) for _ in range(4)]
        arcs: dict[tuple[int, int], tuple[float, int]] = {}
        for _ in range(9):
            s, t, label = rng.randrange(4), rng.randrange(4), rng.randint(1, 4)
            arcs.setdefault((s, label), (rng.randrange(4) + potentials[t] - potentials[s], t))
        final, names = rng.randrange(4), rng.sample(range(4), 4)
        ways = [(s, label, label, w, t) for (s, label), (w, t) in arcs.items()]
        again = [(names[s], i, o, w, names[t]) for s, i, o, w, t in rng.sample(ways, len(ways))]
        one = machine(ways, {final: 2.0}, states=4)
        assert equivalent(one, machine(again, {names[final]: 2.0}, states=4, start=names[0])), seed


def test_log_weights():
    def loop(w, end):
        return machine([(0, 1, 1, w, 0)], {0: end}, semiring="log")

    two = machine([(0, 1, 1, 1.0, 1), (1, 1, 1, 1.0, 0)], {0: 0.5, 1: 0.5}, semiring="log")
    assert equivalent(loop(1.0, 0.5), two)
    assert not equivalent(loop(1.25, 0.5), two)
    assert not equivalent(loop(1.0, 0.75), two)
    assert equivalent(loop(1.0, 0.5001), two)
    assert not equivalent(loop(1.0, 0.5001), two, delta=1e-6)


def test_only_what_is_accepted_counts():
    a = chain([1, 2])
    b = machine([(0, 1, 1, None, 1), (1, 2, 2, None, 2), (1, 3, 3, None, 3), (4, 1, 1, None, 4)], [2])
    assert equivalent(a, b)
    assert equivalent(Fst(), machine([(0, 1, 1, None, 0)], []))
    assert not equivalent(Fst(), a)
    b.set_final(2, math.inf)
    assert equivalent(b, Fst())


def test_refused_operands():
    a = chain([1])
    for bad, remedy in [
        (machine([(0, 1, 2, None, 0)], [0]), "must be an acceptor .*project"),
        (machine([(0, 0, 0, None, 0)], [0]), "must be epsilon-free, .*rmepsilon"),
        (machine([(0, 1, 1, None, 0), (0, 1, 1, None, 1)], [0]), "must be deterministic, .*determinize"),
    ]:
        with pytest.raises(FstError, match=rf"equivalent: the first operand {remedy}"):
            equivalent(bad, a)
        with pytest.raises(FstError, match=rf"equivalent: the second operand {remedy}"):
            equivalent(a, bad)
    with pytest.raises(FstError, match=r"equivalent: .*semiring"):
        equivalent(a, Fst("log"))
    with pytest.raises(LimitError, match=r"equivalent: reached max_visits"):
        equivalent(ring(40, 0.001), ring(40, 0.001), max_visits=5)
    b = chain([1])
    a.input_symbols, b.input_symbols = SymbolTable("x"), SymbolTable("y")
    assert equivalent(a, b)
    names = SymbolTable("x")
    names.add("one", 1)
    a.input_symbols = names
    with pytest.raises(FstError, match=r"equivalent: the input sides .* got 1 and 0 symbols"):
        equivalent(a, b)


def test_arcs_of_weight_zero_do_not_count():
    for semiring, zero in [("tropical", math.inf), ("log", math.inf), ("boolean", 0.0)]:
        a, b = chain([1, 2], semiring), chain([1, 2], semiring)
        b.add_arc(0, 3, 3, zero, 1)
        assert equivalent(a, b)
        assert minimize(b).num_arcs() == 2
