"""GrammarSource: a grammar as terminals, rules and productions, whatever notation it was written in."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..automata.errors import ConstraintError, LimitError
from .constraint import SPECIAL, Constraint, ReportEntry, forgotten

if TYPE_CHECKING:
    from .preferred_match import Guard

GrammarSyntax = Literal["lark", "gbnf", "ebnf"]
Lexing = Literal["basic", "contextual", "none"]
MOST_LETTERS = 100  # of a terminal that is shown as text, and of a piece of a grammar in an error
MOST_MESSAGE = 1000  # characters of an error that is left as it is

# What Lark's loader takes for comments, strings and patterns.
LARK_LITERAL = r'//[^\n]*|#[^\n]*|"(?:\\"|\\\\|[^"\n])*?"|/(?!/)(?:\\/|\\\\|[^/])*?/'
# What may hold brackets that nest nothing: strings, classes, patterns and comments.
_NOT_NESTED = {
    "lark": LARK_LITERAL,
    "gbnf": r'#[^\n]*|"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]',
    "ebnf": r"/\*.*?\*/|\"[^\"]*\"|'[^']*'|\[[^\]]*\]",
}


def nesting_limit(text: str, syntax: GrammarSyntax) -> LimitError:
    """The error of a text whose groups are nested deeper than Python's stack, with the place of the innermost one."""
    depth = deepest = position = 0
    for found in re.finditer(_NOT_NESTED[syntax] + r"|([(\[{])|[)\]}]", text, re.DOTALL):
        if found[1]:
            depth += 1
            if depth > deepest:
                deepest, position = depth, found.start()
        elif found[0] in ")]}":
            depth -= 1
    place = Place(text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))
    where = f"{place}: " if deepest > 9 else ""  # else something other than brackets
    return LimitError(
        f"grammar: {where}the limit nesting={sys.getrecursionlimit()} (of Python's calls) was reached: groups are "
        "nested too deeply; use rules instead of groups, or raise it: sys.setrecursionlimit(n)"
    )


class Place(NamedTuple):
    """A place in a grammar's text; both numbers begin with 1, columns count characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def named_limit(error: LimitError, start: str, place: Place | None) -> LimitError:
    """The error with the rule that a grammar starts from, where it names nothing of the grammar."""
    if str(error).startswith("grammar: "):
        return error
    return type(error)(f"grammar: {f'{place}: ' if place else ''}{start}: {error}")


@dataclass(frozen=True)
class Terminal:
    r"""A terminal: a set of texts that does not depend on the rules.

    ``name``: as written; Lark's own names (``LPAR``, ``PLUS``) for anonymous ones, else their text. ``constraint``: its
    language over bytes, without the empty text where the grammar has a lexer; no text at all for INDENT and DEDENT.
    ``literal``: its only text where it was written as a case-sensitive string, or the marker of a special token
    (``b"\xff<|name|>\xff"``). ``ignored``: may stand before, between and after all others, any number of times.
    ``guards``: for some of its texts, what must follow them so that they are lexemes. ``places``: all of them where an
    addition to the notation stands more than once, each with entries in the report; ``place`` is the first.
    """

    name: str
    constraint: Constraint
    literal: bytes | None = None
    priority: int = 0
    ignored: bool = False
    place: Place | None = None
    guards: tuple[Guard, ...] = ()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Production:
    """One right-hand side of ``rule``: symbol s >= 0 is rule s, symbol s < 0 is terminal ~s."""

    rule: int
    symbols: tuple[int, ...]
    place: Place | None = None


@dataclass(frozen=True)
class Rule:
    """A rule's name; ``written`` is False for those made for repetitions, groups and uses of templates."""

    name: str
    place: Place | None = None
    written: bool = True


@dataclass(frozen=True)
class Indent:
    """Indentation as Python has it, by terminal index.

    Outside brackets, ``newline`` ends with the blanks that begin the next line; their width (a tab is ``tab_length``
    blanks) against the stack of open widths yields one ``indent``, nothing, or ``dedent`` as often as blocks end, after
    the newline; a width that was not open is an error. Inside brackets newlines are dropped. At the end of the text
    all open blocks are dedented.
    """

    newline: int
    indent: int
    dedent: int
    opening: tuple[int, ...] = ()
    closing: tuple[int, ...] = ()
    tab_length: int = 8


