"""What the commands share: consoles, the options that describe a constraint, vocabularies, readable bytes."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from ..automata.errors import ConstraintError
from ..constraints import Constraint, Limits, choice, from_fst, grammars, json_schema, literal, regex
from ..constraints import grammar as read_any
from ..constraints.exact_json import ExactJson
from ..constraints.grammar_source import GrammarSyntax
from ..constraints.json_schema_constraint import JsonSchemaConstraint
from ..tokenizer_fst import Vocabulary

NOTATIONS = ("lark", "gbnf", "ebnf")  # of grammar files, by suffix

if not os.environ.get("COLUMNS", "1").strip("0"):
    del os.environ["COLUMNS"]  # of a terminal that does not know its width; in no columns nothing would be printed

# What is printed comes from files and command lines: it stands there as it is.
out = Console(markup=False, emoji=False, highlight=False)
errors = Console(stderr=True, markup=False, emoji=False, highlight=False)


class NoAnswerError(Exception):
    """A command that answers by its exit code cannot answer; its argument is the reason, an error or a text."""


def headline(word: str, style: str, rest: str) -> None:
    """Print a line that begins with a word in a style."""
    out.print(Text.assemble((word, style), rest), soft_wrap=True)


def examples(*lines: str) -> str:
    """Return the epilog of a command's help: one example a line."""
    return "\n\n".join(["[bold]Examples[/bold]", *(escape(line) for line in lines)])


RegexOption = Annotated[
    str | None, typer.Option("--regex", "-r", metavar="PATTERN", help="A regular expression in Python's syntax.")
]
ChoiceOption = Annotated[
    list[str] | None,
    typer.Option("--choice", "-c", metavar="TEXT", help="One of several texts; give it once for each."),
]
LiteralOption = Annotated[str | None, typer.Option("--literal", "-l", metavar="TEXT", help="Exactly this text.")]
FstOption = Annotated[
    Path | None, typer.Option("--fst", metavar="FILE", help="An acceptor over bytes in OpenFst's binary format.")
]
GrammarOption = Annotated[
    str | None,
    typer.Option(
        "--grammar", "-g", metavar="FILE", help="A grammar (.lark, .gbnf, .ebnf), or the name of a ready-made one."
    ),
]
StartOption = Annotated[str | None, typer.Option("--start", metavar="RULE", help="The start rule of the grammar.")]
SchemaOption = Annotated[
    Path | None,
    typer.Option("--schema", "-s", metavar="FILE", help="A JSON Schema, of JSON documents; - reads standard input."),
]
RegistryOption = Annotated[
    Path | None,
    typer.Option("--registry", metavar="FILE", help="What references lead to: a JSON object from URIs to schemas."),
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option("--limit", metavar="NAME=NUMBER", help="Another value of a limit that was reached; once for each."),
]
VocabularyOption = Annotated[
    Path | None,
    typer.Option(
        "--vocab",
        "-v",
        metavar="PATH",
        help="A tokenizer file, a model folder, or a vocabulary saved by tokamata vocab.",
    ),
]


def constraint_of(
    pattern: str | None,
    options: list[str] | None,
    text: str | None,
    fst: Path | None,
    grammar: str | None = None,
    start: str | None = None,
    schema: Path | None = None,
    registry: Path | None = None,
    limit: list[str] | None = None,
    **options_of_schema: Any,
) -> Constraint:
    """Return the constraint that exactly one of the options describes.

    ``start`` is a grammar's start rule; ``registry``: what references of a schema lead to; ``limit``: see `limits_of`.
    """
    values = {
        "--regex": pattern,
        "--choice": options,
        "--literal": text,
        "--fst": fst,
        "--grammar": grammar,
        "--schema": schema,
    }
    given = [name for name, value in values.items() if value is not None and value != []]
    if len(given) != 1:
        *names, last = values
        found = " and ".join(given) or "none"
        raise typer.BadParameter(f"expected one of {', '.join(names)} and {last}, got {found}")
    if start is not None and grammar is None:
        raise typer.BadParameter("--start names a rule of --grammar; leave it out")
    if registry is not None and schema is None:
        raise typer.BadParameter("--registry is for the references of --schema; leave it out")
    limits = limits_of(limit)
    if schema is not None:
        return schema_of(schema, registry=registry_of(registry), limits=limits, **options_of_schema)
    if grammar is not None:
        return grammar_of(grammar, start, limits)
    if pattern is not None:
        return regex(typed("--regex", pattern), limits=limits)
    if options:
        return choice([typed("--choice", each) for each in options], limits=limits)
    if text is not None:
        return literal(typed("--literal", text), limits=limits)
    assert fst is not None
    return from_fst(fst, limits=limits)


def limits_of(given: list[str] | None) -> Limits:
    """Return the limits that ``NAME=NUMBER`` describe, the others as they are."""
    known = [field.name for field in fields(Limits)]
    values: dict[str, Any] = {}
    for text in given or []:
        name, _, number = text.partition("=")
        if name not in known:
            raise typer.BadParameter(f"expected --limit NAME=NUMBER with a name of {', '.join(known)}, got {text!r}")
        try:
            values[name] = float(number) if name.endswith("seconds") else int(number)
        except ValueError:
            raise typer.BadParameter(f"expected --limit {name}=NUMBER, got {text!r}") from None
    return Limits(**values)


