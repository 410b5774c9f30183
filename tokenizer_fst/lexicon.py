"""D, the detokenizing transducer: tokens in, bytes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import lexicon as _native_lexicon
from ..automata.fst import Fst
from ..automata.symbols import SymbolTable

if TYPE_CHECKING:
    from .vocabulary import Vocabulary


def lexicon(vocabulary: Vocabulary, *, symbols: bool = False) -> Fst:
    """Build D (Koo, Liu & He 2024, "Automata-based constraints for language model decoding", §2.3).

    D is the prefix trie of the tokens' bytes with arcs epsilon:byte; from the end of each token's path an arc
    token:epsilon leads back to the root, which is the start and the only final state. So D maps every sequence of
    tokens to its bytes. Byte b is label b, NUL is 256, token t is label t + 1. Tokens with equal bytes are parallel
    arcs; special and empty tokens have none. States are in depth-first preorder; the arcs of a state are sorted by
    output label, tokens first. Tropical, all weights one.

    Args:
        vocabulary: the tokens.
        symbols: attach `token_symbols` and `byte_symbols`, for drawing small ones.

    Complexity: O(total bytes) after sorting the tokens.
    """
    fst = Fst._wrap(_native_lexicon(vocabulary._native))
    if symbols:
        fst.input_symbols = token_symbols(vocabulary)
        fst.output_symbols = byte_symbols()
    return fst


def byte_symbols() -> SymbolTable:
    """Return names for byte labels: printable ASCII is itself, other bytes are written 0x0a, NUL (label 256) 0x00."""
    table = SymbolTable()
    table.add("<eps>", 0)
    for byte in range(1, 257):
        table.add(_byte_name(byte % 256), byte)
    return table


def token_symbols(vocabulary: Vocabulary) -> SymbolTable:
    r"""Return names for token labels: the bytes, other than printable ASCII as `\x0a`; `#id` is added where not unique.

    A token without bytes is called by its special name, else `<id>`.
    """
    table = SymbolTable()
    table.add("<eps>", 0)
    names = {i: name for name, i in vocabulary.special_tokens.items()}
    used = {"<eps>"}
    for token_id in range(len(vocabulary)):
        token = vocabulary.token_bytes(token_id)
        if token:
            name = "".join(chr(b) if 0x20 < b < 0x7F and b != 0x5C else f"\\x{b:02x}" for b in token)
        else:
            name = "".join(names.get(token_id, f"<{token_id}>").split())
        if name in used:
            name = f"{name}#{token_id}"
        used.add(name)
        table.add(name, token_id + 1)
    return table


def _byte_name(byte: int) -> str:
    return chr(byte) if 0x20 < byte < 0x7F else f"0x{byte:02x}"
