"""json_schema: the JSON texts that are valid against a JSON Schema; json_value: all JSON texts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

from .._core import JsonSchemaOptions, JsonWhitespace, KeyOrder, write_json
from ..automata.checks import checked_choice, checked_flag, checked_range
from ..automata.errors import ConstraintError
from .constraint import DEFAULT_LIMITS, Constraint, Limits, native_limits, to_bytes
from .json_schema_constraint import JsonSchemaConstraint
from .json_schema_report import SchemaReport
from .json_schema_source import Registry, reader, schema_text
from .regex import regex

_WHITESPACE = {
    "flexible": JsonWhitespace.FLEXIBLE,
    "compact": JsonWhitespace.COMPACT,
    "pretty": JsonWhitespace.PRETTY,
    "any": JsonWhitespace.ANY,
}
_SPACE = 'whitespace "flexible", "compact", "pretty", "any" or a regular expression that matches white space only'
_MOST_DEPTH = 100_000  # of json_value; about a second
_OPTIONS = JsonSchemaOptions()  # where nothing else is asked for; never changed
_KEY_ORDER = {"schema": KeyOrder.SCHEMA, "any": KeyOrder.ANY, "sorted": KeyOrder.SORTED}


def json_schema(
    schema: object,
    *,
    whitespace: str = "flexible",
    key_order: Literal["schema", "any", "sorted"] = "schema",
    strings: Literal["any", "canonical"] = "any",
    numbers: Literal["canonical", "any"] = "canonical",
    formats: bool = True,
    unique_keys: bool = True,
    lenient: bool = False,
    registry: Mapping[str, object] | None = None,
    limits: Limits | None = None,
) -> JsonSchemaConstraint:
    r"""The JSON texts whose values are valid against a JSON Schema (drafts 4, 6, 7, 2019-09 and 2020-12).

    ``schema``: a dict or bool, a JSON text (str or bytes), a pydantic model class or TypeAdapter, or a dataclass,
    TypedDict or other type that pydantic describes: then it is read so that pydantic takes every member, as far as JSON
    Schema can tell, and what pydantic writes is one, but for exponents of bounded decimals (``0E-8``) and decimals with
    a ``multiple_of`` other than 1, 0.1, 0.01, ..., which are numbers here. The draft is the
    one that ``$schema`` names, 2020-12 by default; then arrays under ``items`` and booleans under ``exclusiveMinimum``
    and ``exclusiveMaximum`` mean what they meant in the drafts that had them. Patterns are those of ECMA-262, and \A,
    \Z and \z the ends of the text.
    ``.parse(text)`` is the value of a member: an instance of the type, else what ``json.loads`` makes.

    ``whitespace``: "flexible" (what ``json.dumps`` writes with every ``indent``, up to 100 blanks or tabs in a line,
    and a blank after commas and colons or none; no blank before them, nor behind them at the end of a line),
    "compact" (none), "pretty" (indented by two spaces), "any" (everything JSON allows), or a regular expression for
    the white space between tokens. ``key_order``: "schema" (as the schema defines them, others after; where several
    ``properties`` apply to one object, each in its own order as far as they agree, else who is mentioned first),
    "any", or "sorted" (all of them by code point, as ``json.dumps(sort_keys=True)`` writes). ``unique_keys``: no key
    occurs twice in an object, however it is spelled, and elements under ``uniqueItems`` that are not listed differ;
    False: keys that the schema does not name may occur twice, which makes the language of a schema without recursion
    regular (count, to_fst, device tables). ``strings``: "any" spelling with escapes, or "canonical", as
    ``json.dumps(ensure_ascii=False)`` writes them. ``numbers``: "canonical" (integers without fraction or exponent,
    const and enum numbers as ``json.dumps`` writes them, 2.0 also as 2) or "any" spelling of the value (1.0 is an
    integer but in draft 4; ``report`` says which exponents there are). ``formats``: whether ``format`` restricts
    strings. ``lenient``: widen what cannot be enforced exactly instead of refusing it. ``registry``: schemas by URI
    for references outside the schema, of which only those are read that a reference leads to; the drafts' own
    metaschemas are known, and nothing is ever fetched.

    Keywords are compiled when a text or a model reaches them: building costs the reading of the schema. ``report``
    lists every keyword by JSON Pointer as enforced, annotation or ignored, and schemas and branches that no value comes
    from as empty.

    Raises ConstraintError for a malformed or contradictory schema or a reference to nothing, UnsupportedError for what
    cannot be enforced exactly, LimitError beyond ``limits``, each with the JSON Pointer, ImportError where a type needs
    pydantic.
    """
    if limits is not None:
        native_limits(limits, "json_schema")
    options = schema_options(whitespace, key_order, strings, numbers, formats, unique_keys, lenient, limits)
    text = (write_json(schema) if type(schema) is dict else None) or schema_text(schema)
    documents = Registry(registry)
    return JsonSchemaConstraint(
        text,
        documents,
        options,
        limits,
        source="",
        report=(SchemaReport(text, documents, options, limits),),
        read=partial(reader, schema),
    )


def schema_options(
    whitespace: str = "flexible",
    key_order: str = "schema",
    strings: str = "any",
    numbers: str = "canonical",
    formats: bool = True,
    unique_keys: bool = True,
    lenient: bool = False,
    limits: Limits | None = None,
) -> JsonSchemaOptions:
    """The options of :func:`json_schema`, checked. Not to be changed: the defaults are one object."""
    defaults = whitespace == "flexible" and key_order == "schema" and strings == "any" and numbers == "canonical"
    if defaults and formats is True and unique_keys is True and lenient is False and limits is None:
        return _OPTIONS
    options = JsonSchemaOptions()
    if not isinstance(whitespace, str):
        raise TypeError(f"json_schema: expected {_SPACE}, got {type(whitespace).__name__}; pass one of them")
    to_bytes(whitespace, "json_schema")
    if whitespace in _WHITESPACE:
        options.whitespace = _WHITESPACE[whitespace]
    else:
        options.whitespace = JsonWhitespace.PATTERN
        options.whitespace_pattern = _whitespace_pattern(whitespace)
    options.key_order = _KEY_ORDER[checked_choice("json_schema", "key_order", key_order, _KEY_ORDER)]
    options.canonical_strings = checked_choice("json_schema", "strings", strings, ("any", "canonical")) == "canonical"
    options.canonical_numbers = checked_choice("json_schema", "numbers", numbers, ("canonical", "any")) == "canonical"
    options.formats = checked_flag("json_schema", "formats", formats)
    options.unique_keys = checked_flag("json_schema", "unique_keys", unique_keys)
    options.lenient = checked_flag("json_schema", "lenient", lenient)
    options.max_cases = (limits or DEFAULT_LIMITS).schema_cases
    return options


def json_value(max_depth: int | None = None, *, limits: Limits | None = None) -> Constraint:
    """All JSON values, in texts with the white space and strings that :func:`json_schema` allows by default.

    So white space is what ``json.dumps`` writes with and without an indent, none of it around the value, and no
    string has a lone surrogate.

    ``max_depth``: how deep arrays and objects may nest (0: none at all; at most 100,000), which makes the language
    regular, so that keys may occur twice in an object; None: any depth, and no key twice.
    """
    native_limits(limits, "json_value")  # errors name the function that was called
    if max_depth is None:
        return json_schema(True, limits=limits)
    max_depth = checked_range("json_value", "max_depth", max_depth, 0, _MOST_DEPTH)
    definitions: dict[str, object] = {"0": {"type": ["null", "boolean", "number", "string"]}}
    for depth in range(1, max_depth + 1):
        inner = {"$ref": f"#/$defs/{depth - 1}"}
        definitions[str(depth)] = {"items": inner, "additionalProperties": inner}
    return json_schema({"$ref": f"#/$defs/{max_depth}", "$defs": definitions}, unique_keys=False, limits=limits)


def _whitespace_pattern(pattern: str) -> str:
    try:
        beyond = regex(pattern) - regex(r"[ \t\r\n]*")
    except ConstraintError as error:
        raise ConstraintError(f"json_schema: expected {_SPACE}, got {pattern!r}: {error}") from None
    if not beyond.is_empty():
        raise ConstraintError(
            f"json_schema: expected {_SPACE}, got {pattern!r}, which matches {beyond.examples(1)[0]!r}; use only "
            "blanks, tabs and line breaks"
        )
    return pattern
