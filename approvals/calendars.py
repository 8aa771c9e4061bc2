"""Working time: pure sums of seconds over days, zones and clock changes."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

FROM, TO = time(9), time(17)
WORKDAYS = frozenset(range(5))
_LONGEST = 3660


def deadline(start: datetime, seconds: int, *, working: bool, zone: str) -> datetime:
    """The moment `seconds` after `start`: of the clock, or of working time (Monday to Friday, 9 to 17 in `zone`)."""
    start = start.astimezone(UTC)  # Sums of local times would leap over a clock change.
    if not working:
        return start + timedelta(seconds=seconds)
    left = timedelta(seconds=seconds)
    local = ZoneInfo(zone)
    day = start.astimezone(local).date()
    for _ in range(_LONGEST):
        opens, closes = _hours(day, local)
        begins = max(opens, start)
        if day.weekday() in WORKDAYS and begins < closes:
            if left <= closes - begins:
                return begins + left
            left -= closes - begins
        day += timedelta(days=1)
    return start + timedelta(seconds=seconds)


def _hours(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The working hours of a local day in UTC, where sums know no clock change."""
    return (
        datetime.combine(day, FROM, zone).astimezone(UTC),
        datetime.combine(day, TO, zone).astimezone(UTC),
    )
