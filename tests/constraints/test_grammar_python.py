"""The Python grammar against Python's own parser: a corpus, the standard library, damaged functions, identifiers."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle.lark_parser import parser
from oracle.python_snippets import is_python, left_out, modules, read, snippets
from tokamata.constraints import grammars

import tokamata

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "grammars" / "python.json"


@pytest.fixture(scope="module")
def accepts() -> Callable[[str], bool]:
    return tokamata.grammar(grammars.text("python")).accepts


@pytest.fixture(scope="module")
def by_lark() -> Callable[[str], bool]:
    return parser(grammars.text("python"), "basic")


def test_the_corpus(accepts: Callable[[str], bool], by_lark: Callable[[str], bool]) -> None:
    cases = json.loads(CORPUS.read_text(encoding="utf-8"))
    for text in cases["accept"]:
        assert is_python(text), text
        assert accepts(text), text
        assert by_lark(text), text
    for text in cases["reject"]:
        assert not accepts(text), text
        assert not by_lark(text), text
        if sys.version_info < (3, 12):  # later versions read more
            assert not is_python(text), text


def test_definitions_of_the_standard_library(accepts: Callable[[str], bool], by_lark: Callable[[str], bool]) -> None:
    seed = 31
    found = snippets(350, seed, high=2000)
    assert len(found) == 350
    refused = [text for text in found if not accepts(text)]
    assert [text for text in refused if by_lark(text)] == [], f"seed {seed}"
    assert [text for text in refused if not left_out(text)] == [], f"seed {seed}"
    assert len(refused) <= 7


def test_damaged_definitions(accepts: Callable[[str], bool], by_lark: Callable[[str], bool]) -> None:
    seed = 32
    rng = random.Random(seed)
    # What stands in formatted strings is not checked.
    members = [text for text in snippets(150, seed, 60, 600) if not re.search("[fF][rR]?['\"]", text)]
    words = [word for text in members for word in re.findall(r"\w+|[^\w\s]|\n *", text)]
    outcomes = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for case in range(2500):
        tokens = re.findall(r"\n *|\s+|\w+|.", rng.choice(members))
        for _ in range(rng.choice((1, 1, 2))):
            at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
            change = rng.randrange(4)
            if change == 0:
                tokens[at] = ""
            elif change == 1:
                tokens[at] += tokens[at]
            elif change == 2:
                tokens[at] = rng.choice(words)
            else:
                tokens[at], tokens[other] = tokens[other], tokens[at]
        text = "".join(tokens).lstrip(" ")
        if text.endswith("\n") and not re.search("[fF][rR]?['\"]", text):
            both = by_lark(text), is_python(text)
            assert case % 25 or accepts(text) == both[0], (seed, text)
            outcomes[both] += 1
            assert both != (True, False), (seed, text)
    assert outcomes[False, False] > 800
    assert outcomes[True, True] > 400
    assert outcomes[False, True] <= 0.005 * sum(outcomes.values())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="letters of Unicode 14")
def test_identifiers_are_python_identifiers() -> None:
    found = re.search(r"^LETTER: /(\[.*\])/\n +\| /(\[.*\])/", grammars.text("python"), re.M)
    assert found
    letters = re.compile(f"{found[1]}|{found[2]}")
    wrong = [chr(c) for c in range(sys.maxunicode + 1) if letters.fullmatch(chr(c)) and not chr(c).isidentifier()]
    assert wrong == []


@pytest.mark.slow
def test_modules_of_the_standard_library(by_lark: Callable[[str], bool]) -> None:
    count, refused = 0, []
    for path in modules():
        text = read(path)
        if text is not None and is_python(text):
            text = text if text.endswith("\n") else text + "\n"
            count += 1
            if not by_lark(text):
                refused.append(path.name)
                assert left_out(text), path
    print(f"{count - len(refused)} of {count} modules; refused: {', '.join(refused)}")
    assert len(refused) <= 0.02 * count
