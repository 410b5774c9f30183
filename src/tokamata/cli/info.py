"""``tokamata info``: what is in a ``.fst`` file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..automata import Fst, properties
from ..decode import TokenAcceptor
from ..tokenizer_fst import Vocabulary
from ..tokenizer_fst.artifact import has_sections, read_artifact
from .common import examples, headline, out, working

EXAMPLES = examples(
    r"tokamata info date.fst",
    r"tokamata info model.vocab.fst",
)


def command(file: Annotated[Path, typer.Argument(help="A .fst file.")]) -> None:
    """Show what a .fst file is (machine, vocabulary, compiled constraint, token acceptor), its size and properties."""
    with working(f"reading {file.name}"):
        fst = Fst.read(file)
        sections = read_artifact(file) if has_sections(file) else {}
        found = properties(fst)
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    kind = "machine"
    if "tokens" in sections:
        vocabulary = Vocabulary.load(file)
        kind = "vocabulary"
        table.add_row("tokens", f"{len(vocabulary):,}")
        table.add_row("eos", " ".join(map(str, vocabulary.eos_token_ids)))
    elif "terminals" in sections:
        acceptor = TokenAcceptor.load(file)
        kind = "token acceptor"
        table.add_row("tokens", f"{acceptor.num_tokens:,}")
        table.add_row("terminals", f"{len(acceptor.terminals):,}")
        table.add_row("arcs expanded", f"{acceptor.num_token_arcs:,}")
    elif sections:
        kind = "compiled constraint"
    table.add_row("states", f"{fst.num_states():,}")
    table.add_row("arcs", f"{fst.num_arcs():,}")
    table.add_row("start", str(fst.start()) if fst.start() >= 0 else "none")
    table.add_row("final states", f"{sum(fst.is_final(s) for s in fst.states()):,}")
    table.add_row("semiring", fst.semiring)
    for name, symbols in (("input symbols", fst.input_symbols), ("output symbols", fst.output_symbols)):
        table.add_row(name, "none" if symbols is None else f"{len(symbols):,}")
    if sections:
        table.add_row("sections", "  ".join(f"{name} ({len(data):,} bytes)" for name, data in sections.items()))
    known = {name: getattr(found, name) for name in found.__dataclass_fields__}
    table.add_row("properties", "  ".join(name for name, value in known.items() if value))
    table.add_row("not", "  ".join(name for name, value in known.items() if value is False))
    headline(file.name, "bold", f": {kind}")
    out.print(table)
