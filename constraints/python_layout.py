"""PythonLayout: white space and spellings in the Python expressions that a constraint allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..automata.checks import checked_choice

Whitespace = Literal["flexible", "compact", "pep8", "any"]
Strings = Literal["any", "canonical"]
Numbers = Literal["canonical", "any"]
Order = Literal["fields", "any"]

_BREAK = r"\n[ \t]{0,100}"  # as in JSON's flexible white space
_ANY = r"[ \t\n]*"


@dataclass(frozen=True)
class Spaces:
    """Regular expressions for what stands between the parts of an expression; a comma may end what is in brackets."""

    opened: str
    comma: str
    closing: str
    equals: str
    colon: str
    after_comma: str  # of a tuple with one item


SPACES = {
    "flexible": Spaces(f"(?:{_BREAK})?", f",(?: |{_BREAK})?", f"(?:,?{_BREAK})?", "=", ": ?", f"(?:{_BREAK})?"),
    "compact": Spaces("", ",", "", "=", ":", ""),
    "pep8": Spaces("", ", ", "", "=", ": ", ""),
    "any": Spaces(_ANY, f"{_ANY},{_ANY}", f"{_ANY}(?:,{_ANY})?", f"{_ANY}={_ANY}", f"{_ANY}:{_ANY}", _ANY),
}


@dataclass(frozen=True)
class PythonLayout:
    """How expressions are written; see :func:`tokamata.dataclass_call`."""

    whitespace: Whitespace = "flexible"
    strings: Strings = "any"
    numbers: Numbers = "canonical"
    order: Order = "fields"

    def check(self, function: str) -> PythonLayout:
        """Raise ValueError for an option that does not exist."""
        allowed = {
            "whitespace": tuple(SPACES),
            "strings": ("any", "canonical"),
            "numbers": ("canonical", "any"),
            "order": ("fields", "any"),
        }
        for name, values in allowed.items():
            checked_choice(function, name, getattr(self, name), values)
        return self
