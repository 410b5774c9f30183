"""token_group: exactly one token of a group that the vocabulary has."""

from __future__ import annotations

from ..automata.checks import checked_name
from .constraint import Constraint, Limits, to_bytes
from .token_class import TokenClass


def token_group(name: str, *, limits: Limits | None = None) -> Constraint:
    """Exactly one token of a group of the vocabulary (`Vocabulary.with_token_groups`), text and special ones alike.

    See `one_token` about tokens beside text. Raises ConstraintError for an empty name; for a vocabulary without the
    group `compile` raises VocabularyError.
    """
    checked_name("token_group", name, "pass it as Vocabulary.with_token_groups has it")
    to_bytes(name, "token_group")
    return TokenClass(f"group:{name}", group=name).constraint(f"token_group({name!r})", limits)
