"""Random schemas in wide combinations, in every key order and white space: what json_schema accepts is valid, and more.

    python -m oracle.json_schema_wide [--count 500] [--seed 0] [--draft 2020-12]

Beside what json_schema_random draws: references with siblings, dynamic references, unevaluated* with any schema,
decimals with exclusive bounds, formats beside patterns, distinct elements, booleans. A text is written in the key
order and the white space of the constraint, so that it is accepted exactly when its value is valid; with the order of
the schema, only if it is.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import jsonschema
from oracle.json_schema_random import DRAFTS, RandomSchema, random_instance, shrunk

import tokamata

_FORMATS = {"date": ["2020-02-29", "2021-02-29", "2020-1-1"], "ipv4": ["1.2.3.4", "1.2.3.256", "01.2.3.4"]}
_UUIDS = ["123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-42661417400g"]
_DECIMALS = [0.1, 0.25, 0.3, 1.1, -0.75, 2.5, 0.01]


class WideSchema(RandomSchema):
    """Draws schemas with more keywords, and more of them beside one another."""

    def root(self) -> dict[str, Any]:
        """A schema whose references lead to its definitions, some by a dynamic anchor."""
        schema = super().root()
        if '"$dynamicRef"' in json.dumps(schema):
            schema["$dynamicAnchor"] = "node"
        return schema

    def schema(self, depth: int, guarded: bool = False) -> Any:
        """As there; booleans everywhere, and siblings of references."""
        rng = self.rng
        if self.age > 0 and not guarded and rng.random() < 0.05:
            return rng.choice([True, True, False])
        made = super().schema(depth, guarded)
        if isinstance(made, dict) and depth and not guarded and rng.random() < 0.1:
            places = ["#", f"#/{self.definitions}/x", f"#/{self.definitions}/y"]
            made = {**made, "$ref": rng.choice(places)}
        return made

    def _keywords(self, depth: int, guarded: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
        rng = self.rng
        yield from super()._keywords(depth, guarded)
        yield "multipleOf", lambda: rng.choice([0.1, 0.01, 0.25, 0.3, 1.1])
        if self.age >= 1:
            yield "exclusiveMinimum", lambda: rng.choice(_DECIMALS)
            yield "exclusiveMaximum", lambda: rng.choice(_DECIMALS)
            names = [{"pattern": "^[abc]"}, {"maxLength": 1}, {"enum": ["a", "b", "aa"]}]
            yield "propertyNames", lambda: rng.choice(names)
        yield "format", lambda: rng.choice([*_FORMATS, "uuid"])
        yield "uniqueItems", lambda: True
        yield "patternProperties", lambda: {p: self.schema(depth) for p in rng.sample(["^a", "b", "a$", "^.$"], 2)}
        if self.age >= 4:
            yield "unevaluatedProperties", lambda: self.schema(depth)
            yield "unevaluatedItems", lambda: self.schema(depth)
            if not guarded:
                yield "$dynamicRef", lambda: "#node"


def instance(rng: random.Random, schema: Any) -> Any:
    """A value near a schema, now and then with repeated elements, decimals or formatted texts."""
    value = random_instance(rng, schema)

    def changed(at: Any) -> Any:
        if isinstance(at, list):
            elements = [changed(e) for e in at]
            return elements + rng.sample(elements, 1) if elements and rng.random() < 0.2 else elements
        if isinstance(at, dict):
            return {k: changed(v) for k, v in at.items()}
        if isinstance(at, str) and rng.random() < 0.1:
            return rng.choice([t for texts in (*_FORMATS.values(), _UUIDS) for t in texts])
        if isinstance(at, (int, float)) and not isinstance(at, bool) and rng.random() < 0.2:
            return rng.choice([*_DECIMALS, at * 3, 0.2, 0.5, 1.0])
        return at

    return changed(value)


SPACES = ["compact", "pretty", "flexible", "any"]


def written(value: Any, options: dict[str, Any], rng: random.Random) -> str:
    """A text of a value in the white space and the key order of some options."""
    ordered = options["key_order"] == "sorted"
    if options["whitespace"] == "compact":
        return json.dumps(value, separators=(",", ":"), sort_keys=ordered, ensure_ascii=rng.random() < 0.5)
    if options["whitespace"] == "pretty":
        return json.dumps(value, indent=2, sort_keys=ordered)
    if options["whitespace"] == "flexible":
        return json.dumps(value, indent=rng.choice([None, 2, "\t", 0]), sort_keys=ordered)
    text = json.dumps(value, indent=rng.choice([None, 1]), separators=rng.choice([(" , ", "\t: "), (",\n", ":")]))
    return " " + (json.dumps(json.loads(text), sort_keys=True) if ordered else text) + "\n"


def made(seed: str, draft: str, instances: int = 10) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    """The schema, instances and options of a seed."""
    rng = random.Random(f"wide {draft} {seed}")
    schema = WideSchema(rng, draft).root()
    options = {
        "key_order": rng.choice(["any", "sorted", "sorted", "schema"]),
        "whitespace": rng.choice(SPACES),
        "numbers": rng.choice(["any", "canonical"]) if draft != "4" else "canonical",
        "formats": rng.random() < 0.5,
    }
    return schema, [instance(rng, schema) for _ in range(instances)], options


def exact_multiple(validator: Any, quantum: Any, value: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    """What multipleOf asks of decimals; jsonschema divides floats."""
    if validator.is_type(value, "number") and (Fraction(str(value)) / Fraction(str(quantum))).denominator != 1:
        yield jsonschema.ValidationError(f"{value!r} is not a multiple of {quantum}")


EXACT = {name: jsonschema.validators.extend(cls, {"multipleOf": exact_multiple}) for name, (_, cls) in DRAFTS.items()}


def opinions_of(schema: Any, values: list[Any], draft: str, formats: bool) -> list[set[bool]]:
    """What jsonschema and, without formats, jsonschema-rs say of each value."""
    checker = jsonschema.FormatChecker(formats=("date", "ipv4", "uuid")) if formats else None
    others = [EXACT[draft](schema, format_checker=checker)]
    if not formats:
        try:
            rust = importlib.import_module("jsonschema_rs")
            others.append(getattr(rust, DRAFTS[draft][1].__name__)(schema))
        except ImportError:
            pass
    return [{other.is_valid(value) for other in others} for value in values]


def whole(value: Any) -> Any:
    """The value with integers for numbers that are whole: what canonical numbers write."""
    if isinstance(value, list):
        return [whole(v) for v in value]
    if isinstance(value, dict):
        return {k: whole(v) for k, v in value.items()}
    return int(value) if isinstance(value, float) and value == int(value) else value


def misread(text: str) -> bool:
    """Whether others judge another value than this text's, or by other rules.

    Floats round long numbers and those with exponents; a dot of ECMA-262 matches no line end, those of Python and Rust
    all but a newline.
    """
    if re.search(r"\d[eE]", text):
        return True
    decimals = re.findall(r"\d+\.\d+", text)
    if any(len(decimal) > 300 or Fraction(decimal) != Fraction(repr(float(decimal))) for decimal in decimals):
        return True
    return re.search("\\\\r|[\u2028\u2029]", json.dumps(json.loads(text), ensure_ascii=False)) is not None


def wrong_answers(
    schema: Any, values: list[Any], options: dict[str, Any], draft: str, seed: str
) -> tuple[str, list[Any]]:
    """A refusal ("" for none) and the values that are judged otherwise than by all others."""
    rng = random.Random(seed)
    if options["numbers"] == "canonical":
        values = [whole(value) for value in values]
    opinions = opinions_of(schema, values, draft, options["formats"])
    try:
        constraint = tokamata.json_schema(schema, **options)
    except (ValueError, RuntimeError) as error:
        if "no JSON value" not in str(error):
            return f"{type(error).__name__}: {error}", []
        return "", [v for v, o in zip(values, opinions, strict=True) if o == {True}]
    wrong = []
    try:
        for value, opinion in zip(values, opinions, strict=True):
            accepted = constraint.accepts(written(value, options, rng))
            if accepted not in opinion and (accepted or options["key_order"] != "schema"):
                wrong.append(value)
        texts = [text.decode() for text in constraint.examples(3, seed=1)]
    except tokamata.LimitError as error:
        return f"{type(error).__name__}: {error}", wrong
    examples = [json.loads(text) for text in texts if not misread(text)]
    opinions = opinions_of(schema, examples, draft, options["formats"])
    wrong += [e for e, o in zip(examples, opinions, strict=True) if o == {False}]
    return "", wrong


def _differs(value: Any, options: dict[str, Any], draft: str, seed: str, schema: Any) -> bool:
    return value in wrong_answers(schema, [value], options, draft, seed)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draft", action="append", choices=DRAFTS)
    arguments = parser.parse_args()
    for draft in arguments.draft or list(DRAFTS):
        total: Counter[str] = Counter()
        refusals: Counter[str] = Counter()
        for number in range(arguments.seed, arguments.seed + arguments.count):
            seed = str(number)
            schema, values, options = made(seed, draft)
            total["schemas"] += 1
            try:
                refusal, wrong = wrong_answers(schema, values, options, draft, seed)
            except RecursionError:
                total["recursion"] += 1
                continue
            except Exception as error:
                print(f"{type(error).__name__} {error}: draft {draft}, seed {seed}: {json.dumps(schema)}")
                continue
            total["refused"] += bool(refusal)
            refusals[refusal[:90]] += bool(refusal)
            total["instances"] += len(values)
            if wrong:
                total["wrong"] += 1
                value = min(wrong, key=lambda v: len(json.dumps(v)))

                small = shrunk(schema, partial(_differs, value, options, draft, seed))
                shown = f"{json.dumps(small)}: {json.dumps(value)}"
                print(f"wrong: draft {draft}, seed {seed}, {options}: {shown}", flush=True)
        print(f"draft {draft}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(total.items())), flush=True)
        for refusal, count in refusals.most_common(8):
            if refusal:
                print(f"    refused {count}: {refusal}")


if __name__ == "__main__":
    main()
