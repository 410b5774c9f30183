"""Contents of JSON strings: spellings, lengths, choices and patterns, against json.loads and re."""

from __future__ import annotations

import itertools
import json
import random
import re
import unicodedata

import numpy as np
import pytest
from oracle import mask_walk
from tokamata.automata import ConstraintError, UnsupportedError
from tokamata.constraints.constraint import Constraint

import tokamata
from tokamata._core import Language, json_string, json_string_choice, json_string_length, json_string_pattern

SEED = 4711
ALPHABET = ["a", "b", "A", "0", "9", "_", " ", "-", "\n", "\t", '"', "\\", "/", "\x00", "\x1f", "\x7f", "é",
    "ß", "\u2028",
            "\u3000", "😀", "\U0010ffff", "\ufffd", "\ud7ff"]  # fmt: skip


def spell(r: random.Random, text: str) -> str:
    """A random spelling of a text in JSON."""
    out = []
    for c in text:
        short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        units = c.encode("utf-16-be").hex()
        unicode = "".join(
            "\\u" + "".join(r.choice([d.upper(), d]) for d in units[i : i + 4]) for i in range(0, len(units), 4)
        )
        ways = [unicode, *([short[c]] if c in short else []), *([c] * 3 if c >= " " and c not in '"\\' else [])]
        out.append(r.choice(ways))
    return "".join(out)


def decode(content: bytes) -> str | None:
    """What a content means; None when it is none, or has a lone surrogate."""
    try:
        text = json.loads('"' + content.decode() + '"')
        text.encode()
    except (ValueError, UnicodeError):
        return None
    assert isinstance(text, str)
    return text


