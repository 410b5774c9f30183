"""unite_readings: a token acceptor in which tokens have several readings, made deterministic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..automata import Fst, SymbolTable

if TYPE_CHECKING:
    from ..tokenizer_fst import Vocabulary

Ids = npt.NDArray[np.int32]


def unite_readings(
    fst: Fst, offsets: npt.NDArray[np.int64], ids: Ids, tokens: Vocabulary, min_tokens: int
) -> tuple[Fst, npt.NDArray[np.int64], Ids]:
    """Turn an acceptor whose labels are tokens, classes of tokens and terminals into one over tokens and terminals.

    Where a token may be read as text and as a token of a class, it leads to the set of the states that these readings
    lead to, which is one state here: the subset construction. Tokens that lead to the same set are one terminal, or
    plain arcs where they are fewer than ``min_tokens``. ``tokens`` has the classes behind the tokens of the model.
    Returns the acceptor and its terminals, as `TokenAcceptor` keeps them.

    Complexity: O(tokens log tokens) for each of the sets of states that are reached.
    """
    size = len(tokens) - len(tokens._class_ids)
    sets = _sets(offsets, ids, tokens, size)
    rng = np.random.default_rng(0)
    marks = rng.integers(1, 2**62, fst.num_states(), dtype=np.int64)  # sums of different states are different
    start = frozenset([fst.start()])
    known: dict[frozenset[int], int] = {start: 0}
    order = [start]
    terminals: dict[bytes, int] = {}
    out = Fst()
    out.add_state()
    out.set_start(0)
    for number, states in enumerate(order):
        if any(fst.is_final(s) for s in states):
            out.set_final(number)
        arcs: list[tuple[int, int]] = []
        for group, targets in _groups(fst, states, sets, size, marks):
            if targets not in known:
                known[targets] = out.add_state()
                order.append(targets)
            if len(group) < min_tokens:
                arcs += [(token + 1, known[targets]) for token in group.tolist()]
            else:
                label = size + 1 + terminals.setdefault(group.tobytes(), len(terminals))
                arcs.append((label, known[targets]))
        for label, target in sorted(arcs):
            out.add_arc(number, label, label, None, target)
    members = [np.frombuffer(key, np.int32) for key in terminals]
    _name(out, fst, sets, members, tokens, size)
    return out, np.cumsum([0, *map(len, members)], dtype=np.int64), np.concatenate([np.zeros(0, np.int32), *members])


def _sets(offsets: npt.NDArray[np.int64], ids: Ids, tokens: Vocabulary, size: int) -> list[Ids]:
    """The tokens of the model that each label above theirs stands for: the classes, then the terminals."""
    classes = list(tokens._class_ids.values())
    sets = classes.copy()
    for i in range(len(offsets) - 1):
        members = ids[offsets[i] : offsets[i + 1]]
        inside = [classes[c - size] for c in members[members >= size].tolist()]
        sets.append(np.unique(np.concatenate([members[members < size], *inside])))
    return sets


def _groups(
    fst: Fst, states: frozenset[int], sets: list[Ids], size: int, marks: npt.NDArray[np.int64]
) -> Iterator[tuple[Ids, frozenset[int]]]:
    """The tokens out of a set of states, by the set of states that they lead to."""
    parts: dict[int, list[Ids]] = {}
    for state in states:
        for arc in fst.arcs(state):
            label = arc.ilabel
            parts.setdefault(arc.nextstate, []).append(
                np.array([label - 1], np.int32) if label <= size else sets[label - size - 1]
            )
    by_target = {
        target: found[0] if len(found) == 1 else np.unique(np.concatenate(found))
        for target, found in sorted(parts.items())
    }
    if len(by_target) < 2:
        yield from ((found, frozenset([target])) for target, found in by_target.items())
        return
    every = np.unique(np.concatenate(list(by_target.values())))
    sums = np.zeros(len(every), np.int64)
    for target, found in by_target.items():
        sums[np.searchsorted(every, found)] += marks[target]
    targets_of: dict[int, set[int]] = {}
    for target, found in by_target.items():
        for mark in np.unique(sums[np.searchsorted(every, found)]).tolist():
            targets_of.setdefault(mark, set()).add(target)
    for mark, targets in targets_of.items():
        yield every[sums == mark], frozenset(targets)


def _name(out: Fst, fst: Fst, sets: list[Ids], members: list[Ids], tokens: Vocabulary, size: int) -> None:
    """Give the labels of a machine the names that they had, and terminals that are new the names of their classes."""
    old = fst.input_symbols or SymbolTable()
    names = [f"<{name.lstrip(chr(0))}>" for name in tokens._class_ids]
    names += [old.symbol(size + 1 + i) or "" for i in range(len(names), len(sets))]
    name_of = {s.tobytes(): name for s, name in zip(reversed(sets), reversed(names), strict=True)}
    table = SymbolTable("tokens")
    table.add("<eps>", 0)
    for label in np.unique(out.arcs_array()["ilabel"]).tolist():
        if label <= size:
            name = old.symbol(label) or f"<{label - 1}>"
        else:
            group = members[label - size - 1]
            name = name_of.get(group.tobytes()) or f"<{len(group)} tokens>"
        while name in table:
            name += "#"
        table.add(name, label)
    out.input_symbols = out.output_symbols = table
