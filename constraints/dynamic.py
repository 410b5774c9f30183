"""dynamic: places where a callback decides, from the text so far, what may come next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..automata.checks import checked_bounds, checked_count, checked_name, checked_several, cut
from ..automata.errors import UnsupportedError
from .constraint import Constraint, Text
from .literal import literal

if TYPE_CHECKING:
    from .._core import Language

_MOST_PLACES = 10_000
Callback = Callable[[str], "Constraint | Text"]
Key = Callable[[str], Hashable]


class Place:
    """Where a callback is asked; see :func:`dynamic`."""

    __slots__ = ("callback", "captures", "key", "max_places", "name", "special_tokens")

    def __init__(
        self, callback: Callback, key: Key | None, name: str, special_tokens: Iterable[str], max_places: int
    ) -> None:
        """Keep what to ask and how it is called in errors."""
        self.callback = callback
        self.key = key
        self.name = name
        self.special_tokens = frozenset(special_tokens)
        self.max_places = max_places
        self.captures: tuple[str, ...] = ()  # names of what is written here, the inner ones first

    def captured(self, name: str) -> Place:
        """The same with a name; with an empty one, hidden."""
        made = Place(self.callback, self.key, self.name, self.special_tokens, self.max_places)
        made.captures = (*self.captures, name)
        return made


class Joined:
    """Parts one after another."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Part]) -> None:
        """Flatten what is joined already, and join neighbours that need no callback."""
        self.parts: list[Part] = []
        for part in parts:
            for item in part.parts if isinstance(part, Joined) else [part]:
                if self.parts and isinstance(item, Constraint) and isinstance(self.parts[-1], Constraint):
                    self.parts[-1] = self.parts[-1] + item
                else:
                    self.parts.append(item)


