"""date, time, datetime: exactly the texts of the days and moments between the bounds."""

from __future__ import annotations

import datetime
import random
import re
from typing import Any

import pytest

import tokamata

SEED = 20_261_121
DAY = datetime.timedelta(days=1)


def random_day(generator: random.Random, span: int = 3_652_058) -> datetime.date:
    return datetime.date.fromordinal(1 + generator.randrange(span))


def test_days_between_bounds() -> None:
    generator = random.Random(SEED)
    for case in range(30):
        low = random_day(generator)
        high = min(low.toordinal() + generator.choice([0, 5, 40, 400, 4000, 400_000]), datetime.date.max.toordinal())
        constraint = tokamata.date(low, datetime.date.fromordinal(high))
        assert constraint.count(10) == high - low.toordinal() + 1, (case, low, high)
        for text in constraint.examples(20, seed=case):
            assert low.toordinal() <= datetime.date.fromisoformat(text.decode()).toordinal() <= high
            assert constraint.parse(text).isoformat() == text.decode()


def test_all_days() -> None:
    constraint = tokamata.date()
    assert constraint.count(10) == datetime.date.max.toordinal()
    for text in ("1900-02-29", "2023-02-29", "2024-04-31", "2024-13-01", "2024-00-10", "0000-01-01", "2024-1-1"):
        assert not constraint.accepts(text)
    for text in ("2000-02-29", "2024-02-29", "9999-12-31", "0001-01-01"):
        assert constraint.accepts(text)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%-m/%-d/%Y", "%-d %B %Y", "%b %d, %Y (100%%)", "%m%d%Y"])
def test_formats(form: str) -> None:
    generator = random.Random(SEED)
    low, high = datetime.date(1999, 5, 17), datetime.date(2025, 3, 2)
    constraint = tokamata.date(low, high, format=form)
    for case in range(300):
        day = random_day(generator, 100) + (low - datetime.date.min) - 50 * DAY
        late = datetime.date.fromordinal(generator.randrange(729_000, 740_000))
        day = generator.choice([day, late, high, high + DAY])
        written = re.sub(r"%-([dm])", lambda found: str(day.day if found[1] == "d" else day.month), form)  # noqa: B023
        text = day.strftime(written)
        assert constraint.accepts(text) == (low <= day <= high), (case, text)
        assert not low <= day <= high or constraint.parse(text) == day


@pytest.mark.parametrize("timespec", ["minutes", "seconds", "milliseconds", "microseconds"])
def test_times_and_moments(timespec: Any) -> None:
    generator = random.Random(SEED)
    units = {"minutes": 60_000_000, "seconds": 1_000_000, "milliseconds": 1000, "microseconds": 1}
    unit = datetime.timedelta(microseconds=units[timespec])
    begin = datetime.datetime(2024, 2, 28)
    for case in range(40):
        low, high = sorted(
            begin + datetime.timedelta(microseconds=generator.randrange(3 * 86_400_000_000)) for _ in "ab"
        )
        moments = tokamata.datetime(low, high, timespec=timespec)
        near = [low, high, low + unit, high + unit, low - unit, low + (high - low) / 2, low.replace(hour=23)]
        for moment in near:
            text = moment.isoformat("T", timespec)
            whole = datetime.datetime.fromisoformat(text)
            assert moments.accepts(text) == (low <= whole <= high), (case, low, high, text)
            assert not low <= whole <= high or moments.parse(text) == whole
        first, last = sorted((low.time(), high.time()))
        times = tokamata.time(first, last, timespec=timespec)
        for moment in near:
            text = moment.time().isoformat(timespec)
            inside = first <= datetime.time.fromisoformat(text) <= last
            assert times.accepts(text) == inside, (case, first, last, text)
            assert not inside or times.parse(text) == datetime.time.fromisoformat(text)


def test_zones() -> None:
    utc = datetime.timezone.utc
    low = datetime.datetime(2024, 3, 1, 12, tzinfo=utc)
    berlin = tokamata.datetime(low, low + DAY, zone="+01:00", separator=" ")
    assert berlin.accepts("2024-03-01 13:00:00+01:00")
    assert not berlin.accepts("2024-03-01 12:59:59+01:00")
    assert not berlin.accepts("2024-03-01T13:00:00+01:00")
    assert berlin.parse("2024-03-01 13:00:00+01:00") == low
    zulu = tokamata.datetime("2024-03-01T12:00:00Z", zone="Z")
    assert zulu.parse("2024-03-01T12:00:00Z") == low
    assert zulu.parse("2024-03-01T12:00:00Z").tzinfo is utc


