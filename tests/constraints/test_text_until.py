"""Text up to a stop phrase, against a search with str.find."""

from __future__ import annotations

import importlib
import itertools
import random

import pytest

import tokamata

free_text = importlib.import_module("tokamata.constraints.free_text")  # the name is the function's


def ends(text: str, stops: list[str]) -> int:
    """The end of the occurrence that ends first, or -1."""
    return min((at + len(s) for s in stops if (at := text.find(s)) >= 0), default=-1)


@pytest.mark.parametrize("most", [free_text.MOST_TABLE_BYTES, 0])
def test_the_phrase_ends_the_text(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_text, "MOST_TABLE_BYTES", most)
    rng = random.Random(0)
    texts = ["".join(t) for n in range(7) for t in itertools.product("abé", repeat=n)]
    for case in range(40):
        stops = [
            "".join(rng.choice("abé") for _ in range(rng.randrange(1, 4))) for _ in range(rng.choice([1, 1, 2, 3]))
        ]
        included = tokamata.text_until(stops)
        hidden = tokamata.text_until(stops, "hidden")
        excluded = tokamata.text_until(stops, "excluded")
        for text in texts:
            assert included.accepts(text) == (ends(text, stops) == len(text)), (case, stops, text)
            want = any(ends(text + s, stops) == len(text + s) for s in stops)
            assert excluded.accepts(text) == want, (case, stops, text)
            assert hidden.accepts(text) == included.accepts(text), (case, stops, text)
        if len(stops) == 1:
            assert (excluded + stops[0]).equivalent(included)


def test_wildcards_stay_exact() -> None:
    until = tokamata.text_until("</think>")
    assert until.accepts("</think</think>")
    assert not until.accepts_prefix("</think>x")
    assert not until.accepts_prefix(b"\xff")
    assert until.to_fst().num_states() < 20
    answer = until + tokamata.choice(["yes", "no"])
    assert answer.accepts("hmm\n</think>no")


def test_phrases_that_are_no_text() -> None:
    until = tokamata.text_until(b"\xff\xfe")
    assert until.accepts(b"a\xff\xfe")
    assert not until.accepts("a")
    assert not until.accepts_prefix(b"\xff\xfea")


def test_arguments() -> None:
    with pytest.raises(tokamata.ConstraintError, match="expected a phrase of at least one character"):
        tokamata.text_until("")
    with pytest.raises(tokamata.ConstraintError, match="expected a phrase of at least one character"):
        tokamata.text_until([])
    with pytest.raises(ValueError, match='expected phrase "included", "excluded" or "hidden", got \'kept\''):
        tokamata.text_until("a", "kept")  # type: ignore[arg-type]
