"""SGLang: a grammar backend. `register()` adds it by the name "tokamata", for ``--grammar-backend tokamata``.

Tested with SGLang 0.5.23. Its scheduler is a process of its own, so `register` has to be called in all of SGLang's
processes: by an entry point of the group ``sglang.srt.plugins`` of some installed package that names
``tokamata.decode.engines.sglang:register``, or by the scheduler's own code where it runs in the same process. With
``--reasoning-parser`` requests that reason are constrained behind their reasoning, as with SGLang's own backends.
Importing this module needs SGLang.
"""

from __future__ import annotations

import logging
from typing import Any

import torch
from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    InvalidGrammarObject,
    register_grammar_backend,
)
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
from sglang.srt.constrained.torch_ops.token_filter_torch_ops import set_token_filter_torch
from sglang.srt.parser.reasoning_parser import ReasoningParser

from ..._core import DecodeState
from ...automata.errors import ConstraintError, LimitError, TokenRejected
from ...tokenizer_fst import Vocabulary
from ..automaton_cache import AutomatonCache
from ..masked_logits import mask_logits_
from .allow_only import allow_only
from .source import Kind, constraint_of

_log = logging.getLogger(__name__)


class Grammar(BaseGrammarObject):
    """One request's position.

    SGLang ends a request for whose token `accept_token` raises a ValueError. But with speculative decoding it walks
    over trees of drafts too, where an error would end the whole scheduler: with ``drafts`` a request that runs into a
    limit is terminated as by EOS instead, and the reason is logged.
    """

    def __init__(self, state: DecodeState, words: int, eos_token_ids: list[int], drafts: bool = False) -> None:
        """Begin where the state stands; ``words`` of a mask."""
        super().__init__()
        self._state = state
        self._words = words
        self._eos = eos_token_ids
        self._drafts = drafts
        self._limited = -1  # after how many tokens a mask ran into a limit, so that EOS alone was allowed
        self._cut = False  # whether the last token ended the text before its end

    def accept_token(self, token: int) -> None:
        """Take a token; TokenRejected where it is not allowed or runs into a limit. Behind the end nothing changes."""
        self.current_token = token
        if self.is_terminated():
            return
        try:
            self._state.advance(token)
        except (TokenRejected, LimitError) as error:
            limited = isinstance(error, LimitError) or self._limited == self._state.num_tokens
            if not (self._drafts and limited):
                raise TokenRejected(str(error)) from error
            _log.error("accept_token: %s", error)
            self._cut = True
        else:
            self._limited = -1
        self.finished = self.is_terminated()

    def rollback(self, k: int) -> None:
        """Take back the last k tokens, EOS included."""
        if self._cut and k > 0:
            self._cut, k = False, k - 1
        if k:
            self._state.rollback(k)
            self._limited = -1
        self.finished = self.is_terminated()

    def is_terminated(self) -> bool:
        """Whether EOS was accepted, or the text was cut."""
        return self._cut or self._state.is_finished

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: object) -> torch.Tensor:
        """Rows in which every token is allowed, int32 [batch_size, words], in page-locked memory beside CUDA."""
        return _unconstrained(batch_size, self._words)

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write the mask into a row; behind EOS the row stays as it is.

        Where the mask runs into a limit EOS alone is allowed: so the request ends, and no other.
        """
        if self.is_terminated():
            return
        try:
            self._state.fill_mask(vocab_mask, idx)
        except LimitError as error:
            self._limited = self._state.num_tokens
            _log.error("fill_vocab_mask: %s", error)
            allow_only(self._eos, vocab_mask, idx)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Allow everything."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """Send masks to the device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Write minus infinity into logits, in place; by a kernel on CUDA."""
        if logits.device.type == "cuda":
            from ..kernels import mask_logits

            mask_logits(logits, vocab_mask)
        else:
            mask_logits_(logits, vocab_mask)

    def copy(self) -> Grammar:
        """An independent position at the same place."""
        made = Grammar(self._state.copy(), self._words, self._eos, self._drafts)
        made._limited, made._cut, made.finished = self._limited, self._cut, self.finished
        made.current_token = self.current_token
        return made

    def try_jump_forward(self, tokenizer: object) -> tuple[list[int], str] | None:
        """The tokens that alone may follow; None where there is a choice."""
        try:
            tokens = self._state.forced_tokens()
        except LimitError:  # the mask will tell
            return None
        return (tokens, "") if tokens else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """Jumps are tokens here, so no text has to be tokenized again."""
        return "", -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], next_state: int) -> None:
        """Go over to another spelling of the output: take back tokens to where they part, take the new ones."""
        same = 0
        while same < min(len(old_output_ids), len(new_output_ids)) and old_output_ids[same] == new_output_ids[same]:
            same += 1
        self.rollback(len(old_output_ids) - same)
        for token in new_output_ids[same:]:
            self.accept_token(token)


class Backend(BaseGrammarBackend):
    """Makes the grammars of requests. What cannot be enforced becomes SGLang's InvalidGrammarObject with the reason."""

    move_vocab_mask = staticmethod(Grammar.move_vocab_mask)
    apply_vocab_mask = staticmethod(Grammar.apply_vocab_mask)
    set_token_filter = staticmethod(set_token_filter_torch)
    is_support_token_filter = True

    def __init__(
        self,
        tokenizer: Any,
        vocab_size: int,
        eos_token_ids: set[int] | None,
        whitespace: str,
        drafts: bool = False,
    ) -> None:
        """Read the vocabulary; ``drafts``: whether tokens are drafted, see `Grammar`."""
        super().__init__()
        eos = sorted(eos_token_ids) if eos_token_ids else None
        vocabulary = Vocabulary.from_transformers(tokenizer, size=vocab_size, eos_token_ids=eos)
        self._automata = AutomatonCache(vocabulary)
        self._whitespace = whitespace
        self._drafts = drafts

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: object) -> torch.Tensor:
        """Rows in which every token is allowed, as those of `Grammar`."""
        return _unconstrained(batch_size, -(-len(self._automata.vocabulary) // 32))

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """A JSON Schema; the text ``$$ANY$$`` is any JSON object."""
        return self._grammar("json_object" if key_string == "$$ANY$$" else "json", key_string)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """A regular expression."""
        return self._grammar("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """A grammar in the notation that `constraint_of` recognizes."""
        return self._grammar("grammar", key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """Free text with tags in it."""
        return self._grammar("structural_tag", key_string)

    def _grammar(self, kind: Kind, text: str) -> BaseGrammarObject:
        try:
            automaton = self._automata.get((kind, text), lambda: constraint_of(kind, text, whitespace=self._whitespace))
        except (ConstraintError, LimitError) as error:
            _log.warning("%s: %s", kind, error)
            return InvalidGrammarObject(str(error))
        return Grammar(automaton.start(), automaton.words, automaton.vocabulary.eos_token_ids, self._drafts)


def create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: set[int] | None) -> BaseGrammarBackend:
    """What SGLang calls to make the backend; behind its wrapper for reasoning, which it puts only around its own."""
    compact = getattr(server_args, "constrained_json_disable_any_whitespace", False)
    pattern = getattr(server_args, "constrained_json_whitespace_pattern", None)
    drafts = getattr(server_args, "speculative_algorithm", None) is not None
    backend = Backend(tokenizer, vocab_size, eos_token_ids, "compact" if compact else pattern or "flexible", drafts)
    parser = getattr(server_args, "reasoning_parser", None)
    if not parser:
        return backend
    reasoning = ReasoningParser(model_type=parser, stream_reasoning=False, tokenizer=tokenizer)
    if not reasoning.detector.get_think_end_token_ids(tokenizer):
        return backend
    strict = getattr(server_args, "enable_strict_thinking", False)
    return ReasonerGrammarBackend(backend, reasoning, tokenizer, enable_strict_thinking=strict)


def register(name: str = "tokamata") -> None:
    """Add the backend to SGLang's registry, and its name to the choices of ``--grammar-backend``."""
    register_grammar_backend(name, create)
    if name not in GRAMMAR_BACKEND_CHOICES:
        GRAMMAR_BACKEND_CHOICES.append(name)


def _unconstrained(rows: int, words: int) -> torch.Tensor:
    return torch.full((rows, words), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())
