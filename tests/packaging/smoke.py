"""What an installed wheel must do in an environment with nothing but its hard dependencies and the command line."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from tokamata.automata.errors import ConstraintError
from tokamata.constraints import grammars

import tokamata
import tokamata._core

print(f"tokamata {version('tokamata')} from {Path(tokamata.__file__).parent}, Python {sys.version.split()[0]}")
assert (Path(tokamata.__file__).parent / "py.typed").exists()
assert (Path(tokamata.__file__).parent / "_core.pyi").exists()

tokens: list[bytes | None] = [bytes([b]) for b in range(256)]
tokens += [b"20", b"26", b"-0", b"year", b"", None]
eos = len(tokens) - 1
vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[eos])
date = tokamata.regex(r"\d{4}-\d\d")
assert date.accepts("2026-11")
assert not date.accepts("2026-1")

state = tokamata.compile(date, vocabulary).start()


def allowed() -> set[int]:
    bits = np.unpackbits(state.mask().view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())


ascii_digits = {ord(c) for c in "0123456789"}
assert ascii_digits <= allowed()
assert {256, 257} <= allowed()
assert not allowed() & {258, 259, 260, eos}
for token in (256, 257, 258, ord("9")):
    state.advance(token)
assert state.is_final
assert allowed() == {eos}
state.advance(eos)
assert state.is_finished

assert {"json", "python", "sql"} <= set(grammars.names())
assert all(grammars.text(name).startswith("// lexer: ") for name in grammars.names())

try:
    tokamata.regex("(")
except ConstraintError as error:
    print("as expected:", error)
else:
    raise AssertionError("a malformed pattern must raise ConstraintError")
print("smoke test: passed")
