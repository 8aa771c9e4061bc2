"""The list of runs: what narrows it, and where it goes on; by keyset, newest first, never by offset."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from approvals.models import Asked
from runs.access import visible
from runs.models import Run, Step
from runs.states import ATTENTION, FINISHED, SLEEPING, UNFINISHED, WAITING
from tenants.models import Member
from tenants.paging import Slice, page

WINDOW = timedelta(days=90)
OPEN = "open"
KINDS = ("approval", "outcome", "time", "attention")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a list of runs is narrowed to; an empty field narrows nothing.

    `status` is a state, several with commas, or `open` for every unfinished one. `label` is `name` or
    `name=value`. `waiting_on` is approval, outcome, time, attention, or a member's id. `q` searches the
    titles of the last 90 days.
    """

    status: str = ""
    agent: str = ""
    label: str = ""
    waiting_on: str = ""
    since: datetime | None = None
    q: str = ""

    @property
    def statuses(self) -> frozenset[str]:
        """The states asked for, `open` spelled out."""
        given = {each.strip() for each in self.status.split(",") if each.strip()}
        return frozenset(given - {OPEN}) | (UNFINISHED if OPEN in given else frozenset())


def runs(member: Member, wanted: Wanted, *, cursor: str | None = None, limit: int | None = None) -> Slice[Run]:
    """A page of the runs that this member may read, newest first. Refusal 400 for a cursor that is none."""
    return page(narrowed(visible(member), wanted), by=["-created_at", "-id"], cursor=cursor, limit=limit)


def narrowed(rows: "QuerySet[Run]", wanted: Wanted) -> "QuerySet[Run]":
    """These runs, narrowed."""
    if wanted.status:
        rows = rows.filter(status__in=wanted.statuses)
    if wanted.agent:
        rows = rows.filter(agent=wanted.agent)
    if wanted.since:
        rows = rows.filter(created_at__gte=wanted.since)
    if wanted.q:
        rows = rows.filter(title__icontains=wanted.q, created_at__gte=timezone.now() - WINDOW)
    if wanted.label:
        rows = _labelled(rows, wanted.label)
    return rows.filter(_waiting(wanted.waiting_on)) if wanted.waiting_on else rows


def _labelled(rows: "QuerySet[Run]", label: str) -> "QuerySet[Run]":
    name, given, value = label.partition("=")
    return rows.filter(labels__contains={name: value}) if given else rows.filter(labels__has_key=name)


def _waiting(on: str) -> Q:
    if on == "approval":
        return Q(status=WAITING)
    if on == "time":
        return Q(status=SLEEPING)
    if on == "attention":
        return Q(status=ATTENTION)
    if on == "outcome":
        unknown = Step.objects.filter(run_id=OuterRef("id"), unknown_since__isnull=False, status="unknown")
        return Q(unsettled=True) & Q(Exists(unknown))
    asked = Asked.objects.filter(
        request__subject=OuterRef("subject"), request__status="pending", member=UUID(on), until=None
    )
    return Q(Exists(asked)) & ~Q(status__in=FINISHED)
