"""AT&T's text format of machines."""

from __future__ import annotations

from .._core import Fst as _NativeFst
from .._core import from_text as _from_text
from .._core import to_text as _to_text
from .checks import checked_flag, checked_semiring
from .symbols import SymbolTable, _encode, native_table


def from_text_native(
    text: str | bytes,
    acceptor: bool,
    semiring: str,
    input_symbols: SymbolTable | None,
    output_symbols: SymbolTable | None,
) -> _NativeFst:
    """See `Fst.from_text`."""
    return _from_text(
        _encode(text, "Fst.from_text", "a text"),
        checked_flag("Fst.from_text", "acceptor", acceptor),
        checked_semiring(semiring),
        native_table("Fst.from_text", "input_symbols", input_symbols),
        native_table("Fst.from_text", "output_symbols", output_symbols),
    )


def to_text_native(native: _NativeFst, acceptor: bool, numeric: bool, show_weight_one: bool) -> str:
    """See `Fst.to_text`."""
    flags = {"acceptor": acceptor, "numeric": numeric, "show_weight_one": show_weight_one}
    checked = (checked_flag("Fst.to_text", name, value) for name, value in flags.items())
    return _to_text(native, *checked).decode("utf-8", "surrogateescape")
