"""Escalation policies: who is asked next and when, as pure schedules over what an admin wrote."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals import calendars, working_hours
from approvals.calendars import Calendar
from approvals.models import EscalationPolicy
from approvals.rosters import Someone
from tenants.rows import Rows

_POLICIES = Rows(EscalationPolicy, "r.tenant_id = (SELECT app_tenant()) AND r.id = ANY ($1::uuid[])")


@dataclass(frozen=True)
class Level:
    """People who are asked as well, `after` seconds from the request's opening."""

    after: int
    groups: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    rotations: frozenset[str] = frozenset()

    def names(self, someone: Someone) -> str:
        """As what this level asks them: "level" for one named or in a group of it, the id of the rotation in which
        they are on call, or "" where it does not."""
        if str(someone.id) in self.members or not self.groups.isdisjoint(someone.groups):
            return "level"
        return min(self.rotations & someone.on_call, default="")


@dataclass(frozen=True)
class Rung:
    """One step of the schedule: when, which level it reaches, and whether it only repeats the asking."""

    at: datetime
    level: int
    repeat: bool


def level_from_json(written: Mapping[str, Any]) -> Level:
    """The level as an admin wrote it."""
    people = (frozenset(written.get(kind, ())) for kind in ("groups", "members", "rotations"))
    return Level(int(written["after"]), *people)


@dataclass(frozen=True)
class Levels:
    """A policy's levels in their order; the whole list is gone through `repeats` times more.

    Their times are of the clock, or of the working time of `calendar`.
    """

    levels: tuple[Level, ...] = ()
    repeats: int = 0
    calendar: Calendar | None = None

    @property
    def rotations(self) -> frozenset[str]:
        """The rotations that any level asks."""
        return frozenset().union(*(level.rotations for level in self.levels))


NONE = Levels()


def levels_of(policies: Iterable[UUID]) -> dict[UUID | None, Levels]:
    """The levels of each of these policies, with one query, and two more for each in working time."""
    wanted = list(policies)
    found = _POLICIES.all([str(each) for each in wanted]) if wanted else ()
    return {each.id: _levels(each) for each in found}


def _levels(row: EscalationPolicy) -> Levels:
    calendar = working_hours.calendar_of(row.calendar_id) if row.working_time else None
    return Levels(tuple(level_from_json(level) for level in row.levels), row.repeats, calendar)


def schedule(escalation: Levels, *, opened_at: datetime) -> tuple[Rung, ...]:
    """When each level is reached; the whole list comes again `repeats` times, then no more."""
    levels = escalation.levels
    if not levels:
        return ()
    cycle = max(levels[-1].after, 1)
    return tuple(
        Rung(
            at=calendars.deadline(opened_at, turn * cycle + level.after, escalation.calendar),
            level=index if turn == 0 else len(levels),
            repeat=turn > 0,
        )
        for turn in range(escalation.repeats + 1)
        for index, level in enumerate(levels, start=1)
    )
