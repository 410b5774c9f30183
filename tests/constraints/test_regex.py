"""regex against Python's re: random patterns, every construct, errors with their positions."""

from __future__ import annotations

import itertools
import random
import re
import sys
import time
from pathlib import Path

import pytest
import regex as regex_package
from oracle import regex_random

import tokamata
from tokamata import ConstraintError, LimitError, UnsupportedError, regex

LONGEST = 12  # re needs exponential time on some pairs of pattern and text


def judge(compiled: re.Pattern[str], text: str) -> bool:
    return compiled.fullmatch(text) is not None


def check_random(seed: int, *, assertions: bool, atomic: bool = False, references: bool = False) -> str:
    rng = random.Random(seed)
    generator = regex_random.PatternGenerator(rng, assertions=assertions, atomic=atomic, references=references)
    pattern = generator.pattern()
    compiled = regex_random.compile_quietly(pattern)
    try:
        constraint = regex(pattern)
        members = [m.decode() for m in constraint.examples(3, seed=seed)]
    except UnsupportedError:
        return "unsupported"
    except LimitError:
        return "limit"
    assert compiled is not None, (seed, pattern)
    for text in regex_random.texts(rng, pattern, [m for m in members if len(m) < LONGEST], n=6):
        assert constraint.accepts(text) == judge(compiled, text), (seed, pattern, text)
    return "checked"


