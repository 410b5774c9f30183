"""function_call: calls of a function, as Python expressions."""

from __future__ import annotations

import functools
import inspect
import keyword
import sys
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
    from .python_annotations import Annotations
    from .python_call import CallForm
    from .python_layout import PythonLayout
    from .python_reader import read_expression
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
    hints = annotations.hints(_annotated(function), called)
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
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def _annotated(function: Any) -> Any:
    """Where the annotations of the parameters are."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        return vars(function).get("__init__", function)
    if inspect.isroutine(function):
        return function
    return type(function).__call__
