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
    bound: list[object] = []
    for variable in free_variables(annotation):
        if not _is_several(variable):
            bound.append(variables.get(variable, variable))
        else:
            known: Any = variables.get(variable, variable)  # of a variable for several, iteration gives its unpacking
            bound += known
    return annotation[tuple(bound)] if bound else annotation


def free_variables(annotation: Any) -> tuple[object, ...]:
    """The variables in an annotation."""
    if isinstance(annotation, typing.TypeVar):
        return (annotation,)
    if isinstance(annotation, dataclasses.InitVar):
        return free_variables(annotation.type)
    return tuple(getattr(annotation, "__parameters__", ())) if typing.get_origin(annotation) is not None else ()


def own_variables(kind: Any, arguments: tuple[object, ...]) -> dict[object, object]:
    """What the variables that a class or alias itself declares stand for, which nobody knows without arguments."""
    declared = getattr(kind, "__type_params__" if hasattr(kind, "__value__") else "__parameters__", ())
    several = next((i for i, variable in enumerate(declared) if _is_several(variable)), None)
    if several is not None and arguments:
        end = len(arguments) - (len(declared) - several - 1)
        arguments = (*arguments[:several], arguments[several:end], *arguments[end:])
    return dict(zip(declared, arguments, strict=False))


def _is_several(variable: object) -> bool:
    """Whether a variable stands for any number of types; Python 3.10 has no way to put them in."""
    return sys.version_info >= (3, 11) and type(variable).__name__ == "TypeVarTuple"


def bound_hints(kind: type, arguments: tuple[object, ...], hints: Mapping[str, object]) -> dict[str, object]:
    """Annotations of fields with what the variables stand for in the class that declares the field.

    Each class has variables of its own: the T of ``class B(A[list[T]], Generic[T])`` is not that of ``A``.
    """
    known = variables_by_class(kind, arguments)
    return {name: substituted(hint, known.get(_owner(kind, name, list(known)), {})) for name, hint in hints.items()}


def forgotten(kind: type, hints: Mapping[str, object]) -> str | None:
    """A key of a TypedDict whose variables may be bound by a class that Python has forgotten.

    ``typing.TypedDict`` keeps the bases of a class only where one of them has arguments before Python 3.12.
    """
    known = list(variables_by_class(kind, ()))
    for name, hint in hints.items():
        if free_variables(hint) and "__orig_bases__" not in _owner(kind, name, known).__dict__:
            return name
    return None


def variables_by_class(kind: type, arguments: tuple[object, ...]) -> dict[type, Variables]:
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
        hint = annotations_of(kind).get(name)
        return [owner for owner in classes if owner is kind or annotations_of(owner).get(name) is hint][-1]
    return next((owner for owner in kind.__mro__ if name in annotations_of(owner)), kind)


def declaring(kind: type) -> dict[str, type]:
    """The class that declares each key of a TypedDict."""
    known = list(variables_by_class(kind, ()))
    return {name: _owner(kind, name, known) for name in annotations_of(kind)}


def annotations_of(kind: Any) -> Mapping[str, object]:
    """Those that the class or function itself has, as they were written."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(kind, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(kind)
