"""Patterns of terminals: the longest match of the language is what re.match finds, on random patterns and texts."""

from __future__ import annotations

import random
import re

import pytest
from tokamata.constraints.terminal_pattern import terminal_pattern

import tokamata
from tokamata import LimitError, UnsupportedError


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
            constraint, remark = terminal_pattern(pattern)
        except UnsupportedError:
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
    constraint, remark = terminal_pattern(pattern)
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
    constraint, _ = terminal_pattern(r"\p{Lu}[^\p{Nd}]*?\p{Nd}+")
    assert longest(constraint, "Éa-12x3") == len("Éa-12")
    assert longest(constraint, "éa1") is None


@pytest.mark.parametrize("pattern", [r"\w+\b", "[a-z]+(?![a-z])", r"a(?:b|c)*(?![bc])"])
def test_ends_that_the_longest_match_decides(pattern: str) -> None:
    constraint, _ = terminal_pattern(pattern)
    for text in ["abc d", "a", "abcbx", "xy z", "x", "ab1", "abcd", " ab"]:
        assert longest(constraint, text) == found(pattern, text), text


@pytest.mark.parametrize(
    ("pattern", "where"),
    [
        ("0(?![1-9])", "after"),
        ('"(?!"").*?"', "after"),
        ("(?!if)[a-z]+", "after"),
        ("(?=ab)a", "after"),
        (r"-\b", "after"),
        ("a$", "after"),
        (r"\bif", "before"),
        (r'(?<!\\)"', "before"),
        (r"^a", "before"),
        (r'(?<!\\)".*?"', "before"),
    ],
)
def test_matches_that_depend_on_the_text_around(pattern: str, where: str) -> None:
    with pytest.raises(UnsupportedError, match=f"depends on the text {where} the lexeme"):
        terminal_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(?:ab){0,9000}?(?:cd){0,9000}x", "(?:a|ab){1,200}?.{300}b", "a*?(?=b(?=c)).."])
def test_what_is_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="a lazy quantifier"):
        terminal_pattern(pattern, seconds=20)  # states, not time: a busy machine takes more than the default
