"""How long members of patterns are, beside bounds of thousands: against arithmetic, in no time."""

from __future__ import annotations

import json
import random
import re
import time

import jsonschema
import pytest

import tokamata

Progressions = list[tuple[int, int]]  # (step, first): first, first + step, first + 2 * step, ...


def pattern(progressions: Progressions) -> str:
    """Of texts of so many characters a."""
    return "^(?:" + "|".join(f"(?:a{{{step}}})*a{{{first}}}" for step, first in progressions) + ")$"


def has(progressions: Progressions, length: int) -> bool:
    """Whether a text of so many characters matches."""
    return any(length >= first and (length - first) % step == 0 for step, first in progressions)


def any_progressions(rng: random.Random) -> Progressions:
    """One or two."""
    return [(rng.randint(1, 7), rng.randint(0, 6)) for _ in range(rng.randint(1, 2))]


@pytest.mark.parametrize("seed", range(60))
def test_lengths_of_two_patterns_and_bounds(seed: int) -> None:
    """One pattern, another one or its opposite, and so many characters: empty exactly if no number does."""
    rng = random.Random(seed)
    one, other = any_progressions(rng), any_progressions(rng)
    negated = rng.random() < 0.4
    low = rng.choice([0, 3, 40, 1500, 20_000])
    high = low + rng.choice([0, 1, 2, 5, 90_000])
    second = {"pattern": pattern(other)}
    schema = {
        "type": "string",
        "pattern": pattern(one),
        "minLength": low,
        "maxLength": high,
        "allOf": [{"not": second} if negated else second],
    }
    lengths = [k for k in range(low, min(high, low + 3000) + 1) if has(one, k) and has(other, k) != negated]
    if not lengths:  # 3,000 in a row are more than any period here
        with pytest.raises(tokamata.ConstraintError, match="no JSON value is valid"):
            tokamata.json_schema(schema)
        return
    constraint = tokamata.json_schema(schema)
    for k in {low, low + 1, high, *lengths[:3], *(k + 1 for k in lengths[:3])}:
        if k < 3000 or k == low:
            wanted = low <= k <= high and has(one, k) and has(other, k) != negated
            assert constraint.accepts(json.dumps("a" * k)) == wanted, (schema, k)
    if lengths[0] < 3000:
        end = json.dumps("a" * lengths[0])[:-1]
        assert constraint.accepts_prefix(end)
        assert constraint.accepts_prefix(end + "a") == (len(lengths) > 1)
    assert not constraint.accepts_prefix('"b')


def test_all_but_short_texts_of_a_pattern() -> None:
    """What is left of a pattern where maxLength is negated, and where counted patterns overlap."""
    for own in ("^[.][a-z0-9]+.*$", "^(tcp://[0-9a-zA-Z_.-]+|):[0-9]{1,5}$", "^dev|alpha|stable$", "^(abc|de)+-$"):
        begin = time.process_time()
        constraint = tokamata.json_schema({"type": "string", "pattern": own, "not": {"maxLength": 65_535}})
        assert constraint.accepts_prefix('"')
        assert not constraint.accepts('"dev"')
        assert time.process_time() - begin < 5  # a search of all counts ended in a limit
    some = tokamata.json_schema({"type": "string", "pattern": "^[.][a-z0-9]+.*$", "not": {"maxLength": 65_535}})
    assert some.accepts(json.dumps("." + "a" * 65_535))
    assert not some.accepts(json.dumps("." + "a" * 65_534))
    with pytest.raises(tokamata.ConstraintError, match="no JSON value is valid"):
        tokamata.json_schema({"type": "string", "pattern": "^:[0-9]{1,5}$", "not": {"maxLength": 8177}})


def test_lengths_that_are_excluded_are_lengths() -> None:
    """Shorter ones and longer ones; both at once; neither beside others."""
    for schema, inside, outside in (
        ({"not": {"maxLength": 3}}, (4, 9000), (0, 3)),
        ({"not": {"minLength": 2, "maxLength": 3}}, (0, 1, 4, 9000), (2, 3)),
        (
            {"oneOf": [{"maxLength": 65_535}, {"minLength": 2, "maxLength": 70_000}]},
            (0, 1, 65_536, 70_000),
            (2, 65_535),
        ),
        ({"not": {"minLength": 2}, "maxLength": 5}, (0, 1), (2, 5, 6)),
        ({"if": {"maxLength": 300}, "then": {"minLength": 299}, "else": {"maxLength": 302}}, (299, 302), (298, 303)),
    ):
        constraint = tokamata.json_schema({"type": "string", **schema})
        for k in (*inside, *outside):
            assert constraint.accepts(json.dumps("\u00e4" * k)) == (k in inside), (schema, k)


