"""Forced text in the tokenizer's own tokens, and prompts whose last tokens are written anew."""

from __future__ import annotations

import itertools
import json
import random
import re

import pytest
from oracle.mask_walk import allowed
from oracle.small_tokenizers import trained
from tokamata.decode.jump_forward import heal, jump_forward
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import tokamata

TEXTS = [
    '{"name": "Ada Lovelace", "born": 1815, "tags": ["math", "poetry"]}',
    '{"name": "Alan Turing", "born": 1912, "tags": ["math"], "url": "https://example.org/turing"}',
    "https://example.com/index.html http://localhost:8080/ https://tokamata.example/docs",
    "the quick brown fox jumps over the lazy dog; naïve café, 日本語",
] * 20


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

SPACES = ["    return 1\n\n\n        x = 23\n", "a   1    2  b"] * 20


def make(
    cut: bool | pre_tokenizers.PreTokenizer, size: int = 400, texts: list[str] = TEXTS
) -> tuple[Tokenizer, tokamata.Vocabulary]:
    tokenizer = Tokenizer(models.BPE())
    by_gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.pre_tokenizer = (by_gpt2 if cut else BYTES) if isinstance(cut, bool) else cut
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
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
    tokenizer, vocabulary = make(cut=True)
    encode = lambda text: tokenizer.encode(text).ids  # noqa: E731
    state = tokamata.compile(tokamata.regex("https://example[.](org|com)/[a-z]+"), vocabulary).start()
    first = next(t for t in allowed(state.mask()) if vocabulary.token_bytes(t) == b"h")
    state.advance(first)  # the model wrote a token that the tokenizer would not have
    keep, new = jump_forward(state, [first], vocabulary, encode)
    assert keep == 0
    written = [encode(f"https://example.{end}/a") for end in ("org", "com")]
    assert new == written[0][: len(new)] == written[1][: len(new)]
    assert text_of(new, vocabulary) == b"https://example."  # no token goes on from the dot
    state = tokamata.compile(tokamata.regex("the qu(ick|ite)"), vocabulary).start()
    quick, the = encode("the quick"), encode("the")
    assert quick[: len(the)] == the
    assert len(quick) == len(the) + 1
    assert jump_forward(state, [], vocabulary, encode) == (0, the)  # " qu" may be a part of " quick"
    assert quick[-1] in allowed(state.mask())


PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+",
}
CHOICES = ["[a-z]{1,6}", "[0-9]{1,7}", "( |  |\n)", "(hello|help|held)", " *", "(it's|it'd|its)", "https?://", "x{3,9}"]
CHOICES += [r"\s{0,3}", "[\"'.,!]{1,3}", "(日本語|日本|naïve)", "\n{0,3}", "([A-Z][a-z]+ ?){1,3}"]
FIXED = [
    "the quick ",
    '{"name": "',
    '", "born": ',
    "brown",
    " 12",
    "   ",
    "\n\n",
    "'",
    "it",
    "don't",
    "https://example",
]
FIXED += ["  return ", "     ", "    return", "://", "über", "日本", "100000", "fox, over"]


@pytest.mark.parametrize("name", PATTERNS)
def test_what_is_taken_is_what_the_tokenizer_writes_whatever_follows(name: str) -> None:
    """Along the tokens of whole texts: what is taken is always a beginning of these."""
    split = pre_tokenizers.Split(Regex(PATTERNS[name]), "isolated")
    tokenizer, vocabulary = make(pre_tokenizers.Sequence([split, BYTES]), 700, TEXTS + SPACES)
    rng = random.Random(name)
    jumps = 0
    for case in range(200):
        parts = [re.escape(rng.choice(FIXED)) if rng.random() < 0.6 else rng.choice(CHOICES) for _ in range(5)]
        constraint = tokamata.regex("".join(parts[: rng.randrange(2, 6)]))
        automaton = tokamata.compile(constraint, vocabulary)
        for text in constraint.examples(3, seed=case):
            whole = tokenizer.encode(text.decode()).ids
            state, tokens = automaton.start(), list[int]()
            while True:
                keep, new = jump_forward(state, tokens, vocabulary, lambda t: tokenizer.encode(t).ids, window=12)
                assert keep == len(tokens), (case, text)
                tokens += new
                jumps += len(new)
                assert tokens == whole[: len(tokens)], (case, parts, text)
                if len(tokens) == len(whole):
                    break
                tokens.append(whole[len(tokens)])
                state.advance(tokens[-1])
    assert jumps > 700


@pytest.mark.parametrize("window", [1, 2, 12, 64])
@pytest.mark.parametrize("ignore_merges", [True, False])
def test_windows_that_begin_inside_of_a_piece(window: int, ignore_merges: bool) -> None:
    """Line breaks behind punctuation are of its piece; by themselves they would be one piece with what follows."""
    for seed, count, tail in itertools.product((0, 1), (3, 30, 150), (" \n  b", "\n \n  ")):
        encode, vocabulary, _ = trained("Llama 3", seed, 'ab0" \n', ignore_merges=ignore_merges)
        automaton = tokamata.compile(tokamata.regex(f'b"\n{{{count},{count + 2}}}{tail}'), vocabulary)
        for more in range(3):
            whole = encode('b"' + "\n" * (count + more) + tail)
            state, tokens = automaton.start(), list[int]()
            while True:
                keep, new = jump_forward(state, tokens, vocabulary, encode, window=window)
                tokens = tokens[:keep] + new
                assert tokens == whole[: len(tokens)], (seed, count + more, tail)
                if len(tokens) == len(whole):
                    break
                tokens.append(whole[len(tokens)])
                state.advance(tokens[-1])


def test_no_jump_where_the_tokenizer_changes_the_text() -> None:
    _, vocabulary = make(cut=True)
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
    tokenizer, vocabulary = make(cut=True)
    prompt = tokenizer.encode("the quick;").ids
    digits = tokamata.regex("[0-9]+")
    assert heal(prompt, digits, vocabulary) == (prompt, digits, b"")
    assert heal([], digits, vocabulary) == ([], digits, b"")
    assert heal([0], digits, vocabulary) == ([0], digits, b"")  # a special token is no text
