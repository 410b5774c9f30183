"""The vLLM backend against a stand-in for vLLM 0.33.0: its abstract classes, its names, and what its manager calls."""

from __future__ import annotations

import enum
import json
import random
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from oracle.tiny_model import byte_tokenizer
from tokamata.decode.engines import vllm as engine
from transformers import PreTrainedTokenizerFast

import tokamata

SIZE = 300  # of the model; the tokenizer has fewer


class StructuredOutputOptions(enum.Enum):
    JSON = enum.auto()
    JSON_OBJECT = enum.auto()
    REGEX = enum.auto()
    GRAMMAR = enum.auto()
    CHOICE = enum.auto()
    STRUCTURAL_TAG = enum.auto()


class StructuredOutputGrammar(ABC):
    @abstractmethod
    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool: ...
    @abstractmethod
    def validate_tokens(self, tokens: list[int]) -> list[int]: ...
    @abstractmethod
    def rollback(self, num_tokens: int) -> None: ...
    @abstractmethod
    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None: ...
    @abstractmethod
    def is_terminated(self) -> bool: ...
    @abstractmethod
    def reset(self) -> None: ...


@dataclass
class StructuredOutputBackend(ABC):
    vllm_config: Any
    tokenizer: Any
    vocab_size: int

    @abstractmethod
    def compile_grammar(
        self, request_type: StructuredOutputOptions, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> StructuredOutputGrammar: ...
    @abstractmethod
    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor: ...
    @abstractmethod
    def destroy(self) -> None: ...


class VLLMValidationError(ValueError):
    pass


def key_of(asked: Any) -> tuple[StructuredOutputOptions, str]:
    return StructuredOutputOptions[asked.kind], asked.text


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The modules that `register` and `validate` touch."""
    names = {
        "vllm": {},
        "vllm.exceptions": {"VLLMValidationError": VLLMValidationError},
        "vllm.v1": {},
        "vllm.v1.structured_output": {"GuidanceBackend": object},
        "vllm.v1.structured_output.backend_types": {
            "StructuredOutputBackend": StructuredOutputBackend,
            "StructuredOutputGrammar": StructuredOutputGrammar,
        },
        "vllm.v1.structured_output.backend_guidance": {"GuidanceBackend": object, "validate_guidance_grammar": None},
        "vllm.v1.structured_output.request": {"get_structured_output_key": key_of},
    }
    for name, parts in names.items():
        module = ModuleType(name)
        module.__dict__.update(parts)
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
    return sys.modules["vllm.v1.structured_output"]


def tokenizer() -> PreTrainedTokenizerFast:
    return byte_tokenizer(["<end>", "<turn>"], [("a", "b"), ("1", "2")])


def config(**options: bool) -> Any:
    defaults = {"disable_any_whitespace": False, "disable_additional_properties": False}
    return SimpleNamespace(structured_outputs_config=SimpleNamespace(**defaults | options))


@pytest.fixture
def backend(manager: ModuleType) -> Any:
    engine.register()
    made = manager.GuidanceBackend(config(), tokenizer=tokenizer(), vocab_size=SIZE)
    assert isinstance(made, StructuredOutputBackend)
    assert sys.modules["vllm.v1.structured_output.backend_guidance"].GuidanceBackend is manager.GuidanceBackend
    return made


def allowed(bitmask: torch.Tensor, row: int) -> list[int]:
    bits = np.unpackbits(bitmask[row].numpy().view(np.uint8), bitorder="little")
    return np.flatnonzero(bits).tolist()


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TAGS = json.dumps({"structures": [{"begin": "<f>", "schema": SCHEMA, "end": "</f>"}], "triggers": ["<f"]})
REQUESTS = {
    "JSON": (json.dumps(SCHEMA), '{"a": 12}'),
    "STRUCTURAL_TAG": (TAGS, 'b a 12 <f>{"a": 1}</f> ab'),
    "JSON_OBJECT": ("", '{"ab": 1}'),
    "REGEX": (r"[ab]{3}12", "abb12"),
    "GRAMMAR": ('root ::= "a" root "b" | "12"', "aa12bb"),
    "CHOICE": ('["ab", "ab12"]', "ab12"),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_decoding_as_the_manager_does(backend: Any, kind: str) -> None:
    text, member = REQUESTS[kind]
    grammar = backend.compile_grammar(StructuredOutputOptions[kind], text, stop_token_ids={0})
    assert isinstance(grammar, StructuredOutputGrammar)
    vocabulary = tokamata.Vocabulary.from_transformers(tokenizer(), size=SIZE)
    state = tokamata.compile(engine.constraint_of(kind.lower(), text), vocabulary).start()
    bitmask = backend.allocate_token_bitmask(3)
    assert bitmask.shape == (3, -(-SIZE // 32))
    assert (bitmask == -1).all()
    for token in [*tokenizer()(member).input_ids, 0]:
        assert not grammar.is_terminated()
        grammar.fill_bitmask(bitmask, 1)
        np.testing.assert_array_equal(bitmask[1].numpy(), state.mask())
        assert grammar.validate_tokens([token, -1, token]) == [token]
        padding = SIZE - 1  # which nothing allows
        assert grammar.accept_tokens("r", [token, padding, padding]) == (token == 0)
        if token == 0:  # taken, with what follows the end
            grammar.rollback(3)
        grammar.fill_bitmask(bitmask, 2)
        assert (bitmask[1] == bitmask[2]).all()
        assert grammar.accept_tokens("r", [token])
        state.advance(token)
    assert grammar.is_terminated()
    grammar.fill_bitmask(bitmask, 0)
    assert allowed(bitmask, 0) == [0]
    grammar.reset()
    assert not grammar.is_terminated()
    assert grammar.validate_tokens(tokenizer()(member).input_ids) == tokenizer()(member).input_ids


def test_speculation_leaves_no_trace(backend: Any) -> None:
    seed = 20261121
    rng = random.Random(seed)
    grammar = backend.compile_grammar(StructuredOutputOptions.REGEX, "(ab|a|b|12){2,9}")
    bitmask = backend.allocate_token_bitmask(2)
    for _ in range(200):
        grammar.fill_bitmask(bitmask, 0)
        if grammar.is_terminated():
            grammar.reset()
            continue
        taken = 0
        for _ in range(rng.randrange(5)):  # a draft, of which the target takes nothing
            if grammar.is_terminated():
                break
            grammar.fill_bitmask(bitmask, 1)
            taken += grammar.accept_tokens("r", [rng.choice(allowed(bitmask, 1))])
        grammar.rollback(taken)
        grammar.fill_bitmask(bitmask, 1)
        assert (bitmask[0] == bitmask[1]).all(), seed
        assert grammar.accept_tokens("r", [rng.choice(allowed(bitmask, 0))])


def test_a_rollback_that_is_refused_changes_nothing(backend: Any) -> None:
    grammar = backend.compile_grammar(StructuredOutputOptions.REGEX, "ab")
    ab = tokenizer()("ab").input_ids
    assert grammar.accept_tokens("r", [*ab, 0, 7, 7])
    for count in (len(ab) + 4, -1):
        with pytest.raises(IndexError):
            grammar.rollback(count)
    assert grammar.is_terminated()
    grammar.rollback(2)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
    assert grammar.validate_tokens([0]) == [0]


def test_stop_tokens_of_a_request_end_its_text(backend: Any) -> None:
    bitmask = backend.allocate_token_bitmask(1)
    for stops, expected in ({0}, [0]), ({1, 258}, [0, 1]), (None, [0]), ({-1, SIZE, 10**9}, [0]):
        grammar = backend.compile_grammar(StructuredOutputOptions.REGEX, "12", stop_token_ids=stops)
        assert grammar.accept_tokens("r", [259])
        grammar.fill_bitmask(bitmask, 0)
        assert allowed(bitmask, 0) == expected
        assert grammar.accept_tokens("r", [expected[-1]])
        assert grammar.is_terminated()


def test_constraints_are_compiled_once(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    constraint_of = engine.constraint_of
    monkeypatch.setattr(engine, "constraint_of", lambda *a, **k: built.append(a) or constraint_of(*a, **k))
    for _ in range(3):
        backend.compile_grammar(StructuredOutputOptions.REGEX, "ab*")
    backend.compile_grammar(StructuredOutputOptions.REGEX, "ab+")
    assert built == [("regex", "ab*"), ("regex", "ab+")]


def test_a_limit_in_the_middle_of_a_text_ends_the_request_alone(backend: Any, caplog: Any) -> None:
    full = Mock(side_effect=tokamata.LimitError("full"))
    taken: list[int] = []
    state = SimpleNamespace(is_finished=False, fill_mask=full, validate=full, rollback=taken.append)
    state.advance = Mock(side_effect=[None, tokamata.LimitError("full")])
    grammar = backend.grammar_class(state, [0, 258])
    bitmask = backend.allocate_token_bitmask(2)
    grammar.fill_bitmask(bitmask, 0)
    assert allowed(bitmask, 0) == [0, 258]
    assert (bitmask[1] == -1).all()
    assert grammar.validate_tokens([5, 6]) == []
    assert not grammar.accept_tokens("r7", [5, 6, 7])  # vLLM ends the request with an error
    assert taken == [1]
    assert "request r7: full" in caplog.text


def test_errors_reach_the_request(backend: Any) -> None:
    with pytest.raises(tokamata.ConstraintError, match="unterminated group"):
        backend.compile_grammar(StructuredOutputOptions.REGEX, "(a")
    check = sys.modules["vllm.v1.structured_output.backend_guidance"].validate_guidance_grammar
    check(SimpleNamespace(structured_outputs=None), tokenizer=None)
    check(SimpleNamespace(structured_outputs=SimpleNamespace(kind="REGEX", text="a+")), tokenizer=None)
    with pytest.raises(VLLMValidationError, match="uniqueItems"):
        schema = json.dumps({"type": "array", "uniqueItems": True, "contains": {}})
        check(SimpleNamespace(structured_outputs=SimpleNamespace(kind="JSON", text=schema)))
    with pytest.raises(tokamata.ConstraintError, match="disable_additional_properties"):
        engine.Backend(config(disable_additional_properties=True), tokenizer(), SIZE)
    assert engine.Backend.is_tokenizer_supported(tokenizer())
    assert not engine.Backend.is_tokenizer_supported(object())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"structures": [], "triggers": ["<"]}', '{"format": {}}'])
def test_malformed_tags_are_refused(backend: Any, text: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match="structural_tag"):
        backend.compile_grammar(StructuredOutputOptions.STRUCTURAL_TAG, text)


def test_white_space_can_be_switched_off(manager: ModuleType) -> None:
    made = engine.Backend(config(disable_any_whitespace=True), tokenizer(), SIZE)
    grammar = made.compile_grammar(StructuredOutputOptions.JSON, REQUESTS["JSON"][0])
    assert len(grammar.validate_tokens(tokenizer()('{"a": 1}').input_ids)) == len('{"a":')
    assert len(grammar.validate_tokens(tokenizer()('{"a":1}').input_ids)) == len('{"a":1}')
