"""TruncatedModel: top-k and top-p as part of a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...automata.checks import checked_number, checked_range, cut
from .log_space import NOTHING
from .model import LanguageModel, checked_model


class TruncatedModel:
    """A model that gives only its likeliest tokens any probability, normalized again.

    This declares top-k and top-p part of the model: samplers then aim at this model's law on condition of the
    constraint, before masks. Members that need another token have probability zero.

    Args:
        model: the model that is truncated.
        top_k: keep so many of the likeliest tokens, >= 1.
        top_p: keep the likeliest tokens until their probabilities reach this, 0 < top_p <= 1; applied after top_k.

    Raises TypeError for no model, ValueError for numbers out of range.

    Complexity: O(V) for each row, O(V log V) with ``top_p`` alone.
    """

    def __init__(self, model: LanguageModel, *, top_k: int | None = None, top_p: float | None = None) -> None:
        """Check the numbers."""
        checked_model("TruncatedModel", "a model first,", model)
        if top_k is not None:
            top_k = checked_range("TruncatedModel", "top_k", top_k, 1)
        if top_p is not None and not 0 < checked_number("TruncatedModel", "top_p", top_p) <= 1:
            raise ValueError(f"TruncatedModel: expected 0 < top_p <= 1, got {cut(top_p)}; 1 keeps all tokens")
        self.model = model
        self.top_k = top_k
        self.top_p = top_p

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> NDArray[np.float64]:
        """float64 [rows, V]: the model's rows, truncated and normalized."""
        table = np.array(self.model.next_log_probs(prefixes), np.float64)
        for row in table:
            kept = np.arange(len(row))
            if self.top_k is not None and self.top_k < len(row):
                kept = np.argpartition(-row, self.top_k - 1)[: self.top_k]
            kept = kept[np.argsort(-row[kept], kind="stable")]
            log_p = row[kept] - row[kept[0]]
            p = np.exp(log_p)
            if self.top_p is not None and self.top_p < 1:  # 1 is no cut, however the sum is rounded
                enough = int(np.searchsorted(np.cumsum(p), self.top_p * p.sum())) + 1
                kept, log_p, p = kept[:enough], log_p[:enough], p[:enough]
            row[:] = NOTHING
            row[kept] = log_p - np.log(p.sum())
        return table
