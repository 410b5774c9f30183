"""Token distances of push-down constraints by summaries, against searches over the states of the same language."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from oracle import mask_walk

import tokamata

KEYS = ["a", "ab", "b", 'q"', "é", "long key"]


def random_schema(rng: random.Random, depth: int) -> dict[str, Any]:
    """A closed schema whose language is regular: no value is without a schema, and none calls itself."""
    pick = rng.randrange(9 if depth else 6)
    if pick == 0:
        return {"enum": rng.sample(["a", "ab", "abba", 'x"', 1, 12, None, True, [1, 2], {"a": 1}], rng.randint(1, 4))}
    if pick == 1:
        return {"type": "string", "minLength": rng.choice([0, 0, 1, 3, 9])}
    if pick == 2:
        low = rng.choice([0, 2])
        return {"type": "string", "minLength": low, "maxLength": low + rng.choice([0, 1, 4])}
    if pick == 3:
        return {"type": "string", "pattern": rng.choice(["^(ab)*$", "^[a-c]{2,5}$", "^é+$", 'a"?$', "^x{40}$"])}
    if pick == 4:
        return {"type": rng.choice(["integer", "boolean", "null", "number"])}
    if pick == 5:
        return {"anyOf": [random_schema(rng, 0), random_schema(rng, 0)]}
    if pick == 6:
        least = rng.randint(0, 2)
        return {"type": "array", "items": random_schema(rng, depth - 1), "minItems": least, "maxItems": least + 2}
    keys = rng.sample(KEYS, rng.randint(0, 3))
    return {
        "type": "object",
        "properties": {k: random_schema(rng, depth - 1) for k in keys},
        "required": [k for k in keys if rng.random() < 0.7],
        "additionalProperties": False,
    }


def random_tokens(rng: random.Random, constraint: tokamata.Constraint) -> list[bytes | None]:
    """All bytes, pieces of members, and pieces that are put together from such pieces."""
    texts = [t for t in constraint.examples(6) if t] + [
        b'{"":"',
        b'"},{"',
        b'":[[',
        b"]]}",
        b'","',
        'é","ab":"é\\\\","é'.encode(),
    ]
    pieces = set()
    for _ in range(rng.choice([5, 30, 80])):
        text = rng.choice(texts)
        at = rng.randrange(len(text))
        pieces.add(text[at : at + rng.choice([2, 3, 5, 9, 20])])
    for _ in range(rng.choice([0, 10])):
        pieces.add(rng.choice(texts)[-rng.randint(1, 6) :] + rng.choice(texts)[: rng.randint(1, 6)])
    return [None, *sorted(p for p in pieces if len(p) > 1), *(bytes([b]) for b in range(256))]


def smallest(automaton: tokamata.TokenAutomaton) -> int:
    with pytest.raises(tokamata.BudgetError, match=r"takes [0-9]+ of this") as error:
        automaton.start(max_tokens=0)
    found = re.search("takes ([0-9]+) of this", str(error.value))
    assert found is not None
    return int(found[1])


def walk_both(
    rng: random.Random,
    automaton: tokamata.TokenAutomaton,
    other: tokamata.TokenAutomaton,
    budget: int,
    end: int,
    about: str,
) -> None:
    """Random allowed tokens under a budget: `other` allows the same, and `end` where this one may end."""
    state = automaton.start(max_tokens=budget)
    twin = other.start(max_tokens=budget + (end != 0))
    while True:
        ids, want = mask_walk.allowed(state.mask()), mask_walk.allowed(twin.mask())
        same = set(ids) == {0 if i == end else i for i in want}
        assert same, f"{about}, budget {budget}, after {state.num_tokens} tokens: {ids[:20]} for {want[:20]}"
        token = rng.choice(ids)
        if token == 0:
            return
        state.advance(token)
        twin.advance(token)


@pytest.mark.parametrize("seed", range(60))
def test_regular_schemas(seed: int) -> None:
    """The explicit automaton of the same language has no rules, so its distances come from a search over its states."""
    rng = random.Random(f"token lengths {seed}")
    schema = random_schema(rng, 2)
    constraint = tokamata.json_schema(schema, whitespace=rng.choice(["compact", "flexible"]))
    try:
        explicit = tokamata.from_fst(constraint.to_fst(max_states=20_000))
    except tokamata.LimitError:
        return
    vocabulary = tokamata.Vocabulary(random_tokens(rng, constraint), eos_token_ids=[0])
    automaton, searched = tokamata.compile(constraint, vocabulary), tokamata.compile(explicit, vocabulary)
    about = f"seed {seed}: {schema}"
    least = smallest(searched)
    assert smallest(automaton) == least, about
    for more in (0, 1, 2, 5):
        walk_both(rng, automaton, searched, least + more, 0, about)


RECURSIVE: list[Any] = [
    {},
    {"type": "object"},
    {"type": "object", "required": ["a", "long key"]},
    {"type": "array", "minItems": 2},
    {
        "$ref": "#/$defs/n",
        "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}, "minItems": 1, "maxItems": 2}},
    },
]
RECURSIVE[-1]["$defs"]["n"]["items"] = {"anyOf": [{"$ref": "#/$defs/n"}, {"const": "abba"}]}


@pytest.mark.parametrize("seed", range(20))
def test_recursive_schemas(seed: int) -> None:
    """With a special token behind it a constraint is searched state by state: markers have no summaries."""
    rng = random.Random(f"recursive token lengths {seed}")
    schema = rng.choice(RECURSIVE)
    limits = tokamata.Limits(seconds=30)
    constraint = tokamata.json_schema(schema, whitespace="compact", unique_keys=False, limits=limits)
    tokens = random_tokens(rng, constraint)
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[0], special_tokens={"<end>": len(tokens)})
    automaton = tokamata.compile(constraint, vocabulary)
    searched = tokamata.compile(constraint + tokamata.special_token("<end>"), vocabulary)
    about = f"seed {seed}: {schema}"
    least = smallest(automaton)
    assert smallest(searched) == least + 1, about
    for more in (0, 1, 2):
        walk_both(rng, automaton, searched, least + more, len(tokens), about)


# So many states come first that summaries answer.
LONG = {"type": "string", "pattern": "^x{150}$"}


def object_of(properties: dict[str, Any]) -> tokamata.Constraint:
    """A closed object with all of these."""
    closed = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return tokamata.json_schema(closed, whitespace="compact")


def test_a_token_may_end_inside_of_a_character() -> None:
    """Of a loop, and the next one begin there, though a shorter token ends between two characters."""
    words = [b'"k":"a\xc3', b'\xa9","zzz":1}', b'"k":"a']
    vocabulary = tokamata.Vocabulary([None, *words, *(bytes([b]) for b in range(256))], eos_token_ids=[0])
    constraint = object_of({"w": LONG, "k": {"type": "string"}, "zzz": {"const": 1}})
    assert smallest(tokamata.compile(constraint, vocabulary)) == len('{"w":"' + "x" * 150 + '",') + 2 + 1


def test_a_loop_that_different_texts_follow() -> None:
    """What is of no use before one of them may be of use before the other."""
    vocabulary = tokamata.Vocabulary([None, b'aac"}', *(bytes([b]) for b in range(256))], eos_token_ids=[0])
    patterns = {key: {"type": "string", "pattern": f"^a*{last}$"} for key, last in (("p", "b"), ("q", "c"))}
    automaton = tokamata.compile(object_of({"w": LONG, **patterns}), vocabulary)
    assert smallest(automaton) == len('{"w":"' + "x" * 150 + '","p":"b","q":"') + 1 + 1
