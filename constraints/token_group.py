"""token_group: exactly one token of a group that the vocabulary has."""

from __future__ import annotations

from ..automata.errors import ConstraintError
from .constraint import Constraint, Limits
from .token_class import TokenClass


def token_group(name: str, *, limits: Limits | None = None) -> Constraint:
    """Exactly one token of a group of the vocabulary (`Vocabulary.with_token_groups`), text and special ones alike.

    See `one_token` about tokens beside text. Raises ConstraintError for an empty name; for a vocabulary without the
    group `compile` raises VocabularyError.
    """
    if not name:
        raise ConstraintError("token_group: expected the name of a group, got ''")
    return TokenClass(f"group:{name}", group=name).constraint(f"token_group({name!r})", limits)
