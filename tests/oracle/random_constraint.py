"""Random constraints beside their explicit model, and random vocabularies with everything that real ones contain."""

from __future__ import annotations

import random

from oracle.dfa import Dfa

import tokamata
from tokamata._core import Language

LEAVES = [
    b"a",
    b"ab",
    b"b",
    b'"',
    b"\\",
    b"\n",
    b"0",
    b"12",
    "é".encode(),
    "日".encode(),
    "😀".encode(),
    b"</a>",
    b"_Z",
]


def random_constraint(rng: random.Random, depth: int = 3, algebra: bool = True) -> tuple[tokamata.Constraint, Dfa, str]:
    """A constraint, its model and its description."""
    kind = rng.randrange(10 if depth else 3)
    if kind == 0 or (not depth and kind < 2):
        text = rng.choice(LEAVES)
        return tokamata.literal(text), Dfa.literal(text), repr(text)
    if kind <= 2:
        return random_class(rng)
    a, da, sa = random_constraint(rng, depth - 1, algebra)
    if kind == 3:
        low = rng.randrange(3)
        high = rng.choice([None, low, low + 1, low + 3])
        if low == 0 and high == 0:
            high = 1
        return a.repeat(low, high), da.repeat(low, high), f"({sa}){{{low},{high}}}"
    b, db, sb = random_constraint(rng, depth - 1, algebra)
    if kind <= 5 or (not algebra and kind >= 8):
        return a + b, da + db, f"({sa} + {sb})"
    if kind <= 7:
        return a | b, da | db, f"({sa} | {sb})"
    if kind == 8:
        return (a & b, da & db, f"({sa} & {sb})") if rng.random() < 0.5 else (a - b, da - db, f"({sa} - {sb})")
    return ~a, ~da, f"~{sa}"


def random_class(rng: random.Random) -> tuple[tokamata.Constraint, Dfa, str]:
    """A loop over characters, as wildcards in patterns are."""
    excluded = rng.choice([b"", b"", b"\n", b"a", b'"', bytes(range(32)) + b'"\\', b"<"])
    included = rng.choice([b"abcdefghijklmnopqrstuvwxyz", b"0123456789", b"ab", b"01ab_Z", b" \n"])
    wide = rng.random() < 0.6
    if wide:
        model, chars, name = Dfa.characters(excluded), [c for c in range(128) if c not in excluded], f"[^{excluded!r}]"
    else:
        model, chars, name = Dfa.characters(included=included, non_ascii=False), list(included), f"[{included!r}]"
    ranges = [(c, c) for c in chars] + ([(0x80, 0x10FFFF)] if wide else [])
    one = tokamata.Constraint(Language.characters(ranges), source=name)
    low = rng.choice([0, 0, 1, 2])
    high = rng.choice([None, None, 1, 2, 4])
    if high is not None:
        high = max(low, high)
    return one.repeat(low, high), model.repeat(low, high), f"{name}{{{low},{high}}}"


def random_vocabulary(rng: random.Random, complete: bool) -> tuple[list[bytes | None], list[int]]:
    """Tokens and EOS ids: duplicates, empty and special tokens, partial and invalid UTF-8, NUL; all bytes or not."""
    pieces = [
        b"a",
        b"b",
        b"0",
        b"1",
        b"2",
        b'"',
        b"\\",
        b"\n",
        b"<",
        b"/",
        b">",
        b"_",
        b"Z",
        b" ",
        b"\x00",
        b"\xff",
        "é".encode(),
        "日".encode(),
        "😀".encode(),
        "日".encode()[:2],
        "😀".encode()[:3],
        "é".encode()[1:],
        b"\xf0\x9f",
        b"\xc0\x80",
    ]
    tokens: list[bytes | None] = [
        b"".join(rng.choices(pieces, k=rng.randrange(1, 6))) for _ in range(rng.randrange(20, 120))
    ]
    tokens += [rng.choice(tokens) for _ in range(5)] + [b"", None]
    if complete:
        tokens += [bytes([b]) for b in range(256)]
    rng.shuffle(tokens)
    eos = rng.sample(range(len(tokens)), rng.choice([1, 1, 2]))
    return [None if i in eos else t for i, t in enumerate(tokens)], eos
