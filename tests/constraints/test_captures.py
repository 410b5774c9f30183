"""Named parts, against re, and against a backtracking matcher for beginnings of texts and the algebra."""

from __future__ import annotations

import itertools
import random
import re
import sys
from collections.abc import Callable, Iterator

import pytest

import tokamata

# ("set", letters), ("+", parts), ("|", parts), ("{}", part, low, high, lazy), ("name", part, name)
Tree = tuple  # type: ignore[type-arg]
Places = dict[str, list[tuple[int, int | None]]]


class Names:
    def __init__(self) -> None:
        self.count = 0

    def tree(self, rng: random.Random, depth: int) -> Tree:
        kind = rng.randrange(9 if depth else 2)
        if kind <= 1:
            return ("set", rng.choice(["a", "b", "ab", "a"]))
        if kind <= 3:
            return ("+", [self.tree(rng, depth - 1) for _ in range(rng.choice([2, 2, 3]))])
        if kind == 4:
            return ("|", [self.tree(rng, depth - 1) for _ in range(rng.choice([2, 2, 3]))])
        if kind <= 6:
            low, high = rng.choice([(0, None), (0, 1), (1, None), (0, 2), (1, 2), (2, 2)])
            return ("{}", self.tree(rng, depth - 1), low, high, rng.random() < 0.3)
        self.count += 1
        name = f"n{self.count}"
        return ("name", self.tree(rng, depth - 1), name)


def pattern(tree: Tree) -> str:
    if tree[0] == "set":
        return tree[1] if len(tree[1]) == 1 else f"[{tree[1]}]"
    if tree[0] == "name":
        return f"(?P<{tree[2]}>{pattern(tree[1])})"
    if tree[0] == "{}":
        bounds = f"{{{tree[2]},{'' if tree[3] is None else tree[3]}}}"
        return f"(?:{pattern(tree[1])}){bounds}{'?' if tree[4] else ''}"
    return "(?:" + ("|" if tree[0] == "|" else "").join(map(pattern, tree[1])) + ")"


def algebra(tree: Tree) -> tokamata.Constraint:
    """The same without patterns: every repetition is greedy."""
    if tree[0] == "set":
        return tokamata.choice(list(tree[1]))
    if tree[0] == "name":
        return tokamata.capture(tree[2], algebra(tree[1]))
    if tree[0] == "{}":
        return algebra(tree[1]).repeat(tree[2], tree[3])
    parts = list(map(algebra, tree[1]))
    made = parts[0]
    for part in parts[1:]:
        made = made + part if tree[0] == "+" else made | part
    return made


def ways(tree: Tree, text: str, at: int, read: Places, go_on: Callable[[int, Places], Iterator[Places]],
         greedy: bool) -> Iterator[Places]:  # fmt: skip
    """What is read, way by way as a backtracking matcher goes, where the whole is a beginning of ``text`` and more."""
    kind = tree[0]
    if kind == "set":
        if at == len(text):
            yield read
        elif text[at] in tree[1]:
            yield from go_on(at + 1, read)
    elif kind == "name":
        begun = {**read, tree[2]: [*read.get(tree[2], []), (at, None)]}

        def close(end: int, inner: Places) -> Iterator[Places]:
            pieces = inner[tree[2]]
            last = max(i for i, piece in enumerate(pieces) if piece[1] is None)
            closed = [*pieces[:last], (pieces[last][0], end), *pieces[last + 1 :]]
            yield from go_on(end, {**inner, tree[2]: closed})

        yield from ways(tree[1], text, at, begun, close, greedy)
    elif kind == "|":
        for part in tree[1]:
            yield from ways(part, text, at, read, go_on, greedy)
    elif kind == "+":

        def chain(i: int) -> Callable[[int, Places], Iterator[Places]]:
            if i == len(tree[1]):
                return go_on
            return lambda end, inner: ways(tree[1][i], text, end, inner, chain(i + 1), greedy)

        yield from chain(0)(at, read)
    else:
        _, body, low, high, lazy = tree

        def turn(count: int, last: int | None) -> Callable[[int, Places], Iterator[Places]]:
            def until(end: int, inner: Places) -> Iterator[Places]:
                if count < low:
                    yield from ways(body, text, end, inner, turn(count + 1, last), greedy)
                    return
                more = (high is None or count < high) and end != last
                if lazy and not greedy:
                    yield from go_on(end, inner)
                if more:
                    yield from ways(body, text, end, inner, turn(count + 1, end), greedy)
                if not lazy or greedy:
                    yield from go_on(end, inner)

            return until

        yield from turn(0, None)(at, read)


