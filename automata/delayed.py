"""DelayedFst: what machines whose states are made on demand have in common."""

from __future__ import annotations

from collections.abc import Iterator

from .._core import DelayedFst as _NativeDelayed
from .fst import Arc, Fst, Semiring


class DelayedFst:
    """A machine whose states and arcs are made when they are first asked for, and kept.

    State ids are those that `start` and `arcs` have given out; another raises IndexError. The operands are copied when
    the machine is made, so later changes of them have no effect. Not safe to use from several threads at once.
    """

    __slots__ = ("_native",)

    _native: _NativeDelayed

    @property
    def semiring(self) -> Semiring:
        """``"tropical"``, ``"log"`` or ``"boolean"``."""
        return self._native.semiring()  # type: ignore[return-value]

    def start(self) -> int:
        """The start state, -1 where nothing is accepted."""
        return self._native.start()

    def final(self, state: int) -> float:
        """The final weight; the semiring's zero where the state is not final."""
        return self._native.final(state)

    def arcs(self, state: int) -> Iterator[Arc]:
        """The arcs of a state, computed at the first call for it."""
        return map(Arc._make, self._native.arcs(state))

    def num_known_states(self) -> int:
        """How many states have been given ids so far."""
        return self._native.num_known_states()

    def expand(self) -> Fst:
        """All of the machine as an `Fst` with the same state ids; LimitError where it grows beyond the limits."""
        return Fst._wrap(self._native.expand())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.semiring}: {self.num_known_states()} states known>"
