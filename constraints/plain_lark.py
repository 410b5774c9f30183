"""plain_lark: grammars in Lark's notation read without Lark's own loader, which takes ten times as long."""

from __future__ import annotations

import json
import pkgutil
import re
from operator import itemgetter
from typing import TYPE_CHECKING

from .._core import FIRST_HOLE, PlainLark
from ..automata.errors import ConstraintError, LimitError
from .constraint import DEFAULT_LIMITS, Constraint, Limits, ReportEntry, native_limits
from .grammar_source import LARK_LITERAL, Place, named_limit, schema_key, stated_lexer
from .json_schema import json_schema
from .terminal_pattern import terminal_pattern

if TYPE_CHECKING:
    from .grammar_source import Lexing

_LITERAL = re.compile(LARK_LITERAL + r"|%json\b[ \t]*")
_JSON = json.JSONDecoder()


def plain_lark(text: str, start: str | None, lexer: Lexing | None, limits: Limits | None) -> Constraint | None:
    """The texts of a grammar in Lark's notation, or None where :func:`.lark_source.read_lark` has to read it.

    That is so for whatever is wrong with a grammar, for what this project adds to the notation but ``%json``, for rules
    that are imported, overridden, extended or declared, for named groups, and for rare forms of literals. All else is
    read natively, into the same terminals, rules and productions. The report is made of what ``read_lark`` finds, when
    it is read.
    """
    if "(?P<" in text:  # captures have to be refused, with the place
        return None
    lexing = lexer or stated_lexer(text)
    seconds = (limits or DEFAULT_LIMITS).seconds
    limit: LimitError | None = None
    try:
        holed = _without_schemas(text) if "%json" in text else (text, [])
        if holed is None:
            return None
        plain = PlainLark.read(holed[0], start or "start", _common() if "%import" in text else "", len(holed[1]))
        if plain is None or (lexing == "none" and (plain.ignores or plain.indentation)):
            return None
        subtle = [(n, terminal_pattern(pattern, seconds, lexing != "none")) for n, pattern in plain.subtle]
        schemas = [(n, json_schema(holed[1][hole])) for n, hole in plain.holes]
        languages = [(n, made.constraint._native) for n, made in subtle] + [(n, made._native) for n, made in schemas]
        guards = [guard.native(number) for number, made in subtle for guard in made.guards]
        name, start_place, _ = plain.rules[plain.start]
        try:
            native = plain.compile(
                lexing, sorted(languages, key=itemgetter(0)), native_limits(limits, "grammar"), guards
            )
        except LimitError as error:
            if holed[1]:  # whose places are those of another text
                return None
            limit = named_limit(error, name, Place(*start_place) if start_place else None)
    except (ConstraintError, LimitError, UnicodeEncodeError):  # read_lark says what, and where
        return None
    if limit is not None:
        raise limit
    is_text = all(made.constraint._is_text for _, made in subtle)
    return Constraint(native, f"grammar({name})", report=[_Report(text, start, lexer, seconds)], is_text=is_text)


def _without_schemas(text: str) -> tuple[str, list[str]] | None:
    """The text with a string of one character, from U+100000 on, for each schema, and the schemas; None: wrong."""
    if max(text) >= chr(FIRST_HOLE):
        return None
    pieces: list[str] = []
    schemas: dict[str, tuple[int, str]] = {}  # equal ones once
    position = begin = 0
    while found := _LITERAL.search(text, position):
        position = found.end()
        if not found[0].startswith("%"):
            continue
        try:
            _, end = _JSON.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            return None
        if text[end : end + 1].isalnum():  # flags of the string that it becomes
            return None
        schema = text[position:end]
        hole, _ = schemas.setdefault(schema_key(schema), (len(schemas), schema))
        pieces.append(f'{text[begin : found.start()]}"{chr(FIRST_HOLE + hole)}"')
        position = begin = end
    return "".join([*pieces, text[begin:]]), [schema for _, schema in schemas.values()]


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
            self._entries = (*source.entries(), *DiagnosisReport(source).entries())
        return self._entries
