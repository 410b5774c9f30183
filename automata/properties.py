"""Properties of machines, three-valued."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .._core import properties as _properties
from ._arguments import native
from .checks import checked_flag
from .fst import Fst

# The bit for yes; the one above it is for no (OpenFst's values).
_BITS = {
    "acceptor": 0x10000,
    "i_deterministic": 0x40000,
    "o_deterministic": 0x100000,
    "epsilons": 0x400000,
    "i_epsilons": 0x1000000,
    "o_epsilons": 0x4000000,
    "i_label_sorted": 0x10000000,
    "o_label_sorted": 0x40000000,
    "weighted": 0x100000000,
    "cyclic": 0x400000000,
    "initial_cyclic": 0x1000000000,
    "top_sorted": 0x4000000000,
    "accessible": 0x10000000000,
    "coaccessible": 0x40000000000,
    "string": 0x100000000000,
    "weighted_cycles": 0x400000000000,
}


@dataclass(frozen=True)
class Properties:
    """What is true of a machine; None where it is not known. Names and meanings are OpenFst's."""

    acceptor: bool | None
    """Input and output label are equal on every arc."""
    i_deterministic: bool | None
    """The input labels of each state differ (one of them may be epsilon)."""
    o_deterministic: bool | None
    """The output labels of each state differ (one of them may be epsilon)."""
    epsilons: bool | None
    """Some arc is epsilon on both sides."""
    i_epsilons: bool | None
    """Some arc is epsilon on the input side."""
    o_epsilons: bool | None
    """Some arc is epsilon on the output side."""
    i_label_sorted: bool | None
    """The input labels of each state never decrease."""
    o_label_sorted: bool | None
    """The output labels of each state never decrease."""
    weighted: bool | None
    """Some arc or final weight is neither one nor zero."""
    cyclic: bool | None
    """There is a cycle."""
    initial_cyclic: bool | None
    """There is a cycle through the start state."""
    top_sorted: bool | None
    """Every arc leads to a higher state."""
    accessible: bool | None
    """Every state is reached from the start state."""
    coaccessible: bool | None
    """Every state reaches a final state."""
    string: bool | None
    """There is one path, through states 0, 1, 2, …, final at its end only."""
    weighted_cycles: bool | None
    """Some arc between states of one strongly connected component is weighted."""


def properties(fst: Fst, *, compute: bool = True) -> Properties:
    """The properties of a machine: all of them, or with `compute` False those that are known without looking.

    Known are properties computed before or guaranteed by the operation that made the machine (`arcsort`, `connect`,
    …), until the machine changes. Computing is O(states + arcs), plus O(d log d) at states of d unsorted arcs.
    """
    asked = 0
    for bit in _BITS.values():
        asked |= bit | bit << 1
    found = _properties(native("properties", fst), asked, checked_flag("properties", "compute", compute))
    values = {
        f.name: True if found & _BITS[f.name] else False if found & _BITS[f.name] << 1 else None
        for f in fields(Properties)
    }
    return Properties(**values)
