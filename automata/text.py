"""AT&T's text format of machines."""

from __future__ import annotations

from .._core import Fst as _NativeFst
from .._core import from_text as _from_text
from .._core import to_text as _to_text
from .symbols import SymbolTable, _encode


def from_text_native(
    text: str | bytes,
    acceptor: bool,
    semiring: str,
    input_symbols: SymbolTable | None,
    output_symbols: SymbolTable | None,
) -> _NativeFst:
    """See `Fst.from_text`."""
    return _from_text(
        _encode(text),
        acceptor,
        semiring,
        None if input_symbols is None else input_symbols._native,
        None if output_symbols is None else output_symbols._native,
    )


def to_text_native(native: _NativeFst, acceptor: bool, numeric: bool, show_weight_one: bool) -> str:
    """See `Fst.to_text`."""
    return _to_text(native, acceptor, numeric, show_weight_one).decode("utf-8", "surrogateescape")
