"""Machines as numpy arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._core import Fst as _NativeFst
from .._core import arcs_of_all as _arcs_of_all
from .._core import arcs_of_state as _arcs_of_state
from .._core import finals_of as _finals_of
from .._core import fst_from_arrays as _fst_from_arrays
from .._core import offsets_of as _offsets_of
from .checks import checked_semiring
from .errors import FstError

ARC_DTYPE = np.dtype([("ilabel", "<i4"), ("olabel", "<i4"), ("weight", "<f4"), ("nextstate", "<i4")])
"""An arc as a record of 16 bytes, the way it is stored."""


class FstArrays(NamedTuple):
    """A machine of n states and m arcs as arrays; the arcs of state s are ``arcs[offsets[s]:offsets[s + 1]]``."""

    arcs: npt.NDArray[np.void]
    """[m] records of `ARC_DTYPE`."""
    offsets: npt.NDArray[np.int64]
    """[n + 1] int64, from 0 to m."""
    finals: npt.NDArray[np.float32]
    """[n] float32, the semiring's zero where a state is not final."""
    start: int
    """The start state, -1 for none."""


def arcs_array(native: _NativeFst, state: int | None) -> npt.NDArray[np.void]:
    """See `Fst.arcs_array`."""
    return np.frombuffer(_arcs_of_all(native) if state is None else _arcs_of_state(native, state), dtype=ARC_DTYPE)


def to_arrays(native: _NativeFst) -> FstArrays:
    """See `Fst.to_arrays`."""
    return FstArrays(
        arcs_array(native, None),
        np.frombuffer(_offsets_of(native), dtype=np.int64),
        np.frombuffer(_finals_of(native), dtype=np.float32),
        native.start(),
    )


def from_arrays(arcs: Any, offsets: Any, finals: Any, start: int, semiring: str) -> _NativeFst:
    """See `Fst.from_arrays`."""
    records = np.asarray(arcs)
    if records.dtype.names != ARC_DTYPE.names or records.ndim != 1:
        raise FstError(
            f"Fst.from_arrays: arcs must be a 1-d array of records {ARC_DTYPE.names} (dtype ARC_DTYPE), "
            f"got shape {records.shape} of {records.dtype}; fill np.empty(n, ARC_DTYPE) field by field"
        )
    for name in ("ilabel", "olabel", "nextstate"):
        field = records[name]
        if field.dtype.kind not in "iu" or (field.dtype != np.int32 and field.size and not _fits(field)):
            raise FstError(f"Fst.from_arrays: {name} must be integers of 32 bits, got {field.dtype}; convert them")
    index = np.asarray(offsets)
    weights = np.asarray(finals)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise FstError(f"Fst.from_arrays: offsets must be a 1-d array of int64, got shape {index.shape} {index.dtype}")
    if weights.ndim != 1 or weights.dtype.kind not in "fiub":
        raise FstError(
            f"Fst.from_arrays: finals must be a 1-d array of float32, got shape {weights.shape} of {weights.dtype}"
        )
    records = np.ascontiguousarray(records.astype(ARC_DTYPE, copy=False))
    return _fst_from_arrays(
        records.view(np.uint8),
        np.ascontiguousarray(index, dtype=np.int64),
        np.ascontiguousarray(weights, dtype=np.float32),
        start,
        checked_semiring(semiring),
    )


def _fits(field: npt.NDArray[Any]) -> bool:
    return bool(field.min() >= -(2**31) and field.max() < 2**31)
