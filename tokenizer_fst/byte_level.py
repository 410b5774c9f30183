"""The byte alphabet of byte-level BPE: one printable character for every byte (Radford et al. 2019, GPT-2)."""

from __future__ import annotations

from .source import utf8


def byte_alphabet() -> dict[str, int]:
    """Return the 256 characters with their bytes: printable Latin-1 stands for itself, the rest for 256, 257, ..."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(b): b for b in printable}
    others = (b for b in range(256) if chr(b) not in alphabet)
    alphabet.update({chr(256 + i): b for i, b in enumerate(list(others))})
    return alphabet


def _table() -> dict[int, str]:
    table = dict.fromkeys(range(256), "\uffff")  # Latin-1 characters outside the alphabet must not pass as bytes
    table.update({ord(c): chr(b) for c, b in byte_alphabet().items()})
    return table


class ByteLevelDecoder:
    """Maps the text of byte-level tokens to bytes; text with any character outside the alphabet is taken as UTF-8."""

    def __init__(self) -> None:
        self._table = _table()

    def __call__(self, text: str, where: str = "token") -> bytes:
        """Return the bytes of one token."""
        try:
            return text.translate(self._table).encode("latin-1")
        except UnicodeEncodeError:
            return utf8(text, where)
