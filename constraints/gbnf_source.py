"""read_gbnf: a grammar in GBNF, the notation of llama.cpp, as a GrammarSource."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..automata.errors import ConstraintError
from .constraint import SPECIAL, Constraint
from .grammar_parts import Definition, Part, Reader, characters
from .grammar_source import GrammarSource, Lexing, Place
from .literal import literal
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
    rule are one terminal each.

    Raises ConstraintError, with line and column, for malformed grammars and names without a rule, LimitError for groups
    nested too deeply.
    """
    return _Reader(text, constraints or {}).read("gbnf", start or "root", lexer or "none")


class _Reader(Reader):
    _groups = 0  # around what is being read

    def definitions(self, tree: Any) -> list[Definition]:
        """The rules of a parsed grammar."""
        return [
            Definition(str(rule.children[0]), _place(rule.children[0]), self.part(rule.children[1], _place(rule)))
            for rule in tree.children
        ]

    def part(self, tree: Any, around: Place) -> Part:
        """The part of a subtree; an empty one is placed where what it belongs to begins."""
        kind, children = str(tree.data), tree.children
        place = around if tree.meta.empty else _place(tree.meta)
        text = "" if tree.meta.empty else self.text[tree.meta.start_pos : tree.meta.end_pos].strip()
        if kind in ("choice", "nested"):
            parts = tuple(self.part(c, place) for c in children)
            return self.join("choice", text, place, parts)
        if kind in ("sequence", "nested_sequence"):
            parts = tuple(self.part(c, place) for c in children)
            return self.join("sequence", text, place, parts)
        if kind == "group":
            self._groups += 1
            made = self.part(children[0], place).written_as(text)
            self._groups -= 1
            return made
        if kind == "operator":
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self._operator(children[1])]
            return self.repeat(self.part(children[0], place), low, high, text)
        if kind == "bounds":
            first, comma, last = "".join(self._operator(children[1])[1:-1].split()).partition(",")
            if not first and not last:
                raise ConstraintError(
                    f"grammar: {_place(children[1])}: expected {{n}}, {{n,}}, {{,m}} or {{n,m}}; write one of these"
                )
            low = int(first[:12] or 0)
            high = int(last[:12]) if last else None if comma else low
            return self.repeat(self.part(children[0], place), low, high, text)
        token = str(children[0])
        if kind == "call":
            return self.call(token, place)
        if kind == "token":
            return self._token(token, place)
        if kind == "string":
            data = self._string(token[1:-1], place)
            return Part("terminal", token, place, constraint=literal(data), literal=data)
        ranges, negated = ([], True) if kind == "any" else self._class(token, place)
        return Part("terminal", token, place, constraint=characters(ranges, negated, token))

    def _operator(self, written: Any) -> str:
        """An operator without what stands before it, which may be the end of a line only inside parentheses."""
        operator = re.search(r"[*+?]$|\{[^{]*$", written)
        assert operator is not None
        before = written[: operator.start()]
        if "\n" in before and not self._groups:
            place = Place(written.line + before.count("\n"), operator.start() - before.rindex("\n"))
            raise ConstraintError(
                f"grammar: {place}: expected a rule (name ::= ...), got {operator[0]!r}: the line's end ends the one "
                "before; write it on that line, or put parentheses around"
            )
        return operator[0]

    def _token(self, token: str, place: Place) -> Part:
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


def _place(token: Any) -> Place:
    return Place(token.line, token.column) if hasattr(token, "line") else Place(token.meta.line, token.meta.column)
