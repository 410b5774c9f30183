from __future__ import annotations

import itertools

import pytest

import tokamata
from tokamata import ConstraintError, Reasoned, UnsupportedError, reasoning

ANSWER = tokamata.regex("[0-9]{1,3}")


def test_the_definition_on_all_short_texts() -> None:
    """The first end phrase decides, also where it overlaps itself."""
    for end in ["ab", "aba", "aa"]:
        made = reasoning("1", begin="", end=end)
        for n in range(9):
            for letters in itertools.product("ab1", repeat=n):
                text = "".join(letters)
                thoughts, found, rest = text.partition(end)
                expected = bool(found) and rest == "1"
                assert made.accepts(text) == expected, (end, text)
                if expected:
                    assert made.parse(text) == Reasoned(thoughts, "1")


def test_think_tags() -> None:
    made = reasoning(ANSWER)
    text = "<think>\nSix times seven; <b>not</b> 41.\n</think>\n\n42"
    assert made.accepts(text)
    assert made.parse(text) == ("\nSix times seven; <b>not</b> 41.\n", "42")
    assert not made.accepts("42")
    assert not made.accepts("<think></think>42</think>42")
    assert made.viable_prefix("<think></think>4x") == len("<think></think>4")


def test_optional_reasoning() -> None:
    made = reasoning(ANSWER, required=False)
    assert made.parse("42") == (None, "42")
    assert made.parse("<think></think>42") == ("", "42")
    with pytest.raises(ConstraintError, match=r"expected a begin where required=False, .*; pass begin="):
        reasoning(ANSWER, begin="", required=False)


def test_space_belongs_to_neither_unless_the_answer_needs_it() -> None:
    assert reasoning(tokamata.regex(r"\n*x")).parse("<think></think>\n\nx").answer == "x"
    assert reasoning(tokamata.regex(r"\n+x")).parse("<think></think>\n\nx").answer == "\nx"
    assert reasoning("\n\n\n\n\nx").parse("<think></think>\n\n\n\n\n\nx").answer == "\n\n\n\n\nx"


def test_special_tokens() -> None:
    begin, end = tokamata.special_token("[THINK]"), tokamata.special_token("[/THINK]")
    made = reasoning(tokamata.tools([{"name": "f"}]), begin=begin, end=end)
    vocabulary = tokamata.Vocabulary(
        [None, None, None, *(bytes([b]) for b in range(256))],
        eos_token_ids=[0],
        special_tokens={"[THINK]": 1, "[/THINK]": 2},
    )
    state = tokamata.compile(made, vocabulary).start()
    tokens = [1, *(3 + b for b in b"[/THINK] is text"), 2, *(3 + b for b in b"\nHello"), 0]
    assert state.validate(tokens) == len(tokens)
    text = b"\xff[THINK]\xffa\xff[/THINK]\xffHello"
    assert made.parse(text) == made.parse("[THINK]a[/THINK]Hello") == ("a", tokamata.Reply("Hello"))


def test_no_member() -> None:
    for text, expected in [
        ("<think>4", "the reasoning that ends with '</think>'"),
        ("4", "the reasoning that ends with"),
        ("<think></think>x", "an answer of regex"),
        (b"<think>\xff</think>4", "the reasoning"),
    ]:
        assert not reasoning(ANSWER).accepts(text)
        with pytest.raises(ConstraintError, match=f"^reasoning: expected {expected}.*which is no member"):
            reasoning(ANSWER).parse(text)
    with pytest.raises(ConstraintError, match=r"^reasoning: expected phrases of at least one character"):
        reasoning(ANSWER, end="")


def test_named_parts_of_the_answer() -> None:
    made = reasoning(tokamata.capture("number", ANSWER))
    assert made.captures("<think>1</think>\n42") == {"number": b"42"}
    called = tokamata.sequence(tokamata.capture("all", tokamata.tools([{"name": "f"}], "llama3")), "!")
    assert called.captures("no!") == {"all": b"no"}


def test_callbacks_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"^reasoning: parse has to know the members of `then`"):
        reasoning(tokamata.dynamic(lambda text: "x"))


def test_bounded_length_on_all_short_texts() -> None:
    """The bound counts the characters before the end phrase, and nothing else."""
    for end, bound in itertools.product(["ab", "aba", "é"], [0, 1, 3]):
        made = reasoning("1", begin="", end=end, max_length=bound)
        for n in range(8):
            for letters in itertools.product("abé1", repeat=n) if n < 6 else itertools.product("ab", repeat=n):
                text = "".join(letters) + "1"
                thoughts, found, rest = text.partition(end)
                expected = bool(found) and rest == "1" and len(thoughts) <= bound
                assert made.accepts(text) == expected, (end, bound, text)
                if expected:
                    assert made.parse(text) == Reasoned(thoughts, "1")
                elif found and rest == "1":
                    with pytest.raises(ConstraintError, match="which is no member"):
                        made.parse(text)


def test_where_the_bound_is_reached_the_end_follows() -> None:
    vocabulary = tokamata.Vocabulary(
        [None, None, None, *(bytes([b]) for b in range(256)), b"abc", b"</"],
        eos_token_ids=[0],
        special_tokens={"[THINK]": 1, "[/THINK]": 2},
    )
    state = tokamata.compile(reasoning("x", max_length=4), vocabulary).start()
    for token in [*(3 + b for b in b"<think>a"), 259]:
        state.advance(token)
    assert state.forced_bytes() == b"</think>"
    assert state.allows(260)

    end = tokamata.special_token("[/THINK]")
    for bounds, letters in (({"max_tokens": 2}, 4), ({"max_length": 6}, 6)):
        state = tokamata.compile(reasoning("x", begin="", end=end, **bounds), vocabulary).start()
        state.advance(259)
        assert state.allows(259)
        state.advance(3 + ord("a") if letters == 4 else 259)
        assert not state.allows(3 + ord("a"))
        assert state.forced_tokens() == [2]
        state.advance(2)
        assert state.validate([3 + ord("\n"), 3 + ord("x"), 0]) == 3
        # The tokens before the end are counted, not their characters.
        assert reasoning("x", begin="", end=end).parse("abcabc[/THINK]x").answer == "x"


def test_bounds_that_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="max_tokens=5 needs an end that is a token of its own, got the text"):
        reasoning("x", max_tokens=5)
    with pytest.raises(ValueError, match="expected max_length or max_tokens, got both"):
        reasoning("x", max_tokens=5, max_length=5)
    with pytest.raises(ValueError, match="expected max_length >= 0 or None, got -1"):
        reasoning("x", max_length=-1)
