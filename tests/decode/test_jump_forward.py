"""Forced text in the tokenizer's own tokens, and prompts whose last tokens are written anew."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from tokamata.decode.jump_forward import heal, jump_forward
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import tokamata

TEXTS = [
    '{"name": "Ada Lovelace", "born": 1815, "tags": ["math", "poetry"]}',
    '{"name": "Alan Turing", "born": 1912, "tags": ["math"], "url": "https://example.org/turing"}',
    "https://example.com/index.html http://localhost:8080/ https://tokamata.example/docs",
    "the quick brown fox jumps over the lazy dog; naïve café, 日本語",
] * 20


def make(use_regex: bool, size: int = 400) -> tuple[Tokenizer, tokamata.Vocabulary]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    of_byte = {c: b for b, c in byte_letters().items()}
    tokens: list[bytes | None] = []
    for i in range(tokenizer.get_vocab_size()):
        name = tokenizer.id_to_token(i)
        tokens.append(None if name == "<end>" else bytes(of_byte[c] for c in name))
    return tokenizer, tokamata.Vocabulary(tokens, eos_token_ids=[0])


def byte_letters() -> dict[int, str]:
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}


@pytest.fixture(scope="module", params=[True, False], ids=["regex", "no regex"])
def made(request: pytest.FixtureRequest) -> tuple[Tokenizer, tokamata.Vocabulary]:
    return make(request.param)


def text_of(tokens: list[int], vocabulary: tokamata.Vocabulary) -> bytes:
    return b"".join(vocabulary.token_bytes(t) or b"" for t in tokens)


def allowed(mask: np.ndarray) -> list[int]:
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"enum": ["Ada Lovelace", "Alan Turing"]},
        "born": {"type": "integer", "minimum": 1800, "maximum": 1950},
        "url": {"type": "string", "pattern": "^https://example[.](org|com)/[a-z]{1,8}$"},
    },
    "required": ["name", "born", "url"],
    "additionalProperties": False,
}


def test_jumps_write_members_in_the_tokenizers_own_tokens(made: tuple[Tokenizer, tokamata.Vocabulary]) -> None:
    tokenizer, vocabulary = made
    constraint = tokamata.json_schema(SCHEMA, whitespace="compact")
    automaton = tokamata.compile(constraint, vocabulary)

    def encode(text: str) -> list[int]:
        return tokenizer.encode(text).ids

    plain = jumped = canonical = 0
    for seed in range(15):
        rng = random.Random(seed)
        state, tokens, asked = automaton.start(), [], 0
        while not state.is_finished:
            keep, new = jump_forward(state, tokens, vocabulary, encode)
            assert keep <= len(tokens), seed
            before = text_of(tokens, vocabulary)
            tokens = tokens[:keep] + new
            text = text_of(tokens, vocabulary)
            assert text.startswith(before), seed
            assert automaton.start().validate(tokens) == len(tokens), seed
            assert state.num_tokens == len(tokens), seed
            again = automaton.start()
            for token in tokens:
                again.advance(token)
            assert (again.mask() == state.mask()).all(), seed
            ids = allowed(state.mask())
            ids.sort(key=lambda t: -len(vocabulary.token_bytes(t) or b""))
            token = rng.choice(ids[:5])
            asked += 1
            tokens.append(token)
            state.advance(token)
        text = text_of(tokens, vocabulary)
        assert constraint.accepts(text), seed
        best = encode(text.decode())
        canonical += tokens[:-1] == best
        plain += len(best) + 1
        jumped += asked
    assert jumped < 0.7 * plain
    assert canonical >= 3


def test_a_text_without_choices_is_the_tokenizers_own(made: tuple[Tokenizer, tokamata.Vocabulary]) -> None:
    tokenizer, vocabulary = made
    for text in (json.dumps({"name": "Ada Lovelace", "born": 1815}), "https://example.com/", "naïve 日本語"):
        state = tokamata.compile(tokamata.literal(text), vocabulary).start()
        jump = jump_forward(state, [], vocabulary, lambda t: tokenizer.encode(t).ids)
        assert jump == (0, tokenizer.encode(text).ids)
        assert state.is_final
        assert jump_forward(state, jump.tokens, vocabulary, lambda t: tokenizer.encode(t).ids) == (len(jump.tokens), [])


def test_the_boundary_token_is_given_back() -> None:
    tokenizer, vocabulary = make(use_regex=True)
    encode = lambda text: tokenizer.encode(text).ids  # noqa: E731
    state = tokamata.compile(tokamata.regex("https://example[.](org|com)/[a-z]+"), vocabulary).start()
    first = next(t for t in allowed(state.mask()) if vocabulary.token_bytes(t) == b"h")
    state.advance(first)  # the model wrote a token that the tokenizer would not have
    keep, new = jump_forward(state, [first], vocabulary, encode)
    assert keep == 0
    whole = encode("https://example.")
    assert new == whole[:-1]
    last = vocabulary.token_bytes(whole[-1]) or b"?"
    assert text_of(new, vocabulary) + last == b"https://example."
    assert whole[-1] in allowed(state.mask())
    assert all(
        last.startswith(b) or b.startswith(last) for b in map(vocabulary.token_bytes, allowed(state.mask())) if b
    )


def test_no_jump_where_the_tokenizer_changes_the_text() -> None:
    _, vocabulary = make(use_regex=True)
    state = tokamata.compile(tokamata.literal("ab"), vocabulary).start()
    for wrong in ([], [1], [5, 6, 7]):
        assert jump_forward(state, [], vocabulary, lambda _: wrong) == (0, [])  # noqa: B023
    assert state.num_tokens == 0


@pytest.mark.parametrize("pieces", [[b"http"], [b"http", b"s"], [b"https", b":"]])
def test_healing(pieces: list[bytes], made: tuple[Tokenizer, tokamata.Vocabulary]) -> None:
    tokenizer, vocabulary = made
    rest = tokamata.regex("s?(:|)//example[.]com/[a-z]*")
    ids = {vocabulary.token_bytes(i): i for i in range(len(vocabulary))}
    if any(piece not in ids for piece in pieces):
        pieces = [bytes([b]) for b in b"".join(pieces)]
    prompt = [*tokenizer.encode("see ").ids, *(ids[piece] for piece in pieces)]
    healed = heal(prompt, rest, vocabulary)
    given_back = len(prompt) - len(healed.prompt_ids)
    assert 1 <= given_back <= 4
    assert text_of(prompt[-given_back:], vocabulary) == healed.prefix
    assert healed.constraint.accepts(healed.prefix + b"://example.com/")
    assert not healed.constraint.accepts(b"s://example.com/")
    state = tokamata.compile(healed.constraint, vocabulary).start()
    longer = [t for t in allowed(state.mask()) if len(vocabulary.token_bytes(t) or b"") >= len(healed.prefix)]
    assert longer
    state.advance(longer[0])


def test_nothing_to_heal() -> None:
    tokenizer, vocabulary = make(use_regex=True)
    prompt = tokenizer.encode("the quick;").ids
    digits = tokamata.regex("[0-9]+")
    assert heal(prompt, digits, vocabulary) == (prompt, digits, b"")
    assert heal([], digits, vocabulary) == ([], digits, b"")
    assert heal([0], digits, vocabulary) == ([0], digits, b"")  # a special token is no text
