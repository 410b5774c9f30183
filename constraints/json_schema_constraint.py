"""Constraints made of JSON Schemas: intersection, difference and comparison act on the schemas, not on their texts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .._core import JsonSchemaOptions, JsonWhitespace, Language
from .._core import Limits as NativeLimits
from .._core import json_schema as _native_json_schema
from ..automata.errors import ConstraintError, LimitError, UnsupportedError
from .constraint import Constraint, LazyReport, Limits, ReportEntry, Text, native_limits
from .json_schema_repeats import repeating_example
from .json_schema_source import Registry
from .typed_constraint import member

Part = tuple[bytes, list[tuple[str, bytes]]]  # the text of a schema, and the documents that it may refer to

_URN = "urn:tokamata:"
_SAYS = "it contradicts itself at "


class _Joined(NamedTuple):
    """A conjunction of terms that refer to schemas by their places in a list, each with documents of its own."""

    terms: list[dict[str, Any]]
    parts: list[Part]

    def text(self) -> bytes:
        """The schema of the conjunction."""
        return json.dumps({"allOf": self.terms}).encode()


_NONZERO = re.compile(rb"[0.]*[1-9]")
_STRING_OR_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*"|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)')


def _is_finite(text: bytes) -> bool:
    """Whether 64-bit floats hold all numbers of a text, those in double quotes aside; none is too small, either."""
    numbers = (found[1] for found in _STRING_OR_NUMBER.finditer(text) if found[1])
    return all(math.isfinite(value := float(n)) and (value != 0 or not _NONZERO.match(n)) for n in numbers)


def _renumbered(term: dict[str, Any], places: list[int]) -> dict[str, Any]:
    if "$ref" in term:
        return {"$ref": f"{_URN}{places[int(term['$ref'].removeprefix(_URN))]}"}
    if "allOf" in term:
        return {"allOf": [_renumbered(below, places) for below in term["allOf"]]}
    return {"not": _renumbered(term["not"], places)}


class JsonSchemaConstraint(Constraint):
    """The texts of a JSON Schema's values.

    Push-down languages are not closed under intersection and complement, but sets of JSON values are: between two
    constraints of this class with equal options ``&`` and ``-`` combine the schemas ({"allOf": [a, b]},
    {"allOf": [a, {"not": b}]}), and ``is_empty`` is decided for the result; ``equivalent`` and ``counterexample``
    compare the *values* that are valid, whatever the order of keys. All stay exact under recursion.
    """

    __slots__ = ("_documents", "_joined", "_limits", "_options", "_read", "_text")

    def __init__(
        self,
        text: bytes,
        documents: Registry,
        options: JsonSchemaOptions,
        limits: Limits | None,
        *,
        source: str,
        report: tuple[ReportEntry | LazyReport, ...],
        read: Callable[[], Callable[[str], Any]],
        joined: _Joined | None = None,
    ) -> None:
        """Compile a schema; see :func:`tokamata.json_schema`. ``read`` makes what reads values, when first needed.

        ``documents`` keeps nothing but what references lead to.

        ``joined``: what the text says of several schemas; without it the error for a schema without values looks for
        the keywords that contradict each other.
        """
        own = native_limits(limits, "json_schema")
        try:
            native = _native_json_schema(text, documents, options, own, joined.parts if joined else [])
        except ConstraintError as error:
            reason = None if joined else _reason(error, text, documents, options, own)
            if reason is None:
                raise
            raise ConstraintError(
                f"{str(error).partition(_SAYS)[0]}{_SAYS}{reason}; drop or widen one of these"
            ) from None
        documents.forget()
        super().__init__(native, source=source, report=report, is_text=True)
        self._text = text
        self._joined = joined
        self._documents = documents
        self._options = options
        self._limits = limits
        self._read = read

    @property
    def source(self) -> str:
        """How the constraint was written, shortened; for people to read."""
        if isinstance(self._source, str) and self._source:
            return self._source
        shown = self._text[:60].decode("utf-8", "replace") + ("..." if len(self._text) > 60 else "")
        return f"json_schema({shown})"

    @source.setter
    def source(self, source: str) -> None:
        self._source = source

    def parse(self, text: Text) -> Any:
        """The value of a member: an instance where the schema was a type, else what ``json.loads`` makes.

        Of an intersection or difference the left operand tells which. Raises ConstraintError, with the place, for a
        text that is no member; pydantic's ValidationError where a validator of the type refuses what JSON Schema cannot
        tell.
        """
        return self._read()(member(self, text))

    def examples(self, n: int, seed: int = 0) -> list[bytes]:
        """As of any constraint, without numbers that 64-bit floats do not hold, such as ``1e999`` and ``1e-999``.

        The constraint allows those, but most readers make them infinite or zero, which validators may refuse. They are
        left in where the schema asks for such numbers only.
        """
        found, asked = super().examples(n, seed), n
        kept = [text for text in found if _is_finite(text)]
        while len(kept) < n <= len(found) == asked < 8 * n:
            found, asked = super().examples(2 * asked, seed), 2 * asked
            kept = [text for text in found if _is_finite(text)]
        return (kept or found)[:n]

    def _comparable(self, other: object) -> bool:
        return isinstance(other, JsonSchemaConstraint) and _settings(self._options) == _settings(other._options)

    def _terms(self) -> _Joined:
        return self._joined or _Joined([{"$ref": f"{_URN}0"}], [(self._text, self._documents.texts())])

    def _with(self, other: JsonSchemaConstraint, negated: bool) -> _Joined:
        """The values of this one that are (not) the other's."""
        left, right = self._terms(), other._terms()
        parts = list(left.parts)
        places = []
        for part in right.parts:
            if part not in parts:
                parts.append(part)
            places.append(parts.index(part))
        terms = [_renumbered(term, places) for term in right.terms]
        if negated:
            terms = [{"not": terms[0] if len(terms) == 1 else {"allOf": terms}}]
        return _Joined([*left.terms, *terms], parts)

    def _combine(self, other: JsonSchemaConstraint, negated: bool) -> Constraint:
        joined = self._with(other, negated)
        source = f"({self.source} {'-' if negated else '&'} {other.source})"
        report = self._report + other._report
        try:
            return JsonSchemaConstraint(
                joined.text(),
                Registry(None),
                self._options,
                self._limits,
                source=source,
                report=report,
                read=self._read,
                joined=joined,
            )
        except ConstraintError as error:
            if not says_empty(error):
                raise
            return Constraint(Language.choice([]), source=source, report=report)

    def __and__(self, other: object) -> Constraint:
        """Values of both, where both are JSON Schemas with equal options; texts of both otherwise."""
        if other is self:
            return self
        if isinstance(other, JsonSchemaConstraint) and self._comparable(other):
            return self._combine(other, negated=False)
        return super().__and__(other)

    def __sub__(self, other: object) -> Constraint:
        """Values of this one that are not the other's, where both are JSON Schemas with equal options."""
        if isinstance(other, JsonSchemaConstraint) and self._comparable(other):
            return self._combine(other, negated=True)
        return super().__sub__(other)

    def counterexample(self, other: Constraint) -> bytes | None:
        """A JSON text valid against exactly one of two schemas, or None where they have the same values.

        The shorter `difference_example` of the two sides, written compactly. Other constraints are compared by texts.
        """
        if not (isinstance(other, JsonSchemaConstraint) and self._comparable(other)):
            return super().counterexample(other)
        found = [d for d in (self.difference_example(other), other.difference_example(self)) if d is not None]
        return min(found, key=len, default=None)

    def difference_example(self, other: JsonSchemaConstraint) -> bytes | None:
        """A shortest compact JSON text of this schema that is not valid against the other; None if there is none.

        With more than a few distinct keys or elements it may be a little longer; and where ``uniqueItems`` had to be
        negated, it is the shortest of some examples with an element repeated. Raises UnsupportedError where none of
        those tells the schemas apart, or something else cannot be negated, LimitError where the search takes too much.
        """
        if not isinstance(other, JsonSchemaConstraint):
            raise TypeError(
                f"difference_example: expected a constraint of json_schema, got {type(other).__name__}; counterexample "
                "takes any constraint"
            )
        joined = self._with(other, negated=True)
        options = copied_options(self._options)
        options.whitespace = JsonWhitespace.COMPACT
        options.canonical_strings = True
        try:
            limits = native_limits(self._limits, "json_schema")
            native = _native_json_schema(joined.text(), Registry(None), options, limits, joined.parts)
            return Language.counterexample(native, Language.choice([], limits))
        except UnsupportedError as error:
            found = repeating_example(self, other) if "uniqueItems" in str(error) else None
            if found is None:
                raise
            return found
        except ConstraintError as error:
            if not says_empty(error):
                raise
            return None


