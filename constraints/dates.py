"""date, time and datetime: days and times between bounds, as texts."""

from __future__ import annotations

import calendar
import datetime as clock
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeVar

from .._core import json_number_range
from ..automata.checks import checked_choice
from ..automata.errors import ConstraintError
from .constraint import Constraint, Limits, native_limits, to_bytes
from .digits import between
from .literal import choice, literal
from .regex import regex
from .typed_constraint import TypedConstraint

DayProduct = tuple["Years", Sequence[int], Sequence[int]]
Timespec = Literal["minutes", "seconds", "milliseconds", "microseconds"]

T = TypeVar("T")

_FOURTH = "(?:0[48]|[2468][048]|[13579][26])"
_LEAP_YEAR = f"[0-9]{{2}}{_FOURTH}|{_FOURTH}00"
_LEAP_YEAR_UNPADDED = f"[48]|(?:[2468][048]|[13579][26])(?:00)?|[1-9][0-9]?{_FOURTH}|[48]00"
_MONTHS = tuple(range(1, 13))
_DIRECTIVE = re.compile(r"%(-?.)", re.DOTALL)
_PARTS = {"%Y": "year", "%m": "month", "%-m": "month", "%B": "month", "%b": "month", "%d": "day", "%-d": "day"}
_TIMES = {
    "minutes": r"(?:[01][0-9]|2[0-3]):[0-5][0-9]",
    "seconds": r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]",
    "milliseconds": r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}",
    "microseconds": r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}",
}
_UNITS = {"minutes": 60_000_000, "seconds": 1_000_000, "milliseconds": 1_000, "microseconds": 1}
_ZONE = re.compile(r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?")


def date(
    low: clock.date | str | None = None,
    high: clock.date | str | None = None,
    *,
    format: str = "%Y-%m-%d",
    limits: Limits | None = None,
) -> TypedConstraint[clock.date]:
    """The days from ``low`` to ``high`` of the Gregorian calendar; ``.parse(text)`` is a ``datetime.date``.

    Bounds: dates or ISO texts; None: the first day of year 1, the last day of 9999. ``format``: ``%Y`` (four digits),
    ``%m`` and ``%d`` (two digits), ``%-m`` and ``%-d`` (without zeros in front), ``%B`` and ``%b`` (English names of
    months, whole or of three letters), ``%%``; year, month and day once each. Other characters stand for themselves.

    Exact: 29 February is there in leap years only. Raises ConstraintError for another format, or when ``low`` is after
    ``high``.
    """
    least = _day("low", low, clock.date.min)
    most = _day("high", high, clock.date.max)
    if least > most:
        raise ConstraintError(f"date: expected low <= high, got low={least}, high={most}; swap them")
    pieces = _pieces(format)
    texts = _days(least, most, pieces).minimize()
    pattern = re.compile("".join(_reader(piece) for piece in pieces))

    def read(text: str) -> clock.date:
        found = pattern.fullmatch(text)
        assert found is not None
        year, month, day = found["year"], found["month"], found["day"]
        return clock.date(int(year), int(month) if month.isdigit() else _names()[month], int(day))

    return _made(texts, f"date({least}, {most})", limits, read)


def time(
    low: clock.time | str | None = None,
    high: clock.time | str | None = None,
    *,
    timespec: Timespec = "seconds",
    limits: Limits | None = None,
) -> TypedConstraint[clock.time]:
    """The times of day from ``low`` to ``high``, as ``isoformat(timespec=...)`` writes them, without a zone.

    Bounds: times or ISO texts; None: midnight, and the last moment of the day. ``timespec``: "minutes" (``12:30``),
    "seconds" (``12:30:00``), "milliseconds" or "microseconds". ``.parse(text)`` is a ``datetime.time``. Raises
    ConstraintError when there is no such time.
    """
    pattern = _times(timespec, "time")
    day = clock.date(2000, 1, 1)
    least = clock.datetime.combine(day, _moment("low", low, clock.time.min))
    most = clock.datetime.combine(day, _moment("high", high, clock.time.max))
    first, last = (moment.time().isoformat(timespec) for moment in _rounded(least, most, timespec, "time"))
    texts = (regex(pattern) & regex(between(first, last))).minimize()
    return _made(texts, f"time({first}, {last})", limits, clock.time.fromisoformat)


def datetime(
    low: clock.datetime | str | None = None,
    high: clock.datetime | str | None = None,
    *,
    timespec: Timespec = "seconds",
    separator: str = "T",
    zone: str = "",
    limits: Limits | None = None,
) -> TypedConstraint[clock.datetime]:
    """Moments from ``low`` to ``high``, as ``isoformat(separator, timespec)`` writes them.

    Bounds: datetimes or ISO texts; None: the years 1 to 9999. ``timespec`` as for :func:`tokamata.time`. ``zone``: what
    ends every text, "" (none), "Z" or an offset such as "+02:00"; bounds with a zone are converted to it, those without
    are in it. ``.parse(text)`` is a ``datetime.datetime``, with its zone if there is one. Raises ConstraintError when
    there is no such moment.
    """
    pattern = _times(timespec, "datetime")
    if not isinstance(separator, str) or len(to_bytes(separator, "datetime").decode()) != 1 or separator.isdigit():
        raise _refused(separator, "datetime", "one character as separator, no digit", 'pass "T" or " "')
    if not isinstance(zone, str) or not _ZONE.fullmatch(zone):
        raise _refused(zone, "datetime", 'zone "", "Z" or an offset like "+02:00"', 'pass "" for texts without a zone')
    offset = _offset(zone)
    least = _instant("low", low, clock.datetime.min, offset)
    most = _instant("high", high, clock.datetime.max, offset)
    rounded = _rounded(least, most, timespec, "datetime")
    first, last = (moment.isoformat(separator, timespec) for moment in rounded)
    days = _days(rounded[0].date(), rounded[1].date(), _pieces("%Y-%m-%d"))
    texts = ((days + separator + regex(pattern)) & regex(between(first, last))).minimize()

    def read(text: str) -> clock.datetime:
        moment = clock.datetime.fromisoformat(f"{text[:10]}T{text[11 : len(text) - len(zone)]}")
        return moment if offset is None else moment.replace(tzinfo=offset)

    return _made(texts + zone if zone else texts, f"datetime({first}, {last})", limits, read)


# ---- bounds


def _day(name: str, bound: clock.date | str | None, default: clock.date) -> clock.date:
    if bound is None:
        return default
    if isinstance(bound, str):
        try:
            return clock.date.fromisoformat(bound)
        except ValueError as error:
            raise ConstraintError(
                f"date: expected {name} as YYYY-MM-DD, got {bound!r}: {error}; write it as isoformat() does"
            ) from None
    if isinstance(bound, clock.datetime) or not isinstance(bound, clock.date):
        raise TypeError(f"date: expected {name} as datetime.date or str, got {bound!r}; pass a date")
    return bound


def _moment(name: str, bound: clock.time | str | None, default: clock.time) -> clock.time:
    if bound is None:
        return default
    if isinstance(bound, str):
        try:
            bound = clock.time.fromisoformat(bound)
        except ValueError as error:
            raise ConstraintError(
                f"time: expected {name} in ISO format, got {bound!r}: {error}; write it as isoformat() does"
            ) from None
    if not isinstance(bound, clock.time):
        raise TypeError(f"time: expected {name} as datetime.time or str, got {bound!r}; None is no bound")
    if bound.tzinfo is not None:
        raise ConstraintError(f"time: expected {name} without a zone, got {bound}; use datetime with zone=...")
    return bound


def _instant(
    name: str, bound: clock.datetime | str | None, default: clock.datetime, zone: clock.timezone | None
) -> clock.datetime:
    if bound is None:
        return default
    if isinstance(bound, str):
        try:
            bound = clock.datetime.fromisoformat(bound.removesuffix("Z") + ("+00:00" if bound.endswith("Z") else ""))
        except ValueError as error:
            raise ConstraintError(
                f"datetime: expected {name} in ISO format, got {bound!r}: {error}; write it as isoformat() does"
            ) from None
    if not isinstance(bound, clock.datetime):
        raise TypeError(f"datetime: expected {name} as datetime.datetime or str, got {bound!r}; None is no bound")
    offset, local = bound.utcoffset(), bound.replace(tzinfo=None)
    if offset is None:
        return local
    if zone is None:
        raise ConstraintError(f"datetime: {name}={bound} has a zone and the texts have none; pass zone=...")
    try:
        return local + (zone.utcoffset(None) - offset)
    except OverflowError:
        if bound.year == default.year:  # beyond all moments on the side that it bounds
            return default
        raise ConstraintError(
            f"datetime: expected {name} within the years 1 to 9999, got {bound}, which is outside in the zone of the "
            "texts: no moment is left; move the bound or pass another zone"
        ) from None


def _offset(zone: str) -> clock.timezone | None:
    if not zone:
        return None
    if zone == "Z":
        return clock.timezone.utc
    minutes = int(zone[1:3]) * 60 + int(zone[4:])
    return clock.timezone(clock.timedelta(minutes=-minutes if zone[0] == "-" else minutes))


def _times(timespec: str, function: str) -> str:
    return _TIMES[checked_choice(function, "timespec", timespec, _TIMES)]


def _refused(value: object, function: str, expected: str, remedy: str) -> ConstraintError | TypeError:
    kind = ConstraintError if isinstance(value, str) else TypeError
    return kind(f"{function}: expected {expected}, got {value!r}; {remedy}")


def _rounded(
    low: clock.datetime, high: clock.datetime, timespec: str, function: str
) -> tuple[clock.datetime, clock.datetime]:
    """The first moment from low on and the last one up to high that can be written."""
    unit = clock.timedelta(microseconds=_UNITS[timespec])
    midnight = clock.time.min
    after = (low - clock.datetime.combine(low.date(), midnight)) % unit
    try:
        first = low if not after else low - after + unit
    except OverflowError:
        first = clock.datetime.max
    last = high - (high - clock.datetime.combine(high.date(), midnight)) % unit
    if first > last or (function == "time" and first.date() > high.date()):
        least, most = (each.time() if function == "time" else each for each in (low, high))
        raise ConstraintError(
            f"{function}: expected bounds with a moment between them, got {least} and {most} in whole {timespec}; "
            "swap them, or take a finer timespec"
        )
    return first, last


# ---- days


def _pieces(format: str) -> list[str]:
    """Directives and plain characters of a format."""
    if not isinstance(format, str):
        raise _refused(format, "date", "format as str", 'write "%Y-%m-%d", for example')
    pieces: list[str] = []
    at = 0
    for found in _DIRECTIVE.finditer(format):
        pieces += list(format[at : found.start()])
        at = found.end()
        directive = found[0]
        if directive != "%%" and directive not in _PARTS:
            known = ", ".join([*_PARTS, "%%"])
            raise ConstraintError(
                f"date: expected directives {known} in format, got {directive!r} in {format!r}; write those alone"
            )
        pieces.append("%" if directive == "%%" else directive)
    pieces += list(format[at:])
    parts = sorted(_PARTS[piece] for piece in pieces if piece in _PARTS)
    if parts != ["day", "month", "year"]:
        raise ConstraintError(
            f'date: expected year, month and day once each in format, got {format!r}; write "%Y-%m-%d", for example'
        )
    for piece, following in pairwise(pieces):
        if piece in ("%-m", "%-d") and (following.isdigit() or following in ("%Y", "%m", "%-m", "%d", "%-d")):
            raise ConstraintError(
                f"date: expected no digit right after {piece}, got {format!r}; use {piece[0]}{piece[2]}"
            )
    return pieces


def _names() -> dict[str, int]:
    names = "January February March April May June July August September October November December".split()
    return {name[:length]: i + 1 for i, name in enumerate(names) for length in (3, None)}


def _written(piece: str, value: int) -> str:
    if piece in ("%B", "%b"):
        name = [name for name, month in _names().items() if month == value][-1]
        return name if piece == "%B" else name[:3]
    return str(value) if "-" in piece else f"{value:02}"


def _reader(piece: str) -> str:
    if piece not in _PARTS:
        return re.escape(piece)
    if piece in ("%B", "%b"):
        pattern = "|".join(_written(piece, month) for month in _MONTHS)
    else:
        pattern = {"%Y": "[0-9]{4}"}.get(piece, "[0-9]{1,2}" if "-" in piece else "[0-9]{2}")
    return f"(?P<{_PARTS[piece]}>{pattern})"


@dataclass(frozen=True)
class Years:
    """The years from low to high that are leap years, or those that are not."""

    low: int
    high: int
    leap: bool

    def texts(self, padded: bool = True) -> Constraint:
        """In four digits, or without leading zeros."""
        if self.low == self.high:
            return literal(f"{self.low:04}" if padded else str(self.low))
        leap = regex(_LEAP_YEAR if padded else _LEAP_YEAR_UNPADDED)
        if padded:
            years = regex(between(f"{self.low:04}", f"{self.high:04}"))
        else:
            years = Constraint(json_number_range(str(self.low), str(self.high), False, False, True, True))
        return (years & leap if self.leap else years - leap).minimize()


def _year(year: int) -> Years:
    return Years(year, year, calendar.isleap(year))


def day_products(low: clock.date, high: clock.date) -> list[DayProduct]:
    """All days from low to high as products of years, months and days: any of each, chosen independently.

    Whole years with equal months, and the months of the first and the last year.
    """
    products: list[DayProduct] = []

    def months(years: Years, first: tuple[int, int], last: tuple[int, int]) -> None:
        groups: dict[tuple[int, int], list[int]] = {}
        for month in _MONTHS:
            days = calendar.monthrange(2000 if years.leap else 2001, month)[1]
            begin = 1 if (month, 1) >= first else first[1] if month == first[0] else days + 1
            end = days if (month, days) <= last else last[1] if month == last[0] else 0
            if begin <= min(end, days):
                groups.setdefault((begin, min(end, days)), []).append(month)
        products.extend((years, group, range(begin, end + 1)) for (begin, end), group in groups.items())

    begin, end = (low.month, low.day), (high.month, high.day)
    if low.year == high.year:
        months(_year(low.year), begin, end)
    else:
        months(_year(low.year), begin, (12, 31))
        months(_year(high.year), (1, 1), end)
    for leap in (False, True):
        first, last = low.year + 1, high.year - 1
        while first <= last and calendar.isleap(first) != leap:
            first += 1
        while first <= last and calendar.isleap(last) != leap:
            last -= 1
        if first <= last:
            months(Years(first, last, leap), (1, 1), (12, 31))
    return products


def _days(low: clock.date, high: clock.date, pieces: list[str]) -> Constraint:
    """All days from low to high, in any order of year, month and day."""
    union: Constraint | None = None
    made: dict[Years, Constraint] = {}
    for year, month, day in day_products(low, high):
        parts: dict[str, Years | Sequence[int]] = {"year": year, "month": month, "day": day}
        text: Constraint = literal("")
        for piece in pieces:
            if piece not in _PARTS:
                text += piece
                continue
            values = parts[_PARTS[piece]]
            if not isinstance(values, Years):
                text += choice(_written(piece, value) for value in values)
                continue
            if values not in made:
                made[values] = values.texts()
            text += made[values]
        union = text if union is None else union | text
    assert union is not None
    return union


def _made(texts: Constraint, source: str, limits: Limits | None, read: Callable[[str], T]) -> TypedConstraint[T]:
    own = native_limits(limits, source.partition("(")[0])
    native = texts._native if own is None else texts._native.with_limits(own)
    return TypedConstraint(Constraint(native, source=source), read)
