"""The export of events: the story of every run of the tenant, as NDJSON or CSV."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase
from ninja import Query
from pydantic import Field

from runs import askings, listing
from runs.access import SUBJECT
from runs.api.answers import event_answer
from runs.api.reading import wanted
from runs.api.routing import router
from runs.api.schemas import Filter, RunFilters
from runs.listing import Wanted
from runs.models import Run
from tenants import events, streaming, walking
from tenants.bearer import demand
from tenants.frame import short_scopes
from tenants.models import Event, Member
from tenants.requests import KeyRequest
from tenants.scope import scope

COLUMNS = ["run", "agent", "seq", "name", "at", "actor", "message", "data"]
RUNS = 50
BATCH = 500


class ExportQuery(RunFilters):
    """Which runs' events, which of them, and the form of the file."""

    name: Filter = Field("", description="A name such as `run.cancelled`, several with commas")
    format: streaming.Format = "ndjson"


@router.get("/exports/events", tags=["exports"], summary="Export events")
@short_scopes
def export_events(request: KeyRequest, query: Query[ExportQuery]) -> HttpResponseBase:
    """The events of the runs that the list of runs gives for these filters, run by run, each in its order."""
    bearer = demand(request, "audit:read", "admin")
    with scope(bearer.tenant, read_only=True):
        narrow = wanted(query, bearer.member)
    rows = every(bearer.member, narrow, name=query.name)
    return streaming.export(rows, name="events", form=query.format, columns=COLUMNS)


def every(member: Member, narrow: Wanted, *, name: str = "") -> Iterator[dict[str, Any]]:
    """Every event of the runs of the member's tenant that `narrow` leaves; the caller has checked who may ask."""
    runs = walking.walk(member.tenant_id, lambda: _runs(narrow), tell=_batch, batch=RUNS)
    for agents in runs:
        yield from _events(member, agents, {each.strip() for each in name.split(",") if each.strip()})


def _runs(narrow: Wanted) -> "QuerySet[Run]":
    return listing.narrowed(Run.objects.alias(subject=SUBJECT), narrow).only("id", "agent")


def _batch(runs: Sequence[Run]) -> list[dict[str, str]]:
    """One batch as one: the agents by the subjects of their runs."""
    return [{askings.subject(run.id): run.agent for run in runs}]


def _events(member: Member, agents: dict[str, str], names: set[str]) -> Iterator[dict[str, Any]]:
    last: tuple[Any, ...] = ()
    while True:
        with scope(member.tenant_id, read_only=True):
            rows = Event.objects.filter(subject__in=agents, **({"name__in": names} if names else {}))
            rows = rows.filter(pk__gt=last) if last else rows
            found = [events.row(each) for each in rows.order_by("tenant_id", "subject", "seq")[:BATCH]]
        for each in found:
            yield {
                "run": each.subject.removeprefix(askings.PREFIX),
                "agent": agents[each.subject],
                **event_answer(each),
            }
        if len(found) < BATCH:
            return
        last = (member.tenant_id, found[-1].subject, found[-1].seq)
