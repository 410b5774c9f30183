"""``tokamata grammars``: the ready-made grammars, listed or printed."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.table import Table

from ..constraints.grammars import describe, names, text
from .common import examples, out

EXAMPLES = examples(
    r"tokamata grammars",
    r"tokamata grammars sql",
    r"tokamata grammars json > my.lark",
)


def command(
    name: Annotated[str | None, typer.Argument(help="Print this grammar; without a name, list them all.")] = None,
) -> None:
    """List the ready-made grammars, or print one in Lark's notation."""
    if name is not None:
        sys.stdout.write(text(name))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "lexer", "what"):
        table.add_column(heading, no_wrap=heading != "what")
    for each in names():
        found = describe(each)
        table.add_row(found.name, found.lexer, found.title)
    out.print(table)
