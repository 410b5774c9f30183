r"""LarkText: a grammar in Lark's notation with this project's additions, rewritten to what Lark's own loader reads.

The additions are ``%json {...}``, special tokens (``<|name|>`` or ``<name>``), and between terminals ``A & B``,
``A - B`` and ``~A``. Each becomes a string of one private-use character, a hole, that :mod:`.lark_source` fills in;
equal ones become the same string, so that they are one terminal, as equal strings are. The text is cut with the lexical
definitions of Lark's loader, so that nothing is seen inside strings, regular expressions and comments; every place of
the rewritten text is traced back to the text as given.
"""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter

from .._core import FIRST_HOLE
from ..automata.errors import ConstraintError, LimitError
from .grammar_hints import hint
from .grammar_source import Place, schema_key

# Lark's own patterns take time without bound where these are not closed, since an escape is two characters, too. All
# that they match beyond are literals that end inside of an escape, which Lark refuses then.
_CLOSED = {
    "STRING": r'"(?:[^"\\\n]|\\["\\]|\\(?!["\\]))*"i?',
    "REGEXP": r"/(?!/)(?:[^/\\]|\\[/\\]|\\(?![/\\]))*/[imslux]*",
}
_OPEN = {'"': "string", "/": "pattern"}
_ADDED = {
    "JSON": r"%json\b[ \t]*",
    "SPECIAL": r"<[^<>\s]+>",
    "AND": r"&",
    "MINUS": r"-(?![>\d])",
}
_OPERATORS = {"AND": "&", "MINUS": "-"}
MOST_REFERENCES = 30_000  # from terminals to terminals, written out
_OPENING = {"_LPAR": "_RPAR", "_LBRA": "_RBRA", "_LBRACE": "_RBRACE"}
_BLANK = ("WS", "COMMENT", "BACKSLASH")


@dataclass(frozen=True)
class JsonHole:
    """``%json``: the schema's text."""

    schema: str
    place: Place


@dataclass(frozen=True)
class SpecialHole:
    """A special token by its whole name, brackets included."""

    name: str
    place: Place


@dataclass(frozen=True)
class AlgebraHole:
    """``operands[0] operators[0] operands[1] ...``, or ``~operands[0]`` for the operator ``~``: names of terminals."""

    operators: tuple[str, ...]
    operands: tuple[str, ...]
    text: str
    place: Place


@dataclass(frozen=True)
class NamedHole:
    """A constraint that was passed by name."""

    name: str
    place: Place | None


Hole = JsonHole | SpecialHole | AlgebraHole | NamedHole


@dataclass(frozen=True)
class _Token:
    type: str
    start: int
    end: int


