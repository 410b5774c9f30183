"""yaml_schema: the YAML texts, in block style, whose values are valid against a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

from .._core import JsonSchemaOptions, KeyOrder, SchemaNotation, YamlSequences
from ..automata.checks import checked_choice, checked_flag, checked_range
from ..automata.errors import ConstraintError, LimitError, UnsupportedError
from .constraint import DEFAULT_LIMITS, Limits, ReportEntry, native_limits
from .json_schema_constraint import JsonSchemaConstraint
from .json_schema_report import SchemaReport
from .json_schema_source import Registry, schema_text, yaml_reader
from .yaml_keys import uncounted_keys

_SEQUENCES = {"any": YamlSequences.ANY, "indented": YamlSequences.INDENTED, "flush": YamlSequences.FLUSH}
_KEY_ORDER = {"schema": KeyOrder.SCHEMA, "any": KeyOrder.ANY, "sorted": KeyOrder.SORTED}
_MOST_DEPTH = 1000
# Characters of a key that the schema does not name, between double quotes; 5 times as many between single ones, 10
# times as many plain. Escaped they stay below PyYAML's 1024.
_MOST_KEY = 100
_OTHERS_LAST = ReportEntry("", "key_order", "widened", "keys that no schema names come after the others, in any order")


def yaml_schema(
    schema: object,
    *,
    sequences: Literal["any", "indented", "flush"] = "any",
    key_order: Literal["schema", "any", "sorted"] = "schema",
    formats: bool = True,
    unique_keys: bool = True,
    lenient: bool = False,
    registry: Mapping[str, object] | None = None,
    max_depth: int = 16,
    limits: Limits | None = None,
) -> JsonSchemaConstraint:
    """The YAML texts in block style whose values are valid against a JSON Schema; ``yaml.safe_load`` reads each.

    ``schema``, ``key_order``, ``formats``, ``unique_keys``, ``lenient``, ``registry`` and ``limits`` are those of
    :func:`tokamata.json_schema`, and the schemas that it enforces are enforced here. No key occurs twice, and no two
    elements under ``uniqueItems`` are equal, in whatever style they are written; with ``unique_keys=False`` keys
    that the schema does not name may, PyYAML takes the last, and so schemas that count members of any name
    (``minProperties`` beyond the required ones and one more) are refused. In the order "sorted" keys
    that the schema does not name come last.

    Lines are indented by two spaces. ``sequences``: how the elements of an array under a key stand, "indented" by two
    spaces, "flush" with the key (as ``yaml.safe_dump`` writes them), or "any" of both. Empty arrays and objects are
    ``[]`` and ``{}``. Strings and keys are plain where YAML 1.1 reads them as strings (not ``yes``, ``1_000``,
    ``1:30``, ``2026-01-01``, ...), or in single or double quotes; the schema speaks of the decoded text. Strings of
    which nothing is asked, not even to differ from others, may take several lines, as block scalars (``|``, ``>``) or
    folded. Numbers, null, true and false are written as in JSON, an exponent behind a fraction only (``1.0e+20``). The
    last line may end with a line break.

    ``max_depth``: levels of indentation, 0 to 1000; what lies deeper is written in flow style, ``{"a": [1, 2]}``.
    ``report`` names this limit and the one on the length of keys that the schema does not name (1,000 characters, 500
    in single and 100 in double quotes: YAML reads keys of at most 1024, escapes included), besides what
    :func:`tokamata.json_schema` reports.

    ``.parse(text)`` is the value of a member, read by PyYAML: an instance where the schema is a type.

    Raises ConstraintError, UnsupportedError, LimitError and ImportError as :func:`tokamata.json_schema` does,
    ValueError for other options. Source: YAML 1.1 as PyYAML 6 reads it.
    """
    max_depth = checked_range("yaml_schema", "max_depth", max_depth, 0, _MOST_DEPTH)
    native_limits(limits, "yaml_schema")
    options = JsonSchemaOptions()
    options.notation = SchemaNotation.YAML
    options.sequences = _SEQUENCES[checked_choice("yaml_schema", "sequences", sequences, _SEQUENCES)]
    options.key_order = _KEY_ORDER[checked_choice("yaml_schema", "key_order", key_order, _KEY_ORDER)]
    options.formats = checked_flag("yaml_schema", "formats", formats)
    options.unique_keys = checked_flag("yaml_schema", "unique_keys", unique_keys)
    options.lenient = checked_flag("yaml_schema", "lenient", lenient)
    options.max_cases = (limits or DEFAULT_LIMITS).schema_cases
    options.max_depth = max_depth
    options.max_key = _MOST_KEY
    try:
        text = schema_text(schema, "yaml_schema")
        documents = Registry(registry, "yaml_schema")
        repeated = [] if unique_keys else list(uncounted_keys(text))
        if repeated and not lenient:
            place, why = repeated[0]
            raise UnsupportedError(
                f'yaml_schema: at "{place}", {why}: with unique_keys=False a key may be written twice, and the '
                "last one counts; name the keys, set additionalProperties to false, or drop unique_keys=False"
            )
        shown = text[:60].decode("utf-8", "replace") + ("..." if len(text) > 60 else "")
        return JsonSchemaConstraint(
            text,
            documents,
            options,
            limits,
            source=f"yaml_schema({shown})",
            report=(
                SchemaReport(text, documents, options, limits),
                _YamlLimits(max_depth, key_order == "sorted", repeated),
            ),
            read=partial(yaml_reader, schema),
        )
    except (ConstraintError, LimitError) as error:
        message = str(error)
        if not message.startswith("json_schema: "):
            raise
        raise type(error)("yaml_schema" + message.removeprefix("json_schema")) from None


class _YamlLimits:
    """Where the notation is narrower than the schema, for the report."""

    def __init__(self, max_depth: int, sorted_keys: bool, repeated: list[tuple[str, str]]) -> None:
        self._max_depth = max_depth
        self._repeated = repeated
        self._sorted_keys = sorted_keys

    def entries(self) -> tuple[ReportEntry, ...]:
        """One entry for each limit."""
        depth = f"max_depth={self._max_depth}: what is indented by more levels is written in flow style"
        keys = (
            f"keys that the schema does not name have at most {10 * _MOST_KEY} characters, {5 * _MOST_KEY} in single "
            f"and {_MOST_KEY} in double quotes"
        )
        limits = (ReportEntry("", "max_depth", "enforced", depth), ReportEntry("", "max_key", "narrowed", keys))
        widened = (
            ReportEntry(place, place.rpartition("/")[2], "widened", "a key may be written twice; the last one counts")
            for place, _ in self._repeated
        )
        return (*limits, *widened, *((_OTHERS_LAST,) if self._sorted_keys else ()))
