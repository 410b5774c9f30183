"""Canonical tokenizations against the tokenizers library: the encoder's own tokens, no others."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import pytest
from oracle.mask_walk import allowed
from oracle.small_tokenizers import byte_of
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import tokamata

LETTERS = pre_tokenizers.ByteLevel.alphabet()


def trained(seed: int, alphabet: str = 'ab0" \n', size: int = 60) -> tuple[Tokenizer, tokamata.Vocabulary, BytePairs]:
    rng = random.Random(seed)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=257 + size, special_tokens=["<end>"], initial_alphabet=LETTERS, show_progress=False
    )
    weights = [rng.random() ** 2 + 0.05 for _ in alphabet]
    texts = ["".join(rng.choices(alphabet, weights, k=rng.randrange(3, 30))) for _ in range(60)]
    tokenizer.train_from_iterator(texts, trainer)
    tokens: list[bytes | None] = [None]
    for i in range(1, tokenizer.get_vocab_size()):
        name = tokenizer.id_to_token(i)
        tokens.append(bytes(byte_of()[c] for c in name))
    pairs = BytePairs.from_tokenizer_json(json.loads(tokenizer.to_str()))
    return tokenizer, tokamata.Vocabulary(tokens, eos_token_ids=[0]), pairs


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


def encode(text: bytes, ranks: dict[Pair, int]) -> list[bytes]:
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
    good = [[encode(a + b, ranks) == [a, b] for b in names] for a in names]
    for i, name in enumerate(names):
        assert pairs.written[i] == (encode(name, ranks) == [name]), (seed, name)
        assert [pairs.neighbours(i, k) for k in range(len(names))] == good[i], (seed, name)
        if pairs.written[i]:
            assert pairs.after(i).tolist() == good[i], (seed, name)
    rng = random.Random(seed)
    for _ in range(50):
        ids = [rng.randrange(len(names)) for _ in range(rng.randrange(1, 5))]
        text = b"".join(names[i] for i in ids)
        canonical = encode(text, ranks) == [names[i] for i in ids]
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
        tokenizer, vocabulary, pairs = trained(seed)
        rng = random.Random(seed)
        merged = list(range(1, len(vocabulary)))
        likely = [i for i in merged if all(b in b'ab0" \n' for b in vocabulary.token_bytes(i) or b"x")]
        for _ in range(400):
            ids = [rng.choice(likely) for _ in range(rng.randrange(1, 5))]
            text = b"".join(vocabulary.token_bytes(i) or b"" for i in ids).decode()
            claimed = all(pairs.neighbours(i, k) for i, k in pairwise(ids)) and pairs.written[ids[0]]
            assert claimed == (tokenizer.encode(text).ids == ids), (seed, ids)


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
        tokenizer, vocabulary, pairs = trained(seed)
        automaton = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs)
        texts = members(constraint & tokamata.regex("(?s:.){0,7}"), b'ab0"', 7)
        prefixes: dict[tuple[int, ...], set[int]] = {}
        for text in texts:
            ids = (*tokenizer.encode(text.decode()).ids, 0)
            for i in range(len(ids)):
                prefixes.setdefault(ids[:i], set()).add(ids[i])
        bounded = constraint.accepts_prefix(b"ab" * 20) or constraint.accepts_prefix(b"a" * 40)
        for prefix, following in prefixes.items():
            state = automaton.start()
            for token in prefix:
                state.advance(token)
            got = set(allowed(state.mask()))
            assert following <= got, (seed, prefix)
            if not bounded:
                assert got == following, (seed, prefix)


def test_state_methods() -> None:
    _, vocabulary, pairs = trained(1)
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
    tokenizer, vocabulary, pairs = trained(0)
    plain = json.loads(tokenizer.to_str())
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
    _, vocabulary, pairs = trained(3, 'ab":{}')
    few = tokamata.Limits(states=60)
    for unique in (True, False):
        constraint = tokamata.json_schema({"type": "object"}, unique_keys=unique, limits=few)
        with pytest.raises(tokamata.LimitError, match="states=60 was reached at the root"):
            CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs).start().mask()
