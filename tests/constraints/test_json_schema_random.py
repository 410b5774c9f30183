"""Random schemas and instances: json_schema agrees with jsonschema, and jsonschema-rs where it is installed."""

from __future__ import annotations

from typing import Any

import pytest
from oracle.json_schema_random import DRAFTS, case, disagreements, run, shrunk


@pytest.mark.parametrize("draft", DRAFTS)
def test_random_schemas(draft: str) -> None:
    counts, wrong = run(draft, range(150))
    assert wrong == []
    assert counts["valid"] > 500
    assert counts["invalid"] > 500
    assert counts["refused"] < 20


@pytest.mark.slow
@pytest.mark.parametrize("draft", DRAFTS)
def test_many_random_schemas(draft: str) -> None:
    counts, wrong = run(draft, range(1000, 3000))
    assert wrong == []
    assert counts["valid"] + counts["invalid"] > 20_000


def test_cases_are_the_same_for_the_same_seed_and_differences_are_found() -> None:
    assert case("1", "7") == case("1", "7") != case("2", "7")
    assert disagreements({"type": "string"}, ["a", 1], "7") == ("", [], {"valid": 1, "invalid": 1})
    refusal, _, _ = disagreements({"uniqueItems": True, "contains": {}}, [[1, 1]], "7")
    assert refusal.startswith("UnsupportedError")

    def differs(schema: Any) -> bool:
        return "b" in schema.get("properties", {}) and len(schema["properties"]["b"].get("enum", [])) > 0

    large = {"type": "object", "properties": {"a": True, "b": {"enum": [1, 2, 3], "type": "integer"}}, "allOf": [{}]}
    assert shrunk(large, differs) == {"properties": {"b": {"enum": [3]}}}
