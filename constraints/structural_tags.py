"""structural_tags: free text that triggers switch to a constraint, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..automata.checks import checked_flag, checked_several
from ..automata.errors import ConstraintError
from .constraint import Constraint, Text, to_bytes
from .free_text import checked_phrases, free_text, text_up_to
from .literal import as_constraint
from .sequence import any_of, sequence


class Tag(NamedTuple):
    """What a trigger switches to: ``begin``, a text of ``content``, ``end``.

    ``begin`` and ``end``: a text, or a special token (:func:`tokamata.special_token`).
    """

    begin: Constraint | Text
    content: Constraint | Text
    end: Constraint | Text = ""


def structural_tags(
    tags: Iterable[Tag | tuple[Constraint | Text, Constraint | Text, Constraint | Text]],
    triggers: Iterable[Constraint | Text] | None = None,
    *,
    at_least_one: bool = False,
    stop_after_first: bool = False,
) -> Constraint:
    """Free text with tags in it: where a trigger occurs, one of the tags that begin with it must follow.

    Free text is text in which no trigger occurs, exactly. The first trigger that is complete decides: what follows is
    the rest of a tag's ``begin``, its content and its end, for any of the tags that begin with that trigger. Then comes
    free text again, in which a trigger is looked for from the tag's end on.

    Args:
        tags: triples (begin, content, end).
        triggers: phrases that begin some tag's ``begin``, such as ``"<function="`` for several functions; special
            tokens are triggers of their own. None: each ``begin`` is one.
        at_least_one: a text without any tag is not allowed.
        stop_after_first: the text ends with the first tag.

    Raises:
        ConstraintError: an empty begin or trigger, a begin without a trigger, a trigger without a tag, or one that can
            never be completed because it contains another one before its end.
    """
    checked_flag("structural_tags", "at_least_one", at_least_one)
    checked_flag("structural_tags", "stop_after_first", stop_after_first)
    if isinstance(tags, Mapping):
        raise TypeError("structural_tags: expected triples (begin, content, end), got a mapping; pass a list of them")
    entries = [_checked(tag) for tag in checked_several("structural_tags", "tags", tags)]
    if not entries:
        raise ConstraintError("structural_tags: expected at least one tag; use free_text() for free text alone")
    chosen = (
        [tag.begin for tag in entries] if triggers is None else checked_several("structural_tags", "triggers", triggers)
    )
    special = {_special_name(t): t for t in chosen if isinstance(t, Constraint)}
    texts = checked_phrases(
        "structural_tags",
        dict.fromkeys(to_bytes(t, "structural_tags") for t in chosen if not isinstance(t, Constraint)),
    )
    _check_reachable(texts)
    following: dict[bytes | str, list[Constraint]] = {}
    following |= {trigger: [] for trigger in texts}
    following |= {name: [] for name in special}
    for tag in entries:
        for trigger, rest in _rests(tag, texts, special):
            following[trigger].append(sequence(rest, tag.content, tag.end))
    switched = []
    for trigger, choices in following.items():
        if not choices:
            shown = trigger if isinstance(trigger, str) else trigger.decode()
            raise ConstraintError(
                f"structural_tags: expected a tag that begins with the trigger {shown!r}, got none; add one, or "
                "leave the trigger out"
            )
        begun = text_up_to(trigger, texts) if isinstance(trigger, bytes) else free_text(texts) + special[trigger]
        switched.append(begun + any_of(choices))
    tagged = any_of(switched)
    if stop_after_first:
        return tagged if at_least_one else tagged | free_text(texts)
    return tagged.repeat(1 if at_least_one else 0) + free_text(texts)


def _checked(tag: Tag | tuple[Constraint | Text, Constraint | Text, Constraint | Text]) -> Tag:
    try:
        if isinstance(tag, (str, bytes)):
            raise TypeError
        made = Tag(*tag)
    except TypeError:
        raise TypeError(
            f"structural_tags: expected tags as triples (begin, content, end), got {tag!r}; pass a list of them"
        ) from None
    if isinstance(made.begin, Constraint):
        _special_name(made.begin)
    elif not to_bytes(made.begin, "structural_tags"):
        raise ConstraintError(
            "structural_tags: expected a begin of at least one character, got ''; pass what begins a tag"
        )
    return made._replace(
        content=as_constraint("structural_tags", made.content), end=as_constraint("structural_tags", made.end)
    )


def _special_name(constraint: Constraint) -> str:
    """The name of the special token that a constraint is."""
    if len(constraint.special_tokens) == 1 and constraint.source in constraint.special_tokens:
        return constraint.source
    raise ConstraintError(
        f"structural_tags: expected a text or a special token as begin or trigger, got {constraint!r}; "
        "put what follows the token into the content"
    )


def _check_reachable(triggers: list[bytes]) -> None:
    for trigger in triggers:
        for other in triggers:
            if other != trigger and other in trigger[:-1]:
                raise ConstraintError(
                    f"structural_tags: the trigger {trigger.decode()!r} is never completed, because it contains "
                    f"{other.decode()!r} before its end; leave one of them out"
                )


def _rests(tag: Tag, texts: list[bytes], special: dict[str, Constraint]) -> list[tuple[bytes | str, bytes]]:
    """The triggers that a tag begins with, and what its begin has after each."""
    if isinstance(tag.begin, Constraint):
        name = _special_name(tag.begin)
        if name in special:
            return [(name, b"")]
        shown = name
    else:
        begin = to_bytes(tag.begin)
        if found := [trigger for trigger in texts if begin.startswith(trigger)]:
            return [(found[0], begin[len(found[0]) :])]
        shown = begin.decode("utf-8", "replace")
    raise ConstraintError(
        f"structural_tags: expected a trigger that begins {shown!r}, got none, so this tag can never follow; add one"
    )
