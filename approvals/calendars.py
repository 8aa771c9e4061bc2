"""Working time: pure sums of seconds over days, zones, holidays and clock changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from approvals import free_days

Hours = tuple[tuple[int, int], ...]
"""The working hours of a local day: spans of minutes from its midnight, in order, none touching another's inside."""
Span = tuple[datetime, datetime]
"""From one moment to another, both in UTC, where sums know no clock change; the second is outside."""

MIDNIGHT = 24 * 60
HORIZON = timedelta(days=3660)
"""How far ahead a deadline may lie: where so little is worked that it would be later, it is then."""


@dataclass(frozen=True)
class Calendar:
    """When people work: `week` from Monday on, `days` in the place of what the week and the holidays say."""

    zone: str
    week: tuple[Hours, ...]
    days: Mapping[date, Hours] = field(default_factory=dict)
    country: str = ""
    subdivision: str = ""

    def hours(self, day: date) -> Hours:
        """The working hours of a local day."""
        if day in self.days:
            return self.days[day]
        if self.country and day in free_days.of(self.country, self.subdivision, day.year):
            return ()
        return self.week[day.weekday()]


NINE_TO_FIVE: Hours = ((9 * 60, 17 * 60),)
OFFICE_WEEK: tuple[Hours, ...] = (*[NINE_TO_FIVE] * 5, (), ())


def office(zone: str) -> Calendar:
    """Monday to Friday, 9 to 17, without holidays: what a tenant begins with."""
    return Calendar(zone, OFFICE_WEEK)


def deadline(start: datetime, seconds: int, calendar: Calendar | None = None) -> datetime:
    """The moment `seconds` after `start`, of the clock or of the calendar's working time; at most `HORIZON` ahead."""
    start = start.astimezone(UTC)
    left = timedelta(seconds=seconds)
    if calendar is None:
        return start + left
    for opens, closes in working(calendar, start, start + HORIZON):
        if left <= closes - opens:
            return opens + left
        left -= closes - opens
    return start + HORIZON


def working(calendar: Calendar, start: datetime, end: datetime) -> Iterator[Span]:
    """The working time from `start` to `end`, in order, as spans that do not touch."""
    held: Span | None = None
    for opens, closes in _days(calendar, start.astimezone(UTC), end.astimezone(UTC)):
        if held and held[1] == opens:
            held = held[0], closes
            continue
        if held:
            yield held
        held = opens, closes
    if held:
        yield held


def is_working(calendar: Calendar, at: datetime) -> bool:
    """Whether the moment is working time."""
    return any(working(calendar, at, at + timedelta(microseconds=1)))


def window_end(at: datetime, *, begins: time, ends: time, zone: str) -> datetime | None:
    """When the daily window that `at` lies in closes, or None outside of it; one that ends before it begins ends
    the day after. Equal times are the whole day."""
    local = ZoneInfo(zone)
    today = at.astimezone(local).date()
    for day in (today - timedelta(days=1), today):
        last = day if begins < ends else day + timedelta(days=1)
        opens, closes = moment(datetime.combine(day, begins), local), moment(datetime.combine(last, ends), local)
        if opens <= at < closes:
            return closes
    return None


def moment(local: datetime, zone: ZoneInfo) -> datetime:
    """When the zone's clock first shows this local time, in UTC.

    A time that is shown twice means the first; one that is skipped means the moment of the change. So a later local
    time is never an earlier moment, and hours that follow each other on the wall neither overlap nor gape.
    """
    shown = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if _wall(shown, zone) == local:
        return shown
    before, after = local.replace(tzinfo=zone, fold=1).astimezone(UTC), shown
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        before, after = (middle, after) if _wall(middle, zone) < local else (before, middle)
    return after


def _wall(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)


def _days(calendar: Calendar, start: datetime, end: datetime) -> Iterator[Span]:
    """The spans of each local day, cut to the period; the day before it may reach into it at a clock change."""
    zone = ZoneInfo(calendar.zone)
    day = start.astimezone(zone).date() - timedelta(days=1)
    last = end.astimezone(zone).date()
    while day <= last:
        for first, until in calendar.hours(day):
            opens, closes = max(_at(day, first, zone), start), min(_at(day, until, zone), end)
            if opens < closes:
                yield opens, closes
        day += timedelta(days=1)


def _at(day: date, minute: int, zone: ZoneInfo) -> datetime:
    return moment(datetime.combine(day, time()) + timedelta(minutes=minute), zone)
