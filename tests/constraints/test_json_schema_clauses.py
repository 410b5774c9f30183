"""Alternatives of an object that would multiply stay clauses, each about single keys."""

from __future__ import annotations

import itertools
import json
import random
import re
import time
from typing import Any

import jsonschema
import pytest

import tokamata

MANY = 20
PAIRS = [(f"a{i}", f"b{i}") for i in range(MANY)]
DEFINED = {key: {} for pair in PAIRS for key in pair}
BOTH: dict[str, dict[str, Any]] = {
    "dependentRequired": {"dependentRequired": {a: [b] for a, b in PAIRS}},
    "required if required": {"allOf": [{"if": {"required": [a]}, "then": {"required": [b]}} for a, b in PAIRS]},
    "string if 1": {
        "allOf": [
            {
                "if": {"properties": {a: {"const": 1}}, "required": [a]},
                "then": {"properties": {b: {"type": "string"}}},
                "else": {"properties": {b: {"type": "integer"}}},
            }
            for a, b in PAIRS
        ]
    },
    "one of two": {"allOf": [{"oneOf": [{"required": [a]}, {"required": [b]}]} for a, b in PAIRS]},
    "some of two": {"allOf": [{"anyOf": [{"required": [a]}, {"required": [b]}]} for a, b in PAIRS]},
    "some of many": {"anyOf": [{"required": [a]} for a, _ in PAIRS]},
    "some but one of many": {"anyOf": [{"required": [a]} for a, _ in PAIRS[1:]], "not": {"required": ["a0"]}},
    "not both": {"not": {"anyOf": [{"required": [a, b]} for a, b in PAIRS]}},
    "dependentSchemas": {"dependentSchemas": {a: {"properties": {b: {"type": "string"}}} for a, b in PAIRS}},
    "one of many": {
        "oneOf": [
            {"properties": {"k": {"const": i}, a: {"const": 1}}, "required": [a]} for i, (a, _) in enumerate(PAIRS)
        ]
    },
}


@pytest.mark.parametrize("key_order", ["schema", "any", "sorted"])
@pytest.mark.parametrize("name", BOTH)
def test_dozens_of_alternatives_agree_with_jsonschema(name: str, key_order: Any) -> None:
    """Two to the power of their number would be more cases than any limit."""
    schema = {"type": "object", "properties": {"k": {}, **DEFINED}, **BOTH[name]}
    constraint, check = tokamata.json_schema(schema, key_order=key_order), jsonschema.Draft202012Validator(schema)
    rng, found = random.Random(name), set()
    values: list[dict[str, Any]] = [{}, {"k": 3, "a3": 1}, {"k": 4, "a3": 1}, {a: 1 for a, _ in PAIRS}]
    for _ in range(30):
        share = rng.choice([0.0, 0.1, 0.5, 0.9])
        value = {"k": rng.randrange(3)} if rng.random() < 0.5 else {}
        values.append(value)
        for pair in PAIRS:
            kind = rng.random()
            for key in pair:
                if (kind < share) if key == pair[0] else (rng.random() < 0.03 or kind > 1 - share):
                    value[key] = rng.choice([1, 2, "x"]) if rng.random() < 0.05 else "x" if key in pair[1] else 1
    for value in values:
        if key_order == "sorted":
            value = dict(sorted(value.items()))
        valid = check.is_valid(value)
        assert constraint.accepts(json.dumps(value)) == valid, (name, value)
        found.add(valid)
    assert len(found) == 2, "only one kind of value was tried"


KEYS = "abcd"
VALUES: list[Any] = [1, 2, "x"]
OBJECTS: list[dict[str, Any]] = [
    dict(zip(keys, values, strict=True))
    for n in range(len(KEYS) + 1)
    for keys in itertools.combinations(KEYS, n)
    for values in itertools.product(VALUES, repeat=n)
]
TEXTS = [json.dumps(value, separators=(",", ":")) for value in OBJECTS]
PREFIXES = sorted({text[:n] for text in TEXTS for n in range(len(text) + 1)})
MEMBERS: list[Any] = [
    {"const": 1},
    {"const": 2},
    {"enum": [1, "x"]},
    {"type": "integer"},
    {"not": {"const": 1}},
    True,
    False,
]


