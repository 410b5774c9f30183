"""Random schemas of values that stand bare between marks, and of JSON without phrases, against jsonschema."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from oracle.json_schema_random import DRAFTS, RandomSchema, random_instance
from oracle.tool_texts import READ_AS_JSON
from tokamata.constraints.json_schema_constraint import JsonSchemaConstraint, copied_options, says_empty
from tokamata.constraints.json_schema_source import Registry, schema_text
from tokamata.constraints.tool_parameters import bare_values

import tokamata
from tokamata._core import SchemaNotation

DRAFT = "2020-12"
LETTERS = 'ab</>é"\\ 1{'


def strings_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in (*value, *value.values()):
            yield from strings_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings_of(part)


def with_letters(rng: random.Random, value: Any) -> Any:
    """The value, some of its strings others."""
    if isinstance(value, str):
        return value if rng.random() < 0.4 else "".join(rng.choices(LETTERS, k=rng.randrange(5)))
    if isinstance(value, dict):
        return {with_letters(rng, key): with_letters(rng, part) for key, part in value.items()}
    return [with_letters(rng, part) for part in value] if isinstance(value, list) else value


def spelled(rng: random.Random, value: Any) -> str:
    """JSON with any escapes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{spelled(rng, k)}: {spelled(rng, v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(spelled(rng, part) for part in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)

    def letter(c: str) -> str:
        plain = c if c not in '"\\' and c >= " " else json.dumps(c)[1:-1]
        return rng.choice([plain, plain, plain, f"\\u{ord(c):04x}", f"\\u{ord(c):04X}", "\\/" if c == "/" else plain])

    return '"' + "".join(map(letter, value)) + '"'


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def made(schema: Any, phrases: list[str], notation: SchemaNotation) -> JsonSchemaConstraint | None:
    """None where no value is valid."""
    any_text = tokamata.json_schema({}, key_order="any", numbers="any", formats=False)
    options = copied_options(any_text._options)
    options.without, options.notation = phrases, notation
    try:
        return bare_values(schema_text(schema), Registry(None), options)
    except tokamata.ConstraintError as error:
        if not says_empty(error):
            raise
        return None


def compare(seed: int) -> Counter[str]:
    """One schema: what was looked at."""
    rng = random.Random(seed)
    schema = RandomSchema(rng, DRAFT).root()
    phrases = ["".join(rng.choices(LETTERS, k=rng.randrange(1, 4))) for _ in range(rng.randrange(1, 4))]
    try:
        quoted, bare = (made(schema, phrases, n) for n in (SchemaNotation.JSON, SchemaNotation.BARE))
        texts = made({"type": "string"}, phrases, SchemaNotation.BARE)
        strings_only = bare is not None and texts is not None and (bare - texts).is_empty()
    except (tokamata.UnsupportedError, tokamata.LimitError):
        return Counter(refused=1)
    validator = DRAFTS[DRAFT][1](schema)
    counts: Counter[str] = Counter()
    for value in [with_letters(rng, random_instance(rng, schema)) for _ in range(15)]:
        expected = validator.is_valid(value) and not any(p in s for p in phrases for s in strings_of(value))
        note = (seed, schema, phrases, value, expected)
        text = spelled(rng, value)
        assert (quoted is not None and quoted.accepts(text)) == expected, (text, *note)
        if not isinstance(value, str):
            if not strings_only:
                assert (bare is not None and bare.accepts(text)) == expected, (text, *note)
        elif strings_only or not READ_AS_JSON.fullmatch(value):
            assert (bare is not None and bare.accepts(value)) == expected, note
            assert strings_only or bare is None or not bare.accepts(text), (text, *note)
        else:
            assert (bare is not None and bare.accepts(text)) == expected, (text, *note)
            assert _is_json(value) or bare is None or not bare.accepts(value), note
            counts["in quotes"] += expected
        counts[f"{type(value).__name__} {expected}"] += 1
    return counts


def compare_many(count: int) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    counts: Counter[str] = sum((compare(seed + i) for i in range(count)), Counter())
    assert counts["refused"] < count / 20
    assert (
        min(counts[kind] for kind in ("str True", "str False", "dict True", "list True", "in quotes")) > count / 20
    ), counts


def test_random_schemas() -> None:
    compare_many(150)


@pytest.mark.slow
def test_many_random_schemas() -> None:
    compare_many(20_000)
