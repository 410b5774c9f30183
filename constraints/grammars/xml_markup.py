"""XML-like markup with matching tags out of a given list of names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...automata.checks import checked_texts
from ...automata.errors import ConstraintError
from .catalogue import text

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(:[A-Za-z_][A-Za-z0-9_.-]*)?")
_BEGIN, _END = "// begin names\n", "// end names\n"


def xml_markup(tags: Sequence[str], attributes: Sequence[str] = ()) -> str:
    """Return a grammar (Lark's notation, ``lexer="none"``) of one element with these tags, and elements within it.

    Each element may carry each of the attributes once, in the order given. Names are ASCII, with one colon at most; a
    prefix needs its declaration, for which ``xmlns:prefix`` can be one of the attributes. The grammar grows linearly in
    the number of names. Raises ConstraintError for an empty list of tags, a repeated name, and what is not a name.
    """
    tags = checked_texts("xml_markup", "tags", tags)
    attributes = checked_texts("xml_markup", "attributes", attributes)
    for what, given in (("tags", tags), ("attributes", attributes)):
        for name in given:
            if not _NAME.fullmatch(name):
                raise ConstraintError(f"xml_markup: expected ASCII names as {what}, got {name!r}")
        if len(set(given)) < len(given):
            raise ConstraintError(f"xml_markup: expected {what} without repetition, got {', '.join(given)}")
    if not tags:
        raise ConstraintError("xml_markup: expected at least one tag, got none")
    before, rest = text("xml").split(_BEGIN)
    after = rest.split(_END)[1]
    lines = ["element: " + "\n       | ".join(f'_tagged{{"{tag}"}}' for tag in tags)]
    if attributes:
        lines.append("_attributes: " + " ".join(f'[_attribute{{"{name}"}}]' for name in attributes))
    else:
        after = after.replace(" _attributes", "").replace(_definition(after, "_attribute"), "")
        after = after.replace(_definition(after, "_value"), "").replace(_definition(after, "VALUE_CHARACTER"), "")
    return before + "\n".join(lines) + "\n" + after


def _definition(grammar: str, name: str) -> str:
    """Return the lines of a rule or terminal: the one that begins with its name, and the indented ones after it."""
    found = re.search(rf"^{name}(\{{\w+\}})?:.*\n( +.*\n)*", grammar, re.M)
    assert found, name
    return found[0]
