"""Stretches of time by the day: cut at the reader's midnights, in the clock times of each day."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.utils.timezone import localtime

from approvals.coverage import Stretch

DAY = 24 * 60


@dataclass(frozen=True)
class Part:
    """A stretch within one local day, in minutes of its clock; `enough` is yes, spare (none to spare) or no."""

    begins: int
    ends: int
    people: int
    enough: str


def by_day(stretches: Iterable[Stretch]) -> dict[date, list[Part]]:
    """The parts of each day, in order."""
    days: dict[date, list[Part]] = {}
    for each in stretches:
        for day, part in _parts(each):
            days.setdefault(day, []).append(part)
    return days


def clock(minutes: int) -> str:
    """Minutes of a day as a clock shows them; the end of the day is 24:00."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _parts(each: Stretch) -> list[tuple[date, Part]]:
    starts, ends = (localtime(at).replace(tzinfo=None) for at in (each.starts, each.ends))
    enough = "no" if each.short else "spare" if each.tight else "yes"
    found = []
    while starts < ends:
        midnight = datetime.combine(starts.date() + timedelta(days=1), time())
        last = DAY if ends >= midnight else _minutes(ends)
        found.append((starts.date(), Part(_minutes(starts), last, len(each.members), enough)))
        starts = midnight
    return found


def _minutes(at: datetime) -> int:
    return at.hour * 60 + at.minute
