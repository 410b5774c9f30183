"""Constraints for transformers' continuous batching: each request names its own.

Follows transformers 5 (``transformers.generation.continuous_batching``, ``ContinuousBatchingLogitsProcessor``): the
library calls `RequestConstraints` as it calls its own processors of requests, without their being registered there.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import DecodeState
from ..automata.errors import TokenRejected
from .batch_state import BatchState
from .masked_logits import mask_logits_
from .token_automaton import TokenAutomaton

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)


def attach(manager: Any, *, threads: int | None = None) -> RequestConstraints:
    """Let the requests of a continuous batching manager name constraints.

    Afterwards ``manager.add_request(ids, constraint=automaton)`` keeps that request inside of what
    :func:`tokamata.compile` returned; requests without one are free. Call it between ``init_continuous_batching`` and
    ``start``. Masks need each token before the next step, so batching has to be synchronous and without CUDA graphs:
    ``ContinuousBatchingConfig(use_async_batching=False, use_cuda_graph=False)``.

    Args:
        manager: what ``model.init_continuous_batching`` returned.
        threads: see BatchState.

    Raises:
        ValueError: asynchronous batching or CUDA graphs.
    """
    config = manager.continuous_batching_config
    for name in ("use_async_batching", "use_cuda_graph"):
        setting = getattr(config, name, False)
        if any(setting) if isinstance(setting, (tuple, list)) else setting:
            raise ValueError(
                f"attach: masks need each token before the next step; pass ContinuousBatchingConfig({name}=False)"
            )
    from transformers.generation.continuous_batching import cb_logits_processors

    processor = RequestConstraints(threads)
    cb_logits_processors.ContinuousBatchingLogitsProcessor.register(RequestConstraints)
    processors = manager.logit_processor
    processors.logits_processor.insert(0, processor)
    processors.tensors_required += 1
    processors.supported_keys.update(processor.supported_kwargs)
    processors.do_processing = True
    return processor


class RequestConstraints:
    """Masks of the requests of a step; made by `attach`.

    A request whose tokens leave its constraint (which sampling under the masks cannot do) or whose mask runs into a
    limit ends with EOS; the reason is logged.
    """

    supported_kwargs = {"constraint": TokenAutomaton}  # noqa: RUF012
    ignored_kwargs: tuple[str, ...] = ()

    def __init__(self, threads: int | None = None) -> None:
        """No request is known yet."""
        self._batch = BatchState([], threads)
        self._known: dict[str, tuple[DecodeState, int]] = {}  # by request: its state, and the tokens that it has read

    def fill_defaults(self, int32_tensor: torch.Tensor) -> None:
        """Rows of warm-up steps: none is constrained."""
        int32_tensor.fill_(-1)

    def prepare_tensor_args(self, requests_with_new_token: list[Any]) -> torch.Tensor:
        """Follow the requests of the next step; their rows, int32."""
        import torch

        states: list[DecodeState | None] = []
        known: dict[str, tuple[DecodeState, int]] = {}
        for request in requests_with_new_token:
            state = self._follow(request.state)
            states.append(state)
            if state is not None:
                known[request.state.request_id] = state, len(_written(request.state))
        self._known = known
        self._batch.assign(states)
        return torch.arange(len(states), dtype=torch.int32)

    def __call__(self, scores: torch.Tensor, tensor_arg: torch.Tensor) -> torch.Tensor:
        """Write minus infinity into the scores [requests, width] where a request's constraint refuses."""
        import torch

        rows = min(len(self._batch), len(scores))
        if not rows or not any(state is not None for state in self._batch):
            return scores
        masks = np.full((len(self._batch), max(self._batch.words, -(-scores.shape[1] // 32))), -1, np.int32)
        self._batch.fill_masks(masks)
        for row, error in self._batch.errors.items():
            logger.error("request in row %d: %s", row, error)
        mask_logits_(scores[:rows], torch.from_numpy(masks[:rows]).to(scores.device))
        return scores

    def _follow(self, request: Any) -> DecodeState | None:
        automaton = request.logit_processor_kwargs.get("constraint")
        if automaton is None:
            return None
        tokens = _written(request)
        state, read = self._known.get(request.request_id, (None, 0))
        if state is None or read > len(tokens):
            state, read = automaton.start(), 0
        try:
            for token in tokens[read:]:
                if not state.is_finished:
                    state.advance(token)
        except TokenRejected as error:
            logger.error("request %s: %s", request.request_id, error)
            state = _ended(automaton)
        return state


def _written(request: Any) -> list[int]:
    """The tokens of a request behind its prompt, also when it was put back and begins again with what it wrote."""
    prompt = getattr(request, "_true_initial_tokens", 0) or len(request.initial_tokens)
    return [*request.initial_tokens[prompt:], *request.generated_tokens]


def _ended(automaton: TokenAutomaton) -> DecodeState:
    """A state whose row allows EOS and nothing else."""
    from ..constraints import literal
    from .token_automaton import compile as compile_automaton

    state = compile_automaton(literal(""), automaton.vocabulary).start()
    state.advance(automaton.vocabulary.eos_token_ids[0])
    return state
