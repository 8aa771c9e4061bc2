"""What keeps the run of an approved call from going on, told to the page of its request."""

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Now

from approvals import outcomes
from approvals.outcomes import Kept
from runs import announcing, askings
from runs.models import AgentVersion, Run
from runs.states import ATTENTION, PAUSED, QUEUED
from tenants import ids


def connect() -> None:
    """Let the page of a request ask."""
    outcomes.KEPT_BY.append(by)


def by(subject: str) -> Kept | None:
    """What keeps this run, None where nothing does; one query.

    A worker that says no more what it knows is believed for as long as it announced; after that nobody takes the run.
    """
    run_id = ids.parse(subject.removeprefix(askings.PREFIX))
    versions = AgentVersion.objects.filter(agent=OuterRef("agent"), version=OuterRef("version"))
    until = Subquery(versions.values("known_until"))
    run = Run.objects.filter(id=run_id).annotate(until=until, now=Now()).first() if run_id else None
    if run is None:
        return None
    agent = f"{run.agent} v{run.version}"
    if run.status == PAUSED:
        return Kept("paused", agent)
    if run.status == QUEUED and run.until and run.until > run.now:
        unheard = announcing.unheard_since(run.until, now=run.now)
        return Kept("silent", agent, unheard) if unheard else None
    if run.status == QUEUED or (run.status == ATTENTION and run.reason == "version"):
        return Kept("version", agent)
    return Kept("attention", agent) if run.status == ATTENTION else None
