"""Plain scalars, against what PyYAML reads."""

from __future__ import annotations

import itertools
import random
from functools import lru_cache

import pytest
import yaml

import tokamata

LETTERS = "a é-?:,[]{}#&*!|>'\"%@`~.=<"


@lru_cache(100_000)
def is_plain(text: str, flow: bool) -> bool:
    """Whether PyYAML reads the text, as a value, as one plain scalar of the same text on the same line."""
    document = f"[{text}]\n" if flow else f"key: {text}\n"
    try:
        events = list(yaml.parse(document))
    except yaml.YAMLError:
        return False
    scalars = [e for e in events if isinstance(e, yaml.ScalarEvent)]
    if len(events) != (7 if flow else 8) or len(scalars) != (1 if flow else 2):
        return False
    return (
        scalars[-1].value == text and scalars[-1].style is None and scalars[-1].tag is None and not scalars[-1].anchor
    )


@pytest.mark.parametrize("flow", [False, True])
def test_members(flow: bool) -> None:
    """All short texts: members are plain scalars, and the others are not, but for what the documentation leaves out."""
    constraint = tokamata.unquoted_text(flow)
    short = ["".join(t) for n in range(3) for t in itertools.product(LETTERS, repeat=n)]
    rng = random.Random(3)
    longer = ["".join(rng.choice(LETTERS) for _ in range(rng.randrange(3, 8))) for _ in range(3000)]
    accepted = 0
    for text in short + longer:
        member = constraint.accepts(text)
        accepted += member
        if member or text.split(" ")[0] in ("---", "..."):
            assert not member or is_plain(text, flow), text
        elif text and not (flow and ("?" in text or text == "-")):  # the latter not in YAML 1.2
            assert not is_plain(text, flow), text
    assert accepted > 300


def test_random_members_are_read() -> None:
    for flow in (False, True):
        for text in tokamata.unquoted_text(flow).examples(150, seed=1):
            assert is_plain(text.decode(), flow), text


def test_document_markers() -> None:
    """A member may be a document of its own."""
    plain = tokamata.unquoted_text()
    assert not plain.accepts("---")
    assert not plain.accepts("... a")
    assert plain.accepts("...a")
    assert plain.accepts("a ---")
    assert not plain.accepts("--- a")
    assert plain.accepts("---a")
    assert plain.accepts("--a")
