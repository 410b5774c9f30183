"""Repetitions of characters that begin no text of a list, as in (?:(?!</a>).)*</a>, against Python's re."""

from __future__ import annotations

import contextlib
import itertools
import random
import re
import time
from collections.abc import Iterable

import numpy as np
import pytest
from oracle.packages import vocabulary_file

import tokamata

SEED = 41
TEXTS = ["".join(letters) for length in range(7) for letters in itertools.product("abc", repeat=length)]


WORDS = ["".join(letters) for length in range(6) for letters in itertools.product("aAb ", repeat=length)]


def random_pattern(rng: random.Random, depth: int) -> str:
    """A sequence of letters, repetitions with refused texts, and, in depth, groups of such."""

    def word() -> str:
        return "".join(rng.choices(("a", "b", "[ab]", "[bc]"), [6, 2, 1, 1], k=rng.randint(1, 3)))

    def tempered() -> str:
        refused = "|".join(word() for _ in range(rng.choice((1, 1, 2))))
        looks = rng.choice((f"(?!{refused})", f"(?!{refused})(?!{word()})", f"(?!(?:{word()}|b)[ab]?)"))
        return (
            f"(?:{looks}{rng.choice(('.', '[ab]', '(?:a|c)', '.'))}){rng.choice(('*', '*', '+', '?', '{2,3}', '*?'))}"
        )

    def group() -> str:
        inside = "|".join(random_pattern(rng, depth - 1) for _ in range(rng.choice((1, 1, 2))))
        return f"(?:{inside}){rng.choice(('', '*', '?', '+', '{2}'))}"

    kinds = [word, tempered, tempered, lambda: rng.choice((".", "[bc]", "c*", ".*"))]
    return "".join(rng.choice(kinds + [group] * (2 * depth))() for _ in range(rng.randint(1, 3)))


def agreeing(patterns: Iterable[str], texts: list[str]) -> tuple[int, int]:
    """How many members there are, all of which re says, too; of how many patterns the contexts multiply."""
    members = limited = 0
    for pattern in patterns:
        compiled = re.compile(pattern)
        wanted = [text for text in texts if compiled.fullmatch(text)]
        try:
            constraint = tokamata.regex(pattern, limits=tokamata.Limits(seconds=0.1, search_seconds=0.1))
            found = [text for text in texts if constraint.accepts(text)]
        except (tokamata.UnsupportedError, tokamata.LimitError):
            limited += 1
            continue
        assert found == wanted, f"seed {SEED}: {pattern}"
        members += len(wanted)
    return members, limited