_NAMES = (
    "whitespace",
    "whitespace_pattern",
    "indent",
    "key_order",
    "canonical_strings",
    "canonical_numbers",
    "formats",
    "unique_keys",
    "lenient",
    "without",
    "notation",
    "sequences",
    "max_depth",
    "max_key",
)
_LIMITS = ("max_cases", "max_nesting")


def says_empty(error: ConstraintError) -> bool:
    """Whether an error says of a schema that no value is valid against it."""
    return _SAYS in str(error)


def _reason(
    error: ConstraintError,
    text: bytes,
    documents: Registry,
    options: JsonSchemaOptions,
    limits: NativeLimits | None,
) -> str | None:
    """Which keywords leave no value, where an error says that there is none."""
    if not says_empty(error):
        return None
    from .json_schema_contradiction import contradiction

    def is_empty(part: bytes) -> bool:
        try:
            _native_json_schema(part, documents, options, limits)
        except ConstraintError as other:
            return says_empty(other)
        except LimitError:
            return False
        return False

    return contradiction(text, is_empty)


def _settings(options: JsonSchemaOptions) -> tuple[object, ...]:
    return tuple(getattr(options, name) for name in _NAMES)


def copied_options(options: JsonSchemaOptions) -> JsonSchemaOptions:
    """The same options in an object of their own."""
    copy = JsonSchemaOptions()
    for name in _NAMES + _LIMITS:
        setattr(copy, name, getattr(options, name))
    return copy
