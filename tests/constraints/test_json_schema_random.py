"""Random schemas and instances: json_schema agrees with jsonschema, and jsonschema-rs where it is installed."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from oracle.json_schema_random import DRAFTS, case, disagreements, run, shrunk

import tokamata


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


# ---- keys and strings that several patterns share
PATTERNS = ["^[ab]{1,2}$", "^a", "b$", '^["\\\\]', "^é+$", "^[^a]*$", "^(ab|ba|\\t)$", "^[^c]{0,1}$", "^[^c]{3}"]
TEXTS = ["", "a", "b", "ab", "ba", "aab", '"', "\\", '"b', "é", "éé", "éb", "\t", "c", "😀", "abab", "x" * 5]


@pytest.mark.parametrize("part", range(4))
def test_keys_that_several_patterns_share(part: int) -> None:
    """Whether there are any is decided over one spelling of each, and holds for all."""
    empty = 0
    for seed in range(part, 240, 4):
        rng = random.Random(seed)
        values = [{"type": "null"}, {"type": "boolean"}, False, {"type": "string", "pattern": rng.choice(PATTERNS)}]
        schema: dict[str, Any] = {
            "type": "object",
            "patternProperties": {p: rng.choice(values) for p in rng.sample(PATTERNS, rng.randrange(1, 4))},
            "additionalProperties": rng.choice(values),
            "minProperties": rng.choice([1, 2]),
        }
        if rng.random() < 0.5:
            schema["propertyNames"] = {"allOf": [{"pattern": p} for p in rng.sample(PATTERNS, 2)]}
        if rng.random() < 0.5:
            schema["properties"] = {name: rng.choice(values) for name in rng.sample(TEXTS, 2)}
        found: list[tokamata.Constraint | None] = []
        for strings in ("any", "canonical"):
            try:
                found.append(tokamata.json_schema(schema, strings=strings, key_order="any"))
            except tokamata.ConstraintError as error:
                message = str(error)
                found.append(None)
                assert "contradicts itself" in message, (seed, message)
        assert (found[0] is None) == (found[1] is None), (seed, schema)
        validator = jsonschema.Draft202012Validator(schema)
        empty += found[0] is None
        for _ in range(60):
            value = {name: rng.choice([None, True, "a", "ab", "é"]) for name in rng.sample(TEXTS, rng.randrange(4))}
            valid = validator.is_valid(value)
            escaped, plain = json.dumps(value), json.dumps(value, ensure_ascii=False)
            for constraint, text in zip(found, (escaped, plain), strict=True):
                assert (constraint is not None and constraint.accepts(text)) == valid, (seed, schema, text)
        if found[0] is not None:
            for example in found[0].examples(3, seed=seed):
                if "\\n" not in repr(json.loads(example)):  # Python's $ holds before it, too
                    assert validator.is_valid(json.loads(example)), (seed, schema, example)
    assert 2 <= empty <= 40
