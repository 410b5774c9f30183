"""Objects of many members whose names begin alike: the order of the schema, required ones, masks beside prefixes."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from typing import Any

import jsonschema
import pytest

import tokamata

VALUES: list[Any] = [{"type": "null"}, {"const": 7}, True, {"enum": ["x", "y"]}]
WRITTEN = ["null", "7", "[]", '"y"']


def named(rng: random.Random, count: int, letters: str = "01é日_") -> list[str]:
    names = {"", "k", "key", "a\tb", *letters, 3 * letters[2]}
    while len(names) < count:
        names.add("key_" + "".join(rng.choices(letters, k=rng.randrange(1, 6))))
    return rng.sample(sorted(names), len(names))


def schema_of(rng: random.Random, names: list[str], closed: bool, required: list[str]) -> dict[str, Any]:
    properties: dict[str, Any] = {name: VALUES[i % 4] for i, name in enumerate(names)}
    for name in names[5::17]:
        properties[name] = False
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if closed:
        schema["additionalProperties"] = False
    return schema


def written(members: list[int], names: list[str]) -> str:
    return "{" + ",".join(f"{json.dumps(names[i], ensure_ascii=i % 2 == 0)}:{WRITTEN[i % 4]}" for i in members) + "}"


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("owed", [0, 2, 60])
@pytest.mark.parametrize("seed", range(3))
def test_members_in_the_order_of_the_schema(seed: int, owed: int, closed: bool) -> None:
    rng = random.Random(f"{seed}, {owed}, {closed}")
    names = named(rng, 300)
    allowed = [i for i in range(len(names)) if i % 17 != 5]
    required = sorted(rng.sample(allowed, owed))
    schema = schema_of(rng, names, closed, [names[i] for i in required])
    constraint = tokamata.json_schema(schema, whitespace="compact")
    for count in (0, 1, 5, 40, len(allowed) - owed):
        members = sorted({*rng.sample([i for i in allowed if i not in required], count - (count > 240)), *required})
        assert constraint.accepts(written(members, names)), (seed, members)
        swapped = members[:]
        if len(members) > 1:
            at = rng.randrange(len(members) - 1)
            swapped[at : at + 2] = swapped[at + 1], swapped[at]
            assert not constraint.accepts(written(swapped, names)), (seed, swapped)
        for i in rng.sample(required, min(owed, 3)):
            assert not constraint.accepts(written([m for m in members if m != i], names)), (seed, i, members)
        refused = rng.choice(range(5, len(names), 17))
        assert not constraint.accepts(written(sorted([*members, refused]), names)), (seed, refused)
        text = written(members, names)
        other = text[:-1] + ("," if members else "") + '"key_x":0}'
        assert constraint.accepts(other) == (not closed), (seed, other)


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_members_in_any_order(seed: int, counted: bool, closed: bool) -> None:
    rng = random.Random(f"any, {seed}, {counted}, {closed}")
    names = named(rng, 120)
    allowed = [i for i in range(len(names)) if i % 17 != 5]
    required = rng.sample(allowed, 7)
    schema = schema_of(rng, names, closed, [names[i] for i in required])
    if counted:
        schema |= {"minProperties": 9, "maxProperties": 20}
    constraint = tokamata.json_schema(schema, whitespace="compact", key_order="any")
    for count in (6, 7, 8, 9, 15, 20, 21, 40, len(allowed)):
        more = rng.sample([i for i in allowed if i not in required], max(count - 7, 0))
        members = [*required[: min(count, 7)], *more]
        rng.shuffle(members)
        expected = count >= 7 and (not counted or 9 <= count <= 20)
        text = written(members, names)
        assert constraint.accepts(text) == expected, (seed, members)
        if not expected:
            continue
        again = text[:-1] + "," + written([rng.choice(members)], names)[1:]
        assert not constraint.accepts(again), (seed, again)
        other = text[:-1] + ',"key_x":0}'
        assert constraint.accepts(other) == (not closed and not (counted and count == 20)), (seed, other)
        assert not constraint.accepts(written([*members, 5], names)), (seed, members)
        # The last but one may be any that leaves room for those that are required.
        begun = written(members[:-1], names)[:-1] + ',"'
        last = [i for i in required if i not in members[:-1]]
        full = counted and count == 20
        left = [i for i in allowed if i not in members[:-1]]
        for i in rng.sample(left, min(len(left), 5)):
            name = json.dumps(names[i])[1:]
            assert constraint.accepts_prefix(begun + name) == (i in last or not (last and full)), (seed, begun, name)


@pytest.mark.parametrize("letters", ["01é日_", "01x_"])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("owed", [0, pytest.param(2, marks=pytest.mark.slow), 60])
def test_masks_at_names(owed: int, closed: bool, letters: str) -> None:
    rng = random.Random(f"masks, {owed}, {closed}")
    names = named(rng, 120, letters)
    allowed = [i for i in range(len(names)) if i % 17 != 5]
    raw = [i for i in allowed if "\t" not in names[i]]  # which stand in a string as they are
    required = sorted(rng.sample(raw, owed))
    texts = [
        '{"',
        '{"k',
        "ey",
        "key",
        "key_0",
        "key_01",
        "key_x0",
        "_0",
        "_1é",
        "_10",
        "01",
        '":',
        '":7,"',
        'null,"key',
        "日本",
    ]
    texts += ["key_10", "ey_1", "ey_1x", "key_1xz", "\\u00", "e9", 'x0":', '{"key_1', "a\\tb", "x01"]
    texts += ["key_" + "".join(rng.choices(letters, k=3)) for _ in range(20)]
    tokens = [bytes([b]) for b in range(256)] + [t.encode() for t in dict.fromkeys(texts)]
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    schema = schema_of(rng, names, closed, [names[i] for i in required])
    constraint = tokamata.json_schema(schema, whitespace="compact")
    state = tokamata.compile(constraint, vocabulary).start()
    members = sorted({*rng.sample([i for i in raw if i not in required], 8), *required})
    done = b"{"
    state.advance(done[0])
    for k, member in enumerate(members):
        first = 0 if k == 0 else members[k - 1] + 1
        last = next((i for i in required if i >= first), len(names) - 1)
        coming = [(names[i] + '"').partition("\t")[0].encode() for i in allowed if first <= i <= last]
        others = not closed and not any(i >= first for i in required)
        name, value = names[member].encode(), WRITTEN[member % 4].encode()
        rest = b'"' + name + b'":' + value + (b"," if member != members[-1] else b"}")
        for at in range(len(rest)):
            mask = state.mask()
            bits = [bool(mask[i >> 5] >> (i & 31) & 1) for i in range(len(tokens))]
            expected = [constraint.accepts_prefix(done + token) for token in tokens]
            wrong = [t for t, bit, e in zip(tokens, bits, expected, strict=True) if bit != e]
            assert not wrong, (done, wrong)
            if 0 < at < len(name) + 2 and not others:  # behind the opening quote, up to the one that closes it
                begun = rest[1:at]
                for byte in range(256):
                    goes_on = any(text.startswith(begun + bytes([byte])) for text in coming)
                    assert bits[byte] == goes_on or byte == ord("\\"), (done, byte)
            state.advance(rest[at])
            done += rest[at : at + 1]
    assert state.mask()[len(tokens) >> 5] >> (len(tokens) & 31) & 1


def listed_names(rng: random.Random) -> dict[str, Any]:
    """A schema of objects whose keys are few: listed by propertyNames, or by patterns beside which none may come."""
    enum = rng.sample(["red", "re", "green", "grün", "blue", "", "a\\b", "k1", 7, None], rng.randrange(2, 8))
    names: dict[str, Any] = rng.choice(
        [{"enum": enum}, {"const": "red"}, {"pattern": "^(red|re|grün|k[1-4])$"}, {"enum": enum, "minLength": 3}]
    )
    values = [{"type": "integer"}, {"type": "string"}, {"minimum": 2}, True, False]
    schema: dict[str, Any] = {"type": "object"}
    if rng.random() < 0.3:
        schema |= {"patternProperties": {f"^{p}$": rng.choice(values) for p in rng.sample(["k[1-5]", "re?d?", ""], 2)}}
        schema["additionalProperties"] = False
    else:
        schema |= {"propertyNames": names, "additionalProperties": rng.choice(values)}
        if rng.random() < 0.3:
            schema["patternProperties"] = {"^re": rng.choice(values)}
    if rng.random() < 0.4:
        schema["properties"] = {key: rng.choice(values) for key in rng.sample(["red", "blue", "k1", "other"], 2)}
    if rng.random() < 0.3:
        schema["required"] = [rng.choice(["red", "k1"])]
    if rng.random() < 0.3:
        schema["minProperties"] = rng.randrange(3)
        schema["maxProperties"] = rng.randrange(4)
    if rng.random() < 0.2:
        schema["not"] = {"required": ["re"]}
    return schema


@pytest.mark.parametrize("key_order", ["schema", "any", "sorted"])
@pytest.mark.parametrize("seed", range(6))
def test_names_that_are_listed(seed: int, key_order: Any) -> None:
    """They may come in any order where none of them is one of the schema's own."""
    rng = random.Random(f"listed, {seed}")
    keys = ["red", "re", "green", "grün", "blue", "", "a\\b", "k1", "k2", "k5", "other"]
    tried = set()
    for _ in range(40):
        schema = listed_names(rng)
        check = jsonschema.Draft202012Validator(schema)
        try:
            constraint = tokamata.json_schema(schema, key_order=key_order)
        except tokamata.ConstraintError:
            constraint = None  # no value is valid
        own = [*dict.fromkeys([*schema.get("properties", ()), *schema.get("required", ())])]
        for _ in range(40):
            value = {key: rng.choice([1, 2, "x"]) for key in rng.sample(keys, rng.choice([0, 1, 1, 2, 3]))}
            if key_order == "schema":
                value = {key: value[key] for key in sorted(value, key=lambda k: own.index(k) if k in own else len(own))}
            elif key_order == "sorted":
                value = dict(sorted(value.items()))
            valid = check.is_valid(value)
            for ensure_ascii in (False, True):
                text = json.dumps(value, ensure_ascii=ensure_ascii)
                accepted = constraint is not None and constraint.accepts(text)
                assert accepted == valid, (seed, schema, text)
            tried.add((valid, len(value)))
            if valid and value and constraint is not None:
                twice = text[:-1] + ", " + text[1:]
                assert not constraint.accepts(twice), (seed, schema, twice)
    assert {(True, 2), (False, 2), (True, 0)} <= tried, "some kind of value was not tried"


