"""Triton kernels over packed masks and device tables; tokamata.decode.device launches them.

Importing this module needs triton. Triton's interpreter (TRITON_INTERPRET=1 before the first import of triton) runs the
same kernels on CPU tensors.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import triton
import triton.language as tl

_WORDS = 32  # mask words that one program of mask_logits reads


# A stride that is known to be 1 would give each thread eight neighbours, stored one by one: a warp's store would touch
# 16 sectors. While it is a number, neighbours are of neighbouring threads, and a warp's store is one piece.
@triton.jit(do_not_specialize=["column_stride"])
def _mask_logits(
    logits,
    row_stride,
    column_stride,
    masks,
    row_of,
    states,
    words,
    width,
    INDEXED: tl.constexpr,
    WORDS: tl.constexpr,
):
    row = tl.program_id(0)
    mask_row = row.to(tl.int64)
    if INDEXED:
        mask_row = tl.load(row_of + tl.load(states + row)).to(tl.int64)
    word = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    packed = tl.load(masks + mask_row * words + word, mask=word < words, other=0)
    bit = tl.arange(0, 32)
    refused = ((packed[:, None] >> bit[None, :]) & 1) == 0
    column = word[:, None] * 32 + bit[None, :]
    place = logits + row.to(tl.int64) * row_stride + column.to(tl.int64) * column_stride
    tl.store(place, float("-inf"), mask=refused & (column < width))


@triton.jit
def _advance(
    states,
    tokens,
    out,
    successors,
    classes,
    class_of,
    begins,
    lengths,
    token_bytes,
    masks,
    row_of,
    words,
    size,
):
    row = tl.program_id(0)
    state = tl.load(states + row)
    token = tl.load(tokens + row).to(tl.int64)
    inside = (token >= 0) & (token < size)
    known = tl.where(inside, token, 0)
    mask_row = tl.load(row_of + state).to(tl.int64)
    word = tl.load(masks + mask_row * words + (known >> 5))
    allowed = inside & (((word >> (known & 31).to(tl.int32)) & 1) != 0)
    begin = tl.load(begins + known)
    length = tl.where(allowed, tl.load(lengths + known), 0)
    after = state
    for i in range(0, length):
        byte_class = tl.load(class_of + tl.load(token_bytes + begin + i).to(tl.int32)).to(tl.int32)
        after = tl.load(successors + after.to(tl.int64) * classes + byte_class)
    after = tl.where(length == 0, 1, after)  # allowed and without bytes: EOS
    after = tl.where(allowed, after, 0)
    tl.store(out + row, tl.where((state <= 1) | (token < 0), state, after))


def _on(tensor: Any) -> AbstractContextManager[object]:
    """Triton launches on the current device's stream, whatever device its tensors are on."""
    return torch.cuda.device(tensor.device) if tensor.is_cuda else nullcontext()


def mask_logits(logits: Any, masks: Any, row_of: Any = None, states: Any = None) -> None:
    """Write minus infinity into logits [rows, width] where the row's mask has a 0, and beyond the mask.

    Reads the masks and writes what is refused: what is allowed is not touched. Row r has mask r, or with `states` mask
    row_of[states[r]]. Any floating dtype, any strides.
    """
    rows, width = logits.shape
    if not rows or not width:
        return
    indexed = states is not None
    masks = masks.contiguous()  # what is contiguous stays where it is
    if indexed:
        states = states.contiguous()
    grid = (rows, triton.cdiv(width, 32 * _WORDS))
    with _on(logits):
        _mask_logits[grid](
            logits,
            logits.stride(0),
            logits.stride(1),
            masks,
            row_of if indexed else masks,
            states if indexed else masks,
            masks.shape[1],
            width,
            INDEXED=indexed,
            WORDS=_WORDS,
        )


def advance(tables: Any, states: Any, tokens: Any, out: Any) -> None:
    """Walk each row's token through the tables (a DeviceAutomaton) from its state; out may be states itself."""
    if not states.shape[0]:
        return
    with _on(states):
        _advance[(states.shape[0],)](
            states,
            tokens,
            out,
            tables.successors,
            tables.successors.shape[1],
            tables.class_of,
            tables.begins,
            tables.lengths,
            tables.token_bytes,
            tables.mask_rows,
            tables.row_of,
            tables.mask_rows.shape[1],
            tables.size,
            num_warps=1,
        )
