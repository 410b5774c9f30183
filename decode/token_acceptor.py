"""TokenAcceptor: an explicit acceptor over tokens whose wildcards are terminal labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._core import expand_terminals
from .._core import token_acceptor as _native_token_acceptor
from ..automata import Fst
from ..automata.checks import checked_count, checked_mapping, checked_path, checked_range, checked_type, cut
from ..automata.errors import ConstraintError
from ..tokenizer_fst.artifact import read_artifact, write_artifact
from .mask_row import array_of
from .unite_readings import unite_readings

if TYPE_CHECKING:
    from .token_automaton import TokenAutomaton

_SECTION = "terminals"  # of a saved token acceptor


class TokenAcceptor:
    """An acceptor over the tokens of a vocabulary of V tokens; some labels stand for classes of tokens.

    Label t + 1 is token t; the labels above V are terminals: a wildcard that reads three characters is one arc, not one
    for each of the thousands of tokens of three characters (Koo et al. 2024, §2.5.1). There a model's mask is a union
    of approximate sets; here the sets are exact: the tokens of the arcs out of a state are disjoint, and with every
    terminal replaced by its tokens (`expand`) the machine is a deterministic acceptor of the token sequences that
    decoding allows. A state is final where EOS is allowed.

    The Fst's symbol table names the labels that occur. Terminals are named for what they hold: ``<[a-z]{3}>`` has the
    tokens of three lower-case letters, ``<[^"]{2}-1>`` those of two characters, the last one short of 1 byte (E0, ED,
    F0, F4 behind it are its lead byte where that matters), and ``<",|"}|"]|...23>`` is 23 tokens, these among them.

    Immutable: do not change `fst`; copy it.
    """

    __slots__ = ("_ids", "_offsets", "fst", "num_tokens", "terminals")

    fst: Fst
    """The acceptor; arcs in order of labels. As any Fst it can be drawn, written, minimized, …"""
    num_tokens: int
    """V, the size of the vocabulary."""
    terminals: Mapping[int, npt.NDArray[np.int32]]
    """The token ids that each terminal label stands for: rising, read-only int32."""

    def __init__(self, fst: Fst, num_tokens: int, terminals: Mapping[int, npt.ArrayLike]) -> None:
        """Combine an acceptor with the sets of its terminals; the labels are V + 1, V + 2, … without gaps.

        Raises ConstraintError for other labels, and for sets that are not rising token ids below V.
        """
        checked_type("TokenAcceptor", "an Fst first", fst, Fst, "make one with automaton.token_acceptor()")
        num_tokens = checked_range("TokenAcceptor", "num_tokens", num_tokens, 0, 2**31 - 1)
        checked_mapping("TokenAcceptor", "terminals", terminals, "{num_tokens + 1: [0, 2]}")
        for label in terminals:
            checked_count("TokenAcceptor", "a label", label)
        sets = [_array(terminals[label]) for label in sorted(terminals)]
        if sorted(terminals) != list(range(num_tokens + 1, num_tokens + 1 + len(sets))):
            raise ConstraintError(
                f"TokenAcceptor: expected terminal labels {num_tokens + 1}, {num_tokens + 2}, … without gaps, got "
                f"{sorted(terminals)[:5]}"
            )
        offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        ids = np.concatenate([*sets, np.zeros(0, np.int32)])
        self._set(fst, num_tokens, offsets, ids)

    def _set(self, fst: Fst, num_tokens: int, offsets: npt.NDArray[np.int64], ids: npt.NDArray[Any]) -> None:
        if ids.dtype.kind not in "iu":
            raise ConstraintError(f"TokenAcceptor: expected token ids as integers, got {ids.dtype}")
        step = np.diff(ids.astype(np.int64), prepend=-1) <= 0
        step[offsets[:-1][offsets[:-1] < len(ids)]] = False
        if step.any() or (len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < num_tokens):
            raise ConstraintError(
                f"TokenAcceptor: expected rising token ids in 0..{num_tokens - 1} for each terminal, got others"
            )
        self.fst = fst
        self.num_tokens = num_tokens
        self._offsets = offsets
        self._ids = np.ascontiguousarray(ids, np.int32)
        for array in (self._offsets, self._ids):
            array.flags.writeable = False
        first = num_tokens + 1
        self.terminals = MappingProxyType(
            {first + i: self._ids[offsets[i] : offsets[i + 1]] for i in range(len(offsets) - 1)}
        )

    @classmethod
    def _from_parts(
        cls, fst: Fst, num_tokens: int, offsets: npt.NDArray[np.int64], ids: npt.NDArray[np.int32]
    ) -> TokenAcceptor:
        made = cls.__new__(cls)
        made._set(fst, num_tokens, offsets, ids)
        return made

    @property
    def num_states(self) -> int:
        """States of the acceptor."""
        return self.fst.num_states()

    @property
    def num_arcs(self) -> int:
        """Arcs of the acceptor, a terminal being one."""
        return self.fst.num_arcs()

    @property
    def num_token_arcs(self) -> int:
        """Arcs of the expanded acceptor. O(arcs)."""
        labels = self.fst.arcs_array()["ilabel"].astype(np.int64) - self.num_tokens - 1
        sizes = np.diff(self._offsets)
        return int((labels < 0).sum() + sizes[labels[labels >= 0]].sum())

    @property
    def nbytes(self) -> int:
        """Bytes in memory: 24 a state, 16 an arc, 4 a token id of a terminal, 8 a terminal (names left out)."""
        return 24 * self.num_states + 16 * self.num_arcs + self._ids.nbytes + self._offsets.nbytes

    def tokens(self, label: int) -> npt.NDArray[np.int32]:
        """The token ids that a label stands for, rising. Raises KeyError for a label of no token and no terminal."""
        label = checked_count("TokenAcceptor.tokens", "label", label)
        if 1 <= label <= self.num_tokens:
            return np.array([label - 1], np.int32)
        if label not in self.terminals:
            most = self.num_tokens + len(self.terminals)
            raise KeyError(
                f"TokenAcceptor.tokens: expected a label in 1..{most}, got {cut(label)}; "
                "labels are token ids + 1, and terminals behind them"
            )
        return self.terminals[label]

    def mask(self, state: int) -> npt.NDArray[np.int32]:
        """The tokens that a state reads as packed bits, int32 [ceil(V / 32)], EOS left out (see ``fst.is_final``).

        Token t is bit t % 32 of word t // 32. Raises IndexError for no state. O(tokens).
        """
        if not 0 <= checked_count("TokenAcceptor.mask", "state", state) < self.num_states:
            raise IndexError(f"TokenAcceptor.mask: expected 0 <= state < {self.num_states}, got {cut(state)}")
        bits = np.zeros(-(-self.num_tokens // 32) * 32, np.uint8)
        for label in self.fst.arcs_array(state)["ilabel"].tolist():
            bits[self.tokens(label)] = 1
        return np.packbits(bits, bitorder="little").view(np.int32)

    def expand(self, *, max_arcs: int = 100_000_000) -> Fst:
        """The acceptor with every terminal arc replaced by arcs of its tokens: deterministic, in order of labels.

        It accepts what :meth:`TokenAutomaton.to_fst` does. Raises LimitError past ``max_arcs`` arcs (16 bytes each).
        O(arcs log arcs of a state).
        """
        if checked_count("TokenAcceptor.expand", "max_arcs", max_arcs) < 0:
            raise ValueError(f"TokenAcceptor.expand: expected max_arcs >= 0, got {cut(max_arcs)}")
        most = min(max_arcs, 2**63)
        return Fst._wrap(expand_terminals(self.fst._native, self.num_tokens, self._offsets, self._ids, most))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an OpenFst file (const) whose symbol table names the labels; a section behind it keeps the sets.

        The file appears whole or not at all.
        """
        head = np.array([self.num_tokens, len(self.terminals)], "<i8")
        section = head.tobytes() + self._offsets.astype("<i8").tobytes() + self._ids.astype("<i4").tobytes()
        write_artifact(checked_path("TokenAcceptor.save", path), self.fst.to_bytes("const"), {_SECTION: section})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TokenAcceptor:
        """Read what `save` wrote.

        Raises MissingFileError when there is no such file, ConstraintError when it is damaged or something else.
        """
        sections = read_artifact(checked_path("TokenAcceptor.load", path))
        name = f"TokenAcceptor.load: {os.fspath(path)!r}"
        if _SECTION not in sections:
            raise ConstraintError(
                f"{name} is no saved token acceptor; it has the sections {sorted(sections)}. Use tokamata.load for "
                "token automata, tokamata.Vocabulary.load for vocabularies"
            )
        data = sections[_SECTION]
        if len(data) < 24:
            raise ConstraintError(f"{name}: the section of terminals is too short; save the acceptor again")
        num_tokens, count = np.frombuffer(data, "<i8", 2).tolist()
        if not 0 <= count <= len(data) // 8 - 3 or not 0 < num_tokens < 2**31:
            raise ConstraintError(f"{name}: {count} terminals over {num_tokens} tokens do not fit the file")
        offsets = np.frombuffer(data, "<i8", count + 1, 16).astype(np.int64)
        rest = data[24 + 8 * count :]
        if offsets[0] != 0 or (np.diff(offsets) < 0).any() or 4 * int(offsets[-1]) != len(rest):
            raise ConstraintError(f"{name}: the sizes of the terminals do not fit the file; save the acceptor again")
        return cls._from_parts(Fst.read(path), num_tokens, offsets, np.frombuffer(rest, "<i4").astype(np.int32))

    def __reduce__(self) -> tuple[Callable[..., TokenAcceptor], tuple[Any, ...]]:
        return TokenAcceptor._from_parts, (self.fst, self.num_tokens, np.array(self._offsets), np.array(self._ids))

    def __repr__(self) -> str:
        return (
            f"<tokamata.TokenAcceptor: {self.num_states} states, {self.num_arcs} arcs, {len(self.terminals)} terminals "
            f"over {self.num_tokens} tokens>"
        )


