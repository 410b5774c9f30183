"""text_until: free text up to the first occurrence of a phrase."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from ..automata.checks import checked_choice, checked_several
from ..automata.errors import ConstraintError
from .capture import hidden
from .constraint import Constraint, Limits, Text, joined_parts, native_limits, to_bytes
from .free_text import phrase_table
from .from_fst import from_fst
from .literal import choice
from .regex import regex

if TYPE_CHECKING:
    from ..automata import Fst

Phrase = Literal["included", "excluded", "hidden"]


def text_until(stop: Text | Iterable[Text], phrase: Phrase = "included", *, limits: Limits | None = None) -> Constraint:
    """Any text up to the first occurrence of a stop phrase (or of one of several: of the one that ends first).

    ``phrase="included"``: the text and the phrase, so that the constraint ends with its first occurrence.
    ``phrase="excluded"``: the text before it. What follows has to begin with the phrase, then
    ``text_until(s, "excluded") + s`` is ``text_until(s)``; so no text is a member in which the phrase would occur
    earlier once it follows (``"xab"`` before ``"aba"``).

    ``phrase="hidden"``: the same texts as with ``"included"``, but named parts around it (`capture`) leave the phrase
    out.

    Held as a table, a state for each character of the phrases (beyond 4,096 bytes, or for bytes that are no text, as
    the minimal automaton, which takes longer to make). Raises ConstraintError for an empty phrase, or none. In `regex`:
    ``(?P<TEXT_UNTIL>phrase)``, alternatives separated by ``|``. Source: Koo et al. (2024), Table 1.
    """
    native_limits(limits, "text_until")
    stops = [stop] if isinstance(stop, (str, bytes)) else checked_several("text_until", "phrases", stop)
    phrases = list(dict.fromkeys(to_bytes(s, "text_until") for s in stops))
    if not phrases or b"" in phrases:
        raise ConstraintError(
            "text_until: expected a phrase of at least one character, got none; regex('(?s:.*)') is any text"
        )
    checked_choice("text_until", "phrase", phrase, ("included", "excluded", "hidden"))
    if phrase == "included":
        made = _included(phrases, limits)
    elif phrase == "excluded":
        made = _excluded(phrases, limits)._speaking_of((), False)
    else:
        made = _included(phrases, limits)
        made._parts = joined_parts([_excluded(phrases, limits), hidden(choice(phrases))])
    shown = repr(stops[0]) if len(stops) == 1 else repr(stops)
    made.source = f"text_until({shown})" if phrase == "included" else f"text_until({shown}, {phrase!r})"
    return made


def _included(phrases: list[bytes], limits: Limits | None) -> Constraint:
    if made := _table("up to", phrases, limits):
        return made
    ended = regex("(?s:.*)", limits=limits) + choice(phrases)
    return (ended - (ended + regex("(?s:.+)"))).minimize()


def _excluded(phrases: list[bytes], limits: Limits | None) -> Constraint:
    if made := _table("before", phrases, limits):
        return made
    return from_fst(_before(_included(phrases, limits).to_fst(1_000_000), phrases), limits=limits).minimize()


def _table(kind: Literal["before", "up to"], phrases: list[bytes], limits: Limits | None) -> Constraint | None:
    try:
        for phrase in phrases:
            phrase.decode()
    except UnicodeDecodeError:
        return None
    return phrase_table(kind, phrases, phrases, limits)


def _before(ended: Fst, phrases: list[bytes]) -> Fst:
    """The texts that are accepted once one of the phrases follows."""
    from ..automata import Fst

    arcs = [{arc.ilabel: arc.nextstate for arc in ended.arcs(s)} for s in ended.states()]
    finals = {s for s in ended.states() if ended.is_final(s)}
    fst = Fst()
    fst.add_states(len(arcs))
    fst.set_start(ended.start())
    for s, out in enumerate(arcs):
        for label, target in out.items():
            fst.add_arc(s, label, label, None, target)
        for text in phrases:
            at: int | None = s
            for byte in text:
                at = arcs[at].get(byte or 256) if at is not None else None
            if at in finals:
                fst.set_final(s)
    return fst
