"""Model: what the server asks of a language model, and the one that runs models of the transformers package."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..automata.errors import ConstraintError
from ..constraints.tool_format import TOOL_FORMATS
from ..decode.model_folder import cache_name, load_model
from ..tokenizer_fst import Vocabulary
from .request import BadRequest

# What chat templates have around tool calls, all of several marks, and the convention of tokamata.tools that has them.
_TOOL_MARKS = (
    (("<minimax:tool_call>",), "minimax-m2"),
    (("<|tool_calls_section_begin|>",), "kimi-k2"),
    (("<｜tool▁sep｜>", "```json"), "deepseek-v3"),
    (("<｜tool▁sep｜>",), "deepseek-v3.1"),
    (("<function=", "<parameter="), "qwen3-coder"),
    (("</arg_key><arg_value>",), "glm-4.7"),
    (("<arg_key>",), "glm-4.5"),
    (("<tool_call>",), "hermes"),
    (("[ARGS]",), "mistral-v11"),
    (("[TOOL_CALLS]",), "mistral"),
    (("<|python_tag|>",), "llama3"),
)


def told_convention(template: str) -> str | None:
    """How a model writes tool calls, told from the marks in its chat template; None: there are none."""
    return next((name for marks, name in _TOOL_MARKS if all(mark in template for mark in marks)), None)


class Run(Protocol):
    """One sequence that a model is writing."""

    def push(self, token_id: int) -> None:
        """Append a token; the model reads it with the next `logits`."""

    def logits(self) -> NDArray[np.float32]:
        """Scores of the next token, float32 [V]; the array is the caller's."""


class Model(Protocol):
    """A language model and its tokenizer. All methods are called by one thread at a time, except `chat` and `text`."""

    name: str
    vocabulary: Vocabulary
    context: int  # tokens, prompt included
    tool_convention: str | None  # how it writes tool calls, see `tokamata.tools`

    def chat(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        """The prompt of a conversation. Raises BadRequest where the model knows no way to write it."""

    def text(self, text: str) -> list[int]:
        """The prompt of a plain text."""

    def start(self, prompt: Sequence[int]) -> Run:
        """Begin a sequence behind a prompt of at least one token."""


class TransformersModel:
    """A model folder of the transformers package, read from the disk alone.

    EOS is every end that the model's generation_config names, and the tokenizer's own. ``tool_convention``: how the
    model writes tool calls; None: told from the marks in its chat template.

    Raises:
        ConstraintError: the folder holds no model, or one that transformers cannot load, or torch has no such device.
        ImportError: the extra ``transformers`` is not installed.
        ValueError: a tool convention that :func:`tokamata.tools` does not know.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        name: str | None = None,
        device: str = "cpu",
        tool_convention: str | None = None,
    ) -> None:
        """Load weights (float32 on a CPU, else as stored), tokenizer and vocabulary."""
        path = Path(folder)
        if tool_convention is not None and tool_convention not in TOOL_FORMATS:
            raise ValueError(
                f"serve: expected a tool convention of {', '.join(TOOL_FORMATS)}, got {tool_convention!r}; leave it "
                "out to have it told from the chat template"
            )
        if not (path / "config.json").is_file():
            raise ConstraintError(f"serve: {path} holds no model (no config.json); name a transformers model folder")
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        try:
            import torch
            import transformers  # noqa: F401
        except ImportError as error:
            raise ImportError(f"serve: {error}; install the extra: pip install 'tokamata[serve]'") from error
        self.tokenizer: Any
        self.tokenizer, network = load_model("serve", path, dtype=torch.float32 if device == "cpu" else "auto")
        try:
            self.network: Any = network.to(device).eval()
        except (RuntimeError, AssertionError) as error:  # torch has these for devices that it does not have
            raise ConstraintError(
                f"serve: expected a device that holds the model, got {device!r}: {error}; pass cpu, or another that "
                "torch finds here"
            ) from error
        ends = getattr(self.network.generation_config, "eos_token_id", None)
        found = [] if ends is None else list(ends) if isinstance(ends, (list, tuple)) else [ends]
        own = self.tokenizer.eos_token_id
        eos = list(dict.fromkeys([*([] if own is None else [own]), *found]))
        self.vocabulary = Vocabulary.from_transformers(
            self.tokenizer, size=self.network.config.get_text_config().vocab_size, eos_token_ids=eos or None
        )
        self.name = name or path.resolve().name
        self.tool_convention = tool_convention or told_convention(str(self.tokenizer.chat_template or ""))
        self.context = int(getattr(self.network.config.get_text_config(), "max_position_embeddings", 0) or 1 << 20)

    def chat(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        """The prompt by the tokenizer's chat template."""
        if not self.tokenizer.chat_template:
            raise BadRequest(
                f"the tokenizer of {self.name} has no chat template; use /v1/completions, or a chat model", "messages"
            )
        try:
            text = self.tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                tools=[dict(tool) for tool in tools] or None,
                add_generation_prompt=True,
                tokenize=False,
            )
            return list(self.tokenizer(text, add_special_tokens=False).input_ids)
        except Exception as error:  # templates are programs of the model's makers and raise what they like
            raise BadRequest(f"the model's chat template refuses the conversation: {error}", "messages") from error

    def text(self, text: str) -> list[int]:
        """The prompt of a plain text, with the tokenizer's own begin token where it has one."""
        ids = list(self.tokenizer(text).input_ids)
        first = self.tokenizer.bos_token_id
        return ids or [self.vocabulary.eos_token_ids[0] if first is None else first]

    def start(self, prompt: Sequence[int]) -> TransformersRun:
        """Begin a sequence; nothing is computed before the first `logits`."""
        return TransformersRun(self.network, prompt)


class TransformersRun:
    """A sequence with its key-value cache; tokens are read in one pass when logits are asked for."""

    def __init__(self, network: Any, prompt: Sequence[int]) -> None:
        """Keep the prompt."""
        from transformers import DynamicCache

        self._network = network
        self._unread = list(prompt)
        self._cache: Any = DynamicCache(config=network.config)
        self._cache_name = cache_name(network)

    def push(self, token_id: int) -> None:
        """Append a token."""
        self._unread.append(token_id)

    def logits(self) -> NDArray[np.float32]:
        """Scores after all tokens so far; one forward pass over those that were not read yet."""
        import torch

        with torch.inference_mode():
            ids = torch.tensor([self._unread], device=self._network.device)
            more = {self._cache_name: self._cache}
            out = self._network(input_ids=ids, use_cache=True, logits_to_keep=1, **more)
            self._cache = out[self._cache_name]
            self._unread = []
            return np.array(out.logits[0, -1].float().cpu().numpy())
