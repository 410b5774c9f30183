"""TransformersModel: a model of the transformers package with its prompt."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...automata.checks import checked_ids, checked_range
from ...automata.errors import UnsupportedError
from ..model_folder import cache_name

if TYPE_CHECKING:
    import torch


class TransformersModel:
    """Asks a causal language model of the transformers package for the rows behind a prompt.

    Keys and values of the prompt and of every prefix asked for are kept once, in one sequence: a token attends to the
    prompt and to its own ancestors (tree attention), so a whole frontier of prefixes costs one pass over its last
    tokens, and nothing is copied or padded. What ``generate`` would apply, top-k, top-p and penalties, is not applied.

    Args:
        model: an AutoModelForCausalLM, in eval mode; attention ``"sdpa"`` or ``"eager"``.
        prompt: token ids, or a text if ``tokenizer`` is given (with its BOS token).
        tokenizer: of the transformers package.
        max_cached: tokens behind the prompt whose keys and values are kept; past it they are dropped and asked anew.
        batch: at most so many rows in one pass.
        tree_attention: False: one prefix at a time, each read from the prompt on, for models whose layers do not take a
            mask of four dimensions or that have other state than keys and values.

    Raises:
        ImportError: torch or transformers are missing: pip install 'tokamata[transformers]'.
        UnsupportedError: layers that attend otherwise than to all tokens or to a sliding window (those of Llama 4, in
            chunks), or that are no attention, without ``tree_attention=False``.
        ValueError: an empty prompt, a text without tokenizer.
    """

    def __init__(
        self,
        model: Any,
        prompt: str | Sequence[int],
        tokenizer: Any = None,
        *,
        max_cached: int = 4096,
        batch: int = 64,
        tree_attention: bool = True,
    ) -> None:
        """Keep the ids; the prompt is read at the first call."""
        self.model = model
        self.prompt_ids = _prompt_ids(prompt, tokenizer)
        self.max_cached = checked_range("TransformersModel", "max_cached", max_cached, 0)
        self.batch = checked_range("TransformersModel", "batch", batch, 1)
        self.tree_attention = bool(tree_attention)
        config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
        kinds = set(getattr(config, "layer_types", None) or ())
        if self.tree_attention and (others := kinds - {"full_attention", "sliding_attention"}):
            raise UnsupportedError(
                "TransformersModel: expected layers of full_attention and sliding_attention, got "
                f"{', '.join(sorted(others))}; pass tree_attention=False"
            )
        self._window = getattr(config, "sliding_window", None)
        self._two_masks = "sliding_attention" in kinds  # such models take one mask for each kind of layer
        if kinds and not self._two_masks:
            self._window = None
        self._cache_name = cache_name(model)
        self._keeps = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._cache: Any = None
        self._first: NDArray[np.float32] | None = None  # the row of the prompt
        self._slots: dict[tuple[int, ...], int] = {}  # where a prefix's last token is in the cache
        self._places: list[int] = []  # the position in its text of each cached token

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> NDArray[np.float32]:
        """float32 [rows, V]: log_softmax of the model's logits."""
        import torch

        with torch.inference_mode():
            if self._first is None:
                self._read_prompt()
            rows: dict[tuple[int, ...], NDArray[np.float32]] = {}
            wanted = [p for p in dict.fromkeys(tuple(q) for q in prefixes) if p]
            for begin in range(0, len(wanted), self.batch):
                some = wanted[begin : begin + self.batch]
                rows.update(self._ask(some) if self.tree_attention else self._ask_one_by_one(some))
        assert self._first is not None
        return np.stack([rows[tuple(p)] if p else self._first for p in prefixes])

    def _read_prompt(self) -> None:
        import torch
        from transformers import DynamicCache

        self._cache = DynamicCache()
        ids = torch.tensor([self.prompt_ids], device=self.model.device)
        more: dict[str, Any] = {self._cache_name: self._cache}
        if self._keeps:
            more["logits_to_keep"] = 1
        out = self.model(input_ids=ids, use_cache=True, **more)
        self._first = _log_softmax(out.logits[0, -1:])[0]
        self._places = list(range(len(self.prompt_ids)))

    def _ask(self, wanted: list[tuple[int, ...]]) -> dict[tuple[int, ...], NDArray[np.float32]]:
        """Rows of prefixes in one pass over the tokens that are not cached and the last ones."""
        import torch

        if len(self._places) + sum(map(len, wanted)) > len(self.prompt_ids) + self.max_cached:
            self._forget()
        self._cut(len(self._places))  # a pass that failed may have left more in some layers
        begin, known, positions = len(self._places), dict(self._slots), list(self._places)
        ends = set(wanted)
        tokens: list[int] = []
        slots: list[list[int]] = []  # what each token attends to behind the prompt, itself included
        for prefix in wanted:
            for end in range(1, len(prefix) + 1):
                part = prefix[:end]
                # A last token is read again even if it is cached: only keys and values are kept, no rows.
                if part in known and (known[part] >= begin or part not in ends):
                    continue
                at = begin + len(tokens)
                above = [known[part[:k]] for k in range(1, end)]
                known[part] = at
                tokens.append(part[-1])
                slots.append([*above, at])
                positions.append(len(self.prompt_ids) + end - 1)
        size, length = len(tokens), len(positions)
        attends = torch.zeros((size, length), dtype=torch.bool)
        attends[:, : len(self.prompt_ids)] = True
        for row, columns in enumerate(slots):
            attends[row, columns] = True
        places = torch.tensor(positions)
        far = (
            places[begin:, None] - places[None, :] >= self._window
            if self._window is not None
            else torch.zeros_like(attends)
        )
        position_ids = places[begin:].unsqueeze(0).to(self.model.device)
        mask: Any = self._mask(attends if self._two_masks else attends & ~far)
        if self._two_masks:
            mask = {"full_attention": mask, "sliding_attention": self._mask(attends & ~far)}
        where = torch.tensor([known[p] - begin for p in wanted], device=self.model.device)
        more: dict[str, Any] = {self._cache_name: self._cache}
        if self._keeps:
            more["logits_to_keep"] = where
        out = self.model(
            input_ids=torch.tensor([tokens], device=self.model.device),
            attention_mask=mask,
            position_ids=position_ids,
            use_cache=True,
            **more,
        )
        self._slots, self._places = known, positions
        logits = out.logits[0] if self._keeps else out.logits[0, where]
        return dict(zip(wanted, _log_softmax(logits), strict=True))

    def _mask(self, attends: torch.Tensor) -> torch.Tensor:
        """What is added to attention scores: [1, 1, tokens, keys], 0 where a token attends."""
        import torch

        dtype = self.model.dtype
        mask = torch.zeros(attends.shape, dtype=dtype).masked_fill(~attends, torch.finfo(dtype).min)
        return mask[None, None].to(self.model.device)

    def _ask_one_by_one(self, wanted: list[tuple[int, ...]]) -> dict[tuple[int, ...], NDArray[np.float32]]:
        import torch

        rows = {}
        for prefix in wanted:
            ids = torch.tensor([[*self.prompt_ids, *prefix]], device=self.model.device)
            more = {"logits_to_keep": 1} if self._keeps else {}
            rows[prefix] = _log_softmax(self.model(input_ids=ids, use_cache=False, **more).logits[0, -1:])[0]
        return rows

    def _forget(self) -> None:
        """Drop all keys and values but the prompt's."""
        size = len(self.prompt_ids)
        self._cut(size)
        self._slots = {}
        del self._places[size:]

    def _cut(self, size: int) -> None:
        """Drop the keys and values behind the first ``size`` tokens."""
        for layer in self._cache.layers:
            layer.keys, layer.values = layer.keys[:, :, :size], layer.values[:, :, :size]


def _log_softmax(logits: torch.Tensor) -> NDArray[np.float32]:
    import torch

    array: NDArray[np.float32] = torch.log_softmax(logits.float(), dim=-1).cpu().numpy()
    return array


def _prompt_ids(prompt: str | Sequence[int], tokenizer: Any) -> list[int]:
    if isinstance(prompt, str):
        if tokenizer is None:
            raise ValueError("TransformersModel: expected token ids, got a text; pass the tokenizer as well")
        bos = getattr(tokenizer, "bos_token", None)
        ids = tokenizer.encode(prompt, add_special_tokens=not (bos and prompt.startswith(bos)))
    else:
        ids = checked_ids("TransformersModel", prompt)
    if not ids:
        raise ValueError("TransformersModel: expected a prompt of at least one token (BOS), got none")
    return list(ids)
