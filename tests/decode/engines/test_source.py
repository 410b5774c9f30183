"""constraint_of: the constraints that engines name in their requests."""

from __future__ import annotations

import pytest
from tokamata.decode.engines.source import constraint_of

import tokamata

LONG = "0.1000000000000000000001"
TAGS = '{"structures": [{"begin": "<a>", "schema": %s, "end": "</a>"}], "triggers": ["<a>"]}'


def test_numbers_of_schemas_stay_as_they_are_written() -> None:
    made = constraint_of("structural_tag", TAGS % f'{{"const": {LONG}}}')
    assert made.accepts(f"<a>{LONG}</a>")
    assert not made.accepts("<a>0.1</a>")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TAGS % '{"type": "null", "type": "integer"}', '^structural_tag: line 1, column .*"type"'),
        ("{", "^structural_tag is not JSON that can be read"),
        ("[" * 100_000, "^structural_tag is not JSON that can be read"),
        ('{"structures": [{"begin": "<a>", "end": "</a>"}], "triggers": []}', "schema"),
        ('{"structures": 5, "triggers": []}', '^structural_tag: expected a JSON object with "structures"'),
        ("[]", '^structural_tag: expected a JSON object with "structures"'),
    ],
    ids=range(6),
)
def test_structural_tags_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=reason):
        constraint_of("structural_tag", text)
