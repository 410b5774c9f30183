"""Canonical tokenizations against the tokenizers library: the encoder's own tokens, no others."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import pytest
from oracle.random_constraint import random_constraint
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


def byte_of() -> dict[str, int]:
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {chr(b): b for b in shown} | {chr(256 + i): b for i, b in enumerate(hidden)}


def random_bpe(seed: int) -> tuple[dict[bytes, int], list[tuple[bytes, bytes]]]:
    """Merges that no training would give: any pair of what exists, in any order."""
    rng = random.Random(seed)
    known = [b"a", b"b"]
    merges: list[tuple[bytes, bytes]] = []
    while len(merges) < 12:
        a, b = rng.choice(known), rng.choice(known)
        if len(a + b) <= 6 and a + b not in known:
            merges.append((a, b))
            known.append(a + b)
    return {token: i for i, token in enumerate(known)}, merges


def encode(text: bytes, vocab: dict[bytes, int], merges: list[tuple[bytes, bytes]]) -> list[int]:
    parts = [bytes([b]) for b in text]
    for a, b in merges:  # ranks rise along derivations, so one pass in their order is the encoder
        i = 0
        while i + 1 < len(parts):
            if (parts[i], parts[i + 1]) == (a, b):
                parts[i : i + 2] = [a + b]
            i += 1
    return [vocab[p] for p in parts]


def allowed(mask: np.ndarray) -> list[int]:
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()


def test_neighbours_decide() -> None:
    for seed in range(60):
        vocab, merges = random_bpe(seed)
        names = list(vocab)
        pairs = BytePairs(len(vocab), [(vocab[a], vocab[b], vocab[a + b]) for a, b in merges], range(2))
        for token in vocab:
            assert pairs.written[vocab[token]] == (encode(token, vocab, merges) == [vocab[token]]), (seed, token)
        good = np.array([[pairs.neighbours(i, k) for k in range(len(names))] for i in range(len(names))])
        for i in range(len(names)):
            if pairs.written[i]:
                assert (pairs.after(i) == good[i]).all(), (seed, names[i])
                assert (pairs.before(i) == good[:, i]).all(), (seed, names[i])
        rng = random.Random(seed)
        for _ in range(150):
            ids = [rng.randrange(len(names)) for _ in range(rng.randrange(1, 5))]
            text = b"".join(names[i] for i in ids)
            canonical = encode(text, vocab, merges) == ids
            claimed = bool(pairs.written[ids[0]]) and all(good[i, k] for i, k in pairwise(ids))
            assert claimed == canonical, (seed, ids)


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


def test_random_walks_end_and_are_canonical() -> None:
    walked = 0
    for seed in range(9):
        rng = random.Random(seed)
        constraint, _, text = random_constraint(rng, algebra=False)
        tokenizer, vocabulary, pairs = trained(seed % 3)
        try:
            automaton = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs, max_states=300)
        except (tokamata.ConstraintError, tokamata.LimitError):
            continue
        for _ in range(4):
            state, tokens = automaton.start(), []
            for step in range(60):
                ids = allowed(state.mask())
                assert ids, (seed, text, tokens)  # never a dead end
                token = 0 if 0 in ids and step > 8 else rng.choice(ids)
                assert state.allows(token)
                state.advance(token)
                if token == 0:
                    break
                tokens.append(token)
            data = b"".join(vocabulary.token_bytes(t) or b"" for t in tokens)
            if state.is_finished:
                assert constraint.accepts(data), (seed, text)
                try:
                    assert tokenizer.encode(data.decode()).ids == tokens, (seed, text, tokens)
                except UnicodeDecodeError:
                    continue
                walked += 1
    assert walked > 5


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
        "pretokenizer": {"pre_tokenizer": {"type": "ByteLevel", "use_regex": True, "add_prefix_space": False}},
        "normalizes": {"normalizer": {"type": "NFC"}},
        "ignore_merges": {"model": plain["model"] | {"ignore_merges": True}},
        "not BPE": {"model": {"type": "Unigram", "vocab": []}},
    }
    for text, change in changes.items():
        with pytest.raises(tokamata.UnsupportedError, match=f"not decided by its merges alone.*{text}"):
            BytePairs.from_tokenizer_json(plain | change)
    with pytest.raises(tokamata.UnsupportedError, match="before a merge makes it"):
        BytePairs(4, [(2, 0, 3), (0, 1, 2)], [0, 1])
    endless = tokamata.compile(tokamata.json_value(), vocabulary)
    with pytest.raises(tokamata.LimitError, match="limit max_states=100"):
        CanonicalAutomaton(endless, pairs, max_states=100)
    with pytest.raises(tokamata.LimitError, match="limit max_entries=10"):
        CanonicalAutomaton(tokamata.compile(tokamata.regex("a*"), vocabulary), pairs, max_entries=10)
