"""key_order="schema": members come as the schemas of an object define them, each in its own order where they agree."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations, product
from typing import Any

import pytest

import tokamata

KEYS = ["a", "b", "c", "d", "e"]


def orders(schema: dict[str, Any]) -> list[tuple[str, ...]]:
    """The orders of all the keys that are accepted, of a schema that requires them all."""
    constraint = tokamata.json_schema(schema)
    keys = schema["required"]
    return [order for order in permutations(sorted(keys)) if constraint.accepts(json.dumps(dict.fromkeys(order, 0)))]


def agrees(order: Sequence[str], lists: Iterable[Sequence[str]]) -> bool:
    """Whether every list is a subsequence of an order."""
    return all(sorted(keys, key=order.index) == list(keys) for keys in lists)


def before(lists: Iterable[Sequence[str]]) -> set[tuple[str, str]]:
    """Which key is to come before which, by way of others as well."""
    pairs = {(x, y) for keys in lists for i, x in enumerate(keys) for y in keys[i + 1 :]}
    for k, x, y in product(KEYS, repeat=3):  # k in the outermost loop: Warshall
        if (x, k) in pairs and (k, y) in pairs:
            pairs.add((x, y))
    return pairs


def random_schema(rng: random.Random) -> tuple[dict[str, Any], list[list[str]]]:
    """A schema of several lists of keys, and these as the schema mentions them."""
    lists = [rng.sample(KEYS, rng.randrange(1, 5)) for _ in range(rng.randrange(1, 5))]
    parts: list[dict[str, Any]] = [{"properties": dict.fromkeys(keys, True)} for keys in lists]
    own = rng.randrange(len(parts))
    schema = {"type": "object", "anyOf": [{"allOf": parts[:own]}]} if own else {"type": "object"}
    schema |= parts[own]
    if parts[own + 1 :]:
        schema["allOf"] = parts[own + 1 :]
    required = sorted({key for keys in lists for key in keys})
    rng.shuffle(required)
    return schema | {"required": required}, lists


@pytest.mark.parametrize("seed", range(20))
def test_definitions_agree(seed: int) -> None:
    """Of the orders that all lists agree with, the one by mention; what is contradictory goes by mention, too."""
    rng = random.Random(seed)
    for _ in range(10):
        schema, lists = random_schema(rng)
        mentioned = list(dict.fromkeys(key for keys in lists for key in keys))
        agreed = [order for order in permutations(mentioned) if agrees(order, lists)]  # by mention, the least first
        pairs = before(lists)
        circles = [key for key in mentioned if (key, key) in pairs]
        from_circles = {key for key in mentioned if any((circle, key) in pairs for circle in circles)}
        between = [key for key in from_circles if any((key, circle) in pairs for circle in circles)]
        assert bool(agreed) == (not circles)
        (found,) = orders(schema)
        for x, y in combinations(found, 2):
            assert (y, x) not in pairs or {x, y} <= set(between), (seed, schema, found, x, y)
        assert sorted(between, key=found.index) == sorted(between, key=mentioned.index), (seed, schema, found)
        assert not agreed or found == agreed[0], (seed, schema, found)


def test_conditions_before_the_members() -> None:
    """What conditions say of some members first does not bring them to the front."""
    schema = {
        "allOf": [{"if": {"properties": {"kind": {"const": 0}}}, "then": {"properties": {"size": {"const": 0}}}}],
        "properties": {"name": True, "kind": True, "size": True},
        "required": ["name", "kind", "size"],
    }
    assert orders(schema) == [("name", "kind", "size")]


def test_who_is_mentioned_first() -> None:
    """Where the lists contradict each other; keys that are only required come last."""
    assert orders({"properties": {"b": True, "a": True}, "required": ["c", "a", "b"]}) == [("b", "a", "c")]
    both = [{"properties": {"b": True, "a": True}}, {"properties": {"a": True, "b": True, "c": True}}]
    assert orders({"allOf": both, "required": ["a", "b", "c"]}) == [("b", "a", "c")]
    both.append({"properties": {"d": True}})  # with whom all agree
    assert orders({"allOf": both, "required": ["a", "b", "c", "d"]}) == [("b", "a", "c", "d")]


def test_each_branch_has_its_order() -> None:
    """Branches are alternatives: they need not agree."""
    branches = [{"properties": {"a": True, "b": True}}, {"properties": {"b": True, "a": True}}]
    assert orders({"type": "object", "anyOf": branches, "required": ["a", "b"]}) == [("a", "b"), ("b", "a")]
