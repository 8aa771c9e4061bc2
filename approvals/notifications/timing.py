"""When a notice leaves: at once, with the next digest, or after the quiet hours. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

DIGESTS = ("none", "hourly", "daily")
DAILY_AT = time(8)


@dataclass(frozen=True)
class Wish:
    """How a member wishes to be told; `off` holds `kind:transport`, `quiet` a beginning and an end in `zone`."""

    zone: ZoneInfo
    digest: str = "none"
    quiet: tuple[time, time] | None = None
    off: frozenset[str] = frozenset()

    def hears(self, kind: str, transport: str) -> bool:
        """Whether the member wants this kind of notice by this transport."""
        return f"{kind}:{transport}" not in self.off


def read(found: Mapping[str, Any] | None, zone: str) -> Wish:
    """The wish as its row writes it; none is the plain one."""
    if not found:
        return Wish(ZoneInfo(zone))
    begins, ends = found["quiet_from"], found["quiet_until"]
    quiet = (_time(begins), _time(ends)) if begins is not None and ends is not None else None
    return Wish(ZoneInfo(zone), found["digest"], quiet, frozenset(found["off"]))


def leaves_at(now: datetime, wish: Wish) -> datetime | None:
    """When a notice that can wait leaves; None means at once. Never before `now`, never within the quiet hours."""
    at = _digest(now, wish)
    at = _after_quiet(at, wish)
    return at if at > now else None


def _digest(now: datetime, wish: Wish) -> datetime:
    local = now.astimezone(wish.zone)
    if wish.digest == "hourly":
        into = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        return now + timedelta(hours=1) - into
    return _next(now, DAILY_AT, wish.zone) if wish.digest == "daily" else now


def _after_quiet(at: datetime, wish: Wish) -> datetime:
    if wish.quiet is None:
        return at
    begins, ends = wish.quiet
    clock = at.astimezone(wish.zone).time()
    inside = begins <= clock < ends if begins < ends else clock >= begins or clock < ends
    return _next(at, ends, wish.zone) if inside else at


def _next(now: datetime, clock: time, zone: ZoneInfo) -> datetime:
    """The next moment after `now` at which clocks in the zone show `clock`, or jump over it."""
    today = now.astimezone(zone).date()
    days = (today + timedelta(days=n) for n in (0, 1))
    moments = (datetime.combine(day, clock, zone).replace(fold=fold) for day in days for fold in (0, 1))
    utc = (moment.astimezone(now.tzinfo) for moment in moments)
    # Where clocks jump over the time, one of the two readings lies before the jump, and shows an earlier time.
    return min(moment for moment in utc if moment > now and moment.astimezone(zone).time() >= clock)


def _time(value: Any) -> time:
    return value if isinstance(value, time) else time.fromisoformat(str(value))
