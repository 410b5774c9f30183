"""The command ``tokamata``: its subcommands, and errors as one line instead of a traceback."""

from __future__ import annotations

import inspect
import io
import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from .._version import __version__
from ..automata.errors import LimitError
from . import check, compile, diff, draw, generate, grammars, info, sample, serve, vocab
from .common import NoAnswerError, errors, examples, out
from .interrupts import ended_by_ctrl_c, interrupted

app = typer.Typer(
    name="tokamata",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        r"tokamata check -r '[0-9]{4}-[0-9]{2}' 2026-1x",
        r"tokamata sample -r '(yes|no)[!?]*' -n 5",
        r"tokamata vocab model/ --save model.vocab.fst",
        r"tokamata COMMAND --help",
    ),
)


def _help(command: object) -> str:
    """The docstring with each paragraph in one line, which typer breaks where the terminal ends."""
    return "\n\n".join(" ".join(part.split()) for part in (inspect.getdoc(command) or "").split("\n\n"))


for module in (vocab, compile, info, draw, check, sample, diff, grammars, generate, serve):
    name = module.__name__.rsplit(".", 1)[-1]
    app.command(name=name, help=_help(module.command), epilog=module.EXAMPLES)(module.command)


# Where errors name an argument of Python, the command has an option.
_REMEDIES = (
    (r"; pass start=\.\.\.", "; pass --start RULE"),
    (r"pass registry=\{", "pass --registry FILE with {"),
    (r"pass eos_token_ids=\[\.\.\.\]", "pass --eos ID"),
    (r"json_schema\(unique_keys=False\) leaves them", 'objects with "additionalProperties": false have none'),
    (r", (\w+ \w+), or pass lenient=True", r" or \1"),
    (r"pass formats=False", "pass --no-formats"),
    (r"read a saved vocabulary with Vocabulary\.load", "its name has to end in .fst"),
    (r"(states=\d+ was reached); pass a larger one", r"\1; pass a larger one with --max-states"),
    (r"tokamata\.Limits\((\w+)=\.\.\.\)", r"--limit \1=NUMBER"),
)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"tokamata {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Automata that make a language model write exactly what a formal language allows."""


def run(arguments: list[str] | None = None) -> None:
    """Run a command line (default: ``sys.argv``) and exit: 0, 1 for a failure, 2 for a wrong command line."""
    _usable_streams()
    try:
        with ended_by_ctrl_c():
            code = app(args=arguments, prog_name="tokamata", standalone_mode=False)
    except (ValueError, OSError, ImportError, TypeError, LimitError, MemoryError, IndexError) as error:
        _fail(error, 1)
    except NoAnswerError as error:
        _fail(error.args[0], 2)
    except KeyboardInterrupt:
        interrupted()
        sys.exit(130)
    except Exception as error:
        # typer's own errors (an unknown option, a missing argument) and its Abort; all else is a defect and shows
        if not hasattr(error, "format_message"):
            if type(error).__name__ == "Abort":
                sys.exit(1)
            raise
        text = error.format_message()
        if text:
            _fail(text, int(getattr(error, "exit_code", 2)))
        sys.exit(int(getattr(error, "exit_code", 2)))
    if code == 130:  # what typer makes of KeyboardInterrupt
        interrupted()
    sys.exit(code if isinstance(code, int) else 0)


def _usable_streams() -> None:
    """Open what the caller closed; write what the encoding of standard output has no character for as an escape."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def _fail(error: object, code: int) -> None:
    if isinstance(error, OSError) and error.strerror:
        remedy = "; check the path" if isinstance(error, FileNotFoundError) and ";" not in error.strerror else ""
        error = f"{error.filename}: {error.strerror}{remedy}" if error.filename is not None else error.strerror
    text = " ".join(str(error).split()) or type(error).__name__
    for python, option in _REMEDIES:
        text = re.sub(python, option, text)
    errors.print(f"tokamata: {text}", style="red", soft_wrap=True)
    sys.exit(code)
