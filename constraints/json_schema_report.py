"""What of a JSON Schema is enforced, by JSON Pointer: every keyword of every schema that can be reached."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .._core import (
    JsonSchemaOptions,
    KeyOrder,
    SchemaDocuments,
    SchemaNotation,
    SchemaUse,
    empty_json_schemas,
    json_format,
    json_number,
    json_string,
)
from ..automata.errors import UnsupportedError
from .constraint import (
    ELEMENTS_DISTINCT,
    ELEMENTS_LISTED,
    ELEMENTS_MOSTLY,
    KEYS_ENFORCED,
    KEYS_WIDENED,
    ORDER_ENFORCED,
    ORDER_WIDENED,
    Limits,
    ReportEntry,
    native_limits,
)
from .json_schema_source import Registry

FORMATS = frozenset(
    "date date-time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex"
    " relative-json-pointer time uri uri-reference uri-template uuid".split()
)
# Formats that pydantic names, where types say them by patterns.
_OF_PATTERNS = ("uuid1", "uuid3", "uuid4", "uuid5", "uuid6", "uuid7", "uuid8")
_ANNOTATIONS = frozenset(
    "$comment $id $anchor $dynamicAnchor $recursiveAnchor $schema $vocabulary $defs definitions id title description"
    " default examples deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema".split()
)
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ORDER = ("4", "6", "7", "2019-09", "2020-12")
# Where the schemas inside a keyword stand: at its value, in its list, in its object.
_ONE, _LIST, _MAP = "one", "list", "map"
_APPLICATORS = {
    "additionalItems": _ONE,
    "additionalProperties": _ONE,
    "allOf": _LIST,
    "anyOf": _LIST,
    "contains": _ONE,
    "dependencies": _MAP,
    "dependentSchemas": _MAP,
    "else": _ONE,
    "if": _ONE,
    "items": _ONE,
    "not": _ONE,
    "oneOf": _LIST,
    "patternProperties": _MAP,
    "prefixItems": _LIST,
    "properties": _MAP,
    "propertyNames": _ONE,
    "then": _ONE,
    "unevaluatedItems": _ONE,
    "unevaluatedProperties": _ONE,
}
_ASSERTIONS = frozenset(
    "const dependentRequired enum exclusiveMaximum exclusiveMinimum maxContains maxItems maxLength maxProperties"
    " maximum minContains minItems minLength minProperties minimum multipleOf pattern required type uniqueItems".split()
)
# The drafts that know a keyword, where not all of them do.
_SINCE = {
    "const": "6",
    "contains": "6",
    "propertyNames": "6",
    "if": "7",
    "then": "7",
    "else": "7",
    "dependentRequired": "2019-09",
    "dependentSchemas": "2019-09",
    "maxContains": "2019-09",
    "minContains": "2019-09",
    "unevaluatedItems": "2019-09",
    "unevaluatedProperties": "2019-09",
    "$recursiveRef": "2019-09",
    "prefixItems": "2020-12",
    "$dynamicRef": "2020-12",
}
_UNTIL = {"dependencies": "7", "additionalItems": "2019-09", "$recursiveRef": "2019-09"}
# The last drafts with an array under items, and with booleans as exclusive bounds.
_UNTIL_FORM = {"items": "2019-09", "additionalItems": "2019-09", "exclusiveMinimum": "4", "exclusiveMaximum": "4"}
# Keywords without effect unless another one stands beside them.
_NEEDS = {
    "then": ("if",),
    "else": ("if",),
    "minContains": ("contains",),
    "maxContains": ("contains",),
    "additionalItems": ("items",),
}


# Keywords that ask something of numbers, or may.
_OF_NUMBERS = frozenset("const enum exclusiveMaximum exclusiveMinimum if maximum minimum multipleOf not oneOf".split())
_EXPONENTS = ReportEntry(
    "",
    "numbers",
    "narrowed",
    "where something is asked of a number, an exponent above 2 or below -2 stands behind one digit, or one digit, a "
    "point and up to 17 digits of which the last is not 0 (1.5e10, not 15e9)",
)


# Keywords that cannot be enforced whatever they say, and those that such ones take along.
_REFUSABLE = ("multipleOf", "pattern", "patternProperties", "additionalProperties", "unevaluatedProperties")
_LEFT_OUT = "left out, as it cannot be enforced"
_BESIDE = (
    "keys that no schema names follow none, as a pattern of patternProperties that cannot be enforced may match them"
)
_NEGATED = "; where the format is negated (not, oneOf, if), they are taken for valid ones, too"
_EMPTY = "it contradicts itself, or what stands beside it: no value comes from here"
_NOT_WRITTEN = "not written, as no text has lone surrogates"
_SHOWN = 3  # values that are not written
_NOT_LOOKED_AT = ReportEntry("", "schema", "annotation", "whether every branch has values took too long to find out")

_TOO_DEEP = "nests too deep for the report: what it says inside is enforced or widened as elsewhere, but not listed"
_MOST_DIGITS = 4000  # that Python reads as an int without being told to


class SchemaReport:
    """The report of a schema, made when it is asked for."""

    __slots__ = ("_entries", "_limits", "_options", "_registry", "_text")

    def __init__(self, text: bytes, registry: Registry, options: JsonSchemaOptions, limits: Limits | None) -> None:
        """Keep what the schema is compiled from; before anybody asks for entries it has to be compiled."""
        self._text = text
        self._registry = registry
        self._options = options
        self._limits = limits
        self._entries: tuple[ReportEntry, ...] | None = None

    def entries(self) -> tuple[ReportEntry, ...]:
        """The entries; O(schema) the first time."""
        if self._entries is None:
            options = self._options
            unique = options.unique_keys
            entries, free_keys = _walked(self._text, self._registry.texts(), options.formats, options.lenient, unique)
            if free_keys:
                entries.append(KEYS_ENFORCED if unique else KEYS_WIDENED)
            if options.notation == SchemaNotation.JSON:
                if free_keys and options.key_order == KeyOrder.SORTED:
                    entries.append(ORDER_ENFORCED if unique else ORDER_WIDENED)
                entries += self._of_values(entries)
            self._entries = tuple(map(_printable, entries))
        return self._entries

    def _of_values(self, known: list[ReportEntry]) -> Iterator[ReportEntry]:
        """Which spellings of numbers there are, and the schemas that no value comes from."""
        integers = b'"integer"' in self._text
        if not self._options.canonical_numbers and (integers or any(e.subject in _OF_NUMBERS for e in known)):
            yield _EXPONENTS
        limits = native_limits(self._limits, "json_schema")
        places, whole = empty_json_schemas(self._text, self._registry.texts(), self._options, limits)
        for place in places:
            yield ReportEntry(place, "schema", "empty", _EMPTY)
        if not whole:
            yield _NOT_LOOKED_AT


def _printable(entry: ReportEntry) -> ReportEntry:
    """The entry with lone surrogates, which keys of JSON may have, as escapes."""
    place, subject = (text.encode(errors="backslashreplace").decode() for text in (entry.place, entry.subject))
    return entry if (place, subject) == (entry.place, entry.subject) else replace(entry, place=place, subject=subject)


def has_lone_surrogate(value: Any) -> bool:
    """Whether a string or key of a JSON value has half of a character, which no text has."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _some(values: list[Any]) -> str:
    """A few JSON values, cut where they are long."""
    texts = [json.dumps(value) for value in values[:_SHOWN]]
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(text if len(text) <= 60 else f"{text[:57]}..." for text in texts) + more


