"""What a class is called with: the signature of its constructor, and the annotations of that."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .python_variables import annotations_of, substituted, variables_by_class

Hints = Callable[[Any, tuple[object, ...]], Mapping[str, object]]


class Constructor(NamedTuple):
    """A signature, and the annotations of its parameters, resolved."""

    signature: inspect.Signature
    hints: dict[str, object]


def constructor(
    kind: type, arguments: tuple[object, ...], of_fields: Mapping[str, object], hints: Hints
) -> Constructor | str:
    """How ``kind`` is called; a text says why that is not known.

    Python calls the metaclass, which calls ``__new__`` and ``__init__`` with the same arguments. What dataclass and
    NamedTuple have written takes the fields: ``of_fields`` has their annotations. What the class has written itself
    takes what it says there, and what has no annotation is taken to be the field of that name. ``hints``: the
    resolved annotations of a function, with the type parameters of its class.
    """
    declared = _declared(kind)
    if declared is not None:
        annotated = {name: p.annotation for name, p in declared.parameters.items() if p.annotation is not p.empty}
        return Constructor(declared, {**annotated, **of_fields})
    makers = _makers(kind)
    if len(makers) == 2:
        new, init = makers
        if _takes_all(new):
            makers = [init]
        elif _takes_all(init) or _parameters(new) == _parameters(init):
            makers = [new]
        else:
            return (
                "__new__ and __init__ take different arguments, and a call has to suit both; give them the same "
                "parameters, or one of them *args and **kwargs"
            )
    if not makers:
        return Constructor(inspect.signature(kind), dict(of_fields))
    owner, maker = makers[0]
    signature = inspect.signature(types.MethodType(maker, kind))
    function: Any = inspect.unwrap(maker)
    own = [] if _is_made(owner, function, list(signature.parameters)) else annotations_of(function)
    found = dict(of_fields)
    if own:
        variables = variables_by_class(kind, arguments).get(owner, {})
        resolved = hints(function, getattr(owner, "__type_params__", ()))
        found |= {name: substituted(resolved[name], variables) for name in own if name in resolved}
    return Constructor(signature, found)


def _is_made(owner: type, function: Any, parameters: list[str]) -> bool:
    """Whether dataclass or NamedTuple wrote a constructor, which takes the fields of its class then."""
    code = function.__code__
    if code.co_filename != "<string>":
        return False
    if "_fields" in owner.__dict__:
        return parameters == list(owner.__dict__["_fields"])
    if not getattr(owner.__dict__.get("__dataclass_params__"), "init", False):
        return False
    if not getattr(code, "co_qualname", "__create_fn__").startswith("__create_fn__"):
        return False
    return set(parameters) <= set(owner.__dict__["__dataclass_fields__"])


def _declared(kind: type) -> inspect.Signature | None:
    """``__signature__`` where no class before it has a constructor of its own: pydantic's dataclasses have one."""
    for owner in kind.__mro__:
        found = getattr(owner, "__signature__", None) if "__signature__" in owner.__dict__ else None
        if isinstance(found, inspect.Signature):
            return found
        if any(isinstance(_function(owner, name), types.FunctionType) for name in ("__new__", "__init__")):
            return None
    return None


def _makers(kind: type) -> list[tuple[type, Any]]:
    """What Python calls with the arguments, with the class that has it, as far as it is written in Python."""
    meta = next((owner for owner in inspect.getmro(type(kind)) if "__call__" in owner.__dict__), type)
    if isinstance(meta.__dict__["__call__"], types.FunctionType):
        return [(meta, meta.__dict__["__call__"])]
    found: list[tuple[type, Any]] = []
    for name in ("__new__", "__init__"):
        owner = next(owner for owner in kind.__mro__ if name in owner.__dict__)
        function = _function(owner, name)
        if isinstance(function, types.FunctionType):
            found.append((owner, function))
    return found


def _function(owner: type, name: str) -> object:
    found = owner.__dict__.get(name)
    return found.__func__ if isinstance(found, staticmethod) else found


def _parameters(maker: tuple[type, Any]) -> list[tuple[str, object, bool]]:
    """Without the first, which is the class or the instance."""
    parameters = list(inspect.signature(maker[1]).parameters.values())[1:]
    return [(p.name, p.kind, p.default is inspect.Parameter.empty) for p in parameters]


def _takes_all(maker: tuple[type, Any]) -> bool:
    """Whether it is written with ``*args`` and ``**kwargs`` alone."""
    kinds = [kind for _, kind, _ in _parameters(maker)]
    return kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]