def first_way(tree: Tree, text: str, whole: bool, greedy: bool = False) -> dict[str, list[bytes]] | None:
    def end(at: int, read: Places) -> Iterator[Places]:
        if at == len(text):
            yield {**read, "": [(0, 0)]}

    for read in ways(tree, text, 0, {}, end, greedy):
        if "" in read or not whole:
            begun = {
                name: [
                    text[a : len(text) if b is None else b].encode()
                    for a, b in pieces
                    if b is not None or a < len(text)
                ]
                for name, pieces in read.items()
                if name
            }
            return {name: pieces for name, pieces in begun.items() if pieces}
    return None


TEXTS = ["".join(t) for n in range(6) for t in itertools.product("ab", repeat=n)]


def cases(count: int, depth: int, first: int = 0) -> Iterator[tuple[int, Tree]]:
    for seed in range(first, first + count):
        names = Names()
        tree = names.tree(random.Random(seed), depth)
        if names.count:
            yield seed, tree


@pytest.mark.skipif(sys.version_info < (3, 11), reason="re captures otherwise before Python 3.11")
def test_patterns_capture_as_re_does() -> None:
    compared = 0
    for seed, tree in itertools.chain(cases(300, 4), cases(400, 5, 50_000)):
        text_of = pattern(tree)
        constraint = tokamata.regex(text_of)
        for text in TEXTS:
            match = re.fullmatch(text_of, text)
            assert (match is not None) == constraint.accepts(text), (seed, text_of, text)
            if match is None:
                continue
            want = {name: value.encode() for name, value in match.groupdict().items() if value is not None}
            mine = first_way(tree, text, True)
            assert mine is not None
            got = constraint.capture_lists(text)
            assert got == mine, (seed, text_of, text)
            last = {name: values[-1] for name, values in mine.items()}
            assert constraint.captures(text) == last
            assert want == last, (seed, text_of, text)
            compared += 1
    assert compared > 3000


def test_beginnings() -> None:
    compared = 0
    for seed, tree in cases(200, 3, 1000):
        constraint = tokamata.regex(pattern(tree))
        for text in TEXTS[:31]:
            want = first_way(tree, text, False)
            assert (want is not None) == constraint.accepts_prefix(text), (seed, pattern(tree), text)
            if want is not None:
                assert constraint.capture_lists(text, partial=True) == want, (seed, pattern(tree), text)
                compared += 1
    assert compared > 500


def test_the_algebra_captures_like_greedy_patterns() -> None:
    compared = 0
    for seed, tree in cases(150, 3, 2000):
        constraint = algebra(tree)
        for text in TEXTS[:31]:
            want = first_way(tree, text, True, greedy=True)
            assert (want is not None) == constraint.accepts(text), (seed, pattern(tree), text)
            if want is not None:
                assert constraint.capture_lists(text) == want, (seed, pattern(tree), text)
                compared += 1
    assert compared > 300


@pytest.mark.parametrize(
    ("text", "member"),
    [
        (r"(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])", "2026-11"),
        (r"(?P<key>\w+)\s*=\s*(?P<value>\"(?:[^\"\\]|\\.)*\"|\S+?)(?P<end>;?)", 'name = "a;\\"b";'),
        (r"(?i:(?P<word>straße|[é-ü]+)) (?P<rest>.*)", "STRASSE über"),
        (r"(?P<a>x|xy|xyz)(?P<b>z|yz)?(?P<c>.*?)(?P<d>[z!]*)", "xyzz!"),
        (r"^(?P<all>(?P<one>.)(?P<two>(?:..)*?)(?P<three>.?))$", "abcdé"),
        (r"(?P<name>\N{LATIN SMALL LETTER A}+)(?P<n>\d{1,3}){2}", "aa1234"),
        (r"(?x) (?P<a> a+ ) # letters" + "\n" + r"(?P<b> b* )", "aab"),
    ],
)
def test_patterns_of_people(text: str, member: str) -> None:
    match = re.fullmatch(text, member)
    if match is None:  # STRASSE: folding is not one to one
        member = member.replace("STRASSE", "STRAßE")
        match = re.fullmatch(text, member)
    assert match is not None
    got = tokamata.regex(text).captures(member)
    assert got == {name: value.encode() for name, value in match.groupdict().items()}


