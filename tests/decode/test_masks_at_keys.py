"""Keys of objects, read byte by byte in any spelling: which texts are members, and masks against single tokens."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import tokamata

SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
LETTERS = 'aabbcn0u1/"\\\n\x01é𐍈'


def random_key(rng: random.Random) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(5)))


def spelled(rng: random.Random, character: str, often: float) -> str:
    """One spelling of a character in a JSON string."""
    ways = [] if character < " " or character in '"\\' else [character] * 2
    if character in SHORT:
        ways.append("\\" + SHORT[character])
    if not ways or rng.random() < often:
        units = character.encode("utf-16-be").hex()
        parts = [units[i : i + 4] for i in range(0, len(units), 4)]
        ways.append("".join("\\u" + rng.choice([p.lower(), p.upper()]) for p in parts))
    return rng.choice(ways)


def spelled_key(rng: random.Random, key: str, often: float = 0.3) -> str:
    return "".join(spelled(rng, c, often) for c in key)


def random_schema(rng: random.Random, keys: list[str]) -> dict[str, object]:
    schema: dict[str, object] = {"type": "object", "properties": {k: {"const": i % 3} for i, k in enumerate(keys)}}
    schema["additionalProperties"] = rng.choice([False, {"type": "null"}, True])
    schema["required"] = [k for k in keys if rng.random() < 0.2]
    return schema


def valid(schema: dict, members: list[tuple[str, object]], ordered: bool) -> bool:
    known, other = schema["properties"], schema["additionalProperties"]
    names = [k for k, _ in members]
    if not set(schema["required"]) <= set(names):
        return False
    if ordered:
        places = [list(known).index(k) if k in known else len(known) for k in names]
        if places != sorted(places):
            return False
    return all(
        value == known[k]["const"] if k in known else other is True or (other is not False and value is None)
        for k, value in members
    )


@pytest.mark.parametrize("seed", range(12))
def test_members_are_told_by_their_keys(seed: int) -> None:
    rng = random.Random(seed)
    accepted = 0
    for case in range(12):
        keys = sorted({random_key(rng) for _ in range(rng.randrange(1, 7))}, key=lambda _: rng.random())
        schema = random_schema(rng, keys)
        ordered = rng.random() < 0.5
        constraint = tokamata.json_schema(schema, key_order="schema" if ordered else "any")
        for _ in range(20):
            members: dict[str, object] = {}
            for key in keys:
                if key in schema["required"] or rng.random() < 0.5:  # type: ignore[operator]
                    members[key] = keys.index(key) % 3 if rng.random() < 0.95 else 7
            for _ in range(rng.randrange(3) if rng.random() < 0.6 else 0):
                near = (
                    random_key(rng) if rng.random() < 0.3 else rng.choice(keys)[: rng.randrange(5)] + rng.choice("ab\\")
                )
                if near not in keys:
                    members[near] = None
            items = list(members.items())
            if rng.random() < 0.1:
                rng.shuffle(items)
            text = "{" + ", ".join(f'"{spelled_key(rng, k)}": {json.dumps(v)}' for k, v in items) + "}"
            want = valid(schema, items, ordered)
            accepted += want
            assert constraint.accepts(text) == want, f"seed {seed}, case {case}: {schema}\n{text}"
    assert accepted > 40


@pytest.mark.parametrize("seed", range(10))
def test_masks_at_keys_allow_what_single_tokens_do(seed: int) -> None:
    rng = random.Random(1000 + seed)
    letters = LETTERS if seed % 3 == 0 else LETTERS[:-2]  # others than ASCII take another way
    keys = sorted({"".join(rng.choice(letters) for _ in range(rng.randrange(5))) for _ in range(6)})
    pieces = set()
    for _ in range(900):
        text = ", ".join(
            f'"{spelled_key(rng, k, 0.2)}":{rng.choice(["", " "])}{rng.choice(["0", "1", "null"])}'
            for k in [*rng.sample(keys, 2), random_key(rng)]
        ).encode()
        start = rng.randrange(len(text))
        pieces.add(text[start : start + rng.randrange(1, 12)])
    tokens = [bytes([b]) for b in range(256)] + sorted(p for p in pieces if len(p) > 1)
    vocabulary = tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    compared = 0
    for _ in range(4):
        schema: object = random_schema(rng, keys)
        if rng.random() < 0.3:
            schema = {"anyOf": [schema, random_schema(rng, keys[:3])]}
        automaton = tokamata.compile(tokamata.json_schema(schema, key_order=rng.choice(["schema", "any"])), vocabulary)
        for _ in range(3):
            state = automaton.start()
            for _ in range(14):
                mask = np.unpackbits(state.mask().view(np.uint8), bitorder="little")
                allowed = [i for i in range(len(tokens)) if state.allows(i)]
                got = [i for i in np.flatnonzero(mask).tolist() if i < len(tokens)]
                different = [tokens[i] for i in set(got) ^ set(allowed)][:5]
                assert got == allowed, f"seed {seed}: {schema}: {different}"
                compared += 1
                if not allowed:
                    break
                state.advance(max(rng.choices(allowed, k=2), key=lambda i: len(tokens[i])))
    assert compared > 60
