"""Constraints for transformers' continuous batching: each request names its own.

Follows transformers 5 (``transformers.generation.continuous_batching``, ``ContinuousBatchingLogitsProcessor``): the
library calls `RequestConstraints` as it calls its own processors of requests, without their being registered there.
"""

from __future__ import annotations

import logging
from abc import ABC
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..automata.errors import ConstraintError, LimitError, TokenRejected
from .batch_state import BatchState, State
from .canonical import CanonicalAutomaton
from .dynamic_automaton import DynamicAutomaton
from .masked_logits import mask_logits_
from .token_automaton import TokenAutomaton

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)


class Automaton(ABC):  # noqa: B024
    """What :func:`tokamata.compile` returns, and what keeps to the tokenizer's own tokens."""


Automaton.register(TokenAutomaton)
Automaton.register(DynamicAutomaton)
Automaton.register(CanonicalAutomaton)


def attach(manager: Any, *, threads: int | None = None) -> RequestConstraints:
    """Let the requests of a continuous batching manager name constraints.

    Afterwards ``manager.add_request(ids, constraint=automaton)`` keeps that request inside of what
    :func:`tokamata.compile` returned, or of a `CanonicalAutomaton`; requests without one are free. Call it between
    ``init_continuous_batching`` and ``start``; a second call returns what the first one did. Masks need each token
    before the next step, so batching has to be synchronous and without CUDA graphs:
    ``ContinuousBatchingConfig(use_async_batching=False, use_cuda_graph=False)``.

    Args:
        manager: what ``model.init_continuous_batching`` returned.
        threads: see BatchState.

    Raises:
        ValueError: asynchronous batching or CUDA graphs; a manager that was started before.
    """
    config = manager.continuous_batching_config
    for name in ("use_async_batching", "use_cuda_graph"):
        setting = getattr(config, name, False)
        if any(setting) if isinstance(setting, (tuple, list)) else setting:
            raise ValueError(
                f"attach: masks need each token before the next step; pass ContinuousBatchingConfig({name}=False)"
            )
    from transformers.generation.continuous_batching import cb_logits_processors

    processors = manager.logit_processor
    for known in processors.logits_processor:
        if isinstance(known, RequestConstraints):
            return known
    if manager.batch_processor is not None or manager._generation_thread is not None:
        raise ValueError("attach: expected a manager that was not started yet; call attach before manager.start()")
    processor = RequestConstraints(threads)
    cb_logits_processors.ContinuousBatchingLogitsProcessor.register(RequestConstraints)
    processors.logits_processor.insert(0, processor)
    processors.tensors_required += 1
    processors.supported_keys.update(processor.supported_kwargs)
    processors.do_processing = True
    return processor


class RequestConstraints:
    """Masks of the requests of a step; made by `attach`.

    A request whose tokens leave its constraint (which sampling under the masks cannot do), which runs into a limit or
    an error of a callback, or whose vocabulary is not the model's, ends with EOS; the reason is logged, and the other
    requests go on.
    """

    supported_kwargs = {"constraint": Automaton}  # noqa: RUF012
    ignored_kwargs: tuple[str, ...] = ()

    def __init__(self, threads: int | None = None) -> None:
        """No request is known yet."""
        self._batch = BatchState([], threads)
        self._ends: list[list[int]] = []  # of each row: the tokens that end its request
        self._known: dict[str, tuple[Any, State, int]] = {}  # by request: automaton, state, tokens that it has read

    def fill_defaults(self, int32_tensor: torch.Tensor) -> None:
        """Rows of warm-up steps: none is constrained."""
        int32_tensor.fill_(-1)

    def prepare_tensor_args(self, requests_with_new_token: list[Any]) -> torch.Tensor:
        """Follow the requests of the next step; their rows, int32."""
        import torch

        states: list[State | None] = []
        known: dict[str, tuple[Any, State, int]] = {}
        for request in requests_with_new_token:
            state = self._follow(request.state)
            states.append(state)
            if state is not None:
                automaton = request.state.logit_processor_kwargs["constraint"]
                known[request.state.request_id] = automaton, state, len(_written(request.state))
        self._known = known
        self._ends = [sorted(request.state._eos_token_ids) for request in requests_with_new_token]
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
        self._end_foreign(masks[:rows], scores.shape[1])
        mask_logits_(scores[:rows], torch.from_numpy(masks[:rows]).to(scores.device))
        return scores

    def _end_foreign(self, masks: npt.NDArray[np.int32], width: int) -> None:
        """Allow EOS, or everything without one, where nothing that is allowed is among the model's tokens."""
        whole, rest = divmod(width, 32)
        lives = masks[:, :whole].any(axis=1)
        if rest:
            lives |= (masks[:, whole] & ((1 << rest) - 1)) != 0
        for row in np.flatnonzero(~lives).tolist():
            logger.error(
                "request in row %d: none of the tokens that its constraint allows is among the model's %d; make the "
                "vocabulary from the model's own tokenizer",
                row,
                width,
            )
            ends = [token for token in self._ends[row] if token < width]
            masks[row] = 0 if ends else -1
            for token in ends:
                masks.view(np.uint32)[row, token // 32] |= np.uint32(1 << token % 32)

    def _follow(self, request: Any) -> State | None:
        automaton: TokenAutomaton | DynamicAutomaton | CanonicalAutomaton | None = request.logit_processor_kwargs.get(
            "constraint"
        )
        if automaton is None:
            return None
        tokens = _written(request)
        known, state, read = self._known.get(request.request_id, (None, None, 0))
        try:
            if state is None or known is not automaton or read > len(tokens):  # another request may have the same name
                state, read = automaton.start(), 0
            for token in tokens[read:]:
                if not state.is_finished:
                    state.advance(token)
        except (TokenRejected, LimitError, ConstraintError) as error:
            logger.error("request %s: %s", request.request_id, error)
            state = _ended(automaton)
        return state


def _written(request: Any) -> list[int]:
    """The tokens of a request behind its prompt, also when it was put back and begins again with what it wrote."""
    prompt = getattr(request, "_true_initial_tokens", 0) or len(request.initial_tokens)
    return [*request.initial_tokens[prompt:], *request.generated_tokens]


def _ended(automaton: TokenAutomaton | DynamicAutomaton | CanonicalAutomaton) -> State:
    """A state whose row allows EOS and nothing else."""
    from ..constraints import literal
    from .token_automaton import compile as compile_automaton

    state = compile_automaton(literal(""), automaton.vocabulary).start()
    state.advance(automaton.vocabulary.eos_token_ids[0])
    return state
