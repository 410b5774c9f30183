"""Right-hand sides as trees of parts, and their GrammarSource: what calls no rule becomes one terminal."""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._core import Language, read_notation
from ..automata.errors import ConstraintError, LimitError, UnsupportedError
from .constraint import Constraint, joined_parts
from .grammar_hints import hint
from .grammar_source import (
    GrammarSource,
    GrammarSyntax,
    Lexing,
    Place,
    Production,
    Rule,
    Terminal,
    nesting_limit,
    short_text,
)
from .literal import literal
from .part import Definition, Part, counted
from .regular_rules import with_regular_rules
from .rules import Rules

# (kind, begin, end, line, column, number of parts, low, high or -1) of a part; see read_notation.
Node = tuple[str, int, int, int, int, int, int, int]

MOST_COPIES = 100  # of a repeated part in a row; more are made of blocks
MOST_REPEATS = 1_000_000
MOST_WRITTEN = 1000  # characters of a part, to tell equal parts
MOST_INLINED = 10_000  # parts of the rules that one exception (A - B) reads

_LAST = 0x10FFFF
_WORDS = {
    "NAME": "a name", "STRING": "a string", "CLASS": "a class [...]", "ANY": ".", "TOKEN": "<token>", "_LPAR": "(",
    "RPAR": ")", "OPERATOR": "* + ?", "BOUNDS": "{n,m}", "_IS": "::=", "_OR": "|", "_NL": "the end of the line",
    "HEAD": "name ::=", "CHARACTER": "#xN", "MINUS": "-", "LPAR": "(", "VBAR": "|",
}  # fmt: skip
_OPERATORS = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}
# By notation: what has an end, by how it begins.
_ENDS = {
    "gbnf": {'"': ("string", '"'), "[": ("class", "]"), "<": ("token", ">")},
    "ebnf": {'"': ("string", '"'), "'": ("string", "'"), "[": ("class", "]"), "/*": ("comment", "*/")},
}


def characters(ranges: list[tuple[int, int]], negated: bool, text: str) -> Constraint:
    """One character of a class: code points, both ends included; surrogates belong to no class."""
    wanted = sorted(ranges)
    if negated:
        outside, position = [], 0
        for low, high in wanted:
            if low > position:
                outside.append((position, low - 1))
            position = max(position, high + 1)
        if position <= _LAST:
            outside.append((position, _LAST))
        wanted = outside
    planes = ((0, 0xD7FF), (0xE000, _LAST))
    parts = [(max(low, first), min(high, last)) for low, high in wanted for first, last in planes]
    return Constraint(Language.characters([(low, high) for low, high in parts if low <= high]), text, is_text=True)


