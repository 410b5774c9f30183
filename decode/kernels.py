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

_OCTETS = 512  # of a mask, for one program of _mask_octets: eight logits each
_LOGITS = 1024  # for one program of _mask_columns


@triton.jit
def _mask_of(row, row_of, states, INDEXED: tl.constexpr):
    if INDEXED:
        return tl.load(row_of + tl.load(states + row)).to(tl.int64)
    return row.to(tl.int64)


# A thread has the logits of one octet of the mask. They are read and written in one piece, since no condition on an
# access tells them apart: an octet of zeros is written without reading, one of ones is left alone.
@triton.jit
def _mask_octets(
    logits,
    row_stride,
    masks,
    row_of,
    states,
    octets,
    width,
    INDEXED: tl.constexpr,
    OCTETS: tl.constexpr,
):
    row = tl.program_id(0)
    place = tl.program_id(1) * OCTETS + tl.arange(0, OCTETS)
    packed = masks + _mask_of(row, row_of, states, INDEXED) * octets + place
    octet = tl.load(packed, mask=place < octets, other=0).to(tl.int32)
    bit = tl.arange(0, 8)
    column = place[:, None] * 8 + bit[None, :]
    inside = column < width
    there = logits + row.to(tl.int64) * row_stride + column
    mixed = (octet != 0) & (octet != 255)
    before = tl.load(there, mask=mixed[:, None] & inside, other=float("-inf"))
    allowed = ((octet[:, None] >> bit[None, :]) & 1) != 0
    tl.store(there, tl.where(allowed, before, float("-inf")), mask=(octet != 255)[:, None] & inside)


# For rows that are not aligned, and any strides. A column stride that is known to be 1 would give a thread several
# neighbours; while it is a number, neighbours are of neighbouring threads, and a warp's store is one piece.
@triton.jit(do_not_specialize=["column_stride"])
def _mask_columns(
    logits,
    row_stride,
    column_stride,
    masks,
    row_of,
    states,
    octets,
    width,
    INDEXED: tl.constexpr,
    LOGITS: tl.constexpr,
):
    row = tl.program_id(0)
    column = tl.program_id(1) * LOGITS + tl.arange(0, LOGITS)
    packed = masks + _mask_of(row, row_of, states, INDEXED) * octets + column // 8
    octet = tl.load(packed, mask=column < octets * 8, other=0).to(tl.int32)
    refused = ((octet >> (column % 8)) & 1) == 0
    there = logits + row.to(tl.int64) * row_stride + column.to(tl.int64) * column_stride
    tl.store(there, float("-inf"), mask=refused & (column < width))


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
    if not tensor.is_cuda or tensor.device.index == torch.cuda.current_device():
        return nullcontext()
    return torch.cuda.device(tensor.device)


def _has_whole_octets(logits: Any) -> bool:
    """Whether Triton can see that eight neighbours of a row are one piece: it knows of numbers that 16 divides them."""
    numbers = (logits.stride(0), logits.shape[1], logits.data_ptr())
    return logits.stride(1) == 1 and all(number % 16 == 0 for number in numbers)


def mask_logits(logits: Any, masks: Any, row_of: Any = None, states: Any = None) -> None:
    """Write minus infinity into logits [rows, width] where the row's mask has a 0, and beyond the mask.

    Reads the masks, and logits that have some neighbours allowed and some refused; writes what is refused. What is
    allowed keeps its bits. Row r has mask r, or with `states` mask row_of[states[r]]. Any floating dtype, any strides.
    """
    rows, width = logits.shape
    if not rows or not width:
        return
    indexed = states is not None
    packed = masks.contiguous().view(torch.uint8)  # what is contiguous stays where it is
    of = (row_of, states.contiguous()) if indexed else (packed, packed)
    octets = packed.shape[1]
    with _on(logits):
        if _has_whole_octets(logits):
            grid = (rows, -(-width // (8 * _OCTETS)))
            _mask_octets[grid](logits, logits.stride(0), packed, *of, octets, width, INDEXED=indexed, OCTETS=_OCTETS)
        else:
            grid = (rows, -(-width // _LOGITS))
            _mask_columns[grid](logits, *logits.stride(), packed, *of, octets, width, INDEXED=indexed, LOGITS=_LOGITS)


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
