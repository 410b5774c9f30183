"""TokenClass: the name of a class of tokens that a constraint asks for one of."""

from __future__ import annotations

from .._core import Language
from .constraint import SPECIAL, Constraint, Limits, native_limits


class TokenClass(str):
    """Stands among the `Constraint.special_tokens` of what asks for a token of the class.

    In texts the class is its marker: the name between two bytes 0xff. Names begin with NUL, so that no special token
    has them. The tokens are those whose bytes are a member of `language`, those of a ``group`` of the vocabulary, the
    ``only`` one, by id or name, or all ``but`` that one.
    """

    __slots__ = ("but", "group", "language", "only")

    language: Constraint | None
    group: str | None
    only: int | str | None
    but: int | str | None

    def __new__(
        cls,
        name: str,
        language: Constraint | None = None,
        group: str | None = None,
        only: int | str | None = None,
        but: int | str | None = None,
    ) -> TokenClass:
        """Name a class of tokens; equal names mean equal classes."""
        made = super().__new__(cls, "\0" + name.lstrip("\0"))
        made.language = language
        made.group = group
        made.only = only
        made.but = but
        return made

    def constraint(self, source: str, limits: Limits | None = None) -> Constraint:
        """Exactly one token of the class."""
        native = Language.literal(SPECIAL + self.encode() + SPECIAL, native_limits(limits, source.partition("(")[0]))
        return Constraint(native, source=source, special_tokens=[self])