def random_leaf(rng: random.Random) -> dict[str, Any]:
    """What speaks of one key or two."""
    keys = sorted(rng.sample(KEYS, rng.choice([1, 1, 2])))
    kind = rng.randrange(4)
    if kind == 0:
        return {"required": keys}
    if kind == 1:
        return {"dependentRequired": {rng.choice(KEYS): keys}}
    members = {"properties": {key: rng.choice(MEMBERS) for key in keys}}
    return members if kind == 2 else members | {"required": keys[:1]}


def random_choice(rng: random.Random) -> dict[str, Any]:
    """Alternatives of such."""
    some = [random_leaf(rng) for _ in range(rng.choice([2, 2, 3]))]
    return rng.choice(
        [
            {"anyOf": some},
            {"oneOf": some[:2]},
            {"not": some[0]},
            {"not": {"anyOf": some}},
            {"if": some[0], "then": some[1]},
            {"if": some[0], "then": some[1], "else": some[-1]},
            {"dependentSchemas": {rng.choice(KEYS): some[0]}},
        ]
    )


@pytest.mark.parametrize("key_order", ["schema", "any", "sorted"])
@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (3, 4, 5))])
def test_members_and_prefixes_agree_with_jsonschema(seed: int, key_order: Any) -> None:
    """On every object of a few keys and values, and every beginning of its text."""
    rng, decided = random.Random(seed), 0
    for _ in range(20):
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {key: {"enum": VALUES} for key in KEYS},
            "additionalProperties": False,
            "allOf": [random_choice(rng) for _ in range(rng.randrange(3, 9))],
        }
        for keyword in ("minProperties", "maxProperties"):
            if rng.random() < 0.25:
                schema[keyword] = rng.randrange(1, 4)
        check = jsonschema.Draft202012Validator(schema)
        valid = [check.is_valid(value) for value in OBJECTS]
        options: Any = {"whitespace": "compact", "strings": "canonical", "key_order": key_order}
        try:
            constraint = tokamata.json_schema(schema, limits=tokamata.Limits(schema_cases=12), **options)
        except tokamata.ConstraintError:  # it is empty
            assert not any(valid), (seed, schema)
            continue
        except tokamata.LimitError:
            continue
        decided += 1
        for text, member in zip(TEXTS, valid, strict=True):
            assert constraint.accepts(text) == member, (seed, schema, text)
        if key_order == "any":  # other orders have other beginnings
            continue
        begun = {text[:n] for text, member in zip(TEXTS, valid, strict=True) if member for n in range(len(text) + 1)}
        for prefix in PREFIXES:
            assert constraint.accepts_prefix(prefix) == (prefix in begun), (seed, schema, prefix)
    assert decided >= 3, seed


@pytest.mark.parametrize("key_order", ["schema", "any"])
def test_dozens_of_negated_schemas_of_members(key_order: Any) -> None:
    """One member may violate all of them; which of them it violates tells its values apart."""
    schema = {"type": "object", "allOf": [{"not": {"additionalProperties": {"minimum": i}}} for i in range(25)]}
    constraint = tokamata.json_schema(schema, key_order=key_order)
    assert constraint.accepts('{"a": -1}')
    assert constraint.accepts('{"a": 30, "b": 7, "c": -1}')
    assert not constraint.accepts('{"a": 0}')
    assert not constraint.accepts('{"a": 30, "b": 7, "c": 5}')
    assert constraint.accepts_prefix('{"a": 30')


