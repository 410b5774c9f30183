"""DynamicAutomaton: a constraint with places that callbacks fill in, over the tokens of one vocabulary."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from .._core import ByteState
from .._core import TokenAutomaton as NativeTokenAutomaton
from ..automata.errors import ConstraintError, LimitError, UnsupportedError
from ..constraints import Constraint, DynamicConstraint, Limits, literal
from ..constraints.constraint import SPECIAL
from ..constraints.dynamic import Place
from ..constraints.token_class import TokenClass
from ..tokenizer_fst import Vocabulary
from .dynamic_plan import Following, make_plan
from .dynamic_state import DynamicState, Reading, TextSoFar

_REMEMBERED = 256  # answers for each place
_PART_BYTES = 4 << 20  # of masks for each answer
_REMEMBERED_ENDS = 1024
_MARK = SPECIAL.decode("utf-8", "surrogateescape")
# Node, whether the part can go on, whether no token does, bytes from a node on, which of the nodes.
Ends = list[tuple[int, bool, bool, bytes, int]]


class _Start(NamedTuple):
    """Where a part begins."""

    automaton: NativeTokenAutomaton
    state: ByteState
    goes_on: bool
    is_final: bool
    constraint: Constraint


class DynamicAutomaton:
    """A dynamic constraint over the tokens of a vocabulary; see :func:`tokamata.dynamic`.

    What needs no callback, and each answer of one, is a token automaton of its own; a decoding state is a set of
    readings, each a part and a state in it. Tokens that end inside a part come from the part's mask; those that run on
    are followed from the places in them where the part can end. So masks are exact. Answers are remembered by their
    keys, the last 256 for each place. Safe to share between threads as far as the callbacks are.
    """

    __slots__ = (
        "_answers",
        "_fixed",
        "_known_ends",
        "_limits",
        "_lock",
        "_most",
        "_names",
        "_part_bytes",
        "_plan",
        "_static",
        "_tokens",
        "constraint",
        "vocabulary",
    )

    def __init__(
        self,
        constraint: DynamicConstraint,
        vocabulary: Vocabulary,
        tokens: Vocabulary,
        limits: Limits | None = None,
        cache_bytes: int | None = None,
    ) -> None:
        """Compile the parts that need no callback; use :func:`tokamata.compile`.

        ``tokens``: the vocabulary as the constraint reads it, with markers. ``cache_bytes``: memory for the finished
        masks of each part, at most what parts have by default.
        """
        if any(isinstance(token, TokenClass) for token in constraint.special_tokens):
            raise UnsupportedError(
                "compile: dynamic constraints read text and special tokens, not single tokens as text_token, image and "
                "their companions ask for; write regex in their place"
            )
        self.constraint = constraint
        self.vocabulary = vocabulary
        self._tokens = tokens
        self._limits = limits
        self._part_bytes = _PART_BYTES if cache_bytes is None else min(cache_bytes, _PART_BYTES)
        self._plan = make_plan(constraint.part)
        self._lock = threading.Lock()
        self._answers: list[OrderedDict[Hashable, _Start | None]] = [OrderedDict() for _ in self._plan.parts]
        self._known_ends: OrderedDict[tuple[int, int], tuple[ByteState, Ends, bool]] = OrderedDict()
        self._names = [re.escape(_MARK + name + _MARK) for name in sorted(constraint.special_tokens)]
        self._static = {
            i: self._compiled(part) for i, part in enumerate(self._plan.parts) if isinstance(part, Constraint)
        }
        self._plan.drop({i for i, automaton in self._static.items() if automaton is None})
        self._most = [
            min((p.max_places for i in after.parts if isinstance(p := self._plan.parts[i], Place)), default=1 << 20)
            for after in self._plan.following
        ]
        # What begins where no callback is asked, by the identity of what follows.
        self._fixed: dict[int, tuple[list[Reading], bool]] = {}
        nowhere = TextSoFar(self, b"")
        for following in self._plan.following:
            if not self._asks(following):
                self._fixed[id(following)] = self._enter(following, nowhere, b"")
        if not self._plan.first.parts and not self._plan.first.end:
            raise ConstraintError(
                f"compile: {constraint.source} is empty: every way through it has a part without members; check what "
                "was intersected or subtracted"
            )
        any_state = ByteState(NativeTokenAutomaton(literal("")._native, tokens._native, 0))
        if not any_state.spells_any_text:
            raise UnsupportedError(
                "compile: dynamic constraints need a vocabulary in which every byte of a text is a token of its own; "
                "this one cannot spell all texts"
            )

    def start(self, max_tokens: int | None = None) -> DynamicState:
        """Return a state at the beginning; callbacks that stand there are asked now.

        Raises:
            UnsupportedError: ``max_tokens`` is given: how long the answers of callbacks are is not known before.
            ConstraintError: a callback raised, or nothing can be written.
        """
        if max_tokens is not None:
            raise UnsupportedError(
                f"start: max_tokens={max_tokens} needs the lengths of all members of {self.constraint.source}, which "
                "are not known before its callback is asked; pass None"
            )
        return DynamicState(self)

    def accepts(self, text: str | bytes) -> bool:
        """Whether the text is a member, special tokens as their markers; asks the callbacks on the way."""
        return self.start()._read("accepts", text)[1]

    def accepts_prefix(self, text: str | bytes) -> bool:
        """Whether the text can be extended to a member, as far as the callbacks were asked."""
        return self.start()._read("accepts_prefix", text)[0]

    @property
    def words(self) -> int:
        """int32 words of a mask: ceil(len(vocabulary) / 32)."""
        return (len(self.vocabulary) + 31) // 32

    @property
    def generations(self) -> int:
        """How often the part that did so most often began anew, where limits were reached; 1: never."""
        with self._lock:
            starts = [*self._static.values(), *(start for answers in self._answers for start in answers.values())]
        return max((start.automaton.generations for start in starts if start is not None), default=1)

    def __copy__(self) -> DynamicAutomaton:
        return self

    def __deepcopy__(self, memo: object) -> DynamicAutomaton:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"pickle: expected what can be pickled, got {self!r}; pickle what it is made of, and compile that again"
        )

    def __repr__(self) -> str:
        return f"<tokamata.DynamicAutomaton of {self.constraint!r} over {len(self.vocabulary)} tokens>"

    # ---- for decoding states
    def _following(self, part: int) -> Following:
        return self._plan.following[part]

    def _begun(self, part: int, data: bytes) -> _Start | None:
        """The beginning of a part behind a text; None where it has no members."""
        return self._static[part] if part in self._static else self._answer(part, self._shown(data))

    def _enter(self, following: Following, text: TextSoFar, path: bytes) -> tuple[list[Reading], bool]:
        """Readings that begin behind a path that leads on from the text, and whether the text may end there."""
        if fixed := self._fixed.get(id(following)):
            return fixed
        if len(following.parts) == 1:  # mostly
            (part,) = following.parts
            start = self._static[part] if part in self._static else self._answer(part, text.shown(path))
            if start is None:
                return [], following.end
            if not start.is_final:
                return [(part, start.state)], following.end
        return self._enter_all(following, text, path)

    def _asks(self, following: Following) -> bool:
        """Whether a callback may have to be asked to know what begins."""
        seen: set[int] = set()
        stack = list(following.parts)
        while stack:
            part = stack.pop()
            start = self._static.get(part)
            if start is None:
                return True
            if start.is_final and part not in seen:
                stack += self._plan.following[part].parts
            seen.add(part)
        return False

    def _enter_all(self, following: Following, text: TextSoFar, path: bytes) -> tuple[list[Reading], bool]:
        readings: list[Reading] = []
        end = following.end
        seen: set[int] = set()
        stack = list(reversed(following.parts))
        while stack:
            part = stack.pop()
            if part in seen:
                continue
            seen.add(part)
            start = self._static[part] if part in self._static else self._answer(part, text.shown(path))
            if start is None:
                continue
            if start.goes_on:
                readings.append((part, start.state))
            if start.is_final:
                end |= self._plan.following[part].end
                stack += reversed(self._plan.following[part].parts)
        return readings, end

    def _ends(self, part: int, state: ByteState, nodes: list[int], row: npt.NDArray[np.int32]) -> Ends:
        """Where tokens from some nodes on can leave the part; sets the bits of those that stay. See ByteState.ends."""
        most = self._most[part]
        if nodes != [0]:
            ends, complete = state.ends(nodes, most, row)
        else:
            key = state.key
            with self._lock:
                known = self._known_ends.get(key)
                if known:
                    self._known_ends.move_to_end(key)
            if known:
                _, ends, complete = known
            else:
                ends, complete = state.ends(nodes, most)
                with self._lock:
                    self._known_ends[state.key] = (state, ends, complete)
                    if len(self._known_ends) > _REMEMBERED_ENDS:
                        self._known_ends.popitem(last=False)
            state.add_mask([at for at, goes_on, _, _, _ in ends if not goes_on], row)
        if not complete:
            places = [self._plan.parts[p] for p in self._plan.following[part].parts]
            names = ", ".join(repr(p.name) for p in places if isinstance(p, Place)) or "another"
            raise LimitError(
                f"dynamic: the limit max_places={most} was reached: within one token the part before {names} can end "
                "in more ways; let it end with a phrase of its own, or pass max_places to tokamata.dynamic"
            )
        return ends

    def _answer(self, part: int, shown: str) -> _Start | None:
        """The beginning of what a callback allows here; None where that is nothing."""
        place = self._plan.parts[part]
        assert isinstance(place, Place)
        key: Hashable = shown if place.key is None else self._asked(place, place.key, shown, "key")
        answers = self._answers[part]
        with self._lock:
            if key in answers:
                answers.move_to_end(key)
                return answers[key]
        start = self._made(place, self._asked(place, place.callback, shown, "callback"), shown)
        with self._lock:
            answers[key] = start
            if len(answers) > _REMEMBERED:
                answers.popitem(last=False)
        return start

    def _asked(self, place: Place, function: Any, shown: str, what: str) -> Any:
        try:
            answer = function(shown)
            if what == "key":
                hash(answer)
            return answer
        except Exception as error:
            raise ConstraintError(
                f"dynamic {place.name!r}: the {what} raised {type(error).__name__}: {error}; {_after(shown)}"
            ) from error

    def _made(self, place: Place, answer: object, shown: str) -> _Start | None:
        try:
            return self._compiled(self._allowed(answer))
        except (ConstraintError, LimitError) as error:
            raise type(error)(f"dynamic {place.name!r}: {error}; {_after(shown)}") from error

    def _allowed(self, answer: object) -> Constraint:
        """The constraint that a callback returned. Raises ConstraintError for what has no place here."""
        if isinstance(answer, (str, bytes)):
            try:
                answer = literal(answer)
            except ValueError as error:
                raise ConstraintError(f"the callback returned no text: {error}") from error
        if not isinstance(answer, Constraint) or isinstance(answer, DynamicConstraint):
            got = "a dynamic one" if isinstance(answer, DynamicConstraint) else type(answer).__name__
            raise ConstraintError(f"expected the callback to return a Constraint, str or bytes, got {got}")
        problem = ""
        if any(isinstance(token, TokenClass) for token in answer.special_tokens):
            problem = "asks for single tokens, which have no place here; return text"
        elif missing := answer.special_tokens - self.constraint.special_tokens:
            problem = f"has the special token {min(missing)!r}: name it in special_tokens"
        elif answer._has_raw_bytes and self._names:
            problem = "reads raw bytes, which may not stand beside special tokens"
        if problem:
            raise ConstraintError(f"the callback's constraint {problem}")
        return answer

    def _compiled(self, constraint: Constraint) -> _Start | None:
        if constraint.is_empty():
            return None
        language = constraint._native
        if self._limits is not None:
            language = language.with_limits(self._limits._native())
        automaton = NativeTokenAutomaton(language, self._tokens._native, self._part_bytes)
        state = ByteState(automaton)
        return _Start(automaton, state, state.goes_on, state.is_final, constraint)

    def _shown(self, data: bytes) -> str:
        """A text as callbacks get it."""
        text = data.decode("utf-8", "surrogateescape")
        if self._names and _MARK in text:
            text = re.sub("|".join(self._names), lambda found: found.group()[1:-1], text)
        return text


def _after(shown: str) -> str:
    return f"after {shown[-60:]!r}"
