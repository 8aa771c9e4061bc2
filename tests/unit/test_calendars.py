"""Working time: of the clock, exactly; of a calendar, over days, weekends, holidays and every kind of clock change."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals import free_days
from approvals.calendars import Calendar, Hours, deadline, is_working, moment, office, window_end, working

HOUR = 3600
DAY: Hours = ((0, 24 * 60),)
ZONES = (
    ("Europe/Oslo", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Tehran")
    + ("Asia/Kolkata", "Asia/Tokyo", "America/Havana", "Africa/Casablanca", "Atlantic/Azores", "UTC")
)  # fmt: skip
# Half a day on either side of clock changes: both ways, half an hour, over midnight, and a day that never was.
CHANGES = (
    ("Europe/Oslo", "2026-03-29T01:00"),
    ("Europe/Oslo", "2026-10-25T01:00"),
    ("America/New_York", "2031-03-09T07:00"),
    ("America/New_York", "2031-11-02T06:00"),
    ("Australia/Lord_Howe", "2026-04-04T15:00"),
    ("Australia/Lord_Howe", "2026-10-03T15:30"),
    ("Pacific/Apia", "2011-12-30T10:00"),
    ("America/Havana", "2026-03-08T05:00"),
    ("America/Havana", "2026-11-01T05:00"),
    ("Atlantic/Azores", "2026-10-25T01:00"),
    ("America/Santiago", "2027-04-04T03:00"),
)


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def seconds(spans: list[tuple[datetime, datetime]]) -> float:
    return sum((closes - opens for opens, closes in spans), timedelta()).total_seconds()


hours = st.lists(st.integers(0, 24 * 12), min_size=0, max_size=6, unique=True).map(
    lambda edges: tuple((a * 5, b * 5) for a, b in zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)
weeks = st.tuples(*[hours] * 7).filter(any)
moments = st.datetimes(datetime(1995, 1, 1), datetime(2049, 1, 1)).map(lambda naive: naive.replace(tzinfo=UTC))  # noqa: DTZ001


@pytest.mark.parametrize("day", [at("2026-03-28T12:00", "Europe/Oslo"), at("2026-10-24T12:00", "Europe/Oslo")])
def test_a_day_of_the_clock_is_86400_seconds_also_over_a_clock_change(day: datetime) -> None:
    end = deadline(day, 24 * HOUR)
    assert end.astimezone(UTC) - day.astimezone(UTC) == timedelta(seconds=86400)


@pytest.mark.parametrize(
    ("start", "worked", "wanted"),
    [
        ("2026-11-27T16:00", 2, "2026-11-30T10:00"),
        ("2026-11-28T12:00", 1, "2026-11-30T10:00"),
        ("2026-11-26T07:00", 8, "2026-11-26T17:00"),
        ("2026-11-26T10:00", 8, "2026-11-27T10:00"),
        ("2026-03-27T16:00", 2, "2026-03-30T10:00"),
        ("2026-10-23T16:00", 2, "2026-10-26T10:00"),
        ("2026-11-26T20:00", 1, "2026-11-27T10:00"),
    ],
)
def test_working_time_stands_still_at_night_and_on_weekends(start: str, worked: int, wanted: str) -> None:
    end = deadline(at(start, "Europe/Oslo"), worked * HOUR, office("Europe/Oslo"))
    assert end.astimezone(ZoneInfo("Europe/Oslo")) == at(wanted, "Europe/Oslo")


@pytest.mark.parametrize(
    ("zone", "night", "worked"),
    [
        ("Europe/Oslo", "2026-03-29", 23),
        ("Europe/Oslo", "2026-10-25", 25),
        ("Europe/Oslo", "2026-06-01", 24),
        ("Australia/Lord_Howe", "2026-10-04", 23.5),
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
        ("America/Havana", "2026-03-08", 23),
        ("America/Havana", "2026-11-01", 25),
        ("Pacific/Apia", "2011-12-30", 0),
        ("Asia/Tokyo", "2026-03-29", 24),
    ],
)
def test_a_whole_day_is_as_long_as_the_clock_makes_it(zone: str, night: str, worked: float) -> None:
    day = date.fromisoformat(night)
    only = Calendar(zone, ((),) * 7, days={day: DAY})
    around = datetime.combine(day, time(), UTC)
    found = list(working(only, around - timedelta(days=2), around + timedelta(days=3)))
    assert seconds(found) == worked * HOUR


@pytest.mark.parametrize(
    ("zone", "local", "wanted"),
    [
        ("Europe/Oslo", "2026-03-29T01:59", "2026-03-29T00:59"),
        ("Europe/Oslo", "2026-03-29T02:00", "2026-03-29T01:00"),
        ("Europe/Oslo", "2026-03-29T02:30", "2026-03-29T01:00"),
        ("Europe/Oslo", "2026-03-29T03:00", "2026-03-29T01:00"),
        ("Europe/Oslo", "2026-10-25T02:30", "2026-10-25T00:30"),
        ("Europe/Oslo", "2026-10-25T03:00", "2026-10-25T02:00"),
        ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30"),
        ("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00"),
        ("America/Havana", "2026-03-08T00:30", "2026-03-08T05:00"),
    ],
)
def test_a_skipped_time_is_the_change_and_a_doubled_one_the_first(zone: str, local: str, wanted: str) -> None:
    assert moment(datetime.fromisoformat(local), ZoneInfo(zone)) == at(wanted)


@pytest.mark.parametrize(("zone", "change"), CHANGES)
def test_no_later_local_time_is_an_earlier_moment(zone: str, change: str) -> None:
    wall = at(change).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    walls = [wall + timedelta(minutes=5 * step) for step in range(-400, 401)]
    found = [moment(each, ZoneInfo(zone)) for each in walls]
    assert found == sorted(found)


def by_the_wall(calendar: Calendar, start: datetime, end: datetime) -> list[bool]:
    """The other way round, five minutes at a time: a clock that is put back stands still until it is past again."""
    zone, wall, found = ZoneInfo(calendar.zone), datetime.min, []  # noqa: DTZ901  A wall has no zone.
    moved = start - timedelta(days=2)
    while moved < end:
        wall = max(wall, moved.astimezone(zone).replace(tzinfo=None))
        if moved >= start:
            minute = wall.hour * 60 + wall.minute
            found.append(any(first <= minute < until for first, until in calendar.hours(wall.date())))
        moved += timedelta(minutes=5)
    return found


@settings(max_examples=60)
@given(st.sampled_from(CHANGES), weeks, st.integers(-200, 200))
def test_working_time_is_what_the_clock_on_the_wall_says(
    change: tuple[str, str], week: tuple[Hours], step: int
) -> None:
    calendar = Calendar(change[0], week)
    start = at(change[1]) + timedelta(minutes=5 * step)
    end = start + timedelta(days=3)
    spans = list(working(calendar, start, end))
    told = [start + timedelta(minutes=5 * place) for place in range(3 * 24 * 12)]
    assert [any(opens <= each < closes for opens, closes in spans) for each in told] == by_the_wall(
        calendar, start, end
    )


@settings(max_examples=150)
@given(st.sampled_from(ZONES), weeks, moments, st.integers(1, 30 * 24 * HOUR))
def test_between_a_beginning_and_its_deadline_lies_just_that_much_work(
    zone: str, week: tuple[Hours], start: datetime, wanted: int
) -> None:
    calendar = Calendar(zone, week)
    end = deadline(start, wanted, calendar)
    if end < start + timedelta(days=3660):
        spans = list(working(calendar, start, end))
        assert seconds(spans) == wanted
        assert spans[-1][1] == end
        assert all(one[1] < two[0] for one, two in pairwise(spans))


@given(st.sampled_from(ZONES), weeks, moments, st.integers(1, 200_000), st.integers(1, 200_000))
@settings(max_examples=60)
def test_more_working_time_is_never_earlier(
    zone: str, week: tuple[Hours], start: datetime, less: int, more: int
) -> None:
    one, two = (deadline(start, each, Calendar(zone, week)) for each in (less, less + more))
    assert start + timedelta(seconds=less) <= one < two


def test_a_calendar_that_hardly_works_still_ends() -> None:
    seldom = Calendar("Europe/Oslo", ((), (), (), (), ((540, 541),), (), ()))
    start = at("2026-11-30T00:00")
    assert deadline(start, 366 * 24 * HOUR, seldom) == start + timedelta(days=3660)


def test_holidays_are_free_and_own_days_say_otherwise() -> None:
    german = Calendar(
        "Europe/Berlin",
        office("x").week,
        days={date(2026, 12, 24): ((540, 720),), date(2026, 12, 31): (), date(2027, 1, 6): ((540, 1020),)},
        country="DE",
        subdivision="BW",
    )
    assert german.hours(date(2026, 12, 23)) == ((540, 1020),)
    assert german.hours(date(2026, 12, 24)) == ((540, 720),)
    assert [german.hours(date(2026, 12, day)) for day in (25, 31)] == [(), ()]
    assert german.hours(date(2027, 1, 6)) == ((540, 1020),)
    assert german.hours(date(2028, 1, 6)) == ()
    start = at("2026-12-23T16:00", "Europe/Berlin")
    assert deadline(start, 5 * HOUR, german) == at("2026-12-28T10:00", "Europe/Berlin")


def test_holidays_are_those_of_the_part_of_the_country_years_ahead() -> None:
    assert date(2041, 1, 6) in free_days.of("DE", "BW", 2041)
    assert date(2041, 1, 6) not in free_days.of("DE", "BE", 2041)
    assert free_days.named("DE", "", 2026, language="en")[date(2026, 12, 25)] == "Christmas Day"


def test_a_moment_is_working_time_or_it_is_not() -> None:
    office_hours = office("Europe/Oslo")
    told = {"08:59": False, "09:00": True, "16:59": True, "17:00": False}
    assert {each: is_working(office_hours, at(f"2026-11-30T{each}", "Europe/Oslo")) for each in told} == told


@pytest.mark.parametrize(
    ("now", "begins", "ends", "wanted"),
    [
        ("2026-11-30T23:00", "22:00", "07:00", "2026-12-01T07:00"),
        ("2026-11-30T06:59", "22:00", "07:00", "2026-11-30T07:00"),
        ("2026-11-30T07:00", "22:00", "07:00", None),
        ("2026-11-30T12:30", "12:00", "13:00", "2026-11-30T13:00"),
        ("2026-11-30T11:59", "12:00", "13:00", None),
        ("2026-03-29T01:30", "22:00", "02:30", "2026-03-29T03:00"),
        ("2026-11-30T12:00", "00:00", "00:00", "2026-12-01T00:00"),
    ],
)
def test_a_daily_window_may_run_past_midnight(now: str, begins: str, ends: str, wanted: str | None) -> None:
    found = window_end(
        at(now, "Europe/Oslo"), begins=time.fromisoformat(begins), ends=time.fromisoformat(ends), zone="Europe/Oslo"
    )
    assert found == (at(wanted, "Europe/Oslo") if wanted else None)
