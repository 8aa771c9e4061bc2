"""Deadlines: of the clock, exactly; of working time, over days, weekends and clock changes."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.calendars import deadline, office

OSLO = ZoneInfo("Europe/Oslo")
HOUR = 3600


@pytest.mark.parametrize("day", [datetime(2026, 3, 28, 12, tzinfo=OSLO), datetime(2026, 10, 24, 12, tzinfo=OSLO)])
def test_a_day_of_the_clock_is_86400_seconds_also_over_a_clock_change(day: datetime) -> None:
    end = deadline(day, 24 * HOUR)
    assert end.astimezone(UTC) - day.astimezone(UTC) == timedelta(seconds=86400)


@pytest.mark.parametrize(
    ("start", "hours", "wanted"),
    [
        ("2026-11-27T16:00", 2, "2026-11-30T10:00"),
        ("2026-11-28T12:00", 1, "2026-11-30T10:00"),
        ("2026-11-26T07:00", 8, "2026-11-26T17:00"),
        ("2026-11-26T10:00", 8, "2026-11-27T10:00"),
        ("2026-03-27T16:00", 2, "2026-03-30T10:00"),
        ("2026-11-26T20:00", 1, "2026-11-27T10:00"),
    ],
)
def test_working_time_stands_still_at_night_and_on_weekends(start: str, hours: int, wanted: str) -> None:
    begin = datetime.fromisoformat(start).replace(tzinfo=OSLO)
    end = deadline(begin, hours * HOUR, office("Europe/Oslo"))
    assert end.astimezone(OSLO) == datetime.fromisoformat(wanted).replace(tzinfo=OSLO)


@given(st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)), st.integers(1, 200_000), st.integers(1, 200_000))  # noqa: DTZ001
def test_more_working_time_is_never_earlier(start: datetime, less: int, more: int) -> None:
    begin = start.replace(tzinfo=UTC)
    ends = [deadline(begin, n, office("Asia/Tokyo")) for n in (less, less + more)]
    assert begin < ends[0] < ends[1]
    assert ends[0] - begin >= timedelta(seconds=less)
