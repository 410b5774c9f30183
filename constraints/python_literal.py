"""Literals of str and bytes as Python spells them: patterns of regular expressions."""

from __future__ import annotations

_HEX = "[0-9A-Fa-f]"
_FOUR = f"(?:[0-9A-CEFa-cef]{_HEX}{{3}}|[Dd][0-7]{_HEX}{{2}})"  # no surrogates
_EIGHT = rf"(?:0000{_FOUR}|000[1-9A-Fa-f]{_HEX}{{4}}|0010{_HEX}{{4}})"
_SHORT = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 39: "'", 92: "\\"}
_LETTERS = r"[\\'\"abfnrtv]"

STRING_CHARACTERS = (r"\\\n\r\0", rf"\\(?:{_LETTERS}|x{_HEX}{{2}}|u{_FOUR}|U{_EIGHT})")
BYTES_CHARACTERS = (r"\\\n\r\0\x80-\U0010ffff", rf"\\(?:{_LETTERS}|x{_HEX}{{2}})")
BYTES_AS_REPR = (r"[ !#-&(-\[\]-~]", r"\\(?:[\\tnr]|x(?:0[0-8bcef]|1[0-9a-f]|7f|[89a-f][0-9a-f]))")


def any_literal(characters: tuple[str, str], prefix: str, low: int, high: int | None) -> str:
    """Literals of low to high characters in either quotes, with all escapes but octal ones and names.

    ``characters``: what must be escaped besides the quote, and the escapes.
    """
    excluded, escape = characters
    counter = f"{{{low},{'' if high is None else high}}}"
    return "|".join(f"{prefix}{q}(?:[^{excluded}{q}]|{escape}){counter}{q}" for q in "'\"")


def spellings(value: str | bytes) -> str:
    """All literals of a value in either quotes, with the escapes of :func:`any_literal`."""
    prefix = "b" if isinstance(value, bytes) else ""
    found = []
    for quote in "'\"":
        parts = []
        for code in value if isinstance(value, bytes) else map(ord, value):
            options = []
            if code not in (0, 10, 13, 92, ord(quote)) and (code < 128 or not prefix):
                options.append(_escaped(code))
            if code in _SHORT:
                options.append(rf"\\{_escaped(ord(_SHORT[code]))}")
            for digits, letter in [(2, "x")] if prefix else [(2, "x"), (4, "u"), (8, "U")]:
                if code < 16**digits:
                    options.append(rf"\\{letter}(?i:{code:0{digits}x})")
            parts.append(f"(?:{'|'.join(options)})")
        found.append(f"{prefix}{quote}{''.join(parts)}{quote}")
    return "|".join(found)


def as_repr(characters: tuple[str, str], prefix: str) -> str:
    """Literals as repr writes them: in double quotes where a single quote occurs and no double quote does.

    ``characters``: plain ones but for quotes and the backslash, and the escapes.
    """
    one = "|".join(characters)
    single = f"{prefix}'(?:{one}|\")*'"
    double = f"{prefix}\"(?:{one})*'(?:{one}|')*\""
    first, then = rf"(?:{one}|\\')*", rf"(?:{one}|\\'|\")*"
    both = rf"{prefix}'(?:{first}\\'{first}\"|(?:{one}|\")*\"{then}\\'){then}'"
    return f"{single}|{double}|{both}"


def repr_length(characters: tuple[str, str], prefix: str, low: int, high: int | None) -> str:
    """Literals of low to high characters, of those that repr writes."""
    one = "|".join(characters)
    counter = f"{{{low},{'' if high is None else high}}}"
    return rf"{prefix}'(?:{one}|\\'|\"){counter}'|{prefix}\"(?:{one}|'){counter}\""


def string_as_repr() -> tuple[str, str]:
    """The characters that repr of this Python writes as they are, but for quotes and the backslash; its escapes."""
    hidden = _unprintable()
    excluded = "".join(f"{_escaped(low)}-{_escaped(high)}" for low, high in hidden)
    escapes = [r"[\\tnr]"]
    for letter, digits, least, most in (("x", 2, 0, 0xFF), ("u", 4, 0x100, 0xFFFF), ("U", 8, 0x10000, 0x10FFFF)):
        ranges = [(max(low, least), min(high, most)) for low, high in hidden if low <= most and high >= least]
        numbers = "|".join(found for low, high in ranges for found in _hex_range(low, high, digits))
        escapes.append(f"{letter}(?:{numbers})")
    return rf"[^'\"\\\t\n\r{excluded}]", rf"\\(?:{'|'.join(escapes)})"


def _escaped(code: int) -> str:
    return rf"\U{code:08x}"


def _unprintable() -> list[tuple[int, int]]:
    """Ranges of the characters that repr escapes by number."""
    found: list[tuple[int, int]] = []
    for first, last in ((0, 0xD7FF), (0xE000, 0x10FFFF)):
        shown = bytes(map(str.isprintable, map(chr, range(first, last + 1))))
        start = shown.find(0)
        while start >= 0:
            end = shown.find(1, start)
            end = len(shown) if end < 0 else end
            found.append((first + start, first + end - 1))
            start = shown.find(0, end)
    low, high = found[0]  # tabs, line feeds and carriage returns have escapes of their own
    return [(low, 8), (11, 12), (14, high), *found[1:]]


def _hex_range(low: int, high: int, digits: int) -> list[str]:
    """Patterns for the numbers from low to high in lower-case hexadecimal digits."""
    if low == 0 and high == 16**digits - 1:
        return [f"[0-9a-f]{{{digits}}}" if digits else ""]
    unit = 16 ** (digits - 1)
    first, last = low // unit, high // unit
    if first == last:
        return [f"{first:x}{rest}" for rest in _hex_range(low % unit, high % unit, digits - 1)]
    found = []
    if low % unit:
        found += [f"{first:x}{rest}" for rest in _hex_range(low % unit, unit - 1, digits - 1)]
        first += 1
    if high % unit != unit - 1:
        found += [f"{last:x}{rest}" for rest in _hex_range(0, high % unit, digits - 1)]
        last -= 1
    if first <= last:
        leading = "".join(f"{digit:x}" for digit in range(first, last + 1))
        found.append(f"[{leading}][0-9a-f]{{{digits - 1}}}")
    return found
