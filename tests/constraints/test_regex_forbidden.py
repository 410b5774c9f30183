"""Lookahead that forbids characters up to the text's end, as in (?!.*\\s).{8,15}, against Python's re and Node.js."""

from __future__ import annotations

import itertools
import random
import re
import sys
import time
import warnings

import pytest
from oracle import mask_walk
from oracle.ecma_regex import NODE, Judge, judge

import tokamata
from tokamata import regex

TEXTS = ["".join(letters) for n in range(6) for letters in itertools.product("ab\n", repeat=n)]
ONES = [*"aab..", "[^a]", r"\s", r"[\s\S]", "[ab]", "(?:a|b)", "(a)", r"\n", r"\w"]
COUNTS = ["", "", "*", "+", "?", "{1,2}", "{2}", "{0}", "*?", "{1}", "{0,1}", "{2,}"]
LIMITS = tokamata.Limits(seconds=1, search_seconds=1)


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        (r"^(?!.*\s).{8,%d}$", r"[^\s]{8,%d}"),
        (r"^((?!.*?\s)).{8,%d}\Z", r"\S{8,%d}"),
        (r"^(?!.*[<>])[a-z<> ]{1,%d}$", "[a-z ]{1,%d}"),
        (r"(?!.*(?:<|(?:>)).*)[a-z<> ]{1,%d}", "[a-z ]{1,%d}"),
        (r"(?!(?:(.*)>+))(?!.*<.*$)[a-z<> ]{1,%d}", "[a-z ]{1,%d}"),
        (r"(?!.*>|[a-z ]*<)[a-z<> ]{1,%d}", "[a-z ]{1,%d}"),
        (r"(?s)(?!.*\n)(?!.*[<>]).{1,%d}", r"[^\n<>]{1,%d}"),
        (r"(?![^\n]*[<>])(?!.*\s)[\s\S]{1,%d}", r"[^\s<>]{1,%d}"),  # the second one leaves what the first sees through
        (r"(?i)(?!.*x).{1,%d}", r"[^xX\n]{1,%d}"),
        (r"(?m)^(?!.*a)[ab]{1,%d}$", "b{1,%d}"),
        (r"a(?!.*a)(?P<rest>(?:b|[ab]c){1,%d})", "a(?:b|bc){1,%d}"),
        (r"a(?:(?!.*a)(?:a|b|\n{0}b){1,%d}|c)", "a(?:b{1,%d}|c)"),
        (r"a(?:(?!.*a)[ab]{1,%d})?", "a(?:b{1,%d})?"),
        (r"(?:(?!.*c)a)[a-c]{1,%d}", "a[ab]{1,%d}"),
        (r"(?=\S+$)(?!.*x\S*).{1,%d}$", r"[^\sx]{1,%d}"),
        (r"(?=[a-y]*$).{1,%d}", "[a-y]{1,%d}"),
        (r"(?!.*x.y)(?!.*[xz]).{1,%d}", r"[^xz\n]{1,%d}"),  # nor does other lookahead see one
        (r"(?=[ab]*$)(?![ab]*a)(?:a|bc|b){1,%d}", "b{1,%d}"),
        (r"(?!.*z)[a-y]{1,%d}\n", r"[a-y]{1,%d}\n"),  # none of them is read at all
        (r"(?![a-x]*z)[a-y]{1,%d}", r"[a-y]{1,%d}"),
        (r"^(?=.{1,%d}$)[^z\n]+$", r"[^z\n]{1,%d}"),  # what counts sees no characters but those that are read
        (r"(?=.{1,%d}\Z)[a-y]{1,}", "[a-y]{1,%d}"),
        (r"(?=[^a]*a)[ab]{1,%d}", "(?=[ab]*a)[ab]{1,%d}"),  # the first a is found through any others
    ],
)
def test_forbidden_characters_are_taken_out_of_what_is_read(pattern: str, plain: str) -> None:
    """With so high counts no others than equal expressions are compared within the limits."""
    constraint, written = (regex(p % 100_000, limits=LIMITS) for p in (pattern, plain))
    assert (constraint - written).is_empty()
    assert (written - constraint).is_empty()
    assert regex(pattern % 9).equivalent(regex(plain % 9))
    small = re.compile(pattern % 9)
    texts = {t + e for t in TEXTS for e in ("", "<", ">x", "z\n", "c", "aaabbb")}
    assert [t for t in texts if regex(pattern % 9).accepts(t)] == [t for t in texts if small.fullmatch(t)]


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (r"(?!.*a)[ab\n]*", ["b\na", "\na"], ["ba", "a\n", "ba\nb"]),  # the dot does not see behind a newline
        (r"(?!.*b)a*b?\n*a", ["a", "\na"], ["b\na", "ba"]),
        (r"(?=[^ab]*a)[abc]*", ["a", "cab"], ["ba", "cba", ""]),
        (r"(?=[^a]*ab)[abc]*", ["ab", "cbab"], ["aab", "acab"]),
        (r"(?![^b]*a)[abc]*", ["ba", "cba", "bca"], ["a", "ca", "cab"]),
        (r"(?!.*a|b*c)[abc]*", ["bbb"], ["a", "c", "bcb", "bbca"]),
        (r"(?!.*ab)[ab]*", ["ba", "bba"], ["ab", "bab"]),
        (r"(?!.*a$)[ab]*", ["ab", "bab"], ["a", "ba"]),
        (r"(?!.*ab*$)[abc]*", ["ac", "bacb"], ["a", "cab", "acab"]),
        (r"(?!.*a(?=b))[ab]*", ["ba", "aa"], ["ab"]),
        (r"(?!.*a\b)[a ]*", [" ", ""], ["a ", "aa", "a"]),
        (r"(?!.+a)[ab]*", ["a", "ab", "abb"], ["ba", "aa"]),
        (r"(?!.{0,1}a)[ab]*", ["bba", "b"], ["ba", "a"]),
        (r"(?:(?!.*a)b|a)c*a?$", ["bc", "b", "acca"], ["ba", "bca"]),
        (r"(?:(?!.*a)b)?a?", ["b", "a", ""], ["ba"]),
        (r"(?:(?!.*a)b|a){2}", ["bb", "ab"], ["ba", "aba"]),
        (r"(?:(?!.*a)b){0}[ab]*", ["ab", "a"], []),
        (r"(?=(?!.*a)b)b[ab]*", ["bb"], ["ba", "bba"]),
        (r"(?!(?!.*a)b)[ab]*", ["a", "ba", "bba", ""], ["b", "bb"]),
        (r"a(?!.*a)[ab]*", ["a", "abb"], ["aba", "aa"]),
        (r"(?!.*a)[ab]*(?<=b)", ["b", "bb"], ["ab", ""]),
        (r"b(?=.*b)(?!.*a)(?<=b)[ab]{2}", ["bbb"], ["bab", "bba", "bb"]),
        (r"a(?=b(?<=ab))(?!.*a)[ab]*", ["ab", "abb"], ["aba", "aa"]),  # what is behind has another a
        (r"(?!.*a)(?=b*$)[abc]*", ["bb", ""], ["bc", "ba"]),
        (r"(?=b+$)[ab]*", ["b", "bb"], ["", "ab"]),
        (r"(?=b*$)[b\n]*", ["b", "b\n", "\n"], ["b\nb", "b\n\n"]),
        (r"(?m)(?=b*$)[ab\n]*", ["b\na", "\na", "bb"], ["a", "ba\n"]),
        (r"(?!.*a)", [""], ["a", "b"]),
        (r"(?!.*(?P<x>a))[ab]*", ["b"], ["ab", "ba"]),
        (r"(?!.*a)a|b", ["b"], ["a"]),
        (r"(?![\s\S]*a)[ab]*$\n", ["b\n", "\n"], ["ab\n", "b"]),
        (r"(?=\U0010fffd[a-z]).*", ["\U0010fffda!"], ["\U0010fffd", "a"]),  # a character is no part of the pattern
        (r"(?=.*[a-z])(?=\U0010fffda).*", ["\U0010fffda!"], ["\U0010fffd", "a"]),
    ],
)
def test_what_is_forbidden_elsewhere_keeps_its_meaning(pattern: str, yes: list[str], no: list[str]) -> None:
    constraint, compiled = regex(pattern), re.compile(pattern)
    assert [constraint.accepts(t) for t in yes + no] == [True] * len(yes) + [False] * len(no)
    texts = ["".join(letters) for n in range(5) for letters in itertools.product("abc \n", repeat=n)]
    assert [t for t in texts if constraint.accepts(t)] == [t for t in texts if compiled.fullmatch(t)]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="re has atomic groups since Python 3.11")