def typed(option: str, text: str) -> str:
    """Return an argument as it was typed, also where the locale could not decode it."""
    data = text.encode("utf-8", "surrogateescape")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConstraintError(
            f"{option}: expected UTF-8 text, got {error.reason} at byte {error.start}: {shown(data)}; write it as UTF-8"
        ) from None


def grammar_of(name: str, start: str | None, limits: Limits) -> Constraint:
    """Return the constraint of a grammar file, its notation by its suffix, or of a ready-made grammar by name."""
    suffix = Path(name).suffix[1:]
    if suffix in NOTATIONS:
        path = Path(name)
        syntax = cast(GrammarSyntax, suffix)
        return read_any(read_text(path), syntax, start, import_paths=import_paths(path), limits=limits)
    if name in grammars.names():
        return read_any(grammars.text(name), start=start, lexer=grammars.describe(name).lexer, limits=limits)
    raise ConstraintError(
        f"--grammar {name}: expected a file that ends in .lark, .gbnf or .ebnf, or a ready-made grammar; "
        "tokamata grammars lists those"
    )


def import_paths(grammar: Path) -> list[Path]:
    """Return where a grammar file may import others from: its own folder, where its notation imports any."""
    return [grammar.parent] if grammar.suffix == ".lark" else []


def schema_of(path: Path, **options: Any) -> JsonSchemaConstraint:
    """Return the constraint of a JSON Schema in a file, ``-`` for standard input; errors name the file."""
    try:
        text = sys.stdin.buffer.read() if path == Path("-") else path.read_bytes()
        return json_schema(text.removeprefix(codecs.BOM_UTF8), **options)
    except ConstraintError as error:
        raise type(error)(f"{path}: {error}") from None


def registry_of(path: Path | None) -> dict[str, str]:
    """Return the schemas in a file by URI."""
    if path is None:
        return {}
    found = ExactJson(path.read_bytes().removeprefix(codecs.BOM_UTF8), str(path))
    if not isinstance(found.value, dict):
        raise ConstraintError(f"{path}: expected an object from URIs to schemas")
    return {uri: found.text(uri) for uri in found.value}


def read_text(path: Path) -> str:
    """Read a file of UTF-8 text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConstraintError(
            f"{path}: expected UTF-8 text, got {error.reason} at byte {error.start}; save the file as UTF-8"
        ) from None


def read_vocabulary(path: Path, size: int | None = None, eos: list[int] | None = None) -> Vocabulary:
    """Read a saved vocabulary (``.fst``), a tokenizer file or a model folder."""
    with working(f"reading {path.name}"):
        if path.suffix == ".fst" and path.is_file():
            if size is not None or eos:
                raise ConstraintError(f"{path}: a saved vocabulary keeps its size and EOS; leave --size and --eos out")
            return Vocabulary.load(path)
        return Vocabulary.from_file(path, size=size, eos_token_ids=eos or None)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is going on, on a terminal only."""
    if errors.is_terminal:
        with errors.status(Text(what)):
            yield
    else:
        yield


def cache_folder() -> Path:
    """Where converted models are kept: ``$TOKAMATA_CACHE``, else ``tokamata`` in the user's cache folder."""
    chosen = os.environ.get("TOKAMATA_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tokamata"


def shown(data: bytes) -> str:
    """Return bytes as a quoted text, with what is not UTF-8 or not printable escaped."""
    text = data.decode("utf-8", "surrogateescape")
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else _escaped(c) for c in text) + '"'


def _escaped(c: str) -> str:
    if c == '"':
        return '\\"'
    if "\udc80" <= c <= "\udcff":  # a byte that is no part of a character
        return f"\\x{ord(c) - 0xDC00:02x}"
    return f"\\u{ord(c):04x}" if "\x80" <= c <= "\xff" else c.encode("unicode_escape").decode()


def byte_names(labels: bytes) -> str:
    """Return bytes as a short list of ASCII characters and ranges; all others are one entry."""
    runs: list[list[int]] = []
    for byte in sorted(set(labels)):
        if byte < 0x80 and runs and runs[-1][1] == byte - 1 and _class(runs[-1][0]) == _class(byte):
            runs[-1][1] = byte
        elif byte < 0x80:
            runs.append([byte, byte])
    parts = [_run(low, high) for low, high in runs]
    if any(b >= 0x80 for b in labels):
        parts.append("other than ASCII")
    return "  ".join(parts)


def _class(byte: int) -> str:
    c = chr(byte)
    return (
        "digit"
        if c.isdigit()
        else "upper"
        if c.isupper()
        else "lower"
        if c.islower()
        else "control"
        if not c.isprintable()
        else "mark"
    )


def _run(low: int, high: int) -> str:
    def name(byte: int) -> str:
        return "space" if byte == 0x20 else chr(byte) if 0x20 < byte < 0x7F else _escaped(chr(byte))

    if high - low < 2:
        return "  ".join(name(b) for b in range(low, high + 1))
    return f"{name(low)}-{name(high)}"
