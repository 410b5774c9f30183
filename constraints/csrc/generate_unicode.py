"""Writes the Unicode tables of the regex front end: build/generated/constraints/unicode_tables.inc.

Character classes, case-insensitive matching and identifiers are asked of the running Python (``re``, ``unicodedata``,
``str``), so that a pattern means here what it means there. Scripts and binary properties, which Python does not have,
come from unicode_properties.txt beside this file; ``--properties`` rewrites the ranges of that file from the PyPI
package ``regex`` (its names stay as they are).
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROPERTIES = HERE / "unicode_properties.txt"
SURROGATES = (0xD800, 0xDFFF)
LAST = sys.maxunicode

CATEGORIES = (
    "Lu=Uppercase_Letter Ll=Lowercase_Letter Lt=Titlecase_Letter Lm=Modifier_Letter Lo=Other_Letter "
    "Mn=Nonspacing_Mark Mc=Spacing_Mark Me=Enclosing_Mark Nd=Decimal_Number,digit Nl=Letter_Number No=Other_Number "
    "Pc=Connector_Punctuation Pd=Dash_Punctuation Ps=Open_Punctuation Pe=Close_Punctuation Pi=Initial_Punctuation "
    "Pf=Final_Punctuation Po=Other_Punctuation Sm=Math_Symbol Sc=Currency_Symbol Sk=Modifier_Symbol So=Other_Symbol "
    "Zs=Space_Separator Zl=Line_Separator Zp=Paragraph_Separator Cc=Control,cntrl Cf=Format Cs=Surrogate "
    "Co=Private_Use Cn=Unassigned"
).split()
GROUPS = (
    "LC=Cased_Letter:Lu,Ll,Lt L=Letter:Lu,Ll,Lt,Lm,Lo M=Mark,Combining_Mark:Mn,Mc,Me N=Number:Nd,Nl,No "
    "P=Punctuation,punct:Pc,Pd,Ps,Pe,Pi,Pf,Po S=Symbol:Sm,Sc,Sk,So Z=Separator:Zs,Zl,Zp C=Other:Cc,Cf,Cs,Co,Cn"
).split()

Range = tuple[int, int]


def runs(points: Iterable[int]) -> list[Range]:
    """Inclusive ranges of sorted code points."""
    out: list[Range] = []
    for c in points:
        if out and out[-1][1] == c - 1:
            out[-1] = (out[-1][0], c)
        else:
            out.append((c, c))
    return out


def class_runs(pattern: str, text: str) -> list[Range]:
    """Inclusive ranges of the characters that ``pattern``, a repeated class, finds."""
    return [(m.start(), m.end() - 1) for m in re.finditer(pattern, text)]


def fold_orbits(text: str) -> dict[int, list[int]]:
    """Every character that a case-insensitive literal matches, for the literals that match more than themselves."""
    cased = "".join(c for c in text if len({c, c.lower(), c.upper(), c.title()}) > 1)
    orbits = {}
    for c in cased:
        found = re.findall(re.escape(c), cased, re.IGNORECASE)
        if found != [c]:
            orbits[ord(c)] = [ord(x) for x in found]
    return orbits


def flat(ranges: Iterable[Range]) -> list[int]:
    """The ends of all ranges in a row."""
    return [x for r in ranges for x in r]


def delta(ranges: Iterable[Range]) -> str:
    """Ranges as unicode_properties.txt writes them."""
    out, last = [], 0
    for low, high in ranges:
        out += [f"{low - last:x}", f"{high - low:x}"]
        last = high
    return " ".join(out)


def read_properties() -> list[tuple[str, list[str], list[Range]]]:
    """Kind, names and ranges of every entry of unicode_properties.txt."""
    entries = []
    for line in PROPERTIES.read_text("ascii").splitlines():
        if line.startswith("#"):
            continue
        kind, names, numbers = line.split(";")
        ranges, last = [], 0
        values = [int(x, 16) for x in numbers.split()]
        for gap, length in zip(values[::2], values[1::2], strict=True):
            low = last + gap
            last = low + length
            ranges.append((low, last))
        entries.append((kind, names.split(","), ranges))
    return entries


def rewrite_properties() -> None:
    """Asks the regex package for the ranges of every name in unicode_properties.txt and writes them there."""
    regex = importlib.import_module("regex")
    text = "".join(map(chr, range(LAST + 1)))
    lines = [line for line in PROPERTIES.read_text("ascii").splitlines() if line.startswith("#")]
    for kind, names, _ in read_properties():
        name = names[-1]
        pattern = rf"\p{{{name}}}+" if kind == "b" else rf"\p{{{kind}={name}}}+"
        ranges = [(m.start(), m.end() - 1) for m in regex.finditer(pattern, text)]
        lines.append(f"{kind};{','.join(names)};{delta(ranges)}")
    PROPERTIES.write_text("\n".join(lines) + "\n", "ascii")


def stamp() -> str:
    """What the tables depend on; the first line of the written file."""
    source = Path(__file__).read_bytes() + PROPERTIES.read_bytes()
    digest = hashlib.sha256(source).hexdigest()
    return f"// Python {sys.version_info[:3]}, Unicode {unicodedata.unidata_version}, {digest}"


def tables() -> str:
    """The text of the generated file."""
    text = "".join(map(chr, range(LAST + 1)))
    scalars = [c for c in text if not SURROGATES[0] <= ord(c) <= SURROGATES[1]]
    out = [stamp()]

    def array(kind: str, name: str, values: list[int]) -> None:
        rows = [", ".join(map(str, values[i : i + 16])) for i in range(0, len(values), 16)]
        out.append(f"constexpr {kind} {name}[] = {{\n  " + ",\n  ".join(rows) + "};")

    def points(test: Callable[[str], bool]) -> list[Range]:
        return runs(ord(c) for c in scalars if test(c))

    # Whether \B matches in the empty text: since Python 3.14.
    empty = re.search(r"\B", "") is not None
    out.append(f"constexpr bool kEmptyHasNonBoundary = {str(empty).lower()};")
    array("uint32_t", "kWord", flat(class_runs(r"\w+", text)))
    array("uint32_t", "kDigit", flat(class_runs(r"\d+", text)))
    array("uint32_t", "kSpace", flat(class_runs(r"\s+", text)))
    array("uint32_t", "kIdentifierStart", flat(points(str.isidentifier)))
    array("uint32_t", "kIdentifierContinue", flat(points(lambda c: ("a" + c).isidentifier())))

    # Runs of equal general category: first code point << 5 | category.
    index = {entry.split("=")[0]: i for i, entry in enumerate(CATEGORIES)}
    category = [index[unicodedata.category(c)] for c in text]
    starts = [c for c in range(LAST + 1) if c == 0 or category[c] != category[c - 1]]
    array("uint32_t", "kCategoryRuns", [c << 5 | category[c] for c in starts])
    names = []
    for entry in CATEGORIES:
        short, longs = entry.split("=")
        names += [(name, 1 << index[short]) for name in [short, *longs.split(",")]]
    for entry in GROUPS:
        head, members = entry.split(":")
        short, longs = head.split("=")
        mask = sum(1 << index[m] for m in members.split(","))
        names += [(name, mask) for name in [short, *longs.split(",")]]
    rows = ", ".join(f'{{"{name}", {mask}u}}' for name, mask in names)
    out.append(f"constexpr CategoryName kCategoryNames[] = {{{rows}}};")

    # Case-insensitive literals: code point, first member, number of members in kOrbitMembers.
    orbit_members: list[int] = []
    where: dict[tuple[int, ...], int] = {}
    rows3 = []
    for c, orbit in sorted(fold_orbits(text).items()):
        key = tuple(orbit)
        if key not in where:
            where[key] = len(orbit_members)
            orbit_members += orbit
        rows3 += [c, where[key], len(orbit)]
    array("uint32_t", "kOrbits", rows3)
    array("uint32_t", "kOrbitMembers", orbit_members)

    # Scripts and binary properties.
    ranges: list[int] = []
    rows4 = []
    for kind, aliases, found in read_properties():
        spread = "".join(f'"{a}",' for a in [*aliases, "", "", ""][:3])
        rows4.append(f'{{"{kind}", {{{spread}}}, {len(ranges)}, {len(found)}}}')
        ranges += flat(found)
    array("uint32_t", "kPropertyRanges", ranges)
    out.append("constexpr PropertyName kPropertyNames[] = {\n  " + ",\n  ".join(rows4) + "};")
    return "\n".join(out) + "\n"


def generate(path: Path) -> None:
    """Writes the tables to ``path`` unless what is there was made by this Python from the same sources."""
    if path.is_file() and path.read_text("ascii").split("\n", 1)[0] == stamp():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(tables(), "ascii")
    scratch.replace(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", help="the file to write")
    parser.add_argument("--properties", action="store_true", help="rewrite the ranges of unicode_properties.txt")
    arguments = parser.parse_args()
    if arguments.properties:
        rewrite_properties()
    if arguments.path:
        generate(arguments.path)
