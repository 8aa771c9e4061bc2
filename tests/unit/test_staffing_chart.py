"""The hours of a rule drawn: every minute of each day once, on the reader's clock, also where the clock changes."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from approvals.coverage import Stretch
from approvals.pages.hours import Part, by_day
from approvals.pages.staffing_chart import chart

BERLIN = ZoneInfo("Europe/Berlin")


def stretch(start: datetime, hours: float, *, short: int = 0, tight: bool = False) -> Stretch:
    return Stretch(start, start + timedelta(hours=hours), (), short, tight)


@pytest.mark.parametrize("day", [date(2026, 3, 28), date(2026, 10, 24), date(2026, 6, 1)])
def test_days_are_cut_at_the_readers_midnights(day: date) -> None:
    start = datetime.combine(day, datetime.min.time(), BERLIN).astimezone(UTC)
    ends = datetime.combine(day + timedelta(days=3), datetime.min.time(), BERLIN).astimezone(UTC)
    with timezone.override(BERLIN):
        found = by_day([Stretch(start, ends, (), 0)])
    assert list(found) == [day + timedelta(days=number) for number in range(3)]
    assert set(map(tuple, found.values())) == {(Part(0, 1440, 0, "yes"),)}


def test_a_bar_stands_where_its_hours_are_and_solid_ones_carry_no_number() -> None:
    start = datetime(2026, 6, 1, tzinfo=UTC)
    parts = [stretch(start, 8, short=1), stretch(start + timedelta(hours=8), 10, tight=True)]
    with timezone.override(UTC):
        (day,) = chart(by_day([*parts, stretch(start + timedelta(hours=18), 6)])).days
    assert [(bar.fill, bar.x, bar.width, bar.number) for bar in day.bars] == [
        ("fill-none", "60.0", "100.0", ""),
        ("fill-one", "160.0", "125.0", "0"),
        ("fill-ok", "285.0", "75.0", "0"),
    ]
