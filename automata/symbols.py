"""Symbol tables: labels and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .._core import SymbolTable as _NativeSymbolTable


def _encode(symbol: str | bytes, operation: str = "SymbolTable", what: str = "a name") -> bytes:
    if isinstance(symbol, str):
        try:
            return symbol.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{operation}: expected Unicode text, got {symbol!r}: {error.reason}; pass bytes"
            ) from None
    if isinstance(symbol, bytes):
        return symbol
    raise TypeError(f"{operation}: expected {what} as str or bytes, got {type(symbol).__name__}; pass a text")


def native_table(operation: str, name: str, table: SymbolTable | None) -> _NativeSymbolTable | None:
    """The native side of a symbol table; TypeError for what is neither a table nor None."""
    if table is None or isinstance(table, SymbolTable):
        return None if table is None else table._native
    raise TypeError(
        f"{operation}: expected {name} as a SymbolTable or None, got {type(table).__name__}; pass SymbolTable()"
    )


class SymbolTable:
    """A one-to-one map between labels (int, 0 is epsilon's place) and names.

    Names are any byte strings; as ``str`` they are UTF-8, bytes that are not become lone surrogates (PEP 383), so
    nothing is lost. Assigning a table to an Fst shares its storage (O(1)); a later change to the table copies it
    first, so the Fst keeps what it was given.
    """

    __slots__ = ("_native",)

    _native: _NativeSymbolTable

    def __init__(self, name: str = "") -> None:
        self._native = _NativeSymbolTable(_encode(name))

    @classmethod
    def _wrap(cls, native: _NativeSymbolTable) -> SymbolTable:
        table = cls.__new__(cls)
        table._native = native
        return table

    @property
    def name(self) -> str:
        """The table's own name, as files carry it."""
        return self._native.name().decode("utf-8", "surrogateescape")

    def add(self, symbol: str | bytes, key: int | None = None) -> int:
        """Add a symbol and return its key: the given one, or the one it has, or the next free one. O(1) amortized.

        Raises FstError where the key is negative, or the symbol or key already belongs to another entry.
        """
        return self._native.add(_encode(symbol), key)

    def find(self, symbol: str | bytes) -> int | None:
        """The key of a symbol, None where unknown. O(1)."""
        key = self._native.find_key(_encode(symbol))
        return None if key < 0 else key

    def symbol(self, key: int) -> str | None:
        """The name under a key, None where unknown. O(1)."""
        name = self._native.find_symbol(key)
        return None if name is None else name.decode("utf-8", "surrogateescape")

    def symbol_bytes(self, key: int) -> bytes | None:
        """The name under a key as the bytes it is stored in, None where unknown. O(1)."""
        return self._native.find_symbol(key)

    def available_key(self) -> int:
        """The key that the next new symbol gets."""
        return self._native.available_key()

    def copy(self) -> SymbolTable:
        """An independent table with the same entries; storage is copied when either changes."""
        return SymbolTable._wrap(self._native.copy())

    def __copy__(self) -> SymbolTable:
        return self.copy()

    def __deepcopy__(self, memo: object) -> SymbolTable:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[..., SymbolTable], tuple[str, list[tuple[int, bytes]]]]:
        return _unpickle, (self.name, [self._native.entry(i) for i in range(len(self))])

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """(key, symbol) in order of insertion."""
        for i in range(len(self._native)):
            key, symbol = self._native.entry(i)
            yield key, symbol.decode("utf-8", "surrogateescape")

    def __contains__(self, item: object) -> bool:
        """Whether a name (str, bytes) or a key (int) is in the table."""
        if isinstance(item, (str, bytes)):
            return self.find(item) is not None
        return isinstance(item, int) and self._native.find_symbol(item) is not None

    def __repr__(self) -> str:
        return f"<SymbolTable {self.name!r}: {len(self)} symbols>"


def _unpickle(name: str, entries: list[tuple[int, bytes]]) -> SymbolTable:
    table = SymbolTable(name)
    for key, symbol in entries:
        table.add(symbol, key)
    return table
