"""allow_only: a row of a mask in which a few tokens are allowed and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def allow_only(token_ids: Iterable[int], masks: torch.Tensor, row: int) -> None:
    """Write a row of packed masks, int32 [rows, words] on the CPU."""
    words = masks.numpy().view("uint32")[row]
    words[:] = 0
    for token in token_ids:
        words[token // 32] |= 1 << token % 32
