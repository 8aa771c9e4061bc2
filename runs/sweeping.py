"""What time alone brings about: due runs queued, lost leases recovered, deadlines kept, strangers' versions told."""

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from runs import states, wire
from runs.command import command
from runs.models import Run
from tenants import broker, doors, exact_json
from tenants.actors import SYSTEM
from tenants.scope import scope

logger = logging.getLogger(__name__)
BATCH = 200
_RECOVER = wire.statement("journal_recover", "uuid uuid integer jsonb")

Due = tuple[UUID, UUID]


def sweep() -> None:
    """Handle what is due now, each run alone, under its own lock; one that fails hinders no other."""
    _each(doors.due("leases", BATCH), recover)
    _each(doors.due("deadlines", BATCH), fail_late)
    _each(_rows("SELECT * FROM due_stranded(%s, %s)", BATCH, settings.VERSION_GRACE), strand)
    _each(_rows("SELECT * FROM due_fitting(%s)", BATCH), take_up)
    _each(doors.due("runs", BATCH), wake)


def _each(due: list[Due], act: Callable[[UUID, UUID], None]) -> None:
    for tenant, run in due:
        try:
            act(tenant, run)
        except Exception:
            logger.exception("Run %s could not be looked at; the next sweep tries again.", run)


def _rows(query: str, *values: float) -> list[Due]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [(row[0], row[1]) for row in cursor.fetchall()]


def recover(tenant: UUID, run: UUID) -> None:
    """Queue a run whose holder vanished, or hand it to a person where that came three times at one step."""
    values = (str(tenant), str(run), str(settings.CRASH_LOOP), exact_json.dumps(SYSTEM.as_json()))
    (status,) = wire.one(_RECOVER, values)
    if status in (states.QUEUED, *states.FINISHED):
        broker.publish("runs.tasks.advance", tenant, run)


def wake(tenant: UUID, run: UUID) -> None:
    """Queue a parked run whose time has come; announce a queued one again, in case its message was lost."""
    with scope(tenant):
        door = command(run, actor=SYSTEM)
        if door.run.status == states.QUEUED:
            _announce(tenant, run)
        elif not Run.objects.filter(pk=run, due_at__gt=Now()).exists():
            door.wake("due")


def _announce(tenant: UUID, run: UUID) -> None:
    later = Now() + timedelta(seconds=settings.LEASE_SECONDS)
    if Run.objects.filter(pk=run, status=states.QUEUED, due_at__lte=Now()).update(due_at=later):
        broker.publish("runs.tasks.advance", tenant, run)


def fail_late(tenant: UUID, run: UUID) -> None:
    """Fail a run whose deadline has passed."""
    with scope(tenant):
        door = command(run, actor=SYSTEM)
        if door.run.status in states.UNFINISHED and Run.objects.filter(pk=run, deadline__lte=Now()).exists():
            door.move(states.FAILED, reason="deadline", message="The run's deadline passed.")


def strand(tenant: UUID, run: UUID) -> None:
    """Tell people that no live worker has known the run's version for a long time."""
    with scope(tenant):
        door = command(run, actor=SYSTEM)
        if door.run.status == states.QUEUED:
            message = f"No worker knows {door.run.agent} version {door.run.version}."
            door.move(states.ATTENTION, reason="version", message=message)


def take_up(tenant: UUID, run: UUID) -> None:
    """Queue a run again whose version a live worker knows by now."""
    with scope(tenant):
        door = command(run, actor=SYSTEM)
        if door.run.status == states.ATTENTION and door.run.reason == "version":
            door.wake("version_known")
