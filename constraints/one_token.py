"""one_token: exactly one token of the vocabulary, whose text is a member of a constraint."""

from __future__ import annotations

import hashlib

from .._core import CaptureParts
from ..automata.errors import ConstraintError
from .constraint import Constraint, Limits
from .token_class import TokenClass


def one_token(text: Constraint, *, limits: Limits | None = None) -> Constraint:
    r"""Exactly one token, the text of which is a member of ``text``: ``one_token(regex(r" ?\w+"))`` is a single word.

    It stands beside text as any constraint does. A token then has several readings: its text, and one token of each
    class that it belongs to. A token is allowed exactly where at least one of its readings can be continued to a
    member, and all of these readings are kept; there is no order of precedence among them. What can be said about
    texts (``accepts``, ``examples``, ``&`` and so on) takes the class for a character of its own, its marker, that no
    text contains: a constraint on text and one on tokens have nothing in common.

    The tokens are found when `compile` meets a vocabulary; where it has none, that is a VocabularyError. Raises
    ConstraintError for special tokens inside, LimitError where the constraint has too many states (it has to be
    regular). Source: Koo et al. (2024), §2.5.1, whose terminals these are.
    """
    if not isinstance(text, Constraint):
        raise TypeError(f"one_token: expected a Constraint, got {type(text).__name__}; literal(text) is one")
    if text.special_tokens:
        raise ConstraintError("one_token: expected text, got special tokens; use special_token, or token_group")
    minimal = text.minimize()
    digest = hashlib.sha256(minimal.to_fst(1_000_000).to_bytes()).hexdigest()[:16]
    made = TokenClass(f"token:{digest}", minimal).constraint(f"one_token({text.source})", limits)
    if text._parts:
        made._parts = CaptureParts.unknown(
            made._native,
            f"captures: the named parts inside of {made.source} are less than a token; name the whole token with "
            "tokamata.capture",
        )
    return made
