"""Canonical tokenizations against the tokenizers library: the encoder's own tokens, no others."""

from __future__ import annotations

import itertools
import json
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from oracle.mask_walk import allowed
from oracle.small_tokenizers import check_all, tokenizer_file, trained, what_follows
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton
from tokenizers import Tokenizer, models

import tokamata

ALPHABET = 'ab0" \n'
Pair = tuple[bytes, bytes]


def random_merges(seed: int) -> tuple[list[bytes], list[Pair]]:
    """Merges that no training would give: any pairs of what exists, some before their parts, in any order."""
    rng = random.Random(seed)
    known = [b"a", b"b"]
    merges: list[Pair] = []
    for _ in range(60):
        pair = rng.choice(known), rng.choice(known)
        if len(b"".join(pair)) <= 6 and pair not in merges and len(merges) < 14:
            merges.append(pair)
            if b"".join(pair) not in known:
                known.append(b"".join(pair))
    rng.shuffle(merges)
    return known, merges


def parts_of(text: bytes, ranks: dict[Pair, int]) -> list[bytes]:
    parts = [bytes([b]) for b in text]
    while True:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(parts)) if pair in ranks]
        if not found:
            return parts
        i = min(found)[1]
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def check_pairs(names: list[bytes], ranks: dict[Pair, int], native: object, seed: int) -> None:
    pairs = BytePairs.__new__(BytePairs)
    pairs._set(native, None, None)
    good = [[parts_of(a + b, ranks) == [a, b] for b in names] for a in names]
    for i, name in enumerate(names):
        assert pairs.written[i] == (parts_of(name, ranks) == [name]), (seed, name)
        assert [pairs.neighbours(i, k) for k in range(len(names))] == good[i], (seed, name)
        if pairs.written[i]:
            assert pairs.after(i).tolist() == good[i], (seed, name)
    rng = random.Random(seed)
    for _ in range(50):
        ids = [rng.randrange(len(names)) for _ in range(rng.randrange(1, 5))]
        text = b"".join(names[i] for i in ids)
        canonical = parts_of(text, ranks) == [names[i] for i in ids]
        assert (bool(pairs.written[ids[0]]) and all(good[i][k] for i, k in pairwise(ids))) == canonical, (seed, ids)


def test_neighbours_decide() -> None:
    for seed in range(20):
        names, merges = random_merges(seed)
        number = {name: i for i, name in enumerate(names)}
        merged = [(number[a], number[b], number[a + b]) for a, b in merges]
        pairs = BytePairs(len(names), merged, range(2))
        check_pairs(names, {pair: rank for rank, pair in enumerate(merges)}, pairs._native, seed)


def test_neighbours_decide_where_tokens_are_ranks() -> None:
    for seed in range(20):
        names, _ = random_merges(seed)
        random.Random(seed).shuffle(names)
        rank = {name: i for i, name in enumerate(names)}
        ranks = {(a, b): rank[a + b] for a in names for b in names if a + b in rank}
        check_pairs(names, ranks, BytePairs.from_tiktoken(rank, "(?s:.)")._native, seed)


def test_neighbours_as_the_tokenizers_library() -> None:
    for seed in range(4):
        encode, vocabulary, pairs = trained("one piece", seed, ALPHABET)
        rng = random.Random(seed)
        likely = [i for i in range(len(vocabulary)) if set(vocabulary.token_bytes(i) or b"x") <= set(ALPHABET.encode())]
        for _ in range(400):
            ids = [rng.choice(likely) for _ in range(rng.randrange(1, 5))]
            text = b"".join(vocabulary.token_bytes(i) or b"" for i in ids).decode()
            claimed = all(pairs.neighbours(i, k) for i, k in pairwise(ids)) and pairs.written[ids[0]]
            assert claimed == (encode(text) == ids), (seed, ids)


def members(constraint: tokamata.Constraint, alphabet: bytes, longest: int) -> list[bytes]:
    found, work = [], [b""]
    while work:
        text = work.pop()
        if not constraint.accepts_prefix(text):
            continue
        if constraint.accepts(text):
            found.append(text)
        if len(text) < longest:
            work += [text + bytes([b]) for b in alphabet]
    return found


PATTERNS = ["[ab]{1,5}", "(ab|ba)*0?", 'a"[ab0]{0,3}"b', "(a{2,3}|b0)+", "ab|abb|abba", "[ab0]*b"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_masks_allow_the_encoders_tokens_and_no_others(pattern: str) -> None:
    constraint = tokamata.regex(pattern)
    for seed in range(2):
        encode, vocabulary, pairs = trained("one piece", seed, ALPHABET)
        automaton = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs)
        texts = [text.decode() for text in members(constraint & tokamata.regex("(?s:.){0,7}"), b'ab0"', 7)]
        bounded = constraint.accepts_prefix(b"ab" * 20) or constraint.accepts_prefix(b"a" * 40)
        for prefix, following in what_follows(encode, texts, 0).items():
            state = automaton.start()
            for token in prefix:
                state.advance(token)
            got = set(allowed(state.mask()))
            assert following <= got, (seed, prefix)
            if not bounded:
                assert got == following, (seed, prefix)


