"""Who is on call: turns handed over at a local time, and exceptions to them; pure."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from approvals.calendars import moment

DAYS = {"day": 1, "week": 7}


@dataclass(frozen=True)
class Override:
    """`member` is on call from `starts` until `ends`, whoever's turn it is."""

    member: UUID
    starts: datetime
    ends: datetime


@dataclass(frozen=True)
class Rota:
    """Turns of `days` days (1 or 7) in the order of `members`; the first begins at `handover` on `first_day`.

    Before that nobody is on call but by an override. Of two overrides at one moment the later one of the tuple counts.
    """

    name: str
    zone: str
    days: int
    handover: time
    first_day: date
    members: tuple[UUID, ...]
    overrides: tuple[Override, ...] = ()


@dataclass(frozen=True)
class Turn:
    """From when until when `member` is on call, None where nobody is left; `instead_of` are those who were passed
    over because they no longer answer requests."""

    starts: datetime
    ends: datetime
    member: UUID | None
    instead_of: tuple[UUID, ...] = ()
    override: bool = False
    begun: bool = True
    """False before the first turn, where `ends` is its beginning or that of an override before it."""


def on_call(rota: Rota, at: datetime, able: Collection[UUID]) -> Turn:
    """The turn at a moment, as far as it reaches without a change; only members in `able` are on call."""
    for override in reversed(rota.overrides):
        if override.starts <= at < override.ends and override.member in able:
            return _cut(rota, Turn(override.starts, override.ends, override.member, override=True), at)
    number = _number(rota, at)
    if number < 0:
        return _cut(rota, Turn(_begins(rota, number), _begins(rota, 0), None, begun=False), at)
    member, passed = _whose(rota, number, able)
    return _cut(rota, Turn(_begins(rota, number), _begins(rota, number + 1), member, passed), at)


def turns(rota: Rota, start: datetime, end: datetime, able: Collection[UUID]) -> Iterator[Turn]:
    """The turns from `start` to `end`, without a gap, in order; the first and the last whole."""
    held: Turn | None = None
    at = start
    while at < end:
        turn = on_call(rota, at, able)
        if held and _goes_on(held, turn):
            held = replace(held, ends=turn.ends)
        else:
            if held:
                yield held
            held = turn
        at = turn.ends
    if held:
        yield held


def begins(rota: Rota) -> datetime:
    """When the first turn begins."""
    return _begins(rota, 0)


def people(rota: Rota) -> frozenset[UUID]:
    """Everyone who has a turn, by the order or by an override."""
    return frozenset(rota.members) | {each.member for each in rota.overrides}


def _goes_on(before: Turn, after: Turn) -> bool:
    """Whether it is one override, or the time before the first turn, that another override's edge merely cuts."""
    if not before.begun and not after.begun:
        return True
    return before.override and after.override and before.member == after.member


def _cut(rota: Rota, turn: Turn, at: datetime) -> Turn:
    """The turn up to the nearest moment on either side at which an override begins or ends."""
    edges = [edge for each in rota.overrides for edge in (each.starts, each.ends)]
    starts = max([turn.starts, *[edge for edge in edges if edge <= at]])
    ends = min([turn.ends, *[edge for edge in edges if edge > at]])
    return replace(turn, starts=starts, ends=ends)


def _whose(rota: Rota, number: int, able: Collection[UUID]) -> tuple[UUID | None, tuple[UUID, ...]]:
    """Whose turn it is, and who was passed over for it: the next in the order who is able takes the place."""
    passed: list[UUID] = []
    for step in range(len(rota.members)):
        member = rota.members[(number + step) % len(rota.members)]
        if member in able:
            return member, tuple(passed)
        passed.append(member)
    return None, tuple(passed)


def _number(rota: Rota, at: datetime) -> int:
    """How many turns after the first one `at` lies; negative before it."""
    day = at.astimezone(ZoneInfo(rota.zone)).date()
    number = (day - rota.first_day).days // rota.days + 1  # The turn after that of this day's beginning.
    while _begins(rota, number) > at:
        number -= 1
    return number


def _begins(rota: Rota, number: int) -> datetime:
    day = rota.first_day + timedelta(days=number * rota.days)
    return moment(datetime.combine(day, rota.handover), ZoneInfo(rota.zone)).astimezone(UTC)