@pytest.mark.parametrize("block", range(6))
def test_random_patterns(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        assert check_random(seed, assertions=False) != "unsupported", seed


@pytest.mark.parametrize("block", range(3))
def test_prefixes_are_partial_matches_of_the_regex_package(block: int) -> None:
    """Greedy patterns only: regex.fullmatch("(c{1,2}? )+", "cx", partial=True) finds a partial match."""
    checked, known = 0, set(regex_random.ALPHABET) | set(map(chr, range(32, 127)))
    for seed in range(block * 100, block * 100 + 100):
        rng = random.Random(seed)
        pattern = regex_random.PatternGenerator(rng, assertions=False, lazy=False).pattern()
        if "i" in pattern or regex_random.compile_quietly(pattern) is None:
            continue  # the two packages fold case differently
        constraint, compiled = regex(pattern), regex_package.compile(pattern)
        members = [m.decode()[:LONGEST] for m in constraint.examples(3, seed=seed)]
        for text in regex_random.texts(rng, pattern, members, n=4):
            if not known.issuperset(text):
                continue  # their \w differs for some characters that are neither letters nor digits
            for end in range(min(len(text), LONGEST) + 1):
                expected = compiled.fullmatch(text[:end], partial=True) is not None
                assert constraint.accepts_prefix(text[:end]) == expected, (seed, pattern, text[:end])
                checked += 1
    assert checked > 2000


@pytest.mark.skipif(sys.version_info < (3, 11), reason="re has atomic groups since Python 3.11")
@pytest.mark.parametrize("block", range(3))
def test_random_patterns_with_atomic_groups(block: int) -> None:
    outcomes = [check_random(seed, assertions=False, atomic=True) for seed in range(block * 100, block * 100 + 100)]
    assert outcomes.count("checked") > 40


@pytest.mark.parametrize("block", range(6))
def test_random_patterns_with_assertions(block: int) -> None:
    outcomes = [check_random(seed, assertions=True) for seed in range(block * 100, block * 100 + 100)]
    assert outcomes.count("checked") > 90


@pytest.mark.parametrize("block", range(6))
def test_random_patterns_with_references(block: int) -> None:
    seeds = range(block * 100, block * 100 + 100)
    outcomes = [check_random(seed, assertions=seed % 3 == 0, references=True) for seed in seeds]
    assert outcomes.count("checked") > 40


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (r"a(?=b)b|(?=a)b", ["ab"], ["a", "b", ""]),
        (r"^(?!foo)\w+$", ["bar", "fo", "fob"], ["foo", "foobar"]),
        (r"^(?=.*\d)(?=.*[A-Z]).{4,6}$", ["aA0b", "0000AA"], ["aaA0bbb", "aaaa", "A0"]),
        (r"(?:\b\w+\b\s*)+", ["ab cd", "a"], ["", "-", " a"]),
        (r"(?:(?!-->).)*-->", ["abc-->", "-->"], ["a-->b-->", "--"]),
        (r"<(?:(?!>)[^<])*>", ["<ab>", "<>"], ["<a>>", "<a<>"]),
        (r"(?<=a)b|x(?<=x)y", ["xy"], ["b", "ab"]),
        (r"\d{3}(?<!000)-x", ["001-x"], ["000-x"]),
        (r"(?m)(^a$\n?)+", ["a\na", "a\na\n", "a"], ["aa", "\na"]),
        ("a$\n", ["a\n"], ["a", "a\n\n"]),
        (r"a\Z\n", [], ["a\n", "a"]),
        ("x^a|b", ["b"], ["xa", "a"]),
        (r"a++b|c*+d|(?>e|ef)g", ["aab", "ccd", "d", "eg"], ["aa", "efg"]),
        (r"a++a|\d{2,4}+\d", ["12345"], ["aa", "a", "1234", "123"]),
        (r"(?i)stra\xdfe|ÅK", ["STRAßE", "ſtraẞe", "\u212b\u212a"], ["STRASSE"]),
        (r"\N{EM DASH}\p{Lu}\p{Greek}\p{sc=Han}\P{L}", ["—Aα日1"], ["—aα日1", "—Aa日1"]),
        (r"(?x) a\ b # comment \) ( [" "\n c [ ] (?#x)+", ["a bc ", "a bc  "], ["abc", "a bc"]),
        (r"a{,2}b{2,}c{1}d{e{2f{,", ["aabbcd{e{2f{,", "bbcd{e{2f{,"], ["bcd{e{2f{,"]),
        (r"(?P<year>\d{4})-(?:0[1-9]|1[0-2])", ["2024-12"], ["2024-13"]),
        ("\ud800|a[\ud800-\udfff]|b", ["b"], ["a", ""]),
        (r"\0\07\101\x41\u0041\U00000041[\b\1]", ["\0\aAAAA\b", "\0\aAAAA\1"], ["\0\aAAAAb"]),
    ],
)
def test_constructs(pattern: str, yes: list[str], no: list[str]) -> None:
    constraint = regex(pattern)
    for text in yes:
        assert constraint.accepts(text), text
    for text in no:
        assert not constraint.accepts(text), text
    if r"\p" not in pattern:
        compiled = regex_random.compile_quietly(pattern)
        if compiled is not None:  # atomic groups are new in Python 3.11
            assert all(judge(compiled, t) for t in yes)
            assert not any(judge(compiled, t) for t in no)


def test_corpus_is_decided_as_re_decides() -> None:
    """Patterns that people write: members, edits of them and random texts."""
    lines = (Path(__file__).parents[1] / "corpus" / "regex" / "python.txt").read_text("utf-8").split("\n")
    members = 0
    for seed, pattern in enumerate(lines[:-1]):
        compiled = regex_random.compile_quietly(pattern)
        if compiled is None:
            assert sys.version_info < (3, 11), pattern  # atomic groups
            continue
        constraint, rng = regex(pattern), random.Random(seed)
        examples = [m.decode() for m in constraint.examples(8, seed=seed)]
        members += len(examples)
        assert all(judge(compiled, text) for text in examples), pattern
        for text in regex_random.texts(rng, pattern, examples):
            assert constraint.accepts(text) == judge(compiled, text), (pattern, text)
    assert members > 300


def test_the_end_has_the_name_that_python_314_gives_it() -> None:
    assert regex(r"(?m)a\z").equivalent(regex(r"(?m)a\Z"))
    assert regex(r"(?m)(a$\n?)*b\z|c\z.").counterexample(regex(r"(?m)(a$\n?)*b\Z")) is None


