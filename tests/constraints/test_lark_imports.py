"""Grammars over files that import each other, with rules and terminals overridden and extended, against Lark."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from lark.exceptions import GrammarError
from oracle.lark_imports import LETTERS, random_files, verdict

import tokamata


@pytest.mark.parametrize("seed", range(8))
def test_members_are_larks(seed: int, tmp_path: Path) -> None:
    accepted = refused = 0
    reasons = set()  # why grammars are left out
    for number in range(25):
        rng = random.Random(1000 * seed + number)
        folder = tmp_path / str(number)
        folder.mkdir()
        text = random_files(rng, folder)
        where = seed, number, text
        try:
            theirs = verdict(text, [folder])
        except GrammarError as error:
            reasons.add(str(error)[:19])
            continue
        try:
            ours = tokamata.grammar(text, import_paths=[folder])
        except tokamata.ConstraintError as error:
            reasons.update(re.findall("has no text", str(error)) or [str(error)])
            continue
        members = [member.decode() for member in ours.examples(6, seed=seed)]
        members = [member for member in members if len(member) < 30]
        texts = ["", *members, *("".join(rng.choices(LETTERS, k=rng.randint(1, 5))) for _ in range(8))]
        for member in members * 2:
            at = rng.randrange(len(member) + 1)
            texts.append(member[:at] + rng.choice(LETTERS) + member[at + rng.randint(0, 1) :])
        for member in texts:
            wanted = theirs(member)
            assert ours.accepts(member) == wanted, (*where, member)
            accepted, refused = accepted + wanted, refused + (not wanted)
    assert reasons <= {"Rules defined twice", "has no text"}
    assert accepted > 30, accepted
    assert refused > 100, refused
