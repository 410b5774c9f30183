"""Real texts under the ready-made grammars, token by token: every mask has the next token, and the end at the end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from oracle.packages import vocabulary_file
from oracle.python_snippets import left_out, snippets
from oracle.sql_random import Statements
from tokamata.constraints import grammars

import tokamata

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "grammars"


@pytest.fixture(scope="module")
def vocabulary() -> tokamata.Vocabulary:
    return tokamata.Vocabulary.from_file(vocabulary_file("qwen"))


@pytest.fixture(scope="module")
def index(vocabulary: tokamata.Vocabulary) -> dict[bytes, int]:
    return {data: i for i in range(len(vocabulary)) if (data := vocabulary.token_bytes(i))}


def tokens(index: dict[bytes, int], text: str) -> list[int]:
    """The longest token at each place."""
    data, at, found = text.encode(), 0, []
    while at < len(data):
        end = next(e for e in range(min(len(data), at + 40), at, -1) if data[at:e] in index)
        found.append(index[data[at:end]])
        at = end
    return found


def walked(state: tokamata.DecodeState, row: np.ndarray, path: list[int]) -> int:
    """How many tokens the masks allow, one after another; one more where the text may end there."""
    state.reset()
    for place, token in enumerate(path):
        state.fill_mask(row)
        if not row[token >> 5] >> (token & 31) & 1:
            return place
        state.advance(token)
    return len(path) + state.is_final


@pytest.mark.parametrize(
    ("name", "more"),
    [(name, 300 if name == "sql" else 60) for name in grammars.names()]
    + [pytest.param("python", 350, marks=pytest.mark.slow)],
)
def test_token_by_token(name: str, more: int, vocabulary: tokamata.Vocabulary, index: dict[bytes, int]) -> None:
    texts = json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))["accept"]
    if name == "sql":
        source = Statements(41)
        texts += [source.select() for _ in range(more)]
    elif name == "python":
        texts += [text for text in snippets(more, 41, high=1500) if not left_out(text)]
    grammar = tokamata.grammar(grammars.text(name))
    state = tokamata.compile(grammar, vocabulary).start()
    row = np.zeros(-(-len(vocabulary) // 32), np.int32)
    refused = []
    for text in texts:
        path = tokens(index, text)
        reached = walked(state, row, path)
        if reached <= len(path):
            refused.append((text, reached))
    assert refused == []
