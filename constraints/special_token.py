"""special_token: a special token of the vocabulary, by name."""

from __future__ import annotations

from .._core import Language
from ..automata.checks import checked_name
from .constraint import SPECIAL, Constraint, Limits, native_limits, to_bytes


def special_token(name: str, *, limits: Limits | None = None) -> Constraint:
    """The special token of a name, such as ``"<|tool_call|>"``: as the vocabulary has it, brackets included.

    Where it has no special token of that name but one of text that is written so, as some have ``"<think>"``, that
    token: no other tokens that spell the name.

    In texts (``accepts``, ``examples``, ...) it is its marker: the name between two bytes 0xff, which no UTF-8 text
    contains. Masks allow its id exactly where the marker may stand, and no token of text spells it or a part of it.
    Text constraints, complements among them, never allow a special token; nor does a machine over raw bytes
    (:func:`tokamata.from_fst`): it may be intersected with such constraints, but where it reads the byte 0xff it cannot
    be joined to them (UnsupportedError by :func:`tokamata.compile`). A vocabulary without the name is a VocabularyError
    there. End-of-sequence tokens stand where a text is complete, not inside of it, so they have no markers. A budget
    counts a special token as one; ``forced_bytes`` ends before it, ``forced_tokens`` has it.

    ``special_token("<|tool_call|>") + tokamata.json_schema(...)``. Raises ConstraintError for an empty name.
    """
    checked_name("special_token", name, "pass it as the vocabulary has it, '<|call|>'")
    native = Language.literal(
        SPECIAL + to_bytes(name, "special_token") + SPECIAL, native_limits(limits, "special_token")
    )
    return Constraint(native, source=name, special_tokens=[name])
