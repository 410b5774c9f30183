"""Masks of calls: a token is allowed exactly where the text with it can become a member; budgets and files work."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import tokamata


class Color(Enum):
    RED = 1
    GREEN = 2


@dataclass
class Tree:
    name: str
    color: Color = Color.RED
    kind: Literal["x", 'a"b'] | None = None
    children: list[Tree] = field(default_factory=list)
    sizes: tuple[int, float] | None = None
    labels: dict[str, bool] = field(default_factory=dict)


@dataclass
class Flat:
    name: str
    color: Color = Color.RED
    size: int = 0


def vocabulary(seed: int) -> tokamata.Vocabulary:
    """Single bytes, and pieces of members."""
    generator = random.Random(seed)
    pieces = {bytes([b]) for b in range(256)}
    for text in tokamata.dataclass_call(Tree).examples(60, seed=seed):
        for _ in range(6):
            at = generator.randrange(len(text))
            pieces.add(text[at : at + generator.randrange(2, 9)])
    return tokamata.Vocabulary([None, *sorted(pieces)], eos_token_ids=[0])


@pytest.mark.parametrize("whitespace", ["flexible", "pep8"])
@pytest.mark.parametrize("seed", range(3))
def test_masks_are_those_of_prefixes(seed: int, whitespace: str) -> None:
    tokens = vocabulary(seed)
    constraint = tokamata.dataclass_call(Tree, whitespace=whitespace)  # type: ignore[arg-type]
    state = tokamata.compile(constraint, tokens).start()
    generator = random.Random(seed)
    for _ in range(4):
        state.reset()
        text = b""
        for _ in range(12):
            mask = np.unpackbits(state.mask().view(np.uint8), bitorder="little")[: len(tokens)]
            assert bool(mask[0]) == constraint.accepts(text), (seed, text)
            for token_id in range(1, len(tokens)):
                data = tokens.token_bytes(token_id)
                assert data is not None
                assert bool(mask[token_id]) == (constraint.viable_prefix(text + data) == len(text + data)), (
                    seed,
                    text,
                    data,
                )
            allowed = [t for t in range(1, len(tokens)) if mask[t]]
            if not allowed:
                break
            token_id = max(
                generator.sample(allowed, min(3, len(allowed))), key=lambda t: len(tokens.token_bytes(t) or b"")
            )
            state.advance(token_id)
            text += tokens.token_bytes(token_id) or b""


def test_budgets_end_in_members() -> None:
    tokens = vocabulary(1)
    constraint = tokamata.dataclass_call(Tree)
    automaton = tokamata.compile(constraint, tokens)
    generator = random.Random(2)
    for case in range(20):
        state = automaton.start(max_tokens=30)
        text = b""
        while not state.is_finished:
            mask = np.unpackbits(state.mask().view(np.uint8), bitorder="little")[: len(tokens)]
            token_id = generator.choice([int(t) for t in np.flatnonzero(mask)])
            state.advance(token_id)
            text += tokens.token_bytes(token_id) or b""
        assert isinstance(constraint.parse(text), Tree), (case, text)


def test_a_regular_class_is_saved_and_loaded(tmp_path: Path) -> None:
    tokens = vocabulary(3)
    constraint = tokamata.dataclass_call(Flat)
    automaton = tokamata.compile(constraint, tokens)
    automaton.save(tmp_path / "flat.fst")
    loaded = tokamata.load(tmp_path / "flat.fst", tokens)
    for text in constraint.examples(20):
        before, after = automaton.start(), loaded.start()
        for byte in text:
            assert (before.mask() == after.mask()).all()
            token_id = next(t for t in range(1, len(tokens)) if tokens.token_bytes(t) == bytes([byte]))
            before.advance(token_id)
            after.advance(token_id)
        assert after.is_final


def test_what_is_forced() -> None:
    tokens = vocabulary(4)
    state = tokamata.compile(tokamata.dataclass_call(Flat, whitespace="pep8"), tokens).start()
    assert state.forced_bytes() == b"Flat("
