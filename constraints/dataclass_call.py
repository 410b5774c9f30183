"""dataclass_call: constructor calls of a class, as Python expressions."""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from ..automata.errors import UnsupportedError
from .constraint import Limits, native_limits
from .typed_constraint import TypedConstraint

if TYPE_CHECKING:
    from .python_layout import Numbers, Order, Strings, Whitespace

T = TypeVar("T")


def dataclass_call(
    cls: type[T],
    *,
    whitespace: Whitespace = "flexible",
    strings: Strings = "any",
    numbers: Numbers = "canonical",
    order: Order = "fields",
    names: Mapping[str, object] | None = None,
    limits: Limits | None = None,
) -> TypedConstraint[T]:
    """The constructor calls of a class, as Python expressions; ``.parse(text)`` makes the instance, without ``eval``.

    ``cls``: a dataclass, NamedTuple or pydantic model (whose arguments are keywords). Arguments come in the order of
    the parameters, by position or keyword; those with a default may be left out. Their types: None, bool, int, float,
    str, bytes, Any (any literal), Literal, enumerations (``Color.RED``), unions, list, tuple, set, frozenset, dict and
    their abstract forms, TypedDict, and further classes of these kinds, which may contain themselves: that is a
    push-down constraint. Annotated bounds of ``annotated_types`` and pydantic's Field are enforced: on numbers, on
    lengths of texts and lists, and a Constraint on the text of a number. Those of floats hold for what is written and
    for what it is rounded to.

    ``whitespace``: "flexible" (as PEP 8 has it: a blank or a line break with any indentation after a comma, or none; a
    line break inside brackets, with a last comma if you like), "pep8" (on one line, as repr writes), "compact" (none)
    or "any" (what Python allows inside brackets, without comments). ``strings``: "any" (either quotes, all escapes but
    octal ones and names; control characters are escaped) or "canonical" (as repr writes them; characters from U+007F
    on raw or escaped). ``numbers``: of floats, "canonical" (as repr writes them, with any digits; or an int) or "any"
    spelling that JSON has, too. ``order``: of keyword arguments and of the keys of TypedDicts, "fields" or "any" (up to
    12 of them, else LimitError). ``names``: for annotations that are strings, what cannot be found in the module of the
    class or in the caller's local names.

    Every member is an expression that ``ast`` reads to the same values (where brackets are nested less than about 200
    deep, the limit of Python's parser). Of several types in a union the first that fits is taken, ints before floats.
    Raises UnsupportedError, with the place (``Order.items[0]``), for what cannot be enforced exactly: arbitrary
    classes, callables, unhashable members of sets; ConstraintError for annotations that cannot be resolved, TypeError
    for what is no class. ``report`` tells that a dict's keys may be written twice.
    """
    from .python_annotations import Annotations, has_call, shown
    from .python_layout import PythonLayout
    from .python_reader import read_expression
    from .python_writer import PythonWriter

    layout = PythonLayout(whitespace, strings, numbers, order).check("dataclass_call")
    native_limits(limits, "dataclass_call")
    kind = typing.get_origin(cls) or cls
    if not isinstance(kind, type):
        hint = "; pass its class" if dataclasses.is_dataclass(cls) else ""
        raise TypeError(f"dataclass_call: expected a class, got {cls!r:.60}{hint or '; pass a dataclass'}")
    annotations = Annotations("dataclass_call", names, sys._getframe(1).f_locals)
    if not has_call(kind):
        raise UnsupportedError(
            f"dataclass_call: expected a dataclass, NamedTuple or pydantic model, got {shown(cls)}; function_call "
            "takes calls of any class, json_schema documents of other types"
        )
    form = annotations.call(cls, kind, typing.get_args(cls))
    annotations.finish()
    texts = PythonWriter(layout, limits).constraint(form, f"dataclass_call({kind.__name__})")
    return TypedConstraint(texts, lambda text: read_expression(text, form), annotations.report)