def test_state_methods() -> None:
    _, vocabulary, pairs = trained("one piece", 1, ALPHABET)
    automaton = CanonicalAutomaton(tokamata.compile(tokamata.regex("[ab]{1,5}"), vocabulary), pairs)
    state = automaton.start()
    first = allowed(state.mask())[0]
    with pytest.raises(tokamata.TokenRejected, match="token 0 is not allowed after 0 tokens"):
        state.advance(0)
    state.advance(first)
    other = state.copy()
    out = np.zeros((2, len(state.mask())), np.int32)
    state.fill_mask(out, 1)
    assert (out[1] == state.mask()).all()
    assert not out[0].any()
    state.rollback(1)
    assert (state.num_tokens, other.num_tokens) == (0, 1)
    with pytest.raises(IndexError, match="expected 0 <= n <= 0"):
        state.rollback(1)
    other.advance(0)
    assert other.is_finished
    assert not other.mask().any()
    other.reset()
    assert (other.mask() == state.mask()).all()


def test_what_is_not_exact_is_refused() -> None:
    _, vocabulary, pairs = trained("one piece", 0, ALPHABET)
    plain = tokenizer_file("one piece", 0, ALPHABET)
    changes = {
        "normalizes": {"normalizer": {"type": "Lowercase"}},
        "byte_fallback": {"model": plain["model"] | {"byte_fallback": True}},
        "not BPE": {"model": {"type": "Unigram", "vocab": []}},
        "lstrip": {"added_tokens": [{"id": 0, "content": "x", "special": False, "lstrip": True}]},
    }
    for text, change in changes.items():
        with pytest.raises(tokamata.UnsupportedError, match=f"not decided by its pieces and merges alone.*{text}"):
            BytePairs.from_tokenizer_json(plain | change)
    endless = tokamata.compile(tokamata.json_value(), vocabulary)
    with pytest.raises(tokamata.LimitError, match="limit max_nodes=20"):
        CanonicalAutomaton(endless, pairs, max_nodes=20)
    marked = tokamata.regex("a") + tokamata.special_token("<end>")
    with pytest.raises(tokamata.ConstraintError):
        CanonicalAutomaton(tokamata.compile(marked, vocabulary), pairs)
    small = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
    with pytest.raises(tokamata.ConstraintError, match="the vocabulary 3"):
        CanonicalAutomaton(tokamata.compile(tokamata.regex("a"), small), pairs)


def test_a_limit_that_is_reached_is_named() -> None:
    _, vocabulary, pairs = trained("one piece", 3, 'ab":{}')
    few = tokamata.Limits(states=60)
    for unique in (True, False):
        constraint = tokamata.json_schema({"type": "object"}, unique_keys=unique, limits=few)
        with pytest.raises(tokamata.LimitError, match="states=60 was reached at the root"):
            CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs).start().mask()


def of_characters(tokens: list[str], merges: list[tuple[str, str]]) -> dict[str, Any]:
    """A ``tokenizer.json`` without a pretokenizer, where pieces that are tokens are these; token 0 ends texts."""
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(["<end>", *tokens])}, merges, ignore_merges=True))
    tokenizer.add_special_tokens(["<end>"])
    return dict(json.loads(tokenizer.to_str()))


def test_whole_pieces_of_characters() -> None:
    data = of_characters(["a", "²", "é", "²²a", "é²", "²a", "aé²"], [("²", "a"), ("é", "²")])
    encode = Tokenizer.from_str(json.dumps(data)).encode
    names = [None, *(name.encode() for name in list(data["model"]["vocab"])[1:])]
    made = (
        lambda text: encode(text).ids,
        tokamata.Vocabulary(names, eos_token_ids=[0]),
        BytePairs.from_tokenizer_json(data),
    )
    texts = ["".join(letters) for n in range(1, 5) for letters in itertools.product("a²é", repeat=n)]
    check_all(made, tokamata.choice(texts), texts, "whole pieces of characters")


def test_whole_pieces_without_their_characters_are_refused() -> None:
    pairs = BytePairs.from_tokenizer_json(of_characters(["a", "²²"], []))
    vocabulary = tokamata.Vocabulary([None, b"a", "²²".encode()], eos_token_ids=[0])
    with pytest.raises(tokamata.UnsupportedError, match="token 2 has characters that are no tokens"):
        CanonicalAutomaton(tokamata.compile(tokamata.regex("a+"), vocabulary), pairs)
