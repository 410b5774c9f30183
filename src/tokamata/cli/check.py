"""``tokamata check``: is a text a member, and where does it leave the language; what a grammar's rules are like."""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from ..automata.errors import LimitError
from ..constraints import Constraint
from ..constraints.grammar import language_of, read_grammar
from ..constraints.grammar_check import check as check_grammar
from ..constraints.grammar_check import no_text
from ..constraints.grammar_source import GrammarSource, GrammarSyntax
from .common import (
    NOTATIONS,
    ChoiceOption,
    FstOption,
    GrammarOption,
    LimitOption,
    LiteralOption,
    RegexOption,
    RegistryOption,
    SchemaOption,
    StartOption,
    byte_names,
    constraint_of,
    errors,
    examples,
    headline,
    import_paths,
    out,
    read_text,
    shown,
)

EXAMPLES = examples(
    r"tokamata check -r '[0-9]{4}-[0-9]{2}' 2026-1x",
    r"tokamata check -c yes -c no maybe",
    r"echo -n 12 | tokamata check -r '\d+' -",
    r"tokamata check --schema person.json --file ada.json",
    r"tokamata check grammar.lark",
    r"tokamata check -g grammar.lark --file text",
)

# Of documents that anybody wrote, not as a model is made to write them.
DOCUMENTS = {"whitespace": "any", "key_order": "any", "numbers": "any"}


def diagnose(path: Path, start: str | None, strict: bool) -> None:
    """Print what :func:`check_grammar` finds in a grammar file."""
    syntax = cast(GrammarSyntax, path.suffix[1:])
    source = read_grammar(read_text(path), syntax, start, import_paths=import_paths(path))
    diagnosis = check_grammar(source)
    if empty := without_text(source):
        verdict, color = "no text", "red"
    elif diagnosis.ambiguity is not None:
        verdict, color = "ambiguous", "red"
    elif diagnosis.deterministic is None:
        verdict, color = "not decided whether deterministic", "yellow"
    elif diagnosis.deterministic:
        verdict, color = "deterministic", "green"
    else:
        verdict, color = "not deterministic", "yellow"
    size = f"{len(source.rules)} rules, {len(source.terminals)} terminals, lexer {source.lexer}"
    headline(verdict, color, f": {size}")
    for entry in (*source.entries(), *diagnosis.report_entries()):
        if entry.detail != "deterministic":
            where = f"{entry.place}: " if entry.place else ""
            out.print(f"  {where}{entry.subject}: {entry.detail}", soft_wrap=True)
    if empty:
        out.print(f"  {empty}", soft_wrap=True)
    if empty or (strict and not diagnosis.deterministic):
        raise typer.Exit(1)


def without_text(source: GrammarSource) -> str:
    """Why a grammar has no text at all; empty where it has one, or where that takes too long to tell."""
    if error := no_text(source):
        return str(error)
    try:
        empty = language_of(source).is_empty()
    except LimitError:
        return ""
    return "its terminals run into each other, as each lexeme is as long as can be; ignore blanks" if empty else ""


def explain(constraint: Constraint, data: bytes) -> None:
    """Print where a text that is no member leaves the constraint, and what could stand there."""
    good = constraint.viable_prefix(data)
    if good < 0:
        headline("no match", "red", ": the constraint has no members at all")
        return
    if good == len(data):
        headline("incomplete", "yellow", ": the text can be extended to a match")
    else:
        place = f"byte {good}"
        before = data[:good].decode("utf-8", "replace")
        if "\n" in before:
            place += f" (line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))})"
        headline("no match", "red", f": fails at {place}")
    out.print(f"  matched so far: {shown(data[:good][-60:])}", soft_wrap=True)
    if good < len(data):
        out.print(f"  found:          {shown(data[good : good + 20])}", soft_wrap=True)
    end = "the end" if constraint.accepts(data[:good]) else ""
    could = [each for each in (byte_names(constraint._native.live_bytes(data[:good])), end) if each]
    out.print(f"  could follow:   {'  or '.join(could) or 'nothing'}", soft_wrap=True)


def command(
    text: Annotated[
        str | None,
        typer.Argument(
            help="The text (- reads standard input; write -- before a text that begins with -), or a grammar file to "
            "diagnose."
        ),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read the text from a file, as bytes.")] = None,
    pattern: RegexOption = None,
    option: ChoiceOption = None,
    literal: LiteralOption = None,
    fst: FstOption = None,
    grammar: GrammarOption = None,
    start: StartOption = None,
    schema: SchemaOption = None,
    registry: RegistryOption = None,
    limit: LimitOption = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 for a grammar that is not deterministic.")
    ] = False,
) -> None:
    """Say whether a text matches; if not, where it fails and what could stand there. Exit code 0 or 1.

    A document of a JSON Schema may have any white space, order of keys and spelling of numbers.

    Of a grammar file (.lark, .gbnf, .ebnf) alone: whether it is deterministic, where not, and which rules are useless
    or left-recursive; exit code 1 where it has no text.
    """
    described = any(x is not None and x != [] for x in (pattern, option, literal, fst, grammar, schema))
    if not described and text is not None and Path(text).suffix[1:] in NOTATIONS and file is None:
        if limit:
            raise typer.BadParameter("--limit is for constraints, not for a grammar file alone; leave it out")
        diagnose(Path(text), start, strict)
        return
    if strict:
        raise typer.BadParameter("--strict is for a grammar file alone; leave it out")
    if text == "-" and schema == Path("-"):
        raise typer.BadParameter("only one of schema and text can come from standard input; --file reads a text")
    constraint = constraint_of(pattern, option, literal, fst, grammar, start, schema, registry, limit, **DOCUMENTS)
    if (text is None) == (file is None):
        raise typer.BadParameter("expected a text or --file, one of the two")
    if file is not None:
        data = file.read_bytes()
    else:
        data = sys.stdin.buffer.read() if text == "-" else str(text).encode("utf-8", "surrogateescape")
    if schema is not None:
        data = data.removeprefix(codecs.BOM_UTF8)
    if constraint.accepts(data):
        headline("match", "green", f": {len(data)} bytes")
        return
    explain(constraint, data)
    if text is not None and os.path.isfile(text):  # noqa: PTH113, which raises for texts that are too long for a path
        errors.print(f"{text} is a file, too; --file reads its text", soft_wrap=True)
    raise typer.Exit(1)
