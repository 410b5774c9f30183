"""plain_lark: grammars in Lark's notation read without Lark's own loader, which takes ten times as long."""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING

from .._core import PlainLark
from ..automata.errors import ConstraintError, LimitError
from .constraint import DEFAULT_LIMITS, Constraint, Limits, ReportEntry, native_limits
from .grammar_source import stated_lexer
from .terminal_pattern import terminal_pattern

if TYPE_CHECKING:
    from .grammar_source import Lexing


def plain_lark(text: str, start: str | None, lexer: Lexing | None, limits: Limits | None) -> Constraint | None:
    """The texts of a grammar in Lark's notation, or None where :func:`.lark_source.read_lark` has to read it.

    That is so for whatever is wrong with a grammar, for what this project adds to the notation, for rules that are
    imported, overridden, extended or declared, for named groups, and for rare forms of literals. All else is read
    natively, into the same terminals, rules and productions. The report is made of what ``read_lark`` finds, when it is
    read.
    """
    if "(?P<" in text:  # captures have to be refused, with the place
        return None
    lexing = lexer or stated_lexer(text)
    seconds = (limits or DEFAULT_LIMITS).seconds
    try:
        plain = PlainLark.read(text, start or "start", _common() if "%import" in text else "")
        if plain is None or (lexing == "none" and plain.ignores):
            return None
        subtle = [(n, terminal_pattern(pattern, seconds, lexing != "none")) for n, pattern in plain.subtle]
        native = plain.compile(
            lexing,
            [(number, made.constraint._native) for number, made in subtle],
            native_limits(limits, "grammar"),
            [guard.native(number) for number, made in subtle for guard in made.guards],
        )
    except (ConstraintError, LimitError, UnicodeEncodeError):  # read_lark says what, and where
        return None
    name = plain.rules[plain.start][0]
    return Constraint(native, source=f"grammar({name})", report=[_Report(text, start, lexer, seconds)])


def _common() -> str:
    """The text of the grammar that ``%import common`` names; empty where there is none."""
    try:
        data = pkgutil.get_data("lark", "grammars/common.lark")
    except (ImportError, OSError):
        return ""
    return data.decode() if data else ""


class _Report:
    """What reading and diagnosing a grammar finds: read when it is asked for."""

    def __init__(self, text: str, start: str | None, lexer: Lexing | None, seconds: float) -> None:
        self._arguments = text, start, lexer, None, seconds
        self._entries: tuple[ReportEntry, ...] | None = None

    def entries(self) -> tuple[ReportEntry, ...]:
        """Entries for :attr:`Constraint.report`."""
        if self._entries is None:
            from .grammar_check import DiagnosisReport
            from .lark_source import read_lark

            source = read_lark(*self._arguments)
            self._entries = (*source.report, *DiagnosisReport(source).entries())
        return self._entries
