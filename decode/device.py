"""DeviceAutomaton: a token automaton as tensors, so that decoding never leaves the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._core import device_tables as _device_tables
from .._core import token_table as _token_table
from ..automata.checks import checked_choice, checked_count, checked_range, checked_several, checked_type, cut
from .masked_logits import KERNELS, Kernels, checked_device, mask_logits_, tensor_shown, uses_triton

if TYPE_CHECKING:
    import torch

    from .token_automaton import TokenAutomaton


class DeviceAutomaton:
    """What `TokenAutomaton.to` returns: every state's mask and successors on one device.

    A batch of rows is an int32 tensor of states. A step (`apply` to the logits, sample, `advance`) is a handful of
    kernels on the device: nothing is copied, nothing waits for the host, shapes do not depend on values, so a step can
    be captured in a CUDA graph, after one outside of it, which compiles the kernels. States are 0, a row that took a
    token it may not; 1, a row that consumed EOS; and from 2 on those of the constraint. Rows in state 0 or 1 allow EOS
    and nothing else, and stay where they are. Other states raise IndexError on the CPU; on a GPU nobody looks, which
    would be to wait for it.

    Kernels are Triton's on CUDA, and plain PyTorch elsewhere; ``kernels`` of `TokenAutomaton.to` decides otherwise.
    Plain PyTorch's `advance` waits for the device, but not while it is captured.

    Attributes:
        successors: int32 [states, classes], the state after a byte of each class.
        class_of: uint8 [256], the class of each byte.
        row_of: int32 [states], the mask of each state.
        mask_rows: int32 [masks, words], different masks; see DecodeState.fill_mask for the layout.
        final: bool [states], whether EOS is allowed.
        token_bytes, begins, lengths: the bytes of all tokens, uint8, and where each token's are, int32 [V].
    """

    def __init__(
        self, automaton: TokenAutomaton, device: torch.device | str, max_states: int, max_bytes: int, kernels: Kernels
    ) -> None:
        """See `TokenAutomaton.to`."""
        import torch

        max_states = checked_count("to", "max_states", max_states)
        max_bytes = checked_count("to", "max_bytes", max_bytes)
        if max_states < 3 or max_bytes < 1:
            raise ValueError(
                f"to: expected max_states >= 3 and max_bytes >= 1, got {cut(max_states)} and {cut(max_bytes)}"
            )
        checked_choice("to", "kernels", kernels, KERNELS)
        self.automaton = automaton
        self.device = checked_device("to", device)
        native = automaton._tokens._native
        class_of, successors, row_of, rows, final = _device_tables(
            automaton._language, native, min(max_states, 2**31 - 1), min(max_bytes, 2**63)
        )
        begins, lengths, token_bytes = _token_table(native)

        def tensor(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(array).to(self.device)

        self.successors = tensor(successors)
        self.class_of = tensor(class_of.reshape(-1))
        self.row_of = tensor(row_of.reshape(-1))
        self.mask_rows = tensor(rows)
        self.final = tensor(final.reshape(-1)).bool()
        self.token_bytes = tensor(token_bytes.reshape(-1))
        self.begins = tensor(begins.reshape(-1).view(np.int32))
        self.lengths = tensor(lengths.reshape(-1).view(np.int32))
        self.size = len(automaton.vocabulary)
        self._starts = torch.full((1,), 2, dtype=torch.int32, device=self.device)
        self._longest = int(lengths.max(initial=0))
        self._triton = uses_triton(self.device, kernels)

    @property
    def num_states(self) -> int:
        """States of the constraint, without the two for rows that have ended."""
        return self.successors.shape[0] - 2

    @property
    def num_masks(self) -> int:
        """Different masks, that of ended rows included."""
        return self.mask_rows.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors."""
        tensors = (self.successors, self.class_of, self.row_of, self.mask_rows, self.final)
        tokens = (self.token_bytes, self.begins, self.lengths)
        return sum(t.numel() * t.element_size() for t in (*tensors, *tokens))

    @classmethod
    def joined(cls, parts: Sequence[DeviceAutomaton]) -> DeviceAutomaton:
        """Several constraints in one: rows of a batch follow one each (`start`).

        Args:
            parts: over the same vocabulary, on the same device, at least one.

        Complexity: copies all tensors on the device.
        """
        import torch

        parts = checked_several("DeviceAutomaton.joined", "automata", parts)
        if not parts:
            raise ValueError("DeviceAutomaton.joined: expected at least one automaton, got none; pass a list of them")
        for part in parts:
            remedy = "make it with automaton.to(device)"
            checked_type("DeviceAutomaton.joined", "a DeviceAutomaton", part, DeviceAutomaton, remedy)
        first = parts[0]
        if any(part.automaton._tokens is not first.automaton._tokens or part.device != first.device for part in parts):
            raise ValueError(
                "DeviceAutomaton.joined: expected automata over the same Vocabulary object on the same device; where "
                "some speak of special tokens, join those that speak of the same"
            )
        made = cls.__new__(cls)
        made.__dict__.update(first.__dict__)
        classes = np.stack([part.class_of.cpu().numpy() for part in parts])
        kinds, class_of = np.unique(classes, axis=1, return_inverse=True)  # bytes that no part tells apart
        made.class_of = torch.from_numpy(class_of.reshape(-1).astype(np.uint8)).to(first.device)
        successors, row_of, final, starts = [], [], [], []
        states = masks = 0
        for kind, part in zip(kinds, parts, strict=True):
            after = part.successors[:, torch.from_numpy(kind.astype(np.int64)).to(first.device)]
            kept = slice(2 if states else 0, None)  # states 0 and 1 are all parts' own
            successors.append(torch.where(after > 1, after + states, after)[kept])
            row_of.append((part.row_of + masks)[kept])
            final.append(part.final[kept])
            starts.append(part._starts + states)
            states += len(part.successors) - 2
            masks += len(part.mask_rows)
        made.successors = torch.cat(successors).contiguous()
        made.row_of, made.final, made._starts = torch.cat(row_of), torch.cat(final), torch.cat(starts)
        made.mask_rows = torch.cat([part.mask_rows for part in parts])
        return made

    def start(self, rows: int, which: torch.Tensor | Sequence[int] | None = None) -> torch.Tensor:
        """Return the states of that many rows at the beginning, int32 [rows].

        Args:
            rows: how many.
            which: where constraints were `joined`, the number of each row's, integers [rows]; None: the first one.

        Raises:
            TypeError: no integers.
            ValueError: less than 0 rows; not one number of a constraint for each.
        """
        import torch

        rows = checked_range("DeviceAutomaton.start", "rows", rows, 0, 2**31 - 1)
        if which is None:
            return self._starts[:1].expand(rows).clone()
        if not isinstance(which, torch.Tensor):
            most, name = len(self._starts) - 1, "DeviceAutomaton.start"
            which = [checked_range(name, "which", i, 0, most) for i in checked_several(name, "numbers", which)]
        chosen = torch.as_tensor(which, device=self.device)
        if chosen.shape != (rows,) or chosen.is_floating_point():
            raise ValueError(f"DeviceAutomaton.start: expected {rows} integers, got {cut(which)}")
        return self._starts.index_select(0, chosen.long())

    def apply(self, logits: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Write minus infinity into ``logits`` where a row's state does not allow the token; return ``logits``.

        Args:
            logits: float [rows, width] of any floating dtype and strides, width >= V; columns from V on become minus
                infinity. Changed in place.
            states: int32 [rows].

        Raises:
            ValueError: shapes, dtype or device that do not fit.
        """
        self._check("apply", states)
        self._check_logits(logits, states.shape[0])
        if self._triton:
            from .kernels import mask_logits

            mask_logits(logits, self.mask_rows, self.row_of, states)
            return logits
        return mask_logits_(logits, self._masks(states), self.size, "torch")

    def advance(self, states: torch.Tensor, token_ids: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """Return the states after one token for each row, int32 [rows].

        A token that the state does not allow leads to state 0; one below 0 means none; rows in state 0 or 1 stay there.

        Args:
            states: int32 [rows].
            token_ids: int64 or int32 [rows], on the same device.
            out: int32 [rows] to write into; ``states`` itself is fine. None: a new tensor.

        Complexity: one lookup for each byte of the token. Plain PyTorch makes a step for each byte of the batch's
        longest token, for which it waits; in a CUDA graph, for each byte of the vocabulary's longest one.
        """
        import torch

        self._check("advance", states)
        good = isinstance(token_ids, torch.Tensor) and token_ids.dtype in (torch.int32, torch.int64)
        if not good or token_ids.shape != states.shape or token_ids.device != states.device:
            raise ValueError(
                f"DeviceAutomaton.advance: expected int64 or int32 token_ids [{states.shape[0]}] on {states.device}, "
                f"got {tensor_shown(token_ids)}"
            )
        like = (states.dtype, states.shape, states.device)
        if out is not None and not (isinstance(out, torch.Tensor) and (out.dtype, out.shape, out.device) == like):
            raise ValueError(
                f"DeviceAutomaton.advance: expected out like states, int32 [{states.shape[0]}] on {states.device}, got "
                f"{tensor_shown(out)}"
            )
        if self._triton:
            from .kernels import advance

            result = out if out is not None and out.is_contiguous() else torch.empty_like(token_ids, dtype=torch.int32)
            advance(self, states.contiguous(), token_ids.contiguous(), result.view(-1))
            return result if out is None or out is result else out.copy_(result)
        after = self._walk(states, token_ids)
        return after if out is None else out.copy_(after)

    def masks(self, states: torch.Tensor) -> torch.Tensor:
        """Return the packed masks of the states, int32 [rows, words]."""
        self._check("masks", states)
        return self._masks(states)

    def _masks(self, states: torch.Tensor) -> torch.Tensor:
        import torch

        if self.device.type == "cpu":  # numpy takes rows on this thread, PyTorch on all, who wait for each other
            rows = self.mask_rows.numpy()[self.row_of.numpy()[states.numpy()]]
            return torch.from_numpy(rows)
        return self.mask_rows.index_select(0, self.row_of.index_select(0, states))

    def is_final(self, states: torch.Tensor) -> torch.Tensor:
        """Return whether EOS is allowed in each row and was not consumed, bool [rows]."""
        self._check("is_final", states)
        return self.final.index_select(0, states)

    def is_finished(self, states: torch.Tensor) -> torch.Tensor:
        """Return whether each row consumed EOS, bool [rows]."""
        self._check("is_finished", states)
        return states == 1

    def _walk(self, states: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
        import torch

        inside = (token_ids >= 0) & (token_ids < self.size)
        tokens = torch.where(inside, token_ids, 0).long()
        words = self.mask_rows[self.row_of.index_select(0, states), tokens >> 5]
        allowed = inside & ((words >> (tokens & 31)) & 1).bool()
        begins = self.begins.index_select(0, tokens)
        lengths = torch.where(allowed, self.lengths.index_select(0, tokens), 0)
        # Launching a step for each byte of the longest token there is takes longer than waiting for the longest here.
        captured = self.device.type == "cuda" and torch.cuda.is_current_stream_capturing()
        longest = int(lengths.max()) if len(lengths) and not captured else self._longest
        classes = self.successors.shape[1]
        flat = self.successors.view(-1)
        after = states.long()
        for i in range(longest):
            reads = i < lengths
            places = torch.where(reads, begins + i, 0)
            byte_class = self.class_of.index_select(0, self.token_bytes.index_select(0, places).int()).long()
            after = torch.where(reads, flat.index_select(0, after * classes + byte_class).long(), after)
        after = torch.where(lengths == 0, 1, after)  # allowed and without bytes: EOS
        after = torch.where(allowed, after, 0).int()
        return torch.where((states <= 1) | (token_ids < 0), states, after)

    def _check(self, name: str, states: torch.Tensor) -> None:
        import torch

        good = isinstance(states, torch.Tensor) and states.dtype == torch.int32
        if not good or states.ndim != 1 or states.device != self.device:
            raise ValueError(
                f"DeviceAutomaton.{name}: expected int32 states [rows] on {self.device}, got "
                f"{tensor_shown(states)}; start with .start(rows)"
            )
        if self.device.type == "cpu":  # to look at those of a GPU would be to wait for it
            numbers, most = states.numpy(), len(self.successors) - 1
            if numbers.view(np.uint32).max(initial=0) > most:  # negative ones are large there
                wrong = numbers[(numbers < 0) | (numbers > most)][0]
                raise IndexError(
                    f"DeviceAutomaton.{name}: expected states 0..{most}, got {wrong}; pass what start or advance of "
                    "this automaton returned"
                )

    def _check_logits(self, logits: torch.Tensor, rows: int) -> None:
        import torch

        fits = isinstance(logits, torch.Tensor) and logits.ndim == 2 and logits.shape[0] == rows
        if not fits or not logits.is_floating_point() or logits.device != self.device:
            raise ValueError(
                f"DeviceAutomaton.apply: expected floating logits [{rows}, width] on {self.device}, got "
                f"{tensor_shown(logits)}"
            )
        if logits.shape[1] < self.size:
            raise ValueError(
                f"DeviceAutomaton.apply: the model's logits are {logits.shape[1]} wide, the vocabulary has "
                f"{self.size} tokens; build it with "
                "Vocabulary.from_transformers(tokenizer, size=model.config.vocab_size)"
            )

    def __repr__(self) -> str:
        return (
            f"<tokamata.decode.DeviceAutomaton on {self.device}: {self.num_states} states, {self.num_masks} masks, "
            f"{self.class_of.max().item() + 1} classes of bytes>"
        )
