r"""terminal_pattern: the lexemes that ``re.match`` picks with a pattern, as a language for the longest match.

A lexer that takes the longest match of a pattern's language agrees with ``re`` where the pattern has no lazy quantifier
and looks at nothing but its own match, up to alternatives of which an earlier one is a prefix of a later one (there the
longest match is taken). Patterns with lazy quantifiers, and those that look around at their ends, go through
:mod:`.preferred_match`.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..automata.errors import UnsupportedError
from .constraint import DEFAULT_LIMITS, Constraint
from .preferred_match import Guard, OutsideError, preferred_match
from .regex import regex

_PROPERTY = re.compile(r"\\[pP]\{[^}]*\}")
_DELICATE = re.compile(r"[*+?}]\?|\(\?[=!<]|\\[bBAZ]|(?<!\[)\^|\$")  # may be lazy or look around
_INSTEAD = {
    "before": r"leave out what looks there (^, \b, \B or a lookbehind), and let the rules say what may stand before",
    "after": "end the pattern with what must follow, or leave that to the rules",
}
_FIRST_STAND_IN = 0xF0000  # Supplementary Private Use Area-A


class TerminalPattern(NamedTuple):
    """The lexemes of a pattern; which of them have guards; a remark where they are not simply what it matches."""

    constraint: Constraint
    guards: tuple[Guard, ...] = ()
    remark: str = ""


def terminal_pattern(pattern: str, seconds: float = DEFAULT_LIMITS.seconds, lexed: bool = True) -> TerminalPattern:
    r"""The lexemes of a pattern in Python's syntax.

    Lazy quantifiers are exact: ``".*?"`` ends at the first quote, whatever follows. So is lookahead past the lexeme's
    end, ``$`` and ``\b`` there: where what follows has a say in whether a lexeme is one, the lexeme has a guard, unless
    the longest match decides alike, as in ``\w+\b`` or ``[a-z]+(?![a-z])``. Raises ConstraintError for a malformed
    pattern, UnsupportedError for one that is not regular or whose match depends on what stands before the lexeme
    (lookbehind and ``\b`` at its beginning, ``^``), and without a lexer, ``lexed=False``, or after it; LimitError where
    that takes more than ``seconds`` of processor time.
    """
    language = regex(pattern)
    if not _DELICATE.search(pattern):
        return TerminalPattern(language)
    tree, properties = _parse(pattern)
    if tree is None:
        return TerminalPattern(language)
    lazy, outside = _is_lazy(tree), _looks_outside(tree, 0, 0)
    if not lazy and not outside:
        return TerminalPattern(language)
    remark = "lazy quantifiers: the match that re prefers" if lazy else ""
    try:
        found, guards = preferred_match(tree, properties, seconds, guarded=lexed)
        if guards:
            remark = "lookahead past the lexeme: the match that re prefers"
        return TerminalPattern(found, guards, remark)
    except OutsideError as error:
        outside = str(error)
    except UnsupportedError:
        if lazy:
            raise
    raise UnsupportedError(f"what {pattern!r} matches depends on the text {outside} the lexeme; {_INSTEAD[outside]}")


def _parse(pattern: str) -> tuple[Any, dict[int, str]]:
    r"""The pattern as Python's own parser sees it, a character for each ``\p{...}``; None where it cannot read it."""
    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:
        import sre_parse as parser
    properties: dict[int, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        code = _FIRST_STAND_IN + len(properties)
        while chr(code) in pattern:
            code += 1
        properties[code] = match[0]
        return chr(code)

    try:
        return parser.parse(_PROPERTY.sub(stand_in, pattern)), properties
    except (re.error, OverflowError):
        return None, {}


def _name(item: Any) -> str:
    return str(item[0])


def _width(item: Any, most: bool) -> int:
    """The least or most characters of one item."""
    name, value = _name(item), item[1]
    if name in ("ASSERT", "ASSERT_NOT", "AT"):
        return 0
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return min(int(value[1 if most else 0]) * int(value[2].getwidth()[most]), 1 << 31)
    if name == "BRANCH":
        widths = [int(branch.getwidth()[most]) for branch in value[1]]
        return max(widths) if most else min(widths)
    if name == "SUBPATTERN":
        return int(value[3].getwidth()[most])
    if name == "ATOMIC_GROUP":
        return int(value.getwidth()[most])
    return 1


def _looks_outside(sequence: Any, before: int, after: int) -> str:
    """Whether an assertion looks "before" or "after" what surely belongs to the match; empty where none does."""
    items = list(sequence)
    widths = [_width(item, False) for item in items]
    for i, item in enumerate(items):
        name, value = _name(item), item[1]
        left, right = before + sum(widths[:i]), after + sum(widths[i + 1 :])
        found = ""
        if name in ("ASSERT", "ASSERT_NOT"):
            direction, body = value
            most = int(body.getwidth()[1])
            if direction > 0:
                found = "after" if most > right else _looks_outside(body, left, max(right - most, 0))
            else:
                found = "before" if most > left else _looks_outside(body, max(left - most, 0), right)
        elif name == "AT":
            kind = str(value)
            if kind in ("AT_BOUNDARY", "AT_NON_BOUNDARY"):
                found = "before" if left < 1 else "after" if right < 1 else ""
            else:
                found = "after" if "END" in kind else "before"
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            found = _looks_outside(value[2], left, right)
        elif name == "BRANCH":
            found = next((f for b in value[1] if (f := _looks_outside(b, left, right))), "")
        elif name == "SUBPATTERN":
            found = _looks_outside(value[3], left, right)
        elif name == "ATOMIC_GROUP":
            found = _looks_outside(value, left, right)
        if found:
            return found
    return ""


def _is_lazy(sequence: Any) -> bool:
    for item in sequence:
        name, value = _name(item), item[1]
        if name == "MIN_REPEAT":
            return True
        bodies: list[Any] = []
        if name in ("MAX_REPEAT", "POSSESSIVE_REPEAT"):
            bodies = [value[2]]
        elif name == "BRANCH":
            bodies = list(value[1])
        elif name == "SUBPATTERN":
            bodies = [value[3]]
        elif name == "ATOMIC_GROUP":
            bodies = [value]
        if any(_is_lazy(body) for body in bodies):
            return True
    return False
