"""The formats of JSON Schema against Python's own parsers, small models of their grammars, and cases by hand."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import json
import random
import re
import warnings
from collections import Counter
from functools import lru_cache
from typing import Any

import pytest
from oracle import mask_walk

import tokamata
from tokamata._core import Language, json_format, json_string

SEED = 99

CASES: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["2020-02-29", "0400-02-29", "2021-12-31", "1999-11-30", "0001-01-01"],
        [
            "2021-02-29",
            "2100-02-29",
            "2020-04-31",
            "2020-00-10",
            "2020-13-01",
            "20200101",
            "2020-1-01",
            "2020-01-01Z",
            "+2020-01-01",
            "2020-01-0\u09ea",
        ],
    ),
    "time": (
        [
            "08:30:06Z",
            "08:30:06.283185z",
            "23:59:60Z",
            "01:29:60+01:30",
            "23:29:60+23:30",
            "15:59:60.5-08:00",
            "00:29:60-23:30",
            "12:00:00-00:00",
        ],
        [
            "8:30:06Z",
            "24:00:00Z",
            "00:60:00Z",
            "00:00:61Z",
            "22:59:60Z",
            "23:59:60+00:30",
            "12:00:00",
            "12:00:00+24:00",
            "12:00:00+00:60",
            "12:00:00,5Z",
            "12:00:00Z+00:00",
        ],
    ),
    "date-time": (
        ["1998-12-31T23:59:60Z", "1998-12-31t15:59:60.123-08:00", "2024-02-29T00:00:00+00:20"],
        [
            "1998-12-31T22:59:60Z",
            "2023-02-29T00:00:00Z",
            "2024-02-29 00:00:00Z",
            "2024-02-29T00:00:00",
            "2024-02-29T00:00:00Z\n",
        ],
    ),
    "duration": (
        ["P4DT12H30M5S", "P2W", "P1Y2M", "PT1M2S", "P0D", "P10Y10M10DT10H10M10S", "P1M2D"],
        ["P", "PT", "P1YT", "P1Y2D", "PT1H2S", "P1Y2W", "PT0.5S", "-P1D", "P1", "P2D1Y", "PT1D", ""],
    ),
    "email": (
        [
            "joe.bloggs@example.com",
            '"joe bloggs"@example.com',
            "a@[127.0.0.1]",
            "a@[IPv6:::1]",
            "te~st+x@a-b--c.d",
            "a@localhost",
            '"\\""@x.y',
        ],
        [
            "2962",
            ".a@example.com",
            "a.@example.com",
            "a..b@example.com",
            "a@invalid=domain.com",
            "a@[127.0.0.300]",
            "@x.y",
            "a@",
            "a b@x.y",
            "a@-x.y",
            "a@x-.y",
            "é@x.y",
        ],
    ),
    "idn-email": (
        ["실례@실례.테스트", "δοκιμή@example.com", "a@cafe\u0301.com"],
        ["2962", "user\uff20example.com", "a@é-", "@é"],
    ),
    "hostname": (
        ["www.example.com", "h0st", "1host", "a--b.com", "a" * 63 + ".com", ".".join(["a" * 61] * 4)],
        ["", ".", ".example", "example.", "-a", "a-", "a_b", "a" * 64, ".".join(["a" * 63] * 4), "a..b", "é.com"],
    ),
    "idn-hostname": (
        ["실례.테스트", "a。b", "a\uff0eb", "hostname", "ß", "ά" * 63],
        ["", "\u3002", "-a", "a-", "\u0300a", "a..b", "A\u0300 b", "a" * 64, "$.com", "\u302e실"],
    ),
    "ipv4": (
        ["192.168.0.1", "0.0.0.0", "255.255.255.255"],
        ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4/8", "0x7f.0.0.1"],
    ),
    "ipv6": (
        ["::", "::1", "1:2:3:4:5:6:7:8", "1::d6:192.168.0.1", "d6::"],
        [":2:3:4:5:6:7:8", "1::2::3", "fe80::a%eth1", "12345::", "::ffff:1.2.3.04", "[::1]"],
    ),
    "uri": (
        [
            "http://foo.bar/?baz=qux#quux",
            "mailto:John.Doe@example.com",
            "urn:oasis:names",
            "http://[V1.fe]",
            "a:",
            "file:/etc",
            "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
        ],
        [
            "//foo.bar",
            "/abc",
            "abc",
            "http:// x",
            ":// x",
            "bar,baz:foo",
            "https://[@x/",
            "http://x/%6G",
            "1http://x",
            "http://x:abc/",
            "http:/[::1]",
            "http://é",
            'http://x/"',
        ],
    ),
    "uri-reference": (
        ["", "#f", "?q", "//", "abc", "../x", "./this:that", "http://x"],
        ["1:b", "/%zz", "/[::1]", "#a\\b", "//a@b@c/", "/é"],
    ),
    "iri": (
        ["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "http://x/\U00010300", "http://x/?q=\U000f0000"],
        ["/abc", "âππ", "http://x/\U000f0000", "http://x/\n", "http://2001:0db8:85a3:0000:0000:8a2e:0370:7334"],
    ),
    "iri-reference": (["//ƒøø", "/âππ", "âππ", "#ƒ", ""], ["\\\\é", "#ƒ\\x"]),
    "uuid": (
        ["2EB8AA08-aa98-11ea-b4Aa-73B441D16380"],
        [
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "2eb8aa08aa9811eab4aa73b441d16380",
            "2eb8aa08-aa98-11ea-b4ga-73b441d16380",
        ],
    ),
    "json-pointer": (
        ["", "/", "/foo/bar~0/baz~1/%a", "/foo//bar", '/k"l', "/i\\j", "/\x00\n", "/😎"],
        ["#", "a", "/~", "/~2", "/foo/bar~"],
    ),
    "relative-json-pointer": (
        ["1", "0/foo", "0#", "120/a/b", "0//"],
        ["/a", "-1/a", "01/a", "01#", "0##", "1#/a", "", "0/~2"],
    ),
    "uri-template": (
        ["", "http://x/{term:1}/{term}", "{+var}", "{x,y*}", "{a.b}", "{%41}", "{v:9999}", "a'b", "a😀"],
        ["{}", "{", "}", "{a,,b}", "{v:0}", "{v:10000}", "{a..b}", "a b", "{var=d}", "{,+v}"],
    ),
    "regex": (
        [
            "",
            "^a$",
            r"([abc])+\s+$",
            "a{1,3}?b|(?=a)b",
            "(?<n>a)(?P<m>b)(?:c)*?",
            r"[^\]a]+\(",
            "x{",
            "x}]",
            "((((a))))",
            *("(?i)a", "(?i-m:a)", "(?<!a)b", "(?#)(a)", "[]a]", "a|", "()", r"\bx\B", "é+", "(a(b(c)*)?)+"),
        ],
        [
            "(",
            ")",
            "^(abc]",
            "a**",
            "a|*",
            "^*",
            "*",
            "(*a)",
            "(?",
            "(?<1a>x)",
            "\\",
            "a\\",
            "[a",
            r"[a\]",
            "((a)",
            "a)b",
            r"\b+",
        ],
    ),
}


def spelled(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode()


@lru_cache
def language(name: str, canonical: bool = True) -> Language:
    found = json_format(name, canonical)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    good, bad = CASES[name]
    for canonical in (True, False):
        for texts, expected in ((good, True), (bad, False)):
            for text in texts:
                assert language(name, canonical).accepts(spelled(text)) == expected, text
    for texts, expected in ((good, True), (bad, False)):
        for text in texts:
            assert language(name, False).accepts(json.dumps(text)[1:-1].encode()) == expected, text


def test_patterns_of_either_dialect_are_strings_of_the_format() -> None:
    rng = random.Random(SEED)
    parts = [
        "(",
        ")",
        "(?:",
        "(?=",
        "(?<n>",
        "(?P<n>",
        "(?i)",
        "(?i:",
        "(?-i:",
        "(?>",
        "(?P=n)",
        "(?<=",
        "(?#",
        "[",
        "]",
    ]
    parts += [
        "^",
        "$",
        "*",
        "+",
        "?",
        "++",
        "{2}",
        "{1,",
        "{,3}",
        "a",
        "b",
        "\\",
        "\\b",
        "\\d",
        "\\k<n>",
        "|",
        "-",
        ".",
        "<",
        "\n",
    ]
    counts: Counter[str] = Counter()
    for _ in range(20_000):
        text = "".join(rng.choices(parts, k=rng.randint(0, 9)))
        found = language("regex", False).accepts(json.dumps(text)[1:-1].encode())
        counts[f"format {found}"] += 1
        with warnings.catch_warnings(), contextlib.suppress(re.error):
            warnings.simplefilter("ignore")
            re.compile(text)
            assert found, f"seed {SEED}: {text!r}"
            counts["python"] += 1
        with contextlib.suppress(tokamata.ConstraintError, tokamata.LimitError):
            tokamata.regex(text, syntax="ecma")
            assert found, f"seed {SEED}: {text!r}"
            counts["ecma"] += 1
    assert min(counts.values()) > 2_000, counts


def test_what_is_widened() -> None:
    widened = {}
    for name in CASES:
        found = json_format(name, True)
        assert found is not None
        _, exact, note = found
        assert exact == (not note)
        if not exact:
            widened[name] = note
    assert sorted(widened) == ["hostname", "idn-email", "idn-hostname", "regex"]
    assert "Punycode" in widened["hostname"]
    assert json_format("color", True) is None


def mutations(r: random.Random, text: str, alphabet: str) -> str:
    out = list(text)
    for _ in range(r.choice([0, 1, 1, 2])):
        i = r.randrange(len(out) + 1)
        match r.randrange(3):
            case 0 if i < len(out):
                out[i] = r.choice(alphabet)
            case 1 if i < len(out):
                del out[i]
            case _:
                out.insert(i, r.choice(alphabet))
    return "".join(out)


def test_addresses_agree_with_ipaddress() -> None:
    r = random.Random(SEED)
    for _ in range(6000):
        four = mutations(
            r,
            ".".join(str(r.choice([0, 1, 9, 10, 99, 100, 199, 249, 255, 256, 300])) for _ in range(4)),
            "0123456789.a",
        )
        assert language("ipv4").accepts(spelled(four)) == is_address(four, 4), four
        groups = [format(r.choice([0, 1, 0xABC, 0xFFFF]), "x") for _ in range(r.randint(1, 8))]
        if r.random() < 0.6:
            i = r.randrange(len(groups) + 1)
            groups[i : i + r.randint(0, 2)] = [""]
        six = ":".join(groups)
        six = (":" + six if six.startswith(":") else six) + (":" if six.endswith(":") else "")
        if r.random() < 0.2:
            six = six[: six.rfind(":") + 1] + four
        six = mutations(r, six, "0:fF.1")
        assert language("ipv6").accepts(spelled(six)) == is_address(six, 6), six


def is_address(text: str, version: int) -> bool:
    try:
        return (ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address)(text) is not None and "%" not in text
    except ValueError:
        return False


def test_dates_agree_with_datetime() -> None:
    r = random.Random(SEED)
    years = [1, 4, 100, 400, 1900, 1999, 2000, 2023, 2024, 2100, 9999]
    for _ in range(5000):
        text = f"{r.choice(years):04}-{r.randint(0, 13):02}-{r.choice([0, 1, 9, 15, 28, 29, 30, 31, 32]):02}"
        text = mutations(r, text, "0123456789-") if r.random() < 0.2 else text
        try:
            valid = re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is not None and bool(
                datetime.date.fromisoformat(text)
            )
        except ValueError:
            valid = text.startswith("0000") and language("date").accepts(
                spelled("2000" + text[4:])
            )  # Python has no year 0
        assert language("date").accepts(spelled(text)) == valid, text


def test_times_agree_with_a_model() -> None:
    r = random.Random(SEED)
    zone = r"(?:[zZ]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
    model = re.compile(rf"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]+)?{zone}")
    for _ in range(8000):
        minute, offset = r.randrange(1440), r.randrange(1440)
        sign = r.choice("+-")
        if r.random() < 0.5:  # 23:59 in UTC, or next to it
            minute = (1439 + (offset if sign == "+" else -offset) + r.choice([0, 0, 0, 1, -1, 60])) % 1440
        zone_text = r.choice(["Z", "z", *[f"{sign}{offset // 60:02}:{offset % 60:02}"] * 6])
        second = r.choice(["60", "60", "00", "59", "61"]) + r.choice(["", ".5"])
        text = f"{minute // 60:02}:{minute % 60:02}:{second}{zone_text}"
        text = mutations(r, text, "0123456789:+-Z") if r.random() < 0.2 else text
        m = model.fullmatch(text)
        valid = m is not None
        if m is not None and m[3] == "60":
            east = (1 if m[4] == "+" else -1) * (int(m[5]) * 60 + int(m[6])) if m[4] else 0
            valid = (int(m[1]) * 60 + int(m[2]) - east) % 1440 == 1439
        assert language("time").accepts(spelled(text)) == valid, text
        assert language("date-time").accepts(spelled("2024-01-31T" + text)) == valid, text


@pytest.mark.parametrize("name", CASES)
def test_lengths_of_formats(name: str) -> None:
    """A schema contradicts itself exactly where no text of the format has such a length."""
    one = json_string("pattern", b"^[^]$", True)
    long = [253, 254] if name == "hostname" else []  # of idn-hostname, other searches reach a limit
    bounds = [(0, most) for most in range(40)] + [(least, 2**31) for least in (0, 9, 15, 16, 36, 37, 45, 46, *long)]
    for low, high in bounds:
        schema = {"type": "string", "format": name, "minLength": low, "maxLength": high}
        empty = Language.intersect([language(name), one.repeat(low, high)]).is_empty()
        with pytest.raises(tokamata.ConstraintError) if empty else contextlib.nullcontext():
            tokamata.json_schema(schema, strings="canonical")


def times() -> str:
    """RFC 3339's full-time, with all leap seconds spelled out, as a pattern."""
    leaps = []
    for at in range(1440):
        east, west = (at + 1) % 1440, 1439 - at
        zones = [rf"\+{east // 60:02}:{east % 60:02}", f"-{west // 60:02}:{west % 60:02}", *["[Zz]"] * (west == 0)]
        leaps.append(f"{at // 60:02}:{at % 60:02}:60(?:\\.[0-9]+)?(?:{'|'.join(zones)})")
    clock, fraction = "(?:[01][0-9]|2[0-3]):[0-5][0-9]", r"(?:\.[0-9]+)?"
    return rf"{clock}:[0-5][0-9]{fraction}(?:[Zz]|[+-]{clock})|" + "|".join(leaps)


