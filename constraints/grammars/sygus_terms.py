"""The terms that the grammar of a SyGuS problem allows."""

from __future__ import annotations

import json
import re
from typing import Union

from ...automata.checks import checked_text
from ...automata.errors import ConstraintError, UnsupportedError

_TOKEN = re.compile(r'\s+|;[^\n]*|[()]|"(?:[^"]|"")*"|\|[^|]*\||[^\s()";|]+')
Expression = Union[str, "list[Expression]"]
Way = tuple[str | int, ...]  # texts and numbers of groups in a row


def sygus_terms(problem: str, function: str | None = None) -> str:
    """Return the grammar of a ``synth-fun`` in Lark's notation, ``lexer="none"``: its terms with single blanks.

    ``problem``: a SyGuS file (SyGuS-IF 1 or 2) or its ``synth-fun`` alone; ``function``: the name, needed where there
    are several. The rules are those of the problem, the start is ``Start`` or else the first. ``(Variable Sort)``
    stands for the parameters of that sort. Raises ConstraintError for a text that is no such problem, UnsupportedError
    for ``(Constant Sort)`` and for a synth-fun without a grammar. `sygus_constraint` makes a constraint of it at once.

    Source: SyGuS-IF 2.1, section 2.6.
    """
    start, groups = sygus_groups("sygus_terms", problem, function)
    lines = ["// lexer: none", f"start: rule_{start}"]
    for i, ways in enumerate(groups):
        written = [
            " ".join(f"rule_{part}" if isinstance(part, int) else json.dumps(part, ensure_ascii=False) for part in way)
            for way in ways
        ]
        lines.append(f"rule_{i}: " + " | ".join(written or [f"rule_{i}"]))  # without any term it derives nothing
    return "\n".join(lines) + "\n"


def sygus_groups(asked: str, problem: str, function: str | None) -> tuple[int, list[list[Way]]]:
    """Return the number of the start, and for each group its terms: texts and numbers of groups in a row.

    ``asked``: the function that errors name.
    """
    checked_text(asked, "a problem", problem)
    if function is not None:
        checked_text(asked, "function", function)
    found = [
        command
        for command in _read(asked, problem)
        if isinstance(command, list)
        and command[:1] == ["synth-fun"]
        and (function is None or command[1:2] == [function])
    ]
    if len(found) != 1:
        wanted = "one synth-fun" if function is None else f"one synth-fun {function}"
        raise ConstraintError(f"{asked}: expected {wanted}, got {len(found)}")
    _, name, parameters, *rest = [*found[0], "", ""][: max(3, len(found[0]))]
    if not isinstance(parameters, list) or any(not isinstance(p, list) or len(p) != 2 for p in parameters):
        raise ConstraintError(f"{asked}: {_written(name)}: expected parameters ((name sort)...), got none")
    if len(rest) < 2:
        raise UnsupportedError(f"{asked}: {_written(name)}: expected a grammar, got none: all terms are allowed")
    groups = rest[-1]  # SyGuS-IF 2 lists the non-terminals first
    if not isinstance(groups, list) or not all(
        isinstance(g, list) and len(g) == 3 and isinstance(g[2], list) for g in groups
    ):
        shown = _written(groups)[:60]
        raise ConstraintError(f"{asked}: {_written(name)}: expected groups (name sort (terms...)), got {shown}")
    numbers = {_written(group[0]): i for i, group in enumerate(groups)}
    variables: dict[str, list[str]] = {}
    for parameter in parameters:
        variables.setdefault(_written(parameter[1]), []).append(_written(parameter[0]))
    made: list[list[Way]] = [[] for _ in groups]
    for group in groups:
        ways = [way for term in group[2] for way in _ways(asked, term, numbers, variables)]
        made[numbers[_written(group[0])]] = list(dict.fromkeys(ways))
    return numbers.get("Start", 0), made


def _ways(asked: str, term: Expression, numbers: dict[str, int], variables: dict[str, list[str]]) -> list[Way]:
    """Return what one term of a group stands for: texts and numbers of groups."""
    if isinstance(term, list) and len(term) == 2 and term[0] == "Variable":
        return [(name,) for name in variables.get(_written(term[1]), [])]
    if isinstance(term, list) and len(term) == 2 and term[0] == "Constant":
        raise UnsupportedError(f"{asked}: {_written(term)}: expected listed constants, got any constant of a sort")
    parts: list[str | int] = []
    for token in re.findall(r'[() ]|"(?:[^"]|"")*"|\|[^|]*\||[^()" |]+', _written(term)):
        last = parts[-1] if parts else 0
        if token in numbers:
            parts.append(numbers[token])
        elif isinstance(last, str):
            parts[-1] = last + token
        else:
            parts.append(token)
    return [tuple(parts)]


def _read(asked: str, text: str) -> list[Expression]:
    """Read all s-expressions of a text, with a stack."""
    stack: list[list[Expression]] = [[]]
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ConstraintError(f"{asked}: expected an s-expression, got {text[at : at + 20]!r} at character {at}")
        token, at = found[0], found.end()
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise ConstraintError(f"{asked}: expected no more ), got one at character {found.start()}")
            done = stack.pop()
            stack[-1].append(done)
        elif not token[0].isspace() and token[0] != ";":
            stack[-1].append(token)
    if len(stack) > 1:
        raise ConstraintError(f"{asked}: expected {len(stack) - 1} more ) at the end, got none")
    return stack[0]


def _written(expression: Expression) -> str:
    """Write an s-expression on one line, with a stack."""
    parts: list[str] = []
    rest: list[Expression] = [expression]
    while rest:
        top = rest.pop()
        if isinstance(top, list):
            rest += [")", *reversed(top), "("]
        else:
            parts += [" ", top] if parts and parts[-1] != "(" and top != ")" else [top]
    return "".join(parts)
