"""Named parts while decoding."""

from __future__ import annotations

import random

import pytest
from oracle import mask_walk

import tokamata

WORDS = [b"ab", b"ba", b"aab", b"b,", b"</x>", b"/x"]
TOKENS: list[bytes | None] = [None, None, *(bytes([b]) for b in range(256)), *WORDS]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[0], special_tokens={"<call>": 1})


def test_states_tell_what_the_text_tells() -> None:
    rng = random.Random(1)
    constraint = tokamata.regex(r"(?P<a>[ab]+?),(?P<b>[ab]*)(?P<c>b?)(,(?P<d>a|ab))*") + tokamata.capture(
        "e", tokamata.text_until("</x>", "hidden")
    )
    automaton = tokamata.compile(constraint, VOCABULARY)
    for _ in range(30):
        state, text, rows = automaton.start(), b"", [{}]
        assert state.captures() == constraint.captures(b"", partial=True)
        for _ in range(12):
            mask = mask_walk.allowed(state.mask())
            token = rng.choice([t for t in mask if t == 0 or set(TOKENS[t] or b"") <= set(b"ab,</x>")])
            state.advance(token)
            text += TOKENS[token] or b""
            want = constraint.capture_lists(text, partial=token != 0)
            assert state.capture_lists() == want, text
            assert state.captures() == {name: values[-1] for name, values in want.items()}
            rows.append(want)
            if token == 0:
                break
        while len(rows) > 1:
            state.rollback(1)
            rows.pop()
            if len(rows) > 1:
                assert state.capture_lists() == rows[-1]
        copied = state.copy()
        copied.reset()
        assert copied.captures() == constraint.captures(b"", partial=True)


def test_special_tokens_and_classes() -> None:
    constraint = tokamata.regex(r"(?P<item>(?P<PARAGRAPH_TOKEN>)+)\n") + tokamata.capture(
        "call", tokamata.special_token("<call>") + tokamata.regex("[ab]+")
    )
    state = tokamata.compile(constraint, VOCABULARY).start()
    assert state.captures() == {}
    for token in (258, 2 + ord("x")):
        state.advance(token)
    assert state.captures() == {"item": b"abx"}
    for token in (2 + ord("\n"), 1, 259, 0):
        state.advance(token)
    assert state.captures() == {"item": b"abx", "call": b"ba"}


def test_without_names_there_is_nothing() -> None:
    state = tokamata.compile(tokamata.regex("(a)b"), VOCABULARY).start()
    state.advance(2 + ord("a"))
    assert state.captures() == {}


@pytest.mark.parametrize("budget", [None, 40])
def test_captures_leave_masks_alone(budget: int | None) -> None:
    plain = tokamata.compile(tokamata.regex("[ab]+,.*"), VOCABULARY).start(budget)
    named = tokamata.compile(tokamata.regex("(?P<a>[ab]+),(?P<b>.*)"), VOCABULARY).start(budget)
    for token in (258, 2 + ord(","), 262):
        assert (plain.mask() == named.mask()).all()
        named.captures()
        plain.advance(token)
        named.advance(token)
    assert (plain.mask() == named.mask()).all()
