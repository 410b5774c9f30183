"""Memory that masks are written into: what is no such memory is refused by every state, and nothing is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from oracle.small_tokenizers import trained
from tokamata.decode import BatchState
from tokamata.decode.canonical import CanonicalAutomaton
from torch._subclasses.fake_tensor import FakeTensorMode

import tokamata

_, VOCABULARY, PAIRS = trained("one piece", 1, 'ab0" \n')
TEXTS = tokamata.compile(tokamata.regex("[ab]{1,5}"), VOCABULARY)
STATES = {
    "native": TEXTS.start(),
    "dynamic": tokamata.compile(tokamata.dynamic(lambda text: tokamata.regex("[ab]{1,5}")), VOCABULARY).start(),
    "canonical": CanonicalAutomaton(TEXTS, PAIRS).start(),
}
WORDS = TEXTS.start().words


def fake() -> torch.Tensor:
    with FakeTensorMode():
        return torch.zeros((2, WORDS), dtype=torch.int32)


def emptied() -> torch.Tensor:
    tensor = torch.zeros((2, WORDS), dtype=torch.int32)
    tensor.untyped_storage().resize_(0)
    return tensor


def read_only() -> np.ndarray:
    array = np.zeros((2, WORDS), np.int32)
    array.flags.writeable = False
    return array


NO_MEMORY: dict[str, Any] = {
    "meta": lambda: torch.zeros((2, WORDS), dtype=torch.int32, device="meta"),
    "fake": fake,
    "emptied": emptied,
    "zeros": lambda: torch._efficientzerotensor((2, WORDS), dtype=torch.int32),
    "sparse": lambda: torch.zeros((2, WORDS), dtype=torch.int32).to_sparse(),
    "items": lambda: torch.zeros((2, WORDS), dtype=torch.int64),
    "gradients": lambda: torch.zeros((2, WORDS), requires_grad=True),
    "conjugate": lambda: torch.zeros((2, WORDS), dtype=torch.complex64).conj(),
    "order": lambda: torch.zeros((WORDS + 1, 2), dtype=torch.int32).T[:, :WORDS],
    "read only": read_only,
    "short": lambda: np.zeros((2, WORDS - 1), np.int32),
    "list": lambda: [[0] * WORDS] * 2,
}


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
@pytest.mark.parametrize("kind", NO_MEMORY)
@pytest.mark.parametrize("name", STATES)
def test_what_is_no_memory_of_a_mask_is_refused(name: str, kind: str) -> None:
    out = NO_MEMORY[kind]()
    with pytest.raises(
        ValueError, match=r"^fill_mask: expected a writable C-contiguous int32 array or CPU tensor .*; make"
    ):
        STATES[name].fill_mask(out)
    with pytest.raises(ValueError, match=r"^BatchState\.fill_masks: expected .*; "):
        BatchState([STATES[name].copy()]).fill_masks(out)


@pytest.mark.parametrize("name", ["dynamic", "canonical"])
def test_views_that_negate_are_refused(name: str) -> None:
    out = torch._neg_view(torch.zeros((1, WORDS), dtype=torch.int32))
    with pytest.raises(ValueError, match=r"got a tensor whose memory is not what it shows \(.*negative bit.*\); make"):
        STATES[name].fill_mask(out)
    with pytest.raises(ValueError, match=r"got a tensor whose memory is not what it shows \(.*negative bit"):
        BatchState([STATES[name].copy()]).fill_masks(out)


@pytest.mark.parametrize("name", STATES)
def test_rows_of_arrays_and_tensors(name: str) -> None:
    state = STATES[name]
    for out in (np.zeros((2, WORDS), np.int32), torch.zeros((2, WORDS), dtype=torch.int32)):
        state.fill_mask(out, 1)
        assert np.asarray(out)[1].tolist() == state.mask().tolist()
        assert not np.asarray(out)[0].any()
        for row in (-1, 2):
            with pytest.raises(IndexError, match=rf"fill_mask: expected 0 <= row < 2, got row={row}"):
                state.fill_mask(out, row)
    flat = torch.zeros(WORDS, dtype=torch.int32)
    state.fill_mask(flat)
    assert flat.tolist() == state.mask().tolist()