def canonical_spelling(text: str) -> str:
    """What json.dumps writes between the quotes."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def random_text(r: random.Random, most: int = 5) -> str:
    return "".join(r.choice(ALPHABET) for _ in range(r.randint(0, most)))


def mangled(r: random.Random, content: str) -> bytes:
    """Content with one byte changed, dropped or added, now and then."""
    data = bytearray(content.encode())
    if data and r.random() < 0.5:
        i = r.randrange(len(data))
        match r.randrange(3):
            case 0:
                data[i] = r.choice(b'"\\u/0dDcC8bBaAfn\x00\x1f\x80\xe2\xed')
            case 1:
                del data[i]
            case _:
                data.insert(i, r.choice(b'"\\u0dD8a'))
    return bytes(data)


def contents(r: random.Random, n: int, most: int = 5) -> list[bytes]:
    return [mangled(r, spell(r, random_text(r, most))) for _ in range(n)]


def check(language: Language, canonical: bool, content: bytes, member: bool, where: str = "") -> None:
    text = decode(content)
    expected = text is not None and member and (not canonical or content == canonical_spelling(text).encode())
    assert language.accepts(content) == expected, (where, content, text)


@pytest.mark.parametrize("canonical", [False, True])
def test_any(canonical: bool) -> None:
    r = random.Random(SEED)
    language = json_string("any", b"", canonical)
    for content in contents(r, 5000):
        check(language, canonical, content, True)
    for c in [*range(0x300), 0x2028, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF]:
        for _ in range(3):
            check(language, canonical, spell(r, chr(c)).encode(), True)
        assert language.accepts(canonical_spelling(chr(c)).encode())
    for lone in (b"\\ud800", b"\\udc00", b"\\ud800\\ud800", b"\\udfffx", b"\\ud83d\\n", b"\xed\xa0\x80"):
        assert not language.accepts(lone)


@pytest.mark.parametrize("canonical", [False, True])
def test_length(canonical: bool) -> None:
    r = random.Random(SEED)
    for low, high in [(0, 0), (0, 3), (2, 3), (1, 2**32 - 1), (3, 3), (0, 100_000)]:
        language = json_string_length(low, high, canonical)
        for content in contents(r, 300):
            text = decode(content)
            check(language, canonical, content, text is not None and low <= len(text) <= high)
    assert json_string_length(3, 2, canonical).is_empty()


@pytest.mark.parametrize("canonical", [False, True])
def test_choice_and_literal(canonical: bool) -> None:
    r = random.Random(SEED)
    for _ in range(100):
        texts = [random_text(r, 3) for _ in range(r.choice([0, 1, 2, 5, 40]))]
        language = json_string_choice([t.encode() for t in texts], canonical)
        for t in [random_text(r, 2), *texts[:10]]:
            check(language, canonical, spell(r, t).encode(), t in texts)
            check(language, canonical, canonical_spelling(t).encode(), t in texts)
        literal = json_string("literal", texts[0].encode() if texts else b"", canonical)
        for content in contents(r, 20, 2):
            check(literal, canonical, content, decode(content) == (texts[0] if texts else ""))
    assert json_string("literal", b"\xed\xa0\x80", canonical).is_empty()  # a lone surrogate has no spelling


def test_large_choice() -> None:
    texts = [f"value-{i * 7919 % 3000}-é" for i in range(3000)]
    language = json_string_choice([t.encode() for t in texts], False)
    assert all(language.accepts(spell(random.Random(i), texts[i]).encode()) for i in range(0, 3000, 100))
    assert not language.accepts(b"value-3000-\xc3\xa9")


PATTERNS = [
    "", "a", "^a", "a$", "^a$", "^$", "a*", "a+", "^a+", "a+$", "^(a|b)+$", "^a|b$", "(^a|b)", "a|", "ab", "a.b", "^.$",
    "^.{2}$", "^.{2,3}$", "^[^a]*$", "[^a]", r"\d", r"^\d+$", r"\s", r"^\S+$", r"\w{2}", r"^\w", r"\W$", r"\ba", r"a\b",
    r"\Ba", r"^(?=.*a)(?=.*0)", "^(?!a)", "^(?!.*a)", r"(?<=a)b", r"(?<!a)b", r'"', r"\\", r"\/", r"^[\"\\/]+$", r"\n",
    r"\u0000", r"[\u0000-\u001f]", "[ß-é]|x", "😀", "^[😀-🙏]$", r"\p{L}", r"^\P{Lu}*$", r"\u{1F600}",
    "(ab|a)(b|0)", "^(a{2,3}b)*$",
    "a{2,}", "(a|ab)(c|)", "^(?:a|b){2}$", "[ab]{2}$", r"^(\w+-)*\w+$", "(a*)*b", r"^[a-z0-9_ ]+$", "(((^a)))",
    "(a?){2}b?$", "b?^$", "^$b?", "(a|^)$", "^(a|$)", "^a*b*",
]  # fmt: skip


def matches(pattern: str, text: str) -> bool:
    """ECMA-262 search by Python's re: the classes that differ are written out."""
    space = "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
    if pattern == r"^\P{Lu}*$":
        return all(unicodedata.category(c) != "Lu" for c in text)
    p = pattern.replace(r"\u{1F600}", "😀")
    p = p.replace(r"\S", f"[^{space}]").replace(r"\s", f"[{space}]").replace(r"\d", "[0-9]").replace(r"\/", "/")
    p = p.replace("$", r"\Z").replace("[^a]", "(?s:[^a])")
    if "." in p:
        p = p.replace(".", "[^\\n\\r\\u2028\\u2029]")
    flags = re.ASCII if r"\w" in p.lower() or r"\b" in p.lower() else 0
    return re.search(p.replace(r"\p{L}", r"[^\W\d_]"), text, flags) is not None