def test_parts_of_everything() -> None:
    call = tokamata.capture("name", tokamata.regex(r"\w+")) + "(" + tokamata.capture(
        "arguments", tokamata.json_schema({"type": "object"})
    ) + ")"  # fmt: skip
    assert call.captures('f({"a": [1]})') == {"name": b"f", "arguments": b'{"a": [1]}'}
    assert call.captures('f({"a', partial=True) == {"name": b"f", "arguments": b'{"a'}
    calls = tokamata.delimited_list(call, "; ")
    assert calls.capture_lists("f({}); g({})") == {"name": [b"f", b"g"], "arguments": [b"{}", b"{}"]}
    both = tokamata.regex(r"(?P<first>\w)\w*") & tokamata.regex(r"\w*(?P<last>\w)")
    assert both.captures("word") == {"first": b"w", "last": b"d"}
    assert (call - "f({})").captures("g({})") == {"name": b"g", "arguments": b"{}"}
    assert ("<" + both + ">" + both).capture_lists("<ab>cd") == {"first": [b"a", b"c"], "last": [b"b", b"d"]}
    assert both.minimize().captures("xy") == {"first": b"x", "last": b"y"}
    assert (~call).captures("g") == {}
    assert tokamata.sequence("a", tokamata.optional(tokamata.capture("b", "b"))).captures("a") == {}


def test_texts_before_an_operator_come_first() -> None:
    word = tokamata.capture("word", tokamata.regex("a+"))
    assert ("a" | word).captures("a") == {}
    assert (word | "a").captures("a") == {"word": b"a"}
    assert ("a" | word).captures("aa") == {"word": b"aa"}


def test_groups_with_names_inside() -> None:
    bullets = tokamata.regex(r"(?P<DELIMITED_LIST>\n|\* (?P<item>[^\n]+))")
    assert bullets.capture_lists("* one\n* two\n* three") == {"item": [b"one", b"two", b"three"]}
    with pytest.raises(tokamata.UnsupportedError, match="options with named parts inside"):
        tokamata.regex(r"(?P<DELIMITED_SUBSEQUENCE_OF>,|(?P<a>a)|b)")


def test_hidden_parts() -> None:
    reasoned = tokamata.capture("all", tokamata.text_until("</think>", "hidden") + tokamata.regex(".*"))
    assert reasoned.captures("hm</think>yes") == {"all": b"hmyes"}
    assert reasoned.captures("hm</thi", partial=True) == {"all": b"hm</thi"}
    several = tokamata.capture("x", tokamata.text_until(["END", "STOP."], "hidden"))
    assert several.captures("aSTOP.") == {"x": b"a"}
    comma = tokamata.hidden(",")
    assert tokamata.capture("digits", tokamata.regex(r"\d") + (comma + tokamata.regex(r"\d")).repeat()).captures(
        "1,2,3"
    ) == {"digits": b"123"}
    special = tokamata.capture("call", tokamata.special_token("<call>") + "x")
    assert special.captures(b"\xff<call>\xffx") == {"call": b"x"}


def test_what_is_refused() -> None:
    named = tokamata.regex(r"(?P<a>x)y*")
    with pytest.raises(ValueError, match=r"captures: expected a text that is a member, got .*; pass partial=True"):
        named.captures("z")
    with pytest.raises(ValueError, match="captures: expected a text that can be extended to a member"):
        named.captures("z", partial=True)
    with pytest.raises(ValueError, match="capture: expected a name of at least one character"):
        tokamata.capture("", "a")
    for refused, why in (
        (r"(?P<a>x)(?>y|yz)z", "captures of a pattern with possessive or atomic parts"),
        (r"(?P<a>x)(?=(?P<b>y))y", "captures of a named group inside a lookaround"),
        (r"(?P<a>x)(?<!ax)(?P<QUOTED_TEXT>)", "captures of a pattern with lookaround, in which groups stand for"),
    ):
        with pytest.raises(tokamata.UnsupportedError, match=why):
            tokamata.regex(refused).captures("x", partial=True)
    with pytest.raises(tokamata.LimitError, match="the limit of 100000 steps was reached"):
        tokamata.regex(r"(?:(?P<a>x)y){100000}").captures("", partial=True)
    nested: tokamata.Constraint = tokamata.capture("a", "a")
    with pytest.raises(tokamata.LimitError, match="the limit of 1000 parts inside each other"):
        for _ in range(1001):
            nested = tokamata.hidden(nested)
    doubled = tokamata.regex("(?P<a>x)")
    with pytest.raises(tokamata.LimitError, match="the limit of 1000000 parts beside each other"):
        for _ in range(21):
            doubled = doubled | doubled


