"""Masks on real vocabularies equal brute force over all of their tokens."""

from __future__ import annotations

import random
from functools import lru_cache

import numpy as np
import pytest
from oracle import mask_walk
from oracle.packages import vocabulary_file
from oracle.regex_nfa import RegexNfa, TokenTable

import tokamata

OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
PATTERNS = [
    r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    rf"({OCTET}\.){{3}}{OCTET}",
    r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}",
    r"https?://[a-z0-9.-]+(:[0-9]{1,5})?(/[^ ?#\n]*)?(\?[^ #\n]*)?(#[^ \n]*)?",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?",
    r"yes|no|never|always",
    r".*",
    r"(?s).*",
    r".{0,200}",
    r".{3,7}",
    r"(.|\n){5,}",
    r'[^"]{1,500}',
    r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"',
    r'"[^"\\]{0,20}"',
    r'\{"name": "[^"\\\n]{1,40}", "age": [0-9]{1,3}(, "tags": \[("[a-z]+"(, "[a-z]+")*)?\])?\}',
    r"[^<]*</a>",
    r"/[^ ?#\n]{2,60}(\?[^ #\n]*)?",
    r"[^ #!,]*,[^.\t ]*\\n",
    r"<a>[^<>&]*</a>",
    r".*foo",
    r".*foo.*",
    r"([^<]|<[^/])*</think>",
    r"(?s).*?</think>.*",
    r"[A-Z][a-z]*( [A-Z][a-z]*){0,3}",
    r"[a-z]+",
    r"[A-Za-z]{2,10}",
    r"[a-z][a-z0-9_-]{2,62}",
    r"(?a)\w+(\s\w+)*",
    r"\w+@\d+\s?\S+",
    r"\W+\D*",
    r"(?i)straße|kelvin|ſ{2}",
    r"(?i)select [a-z_]+ from [a-z_]+( where .*)?",
    r"(?x) a b  [ ] c # comment",
    r"((a|aa)+b?)+(x*x*)*y",
    r"(([a-z]+[0-9]?){1,5},){2,8}[A-Z]{1,3}",
    r"([а-яё]+|[一-龥]{1,10})( ([а-яё]+|[一-龥]{1,10})){0,20}",
    r"[😀-🙏]{1,5}",
    r"[\u00e0-\u00ff\u0400-\u04ff]+",
    r"(?P<key>[a-z]+)=(?P<value>[^;]*)(;(?:[a-z]+)=([^;]*))*",
    r"a{2}b{3,}c{,4}d{0}e",
    r"(|a|ab)(c|)",
    r"[\t ]*#.*(\n[\t ]*#.*)*",
    r"(?:\+?1[-. ]?)?\(?[2-9][0-9]{2}\)?[-. ]?[0-9]{3}[-. ]?[0-9]{4}",
    r"[01]{5}",
    r"x.{100,10000}y",
    r"[^\W\d_]+",
    r"\d{4}",
    r"[^\r\n\u2028\u2029]*\.csv",
    r"(?s)[^a-z0-9]*[a-z0-9].*",
    r"[\t ]{0,100}\"(\n[\t ]{0,20})?x",
]


@lru_cache(maxsize=1)
def loaded(name: str) -> tuple[tokamata.Vocabulary, list[bytes | None], TokenTable]:
    vocabulary = tokamata.Vocabulary.from_file(vocabulary_file(name))
    tokens = [vocabulary.token_bytes(i) for i in range(len(vocabulary))]
    return vocabulary, tokens, TokenTable(tokens)


def compare(name: str, pattern: str, walks: int, steps: int) -> None:
    vocabulary, tokens, table = loaded(name)
    automaton = tokamata.compile(tokamata.regex(pattern), vocabulary)
    oracle = RegexNfa(pattern)
    compared = 0
    for walk in range(walks):
        rng = random.Random(f"{pattern} {walk}")
        state, q = automaton.start(), oracle.start
        for _ in range(steps):
            want = oracle.mask(q, table)
            want[vocabulary.eos_token_ids] = oracle.is_final(q)
            got = np.unpackbits(state.mask().view(np.uint8), bitorder="little").astype(bool)
            assert not got[len(vocabulary) :].any()
            different = np.flatnonzero(got[: len(vocabulary)] != want)
            assert not different.size, f"{pattern}, walk {walk}: {[(tokens[i], bool(got[i])) for i in different[:5]]}"
            assert state.is_final == oracle.is_final(q)
            compared += 1
            want[vocabulary.eos_token_ids] = False
            choices = np.flatnonzero(want)
            if not choices.size:
                break
            token = int(rng.choice(choices))
            state.advance(token)
            q = oracle.run(tokens[token] or b"", q)
    assert compared > 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_qwen(pattern: str) -> None:
    compare("qwen", pattern, walks=1, steps=4)


@pytest.mark.parametrize(
    "pattern",
    [r"^.*\.csv$", r"\.csv$", r"\w+", r"^\S+$", r"^(?!foo).*$", r"^[^.]*$", r"^\s*\S.*$", r"^[^\u00a0]*\.(csv|tsv)$"],
)
def test_patterns_in_json_strings(pattern: str) -> None:
    """Masks of spelled patterns equal those found by walking the whole vocabulary."""
    vocabulary = loaded("qwen")[0]
    automaton = tokamata.compile(tokamata.json_schema({"type": "string", "pattern": pattern}), vocabulary)
    mask_walk.wander(automaton, random.Random(pattern), 2, 4, pattern)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_qwen_long(pattern: str) -> None:
    compare("qwen", pattern, walks=3, steps=16)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_gemma(pattern: str) -> None:
    compare("gemma", pattern, walks=2, steps=8)
