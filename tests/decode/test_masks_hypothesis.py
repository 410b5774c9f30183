"""Masks on vocabularies and constraints that hypothesis makes up and shrinks."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import mask_walk
from oracle.dfa import Dfa

import tokamata
from tokamata._core import Language

PIECES = [
    b"a",
    b"b",
    b"0",
    b'"',
    b"\n",
    b"\x00",
    b"\xff",
    "é".encode(),
    "é".encode()[:1],
    "日".encode(),
    "日".encode()[1:],
]
TOKEN = st.lists(st.sampled_from(PIECES), max_size=4).map(b"".join)
Modelled = tuple[tokamata.Constraint, Dfa]


def characters(excluded: bytes) -> Modelled:
    ranges = [(c, c) for c in range(128) if c not in excluded] + [(0x80, 0x10FFFF)]
    return tokamata.Constraint(Language.characters(ranges)), Dfa.characters(excluded)


LEAF = st.one_of(
    st.sampled_from([b"", b"a", b"ab", b"0", b'"', b"\x00", "é".encode(), "日".encode(), b"\xff"]).map(
        lambda text: (tokamata.literal(text), Dfa.literal(text))
    ),
    st.sampled_from([b"", b"a", b'"\n', b"\n"]).map(characters),
)


def combine(inner: st.SearchStrategy[Modelled]) -> st.SearchStrategy[Modelled]:
    pairs = st.tuples(inner, inner)
    bounds = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 2)))
    return st.one_of(
        pairs.map(lambda p: (p[0][0] + p[1][0], p[0][1] + p[1][1])),
        pairs.map(lambda p: (p[0][0] | p[1][0], p[0][1] | p[1][1])),
        pairs.map(lambda p: (p[0][0] & p[1][0], p[0][1] & p[1][1])),
        pairs.map(lambda p: (p[0][0] - p[1][0], p[0][1] - p[1][1])),
        inner.map(lambda x: (~x[0], ~x[1])),
        st.tuples(inner, bounds).map(lambda x: repeated(x[0], *x[1])),
    )


def repeated(x: Modelled, low: int, more: int | None) -> Modelled:
    high = None if more is None else low + more
    return x[0].repeat(low, high), x[1].repeat(low, high)


@settings(max_examples=150, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(
    modelled=st.recursive(LEAF, combine, max_leaves=4),
    texts=st.lists(TOKEN, min_size=1, max_size=12),
    twice=st.booleans(),
    complete=st.booleans(),
    path=st.lists(st.integers(0, 1 << 16), max_size=5),
)
def test_masks_equal_brute_force(
    modelled: Modelled, texts: list[bytes], twice: bool, complete: bool, path: list[int]
) -> None:
    constraint, model = modelled
    tokens: list[bytes | None] = [*texts, *(texts if twice else []), b"", None, b"a"]
    tokens += [bytes([b]) for b in range(256)] if complete else []
    eos = [len(texts) * (1 + twice) + 1]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=eos)
    alive = model.token_alive(tokens)
    if not alive[0]:
        with pytest.raises(tokamata.ConstraintError, match=r"compile: (the constraint is empty|no text of the)"):
            tokamata.compile(constraint, vocabulary)
        return
    state, q = tokamata.compile(constraint, vocabulary).start(), 0
    for step in [*path, None]:
        want = model.mask(q, tokens, eos, alive)
        got = set(mask_walk.allowed(state.mask()))
        assert got == want, f"{constraint!r}: {[(tokens[i], i in got) for i in sorted(got ^ want)[:5]]}"
        assert all(state.allows(i) == (i in want) for i in range(len(tokens)))
        choices = sorted(want - set(eos))
        if step is None or not choices:
            break
        token = choices[step % len(choices)]
        state.advance(token)
        q = model.run(tokens[token] or b"", q)
