"""read_gbnf: a grammar in GBNF, the notation of llama.cpp, as a GrammarSource."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..automata.errors import ConstraintError
from .constraint import SPECIAL, Constraint
from .grammar_parts import Reader, characters
from .grammar_source import GrammarSource, Lexing, Place
from .literal import literal
from .part import Part
from .special_token import special_token
from .token_class import TokenClass

_ESCAPES = {"t": 9, "r": 13, "n": 10, "\\": 92, '"': 34, "[": 91, "]": 93, "-": 45}
_DIGITS = {"x": ("two", "\\xNN"), "u": ("four", "\\uNNNN"), "U": ("eight", "\\UNNNNNNNN")}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))|(.)", re.DOTALL)


def read_gbnf(
    text: str,
    start: str | None = None,
    lexer: Lexing | None = None,
    constraints: Mapping[str, Constraint] | None = None,
) -> GrammarSource:
    r"""Read a grammar in llama.cpp's GBNF; ``start`` is ``"root"`` and ``lexer`` ``"none"`` where they are not given.

    Strings and classes with the escapes ``\n \r \t \\ \" \[ \] \- \xNN \uNNNN \UNNNNNNNN`` (code points), ``.`` (any
    character, line ends too), ``( )``, ``|``, ``* + ? {n} {n,} {,m} {n,m}`` (also of what has one), comments with
    ``#``, special tokens by name (``<think>``), tokens by id (``<[1000]>``), all other tokens (``!<think>``,
    ``!<[1000]>``), which are found by `compile`. Names of ``constraints`` stand where rules stand. Parts that call no
    rule are one terminal each. Without a lexer rules that are regular are terminals, too; ``written()`` has them as
    rules.

    Raises ConstraintError, with line and column, for malformed grammars and names without a rule, LimitError for groups
    nested too deeply.
    """
    return _Reader(text, constraints or {}).read("gbnf", start or "root", lexer or "none")


class _Reader(Reader):
    def leaf(self, kind: str, text: str, place: Place) -> Part:
        """The part of a string, a class, a dot or a special token."""
        if kind == "token":
            return self._special(text, place)
        if kind == "string":
            data = self._string(text[1:-1], place)
            return Part("terminal", text, place, constraint=literal(data), literal=data)
        ranges, negated = ([], True) if kind == "any" else self._class(text, place)
        return Part("terminal", text, place, constraint=characters(ranges, negated, text))

    def _special(self, token: str, place: Place) -> Part:
        written = token.lstrip("!")
        number = re.fullmatch(r"<\[(\d{1,9})\]>", written)
        if number is None and written.startswith("<["):
            raise ConstraintError(
                f"grammar: {place}: expected <[id]> with the id of a token, got {token}; write digits"
            )
        if number is not None or written != token:
            of = int(number[1]) if number else written
            only, but = (of, None) if written == token else (None, of)
            made = TokenClass(f"gbnf:{token}", only=only, but=but).constraint(token)
            return Part("terminal", token, place, constraint=made)
        data = SPECIAL + token.encode() + SPECIAL
        return Part("terminal", token, place, constraint=special_token(token), literal=data)

    def _characters(self, text: str, place: Place) -> list[tuple[int, bool]]:
        """Code points, and whether each was escaped."""
        found: list[tuple[int, bool]] = []
        for match in _ESCAPE.finditer(text):
            digits = match[1] or match[2] or match[3]
            at = Place(place.line, place.column + 1 + match.start())
            if match[4] in _DIGITS:
                count, form = _DIGITS[match[4]]
                raise ConstraintError(
                    f"grammar: {at}: expected {count} hexadecimal digits after \\{match[4]}, got "
                    f"{text[match.end() : match.end() + 8]!r}; write {form}"
                )
            if match[4] is not None and match[4] not in _ESCAPES:
                raise ConstraintError(
                    f'grammar: {at}: unknown escape \\{match[4]}; use \\n \\r \\t \\\\ \\" \\[ \\] \\- \\xNN '
                    "\\uNNNN or \\UNNNNNNNN"
                )
            code = int(digits, 16) if digits else _ESCAPES[match[4]] if match[4] else ord(match[5])
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise ConstraintError(f"grammar: {at}: {match[0]} is not a character; use 0 to 10FFFF, no surrogates")
            found.append((code, match[5] is None))
        return found

    def _string(self, text: str, place: Place) -> bytes:
        return "".join(chr(code) for code, _ in self._characters(text, place)).encode()

    def _class(self, token: str, place: Place) -> tuple[list[tuple[int, int]], bool]:
        negated = token.startswith("[^")
        start = 2 if negated else 1
        found = self._characters(token[start:-1], Place(place.line, place.column + start - 1))
        return self.ranges(found, token, place), negated
