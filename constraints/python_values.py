"""Forms of the standard library's values that are written as calls: decimals, UUIDs, paths, dates and times."""

from __future__ import annotations

import ast
import datetime
import decimal
import pathlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .dates import Years, day_products
from .python_forms import Form, Reading, dotted_name, number_of

if TYPE_CHECKING:
    from .python_writer import PythonWriter
    from .rules import Node

_UTC = ("datetime.timezone.utc", "timezone.utc")
_DECIMAL = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:E[+-](?:0|[1-9][0-9]{0,5}))?"
_UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"


@dataclass(eq=False)
class ValueForm(Form):
    """Calls of one of the standard library's types by any of some names, with constants as arguments."""

    names: tuple[str, ...]
    kind: Callable[..., Any]
    arguments: Callable[[PythonWriter], Node]
    recursive = True

    @property
    def name(self) -> str:
        """For error texts."""
        return self.names[0]

    def write(self, writer: PythonWriter) -> Node:
        """The name, then arguments in parentheses."""
        return writer.rules.concat(
            writer.choice(self.names), "(", writer.opened, self.arguments(writer), writer.closing, ")"
        )

    def _value(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Call) or dotted_name(node.func) not in self.names:
            return None
        try:
            args = [_constant(argument) for argument in node.args]
            return self.kind(*args, **{str(k.arg): _constant(k.value) for k in node.keywords})
        except (ArithmeticError, TypeError, ValueError):
            return None

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """By name, and whether the type takes the arguments."""
        return self._value(node) is not None

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """What the type makes of the arguments."""
        return self._value(node)


def _constant(node: ast.expr) -> object:
    if dotted_name(node) in _UTC:
        return datetime.timezone.utc
    number = number_of(node)
    if number is not None:
        return number
    if not isinstance(node, ast.Constant):
        raise ValueError("expected a constant")
    return node.value


def _quoted(pattern: str) -> Callable[[PythonWriter], Node]:
    """Text without anything to escape, in the quotes that the layout allows."""

    def write(writer: PythonWriter) -> Node:
        quotes = "'" if writer.layout.strings == "canonical" else "'\""
        return writer.pattern("|".join(f"{q}{pattern}{q}" for q in quotes))

    return write


def _days(writer: PythonWriter) -> Node:
    rules, options = writer.rules, []
    made: dict[Years, Node] = {}
    for years, months, days in day_products(datetime.date.min, datetime.date.max):
        if years not in made:
            made[years] = rules.leaf(years.texts(padded=False))
        month, day = (writer.choice(map(str, numbers)) for numbers in (months, days))
        options.append(rules.concat(made[years], writer.comma, month, writer.comma, day))
    return rules.union(*options)


def _clock(writer: PythonWriter) -> Node:
    """Hour and minute, then maybe the second, then maybe the microsecond; maybe the fold, maybe UTC."""
    rules = writer.rules
    hour = writer.choice(map(str, range(24)))
    sixty = writer.choice(map(str, range(60)))
    zone = rules.concat(writer.comma, "tzinfo", writer.equals, writer.choice(_UTC))
    micro = rules.concat(writer.comma, writer.integer(0, 999_999))
    second = rules.concat(writer.comma, sixty, rules.optional(micro))
    fold = rules.concat(writer.comma, "fold", writer.equals, "1")
    ends = rules.union("", fold, zone, rules.concat(fold, zone), rules.concat(zone, fold))  # reprs have both orders
    return rules.concat(hour, writer.comma, sixty, rules.optional(second), ends)


def _moment(writer: PythonWriter) -> Node:
    return writer.rules.concat(_days(writer), writer.comma, _clock(writer))


def _span(writer: PythonWriter) -> Node:
    rules = writer.rules
    bounds = {"days": (-999_999_999, 999_999_999), "seconds": (0, 86_399), "microseconds": (0, 999_999)}
    entries = [
        (rules.concat(name, writer.equals, writer.integer(low, high)), True) for name, (low, high) in bounds.items()
    ]
    return rules.union("0", *writer.heads(entries, writer.tails(entries)))


def _qualified(kind: type) -> tuple[str, str]:
    return (f"datetime.{kind.__name__}", kind.__name__)


VALUE_FORMS: dict[type, Callable[[], ValueForm]] = {
    decimal.Decimal: lambda: ValueForm(("Decimal", "decimal.Decimal"), decimal.Decimal, _quoted(_DECIMAL)),
    uuid.UUID: lambda: ValueForm(("UUID", "uuid.UUID"), uuid.UUID, _quoted(_UUID)),
    pathlib.Path: lambda: ValueForm(
        tuple(dict.fromkeys(("Path", "pathlib.Path", type(pathlib.Path()).__name__))),
        pathlib.Path,
        lambda writer: writer.string_literal(),
    ),
    datetime.date: lambda: ValueForm(_qualified(datetime.date), datetime.date, _days),
    datetime.time: lambda: ValueForm(_qualified(datetime.time), datetime.time, _clock),
    datetime.datetime: lambda: ValueForm(_qualified(datetime.datetime), datetime.datetime, _moment),
    datetime.timedelta: lambda: ValueForm(_qualified(datetime.timedelta), datetime.timedelta, _span),
}
