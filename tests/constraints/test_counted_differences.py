"""Differences of what is repeated: one repetition, or a language like any other."""

from __future__ import annotations

import itertools
import random
import re
import time

import tokamata


def test_differences_of_counts_are_counts() -> None:
    """Against `re`, for words that end in several ways; large ones are decided at once."""
    seed = 5
    print("seed", seed)
    rng, one_range = random.Random(seed), 0
    for _ in range(150):
        word = rng.choice(["a", "[ab]", "é", "(?:ab|c)", "(?:a|ba)", "(?:a|ab)", "(?:a|aa)", "[ax]"])
        end, begin = rng.choice(["", "x", "ba", "x?"]), rng.choice(["", "é", "ab"])
        lows, highs = zip(*(sorted(rng.sample(range(7), 2)) for _ in range(2)), strict=True)
        patterns = [f"{begin}{word}{{{low},{high}}}{end}" for low, high in zip(lows, highs, strict=True)]
        left = tokamata.regex(patterns[0]) - tokamata.regex(patterns[1])
        texts = ["".join(letters) for n in range(7) for letters in itertools.product("ab", repeat=n)]
        texts += [rng.choice("aéx") * n + rng.choice("cx") * m for n in range(7) for m in range(3)]
        for text in (begin + text + tail for text in texts for tail in {"", end[:1], end.rstrip("?")}):
            expected = bool(re.fullmatch(patterns[0], text)) and not re.fullmatch(patterns[1], text)
            assert left.accepts(text) == expected, (patterns, text)
        one_range += lows[1] <= lows[0] <= highs[1] < highs[0]
    assert one_range > 15, one_range


def test_large_numbers_are_decided_at_once() -> None:
    for most in (99_998, 99_999, 10):
        begin = time.thread_time()
        left = tokamata.regex('"[^"]{0,99999}"') - tokamata.regex(f'"[^"]{{0,{most}}}"')
        assert left.is_empty() == (most == 99_999)
        assert time.thread_time() - begin < 0.1
        assert left.accepts('"' + "é" * 99_999 + '"') == (most < 99_999)
