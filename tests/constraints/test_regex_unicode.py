"""Character classes, properties and case over every code point, against re, unicodedata and the regex package."""

from __future__ import annotations

import random
import re
import sys
import unicodedata
from functools import lru_cache

import pytest
import regex as regex_package

from tokamata import choice, regex

SHORT = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
LONG = {
    "Uppercase_Letter": "Lu",
    "Letter": "L",
    "Cased_Letter": ("Lu", "Ll", "Lt"),
    "Mark": "M",
    "Number": "N",
    "Punctuation": "P",
    "Symbol": "S",
    "Separator": "Z",
    "Other": "C",
    "decimal number": "Nd",
}


@lru_cache(maxsize=1)
def scalars() -> str:
    return "".join(chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000)


@lru_cache(maxsize=1)
def cased() -> str:
    return "".join(c for c in scalars() if len({c, c.lower(), c.upper(), c.title()}) > 1)


def check_class(inside: str, outside: str, members: str, others: str) -> None:
    """The two classes are disjoint and hold these characters, so each holds exactly its own."""
    positive, negative = regex(f"(?:{inside})*"), regex(f"(?:{outside})*")
    assert positive.accepts(members)
    assert negative.accepts(others)
    assert (regex(inside) & regex(outside)).is_empty()


def split(test: re.Pattern[str]) -> tuple[str, str]:
    return "".join(test.findall(scalars())), test.sub("", scalars())


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        (r"\w", r"\W"),
        (r"\d", r"\D"),
        (r"\s", r"\S"),
        (r"(?a:\w)", r"(?a:\W)"),
        (r"(?a:\d)", r"(?a:\D)"),
        (r"(?a:\s)", r"(?a:\S)"),
        (r"[\w-]", r"[^\w-]"),
        (r"[^\W\d_]", r"[\W\d_]"),
        (".", "\n"),
        ("(?s:.)", r"[^\x00-\U0010ffff]"),
        ("[Ā-힣\U0001f600-\U0001f64f]", "[^Ā-힣\U0001f600-\U0001f64f]"),
    ],
)
def test_classes_are_those_of_re(inside: str, outside: str) -> None:
    check_class(inside, outside, *split(re.compile(inside)))


def test_general_categories_are_those_of_unicodedata() -> None:
    by_category: dict[str, list[str]] = {}
    for c in scalars():
        by_category.setdefault(unicodedata.category(c), []).append(c)
    assert set(by_category) == set(SHORT)
    for name, wanted in [*((s, s) for s in SHORT), *LONG.items()]:
        prefixes = (wanted,) if isinstance(wanted, str) else wanted
        inside = {k for k in by_category if k.startswith(prefixes)}
        members = "".join("".join(v) for k, v in by_category.items() if k in inside)
        others = "".join("".join(v) for k, v in by_category.items() if k not in inside)
        check_class(rf"\p{{{name}}}", rf"\P{{{name}}}", members, others)
    check_class(r"\p{Assigned}", r"\p{Cn}", "aé日", "\u0378")
    assert regex(r"\p{gc=Lu}\p{General_Category=Ll}\pL\p{^L}\p{Any}\p{ASCII}").accepts("Aab1日z")
    assert regex(r"[\p{Lu}\d]+[^\p{Lu}]\p{Cs}?").accepts("Å7é")


@pytest.mark.parametrize(
    "name",
    "Script=Greek sc=Hani scx=Deva Cyrillic latin Alphabetic White_Space space Uppercase Emoji ID_Continue".split(),
)
def test_scripts_and_properties_are_those_of_the_regex_package(name: str) -> None:
    assigned = "".join(c for c in scalars() if unicodedata.category(c) not in ("Cn", "Co"))
    members = "".join(regex_package.findall(rf"\p{{{name}}}", assigned))
    others = regex_package.sub(rf"\p{{{name}}}", "", assigned)
    check_class(rf"\p{{{name}}}", rf"\P{{{name}}}", members, others)


def test_ignoring_case_matches_what_re_matches_for_every_cased_character() -> None:
    text = cased()
    for c in text:
        expected = re.findall(re.escape(c), text, re.IGNORECASE)
        constraint = regex(f"(?i){re.escape(c)}")
        assert constraint.equivalent(choice(expected)), c
    for c in "iıİIſsSKkK":
        expected = re.findall(c, text + "".join(map(chr, range(128))), re.IGNORECASE | re.ASCII)
        assert regex(f"(?ai){c}").equivalent(choice(expected)), c


def test_ignoring_case_in_classes() -> None:
    rng = random.Random(5)
    text = "".join(c for c in cased() if ord(c) < 0x10000) + "".join(map(chr, range(128)))
    for _ in range(60):
        items = []
        for _ in range(rng.randint(1, 3)):
            a, b = sorted((rng.choice(text), rng.choice(text)))
            if rng.random() < 0.5:
                b = chr(min(ord(a) + rng.randint(0, 80), 0xD7FF)) if ord(a) < 0xD7FF else a
            items.append(f"{re.escape(a)}-{re.escape(b)}" if rng.random() < 0.6 else re.escape(a))
        negation, flags = rng.choice(("", "^")), rng.choice(("i", "i", "ia"))
        pattern = f"(?{flags})[{negation}{''.join(items)}]"
        opposite = f"(?{flags})[{'' if negation else '^'}{''.join(items)}]"
        members = "".join(re.findall(pattern, text))
        others = "".join(re.findall(opposite, text))
        assert regex(pattern[: 3 + len(flags)] + "(?:" + pattern[3 + len(flags) :] + ")*").accepts(members), pattern
        assert regex(opposite[: 3 + len(flags)] + "(?:" + opposite[3 + len(flags) :] + ")*").accepts(others), pattern
        assert (regex(pattern) & regex(opposite)).is_empty(), pattern


def test_characters_beyond_the_basic_plane_ignore_case_in_classes_too() -> None:
    """CPython's re forgets to fold them there: re.match("(?i)[𐐀x]", "𐐀") is None."""
    for pattern in ("(?i)[\U00010400x]", "(?i)\U00010428|x", "(?i)[\U00010400-\U00010402]"):
        assert regex(pattern).accepts("\U00010400")
        assert regex(pattern).accepts("\U00010428")
    assert not regex("(?ia)[\U00010400-\U00010402]").accepts("\U00010428")


def test_group_names_are_identifiers() -> None:
    for name in ("é", "_1", "日本", "µ"):
        assert regex(f"(?P<{name}>a)").accepts("a")
