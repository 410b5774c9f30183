"""Checks of arguments that many functions share: what was expected, what came, what to do."""

from __future__ import annotations

import math
import numbers
import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from .errors import ConstraintError, FstError

_MOST_TURNS = 2**32 - 1
_T = TypeVar("_T")


def checked_count(function: str, name: str, value: object) -> int:
    """A whole number as an int. Raises TypeError for anything else, text and fractions included."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{function}: expected {name} as an int, got {_shown(value)}; pass a whole number") from None


def checked_bounds(function: str, low: object, high: object) -> tuple[int, int | None]:
    """Two counts in order, the second of which may be None. Raises TypeError or ValueError for others."""
    least, most = checked_count(function, "low", low), None if high is None else checked_count(function, "high", high)
    if not 0 <= least <= (least if most is None else most) < _MOST_TURNS:
        raise ValueError(
            f"{function}: expected 0 <= low <= high < 2**32 - 1, got low={cut(least)}, high={cut(most)}; "
            "pass high=None for no bound"
        )
    return least, most


def checked_choice(function: str, name: str, given: object, allowed: Iterable[str | None]) -> Any:
    """One of some texts (None: may be left out). Raises ValueError for anything else."""
    values = list(allowed)
    if given is None and None in values:
        return None
    texts = [value for value in values if value is not None]
    if not isinstance(given, str) or given not in texts:
        quoted = [f'"{text}"' for text in texts]
        remedy = "leave it out" if None in values else "pass one of them"
        raise ValueError(
            f"{function}: expected {name} {', '.join(quoted[:-1])} or {quoted[-1]}, got {cut(given)}; {remedy}"
        )
    return given


def checked_flag(function: str, name: str, value: object) -> bool:
    """True or False. Raises TypeError for anything else."""
    if not isinstance(value, bool):
        raise TypeError(f"{function}: expected {name} True or False, got {_shown(value)}; pass a bool")
    return value


def checked_range(function: str, name: str, value: object, low: int, high: int | None = None) -> int:
    """A whole number between two others. Raises TypeError for anything else, ValueError outside of them.

    ``high`` None: of at least ``low``.
    """
    number = checked_count(function, name, value)
    if high is None:
        if number < low:
            raise ValueError(f"{function}: expected {name} >= {low}, got {cut(number)}; pass a larger one")
    elif not low <= number <= high:
        raise ValueError(f"{function}: expected {low} <= {name} <= {high}, got {cut(number)}; pass one between them")
    return number


def checked_number(function: str, name: str, value: object) -> float:
    """A real number, NaN and the infinite ones included, as a float. Raises TypeError for anything else."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{function}: expected {name} as a number, got {_shown(value)}; pass a float")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def checked_type(function: str, what: str, value: object, kind: type[_T], remedy: str) -> _T:
    """An object of a class. Raises TypeError for anything else."""
    if not isinstance(value, kind):
        raise TypeError(f"{function}: expected {what}, got {type(value).__name__}; {remedy}")
    return value


def checked_callable(function: str, what: str, value: object, remedy: str) -> None:
    """A function, or anything else that can be called. Raises TypeError for anything else."""
    if not callable(value):
        raise TypeError(f"{function}: expected {what}, got {type(value).__name__}; {remedy}")


def checked_method(function: str, what: str, value: object, method: str, remedy: str) -> None:
    """An object with a method of that name. Raises TypeError for anything else."""
    if not hasattr(value, method) or isinstance(value, type):
        raise TypeError(f"{function}: expected {what} with {method}, got {type(value).__name__}; {remedy}")


def checked_several(function: str, what: str, values: object, single: str = "") -> list[Any]:
    """The elements of an iterable that is no text. Raises TypeError for anything else.

    ``single``: what to do with a single text.
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        remedy = single if single and isinstance(values, (str, bytes)) else f"pass a list of {what}"
        got = f"one {type(values).__name__}" if isinstance(values, (str, bytes)) else _shown(values)
        raise TypeError(f"{function}: expected several {what}, got {got}; {remedy}")
    return list(values)


def checked_ids(function: str, token_ids: object, size: int | None = None) -> list[int]:
    """Token ids as ints. Raises TypeError for anything else, texts and fractions included.

    ``size``: of the vocabulary; ValueError for ids outside of it.
    """
    several = checked_several(function, "token ids", token_ids)
    if size is None:
        return [checked_count(function, "a token id", i) for i in several]
    return [checked_range(function, "a token id", i, 0, size - 1) for i in several]


def checked_mapping(function: str, name: str, value: object, example: str) -> Mapping[Any, Any]:
    """A mapping. Raises TypeError for anything else. ``example``: one that makes sense."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{function}: expected {name} as a mapping, got {_shown(value)}; pass {example}, for example")
    return value


def checked_name(function: str, value: object, remedy: str) -> str:
    """A str of at least one character. Raises TypeError for anything else, ConstraintError for an empty one."""
    if not isinstance(value, str):
        raise TypeError(f"{function}: expected the name as str, got {_shown(value)}; {remedy}")
    if not value:
        raise ConstraintError(f"{function}: expected a name of at least one character, got ''; {remedy}")
    return value


def encoded(function: str, text: str, remedy: str = "replace it or pass UTF-8 bytes") -> bytes:
    """The UTF-8 bytes of a text. Raises ValueError for one with a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{function}: expected Unicode text, got the lone surrogate {text[error.start]!r} at position "
            f"{error.start}; {remedy}"
        ) from None


def is_utf8(data: bytes) -> bool:
    """Whether bytes are Unicode text in UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def checked_text(function: str, name: str, value: object) -> str:
    """A str of Unicode text. Raises TypeError for anything else, ValueError for one with a lone surrogate."""
    if not isinstance(value, str):
        raise TypeError(f"{function}: expected {name} as str, got {_shown(value)}; pass a text")
    encoded(f"{function}: {name}", value, "replace it")
    return value


def checked_texts(function: str, what: str, values: object, single: str = "") -> list[str]:
    """The elements of an iterable of texts. Raises as `checked_several` and `checked_text` do."""
    return [
        checked_text(function, f"each of the {what}", each) for each in checked_several(function, what, values, single)
    ]


def checked_path(function: str, path: object) -> Path:
    """The path of a file. Raises TypeError for what is neither str nor os.PathLike, ValueError where it has a NUL."""
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str):
        raise TypeError(f"{function}: expected a path as str or os.PathLike, got {_shown(path)}; pass a file's name")
    if "\0" in name:
        raise ValueError(f"{function}: expected a path, got {cut(name)}; no file has a NUL in its name")
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise ValueError(f"{function}: expected a path, got {cut(name)}; no file has such a name") from error
    return Path(name)


def checked_semiring(value: object) -> Any:
    """The name of a semiring. Raises FstError for anything else."""
    if not isinstance(value, str) or value not in ("tropical", "log", "boolean"):
        raise FstError(f'Fst: unknown semiring {quoted(value)}; expected "tropical", "log" or "boolean"')
    return value


def quoted(value: object) -> str:
    """Show a value in an error, a text in double quotes."""
    return cut(value) if not isinstance(value, str) else f'"{cut(value)[1:-1]}"'


def _shown(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} {cut(value)}"


def cut(value: object) -> str:
    """Show a value in an error, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # an int that is too long for decimal digits
        text = f"a number of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= 40 else text[:37] + "..."