def schema_report(
    text: bytes, registry: list[tuple[str, bytes]], *, formats: bool = True, lenient: bool = False
) -> list[ReportEntry]:
    """One entry for each keyword of each schema that the root leads to, in the order of the walk.

    ``place`` is the JSON Pointer of the keyword (after ``URI#`` in another document), ``subject`` its name, ``status``
    "enforced" for what restricts values or leads to schemas, "widened" for what lets more through than it says (formats
    without an exact language; with ``lenient``, uniqueItems of some elements, and what else cannot be enforced),
    "narrowed" for ``const`` and ``enum`` with values that are never written, "annotation" for what says nothing about
    validity, and "ignored" for keywords and formats that the draft does not know and for what stands beside a $ref in
    drafts up to 7, with the reason in ``detail``. O(schema).
    """
    return _walked(text, registry, formats, lenient, True)[0]


def _walked(
    text: bytes, registry: list[tuple[str, bytes]], formats: bool, lenient: bool, unique_keys: bool
) -> tuple[list[ReportEntry], bool]:
    """The entries, and whether some object may have keys that no schema names."""
    documents = SchemaDocuments(text, registry)
    entries: list[ReportEntry] = []
    free_keys = False
    todo = [documents.root()]
    seen: set[str] = set()
    while todo:
        use = todo.pop()
        place = documents.place(use)
        if place in seen:
            continue
        seen.add(place)
        try:
            schema = json.loads(documents.text(use), parse_int=_integer)
        except RecursionError:
            entries.append(ReportEntry(place, "schema", "annotation", _TOO_DEEP))
            free_keys = True  # maybe
            continue
        free_keys = free_keys or _has_free_keys(schema)
        if not isinstance(schema, dict):
            continue
        dialect = documents.dialect(use)
        only_reference = documents.is_only_reference(use)
        following: list[SchemaUse] = []
        for keyword, value in schema.items():
            if only_reference and keyword not in ("$ref", "$schema", "$comment", "definitions", "$defs"):
                status, detail = "ignored", f"draft {dialect['draft']} ignores what stands beside $ref"
            else:
                status, detail = _judged(keyword, value, schema, dialect, formats)
            if keyword in ("const", "enum") and status == "enforced":
                unwritten = [each for each in (value if keyword == "enum" else [value]) if has_lone_surrogate(each)]
                if unwritten:
                    status, detail = "narrowed", f"{_NOT_WRITTEN}: {_some(unwritten)}"
            if keyword == "uniqueItems" and value is True and status == "enforced":
                detail = ELEMENTS_DISTINCT
                if lenient:
                    status, detail = "widened", ELEMENTS_MOSTLY if unique_keys else ELEMENTS_LISTED
            if lenient and keyword in _REFUSABLE and status == "enforced":
                why = _widened(keyword, schema, documents.text(use))
                status, detail = ("widened", why) if why else (status, detail)
            step = keyword.replace("~", "~0").replace("/", "~1")
            entries.append(ReportEntry(f"{place}/{step}", keyword, status, detail))
            if status != "enforced" and not (status == "widened" and keyword in _APPLICATORS):
                continue
            if keyword in _REFERENCES:
                following.append(documents.follow(use, keyword))
            else:
                following += [documents.child(use, pointer) for pointer in _inside(keyword, value)]
        todo += reversed(following)
    return entries, free_keys


