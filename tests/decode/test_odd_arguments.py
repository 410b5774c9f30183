"""Arguments that make no sense, of vocabularies and of what decodes: taken, or an error that says what was expected."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tokamata.decode import BatchState, HostMasks
from tokamata.decode.automaton_cache import AutomatonCache
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton
from tokamata.decode.jump_forward import heal, jump_forward
from tokamata.decode.masked_logits import mask_logits_
from tokamata.decode.pretokenizer import Pretokenizer
from tokamata.decode.speculative import Speculative
from tokamata.decode.transformers import ConstrainedLogitsProcessor

import tokamata

VOCABULARY = tokamata.Vocabulary(
    [None, *(bytes([b]) for b in range(256)), None], eos_token_ids=[0], special_tokens={"<a>": 257}
)
WORD = tokamata.regex("[ab]+")
AUTOMATON = tokamata.compile(WORD, VOCABULARY)
ACCEPTOR = AUTOMATON.token_acceptor()
DYNAMIC = tokamata.compile(tokamata.dynamic(lambda text: WORD), VOCABULARY)
DEVICE = AUTOMATON.to("cpu")
STATES = DEVICE.start(1)
LOGITS, MASKS = torch.zeros(1, len(VOCABULARY)), torch.zeros(1, AUTOMATON.words, dtype=torch.int32)
IDS = torch.zeros(1, 0, dtype=torch.int64)
PAIRS = BytePairs(len(VOCABULARY), [], range(1, 257))
YES = tokamata.compile(tokamata.literal("yes sir"), VOCABULARY)


class Even:
    """A model that finds all tokens equally likely."""

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> np.ndarray:
        return np.full((len(prefixes), len(VOCABULARY)), -np.log(len(VOCABULARY)))


def small(odd: Any) -> Any:
    """What is asked for so many times."""
    return -1 if isinstance(odd, int) and odd > 9 else odd


def none_for_class(odd: Any) -> Any:
    """A class can be called."""
    return None if odd is object else odd


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
    "Vocabulary, eos_token_ids": lambda odd: tokamata.Vocabulary([b"a", None], odd),
    "Vocabulary, eos": lambda odd: tokamata.Vocabulary([b"a", None], [odd]),
    "Vocabulary, adds_dummy_prefix": lambda odd: tokamata.Vocabulary([b"a", None], [1], adds_dummy_prefix=odd),
    "TokenAutomaton": lambda odd: tokamata.TokenAutomaton(odd, VOCABULARY),
    "TokenAutomaton, vocabulary": lambda odd: tokamata.TokenAutomaton(WORD, odd),
    "TokenAutomaton, cache_bytes": lambda odd: tokamata.TokenAutomaton(WORD, VOCABULARY, cache_bytes=odd),
    "load": lambda odd: tokamata.load("a.fst", odd),
    "load, cache_bytes": lambda odd: tokamata.load("a.fst", VOCABULARY, cache_bytes=odd),
    "save": lambda odd: AUTOMATON.save(os.devnull, max_states=odd),
    "to_fst": lambda odd: WORD.to_fst(odd),
    "accepts": lambda odd: DYNAMIC.accepts(odd),
    "accepts_prefix": lambda odd: DYNAMIC.accepts_prefix(odd),
    "compile, cache_bytes": lambda odd: tokamata.compile(WORD, VOCABULARY, cache_bytes=odd),
    "start": lambda odd: AUTOMATON.start(odd),
    "token_acceptor": lambda odd: AUTOMATON.token_acceptor(min_tokens=odd),
    "token_acceptor, max_states": lambda odd: AUTOMATON.token_acceptor(max_states=odd),
    "token_acceptor, max_bytes": lambda odd: AUTOMATON.token_acceptor(max_bytes=odd),
    "TokenAcceptor.expand": lambda odd: ACCEPTOR.expand(max_arcs=odd),
    "TokenAcceptor.tokens": lambda odd: ACCEPTOR.tokens(odd),
    "TokenAcceptor": lambda odd: tokamata.TokenAcceptor(odd, 3, {}),
    "TokenAcceptor, num_tokens": lambda odd: tokamata.TokenAcceptor(ACCEPTOR.fst, odd, {}),
    "TokenAcceptor, terminals": lambda odd: tokamata.TokenAcceptor(ACCEPTOR.fst, 3, odd),
    "TokenAcceptor, label": lambda odd: tokamata.TokenAcceptor(ACCEPTOR.fst, 3, named(odd)),
    "TokenAcceptor, ids": lambda odd: tokamata.TokenAcceptor(ACCEPTOR.fst, 3, {4: odd}),
    "TokenAcceptor.mask": lambda odd: ACCEPTOR.mask(odd),
    "to, device": lambda odd: AUTOMATON.to(odd),
    "to, kernels": lambda odd: AUTOMATON.to("cpu", kernels=odd),
    "DeviceAutomaton.joined": lambda odd: tokamata.DeviceAutomaton.joined(odd),
    "DeviceAutomaton.joined, part": lambda odd: tokamata.DeviceAutomaton.joined([odd]),
    "DeviceAutomaton.start": lambda odd: DEVICE.start(small(odd)),
    "DeviceAutomaton.start, which": lambda odd: DEVICE.start(1, odd),
    "DeviceAutomaton.start, each": lambda odd: DEVICE.start(1, [odd]),
    "DeviceAutomaton.apply": lambda odd: DEVICE.apply(odd, STATES),
    "DeviceAutomaton.apply, states": lambda odd: DEVICE.apply(LOGITS, odd),
    "DeviceAutomaton.advance": lambda odd: DEVICE.advance(odd, torch.tensor([1])),
    "DeviceAutomaton.advance, ids": lambda odd: DEVICE.advance(STATES, odd),
    "DeviceAutomaton.advance, out": lambda odd: DEVICE.advance(STATES, torch.tensor([1]), odd),
    "DeviceAutomaton.masks": lambda odd: DEVICE.masks(odd),
    "DeviceAutomaton.is_final": lambda odd: DEVICE.is_final(odd),
    "DeviceAutomaton.is_finished": lambda odd: DEVICE.is_finished(odd),
    "mask_logits_": lambda odd: mask_logits_(odd, MASKS),
    "mask_logits_, masks": lambda odd: mask_logits_(LOGITS, odd),
    "mask_logits_, size": lambda odd: mask_logits_(LOGITS, MASKS, odd),
    "mask_logits_, kernels": lambda odd: mask_logits_(LOGITS, MASKS, None, odd),
    "HostMasks": lambda odd: HostMasks(odd, "cpu", 9).close(),
    "HostMasks, device": lambda odd: HostMasks(batch(), odd, 9).close(),
    "HostMasks, width": lambda odd: HostMasks(batch(), "cpu", odd).close(),
    "HostMasks.apply": lambda odd: HostMasks(batch(), "cpu", len(VOCABULARY)).apply(odd),
    "jump_forward": lambda odd: jump_forward(odd, [], VOCABULARY, list),  # type: ignore[arg-type]
    "jump_forward, ids": lambda odd: jump_forward(YES.start(), odd, VOCABULARY, list),  # type: ignore[arg-type]
    "jump_forward, vocabulary": lambda odd: jump_forward(YES.start(), [], odd, list),  # type: ignore[arg-type]
    "jump_forward, encode": lambda odd: jump_forward(YES.start(), [], VOCABULARY, lambda text: odd),
    "jump_forward, no function": lambda odd: jump_forward(YES.start(), [], VOCABULARY, none_for_class(odd)),
    "jump_forward, token": lambda odd: jump_forward(YES.start(), [], VOCABULARY, lambda text: [odd]),
    "jump_forward, window": lambda odd: jump_forward(YES.start(), [], VOCABULARY, lambda text: [], window=odd),
    "heal": lambda odd: heal(odd, WORD, VOCABULARY),
    "heal, token": lambda odd: heal([odd], WORD, VOCABULARY),
    "heal, constraint": lambda odd: heal([98], odd, VOCABULARY),
    "heal, vocabulary": lambda odd: heal([98], WORD, odd),
    "heal, most": lambda odd: heal([98], WORD, VOCABULARY, most=odd),
    "ConstrainedLogitsProcessor": lambda odd: ConstrainedLogitsProcessor(odd),
    "ConstrainedLogitsProcessor, prompt_length": lambda odd: ConstrainedLogitsProcessor(AUTOMATON, odd),
    "ConstrainedLogitsProcessor, max_tokens": lambda odd: ConstrainedLogitsProcessor(AUTOMATON, 2, odd),
    "ConstrainedLogitsProcessor, ids": lambda odd: ConstrainedLogitsProcessor(AUTOMATON, 2)(odd, LOGITS),
    "ConstrainedLogitsProcessor, scores": lambda odd: ConstrainedLogitsProcessor(AUTOMATON, 0)(IDS, odd),
    "AutomatonCache": lambda odd: AutomatonCache(odd),
    "AutomatonCache, size": lambda odd: AutomatonCache(VOCABULARY, odd),
    "AutomatonCache.get": lambda odd: AutomatonCache(VOCABULARY).get(odd, lambda: WORD),
    "AutomatonCache.get, make": lambda odd: AutomatonCache(VOCABULARY).get(1, none_for_class(odd)),
    "Speculative": lambda odd: Speculative(odd, Even(), AUTOMATON),
    "Speculative, draft": lambda odd: Speculative(Even(), odd, AUTOMATON),
    "Speculative, automaton": lambda odd: Speculative(Even(), Even(), odd),
    "Speculative, lookahead": lambda odd: Speculative(Even(), Even(), AUTOMATON, lookahead=odd),
    "Speculative, constrain_draft": lambda odd: Speculative(Even(), Even(), AUTOMATON, constrain_draft=odd),
    "Speculative, seed": lambda odd: Speculative(Even(), Even(), AUTOMATON, seed=odd),
    "Speculative.sample": lambda odd: Speculative(Even(), Even(), YES).sample(small(odd)),
    "Pretokenizer": lambda odd: Pretokenizer(odd),
    "Pretokenizer, pattern": lambda odd: Pretokenizer([odd]),
    "Pretokenizer, engine": lambda odd: Pretokenizer(["a+|b"], odd),
    "Pretokenizer.from_tokenizer_json": lambda odd: Pretokenizer.from_tokenizer_json(odd),
    "BytePairs": lambda odd: BytePairs(odd, [], []),
    "BytePairs, merges": lambda odd: BytePairs(3, odd, []),
    "BytePairs, merge": lambda odd: BytePairs(3, [odd], []),
    "BytePairs, id": lambda odd: BytePairs(3, [(0, 1, odd)], [0]),
    "BytePairs, units": lambda odd: BytePairs(3, [], odd),
    "BytePairs, unit": lambda odd: BytePairs(3, [], [odd]),
    "BytePairs, pretokenizer": lambda odd: BytePairs(3, [], [], pretokenizer=odd),
    "BytePairs, texts": lambda odd: BytePairs(3, [], [], texts=odd),
    "BytePairs, whole_pieces": lambda odd: BytePairs(3, [], [], whole_pieces=odd),
    "BytePairs.after": lambda odd: PAIRS.after(odd),
    "BytePairs.neighbours": lambda odd: PAIRS.neighbours(1, odd),
    "from_tiktoken": lambda odd: BytePairs.from_tiktoken(odd, "(?s:.+)"),
    "from_tiktoken, token": lambda odd: BytePairs.from_tiktoken(named(odd), "(?s:.+)"),
    "from_tiktoken, rank": lambda odd: BytePairs.from_tiktoken({b"a": odd}, "(?s:.+)"),
    "from_tiktoken, pattern": lambda odd: BytePairs.from_tiktoken({b"a": 0}, odd),
    "CanonicalAutomaton": lambda odd: CanonicalAutomaton(odd, PAIRS),
    "CanonicalAutomaton, pairs": lambda odd: CanonicalAutomaton(AUTOMATON, odd),
    "CanonicalAutomaton, cache_bytes": lambda odd: CanonicalAutomaton(AUTOMATON, PAIRS, cache_bytes=odd),
    "CanonicalAutomaton, max_nodes": lambda odd: CanonicalAutomaton(AUTOMATON, PAIRS, max_nodes=odd),
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
    "BatchState, row": lambda odd: batch()[odd],
    "BatchState, state": lambda odd: batch().__setitem__(0, odd),
    "BatchState.assign": lambda odd: batch().assign(odd),
    "BatchState.leave": lambda odd: batch().leave(odd),
    "BatchState.join": lambda odd: batch().join(odd),
    "BatchState.reorder": lambda odd: batch().reorder(odd),
    "BatchState.advance": lambda odd: batch().advance(odd),
    "BatchState.advance, token": lambda odd: batch().advance([odd, odd]),
    "BatchState.rollback": lambda odd: batch().rollback(odd),
    "BatchState.rollback, count": lambda odd: batch().rollback([odd, 0]),
    "BatchState.masks": lambda odd: batch().masks(odd),
    "difference_example": lambda odd: tokamata.json_schema({}).difference_example(odd),
}
INSIDE = (
    "start: ",
    "vocabulary: ",
    "pretokenizer: ",
    "canonical: ",
    "a.fst: ",
    "to_fst: ",
)  # of what arguments that are in order say
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
            assert text.startswith((f"{function}: ", *INSIDE)), (odd, text)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tokamata.Vocabulary([b"a", None], [1], adds_dummy_prefix="no"),  # type: ignore[arg-type]
        lambda: tokamata.load("a.fst", VOCABULARY, cache_bytes=-1),
        lambda: tokamata.TokenAcceptor(None, 3, {}),  # type: ignore[arg-type]
        lambda: AUTOMATON.to(None),  # type: ignore[arg-type]
        lambda: AUTOMATON.to("cuda:99"),
        lambda: HostMasks(batch(), "cuda:99", 300),
        lambda: DEVICE.start(-1),
        lambda: DEVICE.is_finished(None),  # type: ignore[arg-type]
        lambda: mask_logits_(LOGITS, MASKS, -1),
        lambda: HostMasks(None, "cpu", 9),  # type: ignore[arg-type]
        lambda: HostMasks(batch(), "cpu", None),  # type: ignore[arg-type]
        lambda: HostMasks(batch(), "cpu", -1),
        lambda: jump_forward(YES.start(), [], VOCABULARY, lambda text: [], window=0),
        lambda: AutomatonCache(None),  # type: ignore[arg-type]
        lambda: Speculative(None, Even(), AUTOMATON),  # type: ignore[arg-type]
        lambda: Speculative(Even(), None, AUTOMATON),  # type: ignore[arg-type]
        lambda: Speculative(Even(), Even(), AUTOMATON, constrain_draft="no"),  # type: ignore[arg-type]
        lambda: Speculative(Even(), Even(), AUTOMATON).sample(-1),
        lambda: Pretokenizer("ab"),
        lambda: Pretokenizer(["a+|b"], "engine"),  # type: ignore[arg-type]
        lambda: BytePairs(3, [], [], texts="a"),  # type: ignore[arg-type]
        lambda: BytePairs(3, [], [], pretokenizer="a"),  # type: ignore[arg-type]
        lambda: ConstrainedLogitsProcessor(AUTOMATON, 2, "a"),  # type: ignore[arg-type]
    ],
)
def test_nonsense_is_not_taken(call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^(?!start)[\w.]+: expected .* got .*; "):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda many: AUTOMATON.token_acceptor(min_tokens=-many),
        lambda many: ACCEPTOR.expand(max_arcs=-many),
        lambda many: AUTOMATON.to("cpu", max_states=-many),
        lambda many: BatchState([], threads=-many),
        lambda many: tokamata.compile(WORD, VOCABULARY, cache_bytes=-many),
        lambda many: tokamata.Vocabulary([b"a", None], [many]),
        lambda many: tokamata.Vocabulary([b"a", None], [1], special_tokens={"x": many}),
    ],
)
def test_numbers_that_are_too_long_to_be_shown(call: Callable[[int], Any]) -> None:
    with pytest.raises(ValueError, match=r"^[\w.]+: .*a number of 16610 bits"):
        call(10**5000)


def test_what_does_not_join_takes_no_row() -> None:
    rows = batch()
    with pytest.raises(TypeError, match=r"^BatchState.join: expected a DecodeState"):
        rows.join(5)  # type: ignore[arg-type]
    assert len(rows) == 2


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
