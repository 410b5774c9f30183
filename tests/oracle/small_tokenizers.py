"""Small byte-pair tokenizers with real ones' pretokenizers, and what they make of the members of a finite language."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import tiktoken
from oracle.mask_walk import allowed
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton
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


def isolated(*patterns: str) -> pre_tokenizers.PreTokenizer:
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([*(pre_tokenizers.Split(Regex(p), "isolated") for p in patterns), plain])


def byte_level() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


KINDS: dict[str, Callable[[], pre_tokenizers.PreTokenizer]] = {
    "one piece": isolated,
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


@functools.cache
def byte_of() -> dict[str, int]:
    """The bytes that characters stand for in the names of byte-level tokens."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {chr(b): b for b in shown} | {chr(256 + i): b for i, b in enumerate(hidden)}


Encode = Callable[[str], list[int]]


def tokenizer_file(kind: str, seed: int, alphabet: str, *, ignore_merges: bool = False) -> dict[str, Any]:
    """What a ``tokenizer.json`` of a tokenizer trained on random texts says; token 0 ends them."""
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
    return data


def trained(
    kind: str, seed: int, alphabet: str, *, ignore_merges: bool = False
) -> tuple[Encode, tokamata.Vocabulary, BytePairs]:
    """The tokenizer of such a file."""
    data = tokenizer_file(kind, seed, alphabet, ignore_merges=ignore_merges)
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


def what_follows(encode: Encode, texts: Sequence[str], end: int) -> dict[tuple[int, ...], set[int]]:
    """The tokens that come next in what the encoder writes for the texts, by those that came before."""
    following: dict[tuple[int, ...], set[int]] = {}
    for text in texts:
        ids = (*encode(text), end)
        for i in range(len(ids)):
            following.setdefault(ids[:i], set()).add(ids[i])
    return following


def check_all(
    made: tuple[Encode, tokamata.Vocabulary, BytePairs], constraint: tokamata.Constraint, texts: list[str], note: object
) -> None:
    """The masks of a finite language allow what the encoder writes for its texts and nothing else."""
    encode, vocabulary, pairs = made
    automaton = CanonicalAutomaton(tokamata.compile(constraint, vocabulary), pairs)
    end = vocabulary.eos_token_ids[0]
    for prefix, expected in what_follows(encode, texts, end).items():
        state = automaton.start()
        for token in prefix:
            state.advance(token)
        assert set(allowed(state.mask())) == expected, (note, texts, prefix)
        assert state.is_final == (end in expected)
        assert {token for token in range(len(vocabulary)) if state.allows(token)} == expected, (note, texts, prefix)
