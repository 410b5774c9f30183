"""Canonical tokenizations under pretokenizers, against the tokenizers library and tiktoken: their tokens, no others."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from oracle.mask_walk import allowed
from oracle.random_constraint import random_constraint
from oracle.small_tokenizers import CL100K, CL100K_POSSESSIVE, KINDS, O200K, QWEN, check_all, isolated, ranked, trained
from tokamata.decode.canonical import CanonicalAutomaton
from tokamata.decode.pretokenizer import Pretokenizer

import tokamata

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
    for seed, alphabet in enumerate(["ab ", "a \n1", "a's", "ab\n"]):
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
                token = 0 if 0 in ids and step > 8 else rng.choice(ids)
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
        merged = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": False}
        Pretokenizer.from_tokenizer_json(merged)


LEADING_LOOPS = [r"[^\n]*\n", r"\S*\s", r".*\n", r"\p{L}*\P{L}", "[^1]*1"]


@pytest.mark.parametrize("pattern", LEADING_LOOPS)
def test_patterns_that_begin_with_a_loop(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "a loop first", lambda: isolated(pattern))
    alphabet = "ab \n1"
    texts = ["".join(letters) for n in range(4) for letters in itertools.product(alphabet, repeat=n)]
    check_all(trained("a loop first", 0, alphabet), tokamata.choice(texts), texts, pattern)
    with pytest.raises(tokamata.UnsupportedError, match="the tokenizer loses them"):
        Pretokenizer([pattern], "tiktoken")


@pytest.mark.parametrize("pattern", [r"x(?:a??)*", r"x(?:|a)+", r"x(?:a??){2,}", r"x(?:(?!b)|a)*?b", r"x(?:a?b*)*"])
def test_unbounded_repetitions_of_the_empty_text_are_refused(pattern: str) -> None:
    for each, engine in ((pattern, "tokenizers"), (f"{pattern}|(?s:.)", "tiktoken")):
        with pytest.raises(tokamata.UnsupportedError, match="repetition of what may match the empty text"):
            Pretokenizer([each], engine)
    Pretokenizer(["x(?:a?){2}", "x(?:a|b+)*"])


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def sequence(*stages: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(stages)}


def test_stages_after_byte_level_are_refused() -> None:
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    for stage in (split("a"), {"type": "Digits", "individual_digits": True}, bytes_):
        for stages in (sequence(bytes_, stage), sequence(sequence(bytes_), stage)):
            with pytest.raises(tokamata.UnsupportedError, match=f"{stage['type']} comes after ByteLevel"):
                Pretokenizer.from_tokenizer_json(stages)
    assert Pretokenizer.from_tokenizer_json(sequence(split("a"), bytes_)).patterns == ["a"]


def test_inverted_removal_that_loses_parts_is_refused() -> None:
    with pytest.raises(tokamata.UnsupportedError, match="the tokenizer loses them"):
        Pretokenizer.from_tokenizer_json(split("[a-z]+", "Removed", invert=True))
    kept = Pretokenizer.from_tokenizer_json(split(r"[a-z]+|[^a-z]", "Removed", invert=True))
    assert repr(kept) == "Pretokenizer(['[a-z]+|[^a-z]'], 'tokenizers')"


def test_a_question_mark_after_a_count() -> None:
    for pattern in ("xa{2}?b", "ba{1}?"):
        with pytest.raises(tokamata.UnsupportedError, match="a question mark after a count"):
            Pretokenizer([pattern])
    Pretokenizer(["xa{1,2}?b"])
    Pretokenizer(["xa{2}?b|(?s:.)"], "tiktoken")


def test_what_engines_fold_differently_is_refused() -> None:
    both = ["i", "[a-z]", "[hi]", r"\p{Lu}", r"\P{Lu}", r"[\p{Lu}]", r"[\S]", "ß", "[é]", "[!-é]", "\u0301", "Ⓐ"]
    oniguruma = ["ss", "St", "(?:f)f", "s{2}", "f*l"]
    for pattern in both + oniguruma:
        for each in (f"x(?i:{pattern})", f"(?i)x{pattern}", f"x(?i:a|(?:b|{pattern}))"):
            with pytest.raises(tokamata.UnsupportedError, match="under the flag i"):
                Pretokenizer([each])
            if pattern in both:
                with pytest.raises(tokamata.UnsupportedError, match="under the flag i"):
                    Pretokenizer([f"{each}|(?s:.)"], "tiktoken")
        Pretokenizer([f"x(?i:a(?-i:{pattern}))", f"x(?i:a){pattern}"])
    for pattern in oniguruma:
        Pretokenizer([f"x(?i:{pattern})|(?s:.)"], "tiktoken")


def test_other_flags_are_refused() -> None:
    for pattern in ("(?m:.)", "(?x:a b)", "(?s:.)", "(?im:a)", "(?i-m:a)", "a(?i)b"):
        with pytest.raises(tokamata.UnsupportedError, match="the flags"):
            Pretokenizer([pattern])
    for pattern in ("(?m:xa$)|(?s:.)", "(?U:a+)|(?s:.)", "(?ms:.)"):
        with pytest.raises(tokamata.UnsupportedError, match="the flags"):
            Pretokenizer([pattern], "tiktoken")


@pytest.mark.parametrize("pattern", ["[a-hj-z]", "k|s", "[^sk]", "'s|'t|'ll", "[sdmt]|ll|ve|re"])
def test_letters_without_case(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alphabet = "sSkK\u017f\u212aßtl'ﬆıİL"
    texts = ["".join(letters) for n in range(3) for letters in itertools.product(alphabet, repeat=n)]
    monkeypatch.setitem(KINDS, "without case", lambda: isolated(f"(?i:{pattern})"))
    check_all(trained("without case", 0, alphabet), tokamata.choice(texts), texts, pattern)
    check_all(ranked(f"(?i:{pattern})|(?s:.)", 0, alphabet), tokamata.choice(texts), texts, pattern)
