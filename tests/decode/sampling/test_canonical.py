from __future__ import annotations

import itertools
import json
import math
import random

import numpy as np
import pytest
import tiktoken
import tokenizers
from oracle.lm_trees import FOLDER, kl, load
from oracle.random_model import RandomModel, conditional
from tokamata.decode.sampling import CARS, SMC, ASAp, Canonical, Enumerate, Masked
from tokamata.decode.sampling.canonical import merges_alone

import tokamata

TOKENS = [b"a", b"b", b"ab", b"aa", b"aab", None]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[5])


def greedy(text: str) -> list[int]:
    """The longest token first: not closed under prefixes, "aaab" is aa ab and begins with aa a."""
    ids = []
    while text:
        best = max((t for t in TOKENS[:5] if t and text.encode().startswith(t)), key=len)
        ids.append(TOKENS.index(best))
        text = text[len(best) :]
    return ids


@pytest.mark.parametrize("kind", [Enumerate, Masked, CARS, ASAp, SMC])
def test_only_the_segmentations_of_the_tokenizer(kind: type) -> None:
    constraint = tokamata.regex("[ab]{1,5}")
    automaton = tokamata.compile(constraint, VOCABULARY)
    model = RandomModel(6, 1, spread=1.0)
    exact, _ = conditional(model, VOCABULARY, constraint, 5)
    text = {t: b"".join(TOKENS[i] or b"" for i in t).decode() for t in exact}
    kept = {t for t in exact if list(t) == greedy(text[t])}
    sampler = kind(model, automaton, max_tokens=5, tokenization="canonical", canonical=greedy, seed=1)
    samples = sampler.sample(600)
    assert {s.tokens for s in samples} <= kept
    if kind is not SMC:
        assert len({s.tokens for s in samples}) > len(kept) / 3


def test_merging_by_rank_is_what_a_tokenizer_does() -> None:
    ranks = {bytes([b]): b for b in range(256)}
    for word in [*"th he the in ing er re ther aa aaa é".split(), " t", " the"]:
        ranks[word.encode()] = len(ranks)
    encoding = tiktoken.Encoding(
        "small", pat_str="(?s:.+)", mergeable_ranks=ranks, special_tokens={"<end>": len(ranks)}
    )
    vocabulary = tokamata.Vocabulary([*sorted(ranks, key=ranks.__getitem__), None], eos_token_ids=[len(ranks)])
    by_rank = Canonical.by_rank(vocabulary)
    for text in ("the other thing there", "thering", "aaaa aaaaa", "é café", "", "hehe in the"):
        expected = encoding.encode_ordinary(text)
        assert by_rank.encode(text) == expected
        assert by_rank.accepts(tuple(expected))
        for end in range(len(expected)):
            prefix = tuple(expected[:end])
            assert by_rank.extends(prefix, expected[end : end + 1]).all()  # type: ignore[arg-type]
    assert not by_rank.accepts((ranks[b"t"], ranks[b"h"]))
    assert Canonical.of(encoding, vocabulary).accepts((ranks[b"th"],))


def small_tokenizer(seed: int, added: list[str], blanks: str = "_") -> tokenizers.Tokenizer:
    """Random merges in any order, also before those that make their parts, over a, b and blanks."""
    rng = random.Random(seed)
    pieces = ["a", "b", blanks]
    merges: list[tuple[str, str]] = []
    while len(merges) < 9:
        pair = (rng.choice(pieces), rng.choice(pieces))
        if pair not in merges and len("".join(pair)) < 5:
            merges.append(pair)
            pieces += ["".join(pair)] * (("".join(pair)) not in pieces)
    rng.shuffle(merges)
    vocab = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges))
    made.normalizer = tokenizers.normalizers.Replace(" ", blanks)
    made.add_tokens([tokenizers.AddedToken(text, normalized=False) for text in added])
    return made


@pytest.mark.parametrize("added", [[], ["ab", "aba"]])
@pytest.mark.parametrize("seed", range(6))
def test_pairs_decide_where_merges_alone_segment(seed: int, added: list[str]) -> None:
    tokenizer = small_tokenizer(seed, added)
    size = tokenizer.get_vocab_size()
    pieces = [tokenizer.id_to_token(i).replace("_", " ").encode() for i in range(size)]
    vocabulary = tokamata.Vocabulary([*pieces, None], eos_token_ids=[size])
    canonical = Canonical.of(tokenizer, vocabulary)
    assert canonical.by_pairs
    assert canonical.prefix_closed
    late = 0
    for length in (1, 2, 3):
        for tokens in itertools.product(range(size), repeat=length):
            text = b"".join(pieces[t] for t in tokens).decode()
            own = tuple(tokenizer.encode(text).ids) == tokens
            assert canonical.accepts(tokens) == own
            kept = all(canonical.extends(tokens[:i], np.array(tokens[i : i + 1]))[0] for i in range(length))
            assert kept or not own, (seed, tokens)
            late += kept and not own
            whole = all(canonical.may_begin(tokens[:i]) for i in range(length + 1))
            assert whole == own, (seed, tokens)
    assert (late > 0) <= bool(added), (seed, late)  # added tokens may have three parts, merges are seen in pairs


