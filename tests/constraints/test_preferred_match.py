"""Patterns of terminals: the longest match of the language is what re.match finds, on random patterns and texts."""

from __future__ import annotations

import random
import re

import pytest
from tokamata.constraints.terminal_pattern import TerminalPattern, terminal_pattern

import tokamata
from tokamata import LimitError, UnsupportedError
from tokamata._core import END_BYTE


def longest(constraint: tokamata.Constraint, text: str) -> int | None:
    return max((n for n in range(len(text) + 1) if constraint.accepts(text[:n])), default=None)


def found(pattern: str, text: str) -> int | None:
    match = re.match(pattern, text)
    return match.end() if match else None


def random_pattern(rng: random.Random, depth: int) -> str:
    kind = rng.choice(["char", "char", "class", "sequence", "sequence", "choice", "repeat", "repeat", "look"])
    if depth == 0 or kind == "char":
        return rng.choice("aabc")
    if kind == "class":
        return rng.choice(["[ab]", "[^a]", ".", r"\w", "(?i:B)", "[^b-c]"])
    parts = [random_pattern(rng, depth - 1) for _ in range(rng.choice([1, 2, 2, 3]))]
    if kind == "sequence":
        return "".join(parts)
    if kind == "choice":
        return f"(?:{'|'.join(parts)})"
    if kind == "repeat":
        return f"(?:{parts[0]}){rng.choice(['*?', '+?', '??', '{1,3}?', '*', '+', '?', '{0,3}', '*?'])}"
    return rng.choice(["(?=[ab])", "(?!ab)", "(?!c)", "(?<=a)", "(?<!b)", r"\b", r"\B", "(?!a.)", "(?=b|c)"])


@pytest.mark.parametrize("block", range(3))
def test_longest_match_equals_res(block: int) -> None:
    taken = lazy = matched = 0
    for i in range(150):
        seed = 1000 * block + i
        rng = random.Random(seed)
        pattern = "".join(random_pattern(rng, 3) for _ in range(rng.choice([1, 2, 3])))
        try:
            constraint, guards, remark = terminal_pattern(pattern)
        except UnsupportedError:
            continue
        if guards:
            continue
        if "lazy" not in remark and ("|" in pattern or "?" in pattern or "*" in pattern or "{" in pattern):
            continue  # greedy: the longest match, which may be longer than re's
        taken, lazy = taken + 1, lazy + ("lazy" in remark)
        for _ in range(25):
            text = "".join(rng.choice("aabcB1 \n") for _ in range(rng.randrange(9)))
            want = found(pattern, text)
            matched += want is not None
            assert longest(constraint, text) == want, f"seed {seed}: {pattern!r} on {text!r}"
    assert taken > 40
    assert lazy > 30
    assert matched > 300


@pytest.mark.parametrize(
    "pattern",
    [
        r'".*?(?<!\\)(\\\\)*?"',
        r"(?s:/\*.*?\*/)",
        r"/\*(.|\n)*?\*/",
        r"/(?!/)(\\/|\\\\|[^/])*?/[imslux]*",
        r'(?i:[ur]?""".*?(?<!\\)(\\\\)*?""")',
        r"<.{2,5}?>+",
        r"a.*?b+c?",
        r"(?:(?:(?:c)*?)+?)+a?",
        r"\p{Lu}.*?[^\p{L}]".replace(r"\p{Lu}", "[A-Z]").replace(r"\p{L}", "A-Za-z"),
    ],
)
def test_patterns_of_common_grammars(pattern: str) -> None:
    constraint, _, remark = terminal_pattern(pattern)
    assert "lazy" in remark
    rng = random.Random(pattern)
    pieces = ['"', "\\", "a", "b", "c", "/", "*", "/*", "*/", "i", "<", ">", '"""', "\n", "A", " "]
    for _ in range(300):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(9)))
        for opened in (text, '"' + text, "/" + text, "<" + text, "a" + text, 'r"""' + text, "A" + text, "c" + text):
            assert longest(constraint, opened) == found(pattern, opened), opened


def test_nested_laziness_ends_at_a_named_limit() -> None:
    with pytest.raises(LimitError, match=r"the limit seconds=0\.05 was reached .*Limits\(seconds=\.\.\.\)"):
        terminal_pattern("(?:(?:(?:a|b)??(?:a|c)??){30}?x){20}?", 0.05)
    with pytest.raises(LimitError, match=r"the limit seconds=0\.05 was reached"):
        tokamata.grammar("start: /(?:.*?a.{9}){2}b/", limits=tokamata.Limits(seconds=0.05))


def test_unicode_properties() -> None:
    constraint, *_ = terminal_pattern(r"\p{Lu}[^\p{Nd}]*?\p{Nd}+")
    assert longest(constraint, "Éa-12x3") == len("Éa-12")
    assert longest(constraint, "éa1") is None


@pytest.mark.parametrize("pattern", [r"\w+\b", "[a-z]+(?![a-z])", r"a(?:b|c)*(?![bc])"])
def test_ends_that_the_longest_match_decides(pattern: str) -> None:
    constraint, guards, _ = terminal_pattern(pattern)
    assert not guards
    for text in ["abc d", "a", "abcbx", "xy z", "x", "ab1", "abcd", " ab"]:
        assert longest(constraint, text) == found(pattern, text), text