def test_compiled_patterns_bring_their_flags() -> None:
    assert regex(re.compile("a.b # x", re.DOTALL | re.IGNORECASE | re.VERBOSE)).accepts("A\nB")
    assert not regex(re.compile(r"\w", re.ASCII)).accepts("é")
    assert regex(re.compile(r"a\n^b", re.MULTILINE)).accepts("a\nb")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("ab[cd", 'unterminated character class at position 2 of "ab[cd": close it with "]"'),
        ("日本)", 'unbalanced closing parenthesis at position 2 of "日本)"'),
        ("a(b", 'unterminated group at position 1 of "a(b"'),
        ("a**", "multiple repeat at position 2"),
        ("a|*b", "nothing to repeat at position 2"),
        ("x{3,2}", "repetition whose minimum exceeds its maximum at position 1"),
        ("x{99999999999}", "repetition number too large at position 1"),
        ("abc\\", "backslash at the end of the pattern at position 3"),
        (r"a\q", r'bad escape \q at position 1 of "a\q": write the character itself'),
        (r"[\h]", r'bad escape \h at position 1 of "[\h]": write [ \t] for blanks'),
        (r"\Qa.b\E", r'bad escape \Q at position 0 of "\Qa.b\E": put a backslash before each'),
        (r"a\400", r"octal escape \400 above \377 at position 1"),
        (r"[\777]", r"octal escape \777 above \377 at position 1"),
        (r"\x4", r"incomplete escape \x4 at position 0"),
        (r"\N{NO SUCH}", 'undefined character name "NO SUCH" at position 0'),
        ("[b-a]", "bad character range b-a at position 1"),
        (r"\p{Nope}", r"unknown property \p{Nope} at position 0"),
        ("(?<=a*)b", "lookbehind without a fixed width at position 0"),
        pytest.param(
            "a(?i)",
            "global flags not at the start of the pattern at position 1",
            marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="re refuses them since Python 3.11"),
        ),
        ("(?P<1>a)", 'bad group name "1" at position 4'),
        ("(?P<a>x)(?P<a>y)", 'second group named "a" at position 12'),
        ("a(?R)?", r'at position 1 of "a(?R)?": a pattern cannot call itself or its groups; write'),
        ("(?P>n)", "a pattern cannot call itself or its groups; write what is called again, or rules"),
        ("(?|a|b)", "write (?:...) around the alternatives"),
        ("(?'n'a)", "use (?P<name>...) for a named group"),
        (r"a\Kb", r'bad escape \K at position 1 of "a\Kb": leave it out'),
        ("(?Q)", r"unknown group \(\?Q at position 0".replace("\\", "")),
        (r"(a)\2", "reference to group 2, which does not exist at position 3"),
    ],
)
def test_malformed_patterns_name_the_place(pattern: str, text: str) -> None:
    with pytest.raises(ConstraintError, match=re.escape(text)) as caught:
        regex(pattern)
    assert not isinstance(caught.value, UnsupportedError)
    if r"\p" not in pattern:
        assert regex_random.compile_quietly(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)b\1", 'position 5 of "(a+)b\\1": its group has no small number of texts; write out the texts'),
        (r"(?P<q>.)x(?P=q)", "backreference at position 9"),
        (r"(?:(a)?(?(1)b|c))*", "conditional group at position 7"),
        (r"(?:(a)?(?(1)b|c))*", "its group may have been read in an earlier turn; write both cases out"),
        (r"(a|b)*\1", "its group is repeated"),
        (r"(?:(a)|\1b)+", "its group stands in another branch"),
        (r"(?=(a|b))\1", "its group stands inside a lookaround"),
        (r"(?(1)b|c)(a)?", "its group is read behind it"),
        (r"(?>(a|ab)\1)", "it stands in an atomic group"),
        (r"(?P<n>a?)(?:(a)|b)\2", "depend on whether its group is read (leave names out that are not needed)"),
        (r"(?<!\bb)a", "word boundary inside a lookbehind at position 4"),
        (r"(?P<n>a)(?:a?(a|b))\2", "what named groups read would depend on choices before its group"),
        (r"((a|b)c)\2\1", "it stands beside its group in another branch or copy"),
        (r"(?i)(é|b)\1", "backreference without regard to case to letters beyond ASCII"),
        ("(a|b)" * 30 + "".join(rf"\{n}" for n in range(1, 31)), "there would be too many copies"),
        (r"(?>a*?)b|(?>(?:a|ab)*)c", "atomic group or possessive quantifier at position"),
    ],
)
def test_unsupported_patterns_name_place_and_reason(pattern: str, text: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(text)):
        regex(pattern)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the syntax of Python 3.11 is read under 3.10 too")
