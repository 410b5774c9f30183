"""unquoted_text: a plain scalar of YAML, on one line."""

from __future__ import annotations

from ..automata.checks import checked_flag
from .constraint import Constraint, Limits, native_limits
from .regex import regex

# Printable characters of YAML without white space, line breaks of YAML 1.1 or 1.2 and the byte order mark.
_VISIBLE = r"!-~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_INDICATORS = r"\-?:,[]{}#&*!|>'\"%@`"


def unquoted_text(flow: bool = False, *, limits: Limits | None = None) -> Constraint:
    """A YAML plain scalar on one line: what a YAML reader takes for a scalar as it stands, without quotes.

    That is text of printable characters, with spaces inside, which does not begin with an indicator (``-`` ``?``
    ``:`` may stand before a visible character), has no ``": "`` or ``" #"`` and does not end with a colon. With
    ``flow`` it may stand inside brackets: without ``, [ ] { } ?``. What both YAML 1.1 and 1.2 read so, but for tabs;
    the document markers ``---`` and ``...`` are left out as a first word. Which type the scalar resolves to is another
    question: ``no``, ``12`` and ``null`` are plain scalars, too. In `regex`: ``(?P<UNQUOTED_TEXT>)``.
    Sources: YAML 1.2.2, section 7.3.3; Koo et al. (2024), Table 1.
    """
    native_limits(limits, "unquoted_text")
    checked_flag("unquoted_text", "flow", flow)
    out = r",\[\]{}?" if flow else ""
    char = f"(?![:#{out}])[{_VISIBLE}]"
    safe = f"(?![:{out}])[{_VISIBLE}]"
    more = rf"(?::*{safe})*"
    lead = "-" if flow else r"[\-?]"
    words = (
        rf"(?:(?![{_escape(_INDICATORS)}])[{_VISIBLE}]|{lead}:*{safe}{'' if flow else rf'|:+{safe}'}){more}"
        rf"(?: +(?:{char}|:+{safe}){more})*"
    )
    made = (regex(words, limits=limits) - regex(r"(?:---|\.\.\.)(?: .*)?")).minimize()
    made.source = "unquoted_text(flow=True)" if flow else "unquoted_text()"
    return made


def _escape(characters: str) -> str:
    return characters.replace("[", r"\[").replace("]", r"\]").replace(r"\"", '"')