class Reader(ABC):
    """What the readers of both notations share: how parts are put together, and constraints that are passed by name."""

    def __init__(self, text: str, constraints: Mapping[str, Constraint]) -> None:
        self.text = text
        self.constraints = constraints
        self.used: set[str] = set()
        for name, constraint in constraints.items():
            if not isinstance(constraint, Constraint):
                raise TypeError(
                    f"grammar: constraints[{name!r}]: expected a Constraint, got {type(constraint).__name__}; "
                    "make one with tokamata.regex, literal or choice"
                )

    def call(self, name: str, place: Place) -> Part:
        """A part that calls a rule, or a terminal of the constraint of that name."""
        if name in self.constraints:
            self.used.add(name)
            constraint = self.constraints[name]
            first = next(n for n, c in self.constraints.items() if c is constraint)  # one terminal, by whatever name
            return Part("terminal", first, place, constraint=constraint)
        return Part("rule", name, place, name=name)

    def repeat(self, part: Part, low: int, high: int | None, text: str) -> Part:
        """A repetition. Raises ConstraintError for bounds in the wrong order, LimitError for too large ones."""
        if high is not None and high < low:
            raise ConstraintError(f"grammar: {part.place}: expected n <= m in {{n,m}}, got {{{low},{high}}}; swap them")
        if max(low, high or 0) > MOST_REPEATS:
            raise LimitError(f"grammar: {part.place}: the limit repeats={MOST_REPEATS} was reached: nest repetitions")
        return Part("repeat", text, part.place, (part,), low=low, high=high)

    def ranges(self, found: list[tuple[int, bool]], token: str, place: Place) -> list[tuple[int, int]]:
        """The ranges of a class from its code points; a - that was not escaped joins its neighbours.

        Raises ConstraintError for an empty class and for a range that ends before it begins.
        """
        if not found:
            raise ConstraintError(f"grammar: {place}: {token} is an empty class; put characters between [ and ]")
        ranges: list[tuple[int, int]] = []
        i = 0
        while i < len(found):
            low = high = found[i][0]
            i += 1
            if i + 1 < len(found) and found[i] == (ord("-"), False):
                high = found[i + 1][0]
                i += 2
            if high < low:
                raise ConstraintError(
                    f"grammar: {place}: {token} has a range that ends before it begins; swap its ends"
                )
            ranges.append((low, high))
        return ranges

    @abstractmethod
    def leaf(self, kind: str, text: str, place: Place) -> Part:
        """The part of a string, a class or whatever else is one terminal."""

    def definitions(self, nodes: Iterable[Node]) -> list[Definition]:
        """The rules of a parsed grammar."""
        found: list[Definition] = []
        made: list[Part] = []
        leaves: dict[str, Part] = {}  # equal ones are one constraint
        calls: dict[str, Part] = {}  # the first of each rule
        for kind, begin, end, line, column, count, low, high in nodes:
            place = Place(line, column)
            text = self._written(begin, end) if count else self.text[begin:end]
            parts = tuple(made[len(made) - count :])
            del made[len(made) - count :]
            if kind == "rule":
                found.append(Definition(self.text[begin:end], place, parts[0]))
            elif kind == "choice":
                made.append(Part("choice", text, place, parts))
            elif kind == "sequence":
                made.append(counted(Part("sequence", text, place, parts)))
            elif kind == "group":
                made.append(parts[0].written_as(text))
            elif kind == "repeat":
                made.append(counted(self.repeat(parts[0], low, None if high < 0 else high, text)))
            elif kind == "exception":
                made.append(Part("except", text, place, parts))
            elif kind == "call":
                made.append(self.call(text, place))
                if made[-1].kind == "rule":
                    calls.setdefault(text, made[-1])
            else:
                if text not in leaves:
                    leaves[text] = self.leaf(kind, text, place)
                made.append(leaves[text].placed(place))
        names = {definition.name for definition in found}
        for call in calls.values():
            if call.name not in names:
                raise _undefined(call)
        return found

    def _written(self, begin: int, end: int) -> str:
        """The text of a part; of a long one its beginning and where it stands, as those around it are long, too."""
        text = self.text[begin : min(end, begin + MOST_WRITTEN)]
        return text if end <= begin + MOST_WRITTEN else f"{text}... ({begin} to {end})"

    def read(self, syntax: GrammarSyntax, start: str | None, lexer: Lexing) -> GrammarSource:
        """Parse the text and build its GrammarSource; ``start`` None is the first rule."""
        try:
            definitions = self.definitions(parse_notation(syntax, self.text))
            self.check_names(definitions)
            if start is None and not definitions:
                raise ConstraintError("grammar: expected a rule, name ::= ..., got none; write one")
            return to_source(definitions, syntax, start or definitions[0].name, lexer)
        except RecursionError:
            raise nesting_limit(self.text, syntax) from None

    def check_names(self, definitions: list[Definition]) -> None:
        """Raise ConstraintError for passed constraints that are not used, or defined by the grammar too."""
        for definition in definitions:
            if definition.name in self.constraints:
                raise ConstraintError(
                    f"grammar: {definition.place}: {definition.name} is defined here and in constraints=; "
                    "drop one of the two"
                )
        for name in sorted(set(self.constraints) - self.used):
            raise ConstraintError(
                f"grammar: constraints={{{name!r}: ...}} names nothing in the grammar; use {name} in a rule, "
                "or leave it out"
            )


def to_source(
    definitions: list[Definition],
    syntax: GrammarSyntax,
    start: str,
    lexer: Lexing,
) -> GrammarSource:
    """The GrammarSource of rules; without a lexer one in which those that are regular are terminals.

    Raises ConstraintError for rules that are defined twice, or missing, with line and column.
    """
    builder = _Builder(definitions, syntax, start, lexer)
    if lexer != "none":
        return builder.build()
    as_written = functools.cache(lambda: _Builder(definitions, syntax, start, lexer).build())
    if syntax == "ebnf":  # an exception between rules that call themselves is wrong, whoever calls it
        as_written()
    bodies = with_regular_rules(builder.bodies, builder.language)
    called = _reached(bodies, start)
    fewer = [replace(d, body=bodies[d.name]) for d in definitions if d.name in called]
    made = _Builder(fewer, syntax, start, lexer, builder.bodies).build()
    return replace(made, as_written=as_written)