class Either:
    """One of several parts."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Part]) -> None:
        """Flatten what is a choice already, and unite neighbours that need no callback."""
        self.parts: list[Part] = []
        for part in parts:
            for item in part.parts if isinstance(part, Either) else [part]:
                if self.parts and isinstance(item, Constraint) and isinstance(self.parts[-1], Constraint):
                    self.parts[-1] = self.parts[-1] | item
                else:
                    self.parts.append(item)


class Repeated:
    """A part several times in a row."""

    __slots__ = ("high", "low", "part")

    def __init__(self, part: Part, low: int, high: int | None) -> None:
        """Keep the part and the counts."""
        self.part = part
        self.low = low
        self.high = high


Part = Constraint | Place | Joined | Either | Repeated


class DynamicConstraint(Constraint):
    """A constraint with places that are filled in while a text is written; see :func:`dynamic`.

    It joins others with ``+``, ``|``, :meth:`repeat`, :func:`tokamata.sequence`, :func:`tokamata.optional` and
    :func:`tokamata.structural_tags`, and goes to :func:`tokamata.compile`. What it contains is not known before, so
    questions about whole languages, ``&``, ``-`` and ``~`` raise UnsupportedError: ask them of what the callback
    returns.
    """

    __slots__ = ("part",)

    def __init__(self, part: Part, source: str) -> None:
        """Wrap the parts; use :func:`tokamata.dynamic`."""
        self.part = part
        self.source = source
        self._parts = None
        found = list(leaves(part))
        self._report = tuple(entry for leaf in found if isinstance(leaf, Constraint) for entry in leaf._report)
        self.special_tokens = frozenset().union(*(leaf.special_tokens for leaf in found))
        self._has_raw_bytes = any(leaf._has_raw_bytes for leaf in found if isinstance(leaf, Constraint))

    @property
    def _native(self) -> Language:  # type: ignore[override]
        self._refuse("this question")

    def _refuse(self, what: str) -> NoReturn:
        raise UnsupportedError(
            f"{what} needs all members of {self.source}, which are not known before its callback is asked; apply it to "
            "what the callback returns"
        )

    def __or__(self, other: object) -> DynamicConstraint:
        """Texts of either."""
        if (part := _part(other)) is None:
            return NotImplemented
        return DynamicConstraint(Either([self.part, part]), f"({self.source} | {_source(other)})")

    def __ror__(self, other: object) -> DynamicConstraint:
        if (part := _part(other)) is None:
            return NotImplemented
        return DynamicConstraint(Either([part, self.part]), f"({_source(other)} | {self.source})")

    def __add__(self, other: object) -> DynamicConstraint:
        """A text of this one followed by a text of the other."""
        if (part := _part(other)) is None:
            return NotImplemented
        return DynamicConstraint(Joined([self.part, part]), f"({self.source} + {_source(other)})")

    def __radd__(self, other: object) -> DynamicConstraint:
        if (part := _part(other)) is None:
            return NotImplemented
        return DynamicConstraint(Joined([part, self.part]), f"({_source(other)} + {self.source})")

    def __and__(self, other: object) -> NoReturn:
        """Raise UnsupportedError."""
        self._refuse("an intersection")

    def __rand__(self, other: object) -> NoReturn:
        self._refuse("an intersection")

    def __sub__(self, other: object) -> NoReturn:
        """Raise UnsupportedError."""
        self._refuse("a difference")

    def __rsub__(self, other: object) -> NoReturn:
        self._refuse("a difference")

    def __invert__(self) -> NoReturn:
        """Raise UnsupportedError."""
        self._refuse("a complement")

    def repeat(self, low: int = 0, high: int | None = None) -> DynamicConstraint:
        """Between ``low`` and ``high`` texts of this one in a row; the callback is asked for each anew."""
        low, high = checked_bounds("repeat", low, high)
        return DynamicConstraint(
            Repeated(self.part, low, high), f"{self.source}{{{low},{'' if high is None else high}}}"
        )

    def _with_name(self, name: str, source: str) -> DynamicConstraint:
        if not isinstance(self.part, Place):
            raise UnsupportedError(
                f"capture: {self.source} is made of several parts, of which callbacks fill in some; name the parts one "
                "by one, tokamata.capture(name, tokamata.dynamic(...))"
            )
        return DynamicConstraint(self.part.captured(name), source)

    def __repr__(self) -> str:
        return f"<tokamata.DynamicConstraint {self.source if len(self.source) <= 80 else self.source[:77] + '...'}>"


def dynamic(
    callback: Callback,
    *,
    key: Key | None = None,
    name: str | None = None,
    special_tokens: Iterable[str] = (),
    max_places: int = _MOST_PLACES,
) -> DynamicConstraint:
    """A place where ``callback`` is given the text so far and returns what may stand here: a Constraint, str or bytes.

    ``"import " + tokamata.dynamic(lambda text: tokamata.choice(modules()))``. The text is all that was written since
    decoding began, as a str, special tokens as their names. Where it is not clear whether the part before has ended
    already, every place where it may have ended is tried, and all readings go on side by side; a token may begin before
    the place and end behind it. A constraint without members closes its reading: that is seen when the place is
    reached, so a text before it may be allowed that cannot be completed.

    The callback has to return the same for the same text: masks ask for tokens that are not taken in the end, and
    texts are taken back. Exceptions that it raises become the cause of a ConstraintError that names the place; the
    decoding state stays as it was. Decoding states of several threads may call it at the same time.

    Args:
        callback: asked where the place is reached.
        key: what the callback's answer depends on, as something hashable made of the same text; equal keys are asked
            for once as long as they are remembered. None: the text itself.
        name: of the place, for errors; None: the callback's own.
        special_tokens: names that returned constraints may use (:func:`tokamata.special_token`).
        max_places: where the part before can end within one token in more ways than that, a LimitError says so: let it
            end with a phrase of its own.

    Source: Agrawal et al., "Monitor-guided decoding of code LMs with static analysis of repository context" (2023).
    """
    if not callable(callback):
        raise TypeError(
            f"dynamic: expected a callback, got {type(callback).__name__}; pass a function of the text so far"
        )
    if key is not None and not callable(key):
        raise TypeError(f"dynamic: expected key as a function of the text, got {type(key).__name__}; leave it out")
    remedy = "pass names of special tokens"
    names = [
        checked_name("dynamic", each, remedy) for each in checked_several("dynamic", "special_tokens", special_tokens)
    ]
    if (most := checked_count("dynamic", "max_places", max_places)) < 1:
        raise ValueError(f"dynamic: expected max_places >= 1, got {cut(most)}; leave it out for {_MOST_PLACES:,}")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"dynamic: expected name as str or None, got {type(name).__name__}; leave it out")
    shown = name if name is not None else str(getattr(callback, "__name__", type(callback).__name__))
    shown = shown.encode(errors="backslashreplace").decode()  # so that it can be printed
    return DynamicConstraint(Place(callback, key, shown, names, most), f"dynamic({shown})")


def leaves(part: Part) -> Iterable[Constraint | Place]:
    """The constraints and places of a part, from left to right."""
    stack: list[Part] = [part]
    while stack:
        item = stack.pop()
        if isinstance(item, (Joined, Either)):
            stack += reversed(item.parts)
        elif isinstance(item, Repeated):
            stack.append(item.part)
        else:
            yield item


def _part(operand: object) -> Part | None:
    if isinstance(operand, DynamicConstraint):
        return operand.part
    if isinstance(operand, Constraint):
        return operand
    if isinstance(operand, (str, bytes)):
        return literal(operand)
    return None


def _source(operand: Any) -> str:
    return str(operand.source) if isinstance(operand, Constraint) else repr(operand)