@pytest.mark.parametrize("canonical", [False, True])
def test_patterns(canonical: bool) -> None:
    for pattern in PATTERNS:
        r = random.Random(f"{SEED} {pattern}")
        language = json_string("pattern", pattern.encode(), canonical)
        other = json_string("pattern", pattern.encode(), canonical, complement=True)
        for most in (1, 2, 4, 8):
            for _ in range(30):
                text = "".join(r.choice(r.choice(["ab", "a0_ -", ALPHABET])) for _ in range(r.randint(0, most)))
                content = mangled(r, spell(r, text) if r.random() < 0.5 else canonical_spelling(text))
                decoded = decode(content)
                if decoded is None:
                    assert not language.accepts(content), (pattern, content)
                    assert not other.accepts(content), (pattern, content)
                    continue
                found = matches(pattern, decoded)
                check(language, canonical, content, found, pattern)
                check(other, canonical, content, not found, pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_search_is_any_text_around_the_pattern(pattern: str) -> None:
    search = json_string("pattern", pattern.encode(), True)
    around = json_string("pattern", f"^[^]*(?:{pattern})[^]*$".encode(), True)
    difference = Language.counterexample(search, around)
    assert difference is None, difference


LENIENT = [  # pattern, texts that match, texts that do not
    (r"^\-\_\@\#\ \!$", ["-_@# !"], [""]),
    (r"^a{$", ["a{"], ["a"]),
    (r"^a{,2}$", ["a{,2}"], ["a", "aa"]),
    (r"^{}]$", ["{}]"], []),
    (r"^x{1$", ["x{1"], ["x"]),
    (r"^\-{2}$", ["--"], ["-"]),
    (r"^[\w-.]+$", ["a-.", "_"], ["*"]),
    (r"^[a-\d]$", ["a", "-", "5"], ["b"]),
    (r"^\-\101\60\7$", ["-A0\x07"], ["-101"]),
    (r"^\-\8\9$", ["-89"], []),
    (r"^\-\x4G\u12$", ["-x4Gu12"], []),
    (r"^\-\cJ\c1$", ["-\n\\c1"], []),
    (r"^[\-\c_\c1]+$", ["\x1f\x11-"], ["c"]),
    (r"^(?=a)*\-b$", ["-b"], ["a-b"]),
    (r"^\-\k$", ["-k"], []),
    (r"\A\-b*\Z", ["-", "-bb"], ["-b-", "A-Z"]),
    (r"^\-\p{L}[\p{Lu}]$", ["-éÉ"], ["-p{L}L", "-éé"]),
    (r"^\-\u{61}$", ["-a"], ["-u"]),
    (r"^\-\1$", ["-\x01"], ["-1"]),
]


@pytest.mark.parametrize(("pattern", "good", "bad"), LENIENT)
def test_patterns_without_the_unicode_flag(pattern: str, good: list[str], bad: list[str]) -> None:
    language = json_string("pattern", pattern.encode(), True)
    for text in good:
        assert language.accepts(canonical_spelling(text).encode()), text
    for text in [*bad, "", "~~"]:
        assert not language.accepts(canonical_spelling(text).encode()), text


def test_refused_patterns() -> None:
    for pattern in (r"(a+)\-\1", r"(?<n>a+)\-\k<n>", r"(a+)\1"):
        with pytest.raises(UnsupportedError, match="backreference"):
            json_string("pattern", pattern.encode(), False)
    for pattern in ("(", "a**", "[b-a]", "(?i)a", "x{2,1}", r"\-{2}{3}", r"\-\a", r"[\-\e]"):
        with pytest.raises(ConstraintError, match="regex: "):
            json_string("pattern", pattern.encode(), False)
    for pattern in (r"^\p{Print}+$", r"^[\p{Graph}\x20]*$", r"\-\p{Nope}", r"[\-\P{Nope}]", r"\pL", r"\-\PL", r"\-\p"):
        with pytest.raises(ConstraintError, match=r"unknown property \\[pP]\{|\\p without a property"):
            json_string("pattern", pattern.encode(), False)


# Patterns whose lengths are not put into counters: intersections that masks take apart.
BOUNDED = [
    (r"^(\S+\s+){0,5}\S+$", 0, 30), (r"^(\S+\s+){0,5}\S+$", 2, 30), ("a", 3, 25), ("[a-z]+", 3, 2**32 - 1),
    ("^(a|b )*$", 0, 9),
    ("^(foo|aa)*x?$", 0, 20), ("^(é|a)*[a-z]$", 0, 21), ("^a*b*$", 5, 40), (r"^[\w ]+\.?[a-z]+$", 0, 24),
    ("^(?=.*x).*$", 0, 22),
    *[("^(foo|b )*$", 0, high) for high in range(6, 13)], *[("^(foox|foo12)*[^x]$", 0, high) for high in range(6, 10)],
]  # fmt: skip


def test_masks_equal_running_every_token() -> None:
    r = random.Random(SEED)
    pieces = [
        "a",
        "b ",
        "foo",
        "  ",
        "\u3000",
        "\u2028",
        "\xa0x",
        "é",
        "😀",
        "\\",
        '"',
        "\\n",
        '\\"',
        "\\u00",
        "<",
        "x",
        "12",
    ]
    tokens = [bytes([b]) for b in range(256)]
    tokens += sorted(
        {"".join(r.choice(pieces) for _ in range(r.randint(1, 4))).encode() for _ in range(600)} - set(tokens)
    )
    tokens += [b"\xe2\x80", b"\xe3\x80", b"\xc2", b"a\xe2\x80", b"\xe3\x80\x80\xe3", b"\x80\xa8a"]
    tokens += [
        t for t in (b"foofoo", b"foofoof", b"foob foo", b"foofoofoo", b"b b b foob ", b"foo12foox") if t not in tokens
    ]
    tokens.append(b"<eos>")
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1])
    patterns = ["^.*$", r"^\S+$", "^(?!x).{3,50}$", "^[^<]*$", "foo", "^x", ".", r"^\S{2,4}$", r"^[^\s<]*$", r"^a?.*b$"]
    for canonical in (False, True):
        languages = [json_string("pattern", p.encode(), canonical) for p in patterns]
        languages += [json_string("pattern", p.encode(), canonical, complement=True) for p in ("^x", "foo", r"\s")]
        languages += [json_string("any", b"", canonical), json_string_length(0, 5, canonical)]
        languages += [json_string_length(3, 100_000, canonical)]
        for pattern, low, high in BOUNDED:
            languages.append(json_string_pattern(pattern.encode(), low, high, canonical))
        for number, language in enumerate(languages):
            constraint = Constraint(language) + '"'
            state = tokamata.compile(constraint, vocabulary, cache_bytes=0).start()
            text = b""
            for _ in range(8):
                mask = np.unpackbits(state.mask().view(np.uint8), bitorder="little")[: len(tokens)]
                for i, token in enumerate(tokens[:-1]):
                    assert mask[i] == constraint.accepts_prefix(text + token), (number, text, token)
                allowed = [i for i in range(len(tokens) - 1) if mask[i]]
                if not allowed:
                    break
                choice = r.choice(allowed)
                state.advance(choice)
                text += tokens[choice]


