"""``tokamata sample``: random members of a constraint."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..automata.errors import ConstraintError
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
    shown,
)

EXAMPLES = examples(
    r"tokamata sample -r '(0|[1-9][0-9]{0,2})(\.[0-9]{1,2})?' -n 5",
    r"tokamata sample -r '\w+@\w+' --seed 7 --raw",
    r"tokamata sample -g json",
)


def command(
    n: Annotated[int, typer.Option("-n", min=1, max=1_000_000, help="How many.")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same members.")] = 0,
    raw: Annotated[
        bool, typer.Option("--raw", help="Write the bytes as they are, each followed by a line feed.")
    ] = False,
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
    """Write random members, quoted and escaped, one a line; fewer where there are no more."""
    constraint = constraint_of(pattern, option, literal, fst, grammar, start, schema, registry, limit)
    members = constraint.examples(n, seed=seed)
    if not members:
        raise ConstraintError("sample: the constraint has no members; widen it")
    for member in members:
        if raw:
            sys.stdout.buffer.write(member + b"\n")
        else:
            sys.stdout.write(shown(member) + "\n")
    sys.stdout.flush()
    if len(members) < n:
        found = f"{len(members)} member{'s' if len(members) > 1 else ''} found"
        errors.print(f"{found}, {n} asked for", style="yellow")
