"""Fst: a weighted finite-state transducer, stored natively."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from .._core import Fst as _NativeFst
from . import arrays as _arrays
from . import binary as _binary
from . import draw as _draw
from . import text as _text
from .checks import checked_path, checked_semiring
from .symbols import SymbolTable, native_table

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
        self._native = _NativeFst(checked_semiring(semiring))

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
            if len(ilabel) != 4:
                raise TypeError(f"Fst.add_arc: expected an Arc of four parts, got {len(ilabel)}; pass an Arc")
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
        self._native.set_input_symbols(native_table("Fst", "input_symbols", table))

    @property
    def output_symbols(self) -> SymbolTable | None:
        """The names of output labels, like `input_symbols`."""
        native = self._native.output_symbols()
        return None if native is None else SymbolTable._wrap(native)

    @output_symbols.setter
    def output_symbols(self, table: SymbolTable | None) -> None:
        self._native.set_output_symbols(native_table("Fst", "output_symbols", table))

    # ---- arrays

    def arcs_array(self, state: int | None = None) -> npt.NDArray[np.void]:
        """The arcs of a state, or of all states in order, as records of `ARC_DTYPE`: one copy, 16 bytes an arc."""
        return _arrays.arcs_array(self._native, state)

    def to_arrays(self) -> _arrays.FstArrays:
        """The whole machine as arrays (arcs, offsets, finals, start): one copy each, O(states + arcs).

        Changing the arrays does not change the Fst; `from_arrays` makes a new one.
        """
        return _arrays.to_arrays(self._native)

    @classmethod
    def from_arrays(
        cls,
        arcs: npt.NDArray[Any],
        offsets: npt.ArrayLike,
        finals: npt.ArrayLike,
        start: int,
        *,
        semiring: Semiring = "tropical",
    ) -> Fst:
        """The machine of the arrays: `arcs` [m] of `ARC_DTYPE`, `offsets` [n + 1] int64, `finals` [n] float32.

        The arcs of state s are ``arcs[offsets[s]:offsets[s + 1]]``. Everything is checked; FstError names the first
        entry that is wrong. One copy of each array; O(states + arcs).
        """
        return cls._wrap(_arrays.from_arrays(arcs, offsets, finals, start, semiring))

    # ---- files and text

    @classmethod
    def read(cls, source: str | os.PathLike[str] | bytes, *, semiring: Semiring | None = None) -> Fst:
        """Read an OpenFst binary file, given as a path or as its bytes.

        Types "vector" and "const" over the arc types "standard" (tropical) and "log", with symbol tables; bytes behind
        the machine are ignored. ``semiring="boolean"`` reads an unweighted machine over the boolean semiring.

        Raises MissingFileError where there is no such file and FstError, with the place, where it is damaged or of
        another type; memory stays proportional to the file. O(size).
        """
        return cls._wrap(_binary.read_native(source, semiring))

    def write(self, path: str | os.PathLike[str], kind: _binary.FileKind = "vector") -> None:
        """Write an OpenFst binary file of type ``"vector"`` or ``"const"`` (``"const_aligned"``: for memory mapping).

        Arc type "standard" over the tropical and boolean semirings, "log" over log; a boolean machine's one and zero
        become 0 and infinity (read it back with ``semiring="boolean"``). Symbol tables are included. The file
        appears whole or not at all. O(states + arcs).
        """
        _binary.write_native(self._native, checked_path("Fst.write", path), kind)

    def to_bytes(self, kind: _binary.FileKind = "vector") -> bytes:
        """The bytes that `write` writes."""
        return _binary.to_bytes_native(self._native, kind)

    def __reduce__(self) -> tuple[Callable[[bytes, Semiring], Fst], tuple[bytes, Semiring]]:
        return _unpickle, (self.to_bytes(), self.semiring)

    @classmethod
    def from_text(
        cls,
        text: str | bytes,
        *,
        acceptor: bool = False,
        semiring: Semiring = "tropical",
        input_symbols: SymbolTable | None = None,
        output_symbols: SymbolTable | None = None,
    ) -> Fst:
        """Read AT&T text, as fstcompile does.

        Lines are "source target ilabel olabel [weight]" (`acceptor`: "source target label [weight]"), and "state
        [weight]" for final states. States are numbered as they occur; the first line's is the start. Labels are
        numbers, or names where a table is given (an acceptor's output takes the input's table unless it has its own);
        the tables stay attached. Raises FstError with the line. O(length).
        """
        return cls._wrap(_text.from_text_native(text, acceptor, semiring, input_symbols, output_symbols))

    def to_text(self, *, acceptor: bool = False, numeric: bool = False, show_weight_one: bool = False) -> str:
        """The AT&T text of the machine, as fstprint prints it: the start state's lines first; "" where there is none.

        Labels are names where symbol tables are attached, unless `numeric`. A boolean machine is printed as a tropical
        one. Raises FstError where a label has no name or its name has blanks, or labels differ and `acceptor` is True.
        O(states + arcs).
        """
        return _text.to_text_native(self._native, acceptor, numeric, show_weight_one)

    # ---- pictures

    def draw(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        format: str | None = None,
        labels: _draw.LabelStyle = "symbols",
        title: str = "",
        vertical: bool = False,
        max_states: int = 1000,
    ) -> str:
        """Return the machine as Graphviz DOT text and, where a path is given, write a picture there.

        The format is `format` or the path's suffix: dot needs nothing, svg, png and pdf need the graphviz package
        (``pip install 'tokamata[draw]'``) and Graphviz's program dot. `labels` "bytes" shows labels as bytes (256 is
        NUL) with runs as ranges; "symbols" shows symbol tables' names, and numbers where there are none.

        Raises LimitError where a picture of more than `max_states` states is asked for.
        """
        return _draw.draw(self, path, format, labels, title, vertical, max_states)

    def render(
        self,
        format: str = "svg",
        *,
        labels: _draw.LabelStyle = "symbols",
        title: str = "",
        vertical: bool = False,
        max_states: int = 1000,
    ) -> bytes:
        """The picture that `draw` writes, as bytes."""
        _draw.check_size(self, max_states)
        return _draw.render(_draw.dot(self, labels=labels, title=title, vertical=vertical), format)

    def _repr_svg_(self) -> str | None:
        """The picture in a notebook, where Graphviz is installed and the machine has at most 100 states."""
        try:
            return self.render("svg", max_states=100).decode()
        except (ImportError, ValueError, RuntimeError):
            return None


def _unpickle(data: bytes, semiring: Semiring) -> Fst:
    return Fst.read(data, semiring=semiring)
