"""Literals of str and bytes as Python spells them: patterns of regular expressions."""

from __future__ import annotations

_HEX = "[0-9A-Fa-f]"
_FOUR = f"(?:[0-9A-CEFa-cef]{_HEX}{{3}}|[Dd][0-7]{_HEX}{{2}})"  # no surrogates
_EIGHT = rf"(?:0000{_FOUR}|000[1-9A-Fa-f]{_HEX}{{4}}|0010{_HEX}{{4}})"
_SHORT = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 39: "'", 92: "\\"}
_LETTERS = r"[\\'\"abfnrtv]"

STRING_CHARACTERS = (r"\\\0-\x1f", rf"\\(?:{_LETTERS}|x{_HEX}{{2}}|u{_FOUR}|U{_EIGHT})")
BYTES_CHARACTERS = (r"\\\0-\x1f\x7f-\U0010ffff", rf"\\(?:{_LETTERS}|x{_HEX}{{2}})")
# In canonical spelling: plain characters but for quotes and the backslash, and the escapes. Which characters from
# U+007F on are printable depends on the version of Python: here they stand for themselves or as repr would escape them.
_ASTRAL = "(?:000[1-9a-f]|0010)[0-9a-f]{4}"
_LOWER_FOUR = "(?:0[1-9a-f][0-9a-f]{2}|[1-9a-cef][0-9a-f]{3}|d[0-7][0-9a-f]{2})"
STRING_AS_REPR = (
    r"[^'\"\\\0-\x1f]",
    rf"\\(?:[\\tnr]|x(?:0[0-8bcef]|1[0-9a-f]|7f|[89a-f][0-9a-f])|u{_LOWER_FOUR}|U{_ASTRAL})",
)
BYTES_AS_REPR = (r"[ !#-&(-\[\]-~]", r"\\(?:[\\tnr]|x(?:0[0-8bcef]|1[0-9a-f]|7f|[89a-f][0-9a-f]))")


def any_literal(characters: tuple[str, str], prefix: str, low: int, high: int | None) -> str:
    """Literals of low to high characters in either quotes, with all escapes but octal ones and names.

    Control characters must be escaped, as in JSON, whose class of characters vocabularies are prepared for.
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
            if code >= 32 and code not in (92, ord(quote)) and (code < 127 or not prefix):
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
    """Literals as repr writes them: in double quotes where a single quote occurs and no double quote does."""
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


def _escaped(code: int) -> str:
    return rf"\U{code:08x}"
