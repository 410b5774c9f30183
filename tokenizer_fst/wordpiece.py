"""WordPiece tokens as bytes (Wu et al. 2016; the `##` spelling of BERT)."""

from __future__ import annotations

from pathlib import Path

from ..automata.errors import VocabularyError
from .source import TokenSource, eos_by_name, eos_from_neighbours, read_bytes, require_eos, utf8

SPECIAL_NAMES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def wordpiece_bytes(piece: str, prefix: str | None = "##", where: str = "token") -> bytes:
    """Return the bytes of one WordPiece token: `##x` continues a word and is `x`, `x` starts one and is ` x`.

    The decoder joins words by one space. So the bytes of the ids of `encode(text)` are the words and punctuation
    marks of the (normalized) text, each with one space before it, the first one too: `don't stop` reads
    ` don ' t stop`. Which spaces the source text had is not in the ids; a decoder's cleanup, which removes spaces
    before punctuation, looks at several tokens at once and is not part of a token's bytes.

    With the prefix ``""`` every piece continues, so no spaces are written; with ``None`` every piece starts a word.
    """
    if prefix is not None and piece.startswith(prefix):
        return utf8(piece[len(prefix) :], where)
    return utf8(" " + piece, where)


def read_vocab_txt(path: Path) -> TokenSource:
    """Read BERT's vocab.txt: one piece a line, the line number is the id."""
    where = str(path)
    try:
        lines = read_bytes(path).decode().split("\n")
    except UnicodeDecodeError as error:
        raise VocabularyError(f"{where}: not UTF-8 text; expected one WordPiece token a line") from error
    if lines[-1] == "":
        lines.pop()
    pieces = [line.rstrip("\r") for line in lines]
    special = {p: i for i, p in enumerate(pieces) if p in SPECIAL_NAMES}
    tokens = [None if p in special else wordpiece_bytes(p, where=where) if p else b"" for p in pieces]
    eos = eos_from_neighbours(path.parent, special) or eos_by_name(special)
    return TokenSource(tokens, require_eos(eos, where), special, adds_dummy_prefix=True)
