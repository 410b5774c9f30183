"""States whose bytes all lead elsewhere, or nearly so, or all to one state: masks against runs of each token."""

from __future__ import annotations

import random

import pytest
from oracle import mask_walk
from tokamata.automata import Fst

import tokamata

EOS = 0


def random_rows(rng: random.Random, states: int) -> tuple[list[dict[int, int]], set[int]]:
    """Where bytes lead, by state: of none to all of them, to as many states as there are bytes or to few."""
    rows = []
    for _ in range(states):
        bytes_ = rng.sample(range(256), rng.choice([1, 2, 128, 255, 256]))
        targets = rng.sample(range(states), rng.choice([1, 2, 3, states]))
        rows.append({b: targets[i % len(targets)] for i, b in enumerate(bytes_)})
    return rows, {q for q in range(states) if rng.random() < 0.5} | {0}


def acceptor(rows: list[dict[int, int]], finals: set[int]) -> Fst:
    fst = Fst()
    for q in range(len(rows)):
        fst.add_state()
        if q in finals:
            fst.set_final(q)
    fst.set_start(0)
    for q, row in enumerate(rows):
        for b, to in row.items():
            fst.add_arc(q, b or 256, b or 256, None, to)
    return fst


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_any_width(seed: int) -> None:
    rng = random.Random(seed)
    rows, finals = random_rows(rng, 300)
    alive = set(finals)
    while more := {q for q, row in enumerate(rows) if alive.intersection(row.values())} - alive:
        alive |= more
    singles = [bytes([b]) for b in range(256)]
    tokens = [None, *singles, *(bytes(rng.choices(range(256), k=rng.randint(2, 5))) for _ in range(2000))]
    automaton = tokamata.compile(
        tokamata.from_fst(acceptor(rows, finals)), tokamata.Vocabulary(tokens, eos_token_ids=[EOS])
    )

    def run(q: int, token: bytes) -> int | None:
        for b in token:
            if b not in rows[q] or rows[q][b] not in alive:
                return None
            q = rows[q][b]
        return q

    compared = 0
    for _ in range(4):
        state, q = automaton.start(), 0
        for _ in range(12):
            want = {i for i, token in enumerate(tokens) if token is not None and run(q, token) is not None}
            want |= {EOS} if q in finals else set()
            assert set(mask_walk.allowed(state.mask())) == want, f"seed {seed}"
            compared += 1
            if not (choices := sorted(want - {EOS})):
                break
            token = rng.choice(choices)
            state.advance(token)
            q = run(q, tokens[token] or b"") or 0
    assert compared >= 4, f"seed {seed}"