def test_atomic_groups_take_what_they_took() -> None:
    for pattern in (
        r"(?!.*b)(?>[ab]|ab)a*",
        r"(?!.*b)[ab]*+",
        r"(?!.*b)[ab]{1,2}+a?",
        r"(?!.*b)(?>b|a)*a?",
        r"(?=.*a)(?!.*b)(?>\n|[ab])*+",
    ):
        constraint, compiled = regex(pattern), re.compile(pattern)
        assert [t for t in TEXTS if constraint.accepts(t)] == [t for t in TEXTS if compiled.fullmatch(t)], pattern


def test_named_parts_are_those_that_re_finds() -> None:
    for pattern in (
        r"(?!.*b)(?P<x>[ab]*)(?P<y>a|b)",
        r"(?P<x>(?:(?!.*b)[ab]*?)?)(?P<y>a*)",
        r"(?P<x>a(?!.*a).*)|(?P<y>.*)",
        r"(?=(?:.*)a)(?!.*\n)(?P<x>[^b]|b)(?P<y>[\s\S]*)",
    ):
        constraint, compiled = regex(pattern), re.compile(pattern)
        for text in TEXTS:
            match = compiled.fullmatch(text)
            assert constraint.accepts(text) == bool(match), (pattern, text)
            if match:
                expected = {name: part.encode() for name, part in match.groupdict().items() if part is not None}
                assert constraint.captures(text) == expected, (pattern, text)