@dataclass(frozen=True)
class GrammarSource:
    """A grammar in plain BNF over terminals.

    ``lexer``: with ``"basic"`` and ``"contextual"`` the text is cut into lexemes, each the longest that some competing
    terminal matches; of equally long ones the terminal first in ``terminals`` is taken. ``"basic"``: all compete
    everywhere; ``"contextual"``: those that the parser can take there, and the ignored ones. ``"none"``: terminals are
    languages, concatenated. ``start``: an index into ``rules``. ``operands``: the rules that stand on the sides of a
    rule's exceptions (``A - B``), which are terminals, as productions. ``as_written``: makes the grammar as it was
    written, where this one has the same texts and fewer rules.
    """

    syntax: GrammarSyntax
    lexer: Lexing
    terminals: tuple[Terminal, ...]
    rules: tuple[Rule, ...]
    productions: tuple[Production, ...]
    start: int
    indent: Indent | None = None
    report: tuple[ReportEntry, ...] = ()
    operands: tuple[Production, ...] = ()
    as_written: Callable[[], GrammarSource] | None = None

    @property
    def special_tokens(self) -> frozenset[str]:
        """The names of the special tokens in terminals."""
        return frozenset().union(*(terminal.constraint.special_tokens for terminal in self.terminals))

    def written(self) -> GrammarSource:
        """The grammar as it was written, for whoever asks about more than its texts."""
        return self.as_written() if self.as_written else self

    def entries(self) -> tuple[ReportEntry, ...]:
        """The report: what reading found, and what the terminals' constraints have in theirs beyond "enforced".

        Objects do not remember keys in terminals, which are told apart text by text; so keys may be repeated.
        """
        source = self.written()
        return (*source.report, *(entry for terminal in source.terminals for entry in _entries_of(terminal)))

    def name(self, symbol: int) -> str:
        """The name of a symbol of a production."""
        return self.rules[symbol].name if symbol >= 0 else self.terminals[~symbol].name

    def label(self, symbol: int) -> str:
        """A symbol for people to read: strings as text in quotes, all else by name."""
        text = self.terminals[~symbol].literal if symbol < 0 else None
        if text is None or text[:1] == SPECIAL:
            return self.name(symbol)
        return shortened(quoted(text), MOST_LETTERS)

    def show(self, production: Production) -> str:
        """A production as text: ``name: symbols``."""
        right = " ".join(self.label(s) for s in production.symbols) or "()"
        return f"{self.rules[production.rule].name}: {right}"

    def by_rule(self) -> list[list[Production]]:
        """The productions of each rule, in order."""
        found: list[list[Production]] = [[] for _ in self.rules]
        for production in self.productions:
            found[production.rule].append(production)
        return found


def quoted(text: bytes) -> str:
    """A text for people to read, in quotes; special tokens by name."""
    return json.dumps(text.replace(SPECIAL, b"").decode(errors="backslashreplace"), ensure_ascii=False)


def short_text(text: str) -> str:
    """The beginning of a text in one line, as a name of what it stands for."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters for people to read; of a longer one its beginning and its end."""
    if len(text) <= most:
        return text
    half = (most - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


@contextlib.contextmanager
def short_errors() -> Iterator[None]:
    """Leave out the middle of what errors quote of a grammar, where it is long."""
    try:
        yield
    except (ConstraintError, LimitError) as error:
        text = str(error)
        if len(text) <= MOST_MESSAGE:
            raise
        text = re.sub(r"\S{200,}|\s{200,}", lambda piece: shortened(piece[0], MOST_LETTERS), text)
        raise type(error)(shortened(text, 5 * MOST_MESSAGE)) from None


def schema_key(schema: str) -> str:
    """The same text for JSON texts of equal values, keys in the same order, and numbers that are written alike."""

    def number(text: str) -> tuple[str]:  # const 1 and const 1.0 have different texts
        return (text,)

    def members(pairs: list[tuple[str, object]]) -> object:
        found = dict(pairs)
        return found if len(found) == len(pairs) else tuple(pairs)

    try:
        return repr(json.loads(schema, object_pairs_hook=members, parse_int=number, parse_float=number))
    except (ValueError, RecursionError):
        return schema


def _entries_of(terminal: Terminal) -> Iterator[ReportEntry]:
    for entry in terminal.constraint.report:
        kept = forgotten(entry)
        if kept.status != "enforced":
            for stands in terminal.places or (terminal.place,):
                place = ": ".join(str(part) for part in (stands, kept.place) if part)
                yield ReportEntry(place, f"{terminal.name}: {kept.subject}", kept.status, kept.detail)


def stated_lexer(text: str) -> Lexing:
    """Return the lexer that the first line of a Lark file asks for; ConstraintError for one that there is not."""
    line = text.partition("\n")[0]
    stated = re.fullmatch(r"//[ \t]*lexer:[ \t]*(\S+)\s*", line)
    if stated is None or stated[1] == "basic":
        return "basic"
    if stated[1] == "none":
        return "none"
    if stated[1] == "contextual":
        return "contextual"
    raise ConstraintError(
        f'grammar: line 1, column {stated.start(1) + 1}: expected the lexer "basic", "contextual" or "none", got '
        f"{stated[1]!r}; name one of them, or write another comment"
    )
