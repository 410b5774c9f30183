"""Canonical tokenizations under pretokenizers, against the tokenizers library and tiktoken: their tokens, no others."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable

import numpy as np
import pytest
import tiktoken
from oracle.random_constraint import random_constraint
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton
from tokamata.decode.pretokenizer import Pretokenizer
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import tokamata

QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CL100K = QWEN.replace(r"\p{N}|", r"\p{N}{1,3}|", 1)
CL100K_POSSESSIVE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"
    r"\s+(?!\S)|\s"
)
O200K = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]
)
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
    "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
    "\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]
ALPHABETS = [
    "ab1' \n!é",
    "sS'tT ae",
    "a \n\r\t",
    "12 a",
    "Aa' /\n",
    "中ab1あ!\n",
    "abbc",
    "a\x01!1",
]


def isolated(*patterns: str) -> pre_tokenizers.PreTokenizer:
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([*(pre_tokenizers.Split(Regex(p), "isolated") for p in patterns), plain])


def byte_level() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


KINDS: dict[str, Callable[[], pre_tokenizers.PreTokenizer]] = {
    "GPT-2": byte_level,
    "Qwen": lambda: isolated(QWEN),
    "Llama 3": lambda: isolated(CL100K),
    "o200k": lambda: isolated(O200K),
    "DeepSeek": lambda: isolated(*DEEPSEEK),
    "StarCoder": lambda: pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level()]),
    "gaps": lambda: isolated("ab|abb+c", "b+a?"),
    "gaps that look ahead": lambda: isolated(r"a(?!b)|b+$| +(?=\S)"),
    "punctuation": lambda: pre_tokenizers.Sequence([pre_tokenizers.Punctuation("isolated"), byte_level()]),
}


def byte_of() -> dict[str, int]:
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {chr(b): b for b in shown} | {chr(256 + i): b for i, b in enumerate(hidden)}


Encode = Callable[[str], list[int]]


def trained(
    kind: str, seed: int, alphabet: str, *, ignore_merges: bool = False
) -> tuple[Encode, tokamata.Vocabulary, BytePairs]:
    rng = random.Random(seed)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = KINDS[kind]()
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=317,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    weights = [rng.random() ** 2 + 0.05 for _ in alphabet]
    texts = ["".join(rng.choices(alphabet, weights, k=rng.randrange(3, 30))) for _ in range(60)]
    tokenizer.train_from_iterator(texts, trainer)
    data = json.loads(tokenizer.to_str())
    if ignore_merges:  # some tokens that no merges make, or that other ones hide
        data["model"]["ignore_merges"] = True
        data["model"]["merges"] = [m for m in data["model"]["merges"] if rng.random() < 0.8]
        rng.shuffle(data["model"]["merges"])
        tokenizer = Tokenizer.from_str(json.dumps(data))
    names = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    tokens = [None, *(bytes(byte_of()[c] for c in name) for name in names[1:])]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[0])
    return lambda text: tokenizer.encode(text).ids, vocabulary, BytePairs.from_tokenizer_json(data)


def ranked(pattern: str, seed: int, alphabet: str) -> tuple[Encode, tokamata.Vocabulary, BytePairs]:
    """A tiktoken encoding of random tokens in random order."""
    rng = random.Random(seed)
    tokens = [bytes([b]) for b in range(256)]
    while len(tokens) < 320:
        new = "".join(rng.choices(alphabet, k=rng.randrange(1, 4))).encode()
        at = rng.randrange(len(new))
        new = rng.choice([new, new[at:], new[: at + 1], rng.choice(tokens) + new])
        if new not in tokens and len(new) < 7:
            tokens.append(new)
    special = len(tokens)
    tail = tokens[256:]
    rng.shuffle(tail)
    ranks = {token: i for i, token in enumerate(tokens[:256] + tail)}
    encoding = tiktoken.Encoding(f"random{seed}", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    vocabulary = tokamata.Vocabulary([*ranks, None], eos_token_ids=[special])
    return encoding.encode_ordinary, vocabulary, BytePairs.from_tiktoken(encoding)


def allowed(mask: np.ndarray) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist())


def check_all(
    made: tuple[Encode, tokamata.Vocabulary, BytePairs], constraint: tokamata.Constraint, texts: list[str], note: object
) -> None:
    """The masks of a finite language allow what the encoder writes for its texts and nothing else."""
    encode, vocabulary, pairs = made
    automaton = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs)
    end = vocabulary.eos_token_ids[0]
    following: dict[tuple[int, ...], set[int]] = {}
    for text in texts:
        ids = (*encode(text), end)
        for i in range(len(ids)):
            following.setdefault(ids[:i], set()).add(ids[i])
    for prefix, expected in following.items():
        state = automaton.start()
        for token in prefix:
            state.advance(token)
        assert allowed(state.mask()) == expected, (note, texts, prefix)
        assert state.is_final == (end in expected)
        assert {token for token in range(len(vocabulary)) if state.allows(token)} == expected, (note, texts, prefix)


def random_texts(rng: random.Random, alphabet: str) -> list[str]:
    return sorted({"".join(rng.choices(alphabet, k=rng.randrange(7))) for _ in range(rng.randrange(1, 25))})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ignore_merges", [False, True])
def test_finite_languages(kind: str, ignore_merges: bool) -> None:
    for seed in range(2):
        rng = random.Random(f"{kind}{seed}")
        alphabet = rng.choice(ALPHABETS)
        texts = random_texts(rng, alphabet)
        made = trained(kind, seed, alphabet, ignore_merges=ignore_merges)
        check_all(made, tokamata.choice(texts), texts, (kind, seed))


@pytest.mark.parametrize("pattern", [QWEN, CL100K, CL100K_POSSESSIVE, O200K])
def test_finite_languages_with_ranks(pattern: str) -> None:
    for seed in range(4):
        rng = random.Random(seed)
        alphabet = rng.choice(ALPHABETS)
        texts = random_texts(rng, alphabet)
        check_all(ranked(pattern, seed, alphabet), tokamata.choice(texts), texts, (pattern, seed))


@pytest.mark.parametrize("kind", ["GPT-2", "DeepSeek", "gaps", "gaps that look ahead"])
def test_all_texts_of_a_length(kind: str) -> None:
    for seed, alphabet in enumerate(["ab ", "a \n1", "a's"]):
        texts = ["".join(letters) for n in range(5) for letters in itertools.product(alphabet, repeat=n)]
        constraint = tokamata.regex(f"[{alphabet}]{{0,4}}")
        check_all(trained(kind, seed, alphabet), constraint, texts, (kind, alphabet))


def test_random_walks_end_and_are_canonical() -> None:
    walked = 0
    for seed in range(12):
        rng = random.Random(seed)
        constraint, _, text = random_constraint(rng, algebra=False)
        kind = rng.choice(list(KINDS))
        encode, vocabulary, pairs = trained(kind, seed % 3, 'ab0" \n', ignore_merges=rng.random() < 0.3)
        try:
            automaton = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs)
        except tokamata.ConstraintError:
            continue
        for _ in range(2):
            state, tokens = automaton.start(), []
            for step in range(30):
                ids = allowed(state.mask())
                assert ids, (seed, text, tokens)  # never a dead end
                token = 0 if 0 in ids and step > 8 else rng.choice(sorted(ids))
                state.advance(token)
                if token == 0:
                    break
                tokens.append(token)
            data = b"".join(vocabulary.token_bytes(t) or b"" for t in tokens)
            if state.is_finished:
                assert constraint.accepts(data), (seed, text)
                assert encode(data.decode()) == tokens, (seed, kind, text, tokens)
                walked += 1
    assert walked > 8


def test_what_is_not_followed_is_refused() -> None:
    refused = {
        r"\bab": r"the escape \\b",
        r"^ab": "assertion or group",
        r"(?<=a)b": "assertion or group",
        r"a(?!bc)": "lookahead at more than one character",
        r"(?:ab)++": "possessive quantifier of more than one character",
        r"a*": "matches the empty text",
        r"\w+": r"the escape \\w",
        r"[a[bc]]": "a class inside of a class",
        r"[a-z&&[^b]]": "a class inside of a class or an operation",
        r"a{,3}": "a brace that is no count",
    }
    for pattern, text in refused.items():
        with pytest.raises(tokamata.UnsupportedError, match=text):
            Pretokenizer([pattern])
    with pytest.raises(tokamata.UnsupportedError, match="a plus after a count"):
        Pretokenizer([r"\p{N}{1,3}+"])
    with pytest.raises(tokamata.UnsupportedError, match="the tokenizer loses them"):
        Pretokenizer([r"[a-z]+"], "tiktoken")
    with pytest.raises(tokamata.UnsupportedError, match="pretokenizer Whitespace is not followed"):
        Pretokenizer.from_tokenizer_json({"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}]})
    with pytest.raises(tokamata.UnsupportedError, match="add_prefix_space"):
        Pretokenizer.from_tokenizer_json({"type": "ByteLevel", "add_prefix_space": True})
    with pytest.raises(tokamata.UnsupportedError, match="'MergedWithNext'"):
        split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": False}
        Pretokenizer.from_tokenizer_json(split)
