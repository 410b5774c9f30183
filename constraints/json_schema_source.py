"""Schemas as JSON texts: from dictionaries, texts, pydantic models, dataclasses; and the drafts' own metaschemas."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from .._core import write_json
from ..automata.errors import ConstraintError

_MODEL_HELP = "install pydantic (pip install 'tokamata[pydantic]') or pass the schema as a dict or JSON text"
_METASCHEMAS = {  # the folder of URIs, and the file that holds them
    "http://json-schema.org/draft-04/": "draft4",
    "http://json-schema.org/draft-06/": "draft6",
    "http://json-schema.org/draft-07/": "draft7",
    "https://json-schema.org/draft/2019-09/": "draft2019-09",
    "https://json-schema.org/draft/2020-12/": "draft2020-12",
}


def schema_text(schema: object, name: str = "json_schema") -> bytes:
    """The JSON text (UTF-8) of a schema.

    ``schema``: a dict or bool (written by ``json.dumps``: tuples become arrays, numbers as keys become strings), a JSON
    text as str or bytes, a pydantic model class or TypeAdapter, or any type that pydantic can describe: dataclasses,
    TypedDicts (before Python 3.12 those of typing_extensions), enums, ``list[int]``. ``name`` begins the error texts.

    Raises ConstraintError with the JSON Pointer for values that JSON does not have, ImportError without pydantic,
    TypeError for other objects.
    """
    if isinstance(schema, (dict, bool)):
        return write_json(schema) or _dumped(schema, name)
    if isinstance(schema, str):
        try:
            return schema.encode()
        except UnicodeEncodeError as error:
            raise ConstraintError(
                f"{name}: expected JSON text, got the lone surrogate {schema[error.start]!r} at position "
                f"{error.start}; write it as an escape"
            ) from None
    if isinstance(schema, (bytes, bytearray, memoryview)):
        return bytes(schema)
    if isinstance(schema, Mapping):
        return _dumped(dict(schema), name)
    return _dumped(_described(schema, name), name)


class Registry:
    """The documents that references may lead to, as texts: those of a registry, and the drafts' own metaschemas.

    One is made a text when somebody asks for it, and stays the same from then on.
    """

    __slots__ = ("_documents", "_known", "_name", "_texts")

    def __init__(self, documents: Mapping[str, object] | None, name: str = "json_schema") -> None:
        """``documents``: schemas by URI; ``name`` begins the error texts. Raises TypeError for other things."""
        if documents is not None:
            if not isinstance(documents, Mapping):
                raise TypeError(
                    f"{name}: expected registry as a mapping from URI to schema, got {type(documents).__name__}; pass "
                    "a dict"
                )
            for uri in documents:
                if not isinstance(uri, str):
                    raise TypeError(f"{name}: expected URIs as str in registry, got {uri!r}; write it as text")
        self._documents = documents
        self._known: dict[str, dict[str, Any]] = {}  # metaschemas, by file
        self._name = name
        self._texts: dict[str, bytes] = {}

    def __call__(self, uri: str | None) -> list[tuple[str, bytes]]:
        """URI and text of the document at a URI (without fragment), if there is one; for None of all documents.

        Metaschemas are found by their URIs only. Raises what :func:`schema_text` does.
        """
        documents = self._documents or {}
        if uri is None:
            return [(key, self._text(key, documents)) for key in documents]
        for key in (uri, uri + "#"):
            if key in self._texts or key in documents:
                return [(key, self._text(key, documents))]
        found = [(key, self._text(key, documents)) for key in documents if key.partition("#")[0] == uri]
        return found[:1] or self._metaschema(uri)

    def texts(self) -> list[tuple[str, bytes]]:
        """URI and text of the documents that somebody asked for."""
        return list(self._texts.items())

    def forget(self) -> None:
        """Keep nothing but the texts of the documents that somebody asked for."""
        self._documents = None
        self._known = {}

    def _text(self, uri: str, documents: Mapping[str, object]) -> bytes:
        if uri not in self._texts:
            self._texts[uri] = schema_text(documents[uri], f"{self._name}: registry[{json.dumps(uri)}]")
        return self._texts[uri]

    def _metaschema(self, uri: str) -> list[tuple[str, bytes]]:
        for folder, name in _METASCHEMAS.items():
            if uri.startswith(folder):
                known = self._known[name] = self._known.get(name) or _metaschemas(name)
                if uri in known:
                    self._texts[uri] = json.dumps(known[uri]).encode()
                    return [(uri, self._texts[uri])]
        return []


def metaschemas() -> list[tuple[str, bytes]]:
    """URI and text of the metaschemas of drafts 4 to 2020-12, their vocabularies included."""
    return [
        (uri, json.dumps(document).encode())
        for name in _METASCHEMAS.values()
        for uri, document in _metaschemas(name).items()
    ]


def _metaschemas(name: str) -> dict[str, Any]:
    from importlib.resources import files

    text = files(__package__).joinpath("metaschemas").joinpath(f"{name}.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _dumped(schema: object, name: str) -> bytes:
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise ConstraintError(
            f"{name}: expected a schema that json.dumps can write, got one that contains itself or nests too deeply; "
            "use $ref for recursion, or pass JSON text"
        ) from None
    except (TypeError, ValueError) as error:
        raise ConstraintError(
            _complaint(schema, name)
            or f"{name}: expected JSON values: {error}; use null, bools, numbers, texts, lists and dicts"
        ) from None
    try:
        return text.encode()
    except UnicodeEncodeError:  # lone surrogates survive as escapes
        return json.dumps(schema, allow_nan=False, separators=(",", ":")).encode()


def _complaint(schema: object, name: str) -> str | None:
    """Say where the first value is that JSON does not have; None when it can't be found."""
    todo: list[tuple[str, object, tuple[int, ...]]] = [("", schema, ())]
    while todo:
        pointer, value, above = todo.pop()
        if isinstance(value, (str, bool, int)) or value is None:
            continue
        if id(value) in above:
            return f'{name}: at "{pointer}": expected a tree of values, got a container that contains itself; use $ref'
        inside = (*above, id(value))
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, (str, bool, int, float)) and key is not None:
                    return f'{name}: at "{pointer}": expected str keys, got {type(key).__name__} {key!r:.60}'
            items = list(value.items())
        elif isinstance(value, (list, tuple)):
            items = list(enumerate(value))
        elif isinstance(value, float):
            if value != value or value in (float("inf"), float("-inf")):
                return f'{name}: at "{pointer}": expected a JSON value, got {value}; JSON has no such number'
            continue
        else:
            return f'{name}: at "{pointer}": expected a JSON value, got {type(value).__name__} {value!r:.60}'
        for key, child in reversed(items):
            step = str(key).replace("~", "~0").replace("/", "~1")
            todo.append((f"{pointer}/{step}", child, inside))
    return None


