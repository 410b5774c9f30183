"""Masks of states in which whatever is read of a class can be extended, however differently.

Such are those after which something is searched for, keys that match a pattern or do not, counted names.
"""

from __future__ import annotations

import itertools
import random
import re

import pytest
from oracle import mask_walk

import tokamata

NAME = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

CONSTRAINTS: list[tuple[tokamata.Constraint, bytes]] = [
    (tokamata.json_schema({"type": "string", "pattern": "[a-f0-9]{24}"}), b'"'),
    (tokamata.json_schema({"type": "string", "pattern": "integer|continuous|E|L"}), b'"'),
    (tokamata.json_schema({"type": "string", "pattern": "[a-z]{1,2}|é日"}), b'"'),
    (
        tokamata.json_schema(
            {"type": "string", "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$"}
        ),
        b'"',
    ),
    (tokamata.json_schema({"type": "string", "format": "hostname"}), b'"'),
    (tokamata.json_schema({"patternProperties": {"[0-9a-f]{9}": {"type": "null"}}, "type": "object"}), b'{"'),
    (
        tokamata.json_schema(
            {
                "type": "object",
                "properties": {"id": {"type": "integer"}},
                "patternProperties": {"^[0-9a-zA-Z_-]{1,255}$": {"type": ["string", "null"]}},
            }
        ),
        b'{"',
    ),
    (tokamata.json_schema({"type": "object", "patternProperties": {"^.{1,255}$": {}}}), b'{"'),
    (tokamata.regex(r"(.|\n)*(ab|ba){3}(.|\n)*x" + '"' + r"|\S{0,40}y"), b""),
    (tokamata.regex(rf"{NAME}(\.{NAME})*" + '"'), b""),
    (tokamata.regex(r"[ab0-9]{5}[a-z0-9]{3,9}[0-9a-f-]{0,7}" + '"'), b""),
    (tokamata.regex(r"(.|\n)*") - tokamata.regex(r"[a-z]{0,200}|[a-c ]{9}"), b""),
    (
        tokamata.regex(r"[A-Za-z0-9]*")
        - tokamata.regex(r"[A-Za-z0-9]*[Ex][yz][A-Za-z0-9]*|[A-Za-z0-9]*a0[A-Za-z0-9]*"),
        b"",
    ),
    (tokamata.regex(r'([A-Za-z0-9]{13}-|!)[A-Za-z0-9]{30}"'), b""),
    (tokamata.regex(r"(?:\S+\s+){0,9}\S+" + '"'), b""),
    (tokamata.regex(r"[^:]*.bc[^/]*"), b""),  # but for a byte that few tokens have
    (tokamata.regex(r"\w*\s*(?:[^=]|\n)*\s*"), b""),  # after what need not be there
    (tokamata.json_schema({"type": "string", "pattern": r"^(?:\S+\s+){0,9}\S+$"}), b'"'),
    (tokamata.regex(r"(?:[^a\s]+(?:\s|a))*[^b]{9}-"), b""),
    (tokamata.regex(r"(?=.*[a-c])(?=.*[0-3])(?=.*[x-zE])(?!.*=/).{8,}"), b""),
    (tokamata.regex(r"(?=.*[a-c]{2})(?=.*[0-3])(?=.*=z).{8,20}"), b""),
    (tokamata.regex(r"(?=(?:.|\n)*[a-c]{4,6})(?!(?:.|\n)*é)(?:.|\n){0,12}"), b""),
    (tokamata.json_schema({"type": "string", "pattern": r"^(?=.*?[A-Z])(?=.*?[a-z])(?=.*?[0-9]).{6,30}$"}), b'"'),
    (tokamata.json_schema({"type": "string", "pattern": r"^(?=.*?[a-c]{2}b)(?=.*?[0-9x]{3}).{8,}$"}), b'"'),
    (tokamata.regex(r"(.|\n){0,40}") - tokamata.regex(r"[a-z]{0,60}"), b""),
    (tokamata.regex(r"(\S| )*") - tokamata.regex(r"[\x20-\x7e]{0,7}") - tokamata.regex(r"(.|\n)*é(.|\n)*"), b""),
]


@pytest.mark.parametrize("case", range(len(CONSTRAINTS)))
def test_masks_agree_with_walking(case: int) -> None:
    constraint, opening = CONSTRAINTS[case]
    rng = random.Random(case)
    pieces = [
        *(bytes([b]) for b in b'abcdef0123xyzEL-_.+/="\\ '),
        b'":',
        b'",',
        "é".encode(),
        "日".encode(),
        b"\n",
        b"null",
        "\u00a0".encode(),
        "\u3000".encode(),
    ]
    words = {b"".join(rng.choices(pieces[:10], k=rng.randint(1, 14))) for _ in range(3500)}  # of one class, as most are
    words |= {b"".join(rng.choices(pieces, k=rng.randint(1, 9))) for _ in range(1500)}
    words |= {b"a" * n for n in (40, 63, 70)} | {
        b"integer",
        b"contin",
        b"uous",
        "日".encode()[:2],
        b"ab" + "é".encode()[:1],
    }
    vocabulary = mask_walk.with_bytes(words)
    automaton = tokamata.compile(constraint, vocabulary)
    for _ in range(6):
        state = automaton.start()
        for byte in opening:
            state.advance(byte)
        for _ in range(20):
            texts = mask_walk.agreed(automaton, state, f"case {case}")
            if not texts:
                break
            letters = [i for i in texts if i in set(b"abcdef0123")]
            state.advance(rng.choice(letters if letters and rng.random() < 0.6 else texts))


def test_what_was_found_is_forgotten() -> None:
    """After what is searched for, all texts lead to one state, as in the minimal automaton."""
    vocabulary = mask_walk.with_bytes([])
    searched = {
        "rocket": b"rocket",
        "integer|continuous": b"integer",
        "(ab|ba){3}|é": b"ababba",
        "[a-f0-9]{12}": b"0" * 12,
        "x(y|z.)*q": b"xyq",
    }
    for pattern, found in searched.items():
        for constraint, opening in (
            (tokamata.regex(rf"(.|\n)*({pattern})(.|\n)*"), b""),
            (tokamata.regex(rf"[\x00-\x7f]*(?:{pattern})(.|\n)*!"), b""),
            (tokamata.json_schema({"type": "string", "pattern": pattern}), b'"'),
        ):
            automaton = tokamata.compile(constraint, vocabulary)
            state = automaton.start()
            for byte in opening + found:
                state.advance(byte)
            reached = set()
            for text in (b"", b"a", b"ab", b"inte", b"0", b"xy", b"rock", "é".encode(), b"cont"):
                after = state.copy()
                for byte in text:
                    after.advance(byte)
                reached.add(after.state_id)
            assert len(reached) == 1, (pattern, len(reached))


@pytest.mark.parametrize(
    "pattern",
    [
        r"[^\n]*(?:a\n|b)[^\n]*x",  # what is searched for may have what stands beside it has not
        r"[^\n]*(?:ab|b\na?)[^\n]*",
        r"(?:a?[^\n])*(?:b|\nx)(?:a?[^\n])*a",
        r"[^x]*(?:a[^x]*b)[^x]*|[^x]*x?b",
    ],
)
def test_only_what_is_covered_is_dropped(pattern: str) -> None:
    constraint, expected = tokamata.regex(pattern), re.compile(pattern)
    for n in range(7):
        for letters in itertools.product("abx\n", repeat=n):
            text = "".join(letters)
            assert constraint.accepts(text) == (expected.fullmatch(text) is not None), repr(text)
