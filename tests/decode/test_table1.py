"""Masks of each text group of Table 1 against its definition, token by token.

A token is allowed when the text so far and the token can be completed. The definitions tell members only; a text can be
completed when one of a few endings makes it a member, which the endings of each row are chosen for. Single tokens and
images: test_one_token.py.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable
from functools import lru_cache

import pytest
import yaml
from oracle import mask_walk

import tokamata

EXTRA = [
    "ab", "aa", "ba", "abc", "é", "日本", "a b", " a", "b ", ": ", " #", "a:", "- ", "--", '"a', '" ', '\\"', "\\\\",
    "a\\", "\n", "a\n", "\n\n", "END", "EN", "ND", "aEND", "ENDa", ", ", ",a", "a,", "red", "red, ", "green", "gre",
    "en, b", ", blue", "blue",
]  # fmt: skip
TOKENS: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), *(t.encode() for t in EXTRA)]
TOKENS += [b"\xe6\x97", b"a\xc3", b"\xa9b", b"\xf0\x9f\x98", b"\x80", b"\xed\x9f", b"\xff\xfe"]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[0])
REST = [
    b"",
    b"\x80",
    b"\xa0",
    b"\xa5",
    b"\x97\xa5",
    b"\xa9",
    b"\xbf",
    b"\x80\x80",
    b"\xa0\x80",
    b"\x9f\x80",
    b"\x80\x80\x80",
    b"\x90\x80\x80",
]

Definition = Callable[[str], bool]


def quoted(text: str) -> bool:
    at = 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return len(text) > 1 and text[0] == '"' and at == len(text) - 1 and "\n" not in text


def unquoted(text: str) -> bool:
    if not text or "\t" in text or text.split(" ")[0] in ("---", "..."):
        return False
    try:
        events = list(yaml.parse(f"key: {text}\n"))
    except yaml.YAMLError:
        return False
    scalars = [e for e in events if isinstance(e, yaml.ScalarEvent)]
    if len(events) != 8 or len(scalars) != 2:
        return False
    read = scalars[1]
    return bool(read.value == text and read.style is None and read.tag is None and read.anchor is None)


def until(*stops: str) -> Definition:
    def ends(text: str) -> int:
        return min((at + len(s) for s in stops if (at := text.find(s)) >= 0), default=-1)

    return lambda text: ends(text) == len(text)


def pieces(source: str, unit: str) -> Definition:
    places = [m.span() for m in re.finditer(unit, source)]
    return {"", *(source[a:d] for i, (a, _) in enumerate(places) for _, d in places[i:])}.__contains__


def joined(options: list[str], most: int | None) -> Definition:
    if most is None:
        return lambda text: bool(text) and all(part in options for part in text.split(", "))
    rows = {", ".join(row) for n in range(1, most + 1) for row in itertools.combinations(options, n)}
    return rows.__contains__


ROWS: dict[str, tuple[tokamata.Constraint, Definition, list[str]]] = {
    "QUOTED_TEXT": (tokamata.quoted_text(), quoted, ["", '"', 'a"', '""']),
    "UNQUOTED_TEXT": (tokamata.unquoted_text(), unquoted, ["", "a", "é"]),
    "TEXT_UNTIL": (tokamata.text_until("END"), until("END"), ["", "END", "ND", "D"]),
    "TEXT_UNTIL, several": (tokamata.text_until(["END", "\n\n"]), until("END", "\n\n"), ["", "END", "ND", "D", "\n"]),
    "SUBSTRING_OF": (tokamata.substring_of("abcaé日本ab"), pieces("abcaé日本ab", "(?s:.)"), ["", "é", "日", "本"]),
    "SUBSTRING_OF, words": (
        tokamata.substring_of("a ab red, green\nab aé", by="words"),
        pieces("a ab red, green\nab aé", r"[^ \n]+"),
        ["", "a", "b", "ed,", "d,", ",", "reen", "een", "n", "en", "ab", "green", "red,", "é", "aé", "aab", "\nab"],
    ),
    "DELIMITED_LIST": (tokamata.delimited_list(tokamata.choice(["a", "ab", "red"])), joined(["a", "ab", "red"], None),
                       ["", "a", "ed", "d", " a"]),
    "DELIMITED_SUBSEQUENCE_OF": (
        tokamata.delimited_subsequence_of(["red", "green", "blue"]),
        joined(["red", "green", "blue"], 3),
        ["", *(w[i:] for w in (", green", ", blue", "red", "green", "blue") for i in range(len(w)))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("context", ["alone", "inside"])
def test_masks_equal_the_definition(name: str, context: str) -> None:
    constraint, definition, endings = ROWS[name]
    if context == "inside":
        constraint = "<" + constraint + ">"

    @lru_cache(None)
    def member(data: bytes) -> bool:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return False
        if context == "alone":
            return definition(text)
        return text[:1] == "<" and text[-1:] == ">" and definition(text[1:-1])

    closing = b"" if context == "alone" else b">"
    completions = [rest + e.encode() + closing for e in endings for rest in REST] + [b""]

    def viable(data: bytes) -> bool:
        if context == "inside" and not data.startswith(b"<"):
            return False
        return any(member(data + c) for c in completions)

    automaton = tokamata.compile(constraint, VOCABULARY)
    rng = random.Random(7)
    for _ in range(1 if len(endings) > 12 else 2):
        state, text = automaton.start(), b""
        for _ in range(5):
            got = set(mask_walk.allowed(state.mask()))
            want = {t for t, token in enumerate(TOKENS) if token and viable(text + token)}
            want |= {0} if member(text) else set()
            assert got == want, (text, [(t, TOKENS[t], t in got) for t in sorted(got ^ want)[:6]])
            usual = [t for t in want if t > 256 or (TOKENS[t] or b"?") in b'<>ab"\\ ,ED\n']
            choices = sorted(t for t in (usual or want) if t)
            if not choices:
                break
            token = rng.choice(choices)
            state.advance(token)
            text += TOKENS[token] or b""
