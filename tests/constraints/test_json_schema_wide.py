"""Random schemas in wide combinations, key orders and white spaces, beside jsonschema with exact multiples."""

from __future__ import annotations

import pytest
from oracle.json_schema_random import DRAFTS
from oracle.json_schema_wide import made, wrong_answers


def judged(draft: str, seeds: range) -> tuple[list[str], int]:
    wrong, refused = [], 0
    for number in seeds:
        schema, values, options = made(str(number), draft)
        refusal, found = wrong_answers(schema, values, options, draft, str(number))
        refused += bool(refusal)
        wrong += [f"draft {draft}, seed {number}, {options}: {schema}: {value}" for value in found]
    return wrong, refused


@pytest.mark.parametrize("draft", DRAFTS)
def test_random_schemas_in_wide_combinations(draft: str) -> None:
    wrong, refused = judged(draft, range(25))
    assert wrong == []
    assert refused <= 4


@pytest.mark.slow
@pytest.mark.parametrize("draft", DRAFTS)
def test_many_random_schemas_in_wide_combinations(draft: str) -> None:
    wrong, refused = judged(draft, range(1000, 2000))
    assert wrong == []
    assert refused <= 40
