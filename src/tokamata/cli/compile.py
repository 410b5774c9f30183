"""``tokamata compile``: a constraint and a vocabulary to one ``.fst`` file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..decode import compile as compile_automaton
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
    VocabularyOption,
    constraint_of,
    errors,
    examples,
    read_vocabulary,
    working,
)

EXAMPLES = examples(
    r"tokamata compile -r '\d{4}-\d\d' -v model.vocab.fst -o date.fst",
    r"tokamata compile -c yes -c no -v tokenizer.json -o answer.fst",
    r"tokamata compile -r '[a-z]{1,9}' -v model.vocab.fst --tokens -o tokens.fst",
)


def command(
    output: Annotated[Path, typer.Option("--output", "-o", help="The .fst file to write.")],
    vocab: VocabularyOption = None,
    pattern: RegexOption = None,
    option: ChoiceOption = None,
    literal: LiteralOption = None,
    fst: FstOption = None,
    grammar: GrammarOption = None,
    start: StartOption = None,
    schema: SchemaOption = None,
    registry: RegistryOption = None,
    limit: LimitOption = None,
    tokens: Annotated[
        bool,
        typer.Option("--tokens", help="Write the explicit acceptor over tokens instead, wildcards as labels."),
    ] = False,
    max_states: Annotated[
        int | None,
        typer.Option("--max-states", min=1, help="Refuse more states than that. 1,000,000; with --tokens 200,000."),
    ] = None,
) -> None:
    """Compile a constraint for a vocabulary into a .fst file that tokamata.load reads."""
    constraint = constraint_of(pattern, option, literal, fst, grammar, start, schema, registry, limit)
    if vocab is None:
        raise typer.BadParameter("expected --vocab with a tokenizer file, a model folder or a saved vocabulary")
    vocabulary = read_vocabulary(vocab)
    most = {} if max_states is None else {"max_states": max_states}
    with working("compiling"):
        automaton = compile_automaton(constraint, vocabulary)
        if tokens:
            automaton.token_acceptor(**most).save(output)
        else:
            automaton.save(output, **most)
    errors.print(f"{output}: {output.stat().st_size:,} bytes", soft_wrap=True)