def test_every_short_pattern_is_refused_exactly_when_re_refuses_it() -> None:
    rng = random.Random(7)
    pieces = [*"a()[]?*+{}1,|^$-:P<>=!ix# bd07Nu&.\n", "\\"]
    patterns = {"".join(rng.choice(pieces) for _ in range(rng.randint(1, 7))) for _ in range(6000)}
    patterns |= {"(?" + "".join(rng.choice(pieces) for _ in range(rng.randint(1, 5))) + ")" for _ in range(3000)}
    refused = 0
    for pattern in sorted(patterns):
        compiled = regex_random.compile_quietly(pattern)
        try:
            regex(pattern)
        except UnsupportedError:
            malformed = False
        except ConstraintError:
            refused += 1
            malformed = True
        else:
            malformed = False
        assert malformed == (compiled is None), pattern
    assert refused > 1000


@pytest.mark.parametrize("pattern", ["(?:(?=.*b)|b?){%d}", "(?:(?=.*a)(?=.*b)|(?=.*b)|b?){%d}"])
def test_lookahead_beside_what_is_optional_in_loops(pattern: str) -> None:
    """What a turn asks for beside the same without is nothing; kept, it would double with each turn."""
    few, many = pattern % 3, pattern % 30
    texts = ["".join(t) for n in range(6) for t in itertools.product("ab", repeat=n)]
    assert [regex(few).accepts(t) for t in texts] == [re.fullmatch(few, t) is not None for t in texts]
    limits = tokamata.Limits(seconds=0.5, search_seconds=0.5)
    constraint = regex(many, limits=limits)
    vocabulary = tokamata.Vocabulary([bytes([b]) for b in range(256)] + [None], eos_token_ids=[256])
    state = tokamata.compile(constraint, vocabulary).start()
    for byte in b"bbb":
        assert state.allows(byte)
        state.advance(byte)
    assert state.mask().any()
    assert constraint.accepts("bbb")


def test_a_star_repeated_is_the_star() -> None:
    """Each repetition around what repeats already would multiply the contexts of the boundary."""
    star = r"(?:\D{0,2}|x\By)*"
    for around in ("(?:%s)*", "(?:%s){2,}", "((%s)+){1,3}", "(?:(?:(?:%s)*){2})*"):
        assert regex(around % star).equivalent(regex(star)), around
    assert regex(rf"(?:{star}){{0}}").equivalent(regex(""))


def test_repetitions_of_repetitions() -> None:
    """What is repeated in any order is one loop: `(?:a+b*)*` is `(?:a[ab]*)?`."""
    texts = ["".join(t) for n in range(6) for t in itertools.product("ab-", repeat=n)]
    turns = ["", "?", "*", "+", "{2,}"]
    for x, y in (("a", "b"), ("[ab]", "-"), ("(?:ab|-)", "a")):
        for p, q, r, between in itertools.product(turns, turns, ["*", "+", "{2,}"], ["", "|"]):
            pattern = f"(?:{x}{p}{between}{y}{q}){r}"
            constraint, compiled = regex(pattern), re.compile(pattern)
            assert [t for t in texts if constraint.accepts(t)] == [t for t in texts if compiled.fullmatch(t)], pattern
    assert regex(r"(?:\w+|\s+)*").equivalent(regex(r"[\w\s]*"))


