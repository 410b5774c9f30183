"""Seeded random push-down transducers, what they mean by brute force, and their pynini counterparts."""

from __future__ import annotations

import random

import pynini
from oracle.openfst import to_openfst
from oracle.random_fst import random_fst
from oracle.relation import Pair, relation
from tokamata.automata import Fst, Pdt, Semiring

PARENS = ((100, 200), (101, 201))


def random_pdt(
    rng: random.Random,
    semiring: Semiring = "tropical",
    *,
    states: int = 7,
    arcs: int = 7,
    brackets: int = 4,
    labels: int = 2,
    acyclic: bool = False,
    epsilon_cycles: bool = True,
) -> Pdt:
    """A random Pdt of one or two pairs, with up to `brackets` opening and as many closing arcs.

    Weights are multiples of 1/4. `acyclic`: every arc leads to a higher state. `epsilon_cycles` False: so do arcs with
    epsilon on both sides, and opening and closing arcs mostly.
    """
    n = rng.randint(3, states)
    fst = Fst(semiring)
    fst.add_states(n)
    fst.set_start(0)

    def weight() -> float | None:
        return None if semiring == "boolean" or rng.random() < 0.2 else rng.randint(0, 12) / 4

    def add(ilabel: int, olabel: int, upwards: bool) -> None:
        source, target = rng.randrange(n), rng.randrange(n)
        if acyclic or upwards:
            source, target = sorted(rng.sample(range(n), 2))
        fst.add_arc(source, ilabel, olabel, weight(), target)

    fst.set_final(n - 1, weight())
    if rng.random() < 0.5:
        fst.set_final(rng.randrange(n), weight())
    for _ in range(rng.randint(2, arcs)):
        ilabel, olabel = (0 if rng.random() < 0.25 else rng.randint(1, labels) for _ in range(2))
        add(ilabel, olabel, ilabel == olabel == 0 and not epsilon_cycles)
    pairs = PARENS[: rng.randint(1, 2)]
    for _ in range(rng.randint(1, brackets)):
        pair = rng.choice(pairs)
        upwards = not epsilon_cycles and rng.random() < 0.8
        for label in pair:
            add(label, label, upwards or rng.random() < 0.5)
    return Pdt(fst, pairs)


def random_rules(rng: random.Random, semiring: Semiring, *, recursive: bool) -> list[tuple[int, Fst]]:
    """Three machines over labels 1 and 2 that call each other by 10, 11, 12; later ones only, unless recursive."""
    rules = []
    for i in range(3):
        fst = random_fst(rng, semiring, states=4, arcs=8, labels=2, acyclic=True)
        for s in list(fst.states())[:-1]:
            if (recursive or i < 2) and rng.random() < 0.7:
                called = 10 + rng.randint(0 if recursive else i + 1, 2)
                fst.add_arc(s, rng.choice((0, called)), called, None, s + 1)
        rules.append((10 + i, fst))
    return rules


def expanded(pdt: Pdt, *, keep: bool = False, max_depth: int = 40, max_states: int = 2000) -> Fst | None:
    """The expansion, state by state from the start; None where it is larger or its stacks deeper than the limits."""
    fst = pdt.fst
    out = Fst(fst.semiring)
    if fst.start() < 0:
        return out
    kind = {opening: (i, True) for i, (opening, _) in enumerate(pdt.parens)}
    kind |= {closing: (i, False) for i, (_, closing) in enumerate(pdt.parens)}
    number = {(fst.start(), ()): out.add_state()}
    out.set_start(0)
    pending = list(number)
    for state, stack in pending:
        if not stack:
            out.set_final(number[state, stack], fst.final(state))
        for arc in fst.arcs(state):
            next_stack = stack
            ilabel, olabel = arc.ilabel, arc.olabel
            if arc.ilabel in kind:
                i, opens = kind[arc.ilabel]
                if not opens and (not stack or stack[-1] != i):
                    continue
                next_stack = (*stack, i) if opens else stack[:-1]
                if not keep:
                    ilabel = olabel = 0
            target = (arc.nextstate, next_stack)
            if target not in number:
                number[target] = out.add_state()
                pending.append(target)
                if len(next_stack) > max_depth or len(number) > max_states:
                    return None
            out.add_arc(number[state, stack], ilabel, olabel, arc.weight, number[target])
    return out


def to_pynini(pdt: Pdt) -> tuple[pynini.Fst, pynini.PdtParentheses]:
    """The same machine in pynini; boolean becomes tropical."""
    parens = pynini.PdtParentheses()
    for opening, closing in pdt.parens:
        parens.add_pair(opening, closing)
    return pynini.Fst.read_from_string(to_openfst(pdt.fst).write_to_string()), parens


def weights(fst: Fst, length: int) -> dict[Pair, float] | None:
    """`relation`, or None where sums over epsilon cycles diverge; weights that rounding can make are left out."""
    try:
        return {pair: weight for pair, weight in relation(fst, length).items() if weight < 30 or fst.semiring != "log"}
    except ValueError:
        return None


# a^n b^n with n > 0: nested calls, each ended by its own label.
def nested(semiring: Semiring = "tropical", weight: float | None = None) -> Pdt:
    """The Pdt of a^n b^n for n > 0 (a = 1, b = 2); `weight` is that of each a."""
    fst = Fst(semiring)
    fst.add_states(4)
    fst.set_start(0)
    fst.add_arc(0, 1, 1, weight, 1)
    fst.add_arc(1, 100, 100, None, 0)
    fst.add_arc(1, 0, 0, None, 2)
    fst.add_arc(2, 2, 2, None, 3)
    fst.add_arc(3, 200, 200, None, 2)
    fst.set_final(3)
    return Pdt(fst, [(100, 200)])
