"""Packed masks applied to logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def mask_logits_(logits: torch.Tensor, masks: torch.Tensor, size: int | None = None) -> torch.Tensor:
    """Write minus infinity into logits where packed masks have a 0, in place, without a host synchronization.

    Args:
        logits: float [rows, width], any floating dtype and strides.
        masks: int32 [rows, words] on the same device; token t is bit t % 32 of word t // 32.
        size: tokens of the vocabulary; columns from there on become minus infinity. None: all columns are covered by
            the masks, up to 32 * words.

    Returns ``logits``. Plain PyTorch: one bool for each column is made on the way (on the CPU by numpy). On CUDA
    `tokamata.decode.kernels.mask_logits` needs none.
    """
    import torch

    width = logits.shape[1]
    covered = min(width, 32 * masks.shape[1] if size is None else size)
    if logits.device.type == "cpu":
        packed = np.ascontiguousarray((~masks).numpy()).view(np.uint8)
        bits = np.unpackbits(packed, axis=1, count=covered, bitorder="little")
        refused = torch.from_numpy(bits).view(torch.bool)
    else:
        octets = masks.contiguous().view(torch.uint8)
        bits_of = torch.ones(8, dtype=torch.uint8, device=masks.device) << torch.arange(8, device=masks.device).byte()
        refused = (octets[:, :, None] & bits_of).eq(0).view(logits.shape[0], -1)[:, :covered]
    logits[:, :covered].masked_fill_(refused, float("-inf"))
    if covered < width:
        logits[:, covered:].fill_(float("-inf"))
    return logits
