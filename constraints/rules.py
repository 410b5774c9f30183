"""Rules: named parts of a constraint that may call each other, for what nests without a bound."""

from __future__ import annotations

from collections.abc import Sequence

from .._core import Language
from .._core import rules as _native_rules
from .constraint import Constraint, Limits, native_limits

Node = int  # of a Rules object


class Rules:
    """Makes the bodies of rules out of constraints, operators and calls; the first rule is the one to begin with.

    Nodes are numbers and can be used any number of times; equal ones are made once. What is made is a push-down
    constraint where rules call themselves, and a regular one otherwise.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        """No rules yet; ``limits`` are those of the constraint that will be made."""
        self._limits = limits
        self._leaves: list[Language] = []
        self._nodes: list[tuple[str, list[int], int, int]] = []
        self._known: dict[object, Node] = {}
        self._names: list[str] = []
        self._bodies: list[Node | None] = []
        self.constraints: list[Constraint] = []  # that are leaves; their identity stays theirs

    def _node(self, kind: str, operands: Sequence[Node] = (), low: int = 0, high: int = 0) -> Node:
        key = (kind, tuple(operands), low, high)
        if key not in self._known:
            self._nodes.append((kind, list(operands), low, high))
            self._known[key] = len(self._nodes) - 1
        return self._known[key]

    def leaf(self, part: Constraint | str) -> Node:
        """The texts of a constraint, which is regular unless nothing is called, or one text."""
        key = part if isinstance(part, str) else id(part)
        if key not in self._known:
            if isinstance(part, str):
                self._leaves.append(Language.literal(part.encode()))
            else:
                self.constraints.append(part)
                self._leaves.append(part._native)
            self._known[key] = self._node("leaf", low=len(self._leaves) - 1)
        return self._known[key]

    def concat(self, *parts: Node | str) -> Node:
        """One of each part, in a row."""
        return self._node("concat", [self.leaf(p) if isinstance(p, str) else p for p in parts])

    def union(self, *parts: Node | str) -> Node:
        """Any one of the parts."""
        nodes = list(dict.fromkeys(self.leaf(p) if isinstance(p, str) else p for p in parts))
        return nodes[0] if len(nodes) == 1 else self._node("union", nodes)

    def optional(self, part: Node | str) -> Node:
        """The part or nothing."""
        return self.union(part, "")

    def repeat(self, part: Node, low: int = 0, high: int | None = None) -> Node:
        """Between low and high of the part in a row; None: any number from low on."""
        return self._node("repeat", [part], low, -1 if high is None else high)

    def rule(self, name: str) -> int:
        """A new rule, to be defined later; names are for error texts."""
        self._names.append(name)
        self._bodies.append(None)
        return len(self._names) - 1

    def define(self, rule: int, body: Node) -> None:
        """Say what a rule stands for."""
        self._bodies[rule] = body

    def call(self, rule: int) -> Node:
        """What a rule stands for, by its number."""
        return self._node("call", low=rule)

    def language(self) -> Language:
        """The language of the first rule. Raises ConstraintError for a rule that calls itself at once.

        Where nothing is called it is put together now, under the widest of the leaves' limits if there are no own ones.
        """
        bodies = [body for body in self._bodies if body is not None]
        if len(bodies) != len(self._bodies):
            missing = self._names[self._bodies.index(None)]
            raise ValueError(f"rules: expected every rule to be defined, got none for {missing}; call define first")
        native = native_limits(self._limits, "rules")
        return _native_rules(self._leaves, self._nodes, bodies, self._names, native)
