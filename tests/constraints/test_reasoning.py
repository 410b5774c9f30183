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
    with pytest.raises(ConstraintError, match="required=False needs a begin"):
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
