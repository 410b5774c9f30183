"""Pdt: a push-down transducer, an Fst some labels of which push and pop."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from .._core import Fst as _NativeFst
from .._core import pdt_check as _check
from .._core import pdt_compose as _compose
from .._core import pdt_connect as _connect
from .._core import pdt_depth as _depth
from .._core import pdt_expand as _expand
from .._core import pdt_is_empty as _is_empty
from .._core import pdt_replace as _replace
from .._core import pdt_reverse as _reverse
from .._core import pdt_shortestdistance as _shortestdistance
from .._core import pdt_shortestpath as _shortestpath
from . import draw as _draw
from ._arguments import checked_label, checked_pairs, limit, native, number
from .checks import checked_count, checked_flag, checked_path, checked_several, cut
from .errors import FstError, MissingFileError
from .fst import Arc, Fst, Semiring
from .whole_file import write_whole

Parens = tuple[tuple[int, int], ...]
_MAX_STATES = 20_000_000
_MAX_ARCS = 50_000_000


class Pdt:
    """An Fst and pairs of labels, its parentheses: the opening label of a pair pushes, the closing one pops.

    The paths of a Pdt are those from the start to a final state whose parentheses are balanced; what they read and
    write leaves the parentheses out. So push-down transducers describe the context-free languages, with weights.

    `fst` is kept, not copied: changes of it show. `parens` are pairs (open, close), a pynini.PdtParentheses too. A
    parenthesis must stand on both sides of its arc, and in one pair only: else FstError. O(arcs).

    Source: Allauzen and Riley, "A pushdown transducer extension for the OpenFst library" (2012).
    """

    __slots__ = ("_fst", "_parens")

    def __init__(self, fst: Fst, parens: Iterable[tuple[int, int]]) -> None:
        machine = native("Pdt", fst)
        self._fst = fst
        self._parens: Parens = tuple(
            (checked_label("Pdt", "a parenthesis", opening), checked_label("Pdt", "a parenthesis", closing))
            for opening, closing in checked_pairs("Pdt", "parentheses", parens)
        )
        _check(machine, self._parens)

    # ---- making

    @classmethod
    def from_rules(
        cls,
        root: int,
        rules: Iterable[tuple[int, Fst]],
        *,
        first_paren: int | None = None,
        open_prefix: str = "(_",
        close_prefix: str = ")_",
        max_states: int = _MAX_STATES,
        max_arcs: int = _MAX_ARCS,
    ) -> Pdt:
        """The machines of rules that call each other, as one Pdt: a recursive transition network.

        `rules` are pairs (label, machine). An arc whose output label has a machine calls it: it becomes an opening arc
        to the machine's start, and closing arcs lead from the machine's final states to where the call returns. The
        root's final states are final. Rules that the root does not call are left out. Weights of call arcs and final
        weights of called machines go to the opening and closing arcs. `replace` makes the same relation without a
        stack where no rule calls itself.

        Calls of one rule that return to different states have different pairs; different rules use the same ones.
        With n pairs the opening labels are `first_paren` and the n - 1 after it, the closing labels the next n; by
        default they lie above all labels and names in use. Where the machines have symbol tables, pair i is named with
        the prefixes and i.

        Raises FstError for label 0, a label twice, a root without machine, different semirings or symbol tables, a
        call arc with another input label than epsilon or the rule's own, and labels that lie among the parentheses.
        O(states + arcs + final states of each rule times the places that call it).
        """
        pairs = [
            (checked_label("Pdt.from_rules", "a rule's label", name), native("Pdt.from_rules", fst))
            for name, fst in checked_pairs("Pdt.from_rules", "labels and machines", rules)
        ]
        if first_paren is not None and checked_label("Pdt.from_rules", "first_paren", first_paren) < 1:
            raise FstError(f"Pdt.from_rules: first_paren must be at least 1, got {first_paren!r}")
        machine, parens = _replace(
            pairs,
            checked_label("Pdt.from_rules", "root", root),
            first_paren or 0,
            _prefix("open_prefix", open_prefix),
            _prefix("close_prefix", close_prefix),
            limit("Pdt.from_rules", "max_states", max_states),
            limit("Pdt.from_rules", "max_arcs", max_arcs),
        )
        return cls._wrap(machine, tuple((opening, closing) for opening, closing in parens))

    @classmethod
    def _wrap(cls, machine: _NativeFst, parens: Parens) -> Pdt:
        pdt = cls.__new__(cls)
        pdt._fst = Fst._wrap(machine)
        pdt._parens = parens
        return pdt

    # ---- reading

    @property
    def fst(self) -> Fst:
        """The machine with its parentheses as labels; the very Fst that was given."""
        return self._fst

    @property
    def parens(self) -> Parens:
        """The pairs (opening label, closing label)."""
        return self._parens

    @property
    def semiring(self) -> Semiring:
        """``"tropical"``, ``"log"`` or ``"boolean"``."""
        return self._fst.semiring

    def __repr__(self) -> str:
        return (
            f"<Pdt {self.semiring}: {self._fst.num_states()} states, {self._fst.num_arcs()} arcs, "
            f"{len(self._parens)} pairs of parentheses>"
        )

    def copy(self) -> Pdt:
        """A Pdt with an independent copy of the Fst. O(states + arcs)."""
        return Pdt._wrap(self._fst._native.copy(), self._parens)

    def __copy__(self) -> Pdt:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Pdt:
        return self.copy()

    def __reduce__(self) -> tuple[type[Pdt], tuple[Fst, Parens]]:
        return Pdt, (self._fst, self._parens)

    # ---- questions

    def depth(self, *, max_states: int = _MAX_STATES, max_arcs: int = _MAX_ARCS) -> int | None:
        """The greatest depth of the stack on accepted paths; None where it has no bound; 0 where there are no paths.

        Exact: unbounded depth that no accepted path needs does not count. A Pdt of bounded depth describes a regular
        relation, which `expand` makes.

        Complexity: O(C + F E) for C pairs of an opening and a closing arc that can belong together, and F pairs of
        states between which a call can lead. LimitError where pairs of states with a balanced path outnumber
        `max_states`, or C or F E exceed `max_arcs`.
        """
        depth = _depth(
            native("Pdt.depth", self._fst),
            self._parens,
            limit("Pdt.depth", "max_states", max_states),
            limit("Pdt.depth", "max_arcs", max_arcs),
        )
        return None if depth < 0 else depth

    def is_bounded(self) -> bool:
        """Whether the stack's depth has a bound on accepted paths; see `depth`."""
        return self.depth() is not None

    def is_empty(self, *, max_states: int = _MAX_STATES, max_arcs: int = _MAX_ARCS) -> bool:
        """Whether no path is accepted. Ends when a path is found.

        Complexity: O(C + V E) for C pairs of an opening and a closing arc that can belong together. Limits: as of
        `depth`.
        """
        return _is_empty(
            native("Pdt.is_empty", self._fst),
            self._parens,
            limit("Pdt.is_empty", "max_states", max_states),
            limit("Pdt.is_empty", "max_arcs", max_arcs),
        )

    def accepts(self, labels: Sequence[int], *, side: Literal["input", "output"] = "input") -> bool:
        """Whether a balanced path reads (with `side` "output": writes) these labels; epsilons do not count.

        By composition with the string and `is_empty`: cubic in its length in the worst case, linear for deterministic
        ones. FstError where a label is 0 or a parenthesis.
        """
        if side not in ("input", "output"):
            raise FstError(f'Pdt.accepts: side must be "input" or "output", got {side!r}')
        given = labels if isinstance(labels, bytes) else checked_several("Pdt.accepts", "labels", labels)
        labels = [checked_label("Pdt.accepts", "a label", label) for label in given]
        string = Fst(self.semiring)
        string.add_states(len(labels) + 1)
        string.set_start(0)
        string.set_final(len(labels))
        brackets = {label for pair in self._parens for label in pair}
        for i, label in enumerate(labels):
            if label == 0 or label in brackets:
                raise FstError(f"Pdt.accepts: expected labels other than 0 and the parentheses, got {label}")
            string.add_arc(i, Arc(label, label, string.final(len(labels)), i + 1))
        return not self.compose(string, side="left" if side == "input" else "right").is_empty()

    # ---- operations

    def expand(
        self,
        *,
        keep_parentheses: bool = False,
        max_depth: int | None = None,
        truncate: bool = False,
        weight: float | None = None,
        max_states: int = _MAX_STATES,
        max_arcs: int = _MAX_ARCS,
    ) -> Fst:
        """The Fst of the balanced paths, with the same weights: its states are pairs (state, stack), 0 is the start.

        Only states on accepted paths are made, so the result is trim. Parentheses become epsilon arcs, or stay as
        labels with `keep_parentheses`.

        A stack without bound has no finite expansion, which raises LimitError before anything is built; so does a
        stack that gets deeper than `max_depth`. With ``truncate=True`` paths deeper than `max_depth` are left out
        instead. With `weight`, paths worse than the best by more are left out, as `prune` does; this needs weights of
        at least 0 over a semiring with the path property. More than `max_states` states or `max_arcs` arcs raise
        LimitError, as do more than 20 million (or `max_states`) pairs of states with a balanced path.

        Complexity: that of `depth`, and time and memory linear in the result and in the states that its stacks can
        return from; the result can be exponential in the depth.
        """
        if truncate and max_depth is None:
            raise FstError("Pdt.expand: truncate needs max_depth, the depth to keep")
        depth = -1 if max_depth is None else checked_count("Pdt.expand", "max_depth", max_depth)
        if max_depth is not None and depth < 0:
            raise FstError(f"Pdt.expand: the limit max_depth must be at least 0, got {cut(max_depth)}")
        return Fst._wrap(
            _expand(
                native("Pdt.expand", self._fst),
                self._parens,
                checked_flag("Pdt.expand", "keep_parentheses", keep_parentheses),
                min(depth, 1 << 62),
                checked_flag("Pdt.expand", "truncate", truncate),
                float("inf") if weight is None else number("Pdt.expand", "weight", weight),
                limit("Pdt.expand", "max_states", max_states),
                limit("Pdt.expand", "max_arcs", max_arcs),
            )
        )

    def compose(
        self,
        fst: Fst,
        *,
        side: Literal["left", "right"] = "right",
        connect: bool = True,
        max_states: int = _MAX_STATES,
        max_arcs: int = _MAX_ARCS,
    ) -> Pdt:
        """The Pdt of the composition with an Fst that stands to the right of this Pdt, or, with `side`, to the left.

        If the Pdt maps x to y and the Fst y to z, the result maps x to z, with the product of weights; a composition
        with an acceptor is an intersection. Parentheses stay; pairs of paths count once in every semiring. Neither
        operand needs sorted arcs. The Fst must not use the parentheses as labels, the semirings must be the same, and
        symbol tables in the middle must agree on other labels than parentheses: else FstError.

        `connect` drops states that lie on no path from the start to a final state, balanced or not. More than
        `max_states` states or `max_arcs` arcs before that raise LimitError. Complexity: as of `compose`. Source:
        Bar-Hillel, Perles, Shamir, "On formal properties of simple phrase structure grammars" (1961).
        """
        if side not in ("left", "right"):
            raise FstError(f'Pdt.compose: side must be "left" or "right", got {side!r}')
        mine, other = native("Pdt.compose", self._fst), native("Pdt.compose", fst)
        left_pdt = side == "right"
        composed = _compose(
            mine if left_pdt else other,
            other if left_pdt else mine,
            self._parens,
            left_pdt,
            checked_flag("Pdt.compose", "connect", connect),
            limit("Pdt.compose", "max_states", max_states),
            limit("Pdt.compose", "max_arcs", max_arcs),
        )
        return Pdt._wrap(composed, self._parens)

    def connect(self, *, max_states: int = _MAX_STATES, max_arcs: int = _MAX_ARCS) -> Pdt:
        """The Pdt without the states and arcs that lie on no accepted path; the others keep their order.

        Exact for balanced paths, which `automata.connect` on the Fst is not: a parenthesis stays only where its partner
        can be read later. Complexity: O(C + V E) for C pairs of an opening and a closing arc that can belong together.
        Limits: as of `depth`.
        """
        connected = _connect(
            native("Pdt.connect", self._fst),
            self._parens,
            limit("Pdt.connect", "max_states", max_states),
            limit("Pdt.connect", "max_arcs", max_arcs),
        )
        return Pdt._wrap(connected, self._parens)

    def reverse(self) -> Pdt:
        """The Pdt that relates each pair read backwards, with the same weight and parentheses. O(states + arcs).

        State 0 is a new start with epsilon arcs to the states that were final; state s becomes s + 1.
        """
        return Pdt._wrap(_reverse(native("Pdt.reverse", self._fst), self._parens), self._parens)

    def shortestpath(
        self, *, keep_parentheses: bool = False, max_states: int = _MAX_STATES, max_arcs: int = _MAX_ARCS
    ) -> Fst:
        """The best balanced path, a chain of states 0, 1, 2, …; no states where nothing is accepted.

        The stack need not be bounded. Parentheses become epsilon arcs, or stay as labels with `keep_parentheses`.
        Needs the tropical or boolean semiring; a balanced cycle of negative weight raises FstError. The best path can
        be exponentially longer than the machine: LimitError where it has more than `max_states` states, or the search
        sees more pairs of states with a balanced path, or more than `max_arcs` pairs of an opening and a closing arc.

        Complexity: O(C + P log P) for C pairs of an opening and a closing arc and P arcs out of pairs of states (at
        most V E) where weights are at least 0; O(C P) with negative ones. Source: Allauzen and Riley; the order of the
        search is that of Knuth, "A generalization of Dijkstra's algorithm" (1977).
        """
        return Fst._wrap(
            _shortestpath(
                native("Pdt.shortestpath", self._fst),
                self._parens,
                checked_flag("Pdt.shortestpath", "keep_parentheses", keep_parentheses),
                limit("Pdt.shortestpath", "max_states", max_states),
                limit("Pdt.shortestpath", "max_arcs", max_arcs),
            )
        )

    def shortestdistance(
        self,
        *,
        delta: float = 1e-6,
        max_visits: int = 10_000,
        max_states: int = _MAX_STATES,
        max_arcs: int = _MAX_ARCS,
    ) -> float:
        """The semiring sum of the weights of all balanced paths from the start to final states, final weights included.

        The semiring's zero where there are none; over the tropical semiring the weight of `shortestpath`, with its
        errors, complexity and limits. Over the log semiring it is the sum over all derivations (a probability, where
        rules' weights are), exact up to rounding where no call leads to itself; where one does, sums are taken from
        below until a round changes none by more than about `delta`, LimitError after `max_visits` rounds, FstError
        where there is no finite sum. Convergence is slow near the point where sums become infinite. Source: Stolcke,
        "An efficient probabilistic context-free parsing algorithm" (1995), for such sums.
        """
        return _shortestdistance(
            native("Pdt.shortestdistance", self._fst),
            self._parens,
            number("Pdt.shortestdistance", "delta", delta),
            limit("Pdt.shortestdistance", "max_visits", max_visits),
            limit("Pdt.shortestdistance", "max_states", max_states),
            limit("Pdt.shortestdistance", "max_arcs", max_arcs),
        )

    # ---- files and other libraries

    @classmethod
    def read(cls, fst: str | os.PathLike[str] | bytes, parens: str | os.PathLike[str]) -> Pdt:
        """Read an OpenFst binary file (a path or its bytes) and a text file of parentheses, as `read_parens` does."""
        return cls(Fst.read(fst), read_parens(parens))

    def write(self, fst: str | os.PathLike[str], parens: str | os.PathLike[str]) -> None:
        """Write an OpenFst binary file and a text file of parentheses, which OpenFst's pdt commands and pynini read."""
        self._fst.write(fst)
        write_parens(self._parens, parens)

    @classmethod
    def from_pynini(cls, fst: Any, parens: Iterable[tuple[int, int]]) -> Pdt:
        """The Pdt of a pynini or pywrapfst Fst and a pynini.PdtParentheses."""
        if not hasattr(fst, "write_to_string"):
            raise TypeError(f"Pdt.from_pynini: expected a pynini or pywrapfst Fst, got {type(fst).__name__}")
        return cls(Fst.read(fst.write_to_string()), parens)

    def to_pynini(self) -> tuple[Any, Any]:
        """A pynini.Fst and a pynini.PdtParentheses, the operands of pynini's pdt functions.

        A boolean machine becomes a tropical one. ImportError where pynini is not installed.
        """
        try:
            import pynini
        except ImportError as error:
            raise ImportError("Pdt.to_pynini needs pynini: pip install 'tokamata[openfst]'") from error
        parens = pynini.PdtParentheses()
        for opening, closing in self._parens:
            parens.add_pair(opening, closing)
        return pynini.Fst.read_from_string(self._fst.to_bytes()), parens

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
        """`Fst.draw` of the machine, with the parentheses of pair i as "(i" and ")i" where no symbol table names them.

        Arguments and errors are those of `Fst.draw`.
        """
        return _draw.draw(self._fst, path, format, labels, title, vertical, max_states, self._names())

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
        _draw.check_size(self._fst, max_states)
        text = _draw.dot(self._fst, labels=labels, title=title, vertical=vertical, aliases=self._names())
        return _draw.render(text, format)

    def _names(self) -> dict[int, str]:
        return {pair[side]: f"{'()'[side]}{i}" for i, pair in enumerate(self._parens) for side in (0, 1)}

    def _repr_svg_(self) -> str | None:
        """The picture in a notebook, where Graphviz is installed and the machine has at most 100 states."""
        try:
            return self.render("svg", max_states=100).decode()
        except (ImportError, ValueError, RuntimeError):
            return None


