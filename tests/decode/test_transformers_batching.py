"""Continuous batching of transformers: requests come and go, each inside of its own constraint."""

from __future__ import annotations

import logging
import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tokamata.decode.canonical import BytePairs, CanonicalAutomaton
from tokamata.decode.transformers_batching import RequestConstraints, attach
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.generation import ContinuousBatchingConfig

import tokamata

TOKENS: list[bytes | None] = [None, None, *(bytes([c]) for c in b"abcdefghij0123456789-"), b"ab", b"12", b"yes", b"no"]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[1])
PATTERNS = ["[a-e]{2,6}-[0-9]{2,5}", "yes|no", "(ab|12){3}", "[0-9]{12}"]


def model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(TOKENS) + 3, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, bos_token_id=None, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval().to("cuda" if torch.cuda.is_available() else "cpu")


def make_manager(**generation: Any) -> Any:
    settings = GenerationConfig(max_new_tokens=24, do_sample=True, eos_token_id=1, pad_token_id=0, **generation)
    config = ContinuousBatchingConfig(
        use_async_batching=False, use_cuda_graph=False, num_blocks=16, max_batch_tokens=64
    )
    return model().init_continuous_batching(generation_config=settings, continuous_batching_config=config)


def results(manager: Any, count: int) -> dict[str, Any]:
    done: dict[str, Any] = {}
    while len(done) < count:
        result = manager.get_result(timeout=20)
        assert result is not None
        if result.is_finished():
            done[result.request_id] = result
    return done


def test_each_request_keeps_to_its_constraint() -> None:
    manager = make_manager()
    attach(manager, threads=2)
    manager.start()
    rng = random.Random(2)
    automata: list[Any] = [tokamata.compile(tokamata.regex(p), VOCABULARY) for p in PATTERNS]
    merges = [(TOKENS.index(bytes([t[0]])), TOKENS.index(bytes([t[1]])), TOKENS.index(t)) for t in (b"ab", b"12")]
    automata[2] = CanonicalAutomaton(automata[2], BytePairs(len(TOKENS), merges, range(2, 23)))
    asked: dict[str, Any] = {}
    try:
        for i in range(10):
            automaton = automata[i % 5] if i % 5 < 4 else None
            more = {"constraint": automaton} if automaton else {}
            prompt = [rng.randrange(2, 20) for _ in range(rng.randrange(1, 9))]
            asked[manager.add_request(prompt, request_id=f"r{i}", max_new_tokens=10 + 2 * i, **more)] = automaton
        done = {name: result.generated_tokens for name, result in results(manager, len(asked)).items()}
    finally:
        manager.stop(block=True)
    ended = 0
    for name, automaton in asked.items():
        if automaton is None:
            continue
        written = done[name]
        assert automaton.start().validate(written) == len(written), (name, written)
        ended += written[-1] == 1
    assert ended >= 6


def test_asynchronous_batching_is_refused() -> None:
    class Manager:
        continuous_batching_config = ContinuousBatchingConfig(use_async_batching=True)

    with pytest.raises(ValueError, match="pass ContinuousBatchingConfig\\(use_async_batching=False\\)"):
        attach(Manager())


def test_a_name_that_comes_again_names_another_request() -> None:
    manager = make_manager()
    attach(manager)
    manager.start()
    automata = [tokamata.compile(tokamata.regex(p), VOCABULARY) for p in ("yes", "[0-9]{12}")]
    try:
        for automaton in automata * 2:
            manager.add_request([3, 4], request_id="r", max_new_tokens=1, constraint=automaton)
            written = results(manager, 1)["r"].generated_tokens
            assert automaton.start().validate(written) == len(written) == 1
    finally:
        manager.stop(block=True)


def test_children_and_requests_that_were_put_back_keep_to_it() -> None:
    manager = make_manager(num_return_sequences=3)
    attach(manager)
    manager.start()
    automaton = tokamata.compile(tokamata.regex("[a-e]{3}[0-9]{4,30}-"), VOCABULARY)
    try:
        for i in range(6):
            manager.add_request([2 + i] * 40, max_new_tokens=60, constraint=automaton)
        for result in results(manager, 18).values():
            written = result.generated_tokens
            assert result.error is None
            assert automaton.start().validate(written) == len(written) > 7
    finally:
        manager.stop(block=True)


def test_a_request_in_trouble_ends_alone(caplog: pytest.LogCaptureFixture) -> None:
    """One that a callback fails, one of another vocabulary, and one beside them, which goes on."""
    tokens = [None, None, *(bytes([b]) for b in range(256))]
    large = tokamata.Vocabulary(tokens, [1])

    def callback(text: str) -> tokamata.Constraint:
        return tokamata.choice([str(1 / len(text))])

    dynamic = tokamata.compile(tokamata.dynamic(callback), large)
    foreign = tokamata.compile(tokamata.regex("[a-z]+"), large)
    good = tokamata.compile(tokamata.regex("yes|no"), VOCABULARY)
    manager = make_manager()
    attach(manager)
    manager.start()
    caplog.set_level(logging.ERROR, "tokamata.decode.transformers_batching")
    try:
        for name, automaton in (("dynamic", dynamic), ("foreign", foreign), ("good", good)):
            manager.add_request([3, 4, 5], request_id=name, constraint=automaton)
        done = results(manager, 3)
    finally:
        manager.stop(block=True)
    assert done["dynamic"].generated_tokens == done["foreign"].generated_tokens == [1]
    assert done["good"].generated_tokens in ([TOKENS.index(b"yes"), 1], [TOKENS.index(b"no"), 1])
    assert "division by zero" in caplog.text
    assert "none of the tokens that its constraint allows is among the model's 30" in caplog.text


def test_a_limit_while_tokens_are_read_ends_the_request_alone(caplog: pytest.LogCaptureFixture) -> None:
    def full(token: int) -> None:
        raise tokamata.LimitError("full")

    automaton: Any = SimpleNamespace(
        start=lambda: SimpleNamespace(is_finished=False, advance=full), vocabulary=VOCABULARY
    )
    other = tokamata.compile(tokamata.regex("yes"), VOCABULARY)

    def request(name: str, constraint: Any, written: list[int]) -> Any:
        state = SimpleNamespace(
            request_id=name, logit_processor_kwargs={"constraint": constraint}, initial_tokens=[5, *written],
            generated_tokens=[], _true_initial_tokens=1, _eos_token_ids={1},
        )  # fmt: skip
        return SimpleNamespace(state=state)

    rows = RequestConstraints()
    requests = [request("r", automaton, [5, 6]), request("s", other, [])]
    for _ in range(2):
        scores = torch.zeros(2, len(TOKENS) + 3)
        rows(scores, rows.prepare_tensor_args(requests))
        assert [torch.nonzero(~torch.isinf(row)).flatten().tolist() for row in scores] == [[1], [TOKENS.index(b"yes")]]
    assert "request r: full" in caplog.text


def test_attach_comes_once_and_before_start() -> None:
    manager = make_manager()
    assert attach(manager) is attach(manager)
    assert manager.logit_processor.tensors_required == 1
    manager = make_manager()
    manager.start()
    try:
        with pytest.raises(ValueError, match=r"call attach before manager\.start\(\)"):
            attach(manager)
    finally:
        manager.stop(block=True)
