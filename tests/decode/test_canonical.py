"""Canonical tokenizations against the tokenizers library: the encoder's own tokens, no others."""

from __future__ import annotations

import itertools
import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.mask_walk import allowed
from oracle.small_tokenizers import byte_of, check_all, tokenizer_file, trained, what_follows
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

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


def of_bytes(*tokens: str, **model: Any) -> dict[str, Any]:
    """A byte-level ``tokenizer.json`` with tokens that no merges make; token 0 ends texts."""
    names = ["<end>", *sorted(byte_of()), *tokens]
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(names)}, [], **model))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    return dict(json.loads(tokenizer.to_str()))


def vocabulary_of(data: dict[str, Any], folder: Path) -> tokamata.Vocabulary:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(data), "utf-8")
    return tokamata.Vocabulary.from_file(path, eos_token_ids=[0])


def test_tokens_outside_of_the_byte_alphabet(tmp_path: Path) -> None:
    data = of_bytes("中")
    encode = Tokenizer.from_str(json.dumps(data)).encode
    made = lambda text: encode(text).ids, vocabulary_of(data, tmp_path), BytePairs.from_tokenizer_json(data)
    check_all(made, tokamata.choice(["中", "a中"]), ["中", "a中"], "not in the alphabet")
    with pytest.raises(tokamata.UnsupportedError, match="token 257, '中', is outside of the byte alphabet"):
        BytePairs.from_tokenizer_json(of_bytes("中", ignore_merges=True))


def accepts(data: dict[str, Any], texts: str, folder: Path) -> list[str]:
    """Which of the texts the masks let the encoder write."""
    vocabulary, pairs = vocabulary_of(data, folder), BytePairs.from_tokenizer_json(data)
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.encode_special_tokens = True
    state = CanonicalAutomaton(tokamata.compile(tokamata.choice(texts.split()), vocabulary), pairs).start()
    found = {text: tokenizer.encode(text).ids for text in texts.split()}
    return [text for text, ids in found.items() if state.validate([*ids, 0]) == len(ids) + 1]


def test_added_tokens_are_found_in_normalized_texts(tmp_path: Path) -> None:
    data = of_bytes() | {"normalizer": {"type": "NFC"}}
    token = {"id": 257, "content": "e\u0301", "special": False, "normalized": True}
    data["added_tokens"].append(token | dict.fromkeys(["lstrip", "rstrip", "single_word"], False))
    pairs = BytePairs.from_tokenizer_json(data)
    assert pairs.texts is not None
    assert not pairs.texts.accepts("aé")
    assert pairs.texts.accepts("aà")
    assert accepts(data, "é aà", tmp_path) == ["aà"]


def test_special_tokens_that_are_whole_pieces(tmp_path: Path) -> None:
    data = of_bytes(ignore_merges=True)
    pairs = BytePairs.from_tokenizer_json(data)
    assert pairs.texts is not None
    assert not pairs.texts.accepts("<end>")
    assert accepts(data, "<end> <en", tmp_path) == ["<en"]
    assert BytePairs.from_tokenizer_json(of_bytes()).texts is None


def test_decoders_of_another_kind_are_refused() -> None:
    data = of_bytes()
    digits = {"type": "Digits", "individual_digits": True}
    for change in ({"pre_tokenizer": digits}, {"pre_tokenizer": None}, {"decoder": {"type": "Metaspace"}}):
        with pytest.raises(tokamata.UnsupportedError, match="does not undo what the pretokenizer does"):
            BytePairs.from_tokenizer_json(data | change)
    BytePairs.from_tokenizer_json(data | {"decoder": None})


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "damaged.json"
    bpe = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    models_: list[Any] = [
        5, bpe | {"merges": 5}, bpe | {"merges": [5]}, bpe | {"merges": ["a"]}, bpe | {"vocab": {"a": "b"}},
        bpe | {"vocab": {"a": -1}}, bpe | {"vocab": {"a": 2**31}}, bpe | {"vocab": {"a": 2**40}}, bpe | {"vocab": 5},
        {"type": "BPE", "merges": []},
    ]  # fmt: skip
    documents: list[Any] = [{"model": model} for model in models_]
    documents += [[1], {"model": bpe, "added_tokens": [{"content": "a"}]}, {"model": bpe, "added_tokens": 5}]
    documents += [{"model": bpe, "pre_tokenizer": 5}, {"model": bpe, "pre_tokenizer": {"type": "Split"}}]
    for text in [*map(json.dumps, documents), '{"model"', "\xff"]:
        path.write_text(text, "latin-1")
        with pytest.raises(tokamata.ConstraintError) as caught:
            BytePairs.from_tokenizer_json(path)
        assert type(caught.value) in (tokamata.VocabularyError, tokamata.UnsupportedError), text
    config = {"default_num_special_tokens": 0, "default_vocab_size": 300, "pattern": "(?s:.)"}
    entry = {"rank": 0, "token_bytes": "YQ=="}
    tekkens: list[Any] = [5, {"config": {}}, {"config": config, "vocab": 5}, {"config": config | {"pattern": 5}}]
    many = config | {"default_vocab_size": 4_000_000_000}
    tekkens += [{"config": many, "vocab": [entry | {"rank": 3_000_000_000}]}]
    wrong = [{"rank": "a"}, {"rank": -1}, {"token_bytes": "Y"}, {"token_bytes": "é"}, {"token_bytes": 5}]
    tekkens += [{"config": config, "vocab": [entry | change]} for change in wrong]
    tekkens += [{"config": config | {"default_vocab_size": float("inf")}, "vocab": [entry]}]
    for text in [*map(json.dumps, tekkens), '{"config"']:
        path.write_text(text, "utf-8")
        with pytest.raises(tokamata.VocabularyError, match=r"damaged\.json: "):
            BytePairs.from_tekken(path)
    with pytest.raises(tokamata.MissingFileError):
        BytePairs.from_tekken(tmp_path / "none.json")
