"""grammar: the texts of a context-free grammar in the notation of Lark, GBNF or EBNF."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .._core import CaptureParts, Indentation
from .._core import grammar as _native_grammar
from ..automata.checks import checked_choice, checked_flag, checked_path, checked_several
from ..automata.errors import ConstraintError, LimitError, UnsupportedError
from .constraint import DEFAULT_LIMITS, Constraint, Limits, Text, native_limits, to_bytes

if TYPE_CHECKING:
    from .._core import Language
    from .._core import Limits as NativeLimits
    from .grammar_source import GrammarSource, GrammarSyntax, Indent, Lexing

MOST_COLUMNS = 120  # that a line of a grammar with indentation may be indented by
_LEXERS = (None, "basic", "contextual", "none")


def grammar(
    text: Text,
    syntax: GrammarSyntax = "lark",
    start: str | None = None,
    lexer: Lexing | None = None,
    constraints: Mapping[str, Constraint] | None = None,
    strict: bool = False,
    *,
    import_paths: Sequence[str | os.PathLike[str]] = (),
    limits: Limits | None = None,
) -> Constraint:
    """The texts of a context-free grammar; a push-down constraint, or in GBNF and EBNF a regular one if its rules are.

    ``text``: the grammar; bytes are UTF-8. ``syntax``: ``"lark"`` (see :func:`.lark_source.read_lark`), ``"gbnf"`` (as
    llama.cpp documents it) or ``"ebnf"`` (the notation of the W3C's XML specification). ``start``: the rule to begin
    with, by default ``start`` in Lark, ``root`` in GBNF and the first rule in EBNF. ``constraints``: by name, further
    terminals.
    ``import_paths``: directories in which Lark's ``%import`` looks for grammars, before the program's own (which Lark
    takes for what is imported relative to a text) and those of lark.

    ``lexer="basic"`` (Lark's default, if the first line asks for no other, as ``// lexer: none`` does): the text is
    cut into lexemes by longest match, with backtracking to the last place that matched; the first of equally long
    ones by precedence is taken, so a keyword is never a name; ignored terminals may stand anywhere between.
    ``"contextual"``: only terminals that can follow compete. ``"none"`` (GBNF and EBNF): terminals are languages,
    concatenated.

    Everything context-free works: left recursion, empty and cyclic rules, ambiguity. No text that is allowed leads into
    a dead end, not even where longest match makes terminals run into each other. Rules become automata now
    (polynomial, but for alternatives that overlap in many ways); stacks appear when a text or a model reaches them.
    Raises ConstraintError, with line and column, for a malformed grammar and for one whose rules derive no text,
    UnsupportedError for what cannot be enforced exactly, LimitError past ``limits``. Where rules derive texts, but
    longest match cuts none of them as they do, that is found by ``is_empty`` and by ``tokamata.compile``.

    The constraint's ``report`` says whether the grammar is deterministic as written, and if not, where (see
    :func:`.grammar_check.check`); with ``strict=True`` a grammar that is not raises ConstraintError. That is asked of
    rules: a part of a GBNF or EBNF rule that calls no rule, such as ``[ab] | [bc]``, is one regular expression, and how
    its alternatives overlap is not.

    Source: Koo et al., "Automata-based constraints for language model decoding" (2024), section 3; for the sets of
    stacks Tomita, "Efficient Parsing for Natural Language" (1985).
    """
    checked_flag("grammar", "strict", strict)
    own = native_limits(limits, "grammar")
    from .grammar_source import short_errors

    text, paths = _check(text, syntax, start, lexer, constraints, import_paths, "grammar")
    with short_errors():
        return _grammar(text, syntax, start, lexer, constraints, strict, paths, limits, own)


def _grammar(
    text: str,
    syntax: GrammarSyntax,
    start: str | None,
    lexer: Lexing | None,
    constraints: Mapping[str, Constraint] | None,
    strict: bool,
    paths: Sequence[str | os.PathLike[str]],
    limits: Limits | None,
    own: NativeLimits | None,
) -> Constraint:
    from .grammar_check import DiagnosisReport, no_text
    from .grammar_source import named_limit

    shadowed = any((Path(path) / "common.lark").exists() for path in paths)
    if syntax == "lark" and not constraints and not strict and not shadowed:
        from .plain_lark import plain_lark

        made = plain_lark(text, start, lexer, limits)
        if made is not None:
            return made
    source = _read(text, syntax, start, lexer, constraints, limits, paths)
    _require_lexer(source)
    diagnosis = DiagnosisReport(source)
    if strict:
        diagnosis.require_determinism()
    try:
        native = language_of(source, own)
    except ConstraintError:
        if (error := no_text(source.written())) is not None:
            raise error from None
        raise
    except LimitError as error:
        start_rule = source.rules[source.start]
        raise named_limit(error, start_rule.name, start_rule.place) from None
    made = Constraint(
        native,
        source=f"grammar({source.rules[source.start].name})",
        report=(source, diagnosis),
        special_tokens=source.special_tokens,
        has_raw_bytes=any(terminal.constraint._has_raw_bytes for terminal in source.terminals),
        is_text=all(terminal.constraint._is_text for terminal in source.terminals),
    )
    named = next((t for t in source.terminals if t.constraint._parts), None)
    if named is not None:
        where = f"{named.place}: " if named.place else ""
        made._parts = CaptureParts.unknown(
            native,
            f"captures: {where}the named parts of the terminal {named.name} are not followed inside of a grammar; "
            "parse the text with the grammar, or join the named parts with +, | and repeat",
        )
    return made


def language_of(source: GrammarSource, limits: NativeLimits | None = None) -> Language:
    """The texts of a grammar that was read; ConstraintError for one without any, LimitError past ``limits``."""
    symbols = source.productions[0].symbols if len(source.productions) == 1 else ()
    if source.lexer == "none" and len(symbols) == 1 and symbols[0] < 0:  # one terminal is all
        native = source.terminals[~symbols[0]].constraint._native
        if native.is_empty():
            raise ConstraintError("grammar: the grammar has no text: its terminals have none; let them have some")
        return native if limits is None else native.with_limits(limits)
    return _native_grammar(
        [t.constraint._native for t in source.terminals],
        [f"{t.name} ({t.place})" if t.place else t.name for t in source.terminals],
        [r.name for r in source.rules],
        [(p.rule, p.symbols) for p in source.productions],
        source.start,
        [i for i, t in enumerate(source.terminals) if t.ignored],
        source.lexer,
        _indentation(source.indent),
        limits,
        [guard.native(i) for i, terminal in enumerate(source.terminals) for guard in terminal.guards],
        [str(r.place or "") for r in source.rules],
    )


def _require_lexer(source: GrammarSource) -> None:
    """UnsupportedError where a grammar without a lexer has what lexemes are needed for."""
    ignored = next((t for t in source.terminals if t.ignored), None)
    if source.lexer == "none" and ignored is not None:
        where = f"{ignored.place}: " if ignored.place else ""
        raise UnsupportedError(
            f'grammar: {where}%ignore {ignored.name} needs a lexer, and lexer is "none": there are no lexemes to '
            'ignore between; write the terminal where it may stand, or pass lexer="basic"'
        )
    if source.lexer == "none" and source.indent is not None:
        indent = source.terminals[source.indent.indent]
        where = f"{indent.place}: " if indent.place else ""
        raise UnsupportedError(
            f'grammar: {where}%declare {indent.name} needs a lexer, and lexer is "none": without lexemes it is open '
            'where a newline with its blanks ends; pass lexer="basic"'
        )


def _indentation(indent: Indent | None) -> Indentation | None:
    if indent is None:
        return None
    return Indentation(
        indent.newline,
        indent.indent,
        indent.dedent,
        list(indent.opening),
        list(indent.closing),
        indent.tab_length,
        MOST_COLUMNS,
    )


def read_grammar(
    text: Text,
    syntax: GrammarSyntax = "lark",
    start: str | None = None,
    lexer: Lexing | None = None,
    constraints: Mapping[str, Constraint] | None = None,
    limits: Limits | None = None,
    import_paths: Sequence[str | os.PathLike[str]] = (),
    function: str = "grammar",
) -> GrammarSource:
    """What :func:`grammar` makes of a text before it is compiled, with the rules as they are written.

    ``function``: who asks, for errors of arguments.
    """
    from .grammar_source import short_errors

    text, paths = _check(text, syntax, start, lexer, constraints, import_paths, function)
    with short_errors():
        return _read(text, syntax, start, lexer, constraints, limits, paths).written()


def _read(
    text: str,
    syntax: GrammarSyntax,
    start: str | None,
    lexer: Lexing | None,
    constraints: Mapping[str, Constraint] | None,
    limits: Limits | None,
    paths: Sequence[str | os.PathLike[str]],
) -> GrammarSource:
    if syntax == "lark":
        from .lark_source import read_lark

        return read_lark(text, start, lexer, constraints, (limits or DEFAULT_LIMITS).seconds, paths)
    if syntax == "gbnf":
        from .gbnf_source import read_gbnf

        return read_gbnf(text, start, lexer, constraints)
    from .ebnf_source import read_ebnf

    return read_ebnf(text, start, lexer, constraints)


def _check(
    text: object, syntax: object, start: object, lexer: object, constraints: object, import_paths: object, function: str
) -> tuple[str, list[str | os.PathLike[str]]]:
    """Raise TypeError or ValueError for arguments that make no sense.

    Returns the text without a byte order mark at its beginning, and ``import_paths`` as a list.
    """
    if isinstance(text, bytes):
        text = _decoded(text, function)
    if not isinstance(text, str):
        raise TypeError(
            f"{function}: expected the grammar as str or bytes, got {type(text).__name__}; read the file first"
        )
    to_bytes(text, function)
    checked_choice(function, "syntax", syntax, ("lark", "gbnf", "ebnf"))
    checked_choice(function, "lexer", lexer, _LEXERS)
    if start is not None and not isinstance(start, str):
        raise TypeError(f"{function}: expected start as the name of a rule, got {type(start).__name__}; pass a str")
    to_bytes(start or "", function)
    paths = checked_several(function, "import_paths", import_paths, "pass a list with it")
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"{function}: expected import_paths as directories, got {path!r}; pass str or Path")
        checked_path(f"{function}: import_paths", path)
    if paths and syntax != "lark":
        raise ValueError(f"{function}: import_paths: grammars in {syntax} import nothing; leave it out")
    if constraints is not None and not isinstance(constraints, Mapping):
        raise TypeError(
            f"{function}: expected constraints as a mapping from terminals to Constraints, got "
            f"{type(constraints).__name__}; pass a dict"
        )
    for name in constraints or ():
        if not isinstance(name, str):
            raise TypeError(
                f"{function}: constraints: expected names of terminals as str, got {name!r} ({type(name).__name__}); "
                'pass constraints={"DATE": ...}'
            )
    return text.removeprefix("\ufeff"), paths


def _decoded(data: bytes, function: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise ConstraintError(
            f"{function}: line {line}, column {column}: expected UTF-8, got the byte 0x{data[error.start]:02x}; "
            "mend the grammar there"
        ) from None
