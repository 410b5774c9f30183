"""read_lark: a grammar in Lark's notation as a GrammarSource, read by Lark's own loader."""

from __future__ import annotations

import errno
import os
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..automata.errors import ConstraintError, LimitError, UnsupportedError
from .constraint import DEFAULT_LIMITS, SPECIAL, Constraint, ReportEntry
from .grammar_source import (
    GrammarSource,
    Indent,
    Lexing,
    Place,
    Production,
    Rule,
    Terminal,
    nesting_limit,
    short_text,
    stated_lexer,
)
from .json_schema import json_schema
from .lark_rules import LarkRules, bounds, check_calls, literal_pattern
from .lark_text import AlgebraHole, JsonHole, LarkText, NamedHole, SpecialHole
from .literal import literal
from .special_token import special_token
from .terminal_pattern import TerminalPattern, terminal_pattern

if TYPE_CHECKING:
    from lark.lexer import Pattern
    from lark.load_grammar import Grammar

    from .preferred_match import Guard

_NEWLINES, _INDENT, _DEDENT = ("_NEWLINE", "_NL"), "_INDENT", "_DEDENT"
_OPENING, _CLOSING = ("LPAR", "LSQB", "LBRACE"), ("RPAR", "RSQB", "RBRACE")


def read_lark(
    text: str,
    start: str | None = None,
    lexer: Lexing | None = None,
    constraints: Mapping[str, Constraint] | None = None,
    seconds: float = DEFAULT_LIMITS.seconds,
    import_paths: Sequence[str | os.PathLike[str]] = (),
) -> GrammarSource:
    r"""Read a grammar in Lark's notation.

    ``start`` is ``"start"`` where it is not given, and ``lexer`` what the first line says, such as ``// lexer: none``,
    or else ``"basic"``.

    The ``lark`` package reads it, so that rules, terminals, priorities, templates, aliases, ``%import``, ``%ignore``,
    ``%override``, ``%extend``, ``%declare``, ``[x]``, ``x~2..5`` and the flags of regular expressions are what they are
    there. Added: ``%json {...}`` (a JSON Schema), ``<|name|>`` (a special token), ``A & B``, ``A - B``, ``~A`` between
    terminals (looser than concatenation, tighter than ``|``), and names in ``constraints``, which may be declared.
    ``%declare _INDENT _DEDENT`` with a terminal ``_NEWLINE``, or else ``_NL``, is indentation as
    ``lark.indenter.PythonIndenter`` has it.

    Terminals come in order of precedence: by priority, strings before patterns, then as Lark's basic lexer sorts them.
    A pattern stands for the texts that ``re.match`` picks, which may depend on what follows (see
    :func:`.terminal_pattern.terminal_pattern`).

    Raises ConstraintError, with line and column, for what Lark refuses and for terminals that match the empty text
    (unless ``lexer`` is ``"none"``), UnsupportedError for patterns whose match depends on the text before it, or,
    without a lexer, after it, LimitError for rules that are nested too deeply or have too many alternatives and for
    patterns that need more than ``seconds`` of processor time (with lazy quantifiers, nested), ImportError without
    ``lark``.
    """
    try:
        from lark.exceptions import VisitError
    except ImportError:
        raise ImportError("grammar: Lark grammars need the lark package; pip install 'tokamata[grammar]'") from None
    try:
        lexing = lexer or stated_lexer(text)
        paths = [os.fspath(path) for path in import_paths]
        return _Reader(text, start or "start", lexing, dict(constraints or {}), seconds, paths).read()
    except RecursionError:
        raise nesting_limit(text, "lark") from None
    except VisitError as error:  # of Lark's, around whatever one of its functions raises
        if isinstance(error.orig_exc, RecursionError):
            raise nesting_limit(text, "lark") from None
        raise


def _file_of(error: BaseException) -> str | None:
    """The imported grammar that Lark was reading when it raised an error; None for the grammar itself."""
    file = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_name == "_parse_grammar":
            file = frame.f_locals.get("name")
    return str(file) if file not in (None, "<string>") else None


