"""function_call: calls of a function, as Python expressions."""

from __future__ import annotations

import functools
import inspect
import keyword
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..automata.checks import checked_name, checked_several
from ..automata.errors import ConstraintError
from .constraint import Limits, native_limits
from .typed_constraint import TypedConstraint

if TYPE_CHECKING:
    from .python_layout import Numbers, Order, Strings, Whitespace

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def function_call(
    function: Callable[..., object],
    *,
    name: str | None = None,
    keywords: Iterable[str] | None = None,
    whitespace: Whitespace = "flexible",
    strings: Strings = "any",
    numbers: Numbers = "canonical",
    order: Order = "fields",
    names: Mapping[str, object] | None = None,
    limits: Limits | None = None,
) -> TypedConstraint[Arguments]:
    """The calls of a function that its signature allows; ``.parse(text)`` gives the arguments, without ``eval``.

    ``function``: anything with a signature; the first argument of a bound method is bound. Arguments stand as in
    :func:`tokamata.dataclass_call`, which tells about types, white space and the other options: by position or by
    keyword as the parameters have it, in their order; those with a default may be left out; a parameter without
    annotation takes any literal. ``*args`` takes any number. ``**kwargs`` takes the names of a TypedDict where it is
    annotated with ``Unpack[...]``, or those of ``keywords``, each at most once and in that order (``()``: none).
    ``name``: what the text calls the function, also with dots; by default its ``__name__``.

    ``.parse(text)`` is a pair ``(args, kwargs)``: ``function(*args, **kwargs)`` is the call. Errors are those of
    :func:`tokamata.dataclass_call`, with places like ``search(limit)``; ConstraintError for what has no signature.
    """
    from .python_annotations import Annotations, has_call
    from .python_call import CallForm
    from .python_constructor import constructor
    from .python_layout import PythonLayout
    from .python_reader import read_expression
    from .python_variables import bound_hints
    from .python_writer import PythonWriter

    layout = PythonLayout(whitespace, strings, numbers, order).check("function_call")
    if not callable(function):
        raise TypeError(f"function_call: expected a function, got {type(function).__name__}; pass the function itself")
    native_limits(limits, "function_call")
    called = name if name is not None else _name_of(function)
    if not isinstance(called, str):
        raise TypeError(
            f"function_call: expected name as str, got {type(called).__name__}; pass what the text calls it"
        )
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in called.split(".")):
        raise ConstraintError(f"function_call: expected a name that Python can write, got {called!r}; pass name=...")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise ConstraintError(
            f"function_call: expected a function with a signature, got {called}: {error}; wrap it into one of your own"
        ) from None
    annotations = Annotations("function_call", names, sys._getframe(1).f_locals)
    form = CallForm((called,), _arguments)
    hints: Mapping[str, object]
    inner = _inner(function)
    kind = typing.get_origin(inner) or inner
    if isinstance(kind, type):
        given = typing.get_args(inner)
        fields = bound_hints(kind, given, annotations.hints(kind, called)) if has_call(kind) else {}
        found = constructor(kind, given, fields, lambda made, parameters: annotations.hints(made, called, parameters))
        if isinstance(found, str):
            raise annotations.refused(called, kind, found)
        signature, hints = found.signature if inner is function else signature, found.hints
    else:
        hints = annotations.hints(inner if inspect.isroutine(inner) else type(inner).__call__, called)
    further = None if keywords is None else tuple(checked_several("function_call", "keywords", keywords))
    for word in further or ():
        checked_name("function_call", word, "pass names of keywords")
    form.parameters, form.more = annotations.parameters(signature, hints, f"{called}({{}})", further)
    annotations.finish()
    texts = PythonWriter(layout, limits).constraint(form, f"function_call({called})")
    return TypedConstraint(texts, lambda text: read_expression(text, form), annotations.report)


def _arguments(*args: Any, **kwargs: Any) -> Arguments:
    return args, kwargs


def _name_of(function: Any) -> str:
    function = _inner(function)
    return getattr(function, "__name__", type(function).__name__)


def _inner(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function
