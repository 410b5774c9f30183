"""Steps that were made before lead where they led: however many were kept meanwhile, and wherever tokens are cut."""

from __future__ import annotations

import random

import numpy as np

import tokamata

LIST = """
start: item
item: NAME | "(" [item ("," item)*] ")" | "[" item "]"
NAME: /[a-c]+/
%ignore " "
"""


def test_steps_again() -> None:
    seed = 5
    rng = random.Random(seed)
    letters = "abc(),[] "
    texts = sorted({"".join(rng.choices(letters, k=rng.randrange(2, 7))) for _ in range(900)})
    tokens = [*(bytes([b]) for b in range(256)), *(t.encode() for t in texts)]
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    automaton = tokamata.compile(tokamata.grammar(LIST), vocabulary)
    walks = []
    for _ in range(250):
        state, walk = automaton.start(), []
        for _ in range(40):
            mask = np.unpackbits(state.mask().view(np.uint8), bitorder="little")
            allowed = [t for t in np.flatnonzero(mask) if t != len(tokens)]
            if not allowed:
                break
            walk.append(int(rng.choice(allowed)))
            state.advance(walk[-1])
        walks.append((walk, state.mask(), state.is_final))
    steps = {(tuple(walk[:i]), walk[i]) for walk, _, _ in walks for i in range(len(walk))}
    assert len(steps) > 5000  # more than the first tables have room for
    for walk, mask, final in walks:
        again, bytewise = automaton.start(), automaton.start()
        for token in walk:
            again.advance(token)
            for byte in vocabulary.token_bytes(token):
                bytewise.advance(byte)
        for state in (again, bytewise):
            assert (state.mask() == mask).all(), (seed, walk)
            assert state.is_final == final, (seed, walk)
