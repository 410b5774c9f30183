"""Forms: how the values of a type are written as Python expressions, and read back."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .constraint import Constraint

if TYPE_CHECKING:
    from .python_writer import PythonWriter
    from .rules import Node


class Reading:
    """Remembers which expressions are of which forms, so that nested unions stay polynomial."""

    def __init__(self, text: str) -> None:
        """Nothing is known yet of the text."""
        self._known: dict[tuple[int, int], bool] = {}
        self._lines = text.encode().split(b"\n")

    def text_of(self, node: ast.expr) -> str:
        """How a part that stands on one line is written."""
        return self._lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()

    def matches(self, form: Form, node: ast.expr) -> bool:
        """Whether the form can write the expression, white space and spelling aside."""
        key = (id(form), id(node))
        if key not in self._known:
            self._known[key] = form.matches(node, self)
        return self._known[key]


class Form(ABC):
    """The values of one type as Python expressions. ``build`` is for expressions that match."""

    hashable = True  # whether the values can be members of a set and keys of a dict
    recursive = False  # whether it is written as a rule of its own

    @abstractmethod
    def write(self, writer: PythonWriter) -> Node:
        """All expressions of the form; of a recursive one the body of its rule."""

    @abstractmethod
    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """Whether the form can write the expression, white space and spelling aside."""

    @abstractmethod
    def build(self, node: ast.expr, reading: Reading) -> Any:
        """The value of an expression that matches."""

    def inner(self) -> Iterable[Form]:
        """The forms of what the values consist of, where that decides whether they are hashable."""
        return ()


def is_hashable(form: Form) -> bool:
    """Whether all values of the form are hashable, what they contain included."""
    seen: set[int] = set()
    todo = [form]
    while todo:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if not current.hashable:
            return False
        todo += current.inner()
    return True


def number_of(node: ast.expr) -> int | float | None:
    """The value of a number with or without a minus sign."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: int | float = node.value  # type: ignore[assignment]
        return value * sign
    return None


@dataclass(eq=False)
class IntForm(Form):
    """An int between bounds; ``within``: further constraints on its text."""

    low: int | None = None
    high: int | None = None
    multiple_of: int | None = None
    within: tuple[Constraint, ...] = ()

    def write(self, writer: PythonWriter) -> Node:
        """Digits with an optional minus sign."""
        return writer.integer(self.low, self.high, self.multiple_of, self.within)

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """Decided by type, bounds and text."""
        value = number_of(node)
        if type(value) is not int or (self.multiple_of and value % self.multiple_of):
            return False
        if not all(constraint.accepts(reading.text_of(node)) for constraint in self.within):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """An int."""
        return number_of(node)


@dataclass(eq=False)
class FloatForm(Form):
    """A finite float, or an int that stands for one; bounds are JSON numbers."""

    bounds: tuple[str, str] | None = None
    within: tuple[Constraint, ...] = ()
    _texts: Constraint | None = None  # all that was written

    def write(self, writer: PythonWriter) -> Node:
        """A decimal number."""
        self._texts = writer.real(self.bounds, self.within)
        return writer.rules.leaf(self._texts)

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """Decided by the number as it is written, before it is rounded."""
        if self._texts is None or number_of(node) is None:
            return False
        return self._texts.accepts(reading.text_of(node))

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """A float, also where an int was written."""
        value = number_of(node)
        return None if value is None else float(value)


@dataclass(eq=False)
class StringForm(Form):
    """A str or bytes literal of low to high characters or bytes."""

    kind: type[str] | type[bytes] = str
    low: int = 0
    high: int | None = None

    def write(self, writer: PythonWriter) -> Node:
        """A literal in quotes."""
        if self.kind is str:
            return writer.string_literal(self.low, self.high)
        return writer.bytes_literal(self.low, self.high)

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """Decided by type and length."""
        if not isinstance(node, ast.Constant) or not isinstance(node.value, self.kind):
            return False
        return self.low <= len(node.value) and (self.high is None or len(node.value) <= self.high)

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """The literal's value."""
        assert isinstance(node, ast.Constant)
        return node.value


@dataclass(eq=False)
class ConstantForm(Form):
    """Some of None, True, False, ints, strs and bytes."""

    values: tuple[object, ...]

    def write(self, writer: PythonWriter) -> Node:
        """All their spellings."""
        return writer.rules.union(*(writer.constant(value) for value in self.values))

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """By type and value."""
        value: object = number_of(node)
        if value is None:
            if not isinstance(node, ast.Constant):
                return False
            value = node.value
        return any(type(value) is type(v) and value == v for v in self.values)

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """The value."""
        value = number_of(node)
        if value is None:
            assert isinstance(node, ast.Constant)
            return node.value
        return value