def test_thousands_of_keys_one_of_which_is_owed() -> None:
    """Whether it can still come is not asked of every key after every key."""
    keys = [f"k{i}" for i in range(8000)]
    schema = {"type": "object", "not": {"properties": {key: {"type": "integer"} for key in keys}}}
    begun = time.process_time()
    constraint = tokamata.json_schema(schema)
    assert not constraint.accepts("{}")
    assert constraint.accepts(json.dumps({keys[5]: 1, keys[4000]: "x"}))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("most", [1, 2])
def test_one_key_settles_what_two_may_settle(most: int) -> None:
    """The fewest members count where there may not be more."""
    some = [{"not": {"propertyNames": {"not": {"pattern": pattern}}}} for pattern in ("a1", "b2")]
    constraint = tokamata.json_schema({"type": "object", "allOf": some, "maxProperties": most})
    assert constraint.accepts('{"a1b2": 1}')
    assert constraint.accepts('{"a1": 1, "b2": 1}') == (most == 2)
    assert not constraint.accepts('{"a1": 1}')


def test_what_is_evaluated_is_told_case_by_case() -> None:
    """Beside unevaluatedProperties branches that hold stay cases, however many, which say what they have evaluated."""
    pairs = PAIRS[:5]
    branches = [{"anyOf": [{"properties": {a: {"const": 1}}, "required": [a]}, {"required": [b]}]} for a, b in pairs]
    schema = {"type": "object", "allOf": branches, "unevaluatedProperties": {"const": 2}}
    constraint, check = tokamata.json_schema(schema, key_order="any"), jsonschema.Draft202012Validator(schema)
    rng, found = random.Random(5), set()
    for _ in range(100):
        value = {a: 1 for a, _ in pairs} if rng.random() < 0.5 else {b: 2 for _, b in pairs}
        for key in rng.sample([key for pair in pairs for key in pair], 2):
            value[key] = rng.choice([1, 2])
        valid = check.is_valid(value)
        assert constraint.accepts(json.dumps(value)) == valid, value
        found.add(valid)
    assert len(found) == 2, "only one kind of value was tried"


def random_condition(rng: random.Random, tags: list[Any], index: int) -> dict[str, Any]:
    """If the tag is this one, or one of some, and perhaps more than that: then another member is so."""
    tag = tags[index]
    told = rng.choice([{"const": tag}, {"enum": [tag, rng.choice(tags)]}, {"enum": tags[index:], "minLength": 2}])
    test = {"properties": {"tag": told}}
    if rng.random() < 0.7:
        test["required"] = ["tag"]
    then: dict[str, Any] = {"properties": {"v": rng.choice([{"const": index % 5}, {"type": "string"}, {"minimum": 3}])}}
    if rng.random() < 0.3:
        then["required"] = ["v"]
    return {"if": test, rng.choice(["then", "then", "else"]): then}


@pytest.mark.parametrize("key_order", ["schema", "any"])
@pytest.mark.parametrize("seed", range(8))
def test_conditions_of_one_tag_agree_with_jsonschema(seed: int, key_order: Any) -> None:
    """What a condition refuses is left out where the tag is another one; not where it may be the same."""
    rng = random.Random(seed)
    tags: list[Any] = [*(f"{letter}{letter}" for letter in "abcdefgh"), "x", 7, 7.5, None][: rng.choice([6, 12])]
    found = set()
    for _ in range(12):
        schema: dict[str, Any] = {"type": "object", "properties": {"tag": rng.choice([{}, {"enum": tags}]), "v": {}}}
        schema["allOf"] = [random_condition(rng, tags, i) for i in range(rng.choice([3, len(tags)]))]
        if rng.random() < 0.5:
            schema["required"] = ["tag"]
        check = jsonschema.Draft202012Validator(schema)
        try:
            constraint = tokamata.json_schema(schema, key_order=key_order)
        except tokamata.ConstraintError:
            constraint = None  # no value is valid
        for value in itertools.product([None, *tags, "aaa"], [None, 0, 1, 2, 3, 4, "s"]):
            both = zip(("tag", "v"), value, strict=True)
            members = {key: v for key, v in both if v is not None or rng.random() < 0.1}
            valid = check.is_valid(members)
            accepted = constraint is not None and constraint.accepts(json.dumps(members))
            assert accepted == valid, (seed, schema, members)
            found.add(valid)
    assert len(found) == 2, "only one kind of value was tried"


