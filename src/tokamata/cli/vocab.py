"""``tokamata vocab``: build, inspect and save a vocabulary."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..automata.checks import is_utf8
from ..tokenizer_fst import Vocabulary
from .common import errors, examples, headline, out, read_vocabulary, shown, working

EXAMPLES = examples(
    r"tokamata vocab model/ --save model.vocab.fst",
    r"tokamata vocab tokenizer.json --find yes --token 0",
    r"tokamata vocab spiece.model --longest 10",
)


def command(
    path: Annotated[Path, typer.Argument(help="A tokenizer file, a model folder, or a saved vocabulary (.fst).")],
    save: Annotated[Path | None, typer.Option("--save", "-s", help="Write the vocabulary as an .fst file.")] = None,
    size: Annotated[int | None, typer.Option("--size", help="The width of the model's logits, if padded.")] = None,
    eos: Annotated[
        list[int] | None, typer.Option("--eos", help="An id that ends a text, in place of the file's.")
    ] = None,
    token: Annotated[list[int] | None, typer.Option("--token", "-t", help="Show the bytes of this id.")] = None,
    find: Annotated[
        list[str] | None, typer.Option("--find", "-f", help="Show the ids of the token with this text.")
    ] = None,
    longest: Annotated[int, typer.Option("--longest", min=0, help="Show this many of the longest tokens.")] = 5,
) -> None:
    """Build a vocabulary, show what is in it, look tokens up, save it."""
    vocabulary = read_vocabulary(path, size, eos)
    if token or find:
        _look_up(vocabulary, token or [], find or [])
    else:
        _show(vocabulary, path, longest)
    if save is not None:
        with working(f"writing {save.name}"):
            vocabulary.save(save)
        errors.print(f"{save}: {save.stat().st_size:,} bytes", soft_wrap=True)


def _look_up(vocabulary: Vocabulary, ids: list[int], texts: list[str]) -> None:
    names = {i: name for name, i in vocabulary.special_tokens.items()}
    for i in ids:
        data = vocabulary.token_bytes(i)
        text = f"special {names.get(i, '')}".strip() if data is None else shown(data)
        out.print(f"{i}  {text}", soft_wrap=True)
    for text in texts:
        wanted = text.encode("utf-8", "surrogateescape")
        found = [i for i in range(len(vocabulary)) if vocabulary.token_bytes(i) == wanted]
        if text in vocabulary.special_tokens:
            found.append(vocabulary.special_tokens[text])
        out.print(f"{shown(wanted)}  {' '.join(map(str, found)) or 'no token'}", soft_wrap=True)


def _show(vocabulary: Vocabulary, path: Path, longest: int) -> None:
    tokens = [vocabulary.token_bytes(i) for i in range(len(vocabulary))]
    spelled = [t for t in tokens if t is not None]
    copies = sum(n - 1 for n in Counter(spelled).values())
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("tokens", f"{len(tokens):,}")
    table.add_row("with bytes", f"{len(spelled):,}, in all {sum(map(len, spelled)):,} bytes")
    table.add_row("special or padding", f"{len(tokens) - len(spelled):,}")
    table.add_row("of equal bytes", f"{copies:,}")
    table.add_row("not UTF-8 alone", f"{sum(not is_utf8(t) for t in spelled):,}")
    table.add_row("eos", " ".join(map(str, vocabulary.eos_token_ids)))
    names = sorted(vocabulary.special_tokens.items(), key=lambda item: item[1])
    if names:
        some = "  ".join(f"{name}={i}" for name, i in names[:8])
        table.add_row("special tokens", some + (f"  and {len(names) - 8} more" if len(names) > 8 else ""))
    ranked = sorted((i for i, t in enumerate(tokens) if t), key=lambda i: (-len(tokens[i] or b""), i))
    for i in ranked[:longest]:
        data = tokens[i] or b""
        table.add_row(f"{len(data)} bytes", f"{i}  {shown(data)}")
    headline(path.name, "bold", "")
    out.print(table)
