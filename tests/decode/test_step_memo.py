"""Steps that were made before lead where they led: however many were kept meanwhile, and wherever tokens are cut."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest

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


# Patterns with more and more beside a loop: somewhere among them its expressions move while characters are looked into.
COUNTED = r"""
import tokamata
vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), b"abb", None], eos_token_ids=[257])
for body in ("(?:[^x]|xy)", "(?:[^xy]|x[0-9]{2}|y.[^b]|xb{3})"):
    for n in range(130):
        pattern = body + "{1,90}b|" + "".join("c[" + "xyzuvw"[i % 6] + "]" for i in range(n))
        state = tokamata.compile(tokamata.regex(pattern), vocabulary).start()
        state.advance(256)
        assert state.is_final, pattern
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library is to overwrite memory that is freed")
def test_counted_steps_where_freed_memory_is_overwritten() -> None:
    environment = {**os.environ, "MALLOC_PERTURB_": "1"}
    done = subprocess.run([sys.executable, "-c", COUNTED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