def _described(schema: object, name: str) -> Any:
    """The JSON Schema of a type, by pydantic."""
    describe = getattr(schema, "model_json_schema", None)
    if describe is not None:
        if not isinstance(schema, type):
            raise TypeError(
                f"{name}: expected a model class, got an instance of {type(schema).__name__}; pass its class"
            )
        return _generated(describe, schema, name)
    if type(schema).__name__ == "TypeAdapter" and hasattr(schema, "json_schema"):
        return _generated(schema.json_schema, schema, name)
    return _generated(_adapter(schema, name).json_schema, schema, name)


def _generated(describe: Any, schema: object, name: str) -> Any:
    """What pydantic generates, made exact; what a class of its own makes where it takes no generator."""
    try:
        from pydantic.errors import PydanticUserError

        from .pydantic_schema import ExactJsonSchema
    except ImportError:  # another library with methods of these names
        return describe()
    try:
        return describe(schema_generator=ExactJsonSchema)
    except TypeError:
        return describe()
    except PydanticUserError as error:
        raise _undescribed(schema, name, error) from error


def reader(schema: object, name: str = "json_schema") -> Callable[[str], Any]:
    """What makes values of JSON texts: instances where the schema is a type, else what ``json.loads`` makes."""
    if isinstance(schema, (bool, str, bytes, bytearray, memoryview, Mapping)):
        return json.loads
    validate = getattr(schema, "model_validate_json", None) or getattr(schema, "validate_json", None)
    if validate is None:
        validate = _adapter(schema, name).validate_json
    return cast("Callable[[str], Any]", validate)


def yaml_reader(schema: object) -> Callable[[str], Any]:
    """As :func:`reader`, for YAML texts whose keys are strings. Raises ImportError without PyYAML."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError("parse: texts of yaml_schema are read by PyYAML; pip install pyyaml") from None
    read = reader(schema, "yaml_schema")
    return lambda text: read(json.dumps(yaml.safe_load(text)))


def _adapter(schema: object, name: str) -> Any:
    if dataclasses.is_dataclass(schema) and not isinstance(schema, type):
        raise TypeError(f"{name}: expected a dataclass, got an instance of {type(schema).__name__}; pass its class")
    written = type(schema).__module__ in ("typing", "typing_extensions")  # NewType, type aliases, LiteralString, ...
    generic = hasattr(schema, "__origin__") or hasattr(schema, "__args__")
    if not (isinstance(schema, type) or generic or written):
        raise TypeError(
            f"{name}: expected a dict, bool, JSON text, pydantic model class, TypeAdapter, dataclass or TypedDict, "
            f"got {type(schema).__name__}; True is the schema of any value"
        )
    try:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError
        from pydantic_core import SchemaError
    except ImportError:
        shown = getattr(schema, "__name__", repr(schema))
        raise ImportError(f"{name}: the JSON Schema of the type {shown} comes from pydantic; {_MODEL_HELP}") from None
    try:
        described: Any = schema
        return TypeAdapter(described)
    except (PydanticUserError, SchemaError, NameError) as error:
        raise _undescribed(schema, name, error) from error


def _undescribed(schema: object, name: str, error: Exception) -> ConstraintError:
    reason = " ".join(str(error).partition("\n\n")[0].split())
    shown = getattr(schema, "__name__", repr(schema))
    return ConstraintError(
        f"{name}: pydantic has no JSON Schema for {shown}: {reason}; use a type that it describes, or pass a schema"
    )