@pytest.mark.parametrize("names", [["red", "blue"], ["red", "blue", "green"]])
def test_names_that_are_listed_beside_the_schemas_own(names: list[str]) -> None:
    """Those of the schema come first, in its order, and the others after them."""
    schema = {"type": "object", "properties": {"red": {}, "blue": {}}, "propertyNames": {"enum": names}}
    ordered, free = tokamata.json_schema(schema), tokamata.json_schema(schema, key_order="any")
    for keys in itertools.permutations(["red", "blue", "green"]):
        text = json.dumps(dict.fromkeys(keys[: len(names)], 1))
        allowed = set(keys[: len(names)]) <= set(names)
        in_order = [key for key in ("red", "blue", "green") if key in keys[: len(names)]] == [*keys[: len(names)]]
        assert free.accepts(text) == allowed, text
        assert ordered.accepts(text) == (allowed and in_order), text


LISTED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "names": ({"type": "object", "propertyNames": {"enum": [f"m{i}" for i in range(20)]}}, '{"', '":0,"', '":0}'),
    "patterns": (
        {"type": "object", "patternProperties": {"^m1?[0-9]$": True}, "additionalProperties": False},
        '{"',
        '":0,"',
        '":0}',
    ),
    "elements": (
        {"type": "array", "items": {"enum": [f"m{i}" for i in range(20)]}, "uniqueItems": True},
        '["',
        '","',
        '"]',
    ),
}


