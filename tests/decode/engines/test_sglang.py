"""The SGLang backend through SGLang's own classes; `make engines` installs what they need and runs this."""

from __future__ import annotations

import argparse
import json
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from oracle import mask_walk
from oracle.tiny_model import byte_tokenizer
from transformers import PreTrainedTokenizerFast

import tokamata

base = pytest.importorskip(
    "sglang.srt.constrained.base_grammar_backend", reason="needs SGLang: make engines installs it"
)

SIZE = 300


def tokenizer() -> PreTrainedTokenizerFast:
    return byte_tokenizer(["<end>", "<turn>"], [("a", "b"), ("1", "2")])


@pytest.fixture
def backend() -> Any:
    from tokamata.decode.engines import sglang as engine

    engine.register("tokamata")
    make = base.GRAMMAR_BACKEND_REGISTRY["tokamata"]
    made = make(SimpleNamespace(), tokenizer(), SIZE, {0, 1})
    assert isinstance(made, base.BaseGrammarBackend)
    return made


def grammar_of(backend: Any, kind: str, text: str) -> Any:
    value, hit = backend.get_cached_or_future_value((kind, text), False)
    assert isinstance(value, Future) != hit
    grammar = value if hit else value.result(30)
    backend.set_cache((kind, text), grammar.copy())
    return grammar


SCHEMA = json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
TAGS = json.dumps({"structures": [{"begin": "<f>", "schema": json.loads(SCHEMA), "end": "</f>"}], "triggers": ["<f"]})
REQUESTS = {
    "json": (SCHEMA, '{"a": 12}'),
    "regex": (r"[ab]{3}12", "abb12"),
    "ebnf": ('root ::= "a" root "b" | "12"', "aa12bb"),
    "structural_tag": (TAGS, 'b a 12 <f>{"a": 1}</f> ab'),
}


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("kind", REQUESTS)
def test_decoding_as_the_scheduler_does(backend: Any, kind: str, again: bool) -> None:
    text, member = REQUESTS[kind]
    grammar = grammar_of(backend, kind, text)
    if again:
        grammar = grammar_of(backend, kind, text)
    mask = grammar.allocate_vocab_mask(SIZE, 2, "cpu")
    for token in [*tokenizer()(member).input_ids, 1]:
        assert not grammar.is_terminated()
        grammar.reset_vocab_mask(mask)
        grammar.fill_vocab_mask_batched([base.GrammarRow(1, grammar)], mask)
        assert (mask[0] == -1).all()
        logits = torch.zeros(2, SIZE)
        base.GrammarMask(grammar, grammar.move_vocab_mask(mask, "cpu")).apply(logits)
        assert logits[1, token] == 0
        assert not torch.isinf(logits[0]).any()
        refused = int(torch.nonzero(torch.isinf(logits[1]))[0])
        with pytest.raises(ValueError, match="advance: token"):
            grammar.accept_token(refused)
        grammar.accept_token(token)
        grammar.rollback(1)
        other = grammar.copy()
        grammar.accept_token(token)
        other.fill_vocab_mask(mask, 0)
        np.testing.assert_array_equal(mask[0].numpy(), mask[1].numpy())
    assert grammar.is_terminated()
    assert grammar.finished
    assert not other.finished


def test_jumps(backend: Any) -> None:
    grammar = grammar_of(backend, "regex", "[ab]x?: [ab]")
    grammar.accept_token(tokenizer()("a").input_ids[0])
    assert grammar.try_jump_forward(tokenizer()) is None
    grammar.accept_token(tokenizer()("x").input_ids[0])
    tokens, text = grammar.try_jump_forward(tokenizer())
    assert tokens == tokenizer()(": ").input_ids
    assert text == ""
    for token in tokens:
        grammar.accept_token(token)
    assert grammar.try_jump_forward(tokenizer()) is None
    spelled = grammar_of(backend, "regex", "[ab]{4}")
    old, new = tokenizer()("aab").input_ids, [*tokenizer()("aa").input_ids, *tokenizer()("b").input_ids]
    for token in old:
        spelled.accept_token(token)
    spelled.jump_and_retokenize(old, new, -1)
    mask = spelled.allocate_vocab_mask(SIZE, 1, "cpu")
    spelled.fill_vocab_mask(mask, 0)
    bits = np.unpackbits(mask.numpy().view(np.uint8), bitorder="little")
    assert [tokenizer().decode([t]) for t in np.flatnonzero(bits)] == ["a", "b"]
    spelled.rollback(len(new))
    assert spelled.copy() is not spelled


