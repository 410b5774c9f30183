"""``tokamata draw``: an automaton as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..automata import Fst
from .common import (
    ChoiceOption,
    FstOption,
    GrammarOption,
    LimitOption,
    LiteralOption,
    RegexOption,
    RegistryOption,
    SchemaOption,
    StartOption,
    constraint_of,
    errors,
    examples,
    out,
)

EXAMPLES = examples(
    r"tokamata draw -r '[0-9]{4}-[0-9]{2}' -o date.svg",
    r"tokamata draw machine.fst -o machine.png",
    r"tokamata draw -c yes -c no | dot -Tsvg",
)


def command(
    machine: Annotated[Path | None, typer.Argument(help="A .fst file, drawn as it is.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="FILE.svg, .png, .pdf or .dot; default: DOT on standard output."),
    ] = None,
    max_states: Annotated[int, typer.Option("--max-states", help="Refuse to lay out more states.")] = 500,
    vertical: Annotated[bool, typer.Option("--vertical", help="From top to bottom.")] = False,
    title: Annotated[str, typer.Option("--title", help="A caption.")] = "",
    pattern: RegexOption = None,
    option: ChoiceOption = None,
    literal: LiteralOption = None,
    fst: FstOption = None,
    grammar: GrammarOption = None,
    start: StartOption = None,
    schema: SchemaOption = None,
    registry: RegistryOption = None,
    limit: LimitOption = None,
) -> None:
    """Draw a .fst file, or the minimal automaton of a constraint over bytes."""
    if machine is not None:
        others = (pattern, literal, fst, grammar, start, schema, registry)
        if any(given is not None for given in others) or option or limit:
            raise typer.BadParameter("expected a file or a constraint, got both")
        drawn = Fst.read(machine)
        text = drawn.draw(output, vertical=vertical, title=title, max_states=max_states)
    else:
        from ..automata import minimize

        constraint = constraint_of(pattern, option, literal, fst, grammar, start, schema, registry, limit)
        drawn = minimize(constraint.to_fst())
        text = drawn.draw(output, labels="bytes", vertical=vertical, title=title, max_states=max_states)
    if output is None:
        out.print(text, soft_wrap=True, end="")
    else:
        errors.print(f"{output}: {drawn.num_states()} states, {drawn.num_arcs()} arcs", soft_wrap=True)
