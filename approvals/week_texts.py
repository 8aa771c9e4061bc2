"""Working hours as people write them: "09:00 to 17:00", weekdays by name, and days of one's own; pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from approvals.calendars import MIDNIGHT, Hours
from tenants import naming

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MAX_SPANS = 8
MAX_DAYS = 400
Written = list[list[str]]
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)|24:00", re.ASCII)


def hours(written: Any) -> Hours:
    """The spans of a day from `[["09:00", "12:00"], …]`; "24:00" ends a day. Raises ValueError."""
    if not isinstance(written, list) or len(written) > MAX_SPANS:
        raise ValueError(_("A list of at most %(most)s spans is wanted, each with two times.") % {"most": MAX_SPANS})
    spans = sorted(_span(each) for each in written)
    if any(later[0] < earlier[1] for earlier, later in pairwise(spans)):
        raise ValueError(_("The hours of one day must not overlap."))
    return tuple(spans)


def week(written: Any) -> tuple[Hours, ...]:
    """The seven days from `{"monday": hours, …}`; a day that is left out is free. Raises ValueError."""
    if not isinstance(written, Mapping) or set(written) - set(WEEKDAYS):
        raise ValueError(_("The hours of the days from monday to sunday are wanted."))
    found = tuple(hours(written.get(day) or []) for day in WEEKDAYS)
    if not any(found):
        raise ValueError(_("A calendar without working hours would let no deadline pass. Name some."))
    return found


def days(written: Any) -> dict[date, tuple[str, Hours]]:
    """The own days from `[{"date", "name"?, "hours"?}, …]`: without hours a day off. Raises ValueError."""
    if not isinstance(written, list) or len(written) > MAX_DAYS:
        raise ValueError(_("A list of at most %(most)s days is wanted.") % {"most": MAX_DAYS})
    found: dict[date, tuple[str, Hours]] = {}
    for each in written:
        if not isinstance(each, Mapping) or set(each) - {"date", "name", "hours"}:
            raise ValueError(_("A day has date, name and hours."))
        day = _date(each.get("date"))
        if day in found:
            raise ValueError(_("%(day)s stands there twice.") % {"day": day.isoformat()})
        name = each.get("name") or ""
        if not isinstance(name, str) or len(name) > 100:
            raise ValueError(_("A name of at most 100 characters is wanted."))
        if naming.hides(name):
            raise ValueError(str(naming.HIDING))
        found[day] = name.strip(), hours(each.get("hours") or [])
    return dict(sorted(found.items()))


def written_hours(spans: Iterable[tuple[int, int]]) -> Written:
    """The spans as `hours` reads them."""
    return [[_clock(first), _clock(until)] for first, until in spans]


def written_week(spans: Sequence[Hours]) -> dict[str, Written]:
    """The week as `week` reads it, free days included."""
    return {day: written_hours(each) for day, each in zip(WEEKDAYS, spans, strict=True)}


def written_days(own: Mapping[date, tuple[str, Hours]]) -> list[dict[str, Any]]:
    """The own days as `days` reads them."""
    return [
        {"date": day.isoformat(), "name": name, "hours": written_hours(spans)} for day, (name, spans) in own.items()
    ]


def read_hours(text: str) -> Written:
    """The spans that "09:00–12:00, 13:00–17:00" names, as `hours` takes them. Raises ValueError."""
    found = [
        re.fullmatch(r"(\S+?)\s*[-–—~至]\s*(\S+)", part.strip()) for part in re.split(r"[,;，；]", text) if part.strip()
    ]
    if not all(found):
        raise ValueError(_("Hours such as 09:00–12:00, 13:00–17:00 are wanted."))
    return [[_padded(each[1]), _padded(each[2])] for each in found if each]


def read_days(text: str) -> list[dict[str, Any]]:
    """The own days, one a line: "2026-12-24 Christmas Eve 09:00–12:00", without hours a day off. Raises ValueError."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        day, _space, rest = line.partition(" ")
        match = re.fullmatch(r"(.*?)\s*((?:\d{1,2}:\d\d\s*[-–—]\s*\d{1,2}:\d\d[\s,;]*)*)", rest.strip())
        name, told = (match[1], match[2]) if match else (rest, "")
        found.append({"date": day, "name": name.strip(), "hours": read_hours(told)})
    return found


def told_hours(written: Iterable[Sequence[str]]) -> str:
    """The spans as `read_hours` reads them."""
    return ", ".join(f"{first}–{until}" for first, until in written)


def told_days(written: Iterable[Mapping[str, Any]]) -> str:
    """The own days as `read_days` reads them."""
    lines = ((each["date"], each["name"], told_hours(each["hours"])) for each in written)
    return "\n".join(" ".join(filter(None, line)) for line in lines)


def _padded(text: str) -> str:
    return f"0{text}" if len(text) == 4 else text


def _span(written: Any) -> tuple[int, int]:
    if not isinstance(written, list) or len(written) != 2:
        raise ValueError(_("Each span has two times, such as 09:00 and 17:00."))
    first, until = (_minutes(each) for each in written)
    if first >= until:
        raise ValueError(_("Hours end after they begin. What runs past midnight is written on both days."))
    return first, until


def _minutes(written: Any) -> int:
    if not isinstance(written, str) or not _CLOCK.fullmatch(written):
        raise ValueError(_("A time such as 09:00 is wanted."))
    found = int(written[:2]) * 60 + int(written[3:])
    return min(found, MIDNIGHT)


def _date(written: Any) -> date:
    try:
        found = date.fromisoformat(written) if isinstance(written, str) and len(written) == 10 else None
    except ValueError:
        found = None
    if found is None or not 1970 <= found.year <= 2200:
        raise ValueError(_("A date such as 2026-12-24 is wanted."))
    return found


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