def _reached(bodies: Mapping[str, Part], start: str) -> set[str]:
    """The rules that a rule calls, whatever calls what, and itself."""
    found, work = {start}, [start]

    def visit(part: Part) -> None:
        if part.kind == "rule" and part.name not in found:
            found.add(part.name)
            work.append(part.name)
        for inner in part.parts if part.calls else ():
            visit(inner)

    while work:
        visit(bodies[work.pop()])
    return found


class _Builder:
    def __init__(
        self,
        definitions: list[Definition],
        syntax: GrammarSyntax,
        start: str,
        lexer: Lexing,
        written: Mapping[str, Part] | None = None,
    ) -> None:
        """``written``: the bodies of more rules, which exceptions may call; by default those of ``definitions``."""
        self.syntax: GrammarSyntax = syntax
        self.lexer: Lexing = lexer
        self.bodies: dict[str, Part] = {}
        self.numbers: dict[str, int] = {}
        self.rules: list[Rule] = []
        self.productions: list[Production] = []
        self.terminals: list[Terminal] = []
        self.symbols: dict[tuple[object, ...], int] = {}  # of parts and repetitions that were made already
        for definition in definitions:
            if definition.name in self.bodies:
                raise ConstraintError(
                    f"grammar: {definition.place}: rule {definition.name} is defined more than once; "
                    f"join the definitions with |"
                )
            self.bodies[definition.name] = definition.body
            self.numbers[definition.name] = len(self.rules)
            self.rules.append(Rule(definition.name, definition.place))
        if start not in self.numbers:
            found = ", ".join(list(self.numbers)[:10]) or "none"
            raise ConstraintError(f"grammar: no rule {start!r} to start from; the rules are {found}; pass start=...")
        self.start = self.numbers[start]
        self.written = written or self.bodies
        self.in_runs = written is not None  # where rules that are regular are terminals

    def build(self) -> GrammarSource:
        for name, body in self.bodies.items():
            self._add(self.numbers[name], body)
        order = list(range(len(self.terminals)))
        if self.lexer != "none":  # strings before other terminals where terminals compete
            order.sort(key=lambda i: self.terminals[i].literal is None)
        new = {~old: ~i for i, old in enumerate(order)}
        return GrammarSource(
            syntax=self.syntax,
            lexer=self.lexer,
            terminals=tuple(self.terminals[i] for i in order),
            rules=tuple(self.rules),
            productions=tuple(
                Production(p.rule, tuple(new.get(s, s) for s in p.symbols), p.place) for p in self.productions
            ),
            start=self.start,
            operands=tuple(
                Production(self.numbers[name], tuple(self.numbers[c] for c in calls if c in self.numbers), body.place)
                for name, body in self.bodies.items()
                if (calls := _in_exceptions(body))
            ),
        )

    # ---- parts to symbols
    def _add(self, rule: int, body: Part) -> None:
        """The productions of a rule; alternatives without calls become one terminal together."""
        for alternative in self._alternatives(body):
            self.productions.append(Production(rule, tuple(self._sequence(alternative)), alternative.place))

    def _alternatives(self, body: Part) -> list[Part]:
        if body.kind != "choice" or not body.calls:
            return [body]
        flat: list[Part] = []
        for part in body.parts:
            flat += self._alternatives(part)
        together = [part for part in flat if not part.calls]
        rest = [part for part in flat if part.calls]
        if len(together) > 1:
            text = " | ".join(part.text for part in together)
            together = [Part("choice", text, together[0].place, tuple(together))]
        return together + rest

    def _sequence(self, part: Part) -> list[int]:
        """A part as symbols in a row; neighbours without calls become one terminal together."""
        symbols: list[int] = []
        run: list[Part] = []
        for item in [*self._items(part), None]:
            if item is not None and not item.calls:
                run.append(item)
                continue
            if run:
                joined = run[0]
                if len(run) > 1:
                    joined = Part("sequence", " ".join(p.text for p in run), run[0].place, tuple(run))
                symbols += self._terminal(joined)
                run = []
            if item is not None:
                symbols += self._symbols(item)
        return symbols

    def _items(self, part: Part) -> list[Part]:
        return [i for p in part.parts for i in self._items(p)] if part.kind == "sequence" else [part]

    def _symbols(self, part: Part) -> list[int]:
        if part.kind == "rule":
            return [self._called(part)]
        if part.kind == "choice":
            return [self._made(("part", part.text), part, [self._sequence(a) for a in self._alternatives(part)])]
        assert part.kind == "repeat", part
        if in_runs := self._in_runs(part):
            return in_runs
        inner = part.parts[0]
        single = self._sequence(inner) if inner.kind != "choice" else self._symbols(inner)
        return self._repeated(part, tuple(single))

    def _in_runs(self, part: Part) -> list[int] | None:
        """A repetition that reads what calls nothing in it in runs.

        (a | X)* is a* (X a*)*, and (a | X)+ is (a+ | X a*) (X a*)*: a lexeme for each character would be many steps for
        the masks. None for what is no such repetition.
        """
        if not self.in_runs or part.high is not None or part.low > 1 or part.parts[0].kind != "choice":
            return None
        alone, *rest = self._alternatives(part.parts[0])
        if alone.calls or not rest:
            return None

        def run(low: int, sign: str) -> Part:
            return Part("repeat", f"({alone.text}){sign}", alone.place, (alone,), low=low)

        others = f"({' | '.join(p.text for p in rest)})"
        called = rest[0] if len(rest) == 1 else Part("choice", others, rest[0].place, tuple(rest))
        more = run(0, "*")
        step = tuple(self._sequence(Part("sequence", f"{called.text} {more.text}", called.place, (called, more))))
        if not part.low:
            return [*self._terminal(more), self._star(part, step)]
        once = self._terminal(run(1, "+"))
        return [self._made(("runs", *once, *step), part, [once, list(step)]), self._star(part, step)]

    def _called(self, part: Part) -> int:
        number = self.numbers.get(part.name)
        if number is None:
            raise _undefined(part)
        return number

    def _made(self, key: tuple[object, ...], part: Part, right: list[list[int]]) -> int:
        """A rule that was not written."""
        if key not in self.symbols:
            self.symbols[key] = len(self.rules)
            self.rules.append(Rule(short_text(part.text), part.place, written=False))
            number = self.symbols[key]
            self.productions += [Production(number, tuple(symbols), part.place) for symbols in right]
        return self.symbols[key]

    def _repeated(self, part: Part, unit: tuple[int, ...]) -> list[int]:
        symbols = self._exactly(part, unit, part.low)
        if part.high is None:
            if part.low == 1 and len(symbols) == len(unit):
                return [self._plus(part, unit)]
            return [*symbols, self._star(part, unit)]
        if part.high == part.low:
            return symbols
        return symbols + self._at_most(part, unit, part.high - part.low)

    def _plus(self, part: Part, unit: tuple[int, ...]) -> int:
        key = ("plus", unit)
        if key not in self.symbols:
            number = self._made(key, part, [list(unit)])
            self.productions.append(Production(number, (number, *unit), part.place))
        return self.symbols[key]

    def _star(self, part: Part, unit: tuple[int, ...]) -> int:
        key = ("star", unit)
        if key not in self.symbols:
            number = self._made(key, part, [[]])
            self.productions.append(Production(number, (number, *unit), part.place))
        return self.symbols[key]

    def _exactly(self, part: Part, unit: tuple[int, ...], n: int) -> list[int]:
        if n <= MOST_COPIES:
            return list(unit) * n
        half = [self._made(("times", unit, n // 2), part, [self._exactly(part, unit, n // 2)])]
        return half * 2 + list(unit) * (n % 2)

    def _at_most(self, part: Part, unit: tuple[int, ...], n: int) -> list[int]:
        """Between 0 and n units: a chain of rules, or for large n pairs of units and at most one more."""
        if n == 0:
            return []
        if n > MOST_COPIES and n % 2:
            pair = (self._made(("times", unit, 2), part, [list(unit) * 2]),)
            return [*self._at_most(part, pair, n // 2), *self._at_most(part, unit, 1)]
        if n > MOST_COPIES:
            more = [*unit, *self._at_most(part, unit, n - 1)]
            return [self._made(("most", unit, n), part, [[], more])]
        below: list[int] = []
        for i in range(1, n + 1):
            below = [self._made(("most", unit, i), part, [[], [*unit, *below]])]
        return below

    # ---- terminals
    def _terminal(self, part: Part) -> list[int]:
        """The terminal of a part without calls; nothing for the empty text."""
        key = ("terminal", part.text)
        if key in self.symbols:
            return [self.symbols[key]]
        if part.kind == "sequence" and not part.parts:
            return []
        constraint = self.language(part)
        nullable = self.lexer != "none" and constraint.accepts(b"")
        if nullable:
            constraint = constraint - b""
        self.symbols[key] = ~len(self.terminals)
        self.terminals.append(Terminal(short_text(part.text), constraint, part.literal, place=part.place))
        if nullable:
            symbol = self.symbols.pop(key)
            self.symbols[key] = self._made(("optional", part.text), part, [[], [symbol]])
        return [self.symbols[key]]

    def language(self, part: Part, inside: tuple[str, ...] = (), spent: list[int] | None = None) -> Constraint:
        """The language of a part without calls, or inside an exception also with calls of rules that do not recur."""
        if part.kind == "terminal":
            assert part.constraint is not None
            return part.constraint
        if part.kind in ("rule", "except"):
            return self._inlined(part, inside, spent)
        rules = Rules()

        def node(part: Part) -> int:
            self._spend(part, spent)
            if part.kind in ("terminal", "rule", "except"):
                return rules.leaf(self.language(part, inside, spent))
            parts = [node(p) for p in part.parts]
            if part.kind == "repeat":
                return rules.repeat(parts[0], part.low, part.high)
            return rules.union(*parts) if part.kind == "choice" else rules.concat(*parts)

        rules.define(rules.rule(part.text), node(part))
        first, *others = rules.constraints or [literal(b"")]
        made = first._combined(rules.language(), "", *others)
        made._parts = joined_parts(rules.constraints)  # that there are some; they are not followed inside of grammars
        return made

    def _inlined(self, part: Part, inside: tuple[str, ...], spent: list[int] | None) -> Constraint:
        """The language of a call inside an exception, or of an exception."""
        count = spent or [0]
        if part.kind == "except":
            return self.language(part.parts[0], inside, count) - self.language(part.parts[1], inside, count)
        self._spend(part, count)
        if part.name not in self.written:
            self._called(part)
        if part.name in inside:
            raise UnsupportedError(
                f"grammar: {part.place}: {inside[0]} on a side of - calls itself; "
                "exceptions are exact between regular parts only"
            )
        return self.language(self.written[part.name], (*inside, part.name), count)

    @staticmethod
    def _spend(part: Part, spent: list[int] | None) -> None:
        if spent is None:
            return
        spent[0] += 1
        if spent[0] > MOST_INLINED:
            raise LimitError(
                f"grammar: {part.place}: the limit inlined={MOST_INLINED} was reached (parts of rules in one "
                "exception): use smaller rules"
            )


def _in_exceptions(body: Part) -> list[str]:
    """The rules that stand on the sides of ``-`` in a part."""
    found: dict[str, None] = {}
    below = [(body, False)]
    while below:
        part, inside = below.pop()
        if inside and part.kind == "rule":
            found[part.name] = None
        below.extend((p, inside or part.kind == "except") for p in part.parts)
    return list(found)


def _undefined(call: Part) -> ConstraintError:
    return ConstraintError(
        f"grammar: {call.place}: rule {call.name} is used but not defined; define it, "
        f"or pass constraints={{{call.name!r}: tokamata.regex(...)}}"
    )


@functools.cache
def _parser(name: str) -> Any:
    """The parser of a notation: a constant that takes 10 ms to make."""
    import lark

    notation = Path(__file__).with_name(f"{name}.lark").read_text(encoding="utf-8")
    return lark.Lark(notation, parser="lalr", propagate_positions=True, maybe_placeholders=False)


def parse_notation(name: GrammarSyntax, text: str) -> Iterable[Node]:
    """The parts of a grammar in GBNF or EBNF, parts before what they are parts of.

    Read natively; what is wrong, or rare, by lark. Raises ConstraintError with line and column, ImportError without
    ``lark``.
    """
    nodes = read_notation(text, name == "gbnf")
    return lark_nodes(name, text) if nodes is None else nodes


def lark_nodes(name: GrammarSyntax, text: str) -> list[Node]:
    """The same, by the Lark grammar of the notation (``name``.lark in this folder)."""
    nodes: list[Node] = []
    for rule in _lark_tree(name, text).children:
        head = rule.children[0]
        found = re.search(r"[A-Za-z0-9_.-]+(?=\s*(::=)?\Z)", head)
        assert found is not None
        place = Place(head.line, head.column + found.start())
        _add_nodes(text, rule.children[1], place, head.start_pos + found.start(), 0, nodes)
        begin, end = head.start_pos + found.start(), head.start_pos + found.end()
        nodes.append(("rule", begin, end, place.line, place.column, 1, 0, -1))
    return nodes


def _add_nodes(text: str, tree: Any, around: Place, begin: int, groups: int, nodes: list[Node]) -> None:
    """Add the nodes of a subtree; an empty one is where what it belongs to begins. ``groups``: how many it is in."""
    kind, children, meta = str(tree.data).removeprefix("nested_"), tree.children, tree.meta
    kind = "choice" if kind == "nested" else "repeat" if kind in ("operator", "bounds") else kind
    place, end, low, high = around, begin, 0, -1
    if not meta.empty:
        place, begin = Place(meta.line, meta.column), meta.start_pos
        written = text[begin : meta.end_pos]
        begin += len(written) - len(written.lstrip())
        end = begin + len(written.strip())
    if kind == "repeat":
        low, high = _bounds(children[1], groups)
    parts = [child for child in children if hasattr(child, "data")]
    for part in parts:
        _add_nodes(text, part, place, begin, groups + (kind == "group"), nodes)
    if kind in ("choice", "sequence") and len(parts) == 1:
        return
    nodes.append((kind, begin, end, place.line, place.column, len(parts), low, high))


def _bounds(written: Any, groups: int) -> tuple[int, int]:
    """The bounds of an operator, -1 for none; what stands before it may be a line's end only inside parentheses."""
    found = re.search(r"([*+?]|\{[^{}]*\})\Z", written)
    assert found is not None
    before, operator = written[: found.start()], found[0]
    if "\n" in before and not groups:
        place = Place(written.line + before.count("\n"), found.start() - before.rindex("\n"))
        raise ConstraintError(
            f"grammar: {place}: expected a rule (name ::= ...), got {operator!r}: the line's end ends the one "
            "before; write it on that line, or put parentheses around"
        )
    if operator in _OPERATORS:
        return _OPERATORS[operator]
    first, comma, last = "".join(operator[1:-1].split()).partition(",")
    if not first and not last:
        place = Place(written.line, written.column)
        raise ConstraintError(f"grammar: {place}: expected {{n}}, {{n,}}, {{,m}} or {{n,m}}; write one of these")
    low = int(first[:12] or 0)
    return low, int(last[:12]) if last else -1 if comma else low


def _lark_tree(name: GrammarSyntax, text: str) -> Any:
    try:
        import lark
    except ImportError:
        raise ImportError("grammar: grammars need the lark package; pip install 'tokamata[grammar]'") from None
    try:
        return _parser(name).parse(text)
    except lark.exceptions.UnexpectedInput as error:
        at = error.pos_in_stream if isinstance(error.pos_in_stream, int) else len(text)
        if getattr(getattr(error, "token", None), "type", "") == "$END":  # placed at the last token
            at = len(text)
        found = repr(text[at : at + 20].splitlines()[0]) if text[at : at + 1].strip() else "the end of the line"
        if at >= len(text.rstrip()):
            at, found = len(text.rstrip()), "the end"
        line = text.count("\n", 0, at) + 1
        place = Place(line, at - text.rfind("\n", 0, at))
        unread = isinstance(error, lark.exceptions.UnexpectedCharacters)
        opened = next((begin for begin in _ENDS[name] if unread and text.startswith(begin, at)), None)
        if opened:
            what, end = _ENDS[name][opened]
            raise ConstraintError(
                f"grammar: {place}: the {what} that begins here is not closed, got {found}; write {end} at its end"
            ) from None
        wanted = sorted(set(getattr(error, "accepts", None) or getattr(error, "allowed", None) or ()))
        expected = ", ".join(_WORDS.get(w, w) for w in wanted if w != "$END")
        remedy = hint(name, text, at)
        raise ConstraintError(
            f"grammar: {place}: expected {expected or 'another part'}, got {found}; {remedy}"
        ) from None