def test_a_limit_in_the_middle_of_a_text_ends_the_request_alone(backend: Any) -> None:
    from tokamata.decode.engines.sglang import Grammar

    full = Mock(side_effect=tokamata.LimitError("full"))
    state: Any = SimpleNamespace(is_finished=False, advance=full, fill_mask=full, forced_tokens=full, num_tokens=3)
    grammar = Grammar(state, -(-SIZE // 32), [0, 1])
    mask = grammar.allocate_vocab_mask(SIZE, 1, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    assert mask_walk.allowed(mask.numpy()) == [0, 1]
    assert grammar.try_jump_forward(tokenizer()) is None
    with pytest.raises(ValueError, match="full"):
        grammar.accept_token(5)


def walk(grammar: Any, tree: dict[int, Any], masks: torch.Tensor, row: int = 0) -> int:
    """Fill the rows of a tree of drafts, as SGLang's verification does; errors would end its scheduler."""
    grammar.fill_vocab_mask(masks, row)
    allowed, last = mask_walk.allowed(masks[row : row + 1].numpy()), row
    for token, below in tree.items():
        last += 1
        if token in allowed:
            grammar.accept_token(token)
            if not grammar.is_terminated():
                last = walk(grammar, below, masks, last)
            grammar.rollback(1)
    return last


def test_a_limit_in_a_tree_of_drafts_ends_the_request_alone() -> None:
    from tokamata.decode.engines.sglang import Grammar

    class Full:
        """A state of any text that runs into limits: its masks after two tokens, its steps after three."""

        is_finished, num_tokens = False, 0

        def fill_mask(self, mask: torch.Tensor, row: int) -> None:
            if self.num_tokens == 2:
                raise tokamata.LimitError("full")
            mask[row] = -2  # all but token 0, which is EOS

        def advance(self, token: int) -> None:
            if token == 0:
                raise tokamata.TokenRejected("the text is not complete")
            if self.num_tokens == 3:
                raise tokamata.LimitError("full")
            self.num_tokens += 1

        def rollback(self, k: int) -> None:
            assert 0 <= k <= self.num_tokens
            self.num_tokens -= k

        copy = None

    state: Any = Full()
    grammar = Grammar(state, -(-SIZE // 32), [0, 1], drafts=True)
    tree: dict[int, Any] = {5: {6: {0: {}, 1: {2: {}}}, 7: {}}, 0: {}}
    masks = grammar.allocate_vocab_mask(SIZE, 8, "cpu")
    walk(grammar, tree, masks)
    assert state.num_tokens == 0
    assert not grammar.is_terminated()
    assert not grammar.finished
    grammar.accept_token(5)
    grammar.accept_token(6)
    grammar.fill_vocab_mask(masks, 0)
    assert mask_walk.allowed(masks[:1].numpy()) == [0, 1]
    with pytest.raises(ValueError, match="not complete"):
        Grammar(state, 10, [0, 1], drafts=True).accept_token(0)  # no mask ran into a limit here
    grammar.accept_token(0)
    assert grammar.is_terminated()
    assert grammar.finished
    grammar.accept_token(9)  # nothing comes behind the end
    grammar.rollback(2)
    assert (state.num_tokens, grammar.is_terminated(), grammar.finished) == (1, False, False)


def test_the_name_is_a_choice_of_the_command_line(backend: Any) -> None:
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    assert parser.parse_args(["--model-path", "m", "--grammar-backend", "tokamata"]).grammar_backend == "tokamata"


def test_the_last_token_is_told(backend: Any) -> None:
    """By it SGLang sees, when it begins anew with a request, that the token was taken before."""
    grammar = grammar_of(backend, "regex", "ab*")
    assert grammar.current_token is None
    grammar.accept_token(tokenizer()("a").input_ids[0])
    assert grammar.current_token == tokenizer()("a").input_ids[0]


@pytest.mark.parametrize("strict", [False, True])
def test_the_constraint_begins_behind_the_reasoning(strict: bool) -> None:
    from tokamata.decode.engines import sglang as engine

    thinker = byte_tokenizer(["<end>", "<think>", "</think>"], [("a", "b"), ("1", "2")])
    close, one, end = thinker("</think>").input_ids[0], thinker("1").input_ids[0], 0
    server = SimpleNamespace(reasoning_parser="qwen3", enable_strict_thinking=strict)
    made = engine.create(server, thinker, SIZE, {0})
    for key in (("regex", "1"), ("json", '{"const": 1}')):
        for _ in range(2):
            value, hit = made.get_cached_or_future_value(key, True)
            grammar = value if hit else value.result(30)
            made.set_cache(key, grammar.copy())
            grammar.maybe_init_reasoning(True)
            masks = grammar.allocate_vocab_mask(SIZE, 1, "cpu")
            for token in [*thinker("ab").input_ids, end, close]:
                grammar.fill_vocab_mask(masks, 0)
                assert token in mask_walk.allowed(masks.numpy())
                grammar.accept_token(token)
            for token in (one, end):
                assert not grammar.is_terminated()
                grammar.fill_vocab_mask(masks, 0)
                assert mask_walk.allowed(masks.numpy()) == [token]
                grammar.accept_token(token)
            assert grammar.is_terminated()
            grammar.rollback(3)
            assert not grammar.is_terminated()
        value, hit = made.get_cached_or_future_value(key, False)
        value.fill_vocab_mask(masks, 0)
        assert mask_walk.allowed(masks.numpy()) == [one]
    assert isinstance(made.get_cached_or_future_value(("regex", "(a"), True)[0].result(30), base.InvalidGrammarObject)


def test_refusals_carry_the_reason(backend: Any) -> None:
    invalid = grammar_of(backend, "regex", "ab") and backend.dispatch_regex("(a")
    assert isinstance(invalid, base.InvalidGrammarObject)
    assert "regex" in invalid.error_message
    invalid = backend.dispatch_structural_tag("{}")
    assert isinstance(invalid, base.InvalidGrammarObject)


def test_any_object(backend: Any) -> None:
    grammar = grammar_of(backend, "json", "$$ANY$$")
    for token in tokenizer()('{"ab": [1]}').input_ids:
        grammar.accept_token(token)
    grammar.accept_token(0)
    assert grammar.is_terminated()
    assert tokamata.json_schema({"type": "object"}).accepts('{"ab": [1]}')
