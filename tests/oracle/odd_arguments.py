"""Calls of a function with arguments that make no sense."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def refusals(
    called: Callable[..., Any], good: Sequence[Any], odd: Sequence[Any], *errors: type[Exception]
) -> Iterator[tuple[str, Any, str]]:
    """Calls with one argument at a time that is odd; of each call refused by one of the errors, the parameter's name,
    what it was given, and the error's text. Other errors are the caller's.

    ``good`` are arguments in order; parameters behind them have defaults, and are given by name.
    """
    for i, parameter in enumerate(inspect.signature(called).parameters.values()):
        for value in odd:
            given, named = list(good), {}
            if parameter.kind is parameter.VAR_POSITIONAL:
                given.append(value)
            elif i < len(good):
                given[i] = value
            else:
                named[parameter.name] = value
            try:
                called(*given, **named)
            except errors as error:
                yield parameter.name, value, str(error)
