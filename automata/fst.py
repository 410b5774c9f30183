"""Fst: a weighted finite-state transducer, stored natively."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, overload

from .._core import Fst as _NativeFst
from .symbols import SymbolTable

Semiring = Literal["tropical", "log", "boolean"]


class Arc(NamedTuple):
    """A transition. Label 0 is epsilon."""

    ilabel: int
    olabel: int
    weight: float
    nextstate: int


class Fst:
    """States 0..n-1, each with arcs (ilabel, olabel, weight, nextstate) and a final weight; one start state or none.

    Semirings, with OpenFst's conventions:

    - ``"tropical"``: (min, +), zero = inf, one = 0; weights are costs;
    - ``"log"``: (-log(e^-a + e^-b), +), zero = inf, one = 0; weights are negative log probabilities;
    - ``"boolean"``: (or, and), zero = 0, one = 1; unweighted automata.

    Every state id, label and weight given is checked: an unknown state raises IndexError, a label outside
    0..2^31-1 or a weight outside the semiring FstError, and the Fst is unchanged. An arc costs 16 bytes, a state 24.
    Reading from several threads is safe while none changes the Fst.
    """

    __slots__ = ("__weakref__", "_native")

    _native: _NativeFst

    def __init__(self, semiring: Semiring = "tropical") -> None:
        self._native = _NativeFst(semiring)

    @classmethod
    def _wrap(cls, native: _NativeFst) -> Fst:
        fst = cls.__new__(cls)
        fst._native = native
        return fst

    # ---- reading

    @property
    def semiring(self) -> Semiring:
        """``"tropical"``, ``"log"`` or ``"boolean"``."""
        return self._native.semiring()  # type: ignore[return-value]

    def start(self) -> int:
        """The start state, -1 where none is set (the Fst then accepts nothing)."""
        return self._native.start()

    def num_states(self) -> int:
        """The number of states. O(1)."""
        return self._native.num_states()

    def num_arcs(self, state: int | None = None) -> int:
        """The number of arcs of a state, or of all states. O(1)."""
        return self._native.num_arcs() if state is None else self._native.num_arcs_of(state)

    def states(self) -> range:
        """The state ids."""
        return range(self._native.num_states())

    def final(self, state: int) -> float:
        """The final weight; the semiring's zero where the state is not final."""
        return self._native.final(state)

    def is_final(self, state: int) -> bool:
        """Whether the final weight is not the semiring's zero."""
        return self._native.is_final(state)

    def arcs(self, state: int) -> Iterator[Arc]:
        """The arcs of a state as they are now, in order. O(arcs); `arcs_array` is far cheaper for many."""
        return map(Arc._make, self._native.arcs(state))

    def copy(self) -> Fst:
        """An independent Fst with the same states, arcs and symbol tables. O(states + arcs)."""
        return Fst._wrap(self._native.copy())

    def __copy__(self) -> Fst:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Fst:
        return self.copy()

    def __repr__(self) -> str:
        return f"<Fst {self.semiring}: {self.num_states()} states, {self.num_arcs()} arcs>"

    # ---- changing

    def add_state(self) -> int:
        """Add a state that is not final and has no arcs, and return its id. O(1) amortized."""
        return self._native.add_state()

    def add_states(self, n: int) -> None:
        """Add n states. O(n)."""
        self._native.add_states(n)

    def set_start(self, state: int) -> None:
        """Make a state the start state."""
        self._native.set_start(state)

    def set_final(self, state: int, weight: float | None = None) -> None:
        """Set the final weight; None is the semiring's one, the semiring's zero makes the state non-final."""
        self._native.set_final(state, weight)

    @overload
    def add_arc(self, state: int, arc: Arc, /) -> None: ...
    @overload
    def add_arc(self, state: int, ilabel: int, olabel: int, weight: float | None, nextstate: int) -> None: ...

    def add_arc(
        self,
        state: int,
        ilabel: int | Arc,
        olabel: int | None = None,
        weight: float | None = None,
        nextstate: int | None = None,
    ) -> None:
        """Add an arc, given as an `Arc` or by its parts, behind the state's others. O(1) amortized.

        The weight None is the semiring's one. Both states must exist.
        """
        if isinstance(ilabel, tuple):
            if olabel is not None or weight is not None or nextstate is not None:
                raise TypeError("Fst.add_arc: got an Arc and parts of an arc; pass one or the other")
            self._native.add_arc(state, *ilabel)
        elif olabel is None or nextstate is None:
            raise TypeError("Fst.add_arc: expected an Arc, or ilabel, olabel, weight and nextstate")
        else:
            self._native.add_arc(state, ilabel, olabel, weight, nextstate)

    def delete_arcs(self, state: int) -> None:
        """Remove all arcs of a state. O(1)."""
        self._native.delete_arcs(state)

    # ---- symbols

    @property
    def input_symbols(self) -> SymbolTable | None:
        """The names of input labels. Assign a table (its present entries are kept) or None; files carry it."""
        native = self._native.input_symbols()
        return None if native is None else SymbolTable._wrap(native)

    @input_symbols.setter
    def input_symbols(self, table: SymbolTable | None) -> None:
        self._native.set_input_symbols(None if table is None else table._native)

    @property
    def output_symbols(self) -> SymbolTable | None:
        """The names of output labels, like `input_symbols`."""
        native = self._native.output_symbols()
        return None if native is None else SymbolTable._wrap(native)

    @output_symbols.setter
    def output_symbols(self, table: SymbolTable | None) -> None:
        self._native.set_output_symbols(None if table is None else table._native)
