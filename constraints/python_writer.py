"""PythonWriter: the parts of Python expressions as nodes of rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .._core import json_number, json_number_range
from ..automata.errors import LimitError
from .constraint import Constraint, Limits
from .literal import choice
from .numerals import LARGEST, real_texts
from .python_layout import SPACES, PythonLayout
from .python_literal import (
    BYTES_AS_REPR,
    BYTES_CHARACTERS,
    STRING_AS_REPR,
    STRING_CHARACTERS,
    any_literal,
    as_repr,
    repr_length,
    spellings,
)
from .regex import regex
from .rules import Node, Rules

if TYPE_CHECKING:
    from .python_forms import Form

MOST_SHUFFLED = 12  # arguments or keys in any order
CHAIN = 25  # arguments that one rule has
_MOST_DIGITS = 4300  # of an int that Python reads by default


class Shuffled:
    """Entries that may come in any order, each at most once: a rule for each set of those that have come."""

    def __init__(self, writer: PythonWriter, entries: Sequence[tuple[Node | None, bool]]) -> None:
        """Pairs of a node (None: it cannot be written) and whether it may be left out."""
        self._writer = writer
        self._entries = entries
        self._tails: dict[frozenset[int], Node | None] = {}

    def heads(self) -> list[Node]:
        """All of them, one at least, by the first that is written."""
        found = [self._from(i, frozenset()) for i in range(len(self._entries))]
        return [node for node in found if node is not None]

    def _from(self, i: int, written: frozenset[int]) -> Node | None:
        entry, tail = self._entries[i][0], self.tail(written | {i})
        return None if entry is None or tail is None else self._writer.rules.concat(entry, tail)

    def tail(self, written: frozenset[int]) -> Node | None:
        """Those that have not come, each after a comma; None where there is no way."""
        if written not in self._tails:
            rules, comma = self._writer.rules, self._writer.comma
            missing = [i for i in range(len(self._entries)) if i not in written]
            found = [node for node in (self._from(i, written) for i in missing) if node is not None]
            options = [rules.concat(comma, node) for node in found]
            if all(self._entries[i][1] for i in missing):
                options.append(rules.leaf(""))
            self._tails[written] = self._writer.as_rule(rules.union(*options)) if options else None
        return self._tails[written]


class PythonWriter:
    """Nodes for the parts of Python expressions in one layout; recursive forms become rules."""

    def __init__(self, layout: PythonLayout, limits: Limits | None = None) -> None:
        """Nothing is written yet."""
        self.layout = layout
        self.rules = Rules(limits)
        self._parts: dict[str, Constraint] = {}
        self._choices: dict[tuple[str, ...], Node] = {}
        self._forms: dict[int, Node] = {}
        self._todo: list[tuple[int, Form]] = []
        self._kept: list[Form] = []  # so that their identity stays theirs
        spaces = SPACES[layout.whitespace]
        self.opened = self.pattern(spaces.opened)
        self.comma = self.pattern(spaces.comma)
        self.closing = self.pattern(spaces.closing)
        self.equals = self.pattern(spaces.equals)
        self.colon = self.pattern(spaces.colon)
        self.after_comma = self.pattern(spaces.after_comma)

    def constraint(self, form: Form, source: str) -> Constraint:
        """All expressions of a form; the writer is done then."""
        start = self.rules.rule(source)
        self.rules.define(start, self.form(form))
        while self._todo:
            rule, waiting = self._todo.pop()
            self.rules.define(rule, waiting.write(self))
        return Constraint(self.rules.language(), source=source)

    def form(self, form: Form) -> Node:
        """All expressions of a form."""
        if id(form) not in self._forms:
            self._kept.append(form)
            if form.recursive:
                rule = self.rules.rule(getattr(form, "name", "") or type(form).__name__)
                self._forms[id(form)] = self.rules.call(rule)
                self._todo.append((rule, form))
            else:
                self._forms[id(form)] = form.write(self)
        return self._forms[id(form)]

    def as_rule(self, node: Node) -> Node:
        """The node as a rule of its own, so that what stands around it stays small."""
        rule = self.rules.rule("arguments")
        self.rules.define(rule, node)
        return self.rules.call(rule)

    def pattern(self, pattern: str) -> Node:
        """What a regular expression matches."""
        if pattern not in self._parts:
            self._parts[pattern] = regex(pattern)
        return self.rules.leaf(self._parts[pattern])

    def choice(self, texts: Iterable[str]) -> Node:
        """Any of some texts."""
        texts = tuple(texts)
        if len(texts) == 1:
            return self.rules.leaf(texts[0])
        if texts not in self._choices:
            self._choices[texts] = self.rules.leaf(choice(texts))
        return self._choices[texts]

    # ---- brackets
    def bracketed(self, opening: str, items: Node, closing: str) -> Node:
        """Items, at least one, in brackets."""
        return self.rules.concat(opening, self.opened, items, self.closing, closing)

    def items(self, item: Node, low: int, high: int | None) -> Node:
        """From low to high (one at least) of an item, with commas between."""
        more = self.rules.concat(self.comma, item)
        return self.rules.concat(item, self.rules.repeat(more, max(low, 1) - 1, None if high is None else high - 1))

    def tails(self, entries: Sequence[tuple[Node | None, bool]]) -> list[Node | None]:
        """By entry: that one and later ones, each after a comma; the last element: none of them.

        Entries are pairs of a node (None: it cannot be written) and whether it may be left out. None: there is no way.
        """
        rules = self.rules
        tail: Node | None = rules.leaf("")
        tails = [tail]
        for i in range(len(entries) - 1, -1, -1):
            entry, optional = entries[i]
            written = None if entry is None or tail is None else rules.concat(self.comma, entry, tail)
            options = [node for node in (written, tail if optional else None) if node is not None]
            tail = rules.union(*options) if options else None
            if tail is not None and i % CHAIN == CHAIN - 1:
                tail = self.as_rule(tail)
            tails.append(tail)
        return tails[::-1]

    def heads(self, entries: Sequence[tuple[Node | None, bool]], tails: Sequence[Node | None]) -> list[Node]:
        """Entries in a row, one at least, by the first of them that is written."""
        found = []
        for i, (entry, optional) in enumerate(entries):
            rest = tails[i + 1]
            if entry is not None and rest is not None:
                found.append(self.rules.concat(entry, rest))
            if not optional:
                break
        return found

    def shuffled(self, entries: Sequence[tuple[Node | None, bool]], name: str) -> Shuffled:
        """Entries in any order. Raises LimitError beyond MOST_SHUFFLED of them."""
        if len(entries) > MOST_SHUFFLED:
            raise LimitError(
                f'{name}: the limit keywords={MOST_SHUFFLED} of order="any" was reached by {len(entries)} of them, '
                'which need a rule for each subset; use order="fields"'
            )
        return Shuffled(self, entries)

    # ---- leaves
    def integer(
        self,
        low: int | None = None,
        high: int | None = None,
        multiple_of: int | None = None,
        within: Sequence[Constraint] = (),
    ) -> Node:
        """An int as repr writes it, of at most 4300 digits where there is no bound."""
        if low is None and high is None and multiple_of is None and not within:
            return self.pattern(f"0|-?[1-9][0-9]{{0,{_MOST_DIGITS - 1}}}")
        least, most = ("" if bound is None else str(bound) for bound in (low, high))
        texts = Constraint(json_number_range(least, most, False, False, True, True))
        if low is None or high is None:
            texts &= regex(f"-?[0-9]{{1,{_MOST_DIGITS}}}")
        if multiple_of is not None:
            texts &= Constraint(json_number("multiple", str(multiple_of), True, True))
        for constraint in within:
            texts &= constraint
        return self.rules.leaf(texts)

    def real(self, bounds: tuple[str, str] | None = None, within: Sequence[Constraint] = ()) -> Constraint:
        """A finite float, or an int in its place."""
        low, high = bounds or ("", "")
        name = f"float {low} {high}"
        if name not in self._parts:
            if self.layout.numbers == "canonical":
                self._parts[name] = real_texts(low, high)
            else:
                ends = (low or f"-{LARGEST}", high or LARGEST)
                self._parts[name] = Constraint(json_number_range(*ends, False, False, False, False))
        texts = self._parts[name]
        for constraint in within:
            texts &= constraint
        return texts

    def string_literal(self, low: int = 0, high: int | None = None) -> Node:
        """A str literal of low to high characters."""
        if self.layout.strings == "any":
            return self.pattern(any_literal(STRING_CHARACTERS, "", low, high))
        return self._repr_literal(STRING_AS_REPR, "", low, high)

    def bytes_literal(self, low: int = 0, high: int | None = None) -> Node:
        """A bytes literal of low to high bytes."""
        if self.layout.strings == "any":
            return self.pattern(any_literal(BYTES_CHARACTERS, "b", low, high))
        return self._repr_literal(BYTES_AS_REPR, "b", low, high)

    def _repr_literal(self, characters: tuple[str, str], prefix: str, low: int, high: int | None) -> Node:
        name = f"repr {prefix} {low} {high}"
        if name not in self._parts:
            texts = regex(as_repr(characters, prefix))
            if low > 0 or high is not None:
                texts &= regex(repr_length(characters, prefix, low, high))
            self._parts[name] = texts
        return self.rules.leaf(self._parts[name])

    def constant(self, value: object) -> Node:
        """All spellings of one None, bool, int, str or bytes."""
        if self.layout.strings == "canonical" or not isinstance(value, (str, bytes)):
            return self.rules.leaf(repr(value))
        return self.pattern(spellings(value))
