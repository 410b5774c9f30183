"""read_ebnf: a grammar in the EBNF of W3C specifications as a GrammarSource."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..automata.errors import ConstraintError
from .constraint import Constraint
from .grammar_parts import Reader, characters
from .grammar_source import GrammarSource, Lexing, Place
from .literal import literal
from .part import Part

_CHARACTER = re.compile(r"#x([0-9A-Fa-f]+)|(.)", re.DOTALL)


def read_ebnf(
    text: str,
    start: str | None = None,
    lexer: Lexing | None = None,
    constraints: Mapping[str, Constraint] | None = None,
) -> GrammarSource:
    r"""Read a grammar in the notation of XML 1.0, section 6; ``start`` is its first rule where not given.

    ``#xN``, ``[a-z#x20-#x7F]``, ``[^...]``, strings in either quotes, ``( )``, ``A?``, ``A*``, ``A+``, ``A B``,
    ``A | B``, ``A - B`` (tighter than ``A B``, from the left), comments, ``[wfc: ...]`` and ``[vc: ...]`` (ignored),
    numbered productions. The sides of ``-`` may call rules that do not call themselves. ``lexer`` is ``"none"`` where
    it is not given. Names of ``constraints`` stand where rules stand. Parts that call no rule are one terminal each.
    Without a lexer rules that are regular are terminals, too; ``written()`` has them as rules.

    Raises ConstraintError, with line and column, for malformed grammars and names without a rule, UnsupportedError for
    exceptions between rules that call themselves, LimitError for groups nested too deeply.
    """
    return _Reader(text, constraints or {}).read("ebnf", start, lexer or "none")


class _Reader(Reader):
    def leaf(self, kind: str, text: str, place: Place) -> Part:
        """The part of a string, a class or a character."""
        if kind == "string":
            for c in text:
                self._check(ord(c), repr(c), place)
            data = text[1:-1].encode()
            return Part("terminal", text, place, constraint=literal(data), literal=data)
        if kind == "character":
            data = chr(self._codes(text, place)[0][0]).encode()
            return Part("terminal", text, place, constraint=literal(data), literal=data)
        ranges, negated = self._class(text, place)
        return Part("terminal", text, place, constraint=characters(ranges, negated, text))

    def _check(self, code: int, text: str, place: Place) -> None:
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ConstraintError(f"grammar: {place}: {text} is not a character; use #x0 to #x10FFFF, no surrogates")

    def _codes(self, text: str, place: Place) -> list[tuple[int, bool]]:
        """Code points, and whether each was written as #xN."""
        found: list[tuple[int, bool]] = []
        for match in _CHARACTER.finditer(text):
            code = int(match[1], 16) if match[1] else ord(match[2])
            self._check(code, match[0], place)
            found.append((code, match[1] is not None))
        return found

    def _class(self, token: str, place: Place) -> tuple[list[tuple[int, int]], bool]:
        negated = token.startswith("[^")
        found = self._codes(token[2 if negated else 1 : -1], place)
        return self.ranges(found, token, place), negated
