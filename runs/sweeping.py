"""What time alone brings about: each due run is handled alone, under its lock, read again, by everybody's door."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now

from runs import bells, states, unsettled
from runs.command import Command, command
from runs.models import AgentVersion, Run
from tenants import broker, exact_json, locks, prepared
from tenants.actors import SYSTEM
from tenants.doors import due
from tenants.scope import scope

_RECOVER = prepared.statement("journal_recover", "uuid uuid integer jsonb")
_ANSWERS = "SELECT * FROM due_answers($1::int, make_interval(secs => $2::float8))"
logger = logging.getLogger(__name__)
BATCH = 200
ADVANCE = "runs.tasks.advance"
ANSWERED_WITHIN = 3600.0
"""Seconds for which the sweep looks back at answers; a whole hour without a sweep is an outage."""


def sweep() -> None:
    """Handle what is due now; a run that cannot be handled hinders no other and comes again."""
    leases(BATCH)
    deadlines(BATCH)
    answers(BATCH)
    runs(BATCH)


def leases(limit: int = BATCH) -> int:
    """Runs whose holder is gone: queued again, or ended where the run has finished. How many there were."""
    return _each(due("leases", limit), _recover)


def runs(limit: int = BATCH) -> int:
    """Runs whose time has come: parked ones are queued, queued ones announced again or, unknown to all, set aside."""
    return _each(due("runs", limit), _due)


def deadlines(limit: int = BATCH) -> int:
    """Unfinished runs past their deadline fail, whatever their state."""
    return _each(due("deadlines", limit), _expire)


def answers(limit: int = BATCH) -> int:
    """Parked runs whose answer was given and not heard."""
    found = prepared.every(_ANSWERS, (str(limit), str(ANSWERED_WITHIN)))
    return _each([(tenant, run) for tenant, run in found], _answered)


def _each(found: list[tuple[UUID, UUID]], handle: Callable[[UUID, UUID], None]) -> int:
    for tenant, run in found:
        try:
            handle(tenant, run)
        except Exception:
            logger.exception("Run %s could not be looked at; the next sweep tries again.", run)
    return len(found)


def _recover(tenant: UUID, run: UUID) -> None:
    actor = exact_json.dumps(SYSTEM.packed())
    values = (str(tenant), str(run), str(settings.CRASH_LOOP), actor)
    with _patiently(tenant):
        locks.hold(f"run:{run}")
        (status,) = prepared.one(_RECOVER, values)
        if status in states.FINISHED:
            unsettled.tell(run)  # In one commit: what is recovered is not found again.
    bells.moved(tenant)
    bells.unsettled(tenant)
    if status in {states.QUEUED, *states.FINISHED}:
        broker.publish(ADVANCE, tenant, run)  # A finished one, so that a worker asks what became of the call.


@contextmanager
def _patiently(tenant: UUID) -> Iterator[None]:
    with scope(tenant):
        locks.patiently()
        yield


def _due(tenant: UUID, run: UUID) -> None:
    with _patiently(tenant):
        door = command(run, actor=SYSTEM)
        found = door.run
        if found.due_at is None:
            return
        if found.status == states.QUEUED:
            _announce(door)
        elif found.reason == "version":
            _wake_if_known(door)
        else:
            door.wake("due")


def _expire(tenant: UUID, run: UUID) -> None:
    with _patiently(tenant):
        door = command(run, actor=SYSTEM)
        if door.run.status not in states.FINISHED:
            door.move(states.FAILED, reason="deadline", message="The run's deadline passed before it was done.")


def _answered(tenant: UUID, run: UUID) -> None:
    with _patiently(tenant):
        command(run, actor=SYSTEM).wake("answered")


def _announce(door: Command) -> None:
    if _known(door.run, within=settings.VERSION_GRACE):
        broker.publish(ADVANCE, door.run.tenant_id, door.run.pk)
        _postpone(door.run, settings.SWEEP_SECONDS)
    else:
        door.move(states.ATTENTION, reason="version", message="No worker knows the version this run is pinned to.")


def _wake_if_known(door: Command) -> None:
    if _known(door.run, within=0):
        door.wake("version")
    else:
        _postpone(door.run, max(1.0, settings.SWEEP_SECONDS))


def _known(run: Run, *, within: float) -> bool:
    """Whether a live worker knows the run's version, or did so at most this many seconds ago."""
    since = Now() - timedelta(seconds=within)
    return AgentVersion.objects.filter(agent=run.agent, version=run.version, known_until__gt=since).exists()


def _postpone(run: Run, seconds: float) -> None:
    Run.objects.filter(pk=run.pk).update(due_at=Now() + timedelta(seconds=seconds))
