"""Samplers of canonical segmentations under a pretokenizer that looks ahead, against all segmentations one by one."""

from __future__ import annotations

import itertools
import math

import pytest
import tiktoken
from oracle.random_model import RandomModel
from tokamata.decode.canonical import BytePairs
from tokamata.decode.sampling import CARS, SMC, ASAp, Canonical, Enumerate, Masked

import tokamata

PATTERN = r" ?[ab]+|\s+(?!\S)|\s+|(?s:.)"
WORDS = ["ab", " a", "aa", "  ", "   ", " ab", "aab"]
RANKS = {bytes([b]): b for b in range(256)} | {word.encode(): 256 + i for i, word in enumerate(WORDS)}
ENCODING = tiktoken.Encoding("blanks", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens={})
VOCABULARY = tokamata.Vocabulary([*RANKS, None], eos_token_ids=[len(RANKS)])
CONSTRAINT = tokamata.regex("[ab ]{1,4}")
MEMBERS = ["".join(letters) for n in range(1, 5) for letters in itertools.product("ab ", repeat=n)]


def text(tokens: tuple[int, ...]) -> str:
    return b"".join(VOCABULARY.token_bytes(t) or b"" for t in tokens).decode()


@pytest.mark.parametrize("kind", [Enumerate, Masked, CARS, ASAp, SMC])
def test_only_canonical_and_no_dead_ends(kind: type) -> None:
    automaton = tokamata.compile(CONSTRAINT, VOCABULARY)
    model = RandomModel(len(VOCABULARY), 1, spread=1.0)
    pairs = BytePairs.from_tiktoken(ENCODING)
    options = {"max_tokens": 8, "tokenization": "canonical", "seed": 3}
    sampler = kind(model, automaton, canonical=pairs, **options)
    samples = sampler.sample(200)
    assert all(list(s.tokens) == ENCODING.encode_ordinary(text(s.tokens)) for s in samples)
    assert len({s.tokens for s in samples}) > 8
    if kind is Masked:
        assert sampler.statistics.tries == 200  # none was rejected
    if kind is not Enumerate:
        return
    slow = Enumerate(model, automaton, canonical=ENCODING, **options)  # looks at complete texts only
    own = {tuple(ENCODING.encode_ordinary(member)) for member in MEMBERS}
    assert set(sampler.members()) == own == set(slow.members())
    for tokens in own:
        assert math.isclose(sampler.log_prob(tokens), slow.log_prob(tokens), abs_tol=1e-9)
    assert sampler.statistics.model_calls < 0.6 * slow.statistics.model_calls


def test_over_an_automaton_only() -> None:
    canonical = Canonical.of(BytePairs.from_tiktoken(ENCODING), VOCABULARY)
    with pytest.raises(TypeError, match="which knows what members there are"):
        canonical.accepts((97,))
    with pytest.raises(TypeError, match="without encoding texts"):
        canonical.encode("a")
    over = canonical.over(tokamata.compile(CONSTRAINT, VOCABULARY))
    assert over.accepts((RANKS[b"ab"],))
    assert not over.accepts((97, 98))
    assert not over.may_begin((97, 98))
