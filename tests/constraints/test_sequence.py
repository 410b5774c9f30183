from __future__ import annotations

import pytest

import tokamata


def test_parts_in_order() -> None:
    digits = tokamata.regex("[0-9]+")
    made = tokamata.sequence("v", digits, tokamata.optional(tokamata.sequence(b".", digits)))
    assert made.equivalent(tokamata.regex(r"v[0-9]+(\.[0-9]+)?"))
    assert tokamata.sequence().equivalent(tokamata.literal(""))
    assert tokamata.sequence(digits).equivalent(digits)
    assert tokamata.optional("a").equivalent(tokamata.regex("a?"))


def test_special_tokens_and_reports_are_kept() -> None:
    schema = tokamata.json_schema({"title": "x"})
    made = tokamata.sequence("a", tokamata.special_token("<x>"), tokamata.optional(schema))
    assert made.special_tokens == {"<x>"}
    assert made.report == schema.report
    assert made.source.startswith("('a' + <x> + json_schema")


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^sequence: expected a Constraint, str or bytes, got int"):
        tokamata.sequence("a", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^optional: expected a Constraint, str or bytes, got NoneType"):
        tokamata.optional(None)  # type: ignore[arg-type]


def test_neighbouring_texts_are_one() -> None:
    many = tokamata.sequence(*["ab"] * 300_000)
    assert many.accepts("ab" * 300_000)
    assert not many.accepts("ab" * 299_999)
    made = tokamata.sequence("a", "b", b"\xff", b"c", tokamata.regex("d+"), "", "e")
    assert made.source == "('ab' + b'\\xffc' + regex('d+') + 'e')"
    assert [made.accepts(text) for text in (b"ab\xffcdde", b"ab\xffce", b"abcde")] == [True, False, False]
