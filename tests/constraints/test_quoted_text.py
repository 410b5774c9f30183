"""Text in quotes, against a scanner."""

from __future__ import annotations

import itertools
import json

import pytest

import tokamata


def is_quoted(text: str, quote: str) -> bool:
    """Whether the text is a quote, characters and escapes, and the same quote."""
    if len(text) < 2 or text[0] != quote or "\n" in text:
        return False
    at = 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at == len(text) - 1


@pytest.mark.parametrize("quote", ['"', "'", "|", "«"])
def test_members(quote: str) -> None:
    constraint = tokamata.quoted_text(quote)
    for n in range(7):
        for letters in itertools.product(f"a\\\n{quote}", repeat=n):
            text = "".join(letters)
            assert constraint.accepts(text) == is_quoted(text, quote), text


def test_json_strings_are_quoted() -> None:
    quoted = tokamata.quoted_text()
    for text in tokamata.json_schema({"type": "string"}).examples(50):
        assert quoted.accepts(text), text
    assert quoted.accepts(json.dumps('a "b"\\\n'))


def test_arguments() -> None:
    for quote in ("", "ab", "\\", "\n"):
        with pytest.raises(ValueError, match="expected one character other than a backslash or newline"):
            tokamata.quoted_text(quote)
