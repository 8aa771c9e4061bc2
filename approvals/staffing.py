"""A rule's people in the two weeks to come: what `coverage` needs to know, read for a body that may not be live."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from approvals import coverage, escalations, working_hours
from approvals.coverage import Absence, Gap, Plan, Stretch
from approvals.escalations import Levels
from approvals.models import Delegation
from approvals.requirements import Demand, Place, Requirement
from approvals.reviewers import Asking
from approvals.rosters import Roster, roster

AHEAD = timedelta(days=14)


@dataclass(frozen=True)
class Staffing:
    """Who could answer what a rule asks, from when until when; nothing where it asks nobody."""

    people: Roster
    since: datetime
    until: datetime
    approvals: int = 0
    stretches: tuple[Stretch, ...] = ()
    gaps: tuple[Gap, ...] = ()
    silence: str = "expire"

    @property
    def short(self) -> timedelta:
        """How long there are too few people in all."""
        return sum((gap.length for gap in self.gaps), timedelta())

    def goes_on(self, gap: Gap) -> bool:
        """Whether these days end before there are enough people again."""
        return gap.stretches[-1] == self.stretches[-1]

    @property
    def uncovered(self) -> timedelta:
        """How long of that lies in gaps in which a request ends before there are enough again."""
        return sum((gap.length for gap in self.gaps if gap.expires), timedelta())


def of(body: Mapping[str, Any]) -> Staffing:
    """Who could answer in the two weeks to come, for a rule's validated body; at most eight queries."""
    people = roster()
    since = people.now.replace(second=0, microsecond=0)
    until = since + AHEAD
    need = _requirement(body)
    if need is None:
        return Staffing(people, since, until)
    plan = Plan(
        people=people,
        ask=Asking(need, 0, _levels(body), agent=_agent(body)),
        calendar=working_hours.calendar_of(body.get("calendar")),
        absences=_absences(since, until),
        working_time=bool(body["working_time"]),
    )
    found = coverage.stretches(plan, since, until)
    holes = coverage.gaps(plan, found, timeout=body["response_timeout"])
    return Staffing(people, since, until, need.approvals, tuple(found), tuple(holes), body["on_timeout"])


def _requirement(body: Mapping[str, Any]) -> Requirement | None:
    """What the rule asks at the most: the default by the strictest of its risks."""
    by_risk = body.get("by_risk")
    approvals = max(by_risk.values()) if by_risk else body["approvals"]
    if body["outcome"] != "require_approval" or approvals == 0:
        return None
    return Requirement("require_approval", (Demand(approvals, tuple(Place(**each) for each in body["of"])),))


def _levels(body: Mapping[str, Any]) -> Levels:
    """The levels that are reached before the request ends."""
    key = body["escalation_policy"]
    every = escalations.levels_of([UUID(key)] if key else []).get(UUID(key) if key else None, escalations.NONE)
    reached = tuple(level for level in every.levels if level.after < body["response_timeout"])
    return Levels(reached, every.repeats, every.calendar)


def _agent(body: Mapping[str, Any]) -> str:
    """The agent whose reviewers may be restricted, where the rule is for one alone."""
    names = body["agents"]
    return str(names[0]) if len(names) == 1 else ""


def _absences(since: datetime, until: datetime) -> tuple[Absence, ...]:
    rows = Delegation.objects.filter(withdrawn_at__isnull=True, ends__gt=since, starts__lt=until)
    return tuple(Absence(row.member_id, row.stand_in_id, row.starts, row.ends) for row in rows.order_by("created_at"))