@pytest.mark.parametrize("canonical", [False, True])
def test_patterns_with_lengths(canonical: bool) -> None:
    patterns = [
        *PATTERNS,
        "^a[ab]*b$",
        "^(aa|b){1,4}$",
        "^(a|b[ab]*)$",
        "^é+$",
        "^[ab]+é?$",
        r"^a\n*$",
        "^(ab)*$",
        "^a*b*$",
        "^a?[b-z]{2,}$",
        "[ab]{2}",  # with two characters there is no room beside the match
        "(aa|b)[ab]?a",
        "(ab|a|bab)+é{1,2}$",
        "[ab]{2}(a*|bb)b*",
    ]
    for pattern in patterns:
        r = random.Random(f"{SEED} {pattern}")
        for low, high in [(0, 2), (1, 3), (2, 2), (0, 2**32 - 1), (3, 100_000), (1, 5)]:
            together = json_string_pattern(pattern.encode(), low, high, canonical)
            expected = Language.intersect(
                [json_string("pattern", pattern.encode(), canonical), json_string_length(low, high, canonical)]
            )
            for content in contents(r, 10, 4) + [
                spell(r, "".join(r.choice("abé\n") for _ in range(n))).encode() for n in range(7)
            ]:
                assert together.accepts(content) == expected.accepts(content), (pattern, low, high, content)
            if canonical and high < 9:
                assert Language.counterexample(together, expected) is None, (pattern, low, high)


@pytest.mark.parametrize(
    "pattern",
    [r"\s", r"[\s<>]", "a|é|😀", "[^a<]", "^[ab]*c", "^[ab]*b", "^[^a]*a", "^[^a]*[ab]", "^[^b]*a", "<+", "^[^<]*<.*$"],
)
@pytest.mark.parametrize("strings", ["any", "canonical"])
def test_what_no_pattern_matches(pattern: str, strings: str) -> None:
    """Where the pattern is a character of a set, a loop over the others; masks are those of walking."""
    schema = {"type": "string", "minLength": 2, "maxLength": 4, "not": {"pattern": pattern}}
    none = tokamata.json_schema(schema, strings=strings)
    some = re.compile(pattern)
    for n in range(2, 5):
        for letters in itertools.product("abc é<😀"[: 9 - n], repeat=n):
            text = "".join(letters)
            assert none.accepts(json.dumps(text, ensure_ascii=False)) == (not some.search(text)), text
    rng = random.Random(SEED)
    pieces = ["a", "b", "c", " ", "é", "<", "😀", "\\n", "\\u00", "e9", '"']
    words = {"".join(rng.choices(pieces, k=rng.randint(1, 5))).encode() for _ in range(400)}
    automaton = tokamata.compile(none, mask_walk.with_bytes(words))
    mask_walk.wander(automaton, rng, 10, 8, pattern, strings)
