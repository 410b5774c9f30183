"""Vocabulary: construction, errors and plain access."""

from __future__ import annotations

import pytest

import tokamata


def test_tokens_come_back() -> None:
    tokens = [b"a", None, b"", b"\x00\xff", b"a", None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[5])
    assert len(vocabulary) == 6
    assert [vocabulary.token_bytes(i) for i in range(6)] == tokens
    assert vocabulary.eos_token_ids == [5]


def test_eos_loses_its_text() -> None:
    vocabulary = tokamata.Vocabulary([b"a", b"</s>", b"b", None, b"c"], eos_token_ids=[3, 1, 3])
    assert [vocabulary.token_bytes(i) for i in range(5)] == [b"a", None, b"b", None, b"c"]
    assert vocabulary.eos_token_ids == [1, 3]


@pytest.mark.parametrize(
    ("tokens", "eos", "text"),
    [
        ([], [0], "expected at least one token"),
        ([b"a"], [], "pass eos_token_ids"),
        ([b"a"], [1], "end-of-sequence id 1 is outside 0..0"),
        ([b"a", b"b"], [-1], "end-of-sequence id -1 is outside 0..1"),
        ([b"a"], [0], "no token has any bytes"),
        ([None, b""], [0], "no token has any bytes"),
        ([b"a", "b"], [0], "token 1 is str, expected bytes"),
        ([b"a", b"b"], ["x"], "must be a list of ids"),
        ([b"a", b"b"], [1 << 80], "out of range"),
    ],
)
def test_refusals(tokens: list[bytes | None], eos: list[int], text: str) -> None:
    with pytest.raises(tokamata.VocabularyError, match=text):
        tokamata.Vocabulary(tokens, eos_token_ids=eos)


@pytest.mark.parametrize("token_id", [-1, 2, 1 << 40, 1 << 80, -(1 << 80)])
def test_id_out_of_range(token_id: int) -> None:
    with pytest.raises(IndexError, match=r"outside 0\.\.1"):
        tokamata.Vocabulary([b"a", None], eos_token_ids=[1]).token_bytes(token_id)