def test_lookbehind_behind_counted_repetitions() -> None:
    """What came before is one language with a counter in it, of which no copies are made."""
    texts = ["".join(t) for n in range(8) for t in itertools.product("ab-", repeat=n)]
    parts = ["[ab]{1,9}", "[ab-]{2,12}", "(?:a?b){0,9}", "a*", "-?", "(?:[ab]{1,9}-)?", "b", "(?:-|[ab]{3,9})", r"\b"]
    tests = ["ab", "aba", "b-", "ab|ba", "-ab", "a(?<!aa)b"]
    for seed in range(60):
        rng = random.Random(seed)
        pattern = rng.choice(parts[:3])
        for _ in range(rng.randint(1, 3)):
            pattern += f"(?<{rng.choice('=!')}{rng.choice(tests)})" + rng.choice(["", rng.choice(parts)])
        constraint, compiled = regex(pattern), re.compile(pattern)
        assert [t for t in texts if constraint.accepts(t)] == [t for t in texts if judge(compiled, t)], (seed, pattern)
    many = regex("[a-z]{1,100000}(?<!foo)")
    assert many.accepts("barfo" + "o" * 1000)
    assert not many.accepts("bar" * 1000 + "foo")


def test_boundaries_that_hold_wherever_they_stand() -> None:
    """Where the pattern says what stands on their two sides nothing is left of them to be compiled away."""
    pieces = r"a~[ab]+~-~(?:-|$)~ ?~a?~\b~\b~\B~(?=-)~(?<=a)~(?!b)~(?:a|-)~[^a]~".split("~")
    texts = ["".join(t) for n in range(6) for t in itertools.product("ab- ", repeat=n)]
    for seed in range(150):
        rng = random.Random(seed)
        turn = "".join(rng.choices(pieces, k=rng.randint(1, 4)))
        pattern = "".join(rng.choices(pieces, k=rng.randint(0, 3)))
        pattern += f"(?:{turn}){rng.choice(['', '*', '{2}', '{0,2}'])}"
        pattern += "".join(rng.choices(pieces, k=rng.randint(0, 3)))
        compiled = re.compile(pattern)
        constraint = regex(pattern)
        assert [t for t in texts if constraint.accepts(t)] == [t for t in texts if judge(compiled, t)], (seed, pattern)
    assert regex(r"\b\w+\b(?: \b\w+\b)*").equivalent(regex(r"\w+(?: \w+)*"))
    assert regex(r"(?:a\b ){100000}").accepts("a " * 100_000)
    assert regex(r"(?:\b[a-z]{1,9}\b\W){100000}").accepts_prefix("some words ")