def looking(rng: random.Random, depth: int, names: list[str], plain: bool = False) -> str:
    """A pattern with assertions; with ``plain``, without names and, at the bottom, without assertions."""
    kind = rng.randrange(12 if depth else 3)
    if kind <= 2:
        return rng.choice(["a", "b", " ", "[ab]", "."])
    if kind <= 4:
        return "".join(looking(rng, depth - 1, names, plain) for _ in range(rng.choice([2, 2, 3])))
    if kind == 5:
        return f"(?:{looking(rng, depth - 1, names, plain)}|{looking(rng, depth - 1, names, plain)})"
    if kind <= 7:
        times = rng.choice(["*", "?", "+", "{0,2}", "*?", "??", "+?"])
        return f"(?:{looking(rng, depth - 1, names, plain)}){times}"
    if kind == 8 and not plain:
        name = f"n{len(names)}"
        names.append(name)
        return f"(?P<{name}>{looking(rng, depth - 1, names)})"
    if kind == 9:
        return "a" if plain else rng.choice([r"\b", r"\B", "^", "$", r"\A", r"\Z", "(?m:^)", "(?m:$)"])
    if kind == 10:
        looks_back = rng.choice(["", "", r"\b", r"\B", "(?<=a)", "(?<!b)", "^"])
        return rng.choice(["(?=", "(?!"]) + looks_back + looking(rng, depth - 1, names, True) + ")"
    if kind == 11:
        return rng.choice(["(?<=", "(?<!"]) + rng.choice(["a", "b", " ", "[ab]", "a[ab]", "b "]) + ")"
    return "a"


def test_patterns_that_look_around_as_re_reads_them() -> None:
    compared = refused = 0
    texts = ["".join(t) for n in range(6) for t in itertools.product("ab ", repeat=n)]
    for seed in range(4000):
        rng, names = random.Random(seed), list[str]()
        source = looking(rng, 4, names)
        if not names:
            continue
        try:
            constraint = tokamata.regex(source)
            constraint.captures("", partial=True)
        except tokamata.UnsupportedError:
            refused += 1
            continue
        except ValueError:  # the empty language
            continue
        for text in rng.sample(texts, 40):
            match = re.fullmatch(source, text)
            assert constraint.accepts(text) == (match is not None), (seed, source, text)
            if match:
                expected = {name: piece.encode() for name, piece in match.groupdict().items() if piece is not None}
                assert constraint.captures(text) == expected, (seed, source, text)
                compared += 1
    assert compared > 1500
    assert not refused


def test_beginnings_of_texts_that_look_around() -> None:
    """The first way that can be continued: what a test further on rules out is no way."""
    later = tokamata.regex(r"(?P<x>a)b(?<=c)z|(?P<y>a)bz")
    assert later.captures("a", partial=True) == {"y": b"a"}
    ahead = tokamata.regex(r"(?P<x>a+)(?=b)(?:bb|c)|(?P<y>a+)c")
    assert ahead.captures("aa", partial=True) == {"x": b"aa"}
    assert ahead.captures("aac") == {"y": b"aa"}
    word = tokamata.regex(r"(?P<word>\b\w+?\b)(?P<rest>.*)")
    assert word.captures("ab c") == {"word": b"ab", "rest": b" c"}
    assert word.captures("ab", partial=True) == {"word": b"ab"}
    lines = tokamata.regex(r"(?m:^(?P<key>\w+)=(?P<value>.*)$\n?)+")
    assert lines.capture_lists("a=1\nbc=2") == {"key": [b"a", b"bc"], "value": [b"1", b"2"]}
    password = tokamata.regex(r"(?=.*\d)(?!.*\s)(?P<all>.{4,8})")
    assert password.captures("abc4") == {"all": b"abc4"}
    assert ("<" + password + ">").captures("<abc4>") == {"all": b"abc4"}
    assert password.repeat(1, 2).capture_lists("abc4abc5") == {"all": [b"abc4abc5"]}
    back = tokamata.regex(r"(?P<x>a?)(?=\b)(?P<y>.*)")
    assert back.captures("ab") == {"x": b"", "y": b"ab"}
    assert back.captures("a b") == {"x": b"a", "y": b" b"}
    duration = tokamata.regex(r"P(?!\b)(?P<days>\d+D)?(?P<time>T\d+(?:H\b|\B))?")
    assert duration.captures("P1DT4H") == {"days": b"1D", "time": b"T4H"}
    assert duration.captures("PT", partial=True) == {"time": b"T"}
    many = tokamata.regex(r"(?:(?P<w>\w+)\b\W*)+")
    assert many.captures("one two " * 200)["w"] == b"two"


def test_hostile_patterns() -> None:
    """Nested repetitions and long texts take a moment, not for ever."""
    deep = tokamata.regex("(?P<a>" + "(?:" * 60 + "x|" + ")*" * 60 + ")y")
    assert deep.captures("x" * 30 + "y") == {"a": b"x" * 30}
    wide = tokamata.regex("(?P<a>" + "|".join(f"a{i}?b*" for i in range(1000)) + ")*")
    assert wide.captures("a1bb" * 20) == {"a": b"a1bb"}
    assert len(tokamata.regex("(?P<a>(?s:.*)),(?P<b>.*)").captures("ab," * 20_000)["a"]) == 59_999
