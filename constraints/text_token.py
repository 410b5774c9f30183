"""text_token and paragraph_token: exactly one token of text."""

from __future__ import annotations

from ..automata import Fst
from .constraint import Constraint, Limits
from .from_fst import from_fst
from .regex import regex
from .token_class import TokenClass


def text_token(*, limits: Limits | None = None) -> Constraint:
    """Exactly one token of text, whatever its text is; special tokens are none.

    Tokens that hold pieces of UTF-8 characters count; whether the pieces make up characters is not watched. See
    `one_token` about tokens beside text. In `regex`: ``(?P<TEXT_TOKEN>)``. Source: Koo et al. (2024), Table 1.
    """
    return TokenClass("TEXT_TOKEN", _pieces("(?s:.)*")).constraint("text_token()", limits)


def paragraph_token(*, limits: Limits | None = None) -> Constraint:
    """Exactly one token of text without a newline; otherwise as `text_token`.

    In `regex`: ``(?P<PARAGRAPH_TOKEN>)``. Source: Koo et al. (2024), Table 1.
    """
    return TokenClass("PARAGRAPH_TOKEN", _pieces(".*")).constraint("paragraph_token()", limits)


def _pieces(pattern: str) -> Constraint:
    """All pieces of the texts of a pattern, cut anywhere, but the empty one; it repeats one set of characters."""
    texts = regex(pattern).to_fst()
    for state in texts.states():
        texts.set_final(state)
    rest = Fst()
    rest.add_states(2)
    rest.set_start(0)
    rest.set_final(1)
    for byte in range(0x80, 0xC0):
        rest.add_arc(0, byte, byte, None, 1)
    return (from_fst(rest).repeat(0, 3) + from_fst(texts)) - ""