@pytest.mark.parametrize(
    ("beside", "pattern"),
    [
        *(
            ({"minLength": low, "maxLength": high}, f".{{{low},{high}}}")
            for low, high in ((0, 9), (0, 11), (0, 13), (0, 14), (0, 15), (10, 13), (12, 40), (16, 16))
        ),
        ({"pattern": "Z$"}, ".*Z"),
        ({"pattern": "(9:60|0:00)Z$"}, ".*(?:9:60|0:00)Z"),
        ({"pattern": "^..:[03]4", "not": {"pattern": "[Z-]"}}, "..:[03]4[^Z-]*"),
        ({"pattern": "^2.*[+]"}, "2.*[+].*"),
        ({"pattern": "60", "maxLength": 18}, "(?=.*60).{0,18}"),
    ],
)
def test_times_beside_other_conditions_are_those_that_are_spelled_out(beside: dict[str, Any], pattern: str) -> None:
    constraint = tokamata.json_schema({"type": "string", "format": "time", **beside}, strings="canonical")
    spelled_out = '"' + (tokamata.regex(times()) & tokamata.regex(pattern)) + '"'
    assert constraint.equivalent(spelled_out)
    rng = random.Random(31)
    pieces = [
        b'"2',
        b"23",
        b":5",
        b"34",
        b"9:60",
        b"4:60",
        b"34:60",
        b"0Z",
        b".5",
        b"Z",
        b'Z"',
        b"+0",
        b"+1",
        b"+12:",
        b"-01:",
    ]
    vocabulary = mask_walk.with_bytes([*pieces, b"0" * 12, b'0"', b":60.", b"60-"])
    automata = [tokamata.compile(c, vocabulary) for c in (constraint, spelled_out)]
    seen: Counter[str] = Counter()
    for _ in range(60):
        states = [automaton.start() for automaton in automata]
        text, aim = b"", rng.choice([b"", b'"23:59:60', b'"12:34:60', b'"22:00:60'])
        while not states[0].is_finished:
            one, other = (mask_walk.allowed(state.mask()) for state in states)
            assert one == other, text
            aimed = [i for i in one if (token := vocabulary.token_bytes(i)) and aim.startswith(text + token)]
            token_id = rng.choice(aimed or one)
            for state in states:
                state.advance(token_id)
            text += vocabulary.token_bytes(token_id) or b""
        seen["leap" if b":60" in text else "plain"] += 1
    assert min(seen["leap"], seen["plain"]) > 0, seen


def test_formats_compose() -> None:
    time = language("time")
    assert Language.counterexample(time, Language.union_([time, time])) is None
    later = Language.intersect(
        [language("date-time"), Language.concat([language("date"), Language.literal(b"T"), time])]
    )
    assert later.accepts(b"2024-01-31T23:59:60Z")
    assert not Language.difference(language("date-time"), later).accepts(b"2024-01-31T23:59:60Z")
    assert Language.difference(language("date-time"), later).accepts(b"2024-01-31t23:59:60Z")
