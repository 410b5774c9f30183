"""Patterns of URLs and addresses, as pydantic reads and writes them.

URLs are those of RFC 3986 that the URL standard reads, too (which repairs many others before it reads them), with host
names in ASCII that need no translation: no ``xn--``.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["ADDRESSES", "BASE64", "SPECIAL", "url_pattern"]

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_HEX = "[0-9A-Fa-f]{1,4}"
_IPV6 = "(?:" + "|".join(
    [
        f"(?:{_HEX}:){{7}}{_HEX}",
        f"(?:{_HEX}:){{1,7}}:",
        *(f"(?:{_HEX}:){{1,{7 - k}}}(?::{_HEX}){{1,{k}}}" for k in range(1, 7)),
        f":(?::{_HEX}){{1,7}}",
        "::",
    ]
) + ")"  # fmt: skip
_PREFIX4, _PREFIX6 = "(?:3[0-2]|[12]?[0-9])", "(?:12[0-8]|1[01][0-9]|[1-9]?[0-9])"


def _networks4() -> str:
    """Addresses whose bits behind the prefix are 0; without a prefix, any."""
    rows = [_IPV4]
    for prefix in range(33):
        whole, bits = divmod(prefix, 8)
        octets = [_OCTET] * whole
        if bits:
            octets.append("(?:" + "|".join(str(n) for n in range(0, 256, 1 << (8 - bits))) + ")")
        rows.append(r"\.".join(octets + ["0"] * (4 - len(octets))) + f"/{prefix}")
    return "|".join(rows)


def _ended(bits: int) -> str:
    """Groups of 16 bits of which all but the first ones are 0; zeros in front may be left out."""
    whole, more = divmod(bits, 4)
    digits = ["[0-9A-Fa-f]"] * whole
    if more:
        some = [f"{n:x}" for n in range(0, 16, 1 << (4 - more))]
        digits.append("[" + "".join(dict.fromkeys("".join(d + d.upper() for d in some))) + "]")
    digits += ["0"] * (4 - len(digits))
    return "(?:" + "|".join("".join(digits[k:]) for k in range(4)) + ")"


def _networks6() -> str:
    """Addresses whose bits behind the prefix are 0, and behind ``::`` no groups; without a prefix, any."""
    rows = [_IPV6, f"{_IPV6}/128", f"::/{_PREFIX6}"]
    for groups in range(1, 9):
        end = "::" if groups < 7 else "(?:::|:0)" if groups == 7 else ""
        prefixes = "|".join(str(n) for n in range(16 * groups, 129))
        ends = [f"{_HEX}{end}/(?:{prefixes})"]
        ends += [f"{_ended(bits)}{end}/{16 * (groups - 1) + bits}" for bits in range(1, 16)]
        rows.append(f"(?:{_HEX}:){{{groups - 1}}}(?:{'|'.join(ends)})")
    return "|".join(rows)


_INTERFACES4, _INTERFACES6 = f"{_IPV4}(?:/{_PREFIX4})?", f"{_IPV6}(?:/{_PREFIX6})?"
ADDRESSES = {  # by the formats that pydantic has for them
    "ipv4network": _networks4(),
    "ipv6network": _networks6(),
    "ipv4interface": _INTERFACES4,
    "ipv6interface": _INTERFACES6,
    "ipvanyaddress": f"{_IPV4}|{_IPV6}",
    "ipvanyinterface": f"{_INTERFACES4}|{_INTERFACES6}",
    "ipvanynetwork": f"{_networks4()}|{_networks6()}",
}


def _base64(last: str) -> str:
    character = f"[A-Za-z0-9{last}]"
    return f"(?:{character}{{4}})*(?:{character}{{2}}==|{character}{{3}}=)?"


BASE64 = {"base64": _base64("+/"), "base64url": _base64("_-")}

_ESCAPED = "%[0-9A-Fa-f]{2}"
_PATH = f"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|{_ESCAPED})*"
_QUERY = f"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|{_ESCAPED})*"
_WORD = f"(?:[A-Za-z0-9._~!$&'()*+;=-]|{_ESCAPED})+"  # without a comma, which may be between hosts
_USER = f"(?:{_WORD}(?::{_WORD})?|:{_WORD})@"
_LABEL = "[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*"
_LAST_LABEL = "[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*"  # one that begins with a digit would be a number
_HOST = rf"(?:{_IPV4}|(?:{_LABEL}\.)*{_LAST_LABEL}|\[{_IPV6}\])"
_PORT = "(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})"
_PLACE = f"{_HOST}(?::{_PORT})?"
_REST = rf"(?:/{_PATH})?(?:\?{_QUERY})?(?:#{_QUERY})?"
SPECIAL = frozenset(("http", "https", "ws", "wss", "ftp"))  # schemes that always have a host


def url_pattern(schemes: Sequence[str] | None, *, host_required: bool, several_hosts: bool) -> str:
    """URLs with a host and one of the schemes, or with any, and then without a host where that may be.

    Files need no host. Several hosts are separated by commas.
    """
    authority = f"//{_authority(several_hosts)}"
    if schemes is None:
        any_case = "|".join("".join(f"[{c}{c.upper()}]" for c in scheme) for scheme in (*sorted(SPECIAL), "file"))
        known = url_pattern(sorted(SPECIAL), host_required=True, several_hosts=several_hosts)
        other = f"(?!(?:{any_case}):)[A-Za-z][A-Za-z0-9+.-]*:"
        if host_required:
            return f"{known}|{other}{authority}{_REST}"
        files = url_pattern(["file"], host_required=False, several_hosts=False)
        return rf"{known}|{files}|{other}(?:{authority}{_REST}|(?!//){_PATH}(?:\?{_QUERY})?(?:#{_QUERY})?)"
    names = "|".join(scheme.replace("+", r"\+").replace(".", r"\.") for scheme in schemes)
    if list(schemes) == ["file"]:
        return f"file://(?:{_HOST})?/{_PATH}(?:\\?{_QUERY})?(?:#{_QUERY})?"
    return f"(?:{names}):{authority}{_REST}"


def _authority(several_hosts: bool) -> str:
    return f"(?:{_USER})?{_PLACE}" + (f"(?:,{_PLACE})*" if several_hosts else "")
