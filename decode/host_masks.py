"""HostMasks: masks of a batch, computed beside the model's forward pass and copied without waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..automata.checks import checked_range, checked_type
from .batch_state import BatchState
from .masked_logits import checked_device, mask_logits_, tensor_shown

if TYPE_CHECKING:
    from concurrent.futures import Future

    import torch


class HostMasks:
    """For constraints that are too large for device tables: the host fills masks while the device runs the model.

    `begin` returns at once; a thread fills the batch's masks into page-locked memory without the GIL and has them
    copied to the device, on a stream of their own, beside the forward pass. `apply` waits for the thread, which mostly
    takes no time, makes the device's current stream wait for the copy, and masks the logits. Two pairs of buffers
    alternate: neither a copy nor masks that are still to be read are overwritten.

    Args:
        batch: the rows; change it (join, leave, advance) only between `apply` and the next `begin`.
        device: where the logits are.
        width: the width of the logits, at least that of every vocabulary. Rows without a state keep all of theirs.

    Raises TypeError and ValueError for another batch, a device that is not there, a width below 1.
    """

    def __init__(self, batch: BatchState, device: torch.device | str, width: int) -> None:
        """Start the thread; no mask is computed yet."""
        from concurrent.futures import ThreadPoolExecutor

        import torch

        self.batch = checked_type(
            "HostMasks", "a BatchState first", batch, BatchState, "make one with BatchState(states)"
        )
        self.device = checked_device("HostMasks", device)  # with its number: the thread may have another current device
        self.width = checked_range("HostMasks", "width", width, 1)
        self._pool = ThreadPoolExecutor(1, "tokamata-masks")
        self._copies: torch.cuda.Stream | None = None
        if self.device.type == "cuda":
            self._copies = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]
        self._buffers = [_Buffers(self._copies is not None) for _ in range(2)]
        self._turn = 0
        self._filled: Future[torch.Tensor] | None = None

    def begin(self) -> None:
        """Start to fill the masks of the states as they are now."""
        if self._filled is not None:
            raise RuntimeError("HostMasks.begin: masks are being filled already; call apply first")
        words = -(-self.width // 32)
        if words < self.batch.words:
            raise ValueError(
                f"HostMasks.begin: logits of width {self.width} are narrower than a vocabulary of the batch, whose "
                f"masks have {self.batch.words} words; pass the model's width"
            )
        self._turn = 1 - self._turn
        self._filled = self._pool.submit(self._fill, self._buffers[self._turn], len(self.batch), words)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Write minus infinity into ``logits`` [rows, width] where the masks of the last `begin` refuse."""
        import torch

        if not isinstance(logits, torch.Tensor) or logits.shape != (len(self.batch), self.width):
            raise ValueError(
                f"HostMasks.apply: expected logits [{len(self.batch)}, {self.width}], got {tensor_shown(logits)}"
            )
        if self._filled is None:
            self.begin()
        filled, self._filled = self._filled, None
        assert filled is not None
        masks = filled.result()
        if self._copies is None:
            return mask_logits_(logits, masks)
        buffers, stream = self._buffers[self._turn], torch.cuda.current_stream(self.device)
        stream.wait_event(buffers.copied)
        mask_logits_(logits, masks)
        buffers.read.record(stream)
        return logits

    def _fill(self, buffers: _Buffers, rows: int, words: int) -> torch.Tensor:
        """Fill masks of the batch and send them to the device; return them there, on CUDA still under way."""
        import torch

        buffers.make(rows, words, self.device)
        assert buffers.host is not None
        self.batch.fill_masks(buffers.host)
        if self._copies is None:
            return buffers.host[:rows].to(self.device)
        assert buffers.there is not None
        with torch.cuda.stream(self._copies):
            self._copies.wait_event(buffers.read)
            buffers.there[:rows].copy_(buffers.host[:rows], non_blocking=True)
            buffers.copied.record(self._copies)
        return buffers.there[:rows]

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown()

    def __enter__(self) -> HostMasks:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the thread."""
        self.close()


class _Buffers:
    """Masks of one turn: on the host and, for CUDA, on the device, with events that say how far the device is."""

    def __init__(self, cuda: bool) -> None:
        import torch

        self.host: torch.Tensor | None = None
        self.there: torch.Tensor | None = None
        if cuda:
            self.copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self.read = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def make(self, rows: int, words: int, device: torch.device) -> None:
        """See that there is room, and that nothing of the last use is still to be copied or, for new room, read."""
        import torch

        cuda = device.type == "cuda"
        if self.host is not None and self.host.shape[0] >= rows:
            if cuda:
                self.copied.synchronize()
            return
        if cuda and self.there is not None:
            self.read.synchronize()
        self.host = torch.zeros((rows, words), dtype=torch.int32, pin_memory=cuda)
        if cuda:
            self.there = torch.zeros((rows, words), dtype=torch.int32, device=device)
            torch.cuda.current_stream(device).synchronize()