class _Reader:
    def __init__(
        self,
        text: str,
        start: str,
        lexer: Lexing,
        constraints: dict[str, Constraint],
        seconds: float,
        import_paths: list[str],
    ) -> None:
        self.start = start
        self.lexer: Lexing = lexer
        self.constraints = constraints
        self.seconds = seconds  # for what each pattern prefers to match
        self.import_paths = import_paths
        for name, constraint in constraints.items():
            if not re.fullmatch(r"_?([A-Z][A-Z0-9_]*|[a-z][a-z0-9_]*)", name):
                raise ConstraintError(
                    f"grammar: constraints: expected names of terminals such as DATE, got {name!r}; use upper case"
                )
            if not isinstance(constraint, Constraint):
                raise TypeError(
                    f"grammar: constraints[{name!r}]: expected a Constraint, got {type(constraint).__name__}; "
                    "make one with tokamata.regex, literal or choice"
                )
        self.text = LarkText(text, constraints)
        self.report: list[ReportEntry] = []

    def read(self) -> GrammarSource:
        grammar = self._load()
        made = self._rules(grammar)
        ignored = [str(name) for name in grammar.ignore]
        self._trees = {str(name): tree for name, (tree, _) in grammar.term_defs}
        priorities = {str(name): int(priority) for name, (_, priority) in grammar.term_defs}
        declared = {_INDENT, _DEDENT} <= made.declared
        newline = next((n for n in _NEWLINES if declared and n in made.patterns), None)
        indented = declared and (newline is not None or _INDENT in made.used)
        wanted = {*made.used, *ignored, *((newline,) if newline else ())}
        names = [name for name in made.patterns if name in wanted]
        orders = {name: self._precedence(name, made, priorities.get(name, 0)) for name in names}
        names.sort(key=orders.__getitem__)
        same = self._same_constraints(names, made, priorities, ignored)
        ignored = [name for name in ignored if name not in same]
        names = [name for name in names if name not in same]
        terminals = [self._terminal(n, made.patterns[n], priorities.get(n, 0), n in ignored) for n in names]
        indent = None
        if indented:
            indent, more = self._indent(names, newline)
            names, terminals = names + [t.name for t in more], terminals + more
        for name in sorted(made.used - set(names) - set(same)):
            if inner := self.text.imported(name):
                name, path, imported = inner
                raise ConstraintError(
                    f"grammar: {imported}: terminal {name} is declared but not defined in the imported grammar {path}; "
                    f"import it by its name, too, as in %import {path} (..., {name})"
                )
            place = self.text.used_at(name) or self.text.defined_at(name)
            raise ConstraintError(
                f"grammar: {place}: terminal {name} is declared but not defined; "
                f"define it, or pass constraints={{{name!r}: tokamata.regex(...)}}"
            )
        self._report_unused([*ignored, *made.used, newline or ""])
        by_name = {name: ~i for i, name in enumerate(names)}
        by_name.update({name: by_name[first] for name, first in same.items()})
        new = {rule: i for i, rule in enumerate(made.kept)}
        new.update({~i: by_name[name] for i, name in enumerate(made.terminals) if name in by_name})
        rules = [self._rule(made, r) for r in made.kept]
        productions = tuple(
            Production(i, tuple(new[s] for s in form), rules[i].place)
            for i, r in enumerate(made.kept)
            for form in made.productions[r]
        )
        return GrammarSource(
            syntax="lark",
            lexer=self.lexer,
            terminals=tuple(terminals),
            rules=(*rules, *self._unreachable([made.rules[r] for r in made.kept])),
            productions=productions,
            start=new[made.rules.index(self.start)],
            indent=indent,
            report=tuple(self.report),
        )

    # ---- Lark's loader
    def _load(self) -> Grammar:
        from lark.exceptions import LarkError, UnexpectedInput
        from lark.load_grammar import load_grammar

        try:
            loaded = load_grammar(self.text.text, "<string>", self.import_paths, False)  # type: ignore[no-untyped-call]
        except ValueError as error:  # a priority of thousands of digits
            raise ConstraintError(f"grammar: {error}; mend the grammar") from None
        except UnexpectedInput as error:
            raise self._unexpected(error, _file_of(error)) from None
        except TypeError as error:  # Lark fails to describe some of its own errors
            if not isinstance(error.__context__, UnexpectedInput):
                raise
            raise self._unexpected(error.__context__, _file_of(error)) from None
        except LarkError as error:
            raise self._error(str(error), _file_of(error)) from None
        except FileNotFoundError as error:
            raise self._not_found(str(error.filename)) from None
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise self._not_found(Path(str(error.filename)).name) from None
        except AssertionError as error:
            if str(error).startswith("Couldn't import grammar"):  # there is such a file in the working directory
                raise self._not_found("/".join(re.findall(r"'(\w+)'\)", str(error))) + ".lark") from None
            raise self._declared_inside() from None
        grammar: Grammar = loaded[0]
        for name, _, tree, _ in grammar.rule_defs:
            if tree is None:
                raise ConstraintError(
                    f"grammar: {self._place(str(name))}: rule {name} is declared but not defined; "
                    f"define it, or pass constraints={{{str(name)!r}: tokamata.regex(...)}}"
                )
        if self.start not in {str(name) for name, *_ in grammar.rule_defs}:
            rules = ", ".join(str(name) for name, *_ in grammar.rule_defs[:10]) or "none"
            raise ConstraintError(
                f"grammar: no rule {self.start!r} to start from; the rules are {rules}; pass start=..."
            )
        return grammar

    def _rules(self, grammar: Grammar) -> LarkRules:
        from lark.exceptions import LarkError

        try:
            made = LarkRules(grammar, self.start, self._place)
        except LarkError as error:
            self._check_patterns(grammar)
            raise self._error(str(error)) from None
        except ImportError:
            raise ImportError("grammar: \\p{...} in Lark grammars needs the regex package; pip install regex") from None
        except ConstraintError:
            raise
        except Exception as error:  # of re or regex about a pattern, or about some side by side in one terminal
            known = isinstance(error, (ValueError, OverflowError))  # the latter: repetitions that re does not count
            if known or type(error).__name__ in ("error", "PatternError"):
                self._check_patterns(grammar)
                raise ConstraintError(
                    f"grammar: Python's re cannot read the terminal's pattern {error}; mend it"
                ) from None
            raise
        return made

    def _unexpected(self, error: Any, file: str | None) -> ConstraintError:
        found = str(getattr(error, "token", None) or getattr(error, "char", ""))
        return self._error(f"unexpected {found!r}, at line {error.line} column {error.column}", file)

    def _error(self, message: str, file: str | None = None) -> ConstraintError:
        """Lark's message with the place in front; ``file``: the imported one in which it is."""
        message = message.strip()
        found = re.search(r",? ?at line (\d+) column (\d+)(?: in \S+?)?(?::|$)?", message)
        if found is not None:
            line, column = int(found[1]), int(found[2])
            place: Place | None = Place(line, column) if file else self.text.original_place(line, column)
            message = message[: found.start()] or "unexpected input"
        else:
            place = self._mentioned(message)
        message = " ".join(message.split())
        if undefined := re.match(r"Rule '(\w+)' used but not defined", message):  # Lark says so of terminals as well
            name = undefined[1]
            kind = "Terminal" if name.isupper() else "Rule"
            message = f"{kind} {name!r} used but not defined{message[undefined.end() :]}"
            if imported := self.text.defined_at(name):
                place = imported
                message = f"{kind} {name!r} is imported from a grammar that does not define it"
            elif name not in self.text.uses and (inner := self.text.imported(name)):
                name, path, place = inner
                kind = "Terminal" if name.isupper() else "Rule"
                message = f"{kind} {name!r} is used but not defined in the imported grammar {path}"
        elif place is None:
            for name in re.findall(r"'(\w+)'", message):
                if inner := self.text.imported(name):
                    place = inner[2]
                    message = f"{message.replace(name, inner[0])} in the imported grammar {inner[1]}"
                    break
        message = re.sub(r"(?:Non)?Terminal\('(\w+)'\)", r"\1", message)
        message = message[:1].lower() + message[1:] if message[1:2].islower() else message
        remedy = "" if "; " in message else "; mend the grammar there" if place else "; mend the grammar"
        where = "".join(f"{part}: " for part in (file, place) if part)
        return ConstraintError(f"grammar: {where}{message}{remedy}")

    def _mentioned(self, message: str) -> Place | None:
        """The place of the first name that a message mentions and the grammar has."""
        extended = re.match(r"can't extend \w+ (\w+)|cannot extend .*?(\w+)(?: -|$)", message, re.I)
        if extended is not None:
            return self.text.extended.get(extended[1] or extended[2])
        template = re.match(r"Wrong number of .* used for (\w+) .expected \d+, got (\d+).* (\w+)\)$", message)
        if template is not None and (place := self.text.used_within(template[1], template[3], int(template[2]))):
            return place
        inside = re.match(r"Rules aren't allowed inside terminals \(\w+\('(\w+)'\) in (\w+)\)", message)
        if inside is not None and (place := self.text.used_within(inside[1], inside[2])):
            return place
        if message.startswith("Inlined rules"):
            return self.text.inlined_twice()
        names = [n for n in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", message) if n == n.lower() or n == n.upper()]
        quoted = re.findall(r"'([A-Za-z_][A-Za-z0-9_]*)'", message)
        quoted += re.findall(r"(?:nonexisting \w+|used for|in template|parameters:|Error at|defined:) (\w+)", message)
        for name in quoted + names:
            if "not defined" in message and name in self.text.uses:
                return self.text.used_at(name)
            if "more than once" in message and len(self.text.definitions.get(name, ())) > 1:
                return self.text.definitions[name][1]
            place = self.text.operand_places.get(name) or self.text.defined_at(name) or self.text.used_at(name)
            if place is not None:
                return place
        return None

    def _not_found(self, name: str) -> ConstraintError:
        where = f"{self.text.imports[name]}: " if name in self.text.imports else ""
        return ConstraintError(
            f"grammar: {where}%import: no grammar {name!r} was found in import_paths, beside the program or among "
            "those of lark (common, python, lark, unicode); pass import_paths=[directory], or define what it has here"
        )

    def _declared_inside(self) -> ConstraintError:
        place = self.text.declared_within()
        where = f"{place}: " if place else ""
        return ConstraintError(
            f"grammar: {where}a terminal that is only declared cannot be part of another terminal; "
            "pass it in constraints={...}, or define it"
        )

    def _check_patterns(self, grammar: Grammar) -> None:
        """Raise ConstraintError for a pattern that Python's re cannot read, with what tokamata.regex says about it."""
        from lark.exceptions import LarkError
        from lark.utils import get_regexp_width

        definitions = [(str(n), t) for n, (t, _) in grammar.term_defs] + [
            (str(n), t) for n, _, t, _ in grammar.rule_defs
        ]
        for name, tree in definitions:
            for token in tree.scan_values(_is_literal) if tree is not None else ():
                try:
                    pattern = literal_pattern(token).to_regexp()
                except LarkError as error:
                    why = next((str(a.msg) for a in error.args if isinstance(a, SyntaxError)), str(error))
                    shown = "%ignore" if name.startswith("__IGNORE") else self._shown(name)
                    raise ConstraintError(
                        f"grammar: {self._token_place(name, token)}: {shown}: {token}: {why}"
                    ) from None
                try:
                    check_calls(pattern)
                    get_regexp_width(pattern)
                except ImportError:
                    raise
                except Exception:
                    about = "" if name in self.text.operand_places else f"{self._shown(name)}: "
                    where = f"grammar: {self._token_place(name, token)}: {about}"
                    try:
                        terminal_pattern(pattern, self.seconds)
                    except ConstraintError as error:
                        raise ConstraintError(f"{where}{error}") from None
                    raise ConstraintError(f"{where}Python's re cannot read {token}; mend it") from None

    def _token_place(self, name: str, token: Any) -> Place | None:
        position = getattr(token, "start_pos", None)
        known = name in self.text.definitions or name in self.text.operand_places
        if (known or name.startswith("__IGNORE")) and self.text.text.startswith(str(token), position):
            return self.text.trace(int(position or 0))
        inner = self.text.imported(name)
        return inner[2] if inner else self._place(name)

    # ---- rules
    def _rule(self, made: LarkRules, rule: int) -> Rule:
        """A rule as it was written; one that was made for a repetition as what that is in the text."""
        name, origin = made.rules[rule], made.origins[rule]
        place = self._place(origin)
        if rule not in made.made_for:
            return Rule(name, place, origin == name)
        operator = made.made_for[rule]
        found = self.text.repetition(operator) if operator >= 0 and origin in self.text.written else None
        if found is not None:
            return Rule(short_text(found[0]), found[1], written=False)
        return Rule(f"[{'part' if operator < 0 else 'repetition'} of {origin}]", place, written=False)

    def _unreachable(self, made: list[str]) -> list[Rule]:
        """Written rules that Lark left out because no rule that it kept calls them; they have no productions."""
        kept = {name.split("{", 1)[0] for name in made}
        return [Rule(n, place) for n, place in self.text.written.items() if n == n.lower() and n not in kept]

    def _report_unused(self, others: list[str]) -> None:
        for name, place in self.text.written.items():
            if name != name.lower() and name not in self.text.uses and name not in others:
                self.report.append(ReportEntry(str(place), name, "ignored", "no rule uses this terminal"))

    def _place(self, name: str) -> Place | None:
        return self.text.operand_places.get(name) or self.text.defined_at(name)

    def _shown(self, name: str) -> str:
        """A name as it is written, for errors."""
        inner = self.text.imported(name)
        return f"{inner[0]} of the imported grammar {inner[1]}" if inner else name

    # ---- terminals
    def _precedence(self, name: str, made: LarkRules, priority: int) -> tuple[int, int, int, int, str]:
        from lark.lexer import PatternStr

        pattern = made.patterns[name]
        if any(c in pattern.value for c in self.text.holes):
            special = isinstance(self.text.holes.get(pattern.value), SpecialHole)
            return -priority, not special, 0, 0, name
        written = isinstance(pattern, PatternStr)
        return -priority, not written, -made.widths[name], -len(pattern.value), name

    def _same_constraints(
        self, names: list[str], made: LarkRules, priorities: dict[str, int], ignored: list[str]
    ) -> dict[str, str]:
        """Terminals that are one passed constraint and nothing else, by name the first of the same one."""
        first: dict[tuple[int, int, bool], str] = {}
        same: dict[str, str] = {}
        for name in names:
            hole = self.text.holes.get(made.patterns[name].value)
            if isinstance(hole, NamedHole) and name not in (*_NEWLINES, *_OPENING, *_CLOSING):
                key = id(self.constraints[hole.name]), priorities.get(name, 0), name in ignored
                if first.setdefault(key, name) != name:
                    same[name] = first[key]
        return same

    def _terminal(self, name: str, pattern: Pattern, priority: int, ignored: bool) -> Terminal:
        from lark.lexer import PatternStr

        place = self._place(name)
        text: bytes | None = None
        guards: tuple[Guard, ...] = ()
        hole = self.text.holes.get(pattern.value)
        inline = self.text.in_rules.get(pattern.value, [])
        if place is None:
            place = inline[0] if inline else hole.place if hole is not None else self._anonymous_place(pattern)
        places = tuple(dict.fromkeys([*([place] if place else []), *inline]))
        try:
            if hole is not None:
                constraint = self._fill(hole)
                name = self._hole_name(name, hole)
                if isinstance(hole, AlgebraHole) and hole.operators == ("~",) and self.lexer != "none":
                    constraint = constraint - b""
                    entries = [ReportEntry(str(p), name, "enforced", "the empty text is left out") for p in places]
                    self.report += entries
                text = _marker(hole.name) if isinstance(hole, SpecialHole) else None
            elif any(c in pattern.value for c in self.text.holes):
                constraint = self._compose(self._trees[name])
            else:
                if isinstance(pattern, PatternStr) and not pattern.flags:
                    text = _encoded(pattern.value)
                if name.startswith(("__ANON", "__IGNORE")):
                    name = pattern.raw or name
                constraint, guards, _ = self._pattern(pattern, place, name)
            if self.lexer != "none" and constraint.accepts(b""):
                raise ConstraintError(
                    f"terminal {self._shown(name)} matches the empty text; make it match something, "
                    "and put ? where it is used"
                )
        except (ConstraintError, LimitError) as error:
            if str(error).startswith("grammar: "):
                raise
            if wrong := self._wrong_literal(name, error):
                raise wrong from None
            if place is None and (inner := self.text.imported(name)):
                place = inner[2]
            where = f"{place}: " if place else ""
            about = "" if str(error).startswith("terminal ") else f"terminal {self._shown(name)}: "
            raise type(error)(f"grammar: {where}{about}{error}") from None
        return Terminal(name, constraint, text, priority, ignored, place, guards, places)

    def _wrong_literal(self, name: str, error: Exception) -> ConstraintError | None:
        """The error of the first pattern in a terminal that has one by itself, at the pattern; None: of none."""
        if not isinstance(error, ConstraintError) or name not in self._trees:
            return None
        for token in self._trees[name].scan_values(_is_literal):
            if token.type != "REGEXP" or any(c in token for c in self.text.holes):
                continue
            where = f"grammar: {self._token_place(name, token)}: terminal {self._shown(name)}: "
            try:
                terminal_pattern(literal_pattern(token).to_regexp(), self.seconds, self.lexer != "none")
            except ConstraintError as wrong:
                return type(wrong)(f"{where}{wrong}")
            except LimitError:
                return None
            flags = re.match(r"/\(\?([aimsux]+)\)", token)
            if flags and "global flags not at the start" in str(error):
                return ConstraintError(
                    f"{where}the flags (?{flags[1]}) are of a pattern that is only a part of the terminal; write "
                    f"(?{flags[1]}:...) around what they are for"
                )
        return None

    def _anonymous_place(self, pattern: Pattern) -> Place | None:
        """The first place where a string or pattern stands."""
        offset = self.text.literals.get(pattern.raw or "")
        return self.text.place(offset) if offset is not None else None

    def _pattern(self, pattern: Pattern, place: Place | None, name: str, lexed: bool = True) -> TerminalPattern:
        from lark.lexer import PatternStr

        if isinstance(pattern, PatternStr) and not pattern.flags:
            return TerminalPattern(literal(_encoded(pattern.value)))
        made = terminal_pattern(pattern.to_regexp(), self.seconds, lexed and self.lexer != "none")
        if made.remark:
            where = str(place or self._anonymous_place(pattern) or "")
            self.report.append(ReportEntry(where, name, "enforced", made.remark))
        return made

    def _fill(self, hole: object) -> Constraint:
        if isinstance(hole, NamedHole):
            return self.constraints[hole.name]
        if isinstance(hole, SpecialHole):
            if hole.name.startswith("<["):
                raise UnsupportedError(
                    f"grammar: {hole.place}: a token by number, {hole.name}, depends on the vocabulary; "
                    "write the token's text, or <name> for a special token"
                )
            return special_token(hole.name)
        if isinstance(hole, JsonHole):
            try:
                return json_schema(hole.schema)
            except (ConstraintError, LimitError) as error:
                raise type(error)(f"grammar: {hole.place}: %json: {error}") from None
        assert isinstance(hole, AlgebraHole)
        operands = [self._compose(self._trees[name]) for name in hole.operands]
        if hole.operators == ("~",):
            return ~operands[0]
        result = operands[0]
        for operator, operand in zip(hole.operators, operands[1:], strict=True):
            result = result & operand if operator == "&" else result - operand
        return result

    def _hole_name(self, name: str, hole: object) -> str:
        if not name.startswith("__ANON"):
            return name
        if isinstance(hole, JsonHole):
            return "%json"
        return hole.text if isinstance(hole, AlgebraHole) else getattr(hole, "name", name)

    def _compose(self, tree: Any) -> Constraint:
        """The language of a terminal's tree that has holes."""
        from lark.load_grammar import PrepareLiterals, TerminalTreeToPattern, nr_deepcopy_tree
        from lark.tree import Tree

        tokens = list(tree.scan_values(_is_literal))
        if not any(c in token for token in tokens for c in self.text.holes):
            copied = nr_deepcopy_tree(tree)  # type: ignore[no-untyped-call]
            if any(not e.children for e in copied.find_data("expansion")) and not tokens:
                return literal(b"")
            pattern = (PrepareLiterals() * TerminalTreeToPattern()).transform(copied)
            return self._pattern(pattern, None, "", lexed=False).constraint
        children = list(tree.children)
        if tree.data == "literal":
            pattern = literal_pattern(children[0])
            return self._fill(self.text.holes[pattern.value])
        if tree.data == "expansions":
            parts = [self._compose(c) for c in children]
            result = parts[0]
            for part in parts[1:]:
                result = result | part
            return result
        if tree.data == "expansion":
            parts = [self._compose(child) for child in self._runs(children)]
            result = parts[0] if parts else literal(b"")
            for part in parts[1:]:
                result = result + part
            return result
        if tree.data == "maybe":
            return self._compose(children[0]).repeat(0, 1)
        if tree.data == "expr":
            return self._compose(children[0]).repeat(*bounds([str(c) for c in children[1:]]))
        if tree.data == "alias":
            raise ConstraintError("aliases (->) stand in rules, not in terminals")
        assert isinstance(children[0], Tree), tree
        return self._compose(children[0])

    def _runs(self, children: list[Any]) -> Iterator[Any]:
        """Parts of a concatenation; neighbours without holes stay together, for what looks around inside them."""
        from lark.tree import Tree

        run: list[Any] = []
        for child in children:
            tokens = child.scan_values(lambda v: getattr(v, "type", "") == "STRING")
            if any(c in token for token in tokens for c in self.text.holes):
                if run:
                    yield Tree("expansion", run)
                run = []
                yield child
            else:
                run.append(child)
        if run:
            yield Tree("expansion", run)

    # ---- indentation
    def _indent(self, names: list[str], newline: str | None) -> tuple[Indent, list[Terminal]]:
        from .literal import choice

        if newline is None:
            raise ConstraintError(
                f"grammar: {self.text.defined_at(_INDENT)}: {_INDENT} and {_DEDENT} need a terminal _NEWLINE, or _NL, "
                r"that matches a line's end and the blanks after it, such as _NEWLINE: /(\r?\n[\t ]*)+/"
            )
        never = choice(["x"]) - "x"
        more = [Terminal(n, never, place=self.text.defined_at(n)) for n in (_INDENT, _DEDENT)]
        indent = Indent(
            newline=names.index(newline),
            indent=len(names),
            dedent=len(names) + 1,
            opening=tuple(names.index(n) for n in _OPENING if n in names),
            closing=tuple(names.index(n) for n in _CLOSING if n in names),
        )
        return indent, more


def _is_literal(value: Any) -> bool:
    return getattr(value, "type", "") in ("STRING", "REGEXP")


def _marker(name: str) -> bytes:
    return SPECIAL + name.encode() + SPECIAL


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ConstraintError(f"expected Unicode text, got a lone surrogate in {text!r}") from None