def test_tokenizers_that_split_are_not_decided_by_pairs() -> None:
    def plain(change: object) -> bool:
        made = small_tokenizer(1, [])
        change(made)  # type: ignore[operator]
        return merges_alone(made)

    splitters = tokenizers.pre_tokenizers
    assert plain(lambda t: None)
    assert plain(lambda t: setattr(t, "pre_tokenizer", splitters.Split(" ", "merged_with_previous")))
    assert not plain(lambda t: setattr(t, "pre_tokenizer", splitters.Split("a", "merged_with_previous")))
    assert not plain(lambda t: setattr(t, "pre_tokenizer", splitters.Whitespace()))
    assert not plain(lambda t: setattr(t, "pre_tokenizer", splitters.ByteLevel()))
    assert plain(lambda t: setattr(t, "pre_tokenizer", splitters.ByteLevel(add_prefix_space=False, use_regex=False)))
    assert not plain(lambda t: setattr(t, "normalizer", tokenizers.normalizers.NFC()))
    assert not plain(lambda t: setattr(t, "normalizer", tokenizers.normalizers.Replace("b", "_")))
    assert not plain(lambda t: t.add_tokens([tokenizers.AddedToken("ab", single_word=True)]))
    assert not plain(lambda t: setattr(t.model, "dropout", 0.5))
    assert not merges_alone(tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0})))
    assert not merges_alone(None)


def test_weekdays() -> None:
    # 259 token paths spell four texts; the tokenizer makes four of them.
    model, automaton = load("weekdays-all-tokenizations")
    words = {" Monday", " Friday", " Sunday", " Tuesday"}
    whole = {model.vocabulary.token_bytes(t): t for t in range(model.stop)}

    def encode(text: str) -> list[int]:
        return [whole[text.encode()]]  # each is one token of the tokenizer

    sampler = Enumerate(model, automaton, max_tokens=40, tokenization="canonical", canonical=encode)
    members = sampler.members()
    # The tree's vocabulary is in the order of Gemma's ids, which is that of its merges.
    by_rank = Enumerate(model, automaton, max_tokens=40, tokenization="canonical")
    tree = json.loads((FOLDER / "weekdays-all-tokenizations.json").read_text())
    ids = {text.encode(): number for text, number in zip(tree["token"][1:], tree["token_id"][1:], strict=True)}
    assert [model.vocabulary.token_bytes(t) for t in range(model.stop)] == sorted(ids, key=ids.__getitem__)
    assert by_rank.members() == members
    assert by_rank.statistics.model_calls < 0.3 * sampler.statistics.model_calls  # prefixes are pruned
    assert {automaton.vocabulary.token_bytes(t[0]).decode() for t in members} == words  # type: ignore[union-attr]
    total = math.log(sum(math.exp(p) for p in members.values()))
    for tokens, log_p in members.items():
        assert log_p == model.members[tokens]
        assert math.isclose(sampler.log_prob(tokens), log_p - total, abs_tol=1e-12)
    masked = Masked(model, automaton, max_tokens=40, tokenization="canonical", canonical=encode)
    masked_all = Masked(model, automaton, max_tokens=40)
    over_paths = kl(masked_all.log_prob, model.conditional())

    def over_texts(law: object) -> float:
        by_text: dict[bytes, list[float]] = {}
        exact: dict[bytes, list[float]] = {}
        for tokens, log_p in model.conditional().items():
            text = b"".join(model.vocabulary.token_bytes(t) or b"" for t in tokens)
            by_text.setdefault(text, []).append(law(tokens))  # type: ignore[operator]
            exact.setdefault(text, []).append(log_p)
        q = {t: sum(map(math.exp, v)) for t, v in by_text.items()}
        p = {t: sum(map(math.exp, v)) for t, v in exact.items()}
        return sum(q[t] * math.log(q[t] / p[t]) for t in q if q[t] > 0)

    assert abs(over_paths - 0.082) < 1e-3
    assert over_texts(masked_all.log_prob) < over_paths
    # Canonical masking meets dead ends (" Mon", "day") and is not normalized; the exact canonical law is.
    assert sum(math.exp(masked.log_prob(t)) for t in members) < 1
    assert over_texts(sampler.log_prob) < 0.01


def test_arguments() -> None:
    model, automaton = load("binary5-fewshot")
    with pytest.raises(ValueError, match="canonical needs tokenization"):
        Masked(model, automaton, canonical=greedy)
    with pytest.raises(TypeError, match="expected a tokenizer or a function"):
        Masked(model, automaton, tokenization="canonical", canonical=5)
    closed = Canonical(greedy, VOCABULARY, prefix_closed=True)
    assert [closed.accepts(t) for t in itertools.product([0, 3], repeat=2)] == [False, False, True, True]
