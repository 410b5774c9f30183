"""Parameters of a tool, written one by one: what each may be, in which order they come, and how values are read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal
from urllib.parse import quote, unquote

from .._core import JsonSchemaOptions, SchemaNotation
from ..automata.errors import ConstraintError, LimitError, UnsupportedError
from .constraint import Constraint, Limits, ReportEntry
from .exact_json import ExactJson
from .json_schema_constraint import JsonSchemaConstraint, copied_options, says_empty
from .json_schema_report import SchemaReport
from .json_schema_source import Registry, schema_text
from .literal import literal
from .sequence import any_of, optional, sequence
from .tool_definitions import ToolDefinition
from .tool_format import ToolFormat

MOST_IN_ANY_ORDER = 10  # parameters; the constraint doubles with each
_URI = "tokamata:arguments"  # of a tool's schema, for references inside of it
# What says nothing of several parameters together.
_APART = {"type", "properties", "required", "additionalProperties", "$schema", "$id", "id", "$defs", "definitions"}
_APART |= {"$anchor", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
_JOINT = {
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "const",
    "enum",
}
_JOINT |= {"minProperties", "maxProperties", "patternProperties", "propertyNames", "dependencies", "dependentRequired"}
_JOINT |= {"dependentSchemas", "unevaluatedProperties"}


class Parameter:
    """One parameter of a tool, and its values as a model writes them."""

    def __init__(self, name: str, required: bool, values: JsonSchemaConstraint, pointer: str) -> None:
        """Keep the texts of values in the schema at a JSON Pointer below that of the arguments."""
        self.name = name
        self.required = required
        self.values = values
        self.pointer = pointer

    @cached_property
    def _strings_only(self) -> bool:
        return (self.values - bare_values(b'{"type": "string"}', Registry(None), self.values._options)).is_empty()

    def read(self, text: str) -> Any:
        """The value that a text stands for."""
        if self._strings_only:
            return text
        try:
            return json.loads(text)
        except ValueError:
            return text


class ToolParameters:
    """The parameters of a tool, in the order of their schema."""

    def __init__(
        self,
        tool: ToolDefinition,
        chosen: ToolFormat,
        options: JsonSchemaOptions,
        key_order: Literal["schema", "any", "sorted"],
        limits: Limits | None,
    ) -> None:
        """Compile the schema of each parameter.

        Raises what json_schema does, with places in the definitions, and UnsupportedError for keywords that speak of
        several parameters and do not hold anyway, unless the options are lenient.
        """
        self._tool = tool
        assert chosen.parameter is not None
        self._format = chosen
        self._written = chosen.parameter
        self._key_order = key_order
        self._limits = limits
        self._options = copied_options(options)
        self._options.notation = SchemaNotation.BARE
        self._options.without = list(self._written.reserved)
        self._entries: list[ReportEntry] = []
        self._above, self._root = self._arguments()
        self.parameters = list(self._read())
        self._check_order()
        self._check_joint_keywords()

    # ------------------------------------------------------------------------------------------ the schema

    def _arguments(self) -> tuple[str, dict[str, Any]]:
        """The schema of the arguments, where references lead, and its JSON Pointer."""
        tool = self._tool
        if tool.loose is not None:
            declared = ExactJson(schema_text(tool.loose, "tools"), "tools").value
            names = declared.get("properties") if isinstance(declared, dict) else None
            self._text = json.dumps({"type": "object", "properties": dict.fromkeys(names or (), True)}).encode()
        else:
            self._text = schema_text(tool.parameters, "tools")
        self._exact = ExactJson(self._text, "tools")
        pointer, found = "", self._exact.value
        for _ in range(20):
            target = found.get("$ref") if isinstance(found, dict) else None
            if not isinstance(target, str) or not target.startswith("#/") or set(found) & (_JOINT - {"$ref"}):
                break
            pointer, found = unquote(target[1:]), self._exact.value
            for step in pointer.split("/")[1:]:
                found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        if found is True:
            found = {}
        if found is None:
            self._referred("")  # which says what is wrong with a reference
        if not isinstance(found, dict) or not _may_be_object(found):
            raise ConstraintError(
                f'tools: at "{tool.place}", the schema of {tool.name!r}: expected a schema that allows an object, '
                'which arguments are, got one that does not; pass {"type": "object", ...}'
            )
        return pointer, found

    def _read(self) -> Iterator[Parameter]:
        root, tool = self._root, self._tool
        properties = root.get("properties", {})
        required = root.get("required", [])
        well_formed = isinstance(properties, dict) and isinstance(required, list)
        if not well_formed or not all(isinstance(name, str) for name in required):
            raise ConstraintError(
                f'tools: at "{tool.place}{self._above}", the schema of {tool.name!r}: expected properties as an object '
                "and required as a list of texts; correct them"
            )
        others = root.get("additionalProperties", True)
        for name in [*properties, *(n for n in dict.fromkeys(required) if n not in properties)]:
            named = name in properties
            if any(phrase in name for phrase in (self._written.middle, *self._written.reserved)) or not name:
                raise UnsupportedError(
                    f'tools: at "{tool.place}{self._above}/properties", the schema of {tool.name!r}: the name '
                    f"{name!r} cannot be told from what stands around names; rename the parameter"
                )
            pointer = f"{self._above}/properties/{_escaped(name)}" if named else f"{self._above}/additionalProperties"
            made = self._parameter(name, properties[name] if named else others, pointer, name in required)
            if made is not None:
                yield made
        if others is not False:
            note = "parameters that the schema does not name are not written"
            self._entries.append(ReportEntry(self._above, "additionalProperties", "narrowed", note))

    def _parameter(self, name: str, schema: Any, pointer: str, required: bool) -> Parameter | None:
        """None for one that no value is valid for, and that need not come."""
        try:
            return Parameter(name, required, self._bare_of(pointer, schema), pointer)
        except (ValueError, LimitError, TypeError) as error:
            if isinstance(error, ConstraintError) and says_empty(error) and not required:
                self._entries.append(ReportEntry(pointer, name, "empty", "no value is valid, so it is never written"))
                return None
            raise type(error)(
                f'tools: at "{self._tool.place}{pointer}", the parameter {name!r} of {self._tool.name!r}: {error}'
            ) from None

    def _bare_of(self, pointer: str, schema: Any) -> JsonSchemaConstraint:
        """The values of the schema at a pointer, as they are written between marks."""
        document = self._exact.value
        draft = document.get("$schema") if isinstance(document, dict) else None
        if '"$' in json.dumps(schema) or (draft is not None and isinstance(schema, dict)):
            return self._referred(pointer)
        text = self._exact.at(pointer) if schema is not True else "true"  # what is not there is true
        return bare_values(text.encode(), Registry(None), self._options, self._limits)

    def _referred(self, pointer: str) -> JsonSchemaConstraint:
        """The same for a schema that refers to others, or whose document says its draft."""
        return bare_values(*_reference(self._text, pointer), self._options, self._limits)

    def _check_order(self) -> None:
        if self._key_order == "any" and len(self.parameters) > MOST_IN_ANY_ORDER:
            raise UnsupportedError(
                f'tools: at "{self._tool.place}", the schema of {self._tool.name!r}: key_order="any" takes at most '
                f"{MOST_IN_ANY_ORDER} parameters that are written one by one, got {len(self.parameters)}; pass "
                'key_order="schema"'
            )

    def _check_joint_keywords(self) -> None:
        """What is said of several parameters holds whatever each of them is, or is widened, or refused."""
        joint = sorted(set(self._root) & _JOINT)
        if not joint or self._hold_anyway():
            return
        place = f"{self._above}/{joint[0]}"
        if not self._options.lenient:
            raise UnsupportedError(
                f'tools: at "{self._tool.place}{place}", the schema of {self._tool.name!r}: {", ".join(joint)} of the '
                "arguments cannot be enforced where parameters are written one by one; say it of single parameters, or "
                "pass lenient=True to leave it out"
            )
        for keyword in joint:
            note = "parameters are written one by one, each as its own schema says"
            self._entries.append(ReportEntry(f"{self._above}/{keyword}", keyword, "widened", note))

    def _hold_anyway(self) -> bool:
        """Whether all objects of values that single parameters may have are valid."""
        options = copied_options(self._options)
        options.notation = SchemaNotation.JSON
        options.without = []
        apart = {
            "type": "object",
            "properties": {p.name: {"$ref": _uri(p.pointer)} for p in self.parameters},
            "required": [p.name for p in self.parameters if p.required],
            "additionalProperties": False,
        }
        try:
            alone = bare_values(json.dumps(apart).encode(), Registry({_URI: self._text}), options, self._limits)
            whole = bare_values(*_reference(self._text, self._above), options, self._limits)
            return (alone - whole).is_empty()
        except (ConstraintError, LimitError):
            return False

    # ------------------------------------------------------------------------------------------ the texts

    def texts(self) -> Constraint:
        """The parameters of a call, one after another."""
        if self._key_order == "any":
            return self._in_any_order(frozenset(range(len(self.parameters))), {})
        listed = self.parameters
        if self._key_order == "sorted":
            listed = sorted(listed, key=lambda parameter: parameter.name)
        return sequence(*(self._one(p) if p.required else optional(self._one(p)) for p in listed))

    def _one(self, parameter: Parameter) -> Constraint:
        before, after = self._written.before + parameter.name + self._written.middle, self._written.after
        return sequence(self._format.phrase(before), parameter.values, self._format.phrase(after))

    def _in_any_order(self, left: frozenset[int], known: dict[frozenset[int], Constraint]) -> Constraint:
        if left not in known:
            if len(left) == len(self.parameters):
                self._alone = [self._one(parameter) for parameter in self.parameters]
            ways = [sequence(self._alone[i], self._in_any_order(left - {i}, known)) for i in sorted(left)]
            if not any(self.parameters[i].required for i in left):
                ways.append(literal(""))
            known[left] = any_of(ways)
        return known[left]

    def entries(self) -> Iterator[ReportEntry]:
        """What the schemas of the parameters say, with places below that of the arguments."""
        for parameter in self.parameters:
            for entry in parameter.values.report:
                if entry.place.startswith(_URI):
                    yield replace(entry, place=unquote(entry.place.removeprefix(_URI + "#")))
                elif entry.place != "/$ref" or entry.subject != "$ref":
                    yield replace(entry, place=parameter.pointer + entry.place)
        phrases = ", ".join(self._written.reserved)
        yield ReportEntry(self._above, "strings", "narrowed", f"no string has one of these inside: {phrases}")
        yield from self._entries


def _uri(pointer: str) -> str:
    return f"{_URI}#{quote(pointer, safe='/~')}"


def _reference(document: bytes, pointer: str) -> tuple[bytes, Registry]:
    """A schema that is the one at a pointer into a document, and the registry with that."""
    return json.dumps({"$ref": _uri(pointer)}).encode(), Registry({_URI: document})


def bare_values(
    text: bytes, documents: Registry, options: JsonSchemaOptions, limits: Limits | None = None
) -> JsonSchemaConstraint:
    """The values of a schema in the notation of the options, whatever stands around them."""
    report = (SchemaReport(text, documents, options, limits),)
    return JsonSchemaConstraint(text, documents, options, limits, source="", report=report, read=lambda: json.loads)


def _may_be_object(schema: Mapping[str, Any]) -> bool:
    types = schema.get("type", "object")
    return "object" in (types if isinstance(types, list) else [types])


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