@pytest.mark.parametrize("count", [250, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_patterns_agree_with_re(count: int) -> None:
    rng = random.Random(SEED)
    members, limited = agreeing((random_pattern(rng, 1) for _ in range(count)), TEXTS)
    assert members > 20 * count
    assert limited < count / 4


def random_pattern_of_words(rng: random.Random) -> str:
    """Where the refused texts have assertions of their own, or no bound, and a part may be more than a character."""
    word = "".join(rng.choices(("a", "b", " ", "[ab]", r"\w", "a+", r"\s"), k=rng.randint(0, 3)))
    before, after = rng.choice((r"\b", "", "(?<!b)", "(?<=a)", "^")), rng.choice((r"\b", "", "(?! )", "$", "(?=b)"))
    part = rng.choice((".", "[ab]", "[^b]", "(?:a|b )", r"(?:[^b]|b.)", r"\w", "(?:a|aA)"))
    turns = rng.choice(("*", "+", "{1,3}", "{2}", "*", "*?"))
    tempered = rf"(?:(?!{before}{word}{after}){part}){turns}"
    flags, first = rng.choice(("", "(?i)")), rng.choice(("", "", "b", "a?", ".*", f"{tempered} "))
    last = rng.choice(("", "", "b", " ", "b?", " a|b", r"\b", "(?:b.*)?", rf"(?:b{tempered})*"))
    return flags + first + tempered + last


@pytest.mark.parametrize("count", [400, pytest.param(5_000, marks=pytest.mark.slow)])
def test_random_patterns_with_boundaries_agree_with_re(count: int) -> None:
    rng = random.Random(SEED)
    members, limited = agreeing((random_pattern_of_words(rng) for _ in range(count)), WORDS)
    assert members > 20 * count
    assert limited < count / 10


@pytest.mark.parametrize(
    ("pattern", "member", "other"),
    [
        (r"(?i)(?:(?!final answer:).)*final answer: .*", "so FINAL answer: b Final Answer: c", "final answer"),
        (r"(?:(?!\b(?:kill|bomb|gun)\b).)*", "a gunny bag, bombastic", "a gun, say"),
        (r"(?i)(?:(?!\b(?:as an ai|sorry)\b).){1,400}", "as an aid", "As an AI, no"),
        (r"(?:(?!\b(?:kill|bomb|gun)\b)[^\"\n])*\"", 'a kiln"', 'bomb"'),
        (r"(?s)Final Answer: (?:(?!(?:Thought|Action)\s*:).)*", "Final Answer: Actions", "Final Answer: Thought  :"),
        (r"(?s)(?:(?!Final Answer:).)*Final Answer: .*", "a Final\nFinal Answer: b Final Answer: c", "Final Answer"),
        (r"(?s)(?:(?!</reasoning_text>).)*</reasoning_text>.*", "a</reason</reasoning_text></", "</reasoning_text"),
        (
            r"(?s)Thought: (?:(?!\nAction: ).)*\nAction: (?:(?!\nAction Input: ).)*\nAction Input: .*",
            "Thought: a\nAction: b\nAction Input: c",
            "Thought: a\nAction Input: c",
        ),
        (r"(?s)(?:<call>(?:(?!</call>).)*</call>\s*)*", "<call></c</call>\n<call></call>", "<call></call></call>"),
        (
            r"(?s)(?:(?!<tool_call>).)*(?:<tool_call>(?:(?!</tool_call>).)*</tool_call>(?:(?!<tool_call>).)*)*",
            "a<tool_call>b</tool_call>c</tool_call><tool_call></tool_call>",
            "a<tool_call>b",
        ),
        (
            r"(?:[a-z]+>(?:(?!</parameter_value>)[\s\S])*</parameter_value>)*",
            "a>\n</parameter_value>",
            "</parameter_value>",
        ),
        (
            r"(?s)(?:T: (?:(?!\nObservation: ).)*\nObservation: (?:(?!\nT: |\nFinal: ).)*\n)*Final: .*",
            "T: a\nObservation: b\nT: c\nObservation: \nFinal: d",
            "T: a\nObservation: b\nT: c\nFinal: d",
        ),
        (r"(?:(?!bad|evil)\w)+(?: (?:(?!bad|evil)\w)+)*", "good ebil", "good evils"),
    ],
)
def test_long_texts_may_end_repetitions(pattern: str, member: str, other: str) -> None:
    """Contexts for all that such a text may begin with would be two to the power of its length."""
    begun = time.process_time()
    constraint = tokamata.regex(pattern)
    assert (constraint.accepts(member), constraint.accepts(other)) == (True, False)
    assert [bool(re.fullmatch(pattern, text)) for text in (member, other)] == [True, False]
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), b"</", b"t: c\n", None], [258])
    state = tokamata.compile(constraint, vocabulary).start()
    for byte in member.encode():
        mask = np.unpackbits(state.mask().view(np.uint8), bitorder="little")
        assert mask[byte]
        state.advance(byte)
    assert state.is_final
    assert time.process_time() - begun < 2


def test_masks_on_a_real_vocabulary() -> None:
    vocabulary = tokamata.Vocabulary.from_file(vocabulary_file("qwen"))
    token_of = {vocabulary.token_bytes(t): t for t in range(len(vocabulary) - 1, -1, -1)}
    automaton = tokamata.compile(tokamata.regex(r"(?s)<b>(?:(?!</b>|<i>).)*(?:</b>|<i>x*).*"), vocabulary)
    for text in ("", "<b>", "<b>a<", "<b></", "<b>\n</b", "<b><i>", "<b></b>"):
        state = automaton.start()
        for byte in text.encode():
            state.advance(token_of[bytes([byte])])
        mask = np.unpackbits(state.mask().view(np.uint8), bitorder="little")[: len(vocabulary)].astype(bool)
        assert np.flatnonzero(mask != [state.allows(t) for t in range(len(vocabulary))]).tolist() == [], text


def test_patterns_with_many_or_long_refused_texts_are_read() -> None:
    begun = time.process_time()
    long = "ab" * 200_000
    assert tokamata.regex(f"(?:(?!{long}).)*").accepts("ab" * 1000)
    many = "|".join(f"x{i}" for i in range(2000))
    assert not tokamata.regex(f"(?:(?!{many}).)*!").accepts("yx17!")
    loops = "".join(f"(?:(?!{'a' * 200}).)*b" for _ in range(100))
    with contextlib.suppress(tokamata.LimitError):
        tokamata.regex(loops)
    assert time.process_time() - begun < 10
