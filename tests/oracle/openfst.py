"""OpenFst (through pywrapfst) as an oracle: converters both ways that use no files."""

from __future__ import annotations

import math

import pywrapfst
from tokamata.automata import Fst, Semiring

ARC_TYPES = {"tropical": "standard", "log": "log", "boolean": "standard"}


def to_openfst(fst: Fst) -> pywrapfst.VectorFst:
    """The same machine in OpenFst; boolean becomes tropical with one = 0 and zero = inf. Symbol tables are left out."""
    boolean = fst.semiring == "boolean"

    weight_type = "log" if fst.semiring == "log" else "tropical"

    def weight(w: float) -> pywrapfst.Weight:
        return pywrapfst.Weight(weight_type, (0.0 if w else math.inf) if boolean else w)

    out = pywrapfst.VectorFst(ARC_TYPES[fst.semiring])
    out.add_states(fst.num_states())
    if fst.start() >= 0:
        out.set_start(fst.start())
    for s in fst.states():
        if fst.is_final(s):
            out.set_final(s, weight(fst.final(s)))
        for arc in fst.arcs(s):
            out.add_arc(s, pywrapfst.Arc(arc.ilabel, arc.olabel, weight(arc.weight), arc.nextstate))
    return out


def from_openfst(fst: pywrapfst.Fst, semiring: Semiring | None = None) -> Fst:
    """The same machine from OpenFst; `semiring` "boolean" turns weights into 1, and infinity into 0."""
    if semiring is None:
        semiring = "log" if fst.arc_type() == "log" else "tropical"

    def weight(w: pywrapfst.Weight) -> float:
        value = float(w.to_string().replace("Infinity", "inf"))
        return (0.0 if value == math.inf else 1.0) if semiring == "boolean" else value

    out = Fst(semiring)
    states = list(fst.states())
    out.add_states(len(states))
    if fst.start() >= 0:
        out.set_start(fst.start())
    for s in states:
        out.set_final(s, weight(fst.final(s)))
        for arc in fst.arcs(s):
            out.add_arc(s, arc.ilabel, arc.olabel, weight(arc.weight), arc.nextstate)
    return out
