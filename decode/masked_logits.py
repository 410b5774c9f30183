"""Packed masks applied to logits."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from .._core import mask_scores
from ..automata.checks import checked_choice, checked_range, cut

if TYPE_CHECKING:
    import torch

Kernels = Literal["auto", "torch", "triton"]
KERNELS = ("auto", "torch", "triton")


def uses_triton(device: torch.device, kernels: Kernels) -> bool:
    """Whether Triton's kernels run on a device."""
    return kernels == "triton" or (kernels == "auto" and device.type == "cuda" and find_spec("triton") is not None)


def checked_device(function: str, device: torch.device | str) -> torch.device:
    """A device of PyTorch's that is there, with its number. Raises TypeError or ValueError for anything else."""
    import torch

    try:
        return torch.empty(0, device=torch.device(device)).device
    except (TypeError, ValueError, RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0][:60]
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            f"{function}: expected a device that PyTorch has here, got {cut(device)}: {reason}; "
            'pass "cpu", or "cuda" where there is a GPU'
        ) from None


def tensor_shown(value: object) -> str:
    """What a tensor is, for errors; of anything else, the type's name."""
    import torch

    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {list(value.shape)} on {value.device}"
    return type(value).__name__


def mask_logits_(
    logits: torch.Tensor, masks: torch.Tensor, size: int | None = None, kernels: Kernels = "auto"
) -> torch.Tensor:
    """Write minus infinity into logits where packed masks have a 0, in place, without a host synchronization.

    Args:
        logits: float [rows, width], any floating dtype and strides.
        masks: int32 [rows, words] on the same device; token t is bit t % 32 of word t // 32.
        size: tokens of the vocabulary; columns from there on become minus infinity. None: all columns are covered by
            the masks, up to 32 * words.
        kernels: "triton", "torch", or "auto": Triton on CUDA where it is installed. Triton writes what is refused and
            nothing else; so does native code on the CPU. Plain PyTorch makes one bool for each column on the way.

    Returns ``logits``.

    Raises:
        ValueError: masks of another dtype, device or number of rows; a negative size; unknown kernels.
    """
    import torch

    if not isinstance(logits, torch.Tensor) or logits.ndim != 2 or not logits.is_floating_point():
        raise ValueError(f"mask_logits_: expected floating logits [rows, width], got {tensor_shown(logits)}")
    good = isinstance(masks, torch.Tensor) and masks.dtype == torch.int32 and masks.device == logits.device
    if not good or masks.shape[:1] != logits.shape[:1]:
        raise ValueError(
            f"mask_logits_: expected int32 masks [{logits.shape[0]}, words] on {logits.device}, got "
            f"{tensor_shown(masks)}"
        )
    if size is not None:
        size = checked_range("mask_logits_", "size", size, 0)
    if not isinstance(kernels, str) or kernels not in KERNELS:
        checked_choice("mask_logits_", "kernels", kernels, KERNELS)
    if uses_triton(logits.device, kernels):
        from .kernels import mask_logits

        mask_logits(logits, masks)
        return logits
    width = logits.shape[1]
    if logits.device.type == "cpu":
        values = logits.detach()
        mask_scores(values, values, masks)
        covered = width if size is None else min(size, width)
    else:
        covered = min(width, 32 * masks.shape[1] if size is None else size)
        octets = masks.contiguous().view(torch.uint8)
        bits_of = torch.ones(8, dtype=torch.uint8, device=masks.device) << torch.arange(8, device=masks.device).byte()
        refused = (octets[:, :, None] & bits_of).eq(0).view(logits.shape[0], -1)[:, :covered]
        logits[:, :covered].masked_fill_(refused, float("-inf"))
    if covered < width:
        logits[:, covered:].fill_(float("-inf"))
    return logits
