"""Constraint: a set of texts, with the algebra of languages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from .._core import CaptureParts, Language
from .._core import Limits as NativeLimits
from ..automata.checks import checked_bounds, checked_count, checked_flag, checked_range, cut, encoded
from ..automata.errors import LimitError
from . import long_counts

if TYPE_CHECKING:
    from ..automata import Fst

Text = str | bytes

_MOST_SECONDS = 10**300  # more are no limit, nor a float
_SECONDS = ("seconds", "search_seconds")
SPECIAL = b"\xff"  # stands before and after the name of a special token; no UTF-8 text contains it


@dataclass(frozen=True)
class Limits:
    """Named limits on what a constraint may use; reaching one raises LimitError with its name and value.

    ``expression_nodes``: expressions of one constraint (about 100 bytes each; eight members of a wide union count as
    one). ``expression_depth``: nesting of operators. ``expression_width``: members of one derived union.
    ``emptiness``: expressions that one search for a member of an intersection or complement may visit.
    ``states``: delayed states; a token automaton that reaches them, or ``expression_nodes``, begins anew and its
    decoding states go over, so only a single call that needs more raises.
    ``seconds``: processor time of one call that builds a constraint, fills a mask or takes a token.
    ``search_seconds``: processor time of one question about texts or whole languages (accepts, equivalent, count, ...).
    ``count_bytes``: memory for the big numbers of count and sample, and for the texts of sample and examples.
    ``cache_bytes``: memory of a token automaton for finished masks; past it masks are built anew each time, and nothing
    is raised.
    ``schema_cases``: alternatives (``anyOf``, ``oneOf``, ``not``, ``if``, values of ``enum``) into which one value of a
    JSON Schema falls. ``pattern_contexts``: states of what the assertions of a pattern given to ``regex`` saw or ask.
    """

    expression_nodes: int = 2_000_000
    expression_depth: int = 1000
    expression_width: int = 100_000
    emptiness: int = 200_000
    states: int = 200_000
    seconds: float = 1.0
    search_seconds: float = 60.0
    count_bytes: int = 256 << 20
    cache_bytes: int = 64 << 20
    schema_cases: int = 2000
    pattern_contexts: int = 200

    def __post_init__(self) -> None:
        """Raise TypeError for what is no number, ValueError for what is no limit."""
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name in _SECONDS:
                number = isinstance(value, (int, float)) and not isinstance(value, bool)
                if not number or not value > 0:
                    raise (ValueError if number else TypeError)(
                        f"Limits: expected {name} > 0, got {value!r}; pass a number of seconds"
                    )
            elif isinstance(value, bool):
                raise TypeError(f"Limits: expected {name} as a whole number, got {value}; pass an int")
            else:
                checked_range("Limits", name, value, 0, 2**62 if name in _LARGE else 2**31)

    def _native(self) -> NativeLimits:
        given = (getattr(self, name) for name in _ENGINE)
        values: list[Any] = [value if value < _MOST_SECONDS else math.inf for value in given]
        return NativeLimits(*values)


# Those that the engine keeps; the others are options of what reads a source.
_ENGINE = tuple(field.name for field in fields(Limits) if field.name not in ("schema_cases", "pattern_contexts"))
_LARGE = ("expression_nodes", "expression_width", "emptiness", "count_bytes", "cache_bytes")


@dataclass(frozen=True)
class ReportEntry:
    """One remark of :attr:`Constraint.report`: where, what of the source it is about, and what happened to it."""

    place: str
    subject: str
    status: str  # "enforced", "widened", "narrowed", "annotation", "ignored" or "empty"
    detail: str = ""


class LazyReport(Protocol):
    """Entries that are made when the report is read."""

    def entries(self) -> tuple[ReportEntry, ...]:
        """All of them, in order."""


KEYS_ENFORCED = ReportEntry("", "keys", "enforced", "no key occurs twice")
KEYS_WIDENED = ReportEntry("", "keys", "widened", "keys that no schema names may occur twice")
ORDER_ENFORCED = ReportEntry(
    "", "key_order", "enforced", "all keys by code point, as json.dumps(sort_keys=True) writes"
)
ORDER_WIDENED = ReportEntry(
    "", "key_order", "widened", "keys that no schema names stand between the others by code point, in any order there"
)
ELEMENTS_DISTINCT = "no two elements are equal"
ELEMENTS_LISTED = "enforced only where enum, const or type lists the elements' values"
ELEMENTS_MOSTLY = ELEMENTS_LISTED + ", or there is no contains or not beside it"
_FORGOTTEN = {KEYS_ENFORCED: KEYS_WIDENED, ORDER_ENFORCED: ORDER_WIDENED}


def forgotten(entry: ReportEntry) -> ReportEntry:
    """What is true of an entry where states remember neither keys that no schema names nor elements of arrays."""
    if entry.status == "enforced" and entry.detail == ELEMENTS_DISTINCT:
        return replace(entry, status="widened", detail=ELEMENTS_LISTED)
    return _FORGOTTEN.get(entry, entry)


class _BetweenTexts:
    """The report of what ``&``, ``-`` and ``~`` combine text by text, where objects do not remember other keys."""

    __slots__ = ("_reports",)

    def __init__(self, reports: tuple[ReportEntry | LazyReport, ...]) -> None:
        self._reports = reports

    def entries(self) -> tuple[ReportEntry, ...]:
        return tuple(forgotten(entry) for entry in _entries(self._reports))


def _entries(reports: Iterable[ReportEntry | LazyReport]) -> Iterator[ReportEntry]:
    for report in reports:
        yield from (report,) if isinstance(report, ReportEntry) else report.entries()


DEFAULT_LIMITS = Limits()
_MOST_SOURCE = 500  # characters of what is shown of a combined constraint
_SOON_FOUND = 1000  # states
_MOST_REPORTS = 1000  # of operands, from which on one that occurs twice is reported once
_NO_TOKENS: frozenset[str] = frozenset()


def native_limits(limits: Limits | None, function: str) -> NativeLimits | None:
    """Limits as the core takes them. Raises TypeError for anything else. ``function``: who asks."""
    if limits is None:
        return None
    if not isinstance(limits, Limits):
        raise TypeError(
            f"{function}: expected limits as tokamata.Limits or None, got {type(limits).__name__}; "
            "pass tokamata.Limits(seconds=5), for example"
        )
    return limits._native()


def to_bytes(text: Text, function: str = "text") -> bytes:
    """UTF-8 bytes of a text. Raises TypeError for anything but str and bytes, ValueError for lone surrogates.

    ``function``: who asks, for errors.
    """
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return encoded(function, text)
    raise TypeError(f"{function}: expected str or bytes, got {type(text).__name__}; pass its text")


class Constraint:
    """An immutable set of byte strings, held as a delayed automaton; safe to share between threads.

    Made by :func:`tokamata.regex`, :func:`tokamata.literal`, :func:`tokamata.choice` and their companions, and combined
    with ``|`` (union), ``&`` (intersection), ``-`` (difference), ``~`` (complement within UTF-8 text), ``+``
    (concatenation; a str or bytes operand is a literal) and :meth:`repeat`. Building is linear in the source; states
    appear when a text or a model reaches them, so every method may raise LimitError (see :class:`Limits`).
    """

    __slots__ = ("_has_raw_bytes", "_is_text", "_native", "_parts", "_report", "_source", "special_tokens")

    _parts: CaptureParts | None  # where some part has a name

    def __init__(
        self,
        native: Language,
        source: str | tuple[str, str] = "",
        *,
        report: Iterable[ReportEntry | LazyReport] = (),
        special_tokens: Iterable[str] = (),
        has_raw_bytes: bool = False,
        is_text: bool = False,
    ) -> None:
        """Wrap a native language; use the functions of :mod:`tokamata` instead.

        ``source``: how it was written; a pair of a function's name and its text is put together when somebody asks.
        ``special_tokens``: names that it speaks of, as the bytes 0xff, name, 0xff. ``has_raw_bytes``: members may
        contain 0xff elsewhere, too. ``is_text``: all are known to be UTF-8.
        """
        self._native = native
        self._source = source
        self._report = tuple(report) if report else ()
        self.special_tokens = frozenset(special_tokens) if special_tokens else _NO_TOKENS
        self._has_raw_bytes = has_raw_bytes
        self._is_text = is_text
        self._parts = None

    def __copy__(self) -> Constraint:
        return self

    def __deepcopy__(self, memo: object) -> Constraint:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"pickle: expected what can be pickled, got {self!r}; pickle its source and make it of that again, or "
            "save it with tokamata.compile(constraint, vocabulary).save(path)"
        )

    @property
    def source(self) -> str:
        """How the constraint was written, shortened; for people to read."""
        if isinstance(self._source, str):
            return self._source
        name, text = self._source
        return f"{name}({text if len(text) <= 60 else text[:57] + '...'!r})"

    @source.setter
    def source(self, source: str) -> None:
        self._source = source

    # ---- algebra
    def _operands(self, operator: str, other: object, *, is_last: bool = False) -> list[Language] | None:
        """Both; None for an object that may know the operator itself, unless it was asked already."""
        if isinstance(other, Constraint):
            return [self._native, other._native]
        if isinstance(other, (str, bytes)):
            return [self._native, Language.literal(to_bytes(other, "Constraint"))]
        if is_last or type(other).__module__ == "builtins":
            raise TypeError(
                f"Constraint: expected a Constraint, str or bytes beside {operator}, got {type(other).__name__}; "
                "tokamata.regex(pattern) is one, for example"
            )
        return None

    def _combined(self, native: Language, source: str, *others: object) -> Constraint:
        """What has members of all the operands, or pieces of them."""
        constraints = [self, *(o for o in others if isinstance(o, Constraint))]
        report = [entry for constraint in constraints for entry in constraint._report]
        if len(report) > _MOST_REPORTS:
            report = list({id(entry): entry for entry in report}.values())
        special = frozenset().union(*(constraint.special_tokens for constraint in constraints))
        raw = any(c._has_raw_bytes for c in constraints) or any(_has_special(o) for o in others)
        if len(source) > _MOST_SOURCE:
            source = source[: _MOST_SOURCE - 3] + "..."
        text = self._is_text and all(o._is_text if isinstance(o, Constraint) else isinstance(o, str) for o in others)
        return Constraint(native, source, report=report, special_tokens=special, has_raw_bytes=raw, is_text=text)

    def _between_texts(self) -> Constraint:
        """This one, made of the operands' texts: see _BetweenTexts."""
        if self._report:
            self._report = (_BetweenTexts(self._report),)
        return self

    def _speaking_of(self, special_tokens: Iterable[str], has_raw_bytes: bool) -> Constraint:
        """This one, where its members are known to be fewer than those of what it was combined from."""
        self.special_tokens = frozenset(special_tokens)
        self._has_raw_bytes = has_raw_bytes
        return self

    def __or__(self, other: object) -> Constraint:
        """Texts of either."""
        if (operands := self._operands("|", other)) is None:
            return NotImplemented
        made = self._combined(Language.union_(operands), f"({self.source} | {_source(other)})", other)
        made._parts = joined_parts([self, other], alternatives=True)
        return made

    def __ror__(self, other: object) -> Constraint:
        if (operands := self._operands("|", other, is_last=True)) is None:
            return NotImplemented
        made = self._combined(Language.union_(operands[::-1]), f"({_source(other)} | {self.source})", other)
        made._parts = joined_parts([other, self], alternatives=True)
        return made

    def __and__(self, other: object) -> Constraint:
        """Texts of both."""
        if (operands := self._operands("&", other)) is None:
            return NotImplemented
        source = f"({self.source} & {_source(other)})"
        both = self._combined(Language.intersect(operands), source, other)._between_texts()
        both._is_text = any(o._is_text for o in (self, other) if isinstance(o, Constraint))
        special = other.special_tokens if isinstance(other, Constraint) else frozenset()
        raw = other._has_raw_bytes if isinstance(other, Constraint) else _has_special(other)
        if not self._has_raw_bytes:  # what reads raw bytes reads markers, too
            special = self.special_tokens if raw else self.special_tokens & special
        elif raw:
            special |= self.special_tokens
        named = [part for part in (self, other) if isinstance(part, Constraint) and part._parts]
        if named:
            both._parts = CaptureParts.inside(both._native, [parts_of(part) for part in named])
        return both._speaking_of(special, raw and self._has_raw_bytes)

    def __rand__(self, other: object) -> Constraint:
        self._operands("&", other, is_last=True)
        return self.__and__(other)

    def __sub__(self, other: object) -> Constraint:
        """Texts of this one that are not in the other."""
        if (operands := self._operands("-", other)) is None:
            return NotImplemented
        source = f"({self.source} - {_source(other)})"
        native = Language.difference(operands[0], operands[1], texts=self._is_text)
        rest = self._combined(native, source, other)._between_texts()
        rest._is_text = self._is_text
        if self._parts:
            rest._parts = CaptureParts.inside(rest._native, [self._parts])
        return rest._speaking_of(self.special_tokens, self._has_raw_bytes)

    def __rsub__(self, other: object) -> Constraint:
        from .literal import literal

        self._operands("-", other, is_last=True)
        assert isinstance(other, (str, bytes))
        return literal(other) - self

    def __invert__(self) -> Constraint:
        """All UTF-8 texts that this one does not contain."""
        made = self._combined(Language.complement(self._native), f"~{self.source}")._between_texts()
        made._is_text = True
        return made._speaking_of((), False)

    def __add__(self, other: object) -> Constraint:
        """A text of this one followed by a text of the other."""
        if (operands := self._operands("+", other)) is None:
            return NotImplemented
        made = self._combined(Language.concat(operands), f"({self.source} + {_source(other)})", other)
        made._parts = joined_parts([self, other])
        return made

    def __radd__(self, other: object) -> Constraint:
        if (operands := self._operands("+", other, is_last=True)) is None:
            return NotImplemented
        made = self._combined(Language.concat(operands[::-1]), f"({_source(other)} + {self.source})", other)
        made._parts = joined_parts([other, self])
        return made

    def repeat(self, low: int = 0, high: int | None = None) -> Constraint:
        """Between ``low`` and ``high`` texts of this one in a row; ``high=None`` has no upper bound.

        Counters are symbolic: the size of the result does not depend on the bounds.
        """
        low, high = checked_bounds("repeat", low, high)
        native = self._native.repeat(low, -1 if high is None else high)
        made = self._combined(native, f"{self.source}{{{low},{'' if high is None else high}}}")
        if self._parts:
            made._parts = self._parts.repeat(low, -1 if high is None else high)
        return made

    # ---- questions
    def accepts(self, text: Text) -> bool:
        """Whether the text is a member. Linear in its length."""
        return self._native.accepts(to_bytes(text, "accepts"))

    def accepts_prefix(self, text: Text) -> bool:
        """Whether the text can be extended to a member (by nothing, too)."""
        data = to_bytes(text, "accepts_prefix")
        return self._native.viable_prefix(data) == len(data)

    def viable_prefix(self, text: Text) -> int:
        """The length in bytes of the longest prefix that can be extended to a member; -1 for the empty language."""
        return self._native.viable_prefix(to_bytes(text, "viable_prefix"))

    def is_empty(self) -> bool:
        """Whether there is no member at all."""
        return self._native.is_empty()

    def equivalent(self, other: Constraint) -> bool:
        """Whether both have the same members; exact, by a search over pairs of states."""
        return self.counterexample(_checked_other("equivalent", other)) is None

    def counterexample(self, other: Constraint) -> bytes | None:
        """A shortest member of exactly one of the two, or None when they are equal."""
        return Language.counterexample(self._native, _checked_other("counterexample", other)._native)

    def examples(self, n: int, seed: int = 0) -> list[bytes]:
        """Up to ``n`` distinct random members, the same for the same seed; fewer where no more are met.

        Random walks that favour printable ASCII and head for a near end after 48 bytes that something else could have
        stood for (fewer where that end is hard to find): varied, not uniform.
        """
        if (n := checked_count("examples", "n", n)) < 0:
            raise ValueError(f"examples: expected n >= 0, got {cut(n)}; pass how many members you want")
        return self._native.examples(min(n, 2**63), checked_count("examples", "seed", seed) % 2**64)

    def sample(self, n: int, length: int | tuple[int, int], seed: int = 0) -> list[bytes]:
        """``n`` independent members (one may come again), uniformly random among all members of ``length`` bytes.

        ``length``: bytes, or a pair (least, most): a length then comes as often as it has members. Exact, by counting
        and by finding the texts of random ranks in byte order; equal seeds give equal texts. Raises ValueError when no
        member is so long. O(length² · (arcs + n)) over the states reached; texts of 1,000 bytes take milliseconds.
        Source: Wilf, "A unified setting for sequencing, ranking, and selection algorithms" (1977).
        """
        low, high = length if isinstance(length, tuple) and len(length) == 2 else (length, length)
        low, high = checked_count("sample", "length", low), checked_count("sample", "length", high)
        n = checked_count("sample", "n", n)
        if n < 0 or not 0 <= low <= high:
            raise ValueError(
                f"sample: expected n >= 0 and 0 <= least <= most length, got n={cut(n)}, length={cut(length)}; "
                "swap the lengths, or pass one"
            )
        n, least, most = (min(number, 2**62) for number in (n, low, high))
        texts = self._native.sample(n, least, most, checked_count("sample", "seed", seed) % 2**64)
        if n and not texts:
            where = f"{cut(low)} bytes" if low == high else f"{cut(low)} to {cut(high)} bytes"
            raise ValueError(f"sample: no member has {where}; examples() shows which lengths occur")
        return texts

    def count(self, length: int) -> int:
        """The number of members of exactly ``length`` bytes; exact. O(length² · arcs / 8) over the states reached.

        Of automata of a few states, large lengths take the time of multiplying numbers of O(length) bits.
        """
        if (length := checked_count("count", "length", length)) < 0:
            raise ValueError(f"count: expected length >= 0, got {cut(length)}; pass a number of bytes")
        if length >= long_counts.LEAST_LENGTH and (fst := self._of_few_states()) is not None:
            return long_counts.count_of_length(fst, length, self._native.search_seconds, self._native.count_bytes)
        return int.from_bytes(self._native.count(min(length, 2**63)), "little")

    def _of_few_states(self) -> Fst | None:
        """The minimal automaton, where it is small and soon found."""
        from ..automata import minimize

        try:
            fst = minimize(self.to_fst(_SOON_FOUND))
        except LimitError:
            return None
        return fst if fst.num_states() <= long_counts.MOST_STATES else None

    def minimize(self) -> Constraint:
        """The same set of texts, held as its minimal deterministic automaton.

        Equal constraints have equal minimal automata, state by state (:meth:`to_fst`). All states are made now: worth
        it for a small automaton that was combined from much, not for counters, which stay symbolic otherwise. Raises
        LimitError (``states``) when too many states are reached, so always where there are infinitely many.
        O(n log n) for n states reached. Source: Hopcroft (1971).
        """
        made = self._combined(self._native.minimize(), f"{self.source}.minimize()")
        made._parts = self._parts
        return made

    # ---- named parts
    def captures(self, text: Text, *, partial: bool = False) -> dict[str, bytes]:
        """What the named parts read of a text: ``(?P<name>...)`` in patterns and :func:`tokamata.capture`.

        A part that reads several pieces, in a repetition, has the last one; parts that read nothing are left out (a
        part may well read the empty text). Special tokens are no text, and hidden parts (:func:`tokamata.hidden`) are
        left out as well.

        Where a text can be read in several ways, the first way counts in which a backtracking matcher finds it. Inside
        of a pattern this is the way of ``re.fullmatch``: earlier alternatives first, as many turns of a repetition as
        possible, with ``?`` as few. The same holds for ``|``, ``repeat`` and ``+``; what has no names inside and is
        no part of a pattern takes as much as it can, of a pattern with names only what Python's would. Operands of
        ``&`` each read the whole text for themselves; of ``a - b`` only a has names, of ``~a`` nothing.

        With ``partial``, the text is a beginning: the first way counts that can be continued, and parts that are not at
        their end yet have what they have so far, if anything.

        Raises ValueError for a text that is no member, or with ``partial`` no beginning of one; UnsupportedError for
        patterns with possessive quantifiers, for names inside of lookaround, for ECMAScript patterns, and for names
        inside of a grammar's terminals or of one token; LimitError where names stand in large
        counted repetitions. O(bytes · steps of the pattern); masks are not concerned.
        """
        return {name: values[-1] for name, values in self._captured("captures", text, partial).items()}

    def capture_lists(self, text: Text, *, partial: bool = False) -> dict[str, list[bytes]]:
        """All pieces that the named parts read, in the order in which they begin; otherwise as `captures`."""
        return self._captured("capture_lists", text, partial)

    def _captured(self, function: str, text: Text, partial: bool) -> dict[str, list[bytes]]:
        data = to_bytes(text, function)
        checked_flag(function, "partial", partial)
        if not (self.accepts_prefix(data) if partial else self.accepts(data)):
            what = "can be extended to a member" if partial else "is a member"
            remedy = "viable_prefix tells how far it can" if partial else "pass partial=True for a beginning of one"
            raise ValueError(f"{function}: expected a text that {what}, got {data[:60]!r}; {remedy}")
        if self._parts is None:
            return {}
        return self._parts.values(data, not partial, not self._has_raw_bytes, self._native.search_seconds)

    # ---- views
    @property
    def report(self) -> tuple[ReportEntry, ...]:
        """What of the source is enforced, widened or ignored, by place; empty when all of it is enforced as written."""
        return tuple(_entries(self._report))

    def to_fst(self, max_states: int = 100_000) -> Fst:
        """The character automaton A: a deterministic acceptor, byte b as label b (NUL as 256), all states useful.

        Raises LimitError when more than ``max_states`` states are reached, of which there is no end where a constraint
        nests without bound or has to remember what it read, ValueError for ``max_states`` below 1.
        """
        from ..automata import Fst

        max_states = min(checked_range("to_fst", "max_states", max_states, 1), 2**31 - 1)
        try:
            return Fst._wrap(self._native.to_fst(max_states))
        except LimitError as error:
            if "states=" not in str(error) or "without end" in str(error):
                raise
            raise LimitError(
                f"{error}; no limit is enough for a constraint that nests without bound, whose states have no end"
            ) from None

    def __repr__(self) -> str:
        text = self.source if len(self.source) <= 80 else self.source[:77] + "..."
        return f"<tokamata.Constraint {text}>"


def _checked_other(function: str, other: object) -> Constraint:
    if not isinstance(other, Constraint):
        raise TypeError(f"{function}: expected a Constraint, got {type(other).__name__}; tokamata.literal(text) is one")
    return other


def parts_of(operand: object) -> CaptureParts:
    """The parts of a constraint or text; one without a name where nothing in it has one."""
    if isinstance(operand, Constraint):
        return operand._parts or CaptureParts.atom(operand._native)
    assert isinstance(operand, (str, bytes))
    return CaptureParts.atom(Language.literal(to_bytes(operand)))


def joined_parts(operands: Iterable[object], *, alternatives: bool = False) -> CaptureParts | None:
    """The parts of operands one after another, or of alternatives; None where nothing has a name."""
    operands = list(operands)
    if not any(isinstance(o, Constraint) and o._parts for o in operands):
        return None
    return CaptureParts.join([parts_of(o) for o in operands], alternatives)


def _has_special(operand: object) -> bool:
    return isinstance(operand, bytes) and SPECIAL in operand


def _source(operand: object) -> str:
    return operand.source if isinstance(operand, Constraint) else repr(operand)