class Patterns:
    """Random patterns with such lookaheads and their neighbours at random places."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def one(self) -> str:
        return self.rng.choice(ONES)

    def look(self) -> str:
        rng, a, x, b = self.rng, f"{self.one()}{self.rng.choice(['*', '*', '*?'])}", self.one(), self.one()
        if rng.random() < 0.2:
            return f"(?={b}{rng.choice(['*', '+', '*', '+', '?', '{2,}'])}{rng.choice(['$', '$', '$$', ''])})"
        bodies = [f"{a}{x}"] * 3 + [f"(?:{a})({x})", f"(?:{a}{x}{b}*)", f"{a}{x}+", f"{a}{x}{b}*$", f"{a}{x}|{b}*{b}"]
        bodies += [f"{a}(?:{x}|{b})", f"{a}{x}{b}?", f"{a}{x}{b}", f"{x}{a}{b}", f"{a}{x}$", rf"{a}{x}\b", f"{a}{x}|a"]
        bodies += [f"(?!{a}{x}){b}*", f"{a}{x}{b}*(?=a)", f"{a}{x}{{2}}", f"^{a}{x}", f"{a}{x}(?<!{b}{x})"]
        return f"(?{rng.choice('!!!!=')}{rng.choice(bodies)})"

    def item(self, depth: int) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.35:
            return self.look()
        if kind < 0.6 or not depth:
            return self.one() + rng.choice(COUNTS)
        if kind < 0.7:
            return rng.choice(["^", "$", r"\b", r"\B", "(?<=a)", "(?<!b)", "(?=a)", "(?!b)", "(?!ab)"])
        inside = self.sequence(depth - 1)
        if kind < 0.85:
            return f"({rng.choice(['', '?:'])}{inside}){rng.choice(['', '', '*', '?', '{1}', '{2}', '{0}', '+'])}"
        return f"(?:{inside}|{self.sequence(depth - 1)}){rng.choice(['', '', '*', '?', '{0,1}'])}"

    def sequence(self, depth: int) -> str:
        return "".join(self.item(depth) for _ in range(self.rng.randint(1, 4)))

    def pattern(self) -> str:
        return self.rng.choice(["", "^"]) + self.sequence(2) + self.rng.choice(["", "$"])


@pytest.mark.parametrize("count", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_random_patterns_agree_with_re(count: int) -> None:
    start = random.randrange(10**9)
    print("seed", start)
    members = limited = 0
    for seed in range(start, start + count):
        rng = random.Random(seed)
        pattern = rng.choice(["", "", "(?s)", "(?m)"]) + Patterns(rng).pattern()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            compiled = re.compile(pattern)
        try:
            constraint = regex(pattern, limits=LIMITS)
            found = [t for t in TEXTS if constraint.accepts(t)]
        except (tokamata.UnsupportedError, tokamata.LimitError):
            limited += 1
            continue
        assert found == [t for t in TEXTS if compiled.fullmatch(t)], (seed, pattern)
        members += len(found)
    assert members > 5 * count
    assert limited < count / 5


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize("count", [200, pytest.param(5_000, marks=pytest.mark.slow)])
def test_random_patterns_of_strings_agree_with_node(count: int) -> None:
    """In a JSON Schema they match somewhere, so that any text may stand around them."""
    start = random.randrange(10**9)
    print("seed", start)
    texts = [t for t in TEXTS if len(t) < 5] + ["\r", "a\u2028b", "b\ra", "aab\nb", "b\u2028"]

    def compare(node: Judge, seed: int) -> int:
        rng = random.Random(seed)
        pattern = Patterns(rng).pattern()
        answer = node.matches(pattern, texts, whole=False)
        if isinstance(answer, str):  # a quantifier without the u flag
            return 0
        try:
            constraint = tokamata.json_schema({"type": "string", "pattern": pattern}, limits=LIMITS)
            quoted = [t.replace("\n", r"\n").replace("\r", r"\u000d") for t in texts]
            found = [constraint.accepts(f'"{t}"') for t in quoted]
        except (tokamata.UnsupportedError, tokamata.LimitError):
            return 0
        except tokamata.ConstraintError:  # no text at all
            found = [False] * len(texts)
        differ = [t for t, a, b in zip(texts, found, answer, strict=True) if a != b]
        assert not differ, (seed, pattern, differ)
        return sum(found)

    with judge() as node:
        assert sum(compare(node, seed) for seed in range(start, start + count)) > 5 * count


def test_text_before_a_match_may_have_what_is_forbidden_behind() -> None:
    constraint = tokamata.json_schema({"type": "string", "pattern": "b(?=.*$)"})
    found = [text for text in ("b", r"\nab", r"a\nb", r"b\n", r"\n") if constraint.accepts(f'"{text}"')]
    assert found == ["b", r"\nab", r"a\nb"]


@pytest.mark.parametrize("kind", ["text", "string"])
def test_masks_of_passwords_are_those_of_the_characters_that_are_left(kind: str) -> None:
    """So are those of what else is asked for, at the price of loops over one set of characters."""
    vocabulary = tokamata.Vocabulary([bytes([b]) for b in range(256)] + [b"ab", b"a ", b"<a", None], [259])
    for pattern, plain, text in (
        (r"^(?=.*[0-9])(?!.*[!@#$]).{6,}$", r"^[^!@#$\n\r\u2028\u2029]{6,}$", "pa55wo"),
        (r"^(?=.{3,20}$)(?!.*[<> ]).*$", r"^[^<> \n\r\u2028\u2029]{3,20}$", "abab"),
        (r"^(?=.*[a-z])(?=\S+$).{3,}$", r"^[^\s]{3,}$", "aabab"),
    ):
        allowed = []
        for p in (pattern, plain):
            constraint = regex(p, "ecma") if kind == "text" else tokamata.json_schema({"type": "string", "pattern": p})
            automaton = tokamata.compile(constraint, vocabulary)
            state = automaton.start()
            for byte in (text if kind == "text" else f'"{text}').encode():
                state.advance(byte)
            allowed.append((mask_walk.agreed(automaton, state, p), state.is_final))
        assert allowed[0] == allowed[1]


def test_many_of_them_are_read_quickly() -> None:
    begun = time.process_time()
    many = "".join(f"(?!.*{chr(c)})" for c in range(0x4E00, 0x4E00 + 3000))
    assert regex(many + "[a-z]{1,100000}").accepts("abc")
    assert not regex("(?!.*b)" * 3000 + "(?:" + "a" * 3000 + "|[ab])").accepts("b")
    assert regex("(?!.*b)" + "[ab]" * 100_000).accepts("a" * 100_000)
    nested = "(?:(?!.*b)a" * 200 + ")" * 200
    assert regex(nested).accepts("a" * 200)
    assert regex(nested.replace("a", "[ab]?")).accepts("a" * 200)
    assert time.process_time() - begun < 10