def test_lookaround_of_one_character_is_written_into_what_stands_beside_it() -> None:
    ones = r"[ab]~[^a]~a~-~(?:a|b)~(?:a|[b-])~[ab-]~.~\w~\W".split("~")
    counts = "~~*~+~?~{1,2}~{2}~{0,2}~*?~{1,3}?~{0}".split("~")
    texts = ["".join(t) for n in range(6) for t in itertools.product("ab-", repeat=n)] + ["\n", "a\n", "éa", "aé-"]
    # Where the text does not end, though a group or a turn does.
    for pattern in (r"(?:(?!a)b*)a", r"(?:-(?!a)b*|ab)*", r"a(?:b*(?<!a))", r"(?:b*(?<!a)-|ba)*", r"(?=b*(?!a))a*b*"):
        compiled, constraint = re.compile(pattern), regex(pattern)
        assert [t for t in texts if constraint.accepts(t)] == [t for t in texts if judge(compiled, t)], pattern
    for seed in range(200):
        rng = random.Random(seed)

        def some(depth: int, rng: random.Random = rng) -> str:
            one, count = rng.choice(ones), rng.choice(counts)
            others = [
                lambda: f"(?{rng.choice(['=', '!', '<=', '<!'])}{one})",
                lambda: f"(?{rng.choice(['=', '!', '<=', '<!'])}{one})",
                lambda: rng.choice([r"\b", r"\b", r"\B"]),
                lambda: one + count,
                lambda: f"({one}|{rng.choice(ones)}{one})",
                lambda: f"(?P<n{rng.randrange(10**9)}>{one}){count}",
                lambda: f"(?:{one}{count}|{one})",
                lambda: f"(?:{''.join(some(depth - 1) for _ in range(3))}){count}" if depth else rng.choice("ab"),
            ]
            return rng.choice(others)()

        pattern = "".join(some(1) for _ in range(rng.randint(2, 5)))
        compiled, constraint = re.compile(pattern), regex(pattern)
        assert [t for t in texts if constraint.accepts(t)] == [t for t in texts if judge(compiled, t)], (seed, pattern)
    label, name = r"(?!-)[a-z-]{1,63}(?<!-)", r"[a-z](?:[a-z-]{0,61}[a-z])?"
    assert regex(rf"(?:{label}\.)*{label}").equivalent(regex(rf"(?:{name}\.)*{name}"))
    assert regex(r"(?:(?![a-d])\w)+(?!\d)\w*=").equivalent(regex(r"[^\Wa-d]+(?:[^\W\d]\w*)?="))
    # So are boundaries of which one side is known, and what is at an end of the text.
    around = r"(?:.*[^\w\n])?%s(?:[^\w\n].*)?"
    assert regex(r".*\bfoo\b.*").equivalent(regex(around % "foo"))
    assert regex(r"(.*)(?<!\w)foo(?!\w)(.*)").equivalent(regex(around % "foo"))
    assert regex(r"(?=\w).*\w(?<=[a-f])").equivalent(regex(r"\w.*[a-f]|[a-f]"))
    assert regex(r"\b[\w$]*").equivalent(regex(r"\w[\w$]*"))
    assert regex(r"x\B.*-\B.*", "ecma").equivalent(regex(r"x\w.*-(?:[^\w\n\r\u2028\u2029].*)?|x\w.*-", "ecma"))
    words = [f"{a}{b}{c}" for a, b, c in itertools.product("abcde", repeat=3)]
    assert regex("|".join(rf".*\b{w}\b.*" for w in words)).equivalent(regex(around % f"(?:{'|'.join(words)})"))
    every = ["".join(letters) for letters in itertools.product("abcdef", repeat=4)]
    assert regex("|".join(rf".*\b{w}\b.*" for w in every)).accepts("- fade")
    # However many there are.
    assert regex(r"(?:(?!a)[ab-]){100000}").accepts("b-" * 50_000)
    many = "(?!a)" * 100_000
    assert regex(many + "(?:" + "b" * 100_000 + ")").accepts("b" * 100_000)
    assert regex("(?!a)b" * 100_000).accepts("b" * 100_000)


def test_single_characters_between_assertions_are_counted() -> None:
    """Of so many characters, each beside lookaround, no copies are made; whatever follows."""
    asks = r"(?!bab)~(?=.?a)~(?!b$)~(?<!ab)~(?=a|\b|b-)~(?!(?:ab)+-)~(?!aa|-b|b.{3})~\b|(?!bb)~".split("~")
    turns = ["%s.", "[ab]%s", "(?:%sa|b)", "%s[a-]%s", "(?:%sa|-%s)", "(?:%s[ab])"]
    after = ["", "", "-", "b", "ab", "-a?", ".*", "a*-", "(?=-).+", "[ab]{2}", "(?:ab|--)", "$", r"\b.?"]
    counts = ["{0,9}", "{2,10}", "{9}", "{9,}", "{1,12}", "{3,11}", "{10,}"]
    texts = ["".join(t) for n in range(5) for t in itertools.product("ab-", repeat=n)]
    texts += [(t * n)[:n] + e for n in range(7, 15) for t in ("a", "b", "ab", "ba", "bba") for e in ("", "-", "ab")]
    accepted = 0
    for seed in range(150):
        rng = random.Random(seed)
        turn = rng.choice(turns)
        turn = turn.replace("%s", "(?:%s)") % tuple(rng.choice(asks) for _ in range(turn.count("%s")))
        pattern = rng.choice(["", "", "a?", "b|-"]) + f"(?:{turn}){rng.choice(counts)}{rng.choice(after)}"
        chosen = texts + ["".join(rng.choices("aab-", k=rng.randint(5, 14))) for _ in range(100)]
        constraint, compiled = regex(pattern), re.compile(pattern)
        found = [t for t in chosen if constraint.accepts(t)]
        assert found == [t for t in chosen if judge(compiled, t)], (seed, pattern)
        accepted += len(found)
    assert accepted > 2000
    for text in ("the quick brown fox jumps over the lazy dog", "-->", "aab"):
        for turns in ("*", "+", "{3,90}"):
            for end in ("", text, "-", ".*")[: 3 if len(text) > 9 else 4]:  # a star of a matrix for the last one
                constraint, compiled = (f(f"(?s)(?:(?!{text}).){turns}{end}") for f in (regex, re.compile))
                found = [
                    "x",
                    "xx" + text[:-1],
                    "xxx" + text,
                    "x" * 86 + "-->",
                    "aaa",
                    "aaaaabaab",
                    text + "x",
                    text * 2,
                ]
                for t in [f + more for f in found for more in ("", end.strip(".*"), "x")]:
                    assert constraint.accepts(t) == judge(compiled, t), (text, turns, end, t)
    many = regex(r"(?:(?!STOP)[^\n]){1,100000}")
    assert many.accepts("STO" * 5000)
    assert not many.accepts("STO" * 5000 + "P")


