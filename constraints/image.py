"""image: an image among the text of a multi-modal model."""

from __future__ import annotations

from ..automata.checks import checked_bounds
from .constraint import Constraint, Limits, native_limits
from .token_group import token_group


def image(low: int = 1, high: int | None = None, *, limits: Limits | None = None) -> Constraint:
    """An image: its first token, between ``low`` and ``high`` image tokens, and its last token.

    The vocabulary says which tokens these are, as the groups ``"IMAGE_BEGIN"``, ``"IMAGE"`` and ``"IMAGE_END"`` of
    `Vocabulary.with_token_groups`; without them `compile` raises VocabularyError. In `regex`: ``(?P<IMAGE>)``.
    Source: Koo et al. (2024), Table 1.
    """
    low, high = checked_bounds("image", low, high)
    native_limits(limits, "image")
    body = token_group("IMAGE", limits=limits).repeat(low, high)
    made = token_group("IMAGE_BEGIN", limits=limits) + body + token_group("IMAGE_END")
    made.source = "image()" if (low, high) == (1, None) else f"image({low}, {high})"
    return made
