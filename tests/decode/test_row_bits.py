"""Masks are the same with narrower registers than the widest of the processor, which copy and compare rows."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import hashlib, itertools, random
import numpy as np, tokamata

rng = random.Random(71)
letters = [bytes([b]) for b in range(256)]
words = [bytes(w) for n in (2, 3) for w in itertools.product(b'abcde ",:{}[]0', repeat=n)]
rng.shuffle(words)
digest = hashlib.sha256()
for size in (256, 700, 2031, 2304):  # rows that end with lines of the cache, and that do not
    vocabulary = tokamata.Vocabulary([*letters, *words][:size] + [None], eos_token_ids=[size])
    for pattern in ("[a-e]{2,9}", '"[^"]*"(, "[^"]*")*', "(ab|cd|e0)+", "[a-c]*d?[^a]", "(?s:.*ab.*)", "a"):
        automaton = tokamata.compile(tokamata.regex(pattern), vocabulary)
        for _ in range(4):
            state = automaton.start()
            for _ in range(12):
                row = np.full(automaton.words + 3, -1, np.int32)[3:]  # where no line of the cache begins
                want = automaton._native.mask_by_walking(state.state_id)
                for _ in range(2):  # built, and finished
                    row[:] = -1
                    state.fill_mask(row)
                    assert (row == want.view(np.int32)).all(), (size, pattern)
                    digest.update(row.tobytes())
                allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")[:size])
                if not len(allowed):
                    break
                state.advance(int(rng.choice(allowed)))
print(digest.hexdigest())
"""


@pytest.fixture(scope="module")
def widest() -> str:
    return _digest({})


def _digest(settings: dict[str, str]) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "TOKAMATA_ROW_BITS"} | settings
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("bits", ["0", "256", "512"])
def test_masks_are_the_same_with_narrower_registers(widest: str, bits: str) -> None:
    assert _digest({"TOKAMATA_ROW_BITS": bits}) == widest
