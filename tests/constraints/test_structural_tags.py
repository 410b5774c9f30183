from __future__ import annotations

import itertools
import random
import re
from functools import lru_cache

import pytest

import tokamata
from tokamata import ConstraintError, Tag, structural_tags

ALPHABET = "ab<"
TEXTS = ["".join(w) for n in range(8) for w in itertools.product(ALPHABET, repeat=n)]


def member(
    text: str, tags: list[tuple[str, str, str]], triggers: list[str], at_least_one: bool, stop_after_first: bool
) -> bool:
    """The definition, read off the text from left to right."""

    @lru_cache(None)
    def free(at: int, seen: int) -> bool:
        for end in range(at, len(text) + 1):
            found = [t for t in triggers if at <= end - len(t) and text[:end].endswith(t)]
            if found:
                return any(tagged(end, t, seen) for t in found)
        return seen > 0 or not at_least_one

    def tagged(at: int, trigger: str, seen: int) -> bool:
        for begin, content, end in tags:
            if not begin.startswith(trigger):
                continue
            pattern = re.escape(begin[len(trigger) :]) + f"(?:{content})" + re.escape(end)
            for stop in range(at, len(text) + 1):
                if re.fullmatch(pattern, text[at:stop]):
                    if stop_after_first and stop == len(text):
                        return True
                    if not stop_after_first and free(stop, 1):
                        return True
        return False

    return free(0, 0)


def test_the_definition_on_all_short_texts() -> None:
    contents = ["a", "b*", "[ab]+", "", "(ab|<)*"]
    kept = 0
    for seed in range(60):
        random_ = random.Random(seed)
        triggers = list({"".join(random_.choices(ALPHABET, k=random_.randint(1, 3))) for _ in range(2)})
        if any(a in b[:-1] for a in triggers for b in triggers if a != b):
            continue
        tags = [
            (t + "".join(random_.choices(ALPHABET, k=random_.randint(0, 1))), random_.choice(contents), end)
            for t in triggers
            for end in random_.choices(["", "a", "<", "b<"], k=random_.randint(1, 2))
        ]
        once, first = random_.random() < 0.4, random_.random() < 0.4
        made = structural_tags(
            [(begin, tokamata.regex(content), end) for begin, content, end in tags],
            triggers,
            at_least_one=once,
            stop_after_first=first,
        )
        kept += 1
        for text in TEXTS[:: random_.randint(2, 5)]:
            expected = member(text, tags, triggers, once, first)
            assert made.accepts(text) == expected, (seed, text, tags, triggers, once, first)
    assert kept > 30


def test_functions_by_one_trigger() -> None:
    number = tokamata.regex("[0-9]+")
    made = structural_tags(
        [Tag("<function=add>", number, "</function>"), ("<function=sum>", "[" + number + "]", "</function>")],
        ["<function="],
    )
    assert made.accepts("one <function=add>12</function>, two <function=sum>[3]</function>!")
    assert made.accepts("a < b, </function>, <functions")
    assert made.viable_prefix("so <function=mul>") == len("so <function=")
    assert made.viable_prefix("<function=add>x") == len("<function=add>")


def test_special_tokens_as_triggers() -> None:
    call, end = tokamata.special_token("<|call|>"), tokamata.special_token("<|end|>")
    vocabulary = tokamata.Vocabulary(
        [None, None, None, *(bytes([b]) for b in range(256))],
        eos_token_ids=[0],
        special_tokens={"<|call|>": 1, "<|end|>": 2},
    )
    made = structural_tags([(call, tokamata.regex("[0-9]+"), end), ("#", "!", "")], at_least_one=True)
    state = tokamata.compile(made, vocabulary).start()
    for token in [*b"<|call|> is text", -2, *b"12"]:
        assert not state.allows(0)
        state.advance(token + 3)
    assert not state.allows(1)
    state.advance(2)
    assert state.is_final
    assert state.validate([3 + b for b in b"a#!#?"]) == 4
    assert state.validate([1, 3 + ord("1"), 2, 0]) == 4


def test_errors() -> None:
    a = tokamata.regex("a")
    cases = [
        ([], None, "expected at least one tag"),
        ([("", a, "")], None, "expected a begin of at least one character, got ''"),
        ([("<x>", a, "")], ["<y"], "expected a trigger that begins '<x>', got none"),
        ([("<x>", a, "")], ["<x", "<y"], "expected a tag that begins with the trigger '<y', got none"),
        ([("<x>", a, "")], ["<x>", "<x"], "the trigger '<x>' is never completed, because it contains '<x'"),
        ([(a, a, "")], None, "expected a text or a special token as begin or trigger"),
    ]
    for tags, triggers, text in cases:
        with pytest.raises(ConstraintError, match=re.escape(text)):
            structural_tags(tags, triggers)
    with pytest.raises(TypeError, match=r"expected tags as triples \(begin, content, end\), got \('a',\)"):
        structural_tags([("a",)])  # type: ignore[list-item]