def _prefix(name: str, value: object) -> str:
    if isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value):
        return value
    raise TypeError(f"Pdt.from_rules: expected {name} as a str without lone surrogates, got {cut(value)}; pass a text")


def read_parens(path: str | os.PathLike[str]) -> Parens:
    """The pairs in a text file of parentheses: lines "open close", as OpenFst's pdt commands and pynini have it.

    Raises MissingFileError where there is no such file and FstError with the line where it is malformed.
    """
    try:
        text = checked_path("read_parens", path).read_text(encoding="ascii", errors="backslashreplace")
    except FileNotFoundError:
        raise MissingFileError(f"read_parens: there is no file {str(path)!r}; check the path") from None
    pairs = []
    for i, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if len(fields) != 2 or not all(field.isdecimal() for field in fields):
            raise FstError(
                f'read_parens: line {i}: expected "open close", two label numbers, got {line[:60]!r} [{path}]'
            )
        pairs.append((int(fields[0]), int(fields[1])))
    return tuple(pairs)


def write_parens(parens: Iterable[tuple[int, int]], path: str | os.PathLike[str]) -> None:
    """Write a text file of parentheses, one pair "open close" a line."""
    write_whole(
        checked_path("write_parens", path),
        "".join(f"{int(opening)}\t{int(closing)}\n" for opening, closing in parens).encode(),
    )
