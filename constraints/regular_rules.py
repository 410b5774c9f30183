"""regular_rules: rules whose texts are regular, as terminals of grammars that have no lexer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..automata.errors import LimitError
from .constraint import Constraint
from .part import Part

MOST_PARTS = 2000  # of a rule, those of the rules it calls included


def with_regular_rules(bodies: Mapping[str, Part], language: Callable[[Part], Constraint]) -> dict[str, Part]:
    r"""The bodies of the same rules, in which calls of regular rules are terminals.

    A rule is regular where it calls none but regular rules, and itself, if at all, only at the end or only at the
    beginning of what it reads: ``ws ::= ([ \t\n] ws)?`` is ``[ \t\n]*`` (Arden's rule). Rules of more than
    ``MOST_PARTS`` parts stay what they are, and so do those whose language is past a limit. ``language``: of a part
    that calls no rule.

    Linear in the parts of all rules, but for the languages.
    """
    return _RegularRules(bodies, language).bodies()


class _RegularRules:
    def __init__(self, bodies: Mapping[str, Part], language: Callable[[Part], Constraint]) -> None:
        self._written = bodies
        self._language = language
        self._terminals: dict[str, Part] = {}  # of the regular rules
        self._sizes: dict[str, int] = {}
        callers: dict[str, list[str]] = defaultdict(list)
        waits: dict[str, int] = {}  # for how many rules, to be known as regular
        for name, body in bodies.items():
            called = _called(body) - {name}
            waits[name] = len(called)
            for other in called:
                callers[other].append(name)
        ready = [name for name, count in waits.items() if not count]
        for name in ready:
            if not self._add(name):
                continue
            for caller in callers[name]:
                waits[caller] -= 1
                if not waits[caller]:
                    ready.append(caller)

    def bodies(self) -> dict[str, Part]:
        return {name: self._terminals.get(name) or self._filled(body) for name, body in self._written.items()}

    def _add(self, name: str) -> bool:
        """Make a rule that calls no other than regular ones a terminal; whether it is one."""
        body = self._written[name]
        size = self._size(body)
        without = _solved(self._filled(body), name) if size <= MOST_PARTS else None
        if without is None:
            return False
        try:
            constraint = self._language(without)
        except LimitError:
            return False
        self._sizes[name] = size
        self._terminals[name] = Part("terminal", name, body.place, constraint=constraint)
        return True

    def _filled(self, part: Part) -> Part:
        if not part.calls:
            return part
        if part.kind == "rule":
            return self._terminals.get(part.name, part)
        return replace(part, parts=tuple(self._filled(p) for p in part.parts))

    def _size(self, part: Part) -> int:
        return self._sizes.get(part.name, 1) if part.kind == "rule" else 1 + sum(map(self._size, part.parts))


def _called(part: Part) -> set[str]:
    if not part.calls:
        return set()
    return {part.name} if part.kind == "rule" else set().union(*map(_called, part.parts))


def _solved(body: Part, name: str) -> Part | None:
    """A body that calls no rule, with the texts of one that calls none but its own, or None."""
    if not body.calls:
        return body
    for last in (True, False):
        found = _linear(body, last)
        if found is None or not found[1]:  # another way, or no text at all
            continue
        more, ends = (_choice(name, body, parts) for parts in found)
        loop = Part("repeat", name, body.place, (more,))
        return Part("sequence", name, body.place, (loop, ends) if last else (ends, loop))
    return None


def _linear(part: Part, last: bool) -> tuple[list[Part], list[Part]] | None:
    """What stands before calls of the rule itself, and what calls none, where calls are last (else first) only."""
    if not part.calls:
        return [], [part]
    nothing = Part("sequence", "", part.place)
    if part.kind == "rule":
        return [nothing], []
    if part.kind == "choice":
        found = [_linear(p, last) for p in part.parts]
        if None in found:
            return None
        known = [f for f in found if f is not None]
        return [p for more, _ in known for p in more], [p for _, ends in known for p in ends]
    if part.kind == "repeat" and (part.low, part.high) == (0, 1):
        inner = _linear(part.parts[0], last)
        return None if inner is None else (inner[0], [*inner[1], nothing])
    if part.kind != "sequence":
        return None
    at, others = (part.parts[-1], part.parts[:-1]) if last else (part.parts[0], part.parts[1:])
    inner = _linear(at, last)
    if inner is None or any(p.calls for p in others):
        return None
    more, ends = (
        [Part("sequence", part.text, part.place, (*others, p) if last else (p, *others)) for p in parts]
        for parts in inner
    )
    return more, ends


def _choice(name: str, body: Part, parts: list[Part]) -> Part:
    return parts[0] if len(parts) == 1 else Part("choice", name, body.place, tuple(parts))