@pytest.mark.parametrize("name", LISTED)
def test_masks_at_names_that_are_listed(name: str) -> None:
    """Those that did not occur yet, whatever begins like them."""
    schema, opens, between, closes = LISTED[name]
    schema = {**schema, "maxProperties": 19, "maxItems": 19}
    texts = [*(f"m{i}" for i in range(21)), opens, between, closes, "m1" + between[:2], "m10" + between[:1]]
    tokens = [t.encode() for t in dict.fromkeys([*map(chr, range(32, 127)), *texts, "\\u006d1", '":0', '"]'])]
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    constraint = tokamata.json_schema(schema, whitespace="compact")
    state = tokamata.compile(constraint, vocabulary).start()
    done = opens.encode()
    state.advance(tokens.index(done))
    left = random.Random(20).sample(range(20), 20)
    while len(left) > 1:
        mask = state.mask()
        bits = [bool(mask[i >> 5] >> (i & 31) & 1) for i in range(len(tokens))]
        assert bits == [constraint.accepts_prefix(done + token) for token in tokens], done
        for i in (3, 13):  # like which no other one begins
            assert bits[tokens.index(f"m{i}".encode())] == (i in left), done
        for text in (f"m{left.pop()}", between if len(left) > 1 else closes):
            state.advance(tokens.index(text.encode()))
            done += text.encode()
    assert state.is_final
    assert constraint.accepts(done)


