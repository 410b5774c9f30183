"""Masks of loops over characters that are no class known beforehand: letters of some scripts, most of ASCII."""

from __future__ import annotations

import functools
import itertools
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from oracle import mask_walk
from oracle.packages import vocabulary_file

import tokamata

SCRIPTS = ["abcdefg", "ABC", "àéîõüß", "абвгд", "αβγδ", "あいう", "中国人日本", "가나다", "𝒜𝒞😀🚀", "0123٣४", "́̃"]
OTHERS = [" ", "-", "_", "'", '"', "\\", "\n", ",", ".", "，", "\u00a0", "\u3000", "\ue000", '",', '":']


@functools.lru_cache(maxsize=1)
def words() -> list[bytes]:
    """Words of one or some scripts, cut anywhere, as byte-level tokens are."""
    rng = random.Random(1)
    made: set[bytes] = set()
    while len(made) < 9000:
        letters = "".join(rng.sample(SCRIPTS, rng.choice([1, 1, 1, 2, 3])))
        text = "".join(rng.choices(letters, k=rng.choice([1, 2, 3, 4, 6, 9, 12, 20])))
        if rng.random() < 0.3:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(OTHERS) + text[at:]
        data = text.encode()
        made.add(data[: rng.randint(1, len(data))] if rng.random() < 0.3 else data)
    return sorted(made)


@functools.lru_cache(maxsize=1)
def qwen() -> tokamata.Vocabulary:
    return tokamata.Vocabulary.from_file(vocabulary_file("qwen"))


WIDE = [
    r"[\p{L}\s]+",
    r"\p{L}+( \p{L}+)*",
    r"\p{Lu}\p{L}*(?:-\p{L}+){0,3}",
    r"[^\p{C}]{1,50}",
    r"[\p{L} ]{1,30}",
    r"[\p{L}\s]{2,12}",
    r"[\p{L}\p{M}'-]{0,7}x",
    r"\p{L}[\p{L}\d]*",
    r"[^\ue000-\uf8ff\x00-\x1f]*",
    r"[\u00c0-\u024fa-z]+|[\u0400-\u04ff]{3,9}-",
    r"[\p{L}]*é",  # what follows begins with a character of the loop
    r"[a-z\u0400-\u04ff]*中",
    r"(?:[\u00c0-\u9fff]\d|[a-z])*",  # a turn is more than a character
    r"(?:[\u0400-\u9fff]{2}|[a-c])*",
    r"[\u3040-\u30ff\u4e00-\u9fa5\uac00-\ud7a3]+",
    r"[^a-z\u00e0-\u00ff]+a?",
    r"(?:[\p{L}\p{N}]{1,5}[ _-]){0,4}[\p{L}\p{N}]{1,5}",
    r"[\p{L}\p{So}]{4}|[\p{L}\p{Mn}]{10,}",
    "".join(rf"[\p{{L}}\u{0xE000 + i:04x}-\uf8ff]{{1,3}}," for i in range(12)),  # more than an automaton keeps
]


@pytest.mark.parametrize("pattern", WIDE)
def test_masks_agree_with_walking(pattern: str) -> None:
    vocabulary = mask_walk.with_bytes(words())
    for constraint in (
        tokamata.json_schema({"type": "string", "pattern": f"^{pattern}$"}),
        tokamata.json_schema({"type": "string", "pattern": f"^{pattern}$"}, strings="canonical"),
        tokamata.regex(pattern + '"'),
        tokamata.regex(pattern) & tokamata.regex(r"[^aü]{0,25}"),
    ):
        for seed in range(2):  # the second time with what was learned
            automaton = tokamata.compile(constraint, vocabulary)
            mask_walk.wander(automaton, random.Random(seed), 6, 12, pattern, seed)


BETWEEN = [  # what follows a loop begins beyond ASCII, too; behind a blank come very many tokens
    r"(?:\w+\s){3}\w+",
    r"(?:\w{1,9}\s){2}",
    r"\w{2,6}(?: \w+){0,2}[\u3002\uff01!]",
    r"(?:[\p{L}\p{M}]{1,12}[ \u00a0,]){2,5}",
    r"(?: [\p{L}]{2,4}| [\u4e00-\u9fa5]{1,3}\u3000)*",
    r"(?:\w+ )*é+[\u0660-\u0669]",  # which begins with a character of the loop
    r"(?:[ -~]{1,20}[\s\u2019])+",
    r"[^\d]\d+",  # a token may end inside of a character that is the loop's or what follows
    r"[^\d]{1,3}\d",
    r"-\w{2}\s+",
    r"\s*\w+",  # what follows a loop begins more tokens than the loop
    r"\s*\S+\s*",
    r"[0-9.]+\s+\w+",
    r"(?:\s{0,4}[^\s,]+,)*",
    r"[^\W\d][\w.]* *",  # a character, and a loop over much the same ones
    r"[^\W\d]\w*|-\s*\d+|\s+[.,]",
]


@pytest.mark.parametrize("pattern", BETWEEN)
def test_words_with_something_between(pattern: str) -> None:
    automaton = tokamata.compile(tokamata.regex(pattern), qwen())
    mask_walk.wander(automaton, random.Random(1), 2, 5, pattern)


ASCII = [
    r"[ -~]*",
    r"[ -~]{1,64}",
    r"[ -!#-~]{2,}x",
    r"[ -~]{3,9}",
    r"[\n\t -~]*\.",
    r"[^\x80-\u{10ffff}~]{0,40}",
    r"[ -~]{2,}é",
]


def test_classes_of_ascii_are_learned_the_fifth_time() -> None:
    vocabulary = tokamata.Vocabulary.from_file(vocabulary_file("qwen"))  # of which nothing was learned yet
    for pattern in ASCII:
        held = [vocabulary.memory_bytes]
        for seed in range(7):
            constraint = tokamata.json_schema({"type": "string", "pattern": f"^{pattern}$"})
            automaton = tokamata.compile(constraint, vocabulary)
            if seed in (0, 4, 6):  # before it is learned, while it is, and afterwards
                mask_walk.wander(automaton, random.Random(seed), 1, 5, pattern, seed)
            else:
                automaton.start().mask()
            held.append(vocabulary.memory_bytes)
        if pattern == ASCII[0]:  # nine rows or more; other masks ask for one at most
            learned = [after - before > 9 * len(vocabulary) // 8 for before, after in itertools.pairwise(held)]
            assert learned == [seed == 4 for seed in range(7)], held


def test_what_is_learned_is_bounded_and_shared_by_threads() -> None:
    """More classes than are kept, asked for side by side: masks are what one thread alone finds."""
    patterns = [rf'[a-z\p{{Ll}}\p{{Lo}}\u{0xE000 + i:04x}-\uf8ff]+"' for i in range(40)]

    def masks(vocabulary: tokamata.Vocabulary, pattern: str) -> list[np.ndarray]:
        state = tokamata.compile(tokamata.regex(pattern), vocabulary).start()
        found = [state.mask().copy()]
        for byte in "zé中".encode():
            state.advance(byte)
            found.append(state.mask().copy())
        return found

    alone, shared = mask_walk.with_bytes(words()), mask_walk.with_bytes(words())
    held = [alone.memory_bytes]
    expected = []
    for pattern in patterns:
        expected.append(masks(alone, pattern))
        held.append(alone.memory_bytes)
    assert held[0] < held[10] < held[16]
    assert held[40] - held[16] < (held[10] - held[9]) / 10
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for got, want in zip(pool.map(lambda p: masks(shared, p), patterns), expected, strict=True):
                assert all((a == b).all() for a, b in zip(got, want, strict=True))