def counted_class(rng: random.Random) -> str:
    """Some characters of a class, or with something before or behind them."""
    characters = rng.choice(["a-b", "a-c", "b-d", "a-dé", '"a', "\\\\\\\\a-b"])
    low = rng.randint(0, 4)
    bounds = rng.choice([f"{{{low},{low + rng.randint(0, 4)}}}", f"{{{low},}}", "*", "+", f"{{{low}}}"])
    ends = rng.choice([("", "")] * 3 + [("", "b"), ("a", ""), ("", "(?:ab|c)"), ("(?:ba|d)", "")])
    return f"^{ends[0]}[{characters}]{bounds}{ends[1]}$"


@pytest.mark.parametrize("seed", range(200))
def test_counted_classes_meet_and_exclude_each_other(seed: int) -> None:
    """Both patterns, or one without the other: against re, on all texts of up to six of some letters."""
    rng = random.Random(seed)
    one, other = counted_class(rng), counted_class(rng)
    negated = rng.random() < 0.5
    second = {"pattern": other}
    schema = {"type": "string", "pattern": one, "allOf": [{"not": second} if negated else second]}
    texts = {"".join(rng.choice('aaabbcdé"\\') for _ in range(rng.randint(0, 6))) for _ in range(300)}
    members = {t for t in texts if re.search(one, t) and bool(re.search(other, t)) != negated}
    strings = rng.choice(["any", "canonical"])
    try:
        constraint = tokamata.json_schema(schema, strings=strings)
    except tokamata.ConstraintError:
        assert not members, (seed, schema)
        return
    for text in texts:
        spellings = [json.dumps(text, ensure_ascii=False), *([json.dumps(text)] if strings == "any" else [])]
        for spelled in spellings:
            assert constraint.accepts(spelled) == (text in members), (seed, schema, text)


@pytest.mark.parametrize("seed", range(80))
def test_keys_of_counted_classes(seed: int) -> None:
    """Patterns of keys that overlap, beside names some of which they match: against jsonschema."""
    rng = random.Random(seed)
    patterns = list({counted_class(rng) for _ in range(rng.randint(1, 3))})
    names = rng.sample(["a", "ab", "abab", "bcd", "x", ""], rng.randint(0, 3))
    types = ["string", "integer", "null", ["string", "integer"], ["integer", "null"]]
    schema: dict[str, object] = {
        "type": "object",
        "properties": {name: {"type": rng.choice(types)} for name in names},
        "patternProperties": {pattern: {"type": rng.choice(types)} for pattern in patterns},
        "additionalProperties": rng.choice([True, False, {"type": "null"}]),
    }
    if rng.random() < 0.3:
        schema["propertyNames"] = {"pattern": counted_class(rng)}
    if rng.random() < 0.3:
        schema["propertyNames"] = {"maxLength": rng.randint(0, 4)}
    order, strings = rng.choice(["any", "sorted"]), rng.choice(["any", "canonical"])
    constraint = tokamata.json_schema(schema, key_order=order, strings=strings)
    validator = jsonschema.Draft202012Validator(schema)
    for _ in range(150):
        keys = ["".join(rng.choice('aaabbcdé"\\') for _ in range(rng.randint(0, 6))) for _ in range(rng.randint(0, 2))]
        keys += [name for name in names if rng.random() < 0.4]
        instance = {key: rng.choice(["s", 1, None]) for key in sorted(set(keys))}
        spelled = json.dumps(instance, ensure_ascii=False)
        assert constraint.accepts(spelled) == validator.is_valid(instance), (seed, schema, instance)
    for example in constraint.examples(3, seed=seed):
        assert validator.is_valid(json.loads(example)), (seed, schema, example)


def test_counted_keys_are_told_apart_without_counting() -> None:
    """Where counters would multiply, a limit of few expressions suffices: endings, or classes, decide."""
    few = tokamata.Limits(emptiness=500)
    text, number = {"type": "string"}, {"type": "integer"}
    ends = {"^[a-z][a-z0-9_]{0,245}_bin$": text, "^[a-z][a-z0-9_]{0,245}_hex$": number}
    within = {"^[a-z0-9_]{0,246}_bin$": text, "^[a-z0-9_]{3,250}$": {"type": ["string", "integer"]}}
    for patterns in (ends, within):
        schema = {"type": "object", "patternProperties": patterns, "additionalProperties": False}
        constraint = tokamata.json_schema(schema, limits=few)
        assert constraint.accepts('{"ab_bin": "a"}')
        assert not constraint.accepts('{"ab_bin": 1}')
        assert not constraint.accepts('{"A": 1}')
    assert constraint.accepts('{"abc": 1}')
    assert constraint.accepts(json.dumps({"a" * 246 + "_bin": "a"}))
    assert not constraint.accepts(json.dumps({"a" * 247 + "_bin": "a"}))
