"""Resolved annotations: texts in them are what they name."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

from .python_variables import annotations_of, declaring


def resolved_hints(owner: Any, local: Mapping[str, object]) -> dict[str, Any]:
    """The annotations of a class or function; ``local`` names come before those of the module. Raises as typing."""
    if sys.version_info < (3, 11) and isinstance(owner, type) and dataclasses.is_dataclass(owner):
        return _fields_before_311(owner, local)
    keyed = isinstance(owner, type) and issubclass(owner, dict) and hasattr(owner, "__total__")
    if keyed and any(_parameters(declarer) for declarer in declaring(owner).values()):
        return _keys(owner, local)
    if sys.version_info < (3, 13) and isinstance(owner, type) and any(map(_parameters, owner.__mro__)):
        return _classes_before_313(owner, local)
    return typing.get_type_hints(owner, localns=dict(local), include_extras=True)


def _fields_before_311(kind: type, local: Mapping[str, object]) -> dict[str, Any]:
    """Field by field: before Python 3.11 typing refuses texts that name InitVar or KW_ONLY."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        names = {**vars(sys.modules.get(base.__module__, typing)), **local}
        for name, annotation in inspect.get_annotations(base).items():
            value = eval(annotation, names) if isinstance(annotation, str) else annotation
            if value is typing.ClassVar or typing.get_origin(value) is typing.ClassVar:
                continue
            if isinstance(value, dataclasses.InitVar):
                found[name] = dataclasses.InitVar(_resolved(value.type, names))
            elif name in getattr(kind, "__dataclass_fields__", ()):
                found[name] = _resolved(value, names)
    return found


def _classes_before_313(kind: type, local: Mapping[str, object]) -> dict[str, Any]:
    """Class by class, each with its own type parameters, of which typing knows only in later Pythons."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        annotated = {"__module__": base.__module__, "__annotations__": vars(base).get("__annotations__", {})}
        names = {**local, **_parameters(base)}
        found |= typing.get_type_hints(type(base.__name__, (), annotated), localns=names, include_extras=True)
    return found


def _keys(kind: type, local: Mapping[str, object]) -> dict[str, Any]:
    """Key by key of a TypedDict: typing knows of no type parameters there, or only of those of the class itself."""
    found: dict[str, Any] = {}
    for name, declarer in declaring(kind).items():
        module = vars(sys.modules.get(declarer.__module__, typing))
        names = {**module, **local, declarer.__name__: declarer, **_parameters(declarer)}
        found[name] = _resolved(annotations_of(kind)[name], names)
    return found


def _parameters(declarer: Any) -> dict[str, object]:
    """What a type statement, or a class statement with brackets, declares in these."""
    return {parameter.__name__: parameter for parameter in getattr(declarer, "__type_params__", ())}


def _resolved(annotation: object, names: dict[str, object]) -> Any:
    owner = types.SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(owner, names, include_extras=True)["it"]


def scope_of(alias: Any) -> dict[str, object]:
    """What texts in a type statement may name: its module, itself, its parameters."""
    module = sys.modules.get(getattr(alias, "__module__", None) or "")
    return {**(vars(module) if module else {}), alias.__name__: alias, **_parameters(alias)}