def _integer(digits: str) -> int | float:
    """Of as many digits as there may be."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _widened(keyword: str, schema: dict[str, Any], text: bytes) -> str:
    """Why a keyword of a lenient schema is left out, in part at least; empty where it is not."""
    try:
        if keyword == "multipleOf":
            number = json.loads(text, parse_int=str, parse_float=str)[keyword]  # all of its digits
            json_number("multiple", number, True)
            return ""
        for pattern in [schema[keyword]] if keyword == "pattern" else schema.get("patternProperties", ()):
            json_string("pattern", pattern.encode(errors="surrogatepass"), False)
    except UnsupportedError as error:
        return _BESIDE if keyword in ("additionalProperties", "unevaluatedProperties") else f"{_LEFT_OUT}: {error}"
    return ""


def _has_free_keys(schema: object) -> bool:
    """Whether a schema by itself lets objects have keys that it does not name; a reference is judged where it leads."""
    if not isinstance(schema, dict):
        return schema is True
    types = schema.get("type", "object")
    if "object" not in (types if isinstance(types, list) else [types]):
        return False
    if any(keyword in schema for keyword in ("enum", "const", *_REFERENCES)):
        return False
    return schema.get("additionalProperties") is not False or bool(schema.get("patternProperties"))


def _judged(
    keyword: str, value: Any, schema: dict[str, Any], dialect: dict[str, Any], formats: bool
) -> tuple[str, str]:
    """Status and detail of one keyword."""
    draft = dialect["draft"]
    age = _ORDER.index(draft)
    if keyword == "format":
        if value in _OF_PATTERNS and f"-{value[4:]}[0-9A-Fa-f]{{3}}-" in str(schema.get("pattern")):
            return "enforced", f"{value}, by the pattern beside it"
        if not isinstance(value, str) or value not in FORMATS:
            return "ignored", f"unknown format {json.dumps(value)}"
        if not (formats and dialect["format"]):
            return "annotation", value
        known_format = json_format(value, False)
        assert known_format is not None
        _, exact, note = known_format
        return ("enforced", value) if exact else ("widened", f"{value}: {note}{_NEGATED if value != 'regex' else ''}")
    if not dialect["declared"] and _is_of_earlier_drafts(keyword, value, schema):
        return "enforced", f"as drafts up to {_UNTIL_FORM[keyword]} have it, since $schema names none"
    known = keyword in _APPLICATORS or keyword in _ASSERTIONS or keyword in _REFERENCES
    if known:
        if age < _ORDER.index(_SINCE.get(keyword, "4")) or age > _ORDER.index(_UNTIL.get(keyword, "2020-12")):
            return "ignored", f"draft {draft} does not know it"
        vocabulary = (
            "unevaluated"
            if keyword.startswith("unevaluated")
            else "applicator"
            if keyword in _APPLICATORS
            else "validation"
        )
        if keyword not in _REFERENCES and not dialect[vocabulary]:
            return "ignored", f"the metaschema leaves the vocabulary {vocabulary} out"
        if any(other not in schema for other in _NEEDS.get(keyword, ())):
            return "ignored", f"no effect without {_NEEDS[keyword][0]}"
        if keyword == "additionalItems" and not isinstance(schema["items"], list):
            return "ignored", "no effect unless items is an array"
        patterns = [value] if keyword == "pattern" else value if keyword == "patternProperties" else ()
        return "enforced", _ENDS_NOTE if any(map(_ENDS.search, patterns)) else ""
    if keyword in _ANNOTATIONS:
        return "annotation", ""
    return "ignored", "unknown keyword"


_ENDS = re.compile(r"(?<!\\)(?:\\\\)*\\[AZz]")
_ENDS_NOTE = r"\A, \Z and \z are the ends of the text, as outside ECMA-262"


def _is_of_earlier_drafts(keyword: str, value: Any, schema: dict[str, Any]) -> bool:
    """Whether a keyword has a form that draft 2020-12 lacks, and that means what it meant where no draft is named."""
    if keyword in ("items", "additionalItems"):
        return isinstance(schema.get("items"), list)
    return keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool)


def _inside(keyword: str, value: Any) -> Iterator[str]:
    """JSON Pointers from a schema to the schemas in the value of one of its keywords."""
    where = _APPLICATORS.get(keyword)
    if where == _MAP and isinstance(value, dict):
        for key, child in value.items():
            if isinstance(child, (dict, bool)):
                yield f"/{keyword}/{key.replace('~', '~0').replace('/', '~1')}"
    elif isinstance(value, list) and where is not None:
        for position in range(len(value)):
            yield f"/{keyword}/{position}"
    elif where == _ONE:
        yield f"/{keyword}"
