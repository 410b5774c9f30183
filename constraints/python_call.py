"""Calls with the parameters of a signature, as forms: constructors and functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .python_forms import Form, Reading, dotted_name
from .python_writer import CHAIN

if TYPE_CHECKING:
    from .python_writer import PythonWriter
    from .rules import Node


@dataclass(frozen=True)
class Parameter:
    """A parameter: how it may be given, and whether it may be left out."""

    name: str
    form: Form
    positional: bool = True
    keyword: bool = True
    optional: bool = False
    also: tuple[str, ...] = ()  # further names that it has as a keyword

    @property
    def names(self) -> tuple[str, ...]:
        """All names that it has as a keyword."""
        return (self.name, *self.also)


@dataclass(eq=False)
class CallForm(Form):
    """A call by any of some dotted names; ``make`` gets the arguments as they were written.

    Arguments by position come first; keywords follow in the order of the parameters, those that have to be keywords
    where the class has them. ``more``: the form of further positional arguments (``*args``).
    """

    names: tuple[str, ...]
    make: Callable[..., Any]
    parameters: list[Parameter] = field(default_factory=list)
    more: Form | None = None
    hashed: bool = True  # whether equal values are found by their parts
    recursive = True

    @property
    def name(self) -> str:
        """For error texts."""
        return self.names[0]

    def inner(self) -> Iterable[Form]:
        """The arguments of what is hashed by its parts."""
        return [parameter.form for parameter in self.parameters] if self.hashed else ()

    # ---- writing
    def write(self, writer: PythonWriter) -> Node:
        """The name, then arguments in parentheses."""
        rules = writer.rules
        written = []
        if all(parameter.optional for parameter in self.parameters):
            written.append(rules.leaf("()"))
        if self.parameters or self.more:
            arguments = self._arguments(writer)
            if arguments is not None:
                written.append(writer.bracketed("(", arguments, ")"))
        return rules.concat(writer.choice(self.names), rules.union(*written))

    def _arguments(self, writer: PythonWriter) -> Node | None:
        """One argument at least; None where that cannot be."""
        rules, parameters = writer.rules, self.parameters
        values = [writer.form(parameter.form) for parameter in parameters]
        positions = [i for i, parameter in enumerate(parameters) if parameter.positional]
        keywords = [
            (rules.concat(writer.choice(p.names), writer.equals, value) if p.keyword else None, p.optional)
            for p, value in zip(parameters, values, strict=True)
        ]
        if writer.layout.order == "any":
            shuffled = writer.shuffled(keywords, f"{self.name}()")
            first = shuffled.heads()
        else:
            shuffled = None
            after = writer.tails(keywords)  # by parameter: keywords from there on, after an argument
            first = writer.heads(keywords, after)

        def keywords_after(given: list[int]) -> Node | None:
            if shuffled is not None:
                return shuffled.tail(frozenset(given))
            return self._keywords_after(writer, keywords, after, given)

        count = len(positions)
        tail = keywords_after(positions)
        if self.more is not None:
            more = writer.form(self.more)
            further = rules.repeat(rules.concat(writer.comma, more))
            begun = None if tail is None else rules.concat(more, further, tail)
            tail = None if tail is None else rules.concat(further, tail)
            if count == 0 and begun is not None:
                first.append(begun)
        for i in range(count - 1, -1, -1):  # tail: after so many arguments by position and one more
            if tail is not None:
                given = rules.concat(values[positions[i]], tail)
                if i == 0:
                    first.append(given)
                    break
                tail = rules.concat(writer.comma, given)
            options = [tail, keywords_after(positions[:i])]
            tail = self._union(writer, options)
            if tail is not None and i % CHAIN == 0:
                tail = writer.as_rule(tail)
        return rules.union(*first) if first else None

    def _keywords_after(
        self,
        writer: PythonWriter,
        keywords: list[tuple[Node | None, bool]],
        after: list[Node | None],
        given: list[int],
    ) -> Node | None:
        """Keywords, if any, after an argument, where the parameters with these numbers were given by position."""
        tail = after[given[-1] + 1] if given else after[0]
        for i in range(given[-1] - 1, -1, -1) if given else ():
            entry, optional = keywords[i]
            if not self.parameters[i].positional:
                written = None if tail is None or entry is None else writer.rules.concat(writer.comma, entry, tail)
                tail = self._union(writer, [written, tail if optional else None])
        return tail

    @staticmethod
    def _union(writer: PythonWriter, options: list[Node | None]) -> Node | None:
        nodes = [node for node in options if node is not None]
        return writer.rules.union(*nodes) if nodes else None

    # ---- reading
    def _given(self, node: ast.expr) -> list[tuple[str | None, Form, ast.expr]] | None:
        """The arguments with their forms; None for another call."""
        if not isinstance(node, ast.Call) or dotted_name(node.func) not in self.names:
            return None
        by_position = [p for p in self.parameters if p.positional]
        found: list[tuple[str | None, Form, ast.expr]] = []
        missing = {p.name: p for p in self.parameters}
        meant = {name: p.name for p in self.parameters for name in p.names}
        for i, argument in enumerate(node.args):
            if i < len(by_position):
                found.append((None, by_position[i].form, argument))
                del missing[by_position[i].name]
            elif self.more is not None:
                found.append((None, self.more, argument))
            else:
                return None
        for keyword in node.keywords:
            parameter = missing.pop(meant.get(keyword.arg, ""), None) if keyword.arg is not None else None
            if parameter is None or not parameter.keyword:
                return None
            found.append((keyword.arg, parameter.form, keyword.value))
        return found if all(p.optional for p in missing.values()) else None

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """By name and argument by argument."""
        given = self._given(node)
        return given is not None and all(reading.matches(form, value) for _, form, value in given)

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """Call what it is a call of."""
        args, kwargs = [], {}
        for name, form, value in self._given(node) or ():
            if name is None:
                args.append(form.build(value, reading))
            else:
                kwargs[name] = form.build(value, reading)
        return self.make(*args, **kwargs)
