"""Arguments that make no sense, of vocabularies and of what decodes: taken, or an error that says what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tokamata.decode import BatchState

import tokamata

VOCABULARY = tokamata.Vocabulary(
    [None, *(bytes([b]) for b in range(256)), None], eos_token_ids=[0], special_tokens={"<a>": 257}
)
WORD = tokamata.regex("[ab]+")
AUTOMATON = tokamata.compile(WORD, VOCABULARY)
ACCEPTOR = AUTOMATON.token_acceptor()
DYNAMIC = tokamata.compile(tokamata.dynamic(lambda text: WORD), VOCABULARY)


def named(name: Any) -> dict[Any, int]:
    return {name: 1} if name.__hash__ else {None: 1}


def batch() -> BatchState:
    return BatchState([AUTOMATON.start(), DYNAMIC.start()])


CALLS_OF_STATES: dict[str, Callable[[Any, Any], Any]] = {
    "allows": lambda state, odd: state.allows(odd),
    "advance": lambda state, odd: state.advance(odd),
    "rollback": lambda state, odd: state.rollback(odd),
    "validate": lambda state, odd: state.validate(odd),
    "validate, token": lambda state, odd: state.validate([odd]),
    "draft_masks": lambda state, odd: state.draft_masks(odd),
    "draft_masks, token": lambda state, odd: state.draft_masks([odd]),
    "forced_bytes": lambda state, odd: state.forced_bytes(odd),
    "forced_tokens": lambda state, odd: state.forced_tokens(odd),
    "fill_mask": lambda state, odd: state.fill_mask(odd),
    "fill_mask, row": lambda state, odd: state.fill_mask(np.zeros((2, 9), np.int32), odd),
}
CALLS: dict[str, Callable[[Any], Any]] = {
    "Vocabulary": lambda odd: tokamata.Vocabulary(odd, [1]),
    "Vocabulary, special_tokens": lambda odd: tokamata.Vocabulary([b"a", None], [1], special_tokens=odd),
    "Vocabulary, name": lambda odd: tokamata.Vocabulary([b"a", None], [1], special_tokens=named(odd)),
    "Vocabulary, id": lambda odd: tokamata.Vocabulary([b"a", None], [1], special_tokens={"a": odd}),
    "with_token_groups": lambda odd: VOCABULARY.with_token_groups(odd),
    "with_token_groups, group": lambda odd: VOCABULARY.with_token_groups({"a": odd}),
    "with_token_groups, token": lambda odd: VOCABULARY.with_token_groups({"a": [odd]}),
    "with_markers": lambda odd: VOCABULARY.with_markers(odd),
    "with_markers, name": lambda odd: VOCABULARY.with_markers([odd]),
    "compile": lambda odd: tokamata.compile(odd, VOCABULARY),
    "compile, vocabulary": lambda odd: tokamata.compile(WORD, odd),
    "compile, limits": lambda odd: tokamata.compile(WORD, VOCABULARY, limits=odd),
    "compile, cache_bytes": lambda odd: tokamata.compile(WORD, VOCABULARY, cache_bytes=odd),
    "start": lambda odd: AUTOMATON.start(odd),
    "token_acceptor": lambda odd: AUTOMATON.token_acceptor(min_tokens=odd),
    "token_acceptor, max_states": lambda odd: AUTOMATON.token_acceptor(max_states=odd),
    "token_acceptor, max_bytes": lambda odd: AUTOMATON.token_acceptor(max_bytes=odd),
    "TokenAcceptor.expand": lambda odd: ACCEPTOR.expand(max_arcs=odd),
    "TokenAcceptor.tokens": lambda odd: ACCEPTOR.tokens(odd),
    "to": lambda odd: AUTOMATON.to("cpu", max_states=odd),
    "to, max_bytes": lambda odd: AUTOMATON.to("cpu", max_bytes=odd),
    **{
        f"{name}, {kind}": lambda odd, call=call, made=made: call(made.start(), odd)
        for kind, made in (("dynamic", DYNAMIC), ("automaton", AUTOMATON))
        for name, call in CALLS_OF_STATES.items()
    },
    "token_bytes": lambda odd: VOCABULARY.token_bytes(odd),
    "BatchState": lambda odd: BatchState(odd),
    "BatchState, threads": lambda odd: BatchState([], threads=odd),
    "BatchState, row": lambda odd: batch().leave(odd),
    "BatchState, join": lambda odd: batch().join(odd),
    "BatchState, reorder": lambda odd: batch().reorder(odd),
    "BatchState.masks": lambda odd: batch().masks(odd),
    "difference_example": lambda odd: tokamata.json_schema({}).difference_example(odd),
}
ODD: list[Any] = [
    None, 5, -1, 0, 10**30, 1.5, float("nan"), float("inf"), "", "a", "\ud800", "x" * 300, b"", b"\xff", True, [], [1],
    [None], {}, {"a": 1}, (), set(), object, object(), WORD, AUTOMATON, VOCABULARY, tokamata.Limits(), np.zeros((2, 2)),
    torch.zeros(9, requires_grad=True),
]  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments(name: str) -> None:
    """Each error names the call; it is no error about something inside of it."""
    function = name.partition(",")[0]
    for odd in ODD:
        try:
            CALLS[name](odd)
        except KeyError:
            assert function == "TokenAcceptor.tokens", odd  # as documented
        except (TypeError, ValueError, IndexError, tokamata.LimitError) as error:
            text = str(error)
            assert text.startswith((f"{function}: ", "vocabulary: ")), (odd, text)


def test_a_size_that_is_no_size(tmp_path: Any) -> None:
    """An argument is no damaged file."""
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n")
    assert len(tokamata.Vocabulary.from_file(path, size=9)) == 9
    for size in (0, -1, 1.5, "9", 10**12):
        with pytest.raises((TypeError, ValueError), match=r"^Vocabulary: expected .*size"):
            tokamata.Vocabulary.from_file(path, size=size)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^Vocabulary: expected special_tokens as a mapping, got list"):
        tokamata.Vocabulary.from_file(path, special_tokens=["<a>"])  # type: ignore[arg-type]
