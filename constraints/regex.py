"""regex: the texts that a regular expression matches from end to end."""

from __future__ import annotations

import re
from typing import Literal

from .._core import CaptureParts
from .._core import regex as _native_regex
from .._core import regex_named as _native_named
from .._core import regex_with_groups as _native_with_groups
from ..automata.checks import checked_choice, checked_range
from ..automata.errors import UnsupportedError
from .constraint import DEFAULT_LIMITS, Constraint, Limits, native_limits, parts_of

Syntax = Literal["python", "ecma"]

_FLAGS = ((re.ASCII, "a"), (re.IGNORECASE, "i"), (re.MULTILINE, "m"), (re.DOTALL, "s"), (re.VERBOSE, "x"))
_MOST_DEPTH = 1000

# Groups of these names stand for constraints of their own; see named_groups.py.
NAMES = (
    "QUOTED_TEXT",
    "UNQUOTED_TEXT",
    "TEXT_UNTIL",
    "SUBSTRING_OF",
    "DELIMITED_LIST",
    "DELIMITED_SUBSEQUENCE_OF",
    "TEXT_TOKEN",
    "PARAGRAPH_TOKEN",
    "IMAGE",
)
_NAMED = re.compile(rf"\(\?P<(?!(?:{'|'.join(NAMES)})>)")
_NAMED_ECMA = re.compile(r"\(\?<(?![=!])")


def regex(
    pattern: str | re.Pattern[str],
    syntax: Syntax = "python",
    *,
    max_depth: int = 250,
    limits: Limits | None = None,
) -> Constraint:
    r"""The texts that the whole pattern matches, as ``re.fullmatch`` does, over UTF-8.

    ``syntax="python"``: the ``re`` syntax of Python 3.11 and later for str patterns, with the character classes and
    case rules of the running Python, and ``\p{..}``, ``\P{..}`` for general categories, scripts and binary properties.
    A compiled ``re.Pattern`` brings its flags along. ``syntax="ecma"``: ECMA-262 with the u flag, and with groups that
    have flags of their own, as in ``(?s:...)``.

    Lookahead, lookbehind, ``\b`` and anchors are compiled away exactly wherever they stand; atomic groups and
    possessive quantifiers too, where what they match is decided (``\d++``, ``(?>a|ab)``). Greedy and lazy quantifiers
    are the same language. Code points that are not characters (lone surrogates) match nothing.

    Backreferences and conditional groups are written out where the pattern tells what they stand for: a group that is
    read once before them, and for backreferences one of at most 1,000 texts: ``(['"])[^'"]*\1``, ``(\()?\d+(?(1)\))``.

    Groups of some names stand for constraints of their own (Koo et al. 2024, Table 1): ``(?P<QUOTED_TEXT>)``,
    ``(?P<UNQUOTED_TEXT>)``, ``(?P<TEXT_UNTIL>phrase)``, ``(?P<SUBSTRING_OF>text)``, ``(?P<DELIMITED_LIST>, |element)``,
    ``(?P<DELIMITED_SUBSEQUENCE_OF>, |red|green|blue)``, ``(?P<TEXT_TOKEN>)``,
    ``(?P<PARAGRAPH_TOKEN>)``, ``(?P<IMAGE>)``; see the functions of these names in lower case. They may occur more than
    once, and not inside lookaround.

    Building is linear in the pattern and counters stay symbolic. Raises ConstraintError for a malformed pattern (with
    the position, in characters), UnsupportedError for what is not regular (other backreferences), LimitError
    beyond 2,000,000 characters or ``max_depth`` nested groups (at most 1000), or past ``limits``, which the constraint
    keeps.
    """
    if type(pattern) is str and syntax == "python" and max_depth == 250 and limits is None and "(?P<" not in pattern:
        return Constraint(_native_regex(pattern), ("regex", pattern), is_text=True)
    checked_choice("regex", "syntax", syntax, ("python", "ecma"))
    max_depth = checked_range("regex", "max_depth", max_depth, 0, _MOST_DEPTH)
    flags = ""
    if isinstance(pattern, re.Pattern):
        if syntax == "ecma":
            raise ValueError('regex: a compiled re.Pattern has Python\'s syntax; pass its text to use syntax="ecma"')
        flags = "".join(letter for flag, letter in _FLAGS if pattern.flags & flag)
        pattern = pattern.pattern
    if isinstance(pattern, bytes):
        raise UnsupportedError("regex: expected a str pattern, got bytes; decode it (texts are UTF-8)")
    if not isinstance(pattern, str):
        raise TypeError(
            f"regex: expected a pattern as str or re.Pattern, got {type(pattern).__name__}; tokamata.literal(text) "
            "is a fixed text"
        )
    return _compiled(pattern, syntax, flags, max_depth, limits)


def _compiled(pattern: str, syntax: Syntax, flags: str, max_depth: int, limits: Limits | None) -> Constraint:
    own, contexts = native_limits(limits, "regex"), (limits or DEFAULT_LIMITS).pattern_contexts
    data = pattern.encode("utf-8", "surrogatepass")
    if syntax == "python" and "(?P<" in pattern and (groups := _named_groups(data, flags, max_depth)):
        native = _native_with_groups(
            pattern, flags, max_depth, contexts, own, NAMES, [group._native for group in groups]
        )
        made = groups[0]._combined(native, "", *groups[1:])._between_texts()
    else:
        groups = []
        made = Constraint(_native_regex(pattern, syntax == "ecma", flags, max_depth, contexts, own), is_text=True)
    made._source = ("regex", pattern)
    if syntax == "python" and (_NAMED.search(pattern) or any(group._parts for group in groups)):
        made._parts = CaptureParts.regex(data, flags, max_depth, NAMES, [parts_of(group) for group in groups])
    elif syntax == "ecma" and _NAMED_ECMA.search(pattern):
        made._parts = CaptureParts.unknown(
            made._native,
            f"regex: captures of the ECMAScript pattern {pattern[:60]!r}, whose repetitions forget what they read "
            "before; write it in Python's syntax, (?P<name>...), or use tokamata.capture",
        )
    return made


def _named_groups(data: bytes, flags: str, max_depth: int) -> list[Constraint]:
    """The constraints of the groups whose names stand for one, in order."""
    from .named_groups import named_group  # which needs regular expressions itself

    found = []
    for name, position, inside, alternatives in _native_named(data, flags, max_depth, NAMES):

        def compiled(part: bytes, inside: str = inside) -> Constraint:
            return _compiled(part.decode("utf-8", "surrogatepass"), "python", inside, max_depth, None)

        found.append(named_group(name, position, alternatives, compiled))
    return found
