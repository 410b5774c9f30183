"""The caller's memory that a mask is written into, as a numpy array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..automata.checks import checked_count


def mask_row(out: Any, row: int, words: int) -> npt.NDArray[np.int32]:
    """One row of an int32 array or CPU tensor, [words] or [rows, words], as a view of its memory."""
    expected = (
        f"fill_mask: expected a writable C-contiguous int32 array or CPU tensor of shape [{words}] or [rows, {words}]"
    )
    remedy = f"make one with numpy.zeros((rows, {words}), numpy.int32)"
    try:
        array = shown_memory(out)
    except ValueError as error:
        raise ValueError(f"{expected}, got {error}; {remedy}") from None
    if array.dtype != np.int32 or array.ndim not in (1, 2) or array.shape[-1] != words:
        raise ValueError(f"{expected}, got {array.dtype} {list(array.shape)}; {remedy}")
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError(f"{expected}, got one that is read-only or not contiguous; {remedy}")
    rows = array.reshape(-1, words)
    if not 0 <= checked_count("fill_mask", "row", row) < len(rows):
        raise IndexError(f"fill_mask: expected 0 <= row < {len(rows)}, got row={row}")
    view: npt.NDArray[np.int32] = rows[row]
    return view


def array_of(values: Any) -> npt.NDArray[Any]:
    """Values as an array; one of the object None where they make none, as lists of several lengths."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        return np.asarray(None)


def shown_memory(out: Any) -> npt.NDArray[Any]:
    """An array, tensor or buffer as an array over the same memory; ValueError says what it is where there is none."""
    if isinstance(out, np.ndarray):
        return out
    try:
        array: npt.NDArray[Any] = np.asarray(out.numpy() if hasattr(out, "numpy") else memoryview(out))
        if hasattr(out, "data_ptr") and array.size and not out.data_ptr():  # numpy shows memory of its own then
            raise ValueError("one without memory")
    except TypeError:
        where = f" on {out.device}" if hasattr(out, "device") else ""
        raise ValueError(f"{type(out).__name__}{where}") from None
    except RuntimeError as error:  # a view that negates, gradients, a layout without memory
        raise ValueError(f"a tensor whose memory is not what it shows ({str(error).splitlines()[0]})") from None
    return array