def test_hostile_patterns_end_quickly() -> None:
    start = time.perf_counter()
    deep = "(" * 100_000 + "a" + ")" * 100_000
    with pytest.raises(LimitError, match=r"depth=250 .* at position 250"):
        regex(deep)
    assert regex("(" * 900 + "a" + ")" * 900, max_depth=1000).accepts("a")
    with pytest.raises(LimitError, match="length=2000000"):
        regex("a" * 10_000_000)
    with pytest.raises(LimitError, match="depth"):
        regex("(?:" * 5000)
    with pytest.raises(LimitError, match="depth"):
        regex("(?=" * 5000)
    assert regex("x{1000000000}").accepts_prefix("x" * 100)
    assert regex("(((a{1000}){1000}){1000}){1000}").accepts_prefix("a" * 1000)
    assert regex("(?:(?:a{2,1000}b){3,100000}c)*").accepts("")
    assert regex("a?" * 20_000).accepts("a" * 10)
    assert regex("a?b?" * 100).accepts("a" * 10)
    assert regex("|".join(f"word{i}" for i in range(100_000))).accepts("word77")
    with pytest.raises(ConstraintError, match="unterminated"):
        regex("[" * 1_000_000)
    assert regex(r"(?:a\b..){100000}").accepts("a-b" * 100_000)
    assert regex(r"(?:.\b..){100000}").accepts_prefix("a-b" * 1000)
    with pytest.raises((UnsupportedError, LimitError)):
        regex(r"(?:(?:(?:.\b..){900}b){900}c){900}")
    with pytest.raises(UnsupportedError, match="too many copies in all"):
        regex(r"(?:(?:(?:(?=a)b?){1000}){1000}){1000}")
    assert regex(r"(?:(?:(?:ab(?=a|$)){1000}){1000}){1000}").accepts_prefix("ab" * 1000)
    with pytest.raises(UnsupportedError, match="too many copies in all"):
        regex(r"(?:(?:(?:.\b..){1000}){1000}){1000}")
    assert regex(r"(?:(?=" * 100 + "a" + ")b)*" * 100).accepts("b")
    behind = "(?<=" + "a" * 250 + ")b|a"
    with pytest.raises(LimitError, match=r"pattern_contexts=200 .*tokamata.Limits\(pattern_contexts=n\)"):
        regex(behind)
    assert regex(behind, limits=tokamata.Limits(pattern_contexts=300)).accepts("a")
    assert time.perf_counter() - start < 20


def test_arguments_are_checked() -> None:
    with pytest.raises(UnsupportedError, match="expected a str pattern, got bytes"):
        regex(b"a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a pattern as str or re.Pattern, got int".replace(".", r"\.")):
        regex(1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='expected syntax "python" or "ecma"'):
        regex("a", "perl")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_depth <= 1000"):
        regex("a", max_depth=5000)
    assert tokamata.regex is regex
