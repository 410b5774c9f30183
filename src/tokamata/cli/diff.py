"""``tokamata diff``: do two JSON Schemas accept the same documents, and if not, a document that tells them apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..automata.errors import LimitError
from .common import (
    LimitOption,
    NoAnswerError,
    RegistryOption,
    examples,
    headline,
    limits_of,
    out,
    registry_of,
    schema_of,
    working,
)

EXAMPLES = examples(
    "tokamata diff old.json new.json",
    "tokamata diff old.json new.json --no-formats --registry others.json",
)

_MOST_SHOWN = 400  # characters of a document: a few lines of a terminal
_Schema = Annotated[Path, typer.Argument(help="A JSON Schema; - reads standard input.")]


def command(
    old: _Schema,
    new: _Schema,
    formats: Annotated[bool, typer.Option(help="Whether format restricts strings.")] = True,
    registry: RegistryOption = None,
    whole: Annotated[bool, typer.Option("--whole", help="Show documents whole, however long.")] = False,
    limit: LimitOption = None,
) -> None:
    """Say whether the new schema accepts all that the old one accepted; if not, show a document.

    Values are compared, not their spelling or the order of their keys; exactly, recursive schemas included. Exit code 0
    when the new schema accepts every document of the old one, 1 when it does not, 2 when that could not be found out.
    """
    limits = limits_of(limit)
    if old == new == Path("-"):
        raise typer.BadParameter("only one of the schemas can come from standard input")
    try:
        others = registry_of(registry)
        before, after = (
            schema_of(
                path,
                whitespace="compact",
                key_order="sorted",
                strings="canonical",
                numbers="any",
                formats=formats,
                registry=others,
                limits=limits,
            )
            for path in (old, new)
        )
    except (ValueError, OSError, LimitError) as error:
        raise NoAnswerError(error) from error
    try:
        with working("comparing"):
            lost, gained = before.difference_example(after), after.difference_example(before)
    except (ValueError, LimitError) as error:
        raise NoAnswerError(f"{old} and {new}: {error}") from error
    if lost is None and gained is None:
        headline("equal", "green", ": both schemas accept the same documents")
        return
    if lost is None:
        headline("compatible", "green", ": the new schema accepts all that the old one accepted")
    else:
        headline("incompatible", "red", ": the new schema refuses a document of the old one")
        _show("refused now", lost, whole)
    if gained is not None:
        _show("accepted now", gained, whole)
    if lost is not None:
        raise typer.Exit(1)


def _show(label: str, document: bytes, whole: bool) -> None:
    text, note = document.decode(), ""
    if not whole and len(text) > _MOST_SHOWN:
        note = f"\n  {'':13} ({len(text):,} characters, shortened in the middle; --whole shows all of them)"
        text = f"{text[: _MOST_SHOWN // 2]} ... {text[-_MOST_SHOWN // 2 :]}"
    out.print(f"  {label + ':':13} {text}{note}", soft_wrap=True)
