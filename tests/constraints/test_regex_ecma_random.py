"""Random patterns in ECMA-262's syntax against Node.js, where it is installed."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from oracle.ecma_regex import NODE, Judge, Patterns, judge, random_text

import tokamata
from tokamata import regex

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js")
LIMITS = tokamata.Limits(seconds=2, search_seconds=2)


def texts_of(rng: random.Random, constraint: tokamata.Constraint | None) -> list[str]:
    """Random texts, and members of characters that Node.js knows."""
    members = [member.decode() for member in constraint.examples(6, seed=rng.randrange(1000))] if constraint else []
    return [random_text(rng) for _ in range(12)] + [text for text in members if all_assigned(text)]


def all_assigned(text: str) -> bool:
    """Whether all characters are ones of Unicode 3.2, which every Node.js knows."""
    return all(unicodedata.ucd_3_2_0.category(c) != "Cn" for c in text)


def compare_references(node: Judge, seed: int) -> Counter[str]:
    return compare_whole(node, seed, references=True)


def compare_whole(node: Judge, seed: int, references: bool = False) -> Counter[str]:
    rng = random.Random(seed)
    pattern = Patterns(rng, references=references).pattern()
    try:
        constraint, wrong = regex(pattern, "ecma", limits=LIMITS), ""
        texts = texts_of(rng, constraint)
        accepted = [constraint.accepts(text) for text in texts]
    except (tokamata.UnsupportedError, tokamata.LimitError):
        return Counter(refused=1)
    except tokamata.ConstraintError as error:
        constraint, wrong = None, str(error)
        texts = texts_of(rng, None)
        accepted = [False] * len(texts)
    answer = node.matches(pattern, texts)
    if isinstance(answer, str) or "no text" not in wrong:
        assert isinstance(answer, str) == (constraint is None), (seed, pattern, wrong, answer)
    if isinstance(answer, str):
        return Counter(malformed=1)
    assert accepted == answer, (seed, pattern, [t for t, a, b in zip(texts, accepted, answer, strict=True) if a != b])
    return Counter(matched=sum(answer), others=answer.count(False))


def compare_strings(node: Judge, seed: int) -> Counter[str]:
    """Patterns of strings in a JSON Schema, which match somewhere."""
    rng = random.Random(seed)
    patterns = [Patterns(rng).pattern(depth) for depth in (rng.randrange(1, 4), 1, 1)]
    patterns[0] = rng.choice(["", "", "^"]) + patterns[0] + rng.choice(["", "", "$"])
    low, high = rng.choice([(0, 99), (0, 99), (1, 3), (0, 2), (2, 99)])
    schema: dict[str, Any] = {"type": "string", "pattern": patterns[0], "minLength": low, "maxLength": high}
    also, never = rng.random() < 0.3, rng.random() < 0.2
    schema |= {"allOf": [{"pattern": patterns[1]}]} if also else {}
    schema |= {"not": {"pattern": patterns[2]}} if never else {}
    texts = texts_of(rng, None)
    try:
        constraint = tokamata.json_schema(schema, limits=LIMITS)
        texts += [text for text in map(json.loads, constraint.examples(4, seed=seed)) if all_assigned(text)]
        accepted = [constraint.accepts(json.dumps(text, ensure_ascii=rng.random() < 0.5)) for text in texts]
    except (tokamata.UnsupportedError, tokamata.LimitError):
        return Counter(refused=1)
    except tokamata.ConstraintError:
        accepted = [False] * len(texts)
    answers = [node.matches(pattern, texts, whole=False) for pattern in patterns]
    if any(isinstance(answer, str) for answer in answers):  # schemas are read as without the u flag then
        return Counter(malformed=1)
    expected = [
        a and (b or not also) and not (c and never) and low <= len(text) <= high
        for text, a, b, c in zip(texts, *answers, strict=True)
    ]
    assert accepted == expected, (
        seed,
        schema,
        [t for t, a, b in zip(texts, accepted, expected, strict=True) if a != b],
    )
    return Counter(matched=sum(expected), others=expected.count(False))


def compare_lax(node: Judge, seed: int) -> Counter[str]:
    """Patterns of strings that are malformed with the u flag are read without it, as Annex B of ECMA-262 has it.

    Over characters of one UTF-16 unit, for characters are code points here; so are \\u{..} and properties.
    Escapes of letters that have no meaning are errors, or the ends of the text, rather than the letters.
    """
    rng = random.Random(seed)
    pattern = Patterns(rng, lax=True).pattern(2)
    pattern = "".join(c for c in pattern if c < "\ud800")
    kept = re.search(r"\\u\{[0-9A-Fa-f]+\}|\\ud83d|\\[aeg-jlmo-qyzACE-RTUVX-Z]|\[.*\\B", pattern)
    if kept or not isinstance(node.matches(pattern, []), str):
        return Counter()
    texts = [*texts_of(rng, None), pattern[:4], pattern[1:3], "\\", "\\c", "k8\x01{2}", "u-q_]", "p{x}"]
    try:
        constraint = tokamata.json_schema({"type": "string", "pattern": pattern}, limits=LIMITS)
        texts += [text for text in map(json.loads, constraint.examples(4, seed=seed)) if all_assigned(text)]
        texts = [text for text in texts if all(c < "\ud800" for c in text)]
        accepted = [constraint.accepts(json.dumps(text)) for text in texts]
    except (tokamata.UnsupportedError, tokamata.LimitError):
        return Counter(refused=1)
    except tokamata.ConstraintError as error:
        accepted = [False] * len(texts) if "no JSON value" in str(error) else []
    answer = node.matches(pattern, texts, whole=False, flags="")
    assert isinstance(answer, str) == (not accepted), (seed, pattern, answer)
    if isinstance(answer, str):
        return Counter(malformed=1)
    assert accepted == answer, (seed, pattern, [t for t, a, b in zip(texts, accepted, answer, strict=True) if a != b])
    return Counter(matched=sum(answer), others=answer.count(False))


def counted(count: int, compare: Callable[[Judge, int], Counter[str]]) -> Counter[str]:
    seed = random.randrange(10**9)
    print("seed", seed)
    with judge() as node:
        return sum((compare(node, seed + i) for i in range(count)), Counter())


def compare_many(count: int, compare: Callable[[Judge, int], Counter[str]]) -> None:
    counts = counted(count, compare)
    assert min(counts["matched"], counts["others"]) > count, counts  # of samples that are large enough
    assert count // 20 < counts["malformed"] < count // 2
    assert counts["refused"] < count // 5


@pytest.mark.parametrize("compare", [compare_whole, compare_strings])
def test_random_patterns(compare: Callable[[Judge, int], Counter[str]]) -> None:
    compare_many(300, compare)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_patterns_with_references(count: int) -> None:
    counts = counted(count, compare_references)
    assert min(counts["matched"], counts["others"]) > count
    assert count // 20 < counts["malformed"] < count // 2
    assert counts["refused"] < count // 3


@pytest.mark.slow
@pytest.mark.parametrize("compare", [compare_whole, compare_strings])
def test_many_random_patterns(compare: Callable[[Judge, int], Counter[str]]) -> None:
    compare_many(10_000, compare)


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_patterns_without_the_unicode_flag(count: int) -> None:
    counts = counted(count, compare_lax)
    assert min(counts["matched"], counts["others"]) > count // 2
    assert counts["malformed"] > count // 100
    assert counts["refused"] < count // 10
