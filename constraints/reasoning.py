"""reasoning: free text in tags, then a constrained answer."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from ..automata.checks import checked_count, checked_flag, cut
from ..automata.errors import ConstraintError, UnsupportedError
from .constraint import SPECIAL, Constraint, Text, to_bytes
from .dynamic import DynamicConstraint
from .free_text import checked_phrases, free_text, text_before
from .literal import as_constraint
from .regex import regex
from .sequence import optional, sequence
from .text_token import text_token

_BETWEEN = r"[ \t\r\n]{0,4}"


class Reasoned(NamedTuple):
    """What a model wrote under :func:`reasoning`."""

    reasoning: str | None
    """The free text between begin and end; None where reasoning is optional and was left out."""
    answer: Any
    """The answer as text, or what ``then.parse`` makes of it."""


class ReasoningConstraint(Constraint):
    """Free text up to a phrase, then an answer; see :func:`reasoning`."""

    __slots__ = ("_begin", "_end", "_max_length", "_required", "then")

    def __init__(
        self,
        whole: Constraint,
        begin: Constraint | Text,
        end: Constraint | Text,
        then: Constraint,
        required: bool,
        max_length: int | None = None,
    ) -> None:
        """Keep the parts for parsing; use :func:`tokamata.reasoning`."""
        super().__init__(
            whole._native,
            source=f"reasoning(then={then.source})",
            report=whole._report,
            special_tokens=whole.special_tokens,
            has_raw_bytes=whole._has_raw_bytes,
        )
        self._parts = whole._parts
        self._begin = begin
        self._end = end
        self._required = required
        self._max_length = max_length
        self.then = then

    def parse(self, text: Text) -> Reasoned:
        """Split a member into reasoning and answer.

        The answer is what ``then.parse`` returns where it has such a method, else a str. White space between them
        belongs to neither. Special tokens may stand as their names or, in bytes, as their markers. Raises
        ConstraintError for a text that is no member; how many tokens wrote it (``max_tokens``) a text does not tell.
        """
        data = to_bytes(text, "parse")
        marked = SPECIAL in data
        begin, end = _written(self._begin, marked), _written(self._end, marked)
        if data.startswith(begin):
            thoughts, found, rest = data[len(begin) :].partition(end)
            if found and SPECIAL not in thoughts and self._fits(thoughts.decode("utf-8", "replace")):
                return Reasoned(thoughts.decode(), self._answer(rest, text))
        elif not self._required:
            return Reasoned(None, self._answer(data, text, space=0))
        raise self._no_member(text, f"the reasoning that ends with {end.decode('utf-8', 'backslashreplace')!r}")

    def _fits(self, thoughts: str) -> bool:
        return self._max_length is None or len(thoughts) <= self._max_length

    def _answer(self, rest: bytes, text: Text, space: int = 4) -> Any:
        """What ``then`` makes of the rest, without as much of the space before it as can be left out."""
        parse = getattr(self.then, "parse", None)
        for begin in range(min(space, len(rest) - len(rest.lstrip(b" \t\r\n"))), -1, -1):
            answer = rest[begin:]
            if self.then.accepts(answer):
                return parse(answer) if parse else answer.decode("utf-8", "backslashreplace")
            if parse:
                with suppress(ConstraintError):  # special tokens may stand as names, which accepts does not know
                    return parse(answer)
        raise self._no_member(text, f"an answer of {self.then.source}")

    def _no_member(self, text: Text, expected: str) -> ConstraintError:
        return ConstraintError(
            f"reasoning: expected {expected}, got {text!r}, which is no member; accepts() tells beforehand"
        )


def reasoning(
    then: Constraint | Text,
    *,
    begin: Constraint | Text = "<think>",
    end: Constraint | Text = "</think>",
    required: bool = True,
    max_length: int | None = None,
    max_tokens: int | None = None,
) -> ReasoningConstraint:
    """Free text up to ``end``, then up to four characters of white space and a text of ``then``.

    Args:
        then: the constrained part.
        begin: what the reasoning begins with; ``""`` where the prompt has it already, as the templates of many models
            do. A text or a special token (:func:`tokamata.special_token`).
        end: what ends the reasoning where it occurs first; a text or a special token.
        required: False: the answer may come at once, without ``begin``.
        max_length: the most characters between ``begin`` and ``end``; where they are used up, ``end`` follows.
        max_tokens: the most tokens between them, where ``end`` is a special token. A phrase of text has no tokens of
            its own: one token may hold its end and what comes before or behind, so that is an UnsupportedError. For
            reasoning and answer together there is ``start(max_tokens=...)``.

    Raises:
        ConstraintError: an empty ``end``; ``required=False`` without a ``begin``, which would leave open what is
            reasoning.
    """
    then = as_constraint("reasoning", then)
    if isinstance(then, DynamicConstraint):
        raise UnsupportedError(
            'reasoning: parse has to know the members of `then`; with callbacks, write tokamata.sequence("<think>", '
            'tokamata.text_until("</think>"), then)'
        )
    checked_flag("reasoning", "required", required)
    if not required and not isinstance(begin, Constraint) and not begin:
        raise ConstraintError(
            "reasoning: expected a begin where required=False, by which reasoning is told from an answer, got ''; pass "
            'begin="<think>"'
        )
    thought = sequence(as_constraint("reasoning", begin), _thoughts(end, max_length, max_tokens), end, regex(_BETWEEN))
    whole = (thought if required else optional(thought)) + then
    return ReasoningConstraint(whole, begin, end, then, required, max_length)


def _thoughts(end: Constraint | Text, max_length: int | None, max_tokens: int | None) -> Constraint:
    """The free text before ``end``."""
    for name, bound in (("max_length", max_length), ("max_tokens", max_tokens)):
        if bound is not None and checked_count("reasoning", name, bound) < 0:
            raise ValueError(f"reasoning: expected {name} >= 0 or None, got {cut(bound)}; None is no bound")
        if bound is not None and bound >= 2**32 - 1:
            raise ValueError(f"reasoning: expected {name} < 2**32 - 1, got {cut(bound)}; None is no bound")
    if max_tokens is not None:
        if max_length is not None:
            raise ValueError("reasoning: expected max_length or max_tokens, got both; pass one of them")
        if not isinstance(end, Constraint):
            raise UnsupportedError(
                f"reasoning: max_tokens={max_tokens} needs an end that is a token of its own, got the text {end!r}, "
                "which tokens may share with what stands around it; pass end=tokamata.special_token(...) where the "
                "model has one, else max_length"
            )
        return text_token().repeat(0, max_tokens)
    if isinstance(end, Constraint):
        return free_text() if max_length is None else _characters(max_length)
    if not isinstance(end, (str, bytes)):
        raise TypeError(
            f"reasoning: expected end as a text or a special token, got {type(end).__name__}; pass one phrase, as in "
            '"</think>"'
        )
    (phrase,) = checked_phrases("reasoning", end)
    thoughts = text_before(phrase, [phrase])
    # Minimal, so that every state is known to lead on: nothing has to be searched beside the counter.
    return thoughts if max_length is None else thoughts.minimize() & _characters(max_length)


def _characters(most: int) -> Constraint:
    return regex(r"(?s:.)").repeat(0, most)


def _written(phrase: Constraint | Text, marked: bool) -> bytes:
    if not isinstance(phrase, Constraint):
        return to_bytes(phrase)
    name = phrase.source.encode()
    return SPECIAL + name + SPECIAL if marked else name
