"""free_text: all texts, or those in which some phrases do not occur."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from .._core import free_text as _native_free_text
from ..automata.checks import checked_several
from ..automata.errors import ConstraintError
from .constraint import Constraint, Limits, Text, native_limits, to_bytes
from .literal import choice
from .regex import regex

MOST_TABLE_BYTES = 4096  # of phrases that are made a table at once


def free_text(without: Text | Iterable[Text] = ()) -> Constraint:
    """All texts in which none of the phrases occurs; without phrases, all texts.

    Exact: a text may end within a phrase, and a phrase is found however tokens cut it. Special tokens are no text, so
    none is allowed. Raises ConstraintError for an empty phrase, which occurs in every text.

    Complexity: one state for each proper prefix of a phrase, a kilobyte each; where the phrases have more than 4,096
    bytes, states appear when texts reach them. A mask is built once for each.
    """
    phrases = checked_phrases("free_text", without)
    if not phrases:
        return _named(any_text(), "free_text()")
    shown = repr(phrases[0].decode("utf-8", "replace")) + (", ..." if len(phrases) > 1 else "")
    made = phrase_table("without", phrases) or ~(any_text() + choice(phrases) + any_text())
    return _named(made, f"free_text(without {shown})")


def text_before(phrase: bytes, phrases: Iterable[bytes]) -> Constraint:
    """The texts x such that in x + phrase no occurrence of any of the phrases ends before the end.

    ``phrase`` is one of the phrases, and none of them may end within it.
    """
    known = list(phrases)
    if made := phrase_table("before", known, [phrase]):
        return made
    # What an occurrence can have before the phrase begins are the rests of the phrases whose ends are beginnings of it,
    # so x neither contains a phrase nor ends with such a rest.
    rests = {p[:-k] for p in known for k in range(1, min(len(p), len(phrase))) if p.endswith(phrase[:k])}
    refused = any_text() + choice(known) + any_text()
    return ~(refused | any_text() + choice(rests) if rests else refused)


def text_up_to(phrase: bytes, phrases: Iterable[bytes]) -> Constraint:
    """The texts of :func:`text_before`, each with the phrase."""
    known = list(phrases)
    return phrase_table("up to", known, [phrase]) or text_before(phrase, known) + phrase


def phrase_table(
    kind: Literal["without", "before", "up to"],
    phrases: Sequence[bytes],
    ends: Iterable[bytes] = (),
    limits: Limits | None = None,
) -> Constraint | None:
    """Texts without phrases, or before and up to the first of some that end them, as a table; None: it is too large.

    Of several phrases that end at once, each is the first. Source: Aho and Corasick (1975), over UTF-8.
    """
    if sum(map(len, phrases)) > MOST_TABLE_BYTES:
        return None
    native = _native_free_text(phrases, [phrases.index(end) for end in ends], kind, native_limits(limits, "free_text"))
    return Constraint(native, source=f"text {kind} {min(phrases, key=len)!r}")


def any_text() -> Constraint:
    """All texts."""
    return regex(r"(?s:.*)")


def checked_phrases(function: str, phrases: Text | Iterable[Text]) -> list[bytes]:
    """UTF-8 bytes of one phrase or several; a ConstraintError names what cannot be looked for in texts."""
    several = [phrases] if isinstance(phrases, (str, bytes)) else checked_several(function, "phrases", phrases)
    found = [to_bytes(p, function) for p in several]
    for phrase in found:
        if not phrase:
            raise ConstraintError(f"{function}: expected phrases of at least one character, got ''; leave it out")
        try:
            phrase.decode()
        except UnicodeDecodeError:
            raise ConstraintError(
                f"{function}: expected phrases in UTF-8, got {phrase!r}, which occurs in no text; leave it out"
            ) from None
    return found


def _named(constraint: Constraint, source: str) -> Constraint:
    constraint.source = source
    return constraint
