"""What named parts have read where callbacks fill in places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .._core import ByteState
from ..constraints.constraint import parts_of
from ..constraints.dynamic import Place

if TYPE_CHECKING:
    from .dynamic_automaton import DynamicAutomaton

_SECONDS = 60.0  # of one part's own captures


class _Read(NamedTuple):
    """What a part reads of a text."""

    part: int
    begin: int
    end: int
    closed: bool  # whether the part is at its end


def captured(automaton: DynamicAutomaton, data: bytes, whole: bool) -> dict[str, list[bytes]]:
    """The pieces that named parts read, in the order in which they begin.

    The parts read as a backtracking matcher would have them: one part after another as they were joined, the earlier
    alternative first, another turn of a repetition rather than none; each takes as much as it can. With ``whole`` they
    read all of the text, else a beginning, in the first way that can be continued as far as callbacks were asked.

    Complexity: O(bytes) for each part and place in the text where it may begin.
    """
    found: dict[str, list[bytes]] = {}
    markers = not automaton.constraint._has_raw_bytes
    for read in _first_way(automaton, data, whole) or ():
        place = automaton._plan.parts[read.part]
        start = automaton._begun(read.part, data[: read.begin])
        names = place.captures if isinstance(place, Place) else ()
        if start is None or not (names or start.constraint._parts):
            continue
        parts = parts_of(start.constraint)
        for name in names:
            parts = parts.named(name)
        values = parts.values(data[read.begin : read.end], read.closed, markers, _SECONDS)
        for name, texts in values.items():
            found.setdefault(name, []).extend(texts)
    return found


def _first_way(automaton: DynamicAutomaton, data: bytes, whole: bool) -> list[_Read] | None:
    path: list[_Read] = []
    seen: set[tuple[int, int]] = set()
    stack = [_reads(automaton, data, whole, automaton._plan.first.parts, 0, seen)]
    while stack:
        read = next(stack[-1], None)
        if read is None:
            stack.pop()
            if path:
                path.pop()
            continue
        path.append(read)
        following = automaton._following(read.part)
        if not read.closed or (read.end == len(data) and following.end):
            return path
        stack.append(_reads(automaton, data, whole, following.parts, read.end, seen))
    return None


def _reads(
    automaton: DynamicAutomaton,
    data: bytes,
    whole: bool,
    parts: tuple[int, ...],
    begin: int,
    seen: set[tuple[int, int]],
) -> Iterator[_Read]:
    """What parts may read from a place on, the preferred ones first."""
    for part in parts:
        if (part, begin) in seen:
            continue
        seen.add((part, begin))
        start = automaton._begun(part, data[:begin])
        if start is None:
            continue
        state: ByteState | None = start.state
        ends = []
        for at in range(begin, len(data) + 1):
            if state is None:
                break
            if state.is_final:
                ends.append(at)
            if at == len(data):
                if not whole and state.goes_on:
                    yield _Read(part, begin, at, False)
                break
            state = state.after(data[at : at + 1])
        for end in reversed(ends):
            yield _Read(part, begin, end, True)