def _array(token_ids: npt.ArrayLike) -> npt.NDArray[Any]:
    found = array_of(token_ids)
    if found.ndim != 1:
        raise ConstraintError(
            f"TokenAcceptor: expected the tokens of a terminal as a list of ids, got {cut(token_ids)}"
        )
    return found if found.size else found.astype(np.int32)


def token_acceptor(automaton: TokenAutomaton, min_tokens: int, max_states: int, max_bytes: int) -> TokenAcceptor:
    """See `TokenAutomaton.token_acceptor`."""
    for name, value in (("min_tokens", min_tokens), ("max_states", max_states), ("max_bytes", max_bytes)):
        if checked_count("token_acceptor", name, value) < 1:
            raise ValueError(f"token_acceptor: expected {name} >= 1, got {cut(value)}")
    native, offsets, ids = _native_token_acceptor(
        automaton._language,
        automaton._tokens._native,
        min(min_tokens, 2**32 - 1),
        min(max_states, 2**31 - 1),
        min(max_bytes, 2**63),
    )
    fst = Fst._wrap(native)
    if automaton._tokens._class_ids:
        fst, offsets, ids = unite_readings(fst, offsets, ids, automaton._tokens, min_tokens)
    return TokenAcceptor._from_parts(fst, len(automaton.vocabulary), offsets, ids)
