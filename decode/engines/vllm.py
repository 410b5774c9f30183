"""vLLM: a structured-output backend. `register()` in a plugin, or before the engine is made, puts it to work.

Follows the protocol of vLLM 0.33.0, ``vllm.v1.structured_output.backend_types``. vLLM has no registry of backends, so
`register` takes the place of its backend "guidance", for whoever starts it so:

    vllm serve MODEL --structured-outputs-config.backend guidance

A package calls it in all of vLLM's processes by an entry point of the group ``vllm.general_plugins`` that names
``tokamata.decode.engines.vllm:register``.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from ..._core import DecodeState
from ...automata.errors import ConstraintError, LimitError, TokenRejected, VocabularyError
from ...tokenizer_fst import Vocabulary
from ..automaton_cache import AutomatonCache
from .allow_only import allow_only
from .source import Kind, constraint_of

if TYPE_CHECKING:
    import torch

_log = logging.getLogger(__name__)
_KEPT_VOCABULARIES = 4  # one for each set of end tokens that requests name


class Grammar:
    """One request's position: vLLM's ``StructuredOutputGrammar``."""

    def __init__(self, state: DecodeState, eos_token_ids: list[int]) -> None:
        """Begin where the state stands."""
        self._state = state
        self._eos = eos_token_ids
        self._behind = 0  # tokens accepted behind the end

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Take tokens; False, and nothing taken, where one is not allowed. Behind EOS everything is taken.

        False fails the request, and no other; so does a limit that the text runs into, which is logged.
        """
        taken = 0
        for token in tokens:
            if self._state.is_finished:
                break
            try:
                self._state.advance(token)
            except (TokenRejected, LimitError) as error:
                if isinstance(error, LimitError):
                    _log.error("request %s: %s", request_id, error)
                self._state.rollback(taken)
                return False
            taken += 1
        self._behind += len(tokens) - taken
        return True

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The longest prefix that is allowed; padding (negative ids) ends it. The position stays."""
        real = next((i for i, token in enumerate(tokens) if token < 0), len(tokens))
        try:
            return tokens[: self._state.validate(tokens[:real])]
        except LimitError as error:
            _log.error("validate_tokens: %s", error)
            return []

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens that were accepted. IndexError, and nothing taken back, where there are fewer."""
        behind = min(self._behind, max(0, num_tokens))
        self._state.rollback(num_tokens - behind)
        self._behind -= behind

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write the mask into a row of int32 [rows, words] on the CPU.

        Behind the end EOS alone is allowed, and where the mask runs into a limit: so the request ends, and no other.
        """
        try:
            self._state.fill_mask(bitmask, batch_index)
            if not self._state.is_finished:
                return
        except LimitError as error:
            _log.error("fill_bitmask: %s", error)
        allow_only(self._eos, bitmask, batch_index)

    def is_terminated(self) -> bool:
        """Whether EOS was accepted."""
        return self._state.is_finished

    def reset(self) -> None:
        """Back to the beginning."""
        self._state.reset()
        self._behind = 0


class Backend:
    """What an engine holds: vLLM's ``StructuredOutputBackend``. Compiled constraints are kept for later requests."""

    grammar_class = Grammar

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        """Read the vocabulary.

        Raises VocabularyError for a tokenizer of an unknown kind, ConstraintError where the configuration asks for what
        this backend does not do.
        """
        config = vllm_config.structured_outputs_config
        if config.disable_additional_properties:
            raise ConstraintError(
                "vllm: disable_additional_properties would change what schemas mean; write "
                '"additionalProperties": false in the schema'
            )
        self.vllm_config = vllm_config
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size
        self._whitespace = "compact" if config.disable_any_whitespace else "flexible"
        self._vocabulary = Vocabulary.from_transformers(tokenizer, size=vocab_size)
        self._lock = threading.Lock()
        self._caches: OrderedDict[frozenset[int], AutomatonCache] = OrderedDict()

    @staticmethod
    def is_tokenizer_supported(tokenizer: Any) -> bool:
        """Whether the bytes of the tokens can be told."""
        try:
            Vocabulary.from_transformers(tokenizer)
        except VocabularyError:
            return False
        return True

    def compile_grammar(self, request_type: Any, grammar_spec: str, stop_token_ids: set[int] | None = None) -> Grammar:
        """The grammar of a request; its error fails the request alone.

        ``stop_token_ids``: those that are special tokens end a text, as the tokenizer's EOS does, and are allowed where
        the constraint is complete. The others are text, and are allowed as such.

        Raises ConstraintError or LimitError.
        """
        kind = _kind(request_type)
        cache = self._cache(stop_token_ids or ())
        automaton = cache.get(
            (kind, grammar_spec), lambda: constraint_of(kind, grammar_spec, whitespace=self._whitespace)
        )
        return self.grammar_class(automaton.start(), cache.vocabulary.eos_token_ids)

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """Rows in which every token is allowed, int32 [max_num_seqs, ceil(vocab_size / 32)]."""
        import torch

        return torch.full((max_num_seqs, -(-self.vocab_size // 32)), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Drop what was compiled."""
        with self._lock:
            self._caches.clear()

    def _cache(self, stop_token_ids: Iterable[int]) -> AutomatonCache:
        own = self._vocabulary
        special = (t for t in stop_token_ids if 0 <= t < len(own) and own.token_bytes(t) is None)
        ends = frozenset(own.eos_token_ids).union(special)
        with self._lock:
            if ends not in self._caches:
                if ends != frozenset(own.eos_token_ids):
                    own = Vocabulary.from_transformers(self.tokenizer, size=self.vocab_size, eos_token_ids=sorted(ends))
                self._caches[ends] = AutomatonCache(own)
                while len(self._caches) > _KEPT_VOCABULARIES:
                    self._caches.popitem(last=False)
            self._caches.move_to_end(ends)
            return self._caches[ends]


def register() -> None:
    """Put this backend in the place of vLLM's "guidance", its check of requests included.

    Raises ImportError without vLLM.
    """
    import vllm.v1.structured_output as manager
    from vllm.v1.structured_output import backend_guidance, backend_types

    grammar = type("TokamataGrammar", (Grammar, backend_types.StructuredOutputGrammar), {})
    parts = {"grammar_class": grammar}
    backend = type("TokamataBackend", (Backend, backend_types.StructuredOutputBackend), parts)
    manager.GuidanceBackend = backend
    backend_guidance.GuidanceBackend = backend
    backend_guidance.validate_guidance_grammar = validate


def validate(sampling_params: Any, tokenizer: object = None) -> None:
    """Check the constraint of a request before it is queued. Raises vLLM's VLLMValidationError, with our reason."""
    from vllm.exceptions import VLLMValidationError
    from vllm.v1.structured_output.request import get_structured_output_key

    if sampling_params.structured_outputs is None:
        return
    try:
        kind, text = get_structured_output_key(sampling_params.structured_outputs)
        constraint_of(_kind(kind), text)
    except (ConstraintError, LimitError) as error:
        raise VLLMValidationError(str(error)) from error


def _kind(request_type: Any) -> Kind:
    """The name of a StructuredOutputOptions in small letters; `constraint_of` refuses those that it does not know."""
    return cast(Kind, request_type.name.lower())
