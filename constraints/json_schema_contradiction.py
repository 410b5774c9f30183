"""Why no value is valid against a schema: keywords that contradict each other, and each branch that is empty."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from typing import Any

from .json_schema_report import has_lone_surrogate

Path = tuple[str | int, ...]
IsEmpty = Callable[[Any], bool]

_SCHEMAS = ("additionalItems", "additionalProperties", "contains", "items", "unevaluatedItems", "unevaluatedProperties")
_MAPS = ("patternProperties", "properties")
_LISTS = ("allOf", "items", "prefixItems")
_BRANCHES = ("anyOf", "oneOf")
_OTHERS = (
    "$dynamicRef $recursiveRef $ref const dependencies dependentRequired dependentSchemas else enum exclusiveMaximum"
    " exclusiveMinimum format if maxContains maxItems maxLength maxProperties maximum minContains minItems minLength"
    " minProperties minimum multipleOf not pattern propertyNames required then type uniqueItems"
)
_KEYWORDS = frozenset((*_OTHERS.split(), *_SCHEMAS, *_MAPS, *_LISTS, *_BRANCHES))
_MOST_BRANCHES = 8  # that are told of, and as many levels of branches inside branches
_SECONDS = 1.0
_LONGEST = 100_000  # bytes of a schema


class _OutOfTimeError(Exception):
    pass


def contradiction(text: bytes, is_empty: Callable[[bytes], bool]) -> str | None:
    """Which keywords of a schema without values contradict each other, by JSON Pointer; None where that takes too long.

    Keywords are left out one after another as long as the schema stays empty (``is_empty`` tells), so that none of
    those named can be left out; of anyOf and oneOf each branch is explained so. A second of processor time at most.
    """
    if len(text) > _LONGEST:
        return None
    end = time.process_time() + _SECONDS

    def empty(schema: Any) -> bool:
        if time.process_time() > end:
            raise _OutOfTimeError
        return is_empty(json.dumps(schema).encode())

    try:
        return _explained(json.loads(text), empty, 0)
    except (_OutOfTimeError, RecursionError):
        return None


def _explained(schema: Any, empty: IsEmpty, depth: int) -> str:
    _shrink(schema, empty)
    shown = []
    for path in _leaves(schema):
        value = _at(schema, path)
        if path and path[-1] in _BRANCHES and depth < _MOST_BRANCHES and _only_branch(value) is None:
            shown.append(_branches(schema, path, empty, depth))
        elif value is False:
            shown.append(f"{_pointer(path)}, which is false")
        elif path[-1] == "required" and isinstance(value, list):
            shown.append(f"{_pointer(path)} ({', '.join(json.dumps(name) for name in value)})")
        elif path and path[-1] in ("const", "enum") and has_lone_surrogate(value):
            shown.append(f"{_pointer(path)} (no text has lone surrogates)")
        else:
            shown.append(_pointer(path))
    return " with ".join(shown) or _pointer(())


def _branches(schema: Any, path: Path, empty: IsEmpty, depth: int) -> str:
    branches = _at(schema, path)
    reasons = []
    for i in range(min(len(branches), _MOST_BRANCHES)):
        name = _pointer((*path, i))
        only = copy.deepcopy(schema)
        _at(only, path)[:] = [branch if k == i else False for k, branch in enumerate(branches)]
        if branches[i] is False:
            reasons.append(f"{name} is false")
        elif not empty(only):  # of oneOf
            reasons.append(f"{name} holds only where another one does")
        else:
            reasons.append(f"{name}: {_explained(only, empty, depth + 1)}")
    if len(branches) > _MOST_BRANCHES:
        reasons.append(f"and {len(branches) - _MOST_BRANCHES} more")
    return f"{_pointer(path)}, whose branches are all empty ({'; '.join(reasons)})"


def _shrink(schema: Any, empty: IsEmpty) -> None:
    """Leave out what the schema stays empty without, outer keywords first."""
    places: list[Path] = [()]
    for place in places:  # grows
        for part in (_keywords, _parts):
            for path in part(schema, place):
                parent, step = _at(schema, path[:-1]), path[-1]
                before = copy.copy(parent)
                if path[-2:-1] == ("required",) or len(path) == len(place) + 1:
                    del parent[step]
                else:
                    parent[step] = True
                if empty(schema):
                    continue
                if isinstance(parent, dict):
                    parent.clear()
                    parent.update(before)
                else:
                    parent[:] = before
                places += [below for below in _below(schema, path) if below not in places]


def _leaves(schema: Any) -> list[Path]:
    """The keywords that are left, without those that only lead to others."""
    places: list[Path] = [()]
    found: list[Path] = []
    for place in places:  # grows
        if not _keywords(schema, place):
            found.append(place)
        parts = _parts(schema, place)
        held = {path[: len(place) + 1] for path in parts if path[-2] != "required"}
        for path in [*(path for path in _keywords(schema, place) if path not in held), *parts]:
            below = [p for p in _below(schema, path) if p not in places]
            places += below
            says_something = path[-1] == "uniqueItems" or _at(schema, path) is not True
            if not below and path[-2:-1] != ("required",) and says_something:
                found.append(path)
    return found


def _keywords(schema: Any, place: Path) -> list[Path]:
    node = _at(schema, place)
    return [(*place, key) for key in node if key in _KEYWORDS] if isinstance(node, dict) else []


def _parts(schema: Any, place: Path) -> list[Path]:
    """Members, elements and names in the keywords of a schema."""
    parts: list[Path] = []
    for path in _keywords(schema, place):
        value = _at(schema, path)
        if path[-1] in _MAPS and isinstance(value, dict):
            parts += [(*path, name) for name in value]
        elif path[-1] in _LISTS and isinstance(value, list):
            parts += [(*path, i) for i in range(len(value))]
        elif path[-1] == "required" and isinstance(value, list):
            parts += [(*path, i) for i in reversed(range(len(value)))]
    return parts


def _below(schema: Any, path: Path) -> list[Path]:
    """The schema that must hold where this keyword or part of one does, if it has keywords."""
    value = _at(schema, path)
    below: Path | None = None
    if path[-1] == "$ref" and isinstance(value, str):
        below = _target(schema, value)
    elif path[-1] in _BRANCHES:
        only = _only_branch(value)
        below = None if only is None else (*path, only)
    elif path[-1] in _SCHEMAS or (path[-2:-1] and (path[-2] in _MAPS or path[-2] in _LISTS)):
        below = path
    return [below] if below is not None and _keywords(schema, below) else []


def _only_branch(branches: Any) -> int | None:
    """The branch that is not false, where there is one only."""
    possible = [i for i, branch in enumerate(branches) if branch is not False] if isinstance(branches, list) else []
    return possible[0] if len(possible) == 1 else None


def _target(schema: Any, reference: str) -> Path | None:
    """The place that a reference inside the document leads to."""
    from urllib.parse import unquote

    if reference != "#" and not reference.startswith("#/"):
        return None
    path: Path = ()
    for step in unquote(reference).split("/")[1:]:
        node = _at(schema, path)
        name: str | int = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and str(name).isdigit() and int(name) < len(node):
            name = int(name)
        elif not isinstance(node, dict) or name not in node:
            return None
        path = (*path, name)
    return path


def _at(schema: Any, path: Path) -> Any:
    for step in path:
        schema = schema[step]
    return schema


def _pointer(path: Path) -> str:
    steps = [str(step).replace("~", "~0").replace("/", "~1") for step in path]
    return "'" + "".join("/" + step for step in steps) + "'" if steps else "the root"
