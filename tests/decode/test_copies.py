"""Copies, pickles and representations: what changes is copied, what never changes is shared, errors say what to do."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from oracle.packages import vocabulary_file
from tokamata.automata import SymbolTable
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton

import tokamata

VOCABULARY = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256)), b"ab"], eos_token_ids=[0])
A, B, AB = 1 + ord("a"), 1 + ord("b"), 257
WORD = tokamata.regex("[ab]+")
AUTOMATON = tokamata.compile(WORD, VOCABULARY)
DYNAMIC = tokamata.compile(tokamata.dynamic(lambda text: WORD), VOCABULARY)
SHARED: list[Any] = [
    WORD, tokamata.json_schema({}), tokamata.grammar('start: "a"'), tokamata.integer(1, 2), DYNAMIC.constraint,
    AUTOMATON, DYNAMIC,
]  # fmt: skip


@pytest.mark.parametrize("shared", SHARED, ids=repr)
def test_what_never_changes_is_its_own_copy(shared: Any) -> None:
    assert copy.copy(shared) is copy.deepcopy(shared) is shared
    assert copy.deepcopy({"processors": [shared]})["processors"][0] is shared
    with pytest.raises(TypeError, match=r"^pickle: expected what can be pickled, got <tokamata\..*; "):
        pickle.dumps(shared)


@pytest.mark.parametrize("automaton", [AUTOMATON, DYNAMIC], ids=repr)
def test_copies_of_states_go_their_own_way(automaton: Any) -> None:
    for copied in (copy.copy, copy.deepcopy):
        state = automaton.start()
        state.advance(A)
        other = copied(state)
        other.advance(B)
        assert (state.num_tokens, other.num_tokens) == (1, 2)


def test_copies_of_canonical_states() -> None:
    path = vocabulary_file("tekken")
    vocabulary = tokamata.Vocabulary.from_file(path)
    state = CanonicalAutomaton(tokamata.compile(WORD, vocabulary), BytePairs.from_tekken(path)).start()
    first = next(t for t in range(len(vocabulary)) if vocabulary.token_bytes(t) == b"a")
    other = copy.copy(state)
    other.advance(first)
    assert (state.num_tokens, other.num_tokens) == (0, 1)
    assert repr(other) == "<tokamata.decode.CanonicalState after 1 tokens, final>"


def test_copies_of_symbol_tables() -> None:
    table = SymbolTable("é")
    table.add("a", 5)
    table.add(b"\xff", 2)
    for copied in (copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))):
        other = copied(table)
        assert (other.name, list(other)) == (table.name, list(table))
        other.add("b")
        assert "b" not in table


def test_copies_of_token_acceptors() -> None:
    acceptor = AUTOMATON.token_acceptor(min_tokens=1)
    for copied in (copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))):
        other = copied(acceptor)
        assert other.expand().to_bytes() == acceptor.expand().to_bytes()
        assert {k: v.tolist() for k, v in other.terminals.items()} == {
            k: v.tolist() for k, v in acceptor.terminals.items()
        }


def test_states_show_where_they_are() -> None:
    state = AUTOMATON.start(max_tokens=3)
    assert repr(state) == "<tokamata.DecodeState after 0 tokens, 3 left>"
    state.advance(AB)
    assert repr(state) == "<tokamata.DecodeState after 1 tokens, 2 left, final>"
    state.advance(0)
    assert repr(state) == "<tokamata.DecodeState after 2 tokens, 1 left, finished>"
    dynamic = DYNAMIC.start()
    assert repr(dynamic) == "<tokamata.decode.DynamicState after 0 tokens>"
    dynamic.advance(A)
    assert repr(dynamic) == "<tokamata.decode.DynamicState after 1 tokens, final>"
