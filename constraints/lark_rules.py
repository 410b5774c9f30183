"""LarkRules: the rules that Lark's loader has read, multiplied out to plain BNF as Lark does, but bounded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..automata.errors import ConstraintError, LimitError
from .grammar_source import Place
from .regex import regex

if TYPE_CHECKING:
    from lark.lexer import Pattern
    from lark.load_grammar import Grammar

MOST_ALTERNATIVES = 100  # of one rule; beyond it, parts of the rule become rules of their own
MOST_TEMPLATES = 1000  # uses of templates with different arguments
MOST_REPEATS = 1_000_000
MOST_COPIES = 50  # of a repeated part in a row; more are made of blocks

PlaceOf = Callable[[str], Place | None]
_CALL = re.compile(r"\(\?(?:R|&|P>|[+-]?\d)")
WIDEST = 2**32 - 1  # characters of what has no bound
Width = tuple[int, int]
Form = tuple[int, ...]  # s >= 0: rule s; s < 0: terminal ~s


class LarkRules:
    """The rules and terminals of a loaded grammar.

    ``terminals``: names; ``declared``: those that are only declared; ``patterns`` and ``widths`` (at most so many
    characters): by name, those of anonymous strings and patterns included, which are named as Lark names them.
    ``rules``: names, templates as ``name{arguments}``; ``productions``: by rule; ``origins``: the written rule from
    which each was made; ``made_for``: of rules made for repetitions the offset of the repetition's operator, of those
    made for other parts -1; ``kept``, ``used``: the rules and terminals that Lark keeps.

    Linear in what Lark would make of the grammar, but for MOST_ALTERNATIVES. Raises ConstraintError for what Lark
    refuses, LimitError for templates that call themselves without end and for repetitions past MOST_REPEATS.
    """

    def __init__(self, grammar: Grammar, start: str, place: PlaceOf) -> None:
        self.place = place
        self.terminals: list[str] = []
        self.patterns: dict[str, Pattern] = {}
        self.widths: dict[str, int] = {}
        self.declared: set[str] = set()
        self.rules: list[str] = []
        self.origins: list[str] = []
        self.made_for: dict[int, int] = {}
        self.productions: list[list[Form]] = []
        self._terminal_numbers: dict[str, int] = {}
        self._rule_numbers: dict[str, int] = {}
        self._by_pattern: dict[Pattern, str] = {}
        self._literals: dict[str, tuple[Pattern, Width]] = {}
        self._anonymous = 0
        self._operator = -1  # where the operator of the repetition that is read stands
        self._made: dict[tuple[object, ...], int] = {}
        self._trees = {str(name): (parameters, tree) for name, parameters, tree, _ in grammar.rule_defs}
        self._read_terminals(grammar)
        self._work: list[tuple[int, Any, dict[str, int]]] = []
        self._templates = 0
        for name, (parameters, tree) in self._trees.items():
            if not parameters:
                self._work.append((self._rule(name), tree, {}))
        for rule, tree, bound in self._work:  # uses of templates come to its end meanwhile
            self._current = rule
            self._name(tree, bound)
            self.productions[rule] = self._alternatives(tree, bound)
        self._drop_unused(self._rule(start))
        self._check_templates(start)

    # ---- terminals
    def _read_terminals(self, grammar: Grammar) -> None:
        for name, (tree, _) in grammar.term_defs:
            if tree is None:
                self.declared.add(str(name))
                continue
            pattern, width = self._pattern(tree)
            if not pattern.value:
                raise ConstraintError(f"grammar: {self.place(str(name))}: terminal {name} is empty; write its text")
            self.patterns[str(name)] = pattern
            self.widths[str(name)] = width[1]
            self._by_pattern[pattern] = str(name)

    def _pattern(self, tree: Any) -> tuple[Pattern, Width]:
        """A terminal's tree as one pattern, as Lark joins it, and its width, which Lark would parse it for."""
        from lark.lexer import PatternRE, PatternStr

        kind, children = tree.data, tree.children
        if kind == "literal":
            return self._literal(children[0])
        if kind == "range":
            return range_pattern(tree), (1, 1)
        if kind == "alias":
            raise ConstraintError("grammar: aliases (->) stand in rules, not in terminals; leave it out")
        if kind == "template_usage":
            raise ConstraintError(
                f"grammar: {self.place(str(children[0].name))}: the template {children[0].name} stands inside of a "
                "terminal; terminals are made of terminals: write what it stands for"
            )
        parts = [self._pattern(child) for child in children if hasattr(child, "data")]
        if kind in ("expr", "maybe"):
            (inner, (least, most)), operator = parts[0], [str(c) for c in children[1:]] or ["?"]
            low, high = bounds(operator)
            text = operator[0] if operator[0] != "~" else f"{{{low}}}" if low == high else f"{{{low},{high}}}"
            width = (least * low, WIDEST if high is None else min(most * high, WIDEST))
            return PatternRE(f"(?:{inner.to_regexp()}){text}", inner.flags), width
        if len(parts) == 1:
            return parts[0]
        if kind == "expansions":  # wide ones first, as Lark has them
            parts.sort(key=lambda p: (-p[1][1], -p[1][0], -len(p[0].value)))
            text = f"(?:{'|'.join(pattern.to_regexp() for pattern, _ in parts)})"
            return PatternRE(text, ()), (min(w[0] for _, w in parts), max(w[1] for _, w in parts))
        if not parts:
            return PatternStr(""), (0, 0)
        text = "".join(pattern.to_regexp() for pattern, _ in parts)
        return PatternRE(text, ()), (sum(w[0] for _, w in parts), min(sum(w[1] for _, w in parts), WIDEST))

    def _literal(self, token: Any) -> tuple[Pattern, Width]:
        key = str(token)
        if key not in self._literals:
            pattern = literal_pattern(token)
            check_calls(pattern.value)
            self._literals[key] = pattern, (pattern.min_width, min(pattern.max_width, WIDEST))
        return self._literals[key]

    def _terminal(self, name: str) -> int:
        if name not in self._terminal_numbers:
            self._terminal_numbers[name] = len(self.terminals)
            self.terminals.append(name)
        return ~self._terminal_numbers[name]

    def _anonymous_terminal(self, pattern: Pattern, width: Width) -> int:
        """A string or pattern in a rule, named as Lark does."""
        from lark.lexer import PatternStr
        from lark.load_grammar import _TERMINAL_NAMES
        from lark.utils import is_id_continue, is_id_start

        name = self._by_pattern.get(pattern)
        if name is None and isinstance(pattern, PatternStr):
            text = pattern.value
            name = _TERMINAL_NAMES.get(text)
            if name is None and is_id_continue(text) and is_id_start(text[0]):
                name = text.upper()
            if name in self.patterns or name in self.declared:
                name = None
        if name is None:
            name = f"__ANON_{self._anonymous}"
            self._anonymous += 1
        if name not in self.patterns:
            self.patterns[name] = pattern
            self.widths[name] = width[1]
            self._by_pattern[pattern] = name
        return self._terminal(name)

    # ---- rules
    def _name(self, tree: Any, bound: dict[str, int]) -> None:
        """Name strings and patterns, then uses of templates, as Lark does: from the innermost groups outwards."""
        nodes = list(tree.iter_subtrees())
        for kinds in (("literal", "range"), ("template_usage",)):
            for node in nodes:
                if node.data in kinds:
                    self._value(node, bound)

    def _rule(self, name: str, origin: str | None = None) -> int:
        if name not in self._rule_numbers:
            self._rule_numbers[name] = len(self.rules)
            self.rules.append(name)
            self.origins.append(origin if origin is not None else name)
            self.productions.append([])
        return self._rule_numbers[name]

    def _alternatives(self, node: Any, bound: dict[str, int]) -> list[Form]:
        """The alternatives of a tree, in Lark's order, each once."""
        kind = node.data
        if kind == "value":
            return [(self._value(node.children[0], bound),)]
        if kind == "expansion":
            return self._sequence(node.children, bound)
        if kind == "alias":
            return self._alternatives(node.children[0], bound)
        if kind == "expr":
            forms = self._alternatives(node.children[0], bound)
            self._operator = getattr(node.children[1], "start_pos", None) or -1
            found = self._repeat(forms, [str(c) for c in node.children[1:]])
            self._operator = -1
            return found
        found = [form for child in node.children for form in self._alternatives(child, bound)]
        if kind == "maybe":
            found.append(())
        return list(dict.fromkeys(found))

    def _sequence(self, children: list[Any], bound: dict[str, int]) -> list[Form]:
        found: list[list[int]] = [[]]
        for child in children:
            more = self._alternatives(child, bound)
            if len(found) * len(more) > MOST_ALTERNATIVES:
                more = [(self._part(more),)]
            if len(more) == 1:
                for form in found:
                    form += more[0]
            else:
                found = [[*form, *other] for form in found for other in more]
        return list(dict.fromkeys(map(tuple, found)))

    def _value(self, item: Any, bound: dict[str, int]) -> int:
        kind = getattr(item, "data", None)
        if kind is None:
            name = str(item.name)
            if name in bound:
                return bound[name]
            return self._terminal(name) if item.is_term else self._rule(name)
        if kind == "literal":
            return self._anonymous_terminal(*self._literal(item.children[0]))
        if kind == "template_usage":
            return self._template(item, bound)
        if kind == "range":
            return self._anonymous_terminal(range_pattern(item), (1, 1))
        return self._value(item.children[0], bound)

    def _template(self, item: Any, bound: dict[str, int]) -> int:
        head = str(item.children[0].name)
        if head in bound:
            head = self._passed_template(head, bound[head], len(item.children) - 1)
        arguments = [self._value(child, bound) for child in item.children[1:]]
        name = f"{head}{{{','.join(self.rules[a] if a >= 0 else self.terminals[~a] for a in arguments)}}}"
        if name not in self._rule_numbers:
            parameters, tree = self._trees[head]
            self._templates += 1
            if self._templates > MOST_TEMPLATES or len(name) > 10_000:
                raise LimitError(
                    f"grammar: {self.place(head)}: the limit templates={MOST_TEMPLATES} was reached (uses of templates "
                    f"with different arguments), at {head}: a template that calls itself must not make its arguments "
                    "longer"
                )
            self._work.append((self._rule(name, head), tree, dict(zip(map(str, parameters), arguments, strict=True))))
        return self._rule_numbers[name]

    def _passed_template(self, parameter: str, passed: int, arguments: int) -> str:
        """The template that was passed for a parameter which is used as one."""
        name = self.rules[passed] if passed >= 0 else self.terminals[~passed]
        parameters = self._trees[name][0] if name in self._trees else ()
        if passed < 0 or len(parameters) != arguments:
            what = f"takes {len(parameters)}" if parameters else "is no template"
            current = self.rules[self._current]
            raise ConstraintError(
                f"grammar: {self.place(self.origins[self._current])}: {current} passes {arguments} argument"
                f"{'s' * (arguments != 1)} to its parameter {parameter}, here {name}, which {what}; pass a template "
                "that takes as many"
            )
        return name

    def _make(self, kind: str, key: tuple[object, ...], forms: Callable[[int], list[Form]]) -> int:
        """A rule that was not written, made once for equal keys."""
        key = (kind, *key)
        if key not in self._made:
            origin = self.origins[self._current]
            number = self._rule(f"__{self.rules[self._current]}_{kind}_{len(self._made)}", origin)
            self._made[key] = number
            self.made_for[number] = self._operator if kind != "part" else -1
            self.productions[number] = forms(number)
        return self._made[key]

    def _part(self, forms: list[Form]) -> int:
        return self._make("part", tuple(forms), lambda _: forms)

    def _repeat(self, forms: list[Form], operator: list[str]) -> list[Form]:
        """``x?``, ``x*``, ``x+``, ``x~n`` and ``x~n..m``."""
        if operator[0] == "?":
            return list(dict.fromkeys([*forms, ()]))
        if operator[0] in "*+":
            plus = self._make(
                "plus" if operator[0] == "+" else "star",
                tuple(forms),
                lambda number: list(dict.fromkeys([*forms, *((number, *form) for form in forms)])),
            )
            return [(plus,)] if operator[0] == "+" else [(plus,), ()]
        low, high = bounds(operator)
        assert high is not None
        if high > MOST_REPEATS:
            raise LimitError(
                f"grammar: {self.place(self.origins[self._current])}: the limit repeats={MOST_REPEATS} was "
                "reached: nest repetitions"
            )
        if high < MOST_COPIES and sum(min(len(forms) ** n, 10**6) for n in range(low, high + 1)) <= MOST_ALTERNATIVES:
            found: list[Form] = []
            power: list[Form] = [()]
            for n in range(high + 1):
                if n >= low:
                    found += power
                power = [a + b for a in power for b in forms]
            return list(dict.fromkeys(found))
        unit = forms[0] if len(forms) == 1 else (self._part(forms),)
        return [self._exactly(unit, low) + self._at_most(unit, high - low)]

    def _exactly(self, unit: Form, n: int) -> Form:
        if n <= MOST_COPIES:
            return unit * n
        half = self._make("times", (unit, n // 2), lambda _: [self._exactly(unit, n // 2)])
        return (half, half) + unit * (n % 2)

    def _at_most(self, unit: Form, n: int) -> Form:
        """Between 0 and n units: a chain of rules, or for large n pairs of units and at most one more."""
        if n == 0:
            return ()
        if n > MOST_COPIES and n % 2:
            pair = (self._make("times", (unit, 2), lambda _: [unit * 2]),)
            return self._at_most(pair, n // 2) + self._at_most(unit, 1)
        if n > MOST_COPIES:
            more = unit + self._at_most(unit, n - 1)
            return (self._make("most", (unit, n), lambda _: [(), more]),)
        below: Form = ()
        for i in range(1, n + 1):
            below = (self._make("most", (unit, i), _optional(unit + below)),)
        return below

    def _drop_unused(self, start: int) -> None:
        """Leave out rules that no other rule calls, again and again, as Lark does; their terminals do not compete."""
        kept = {r for r in range(len(self.rules)) if self.productions[r]} | {start}
        while True:
            called = {s for r in kept for form in self.productions[r] for s in form if s >= 0 and s != r} | {start}
            if kept <= called:
                break
            kept &= called
        self.kept = [r for r in range(len(self.rules)) if r in kept]
        self.used = {self.terminals[~s] for r in kept for form in self.productions[r] for s in form if s < 0}

    def _check_templates(self, start: str) -> None:
        """Raise ConstraintError for templates that stand where rules do, without arguments."""
        if self._trees[start][0]:
            raise ConstraintError(
                f"grammar: {self.place(start)}: the start rule {start} is a template; begin with a rule that uses it, "
                f"{start}{{...}}"
            )
        for rule in self.kept:
            for s in (s for form in self.productions[rule] for s in form if s >= 0):
                name = self.rules[s]
                if name in self._trees and self._trees[name][0]:
                    raise ConstraintError(
                        f"grammar: {self.place(self.origins[rule])}: {self.origins[rule]} uses the template {name} "
                        f"({self.place(name)}) without arguments; write {name}{{...}}"
                    )


def _optional(form: Form) -> Callable[[int], list[Form]]:
    return lambda _: [(), form]


def literal_pattern(token: Any) -> Pattern:
    """The pattern of a string or regular expression of the grammar's text."""
    from lark.load_grammar import PrepareLiterals
    from lark.tree import Tree

    pattern: Pattern = PrepareLiterals().transform(Tree("literal", [token])).children[0]
    return pattern


def check_calls(pattern: str) -> None:
    """Raise ValueError for a pattern that calls itself or a group: Lark asks regex for its width, without bound."""
    if _CALL.search(pattern):
        try:
            regex(pattern)
        except ConstraintError:
            raise ValueError(pattern) from None


def range_pattern(tree: Any) -> Pattern:
    """The pattern of ``"a".."z"``."""
    from lark.load_grammar import PrepareLiterals
    from lark.tree import Tree

    pattern: Pattern = PrepareLiterals().transform(Tree("range", list(tree.children))).children[0]
    pattern.raw = "..".join(str(token) for token in tree.children)
    return pattern


def bounds(operator: list[str]) -> tuple[int, int | None]:
    """How often ``x?``, ``x*``, ``x+``, ``x~n`` and ``x~n..m`` repeat x."""
    if operator[0] != "~":
        return {"?": (0, 1), "*": (0, None), "+": (1, None)}[operator[0]]
    low, high = int(operator[1]), int(operator[-1])
    if not 0 <= low <= high:
        raise ConstraintError(f"grammar: expected 0 <= n <= m in ~n..m, got ~{low}..{high}; swap them")
    return low, high
