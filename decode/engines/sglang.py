"""SGLang: a grammar backend. `register()` before the server is made adds it by the name "tokamata".

Tested with SGLang 0.5.23:

    from tokamata.decode.engines import sglang
    sglang.register()

in the process that launches the server with ``--grammar-backend tokamata``. Importing this module needs SGLang.
"""

from __future__ import annotations

import logging
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    InvalidGrammarObject,
    register_grammar_backend,
)

from ..._core import DecodeState
from ...automata.errors import ConstraintError, LimitError, TokenRejected
from ...tokenizer_fst import Vocabulary
from ..automaton_cache import AutomatonCache
from ..masked_logits import mask_logits_
from .allow_only import allow_only
from .source import Kind, constraint_of

_log = logging.getLogger(__name__)


class Grammar(BaseGrammarObject):
    """One request's position."""

    def __init__(self, state: DecodeState, words: int, eos_token_ids: list[int]) -> None:
        """Begin where the state stands; ``words`` of a mask."""
        super().__init__()
        self._state = state
        self._words = words
        self._eos = eos_token_ids

    def accept_token(self, token: int) -> None:
        """Take a token; TokenRejected where it is not allowed or runs into a limit. Behind EOS nothing changes.

        SGLang ends a request for which this raises a ValueError, as TokenRejected is one.
        """
        if not self._state.is_finished:
            try:
                self._state.advance(token)
            except LimitError as error:
                raise TokenRejected(str(error)) from error
            self.finished = self._state.is_finished

    def rollback(self, k: int) -> None:
        """Take back the last k tokens, EOS included."""
        self._state.rollback(k)
        self.finished = False

    def is_terminated(self) -> bool:
        """Whether EOS was accepted."""
        return self._state.is_finished

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: object) -> torch.Tensor:
        """Rows in which every token is allowed, int32 [batch_size, words], in page-locked memory beside CUDA."""
        pinned = torch.cuda.is_available()
        return torch.full((batch_size, self._words), -1, dtype=torch.int32, pin_memory=pinned)

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write the mask into a row; behind EOS the row stays as it is.

        Where the mask runs into a limit EOS alone is allowed: so the request ends, and no other.
        """
        if self._state.is_finished:
            return
        try:
            self._state.fill_mask(vocab_mask, idx)
        except LimitError as error:
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
        return Grammar(self._state.copy(), self._words, self._eos)

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

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: set[int] | None, whitespace: str) -> None:
        """Read the vocabulary."""
        super().__init__()
        eos = sorted(eos_token_ids) if eos_token_ids else None
        vocabulary = Vocabulary.from_transformers(tokenizer, size=vocab_size, eos_token_ids=eos)
        self._automata = AutomatonCache(vocabulary)
        self._whitespace = whitespace

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
        return Grammar(automaton.start(), automaton.words, automaton.vocabulary.eos_token_ids)


def create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: set[int] | None) -> Backend:
    """What SGLang calls to make the backend."""
    compact = getattr(server_args, "constrained_json_disable_any_whitespace", False)
    pattern = getattr(server_args, "constrained_json_whitespace_pattern", None)
    return Backend(tokenizer, vocab_size, eos_token_ids, "compact" if compact else pattern or "flexible")


def register(name: str = "tokamata") -> None:
    """Add the backend to SGLang's registry."""
    register_grammar_backend(name, create)
