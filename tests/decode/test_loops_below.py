"""Loops over all characters but some behind a byte that many tokens begin with, as behind a blank."""

from __future__ import annotations

import random

import pytest
from oracle import mask_walk

import tokamata


@pytest.fixture(scope="module")
def of_blanks() -> tokamata.Vocabulary:
    """Most of 9,000 tokens begin with a blank; some characters have more bytes, and some tokens end inside of one."""
    rng = random.Random(11)
    letters = [*(bytes([b]) for b in b'abcdefgh:,;"\\ \n<0'), "é".encode(), "日".encode(), "\u2003".encode(), b"\xc3"]
    weights = [6] * 8 + [1] * 9 + [2, 2, 1, 1]
    made: set[bytes] = set()
    while len(made) < 9000:
        begin = rng.choice([b" ", b" ", b" ", b"\n", b""])
        made.add(begin + b"".join(rng.choices(letters, weights, k=rng.randint(1, 6))))
    made |= {b" " + b"".join(rng.choices(letters[:3], k=5)) + rng.choice(letters) for _ in range(900)}
    return mask_walk.with_bytes(made)


@pytest.mark.parametrize(
    "pattern",
    [
        "<? [^:]*:",
        r"<?\s+[^:]+:a?",
        r"<?\s*[^\s:]+b",
        r"<? [^,;]*(?:,b|;)",
        "<? (?:[^:]*:[a-f]+)*<",  # what leaves the loop goes on with a part of its characters
        r"<?\s[^\\]*\\[\"n]",
        "<? [^a]*",
        "<? (?:[^:é]|: )*<",  # and leads back into it
        "<? [^,]*, ?[^:]*:0",
        r"<? [^\s,]*(?:,é|,[^\s:]*:)?",
        "<? (?=.*:)[^;]*;",
        r"<?\s+(?:[^,]*?\s+)?(?:ab|ba)",
        r"<? [^\s:]*:",
        r'<? [^\s:"\\]*(?::|"a*:)',
    ],
)
def test_masks_behind_a_blank(pattern: str, of_blanks: tokamata.Vocabulary) -> None:
    automaton = tokamata.compile(tokamata.regex(pattern), of_blanks)
    mask_walk.wander(automaton, random.Random(7), 10, 6, pattern)


@pytest.mark.parametrize(
    "pattern",
    ["<? [^:]*:", r"<?\s[^\s,]*,", "<? [^;]*;?", "[^;]*", ".*é?", "a?[^:]{0,4}", "(?:[^;]|é;)*", ".*(?=a).{3}"],
)
def test_bytes_that_are_no_text(pattern: str, of_blanks: tokamata.Vocabulary) -> None:
    """What begins as a character may go on as something else."""
    for raw in (tokamata.literal(b"\xc3a").repeat(0, 3), ~tokamata.regex(".*b.*"), tokamata.literal(b"\xe6\xc3") + "a"):
        automaton = tokamata.compile(tokamata.regex(pattern) + raw, of_blanks)
        mask_walk.wander(automaton, random.Random(8), 6, 6, pattern)