@pytest.mark.parametrize("separator", ["-", ":", ".", "\n", "é", "—", "😀", "\\", "^"])
def test_separators(separator: str) -> None:
    low, high = datetime.datetime(2024, 2, 28, 12), datetime.datetime(2024, 3, 1, 11, 30)
    for constraint in (tokamata.datetime(low, high, separator=separator), tokamata.datetime(separator=separator)):
        for moment in (low, high, low + DAY):
            text = moment.isoformat(separator)
            assert constraint.accepts(text)
            assert constraint.parse(text) == moment
    exact = tokamata.datetime(low, low, separator=separator, zone="-03:00")
    assert exact.parse(low.isoformat(separator) + "-03:00").replace(tzinfo=None) == low


def test_bounds_at_the_ends_of_time() -> None:
    # What comes before the year 1 in the zone of the texts bounds nothing; nor what comes after 9999, from above.
    zone = datetime.timezone(2 * datetime.timedelta(hours=1))
    early, late = datetime.datetime.min.replace(tzinfo=zone), datetime.datetime.max.replace(tzinfo=zone)
    assert tokamata.datetime(early, zone="Z").accepts("0001-01-01T00:00:00Z")
    assert tokamata.datetime(high=late, zone="-23:00").accepts("9999-12-30T22:59:59-23:00")
    assert not tokamata.datetime(high=late, zone="-23:00").accepts("9999-12-30T23:00:00-23:00")
    west = datetime.datetime.max.replace(tzinfo=datetime.timezone(-datetime.timedelta(hours=2)))
    assert tokamata.datetime(high=west, zone="Z").accepts("9999-12-31T23:59:59Z")
    same = tokamata.datetime(early + datetime.timedelta(hours=1), zone="+02:00")
    assert same.accepts("0001-01-01T01:00:00+02:00")
    assert not same.accepts("0001-01-01T00:59:59+02:00")
    with pytest.raises(tokamata.ConstraintError, match=r"datetime: expected low within the years 1 to 9999, got .*-02"):
        tokamata.datetime(west, zone="Z")
    with pytest.raises(tokamata.ConstraintError, match=r"datetime: expected high within the years 1 to 9999, got 0001"):
        tokamata.datetime(high=early, zone="Z")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tokamata.date("2024-02-30"), "date: expected low as YYYY-MM-DD, got '2024-02-30'"),
        (lambda: tokamata.date("2024-02-03", "2024-02-02"), "date: expected low <= high, got low=2024-02-03"),
        (lambda: tokamata.date(format="%Y-%m"), "date: expected year, month and day once each in format, got '%Y-%m'"),
        (lambda: tokamata.date(format="%Y-%j"), r"date: expected directives %Y, .* in format, got '%j' in '%Y-%j'"),
        (lambda: tokamata.date(format="%-m%d %Y"), "date: expected no digit right after %-m, got .*; use %m"),
        (
            lambda: tokamata.time("12:00", "11:00"),
            "time: expected bounds with a moment between them, got 12:00:00 and 11:00:00 in whole seconds; swap them",
        ),
        (
            lambda: tokamata.time("12:00:01", "12:00:59", timespec="minutes"),
            "time: expected bounds with a moment between them, got .* in whole minutes",
        ),
        (lambda: tokamata.time("12:00:00+00:00"), "time: expected low without a zone, got 12:00:00"),
        (lambda: tokamata.time(timespec="hours"), 'time: expected timespec "minutes", "seconds", .*; pass one of them'),
        (lambda: tokamata.datetime("2024-01-01T00:00:00+00:00"), "has a zone and the texts have none; pass zone="),
        (lambda: tokamata.datetime(zone="CET"), 'datetime: expected zone "", "Z" or an offset like "\\+02:00", got'),
        (lambda: tokamata.datetime("soon"), "datetime: expected low in ISO format, got 'soon'"),
        (
            lambda: tokamata.datetime(separator="at"),
            "datetime: expected one character as separator, no digit, got",
        ),
        (
            lambda: tokamata.datetime("9999-12-31T23:59:59.500000"),
            "datetime: expected bounds with a moment between them, got .*; swap them",
        ),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
