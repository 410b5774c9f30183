"""Masks of states in which every text of a class can be read but for some words, against walking the vocabulary."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
from oracle import mask_walk
from oracle.packages import vocabulary_file
from tokamata.automata import Fst

import tokamata

LETTERS = ["a", "b", "c", "o", "é", "日", "ü", "😀", "E", "1", " ", "-"]


def _either(words: list[str]) -> str:
    return "|".join(map(re.escape, words))


def _string(**keywords: Any) -> tokamata.Constraint:
    return tokamata.json_schema({"type": "string", **keywords})


def _not_both(words: list[str]) -> tokamata.Constraint:
    """Keys with two of the words have no value."""
    values: list[dict[str, Any]] = [{"type": "string"}, {"type": "integer"}, {"type": "null"}]
    keys = {re.escape(word): value for word, value in zip(words, values, strict=False)}
    return tokamata.json_schema({"type": "object", "patternProperties": keys})


def _without(word: bytes) -> tokamata.Constraint:
    """All byte strings without a word."""
    arcs = []
    for i in range(len(word)):  # where so many bytes of it were read
        for byte in range(256):
            text = word[:i] + bytes([byte])
            to = next(n for n in range(len(text), -1, -1) if text.endswith(word[:n]))
            if to < len(word):
                arcs.append(f"{i} {to} {byte or 256} {byte or 256}")
    return tokamata.from_fst(Fst.from_text("\n".join([*arcs, *map(str, range(len(word)))])))


# What is written first, and the texts after it that have none of the words, or not any number of them.
KINDS: dict[str, tuple[bytes, Callable[[list[str]], tokamata.Constraint]]] = {
    "line": (b"", lambda w: tokamata.regex(rf"^(?!.*(?:{_either(w)})).*$")),
    "any text": (b"", lambda w: tokamata.regex(rf"(?s)(?!.*(?:{_either(w)})).*")),
    "tempered": (b"", lambda w: tokamata.regex(rf"(?:(?!{_either(w)}).)*")),
    "before a quote": (b"", lambda w: tokamata.regex(rf'(?:(?!{_either(w)})[^"\n])*"[a-c]*')),
    "no blanks": (b"", lambda w: tokamata.regex(rf"(?!\S*(?:{_either(w)}))\S*( x)?")),
    "letters": (b"", lambda w: tokamata.regex(rf"(?![a-zA-Z]*(?:{_either(w)}))[a-zA-Z]*-?")),
    "long enough": (b"", lambda w: tokamata.regex(rf"(?!.*(?:{_either(w)})).{{5,}}")),
    "of any case": (b"", lambda w: tokamata.regex(rf"(?i)(?!.*(?:{_either(w)})).*")),
    "difference": (
        b"",
        lambda w: tokamata.regex(r"(.|\n)*") - tokamata.regex(rf"(.|\n)*({_either(w)})[ab]?({_either(w)})(.|\n)*"),
    ),
    "complement": (b"", lambda w: ~tokamata.regex(rf"(?s).*(?:{_either(w)}).*")),
    "bytes": (b"", lambda w: _without(w[0].encode())),
    "pattern": (b'"', lambda w: _string(pattern=rf"^(?!.*({_either(w)})).*$")),
    "not a pattern": (b'"', lambda w: _string(**{"not": {"pattern": _either(w)}})),
    "one of": (b'"', lambda w: _string(oneOf=[{"pattern": re.escape(word)} for word in w])),
    "not both": (b'{"', _not_both),
    "names": (
        b'{"',
        lambda w: tokamata.json_schema({"type": "object", "propertyNames": {"not": {"pattern": _either(w)}}}),
    ),
    "some value": (
        b'{"a": "',
        lambda w: tokamata.json_schema({"additionalProperties": {"not": {"pattern": _either(w)}}}),
    ),
}


def _words(rng: random.Random) -> list[str]:
    letters = rng.sample(LETTERS, rng.randint(2, 6))  # few: words that begin as others end
    return ["".join(rng.choices(letters, k=rng.choice([1, 2, 2, 3, 3, 4, 6, 9]))) for _ in range(rng.randint(2, 4))]


def _vocabulary(rng: random.Random, words: list[str]) -> tokamata.Vocabulary:
    """Tokens with parts of the words, cut anywhere, and with whole ones.

    They have so many letters of the words that loops over the other letters are of no use.
    """
    texts = [word.encode() for word in words]
    parts = [text[i:j] for text in texts for i in range(len(text)) for j in range(i + 1, len(text) + 1)]
    letters = [letter.encode() for letter in {*"".join(words)}]
    inside = [*rng.choices(parts, k=20), *(letters * 20)[:60], *(letter.encode() for letter in LETTERS)]
    others = [b'"', b"\\", b"\\u00", b"\n", b'":', b"\x80", b"\xe2\x80\xa8"]
    made = {b"".join(rng.choices(inside + others, k=rng.randint(1, 5))) for _ in range(3000)}
    made |= {b"".join(rng.choices(inside, k=rng.randint(3, 12))) for _ in range(9000)}
    return mask_walk.with_bytes(made)


def _check(
    automaton: tokamata.TokenAutomaton, opening: bytes, rng: random.Random, words: list[str], walks: int, *where: object
) -> int:
    """Masks along texts of letters and of parts of the words; how many of them were compared."""
    vocabulary, compared = automaton.vocabulary, 0
    near = [i for i in range(256) if bytes([i]) in "".join(words).encode()]
    for _ in range(walks):
        state = mask_walk.begun(automaton, opening)
        for _ in range(8):
            tokens = mask_walk.agreed(automaton, state, *where)
            compared += 1
            if not tokens:
                break
            inside = [i for i in near if i in tokens]
            plain = [i for i in rng.choices(tokens, k=20) if not {34, 10} & set(vocabulary.token_bytes(i) or b"")]
            state.advance(rng.choice(inside if inside and rng.random() < 0.6 else plain or tokens))
    return compared


@pytest.mark.parametrize("kind", KINDS)
def test_masks_agree_with_walking(kind: str) -> None:
    opening, make = KINDS[kind]
    compared = 0
    for seed in range(12):
        rng = random.Random(f"{kind} {seed}")
        words = _words(rng)
        try:
            constraint = make(words)
        except tokamata.ConstraintError:  # of words each of which has another one in it
            continue
        automaton = tokamata.compile(constraint, _vocabulary(rng, words))
        print(f"seed {seed}: {words}")
        try:
            compared += _check(automaton, opening, rng, words, 3, kind, seed, words)
        except tokamata.TokenRejected:  # by the opening: there are no such texts
            continue
    assert compared > 50


def test_other_words_later() -> None:
    """In one automaton, states that bar other words than those before them."""
    for seed in range(12):
        rng = random.Random(seed)
        words = _words(rng)
        print(f"seed {seed}: {words}")
        first, second = words[:1], words[1:]
        line = rf"(?:(?!{_either(first)})[^;\n])*;(?:(?!{_either(second)})[^;\n])*;(?:(?!{_either(first)})[^;\n])*"
        values = {name: {"type": "string", "not": {"pattern": _either(w)}} for name, w in (("x", first), ("y", second))}
        object_of = {"type": "object", "properties": values, "required": ["x", "y"], "additionalProperties": False}
        vocabulary = _vocabulary(rng, words)
        for constraint, openings in (
            (tokamata.regex(line), [b"", b";", b"1;", b";;"]),
            (tokamata.json_schema(object_of), [b'{"x": "', b'{"x": "", "y": "']),
        ):
            automaton = tokamata.compile(constraint, vocabulary)
            for opening in openings:
                if not _contains(opening, words):
                    _check(automaton, opening, rng, words, 1, seed, words, opening)


def _contains(text: bytes, words: list[str]) -> bool:
    return any(word in text.decode() for word in words)


@lru_cache(maxsize=1)
def _qwen() -> tokamata.Vocabulary:
    return tokamata.Vocabulary.from_file(vocabulary_file("qwen"))


REAL = [
    ["password", "secret"],
    ["foo"],
    ["é", "ab"],
    ["-->", "日本"],
    ["<script", "</"],
    ["customer", "maker", "admin"],
    ["x"],
]


@pytest.mark.parametrize("kind", ["line", "any text", "no blanks", "pattern", "one of", "not both", "some value"])
def test_a_real_vocabulary(kind: str) -> None:
    opening, make = KINDS[kind]
    singles = {_qwen().token_bytes(i): i for i in range(len(_qwen()))}
    rng = random.Random(kind)
    for words in REAL:
        if kind in ("one of", "not both") and len(words) == 1:
            continue
        automaton = tokamata.compile(make(words), _qwen())
        for text in ("", words[0][:1], words[-1][:-1], "some " + words[0][:-1] + " " + words[0][:2]):
            state = automaton.start()
            try:
                for byte in opening + text.encode():
                    state.advance(singles[bytes([byte])])
            except tokamata.TokenRejected:  # a part of the word is another one
                continue
            for _ in range(2):
                tokens = mask_walk.agreed(automaton, state, kind, words, text)
                if not tokens:
                    break
                state.advance(rng.choice(tokens))