def test_hundreds_of_conditions_of_one_tag() -> None:
    """Of which all but one are known to ask for nothing once the tag is known."""
    tags = [f"tag{i}" for i in range(300)]
    then = [
        {
            "if": {"properties": {"tag": {"const": tag}}, "required": ["tag"]},
            "then": {"properties": {"v": {"const": i}}},
        }
        for i, tag in enumerate(tags)
    ]
    schema = {"type": "object", "properties": {"tag": {"enum": tags}, "v": {}}, "allOf": then}
    constraint = tokamata.json_schema(schema)  # within the second of the default limits
    assert constraint.accepts('{"tag": "tag7", "v": 7}')
    assert constraint.accepts('{"v": 8}')
    assert not constraint.accepts('{"tag": "tag7", "v": 8}')
    assert not constraint.accepts('{"tag": "tag300", "v": 8}')


@pytest.mark.parametrize("key_order", ["schema", "sorted"])
def test_one_of_many_models_whose_tags_have_defaults_agrees_with_jsonschema(key_order: Any) -> None:
    """Members of other models would settle two to the power of their number: the last key that can has to settle all.

    The key that a model defines comes first in the order of the schema, whichever model that is.
    """

    def model(i: int) -> dict[str, Any]:
        parameters = {"type": "object", "properties": {f"x{i}": {"type": "integer"}}, "required": [f"x{i}"]}
        properties = {
            "kind": {"const": f"k{i}", "default": f"k{i}"},
            "parameters": parameters,
            "tail": {"type": "string"},
        }
        return {"type": "object", "properties": properties, "required": ["parameters"]}

    schema = {"oneOf": [model(i) for i in range(MANY)]}
    constraint, check = tokamata.json_schema(schema, key_order=key_order), jsonschema.Draft202012Validator(schema)
    rng, found = random.Random(str(key_order)), []
    for _ in range(300):
        value: dict[str, Any] = {"kind": rng.choice(["k0", "k1", "k2", "k"])} if rng.random() < 0.5 else {}
        value["parameters"] = {f"x{i}": rng.choice([1, 1, ""]) for i in range(4) if rng.random() < 0.4}
        if rng.random() < 0.5:
            value["tail"] = rng.choice(["", "", 1])
        found.append(check.is_valid(value))
        orders = itertools.permutations(value["parameters"].items())
        texts = [json.dumps(value | {"parameters": dict(order)}) for order in orders]
        assert any(map(constraint.accepts, texts)) == found[-1], value
        assert any(constraint.accepts_prefix(text[:-1]) for text in texts) or not found[-1], value
    assert 30 < sum(found) < 270


def test_what_the_last_key_must_settle_leads_to_no_dead_end() -> None:
    branches = [{"properties": {"a": {"const": i}, "b": {"maximum": i}, "c": {"type": "string"}}} for i in range(12)]
    schema = {"type": "object", "required": ["b"], "oneOf": branches}
    constraint, check = tokamata.json_schema(schema), jsonschema.Draft202012Validator(schema)
    for a, b, c in itertools.product([None, 3, 12], [None, 3, 11, 11.5, 12], [None, "", 1]):
        value = {key: x for key, x in (("a", a), ("b", b), ("c", c)) if x is not None}
        text = json.dumps(value)
        assert constraint.accepts(text) == check.is_valid(value), value
        for end in range(len(text)):
            if constraint.accepts_prefix(text[:end]):
                assert not (constraint & tokamata.regex(re.escape(text[:end]) + "(?s:.*)")).is_empty(), text[:end]