@dataclass(eq=False)
class NamedForm(Form):
    """Members of an enumeration by dotted name, and of flags several joined by ``|``, or none as ``Flags(0)``."""

    members: dict[str, object]

    def write(self, writer: PythonWriter) -> Node:
        """Any of the names."""
        return writer.choice(self.members)

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """By name."""
        return _member_name(node) in self.members

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """The member."""
        return self.members[_member_name(node) or ""]


def _member_name(node: ast.expr) -> str | None:
    """The expression as ``members`` has it."""
    names: list[str] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        names.append(dotted_name(node.right) or "")
        node = node.left
    if names:
        return " | ".join([dotted_name(node) or "", *reversed(names)])
    if isinstance(node, ast.Call):
        return ast.unparse(node)
    return dotted_name(node)


def dotted_name(node: ast.expr) -> str | None:
    """``a.b.c`` or ``a[b]`` as text, None for other expressions."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node)
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


@dataclass(eq=False)
class ItemsForm(Form):
    """A list, tuple, set or frozenset of any number of items of one form."""

    kind: type
    item: Form
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        self.hashable = self.kind in (tuple, frozenset)

    def inner(self) -> Iterable[Form]:
        """Its items."""
        return (self.item,)

    def write(self, writer: PythonWriter) -> Node:
        """In the brackets of its type."""
        low, high, rules = self.low, self.high, writer.rules
        item = writer.form(self.item)
        written: list[Node] = []
        if self.kind is tuple:
            if low <= 1 and (high is None or high >= 1):
                written.append(rules.concat("(", writer.opened, item, ",", writer.after_comma, ")"))
            if high is None or high >= 2:
                written.append(writer.bracketed("(", writer.items(item, max(low, 2), high), ")"))
        elif high is None or high >= 1:
            opening, closing = ("[", "]") if self.kind is list else ("{", "}")
            nonempty = writer.bracketed(opening, writer.items(item, low, high), closing)
            if self.kind is frozenset:
                of_list = writer.bracketed("[", writer.items(item, low, high), "]")
                nonempty = rules.concat("frozenset(", rules.union(nonempty, of_list), ")")
            written.append(nonempty)
        if low == 0:
            empty = "[]" if self.kind is list else "()" if self.kind is tuple else f"{self.kind.__name__}()"
            written.append(rules.leaf(empty))
        return rules.union(*written)

    def _items(self, node: ast.expr) -> list[ast.expr] | None:
        if self.kind is list:
            return node.elts if isinstance(node, ast.List) else None
        if self.kind is tuple:
            return node.elts if isinstance(node, ast.Tuple) else None
        if isinstance(node, ast.Set) and self.kind is set:
            return node.elts
        if not isinstance(node, ast.Call) or dotted_name(node.func) != self.kind.__name__ or node.keywords:
            return None
        if not node.args:
            return []
        only = node.args[0]
        if self.kind is set or len(node.args) != 1 or not isinstance(only, (ast.Set, ast.List)):
            return None
        return only.elts

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """By brackets, number and items."""
        items = self._items(node)
        if items is None or len(items) < self.low or (self.high is not None and len(items) > self.high):
            return False
        return all(reading.matches(self.item, item) for item in items)

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """A value of its type."""
        return self.kind(self.item.build(item, reading) for item in self._items(node) or ())


@dataclass(eq=False)
class TupleForm(Form):
    """A tuple with a form for each item."""

    items: tuple[Form, ...]

    def inner(self) -> Iterable[Form]:
        """Its items."""
        return self.items

    def write(self, writer: PythonWriter) -> Node:
        """In parentheses, with a comma after a single item."""
        if not self.items:
            return writer.rules.leaf("()")
        parts = [writer.form(item) for item in self.items]
        if len(parts) == 1:
            return writer.rules.concat("(", writer.opened, parts[0], ",", writer.after_comma, ")")
        row = parts[:1]
        for part in parts[1:]:
            row += [writer.comma, part]
        return writer.bracketed("(", writer.rules.concat(*row), ")")

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """Item by item."""
        if not isinstance(node, ast.Tuple) or len(node.elts) != len(self.items):
            return False
        return all(reading.matches(form, item) for form, item in zip(self.items, node.elts, strict=True))

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """A tuple."""
        assert isinstance(node, ast.Tuple)
        return tuple(form.build(item, reading) for form, item in zip(self.items, node.elts, strict=True))


@dataclass(eq=False)
class DictForm(Form):
    """A dict with keys of one form and values of another."""

    key: Form
    value: Form
    low: int = 0
    high: int | None = None
    hashable = False

    def write(self, writer: PythonWriter) -> Node:
        """In braces; nothing keeps keys from coming again."""
        rules = writer.rules
        written = [rules.leaf("{}")] if self.low == 0 else []
        if self.high is None or self.high >= 1:
            item = rules.concat(writer.form(self.key), writer.colon, writer.form(self.value))
            written.append(writer.bracketed("{", writer.items(item, self.low, self.high), "}"))
        return rules.union(*written)

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """Item by item."""
        if not isinstance(node, ast.Dict) or len(node.keys) < self.low:
            return False
        if self.high is not None and len(node.keys) > self.high:
            return False
        keys = all(key is not None and reading.matches(self.key, key) for key in node.keys)
        return keys and all(reading.matches(self.value, value) for value in node.values)

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """A dict; of equal keys the last one counts."""
        assert isinstance(node, ast.Dict)
        return {
            self.key.build(key, reading): self.value.build(value, reading)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }


@dataclass(eq=False)
class RecordForm(Form):
    """A dict with given str keys, in order; those that are not required may be left out."""

    fields: dict[str, tuple[Form, bool]] = field(default_factory=dict)  # by key: form, required
    name: str = ""
    hashable = False
    recursive = True

    def write(self, writer: PythonWriter) -> Node:
        """In braces."""
        rules = writer.rules
        entries = [
            (rules.concat(writer.constant(key), writer.colon, writer.form(form)), not required)
            for key, (form, required) in self.fields.items()
        ]
        written = [rules.leaf("{}")] if all(optional for _, optional in entries) else []
        if entries:
            shuffled = writer.shuffled(entries, self.name) if writer.layout.order == "any" else None
            heads = shuffled.heads() if shuffled else writer.heads(entries, writer.tails(entries))
            written.append(writer.bracketed("{", rules.union(*heads), "}"))
        return rules.union(*written)

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """Key by key."""
        if not isinstance(node, ast.Dict):
            return False
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if len(set(keys)) != len(keys) or not all(isinstance(key, str) and key in self.fields for key in keys):
            return False
        if any(required and name not in keys for name, (_, required) in self.fields.items()):
            return False
        return all(reading.matches(self.fields[str(k)][0], v) for k, v in zip(keys, node.values, strict=True))

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """A dict."""
        assert isinstance(node, ast.Dict)
        made = {}
        for key, value in zip(node.keys, node.values, strict=True):
            assert isinstance(key, ast.Constant)
            assert isinstance(key.value, str)
            made[key.value] = self.fields[key.value][0].build(value, reading)
        return made


@dataclass(eq=False)
class UnionForm(Form):
    """Any of several forms; an expression that several can write is read as the first of them."""

    members: Sequence[Form]

    def inner(self) -> Iterable[Form]:
        """All of them."""
        return self.members

    def write(self, writer: PythonWriter) -> Node:
        """Any of them."""
        return writer.rules.union(*(writer.form(member) for member in self.members))

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """Some of them."""
        return any(reading.matches(member, node) for member in self.members)

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """By the first that can write it."""
        member = next(member for member in self.members if reading.matches(member, node))
        return member.build(node, reading)


@dataclass(eq=False)
class NameForm(Form):
    """What a name stands for, to be known later: recursion through an alias."""

    name: str
    target: Form | None = None
    recursive = True

    def inner(self) -> Iterable[Form]:
        """What it stands for."""
        return () if self.target is None else (self.target,)

    def write(self, writer: PythonWriter) -> Node:
        """As what it stands for."""
        assert self.target is not None
        return writer.form(self.target)

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """As what it stands for."""
        return self.target is not None and reading.matches(self.target, node)

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """As what it stands for."""
        assert self.target is not None
        return self.target.build(node, reading)


@dataclass(eq=False)
class LiteralForm(Form):
    """Any literal: None, bools, numbers, strs, bytes, and containers of literals; ``keys``: hashable ones only."""

    keys: Form | None = None  # those of dicts and sets; None: this form has hashable literals only
    name: str = "a literal"
    recursive = True

    def __post_init__(self) -> None:
        self.hashable = self.keys is None
        self._parts: list[Form] = [
            ConstantForm((None, True, False)),
            FloatForm(),
            IntForm(),
            StringForm(str),
            StringForm(bytes),
            ItemsForm(tuple, self),
        ]
        if self.keys is not None:
            self._parts += [ItemsForm(list, self), ItemsForm(set, self.keys), DictForm(self.keys, self)]

    def write(self, writer: PythonWriter) -> Node:
        """All of them."""
        return writer.rules.union(*(part.write(writer) for part in self._parts))

    def matches(self, node: ast.expr, reading: Reading) -> bool:
        """What ``ast.literal_eval`` reads."""
        try:
            value = ast.literal_eval(node)
            if self.keys is None:
                hash(value)
        except (ValueError, TypeError):
            return False
        return True

    def build(self, node: ast.expr, reading: Reading) -> Any:
        """The value."""
        return ast.literal_eval(node)
