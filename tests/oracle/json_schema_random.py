"""Random schemas and random instances: does json_schema agree with other validators?

    python tests/oracle/json_schema_random.py [--count 2000] [--seed 0] [--draft 2020-12] [--only KEYWORD]

Instances come from the schema (its constants, its bounds and values near them), so that about half are valid. Every
disagreement is shrunk to a smaller schema before it is shown.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
from oracle.isolated import Failure, Isolated, serve
from oracle.schema_verdicts import kind_of

import tokamata

DRAFTS = {
    "4": ("http://json-schema.org/draft-04/schema#", jsonschema.Draft4Validator),
    "6": ("http://json-schema.org/draft-06/schema#", jsonschema.Draft6Validator),
    "7": ("http://json-schema.org/draft-07/schema#", jsonschema.Draft7Validator),
    "2019-09": ("https://json-schema.org/draft/2019-09/schema", jsonschema.Draft201909Validator),
    "2020-12": ("https://json-schema.org/draft/2020-12/schema", jsonschema.Draft202012Validator),
}
_NAMES = ["a", "b", "c", "aa", "é"]
_PATTERNS = ["^a", "b", "a$", "^[ab]+$", "^.{2}$", "c|é"]
_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
_SCALARS = [None, True, False, 0, 1, 2, -1, 3, 1.5, 0.5, 10, "", "a", "b", "ab", "aa", "c", "é", 'a"\t']


class RandomSchema:
    """Draws schemas of one draft that use each keyword now and then."""

    def __init__(self, rng: random.Random, draft: str) -> None:
        self.rng = rng
        self.draft = draft
        self.age = list(DRAFTS).index(draft)
        self.definitions = "definitions" if self.age < 3 else "$defs"

    def root(self) -> dict[str, Any]:
        """A schema with definitions that its references, recursive ones too, lead to."""
        schema = self.schema(3, guarded=True)
        if not isinstance(schema, dict):
            schema = {"not": {}} if schema is False else {}
        schema = {"$schema": DRAFTS[self.draft][0], **schema}
        if '"$ref"' in json.dumps(schema):
            schema[self.definitions] = {name: self.schema(2, guarded=True) for name in ("x", "y")}
        return schema

    def schema(self, depth: int, guarded: bool = False) -> Any:
        """A schema; a guarded one does not lead to itself without going into a value."""
        rng = self.rng
        if depth == 0:
            kind = rng.randrange(4)
            if kind == 0 and self.age > 0:
                return rng.choice([True, True, False])
            return {"type": rng.choice(_TYPES)} if kind < 3 else {"enum": rng.sample(_SCALARS, 3)}
        if rng.random() < 0.1 and not guarded:
            return {"$ref": rng.choice(["#", f"#/{self.definitions}/x", f"#/{self.definitions}/y"])}
        made: dict[str, Any] = {}
        if rng.random() < 0.4:
            made["type"] = rng.choice([*_TYPES, "object", "array"]) if rng.random() < 0.7 else rng.sample(_TYPES, 2)
        makers = list(self._keywords(depth - 1, guarded))
        for name, make in rng.sample(makers, min(len(makers), rng.choice([1, 1, 2, 3]))):
            made[name] = make()
        items = list(made.items())
        rng.shuffle(items)
        return dict(items)

    def _keywords(self, depth: int, guarded: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
        rng, age = self.rng, self.age

        def inner() -> Any:
            return self.schema(depth)

        def here() -> Any:  # applies to the same value: a guarded schema must not lead to itself by it
            return self.schema(depth, guarded) if depth else self.schema(0)

        def count() -> int:
            return rng.randrange(4)

        def names() -> list[str]:
            return rng.sample(_NAMES, rng.randrange(1, 3))

        yield "enum", lambda: rng.sample([*_SCALARS, [], [1], {}, {"a": 1}], 4)
        for name in ("allOf", "anyOf", "oneOf"):
            yield name, lambda: [here() for _ in range(rng.choice([1, 2, 2, 3]))]
        yield "not", here
        for _ in range(2):
            yield "properties", lambda: {name: inner() for name in names()}
        yield "patternProperties", lambda: {rng.choice(_PATTERNS): inner()}
        yield "additionalProperties", inner if depth else lambda: rng.choice([False, {"type": "integer"}])
        yield "required", names
        yield "minProperties", count
        yield "maxProperties", count
        yield "minItems", count
        yield "maxItems", count
        yield "minLength", count
        yield "maxLength", count
        yield "pattern", lambda: rng.choice(_PATTERNS)
        yield "minimum", lambda: rng.choice([-1, 0, 1, 1.5, 2])
        yield "maximum", lambda: rng.choice([0, 1, 1.5, 2, 10])
        yield "multipleOf", lambda: rng.choice([1, 2, 3, 0.5, 1.5])
        if age < 4 and rng.random() < 0.3:
            yield "items", lambda: [inner() for _ in range(rng.randrange(1, 3))]
            yield "additionalItems", inner
        else:
            yield "items", inner
        if age < 3:
            yield "dependencies", lambda: {rng.choice(_NAMES): here() if rng.random() < 0.5 else names()}
        if age >= 1:
            yield "const", lambda: rng.choice([*_SCALARS, [1, 2], {"a": 1}])
            yield "contains", inner
            yield "propertyNames", inner
            yield "exclusiveMinimum", lambda: rng.choice([-1, 0, 1, 1.5])
            yield "exclusiveMaximum", lambda: rng.choice([1, 2, 2.5])
        if age >= 2:
            yield "if", here
            yield "then", here
            yield "else", here
        if age >= 3:
            yield "dependentRequired", lambda: {rng.choice(_NAMES): names()}
            yield "dependentSchemas", lambda: {rng.choice(_NAMES): here()}
            yield "minContains", count
            yield "maxContains", count
        if age >= 4:  # in 2019-09 jsonschema takes contains for an evaluation, and additionalProperties for none
            yield "unevaluatedProperties", lambda: rng.choice([False, {"type": "integer"}])
            yield "unevaluatedItems", lambda: rng.choice([False, {"type": "string"}])
            yield "prefixItems", lambda: [inner() for _ in range(rng.randrange(1, 3))]
        yield "uniqueItems", lambda: True


def random_instance(rng: random.Random, schema: Any, depth: int = 3) -> Any:
    """A value that looks like what the schema is about, as often wrong as right."""
    if isinstance(schema, dict) and schema and rng.random() < 0.85:
        keyword = rng.choice(list(schema))
        value = schema[keyword]
        if keyword == "const":
            return value
        if keyword == "enum":
            return rng.choice(value)
        if keyword in ("allOf", "anyOf", "oneOf"):
            parts = [random_instance(rng, part, depth) for part in value]
            if len(parts) > 1 and all(isinstance(part, dict) for part in parts):
                return {key: part[key] for part in parts for key in part}
            return rng.choice(parts)
        if keyword in ("not", "if", "then", "else"):
            return random_instance(rng, value, depth)
        if keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
            return rng.choice([value, value + 1, value - 1, value * 2, value + 0.5]) if value is not True else 1
        if keyword in ("pattern", "minLength", "maxLength"):
            return "".join(rng.choices("abcé", k=rng.randrange(5)))
        objects = (
            "properties patternProperties additionalProperties required dependencies dependentRequired dependentSchemas"
            " propertyNames minProperties maxProperties unevaluatedProperties"
        )
        if depth and keyword in objects.split():
            known = schema.get("properties", {})
            keys = rng.sample([*_NAMES, "ab"], rng.randrange(5))
            return {
                key: random_instance(rng, known.get(key, schema.get("additionalProperties", {})), depth - 1)
                for key in keys
            }
        arrays = "items prefixItems additionalItems contains minItems maxItems uniqueItems minContains maxContains"
        if depth and keyword in (*arrays.split(), "unevaluatedItems"):
            values: list[Any] = []
            prefix = schema.get("prefixItems", schema["items"] if isinstance(schema.get("items"), list) else [])
            rest = schema.get("items", {}) if not isinstance(schema.get("items"), list) else {}
            for position in range(rng.randrange(5)):
                part = prefix[position] if position < len(prefix) else rng.choice([rest, schema.get("contains", {})])
                values.append(random_instance(rng, part, depth - 1))
            return values
        if keyword == "type":
            kind = value if isinstance(value, str) else rng.choice(value)
            scalars = {"null": [None], "boolean": [True, False], "integer": [0, 1, 2, 10, -1], "number": [1.5, 0.5, 2]}
            if kind in scalars:
                return rng.choice(scalars[kind])
            if kind == "string":
                return "".join(rng.choices("abcé", k=rng.randrange(4)))
            return {} if kind == "object" else []
    kind = rng.randrange(8)
    if depth and kind == 0:
        return [random_instance(rng, {}, depth - 1) for _ in range(rng.randrange(4))]
    if depth and kind == 1:
        return {key: random_instance(rng, {}, depth - 1) for key in rng.sample(_NAMES, rng.randrange(4))}
    return rng.choice(_SCALARS)


def disagreements(schema: dict[str, Any], instances: list[Any], draft: str) -> tuple[str, list[Any], Counter[str]]:
    """A refusal ("" for none), the instances judged otherwise than by all other validators, and how many were asked."""
    others = [DRAFTS[draft][1](schema)]
    with contextlib.suppress(ImportError):
        rust = importlib.import_module("jsonschema_rs")
        others.append(getattr(rust, DRAFTS[draft][1].__name__)(schema))
    opinions = [{validator.is_valid(instance) for validator in others} for instance in instances]
    counts: Counter[str] = Counter({frozenset({True}): "valid", frozenset({False}): "invalid"}.get(
        frozenset(opinion), "disputed") for opinion in opinions)  # fmt: skip
    try:
        constraint = tokamata.json_schema(schema, key_order="any", numbers="any", formats=False)
        answers = [constraint.accepts(json.dumps(instance)) for instance in instances]
    except (ValueError, RuntimeError) as error:
        if "no JSON value" not in str(error):
            return f"{type(error).__name__}: {error}", [], counts
        answers = [False] * len(instances)
    return "", [i for i, o, a in zip(instances, opinions, answers, strict=True) if a not in o], counts


def case(seed: str, draft: str, instances: int = 12) -> tuple[dict[str, Any], list[Any]]:
    """The schema and instances of a seed."""
    rng = random.Random(f"{draft} {seed}")
    schema = RandomSchema(rng, draft).root()
    made = [random_instance(rng, schema) for _ in range(instances)]
    if draft == "4":  # whether 1.0 is an integer there is a matter of taste
        made = [json.loads(re.sub(r"(\d)\.0\b", r"\1", json.dumps(value))) for value in made]
    return schema, made


def shrunk(schema: Any, differs: Callable[[Any], bool]) -> Any:
    """A smaller schema for which ``differs`` still holds: keywords and elements are left out one by one."""

    def smaller(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            for key in value:
                yield {k: v for k, v in value.items() if k != key}
            for key, inner in value.items():
                for change in smaller(inner):
                    yield {**value, key: change}
        elif isinstance(value, list) and len(value) > 1:
            for position in range(len(value)):
                yield value[:position] + value[position + 1 :]
        if isinstance(value, list):
            for position, inner in enumerate(value):
                for change in smaller(inner):
                    yield [*value[:position], change, *value[position + 1 :]]

    for _ in range(200):
        for candidate in smaller(schema):
            try:
                if differs(candidate):
                    schema = candidate
                    break
            except Exception:
                continue
        else:
            break
    return schema


def _answer(question: Any) -> Any:
    draft, seed = question
    schema, instances = case(seed, draft)
    refusal, wrong, counts = disagreements(schema, instances, draft)
    if not wrong:
        return [refusal, [], counts, schema]
    instance = min(wrong, key=lambda value: len(json.dumps(value)))
    small = shrunk(schema, lambda candidate: bool(disagreements(candidate, [instance], draft)[1]))
    return [refusal, [instance], counts, small]


def run(draft: str, seeds: range) -> tuple[Counter[str], list[str]]:
    """Judge the cases of some seeds in this process: counts, and a description of each wrong answer."""
    total: Counter[str] = Counter()
    wrongs = []
    for seed in seeds:
        refusal, wrong, counts, small = _answer([draft, str(seed)])
        total.update(counts)
        total["refused"] += bool(refusal)
        if wrong:
            wrongs.append(f"draft {draft}, seed {seed}: {json.dumps(small)}: instance {json.dumps(wrong[0])}")
    return total, wrongs


def main() -> None:
    if "--worker" in sys.argv:
        serve(_answer)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first of so many seeds in a row")
    parser.add_argument("--draft", action="append", choices=DRAFTS)
    parser.add_argument("--only", default="", help="schemas that mention this keyword")
    parser.add_argument("--list", type=int, default=20)
    arguments = parser.parse_args()
    child = Isolated(__file__, seconds=10, megabytes=1000)
    for draft in arguments.draft or ["2020-12", "7"]:
        total: Counter[str] = Counter()
        refusals: Counter[str] = Counter()
        shown = 0
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            if arguments.only and f'"{arguments.only}"' not in json.dumps(case(str(seed), draft)[0]):
                continue
            total["schemas"] += 1
            try:
                refusal, wrong, counts, small = child.ask([draft, str(seed)])
            except Failure as failure:
                total[str(failure)] += 1
                print(f"{failure}: draft {draft}, seed {seed}: {json.dumps(case(str(seed), draft)[0])[:600]}")
                continue
            total.update(counts)
            if refusal:
                total["refused"] += 1
                refusals[kind_of(refusal)] += 1
            if wrong:
                total["wrong"] += 1
                shown += 1
                if shown <= arguments.list:
                    valid = DRAFTS[draft][1](small).is_valid(wrong[0])
                    print(f"wrong {'reject' if valid else 'accept'}: draft {draft}, seed {seed}: {json.dumps(small)}")
                    print(f"    instance {json.dumps(wrong[0])}")
        print(f"draft {draft}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(total.items())))
        for refusal, count in refusals.most_common(10):
            print(f"    refused {count}: {refusal}")
    child.close()


if __name__ == "__main__":
    main()