@pytest.mark.parametrize("seed", range(4))
def test_distinct_strings_of_a_list(seed: int) -> None:
    """Some of a list, each once: in any order, as many as may come, whatever its spelling."""
    rng, tried = random.Random(f"distinct, {seed}"), set()
    words = ["re", "red", "green", "grün", "", "a\\b", *(f"k{i}" for i in range(14))]
    lists: list[dict[str, Any]] = [
        {"enum": words},
        {"enum": words, "minLength": 2},
        {"allOf": [{"enum": words[:16]}, {"pattern": "^[^0]*$"}]},
        {"type": "string", "pattern": "^(re|red|k[0-9]|k1[0-3])$"},
    ]
    for items in lists:
        schema: dict[str, Any] = {"type": "array", "items": items, "uniqueItems": True}
        some = [word for word in words if jsonschema.Draft202012Validator(items).is_valid(word)]
        more = [{}, {"minItems": len(some) - 1}, {"maxItems": 4, "minItems": 2}, {"contains": {"const": "re"}}]
        schema |= rng.choice(more if "type" not in items else more[:3])  # contains asks for a list
        constraint, check = tokamata.json_schema(schema), jsonschema.Draft202012Validator(schema)
        values = [[], some, some[1:], some[2:], some[:4], [*some[:3], some[0]], [*some[:2], "other"]]
        values += [rng.sample(words, rng.randrange(5)) for _ in range(20)]
        values += [rng.choices(some, k=rng.randrange(5)) for _ in range(20)]
        for value in values:
            rng.shuffle(value := [*value])
            valid = check.is_valid(value)
            raw, escaped = json.dumps(value, ensure_ascii=False), json.dumps(value)
            for text in (raw, escaped, escaped.replace("k", "\\u006b")):
                assert constraint.accepts(text) == valid, (seed, schema, text)
            tried.add((valid, bool(value)))
        # Whatever begins an array can be completed, or is refused at once.
        for value in (rng.sample(some, 3), rng.choices(some, k=3)):
            text = json.dumps(value)
            live = [constraint.accepts_prefix(text[:n]) for n in range(len(text))]
            twice = len({*value}) < 3
            assert all(live) == (not twice), (seed, schema, text)
    assert {(True, True), (False, True)} <= tried, "only one kind of value was tried"


SHAPES = [
    pytest.param(8000, "schema", False, 100, id="schema"),
    pytest.param(1000, "any", False, 100, id="any"),
    pytest.param(90, "schema", True, 6, id="some required, schema"),
    pytest.param(90, "any", True, 6, id="some required, any"),
]


@pytest.mark.parametrize(("count", "key_order", "some", "most"), SHAPES)
def test_memory_of_a_closed_object_grows_with_the_schema(count: int, key_order: str, some: bool, most: int) -> None:
    """In MiB, not with its square: a list of all that may come at each of 8,000 places would take 128.

    Where one of 90 keys is required, places would be pairs of a key and of the one that is: they took 18.
    """
    measured = f"""
import resource, tokamata
names = [f"{{i * 7919 % 10007}}_{{i}}" for i in range({count})]
properties = {{name: {{"type": "null"}} for name in names}}
schema = {{"type": "object", "properties": properties, "additionalProperties": False}}
if {some}:
    schema["anyOf"] = [{{"required": [name]}} for name in names]
vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
constraint = tokamata.json_schema(schema, whitespace="compact", key_order="{key_order}")
state = tokamata.compile(constraint, vocabulary).start()
state.advance(ord("{{"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name in names:
    for byte in f'"{{name}}":null{{"" if name == names[-1] else ","}}'.encode():
        state.advance(byte)
    if name != names[-1]:
        state.mask()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before >> 10)
"""
    done = subprocess.run([sys.executable, "-c", measured], capture_output=True, text=True, check=True)
    assert int(done.stdout) < most
