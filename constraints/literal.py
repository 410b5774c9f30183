"""literal and choice: constraints from plain texts."""

from __future__ import annotations

from collections.abc import Iterable

from .._core import Language
from ..automata.checks import checked_several, is_utf8
from .constraint import SPECIAL, Constraint, Limits, Text, native_limits, to_bytes


def literal(text: Text, *, limits: Limits | None = None) -> Constraint:
    """Exactly this text."""
    data = to_bytes(text, "literal")
    native = Language.literal(data, native_limits(limits, "literal"))
    return Constraint(native, source=repr(text), has_raw_bytes=SPECIAL in data, is_text=is_utf8(data))


def choice(options: Iterable[Text], *, limits: Limits | None = None) -> Constraint:
    """Any one of the texts, as a trie: linear in their total length. Raises ValueError when there is none."""
    single = "use literal(text) for a single text"
    texts = [to_bytes(o, "choice") for o in checked_several("choice", "texts", options, single)]
    if not texts:
        raise ValueError("choice: expected at least one option, got none; the empty language allows no text at all")
    shown = " | ".join(repr(t.decode(errors="replace")) for t in texts[:3]) + (" | ..." if len(texts) > 3 else "")
    native = Language.choice(texts, native_limits(limits, "choice"))
    raw, is_text = any(SPECIAL in t for t in texts), all(map(is_utf8, texts))
    return Constraint(native, source=f"choice({shown})", has_raw_bytes=raw, is_text=is_text)


def as_constraint(function: str, part: object) -> Constraint:
    """A Constraint as it is, a text as a literal. Raises TypeError, in the name of a function, for anything else."""
    if isinstance(part, Constraint):
        return part
    if isinstance(part, (str, bytes)):
        to_bytes(part, function)
        return literal(part)
    raise TypeError(
        f"{function}: expected a Constraint, str or bytes, got {type(part).__name__}; make a constraint of it first"
    )