def longest_allowed(made: TerminalPattern, text: str) -> int | None:
    """The end of the longest lexeme that no guard forbids; each guard decides, in one way."""
    best = None
    for n in range(len(text) + 1):
        if not made.constraint.accepts(text[:n]):
            continue
        allowed = True
        rest = text[n:].encode() + bytes([END_BYTE])
        for guard in made.guards:
            if guard.lexemes.accepts(text[:n]):
                verdicts = [any(g.accepts(rest[:k]) for k in range(len(rest) + 1)) for g in guard[1:]]
                assert sum(verdicts) == 1
                allowed = guard.allowed is guard[1:][verdicts.index(True)]
        if allowed:
            best = n
    return best


GUARDED = [
    "0(?![1-9])", '"(?!"").*?"', "(?!if)[a-z]+", "(?=ab)a", r"-\b", "a$", r"a\Z", "(?m:a$)", r"[+*]|[?](?![a-z])",
    r"(?!(?:if|else)\b)[a-z_]\w*", "a(?=.*b)", "(?:a|ab)(?=b|$)", r"a+?(?=[^a]|\Z)", "a(?!ba)",
    r"(?:(?!\$\{)[^\"]|\$(?!\{))+", r"\w+?(?=\b)", r"a*?(?=b\b|$)", r"(?!a\Bb)[ab]", "(?:a(?=b)|a(?=c))b?", r"a(?=b\Z)",
    r"a(?=(?:\b)*1|(?:\B|b)+\b)",
]  # fmt: skip


@pytest.mark.parametrize("pattern", GUARDED)
def test_guards_of_lexemes_allow_what_re_does(pattern: str) -> None:
    made = terminal_pattern(pattern)
    assert made.guards
    assert "lookahead past the lexeme" in made.remark
    rng = random.Random(pattern)
    pieces = ["a", "b", "c", "ab", "if", "else", "0", "1", '"', "?", "-", "$", "{", "${", " ", "\n", "é"]
    matched = 0
    first = [p for p in pieces if p in pattern or p in "a0"]
    for _ in range(500):
        text = rng.choice(first) + "".join(rng.choice(pieces) for _ in range(rng.randrange(5)))
        matched += (want := found(pattern, text)) is not None
        assert longest_allowed(made, text) == want, text
    assert matched


@pytest.mark.parametrize("block", range(3))
def test_guards_of_random_patterns(block: int) -> None:
    taken = 0
    for i in range(150):
        seed = 5000 + 1000 * block + i
        rng = random.Random(seed)
        ahead = rng.choice(["(?=b)", "(?!b)", "(?!ab)", "(?=[ac])", "$", r"\b", r"(?=a*c)", "(?!a*c)", r"(?!b\b)"])
        pattern = "".join(random_pattern(rng, 2) for _ in range(rng.choice([1, 2]))) + ahead
        if rng.random() < 0.3:
            pattern = "(?!a[bc])" + pattern
        try:
            made = terminal_pattern(pattern)
        except UnsupportedError:
            continue
        if not made.guards:
            continue
        taken += 1
        for _ in range(25):
            text = "".join(rng.choice("aabcB1 \n") for _ in range(rng.randrange(9)))
            assert longest_allowed(made, text) == found(pattern, text), f"seed {seed}: {pattern!r} on {text!r}"
    assert taken > 40


@pytest.mark.parametrize("pattern", [r"\bif", r'(?<!\\)"', r"^a", r'(?<!\\)".*?"', r"(?!\bif)[a-z]"])
def test_matches_that_depend_on_the_text_before(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="depends on the text before the lexeme"):
        terminal_pattern(pattern)


@pytest.mark.parametrize("pattern", [r"(?!(?:\s)*?)\b", r"(?!(?:.\Zb|[ab]){0,3})(?!a)", r"(?!a*)a(?=b)"])
def test_what_never_matches_is_empty(pattern: str) -> None:
    constraint, guards, _ = terminal_pattern(pattern)
    assert constraint.is_empty()
    assert not guards


def test_demands_that_are_alike_are_followed_once() -> None:
    # Every end of the text in an alternative doubled what was still to be tried: seconds of it, past the limit.
    pattern = r"(?:(?:(?:(?!\s)|(?:$){2})(?=$)|\Z)|[ab])$"
    assert longest_allowed(terminal_pattern(pattern, 0.5), "a\n") == found(pattern, "a\n") == 1


def test_what_follows_a_lexeme_tells_nothing_without_a_lexer() -> None:
    with pytest.raises(UnsupportedError, match="depends on the text after the lexeme; end the pattern with what must"):
        tokamata.grammar("start: /a(?!b)/ /./", lexer="none")
    with pytest.raises(UnsupportedError, match="depends on the text after the lexeme"):
        tokamata.grammar("start: A\nA: B & /../\nB: /a(?!b)/ /./ | /c(?!d)/")


@pytest.mark.parametrize("pattern", ["(?:ab){0,9000}?(?:cd){0,9000}x", "(?:a|ab){1,200}?.{300}b", "a*?(?=b(?=c)).."])
def test_what_is_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="a lazy quantifier"):
        terminal_pattern(pattern, seconds=20)  # states, not time: a busy machine takes more than the default


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r".*?(?=a|(?<!\\)b)", r"a lookbehind \(\?<!\.\.\.\) inside a lookaround"),
        (r".*?(?<=(?=a)b)", r"a lookahead \(\?=\.\.\.\) inside a lookaround"),
        (r".*?(?=^a)", r"\^ inside a lookaround"),
        (r"a*?\Ab", r"\\A"),
    ],
)
def test_what_stands_beside_lazy_quantifiers_is_named(pattern: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=f"a lazy quantifier beside (?:{message}); write the pattern without"):
        terminal_pattern(pattern)