class _Pieces:
    """Rewritten text: runs copied from the original and runs that are not."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, int]] = []  # text, offset in the original or -1

    def copy(self, text: str, start: int, end: int) -> None:
        self.parts.append((text[start:end], start))

    def add(self, text: str) -> None:
        self.parts.append((text, -1))

    def extend(self, other: _Pieces) -> None:
        self.parts += other.parts

    def text(self) -> str:
        return "".join(part for part, _ in self.parts)

    def tokens(self) -> tuple[str, ...]:
        """What was copied or added, without the blanks around."""
        return tuple(stripped for part, _ in self.parts if (stripped := part.strip()))


@dataclass
class _Alternative:
    """One alternative being read: finished operands, their operators, and the operand that goes on."""

    current: _Pieces = field(default_factory=_Pieces)
    operands: list[_Pieces] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    start: int = -1
    alias: bool = False  # the name after -> is read
    rule: _Token | None = None  # the last rule that it mentions
    complements: list[tuple[int, int]] = field(default_factory=list)  # length of current.parts and offset at each ~


class LarkText:
    """The rewritten ``text``, its holes by character, and where names are defined and used.

    ``named``: names of constraints that are passed from outside; each is defined as a hole of its own, and may be
    declared. Raises ConstraintError with line and column for what cannot be read, LimitError for terminals that use
    others in more than MOST_REFERENCES ways. Linear in the text.
    """

    def __init__(self, text: str, named: Iterable[str] = ()) -> None:
        self.original = text
        self.holes: dict[str, Hole] = {}
        self.in_rules: dict[str, list[Place]] = {}  # where the additions of each hole stand in rules
        self._hole_of: dict[Hashable, str] = {}  # by what is the same for equal ones
        self._in_rule = False  # whether the statement being read is a rule
        self._stand: list[tuple[int, str]] = []  # offset and hole of additions to rules, but not of parts of others
        self.definitions: dict[str, list[Place]] = {}
        self.written: dict[str, Place] = {}  # names of definitions in this text, neither imported nor declared
        self.uses: dict[str, int] = {}  # offset of the first use of each name
        self.extended: dict[str, Place] = {}  # the first %extend of each name
        self.operand_places: dict[str, Place] = {}
        self.literals: dict[str, int] = {}  # offset of each string, pattern and range, as it stands first
        self.imports: dict[str, Place] = {}  # by path, such as common/foo.lark
        self._lines = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
        self._used_characters = {c for c in text if ord(c) >= FIRST_HOLE}
        self._names = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))
        self._appended = _Pieces()
        self._bodies: list[tuple[str, list[_Token]]] = []  # of definitions: name, and what stands after its colon
        self._declared: list[str] = []
        self._inside: dict[str, list[str]] = {}  # the terminals that a terminal's definition uses
        self._cut = tokens = self._tokens()
        kinds = [token.type for token in tokens]
        for i, token in enumerate(tokens):
            if kinds[i : i + 3] == ["STRING", "_DOTDOT", "STRING"]:
                self.literals.setdefault(f"{self._token_text(token)}..{self._token_text(tokens[i + 2])}", token.start)
            elif token.type in ("STRING", "REGEXP") and kinds[i - 1 : i] != ["_DOTDOT"]:
                self.literals.setdefault(self._token_text(token), token.start)
        self._plain = not any(
            t.type in _ADDED or (t.type == "TILDE" and (i + 1 == len(tokens) or tokens[i + 1].type != "NUMBER"))
            for i, t in enumerate(tokens)
        )
        pieces = self._rewrite(tokens, list(named))
        for start, hole in self._stand:
            self.in_rules.setdefault(hole, []).append(self.place(start))
        self._check_references()
        pieces.add("\n")
        pieces.extend(self._appended)
        self.text = pieces.text()
        self._starts: list[int] = []
        self._offsets: list[int] = []
        position = 0
        for part, offset in pieces.parts:
            self._starts.append(position)
            self._offsets.append(offset)
            position += len(part)
        self._rewritten_lines = [0, *(i + 1 for i, c in enumerate(self.text) if c == "\n")]

    # ---- places
    def place(self, offset: int) -> Place:
        """The line and column of an offset in the text as given."""
        line = bisect_right(self._lines, offset) - 1
        return Place(line + 1, offset - self._lines[line] + 1)

    def imported(self, name: str) -> tuple[str, str, Place] | None:
        """For Lark's name of what an imported grammar has for itself: its name, the dotted grammar, and the import.

        Lark calls ``B`` of ``common.foo`` ``common__foo__B``, and ``_B`` of it ``_common__foo__B``.
        """
        hidden, bare = ("_", name[1:]) if name.startswith("_") else ("", name)
        for path, place in self.imports.items():
            stem = path.removesuffix(".lark").replace("/", "__") + "__"
            if bare.startswith(stem) and name not in self.definitions:
                *inner, own = bare.removeprefix(stem).split("__")
                return hidden + own, ".".join([path.removesuffix(".lark").replace("/", "."), *inner]), place
        return None

    def original_place(self, line: int, column: int) -> Place:
        """The place in the text as given of a line and column in the rewritten text."""
        index = min(max(line - 1, 0), len(self._rewritten_lines) - 1)
        return self.trace(self._rewritten_lines[index] + max(column - 1, 0))

    def trace(self, position: int) -> Place:
        """The place in the text as given of an offset in the rewritten text; of what was added, of what precedes it."""
        return self.place(self._traced(position))

    def _traced(self, position: int) -> int:
        index = max(bisect_right(self._starts, position) - 1, 0)
        while index > 0 and self._offsets[index] < 0:
            index, position = index - 1, self._starts[index]
        return min(max(self._offsets[index], 0) + position - self._starts[index], len(self.original))

    def repetition(self, position: int) -> tuple[str, Place] | None:
        """What a repetition at an offset in the rewritten text, that of its operator, is in the text as given."""
        offset = self._traced(position)
        tokens = self._cut
        last = begin = bisect_right(tokens, offset, key=attrgetter("start")) - 1
        if last < 1 or tokens[last].start != offset or tokens[last].type not in ("OP", "TILDE"):
            return None
        while tokens[last + 1 : last + 2] and tokens[last + 1].type in ("NUMBER", "_DOTDOT"):
            last += 1
        depth = 0  # of brackets around what is repeated; a template's name stands before its own, a range has two ends
        while begin:
            begin -= 1
            kind = tokens[begin].type
            depth += (kind in _OPENING.values()) - (kind in _OPENING)
            if not depth and kind not in ("_LBRACE", "_DOTDOT") and tokens[begin - 1].type != "_DOTDOT":
                break
        return self.original[tokens[begin].start : tokens[last].end], self.place(tokens[begin].start)

    def defined_at(self, name: str) -> Place | None:
        """Where a name is defined, imported or declared first."""
        found = self.definitions.get(name)
        return found[0] if found else None

    def used_at(self, name: str) -> Place | None:
        """Where a name is used first."""
        return self.place(self.uses[name]) if name in self.uses else None

    def used_within(self, name: str, definition: str, arguments: int | None = None) -> Place | None:
        """Where the definition of one name uses another first, as a template of so many arguments if that is said."""
        for head, tokens in self._bodies:
            for i, token in enumerate(tokens):
                found = head == definition and token.type in ("RULE", "TERMINAL") and self._token_text(token) == name
                if found and (arguments is None or _arguments(tokens[i + 1 :]) == arguments):
                    return self.place(token.start)
        return None

    def declared_within(self) -> Place | None:
        """Where a terminal that is only declared stands in the definition of another one first."""
        places = (self.used_within(n, t) for t in self._inside for n in self._declared if n in self._inside[t])
        return next(places, None)

    def inlined_twice(self) -> Place | None:
        """The first rule that is marked with ? and begins with an underscore."""
        found = (p for n, p in self.written.items() if n.startswith("_") and self._before(p) == "?")
        return next(found, None)

    def _before(self, place: Place) -> str:
        offset = self._lines[place.line - 1] + place.column - 1
        return self.original[:offset].rstrip()[-1:]

    def error(self, place: Place, text: str) -> ConstraintError:
        """An error at a place."""
        return ConstraintError(f"grammar: {place}: {text}{'' if '; ' in text else '; mend the grammar there'}")

    # ---- cutting
    def _tokens(self) -> list[_Token]:
        pattern, text, position = _lexical(), self.original, 0
        tokens: list[_Token] = []
        while position < len(text):
            match = pattern.match(text, position)
            if match is None:
                found = text[position : position + 20].splitlines()[0]
                if text[position] in _OPEN:
                    raise self.error(
                        self.place(position),
                        f"the {_OPEN[text[position]]} that begins here is not closed, got {found!r}; "
                        f"write {text[position]} at its end",
                    )
                wanted = "a definition, a name, a string or an operator"
                remedy = hint("lark", text, position)
                raise self.error(self.place(position), f"expected {wanted}, got {found!r}; {remedy}")
            kind = str(match.lastgroup)
            end = match.end()
            if kind == "JSON":
                try:
                    _, end = json.JSONDecoder().raw_decode(text, end)
                except (json.JSONDecodeError, RecursionError) as error:
                    at = error.pos if isinstance(error, json.JSONDecodeError) else end
                    why = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
                    raise self.error(self.place(at), f"expected a JSON Schema after %json: {why}") from None
            if kind not in _BLANK:
                tokens.append(_Token(kind, position, end))
            position = end
        return tokens

    def _token_text(self, token: _Token) -> str:
        return self.original[token.start : token.end]

    # ---- rewriting
    def _rewrite(self, tokens: list[_Token], named: list[str]) -> _Pieces:
        out = _Pieces()
        begin = 0
        for end in [*(i for i, t in enumerate(tokens) if t.type == "_NL"), len(tokens)]:
            if begin < end:
                self._statement(tokens[begin:end], out, named)
            if end < len(tokens):
                out.copy(self.original, tokens[end].start, tokens[end].end)
            begin = end + 1
        for name in named:
            if name not in self.definitions:
                if name not in self.uses:
                    raise ConstraintError(
                        f"grammar: constraints={{{name!r}: ...}} names nothing in the grammar; "
                        f"use {name} in a rule, or leave it out"
                    )
                self._name(name, self.place(self.uses[name]))
        return out

    def _statement(self, tokens: list[_Token], out: _Pieces, named: list[str]) -> None:
        kind = tokens[0].type
        if kind == "_DECLARE":
            self._declare(tokens, out, named)
            return
        if kind == "_IMPORT":
            self._import(tokens)
            out.copy(self.original, tokens[0].start, tokens[-1].end)
            return
        colon = 0
        self._in_rule = False
        if kind != "_IGNORE":
            colon = next((i for i, t in enumerate(tokens) if t.type == "_COLON"), len(tokens) - 1)
            head = next((t for t in tokens[:colon] if t.type in ("RULE", "TERMINAL")), None)
            if head is not None and kind == "_EXTEND":
                self.extended.setdefault(self._token_text(head), self.place(head.start))
            elif head is not None:
                name = self._token_text(head)
                place = self.place(head.start)
                if name in named and name not in self.definitions:
                    raise self.error(place, f"{name} is defined here and in constraints=; drop one of the two")
                self.definitions.setdefault(name, []).append(place)
                self.written.setdefault(name, place)
            self._in_rule = head is not None and head.type == "RULE"
            if head is not None:
                self._bodies.append((self._token_text(head), tokens[colon + 1 :]))
            if head is not None and head.type == "TERMINAL":
                alias = next((t for t in tokens[colon + 1 :] if t.type == "_TO"), None)
                if alias is not None:
                    raise self.error(
                        self.place(alias.start), "aliases (->) stand in rules, not in terminals; leave it out"
                    )
                inside = [self._token_text(t) for t in tokens[colon + 1 :] if t.type == "TERMINAL"]
                self._inside.setdefault(self._token_text(head), []).extend(inside)
        self._check_bounds(tokens[colon + 1 :])
        if self._plain:
            self._uses(tokens[colon + 1 :])
            out.copy(self.original, tokens[0].start, tokens[-1].end)
            return
        out.copy(self.original, tokens[0].start, tokens[colon].end)
        self._body(tokens[colon + 1 :], out)

    def _check_references(self) -> None:
        """Raise LimitError for terminals that Lark's loader could not write out: it follows every path between them."""
        paths: dict[str, int] = {}
        for name in self._inside:
            work = [name]
            while work:
                inside = self._inside.get(work[-1], ())
                if work[-1] not in paths:
                    paths[work[-1]] = 0  # meanwhile; and of terminals inside themselves, which Lark refuses
                    work += dict.fromkeys(n for n in inside if n not in paths)
                else:
                    paths[work.pop()] = min(sum(1 + paths[n] for n in inside), MOST_REFERENCES + 1)
        if sum(paths.values()) > MOST_REFERENCES:
            name = max(paths, key=paths.__getitem__)
            raise LimitError(
                f"grammar: {self.defined_at(name)}: the limit references={MOST_REFERENCES} was reached (from terminals "
                f"to terminals, written out), at {name}: make rules of terminals that use others many times"
            )

    def _check_bounds(self, tokens: list[_Token]) -> None:
        """Raise ConstraintError for ``x~3..1`` and for ranges that are not between two characters in order."""
        kinds = [token.type for token in tokens]
        for i, kind in enumerate(kinds):
            if kind == "TILDE" and kinds[i + 1 : i + 2] == ["NUMBER"]:
                last = i + 3 if kinds[i + 2 : i + 4] == ["_DOTDOT", "NUMBER"] else i + 1
                low, high = self._token_text(tokens[i + 1]), self._token_text(tokens[last])
                if max(len(low), len(high)) < 1000 and not 0 <= int(low) <= int(high):
                    found = self.original[tokens[i].start : tokens[last].end]
                    remedy = "swap them" if 0 <= int(high) < int(low) else "count from 0 on"
                    raise self.error(
                        self.place(tokens[i].start), f"expected 0 <= n <= m in ~n..m, got {found}; {remedy}"
                    )
            elif kind == "_DOTDOT" and kinds[i - 1 : i] == ["STRING"] == kinds[i + 1 : i + 2]:
                ends = [self._character(token) for token in (tokens[i - 1], tokens[i + 1])]
                if None in ends or str(ends[0]) > str(ends[1]):
                    found = self.original[tokens[i - 1].start : tokens[i + 1].end]
                    remedy = "write alternatives, or a pattern" if None in ends else "swap them"
                    raise self.error(
                        self.place(tokens[i - 1].start),
                        f'expected two characters in order, such as "a".."z", got {found}; {remedy}',
                    )

    def _character(self, token: _Token) -> str | None:
        """The only character of a string; None where it has another number of them, or flags."""
        from lark.exceptions import LarkError
        from lark.load_grammar import eval_escaping

        text = self._token_text(token)
        try:
            value = str(eval_escaping(text[1:-1]))  # type: ignore[no-untyped-call]
        except LarkError:
            return None
        return value if len(value) == 1 and text.endswith('"') else None

    def _uses(self, tokens: list[_Token]) -> None:
        before = ""
        for token in tokens:
            if token.type in ("RULE", "TERMINAL") and before != "_TO":
                self.uses.setdefault(self._token_text(token), token.start)
            before = token.type

    def _declare(self, tokens: list[_Token], out: _Pieces, named: list[str]) -> None:
        kept = []
        for token in tokens[1:]:
            name = self._token_text(token)
            if name in named and name not in self.definitions:
                self._name(name, self.place(token.start))
            else:
                kept.append(token)
                self._declared.append(name)
            self.definitions.setdefault(name, []).append(self.place(token.start))
        if kept or len(tokens) == 1:
            out.copy(self.original, tokens[0].start, tokens[0].end)
        for token in kept:
            out.add(" ")
            out.copy(self.original, token.start, token.end)

    def _import(self, tokens: list[_Token]) -> None:
        names = [t for t in tokens if t.type in ("RULE", "TERMINAL")]
        path = [self._token_text(t) for t in names]
        opening = next((i for i, t in enumerate(tokens) if t.type in ("_LPAR", "_TO")), len(tokens))
        last = len([t for t in tokens[:opening] if t.type in ("RULE", "TERMINAL")])
        if opening == len(tokens) or tokens[opening].type == "_TO":
            last -= 1
        self.imports.setdefault("/".join(path[:last]) + ".lark", self.place(tokens[0].start))
        if opening < len(tokens) and tokens[opening].type == "_LPAR":
            names = [t for t in tokens[opening:] if t.type in ("RULE", "TERMINAL")]
        elif names:
            names = names[-1:]  # the last name of the path, or the alias
        for token in names:
            self.definitions.setdefault(self._token_text(token), []).append(self.place(token.start))

    def _name(self, name: str, place: Place | None) -> None:
        """Define a passed constraint as a hole."""
        self._appended.add(f'{name}: "{self._hole(NamedHole(name, place), name)}"\n')

    def _hole(self, hole: Hole, key: Hashable, start: int = -1) -> str:
        """The character of a hole: that of the first one of its kind with the same key."""
        key = type(hole), key
        if key not in self._hole_of:
            code = FIRST_HOLE + len(self.holes) + len(self._used_characters)
            while chr(code) in self._used_characters:
                code += 1
            self.holes[chr(code)] = hole
            self._hole_of[key] = chr(code)
        if self._in_rule and start >= 0:
            self._stand.append((start, self._hole_of[key]))
        return self._hole_of[key]

    def _algebra(self, operators: tuple[str, ...], operands: list[_Pieces], text: str, start: int) -> str:
        """The character of a hole for terminals and operators between them; only of the first one are they defined."""
        key = operators, *(operand.tokens() for operand in operands)
        if (AlgebraHole, key) in self._hole_of:
            names: tuple[str, ...] = ()
        else:
            names = tuple(self._operand(operand, start) for operand in operands)
        while self._stand and self._stand[-1][0] >= start:
            self._stand.pop()
        return self._hole(AlgebraHole(operators, names, text, self.place(start)), key, start)

    def _body(self, tokens: list[_Token], out: _Pieces) -> None:
        """Copy a right-hand side with holes for the additions."""
        stack: list[tuple[_Pieces, _Alternative, str]] = []
        finished, alternative, closing = _Pieces(), _Alternative(), ""
        for i, token in enumerate(tokens):
            kind = token.type
            if alternative.start < 0:
                alternative.start = token.start
            self._gap(tokens, i, alternative.current)
            if kind in ("TILDE", "SPECIAL", "JSON"):
                self._check_range(tokens, i)
            if kind in _OPENING:
                alternative.current.copy(self.original, token.start, token.end)
                stack.append((finished, alternative, closing))
                finished, alternative, closing = _Pieces(), _Alternative(), _OPENING[kind]
                continue
            if kind == closing:
                self._end_alternative(alternative, finished, token.start)
                rule = alternative.rule
                inner = finished
                finished, alternative, closing = stack.pop()
                alternative.rule = rule or alternative.rule
                alternative.current.extend(inner)
                alternative.current.copy(self.original, token.start, token.end)
            elif kind in ("_OR", "_NL_OR", "_TO"):
                self._end_alternative(alternative, finished, token.start)
                finished.copy(self.original, token.start, token.end)
                alternative = _Alternative(alias=kind == "_TO")
                continue
            elif kind in _OPERATORS:
                self._end_operand(alternative, token)
                alternative.operators.append(_OPERATORS[kind])
                continue
            elif kind == "TILDE" and not (i + 1 < len(tokens) and tokens[i + 1].type == "NUMBER"):
                alternative.complements.append((len(alternative.current.parts), token.start))
                alternative.current.add("")
                continue
            else:
                self._atom(token, alternative)
            if alternative.complements and not self._goes_on(tokens, i):
                self._complement(alternative, token.end)
        while stack:  # unbalanced brackets: Lark's loader says so
            self._end_alternative(alternative, finished, len(self.original))
            inner = finished
            finished, alternative, closing = stack.pop()
            alternative.current.extend(inner)
        self._end_alternative(alternative, finished, tokens[-1].end if tokens else 0)
        out.extend(finished)

    def _gap(self, tokens: list[_Token], i: int, out: _Pieces) -> None:
        if i and tokens[i - 1].end < tokens[i].start:
            out.add(" ")

    def _check_range(self, tokens: list[_Token], i: int) -> None:
        """Refuse additions beside the dots of a range, where Lark has characters."""
        before = i > 0 and tokens[i - 1].type == "_DOTDOT"
        if before or (tokens[i].type != "TILDE" and [t.type for t in tokens[i + 1 : i + 2]] == ["_DOTDOT"]):
            got = self.original[tokens[i].start : tokens[i].end]
            raise self.error(
                self.place(tokens[i].start), f'expected a character beside .., such as "a".."z", got {got}'
            )

    def _goes_on(self, tokens: list[_Token], i: int) -> bool:
        """Whether a postfix operator or range follows the token, or the token is part of one that does not end here."""
        following = tokens[i + 1].type if i + 1 < len(tokens) else ""
        if following == "TILDE":
            return i + 2 < len(tokens) and tokens[i + 2].type == "NUMBER"
        return following in ("OP", "_DOTDOT") or tokens[i].type in ("TILDE", "_DOTDOT")

    def _atom(self, token: _Token, alternative: _Alternative) -> None:
        place = self.place(token.start)
        if token.type == "JSON":
            schema = re.sub(r"\A%json\s*", "", self._token_text(token))
            alternative.current.add(f'"{self._hole(JsonHole(schema, place), schema_key(schema), token.start)}"')
        elif token.type == "SPECIAL":
            name = self._token_text(token)
            alternative.current.add(f'"{self._hole(SpecialHole(name, place), name, token.start)}"')
        else:
            if token.type == "RULE":
                alternative.rule = token
            if token.type in ("RULE", "TERMINAL") and not alternative.alias:
                self.uses.setdefault(self._token_text(token), token.start)
            alternative.current.copy(self.original, token.start, token.end)

    def _complement(self, alternative: _Alternative, end: int) -> None:
        while alternative.complements:
            length, start = alternative.complements.pop()
            operand = _Pieces()
            operand.parts = alternative.current.parts[length:]
            del alternative.current.parts[length:]
            self._check_terminals(alternative, start)
            hole = self._algebra(("~",), [operand], self.original[start:end], start)
            alternative.current.add(f'"{hole}"')

    def _end_operand(self, alternative: _Alternative, token: _Token | None) -> None:
        if alternative.complements or not alternative.current.text().strip():
            place = self.place(token.start if token else alternative.start)
            raise self.error(place, "expected terminals on both sides of & and -, and after ~")
        alternative.operands.append(alternative.current)
        alternative.current = _Pieces()

    def _end_alternative(self, alternative: _Alternative, finished: _Pieces, end: int) -> None:
        if alternative.complements:
            raise self.error(self.place(alternative.complements[-1][1]), "expected a terminal after ~")
        if not alternative.operators:
            finished.extend(alternative.current)
            return
        self._end_operand(alternative, None)
        self._check_terminals(alternative, -1)
        text = self.original[alternative.start : end].strip()
        hole = self._algebra(tuple(alternative.operators), alternative.operands, text, alternative.start)
        finished.add(f' "{hole}" ')

    def _check_terminals(self, alternative: _Alternative, start: int) -> None:
        if alternative.rule is not None and alternative.rule.start > start:
            place = self.place(alternative.rule.start)
            name = self._token_text(alternative.rule)
            raise self.error(
                place,
                f"&, - and ~ stand between terminals, got the rule {name}; "
                "make it a terminal (upper case), or put the terminals in parentheses",
            )

    def _operand(self, operand: _Pieces, start: int) -> str:
        """Define an operand as a terminal of its own."""
        number = len(self.operand_places)
        while (name := f"OPERAND_{number}") in self._names:
            number += 1
        self._names.add(name)
        offset = next((o for _, o in operand.parts if o >= 0), start)
        self.operand_places[name] = self.place(offset)
        self._appended.add(f"{name}: ")
        self._appended.extend(operand)
        self._appended.add("\n")
        return name


@functools.cache
def _lexical() -> re.Pattern[str]:
    """The lexical definitions of Lark's loader and the additions, in the order in which Lark tries them."""
    from lark.load_grammar import TERMINALS
    from lark.utils import get_regexp_width

    def key(item: tuple[str, str]) -> tuple[int, int, str]:
        return -get_regexp_width(item[1])[1], -len(item[1]), item[0]

    ordered = [*_ADDED.items(), *sorted(TERMINALS.items(), key=key)]
    return re.compile("|".join(f"(?P<{name}>{_CLOSED.get(name, pattern)})" for name, pattern in ordered))


def _arguments(tokens: list[_Token]) -> int:
    """How many arguments a template has of which these tokens follow the name; 0 where none are there."""
    if not tokens or tokens[0].type != "_LBRACE":
        return 0
    depth, count = 0, 1
    for token in tokens:
        depth += (token.type in _OPENING) - (token.type in _OPENING.values())
        if not depth:
            break
        count += depth == 1 and token.type == "_COMMA"
    return count
