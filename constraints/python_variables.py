"""Type variables: what they stand for in the annotations of generic classes."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Mapping
from typing import Any

Variables = Mapping[object, object]


def substituted(annotation: Any, variables: Variables) -> object:
    """The annotation with what its variables stand for; others stay: ``Box[T]`` is ``Box[int]`` where T is int."""
    if isinstance(annotation, typing.TypeVar):
        return variables.get(annotation, annotation)
    if isinstance(annotation, dataclasses.InitVar):
        inner: Any = substituted(annotation.type, variables)
        return dataclasses.InitVar(inner)
    free = getattr(annotation, "__parameters__", ()) if typing.get_origin(annotation) is not None else ()
    return annotation[tuple(variables.get(variable, variable) for variable in free)] if free else annotation


def own_variables(kind: type, arguments: tuple[object, ...]) -> dict[object, object]:
    """What the variables that a class itself declares stand for; without arguments nothing is known of them."""
    return dict(zip(getattr(kind, "__parameters__", ()), arguments, strict=False))


def bound_hints(kind: type, arguments: tuple[object, ...], hints: Mapping[str, object]) -> dict[str, object]:
    """Annotations of fields with what the variables stand for in the class that declares the field.

    Each class has variables of its own: the T of ``class B(A[list[T]], Generic[T])`` is not that of ``A``.
    """
    known = _variables_by_class(kind, arguments)
    return {name: substituted(hint, known.get(_owner(kind, name, list(known)), {})) for name, hint in hints.items()}


def _variables_by_class(kind: type, arguments: tuple[object, ...]) -> dict[type, Variables]:
    """The class and its bases, those nearer to it before those farther away, with their variables."""
    found: dict[type, Variables] = {}
    todo = [(kind, own_variables(kind, arguments))]
    for owner, variables in todo:
        if owner in found and (found[owner] or not variables):
            continue
        found[owner] = variables
        for base in owner.__dict__.get("__orig_bases__", owner.__bases__):
            origin: Any = typing.get_origin(base) or base
            if isinstance(origin, type) and origin is not typing.Generic:
                given = tuple(substituted(argument, variables) for argument in typing.get_args(base))
                todo.append((origin, own_variables(origin, given)))
    return found


def _owner(kind: type, name: str, classes: list[type]) -> type:
    """The class that declares a field."""
    if issubclass(kind, dict):  # a TypedDict has no bases but its annotations, the very same objects
        hint = _annotations(kind).get(name)
        return [owner for owner in classes if owner is kind or _annotations(owner).get(name) is hint][-1]
    return next((owner for owner in kind.__mro__ if name in _annotations(owner)), kind)


def _annotations(kind: type) -> Mapping[str, object]:
    """Those that the class itself has."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(kind, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(kind)
