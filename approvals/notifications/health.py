"""How a channel fares: it rests after failures in a row, and is switched off where it keeps failing."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Coalesce, Now

from approvals import clock
from approvals.models import Channel, Delivery
from approvals.notifications import outbox
from approvals.notifications.failures import Failure
from tenants import audit, events, locks
from tenants.actors import SYSTEM
from tenants.scope import scope

RESTS_AFTER = 3
REST = timedelta(seconds=60)
LEAST_FAILURES = 10


def closed(row: Delivery) -> str:
    """Why nothing goes out over the delivery's channel, or ""; a test goes out over one that is off."""
    if row.channel is None:
        return ""
    if row.channel.archived_at:
        return "the channel was removed"
    return "" if row.channel.enabled or row.kind == "test" else "the channel is switched off"


def note(tenant: UUID, channel_id: UUID, failure: Failure | None) -> None:
    """Write how a channel fared just now, and let it rest or end where it keeps failing."""
    with scope(tenant):
        mine = Channel.objects.filter(pk=channel_id)
        if failure is None:
            mine.update(failures=0, failing_since=None, not_before=None, last_error="")
            return
        mine.update(failures=F("failures") + 1, failing_since=Coalesce("failing_since", Now()), last_error=failure.why)
        channel = mine.get()
        if channel.failures >= RESTS_AFTER:
            _rest(channel)
        if channel.enabled and (failure.gone or _keeps_failing(channel)):
            switch_off(channel, because=failure.why)


def switch_off(channel: Channel, *, because: str) -> None:
    """Nothing goes out over it until an admin switches it on: they are told, and nobody counts as reached by it."""
    subject = f"channel:{channel.pk}"
    locks.hold(subject)
    Channel.objects.filter(pk=channel.pk).update(enabled=False, off_because=because)
    waiting = Delivery.objects.filter(channel=channel, status="pending")
    waiting.update(status="given_up", error="the channel was switched off", due_at=None, claimed_until=None)
    message = f"{channel.name} keeps failing and was switched off: {because}"
    data = {"channel": str(channel.pk), "kind": channel.kind, "because": "switched_off", "error": because}
    events.append(subject, "notification.failed", actor=SYSTEM, message=message, data=data)
    outbox.tell_of_channel(channel)
    detail = {"name": channel.name, "because": because}
    audit.record("channel.switched_off", actor=SYSTEM, target=subject, detail=detail)


def _keeps_failing(channel: Channel) -> bool:
    if channel.failures < LEAST_FAILURES or channel.failing_since is None:
        return False
    return channel.failing_since <= clock.now() - timedelta(seconds=settings.CHANNEL_FAILING_SECONDS)


def _rest(channel: Channel) -> None:
    """Let what is due there wait a minute, so that it holds up nothing else."""
    until = clock.now() + REST
    Channel.objects.filter(pk=channel.pk).update(not_before=until)
    due = Delivery.objects.filter(channel=channel, status="pending", due_at__lt=until)
    due.exclude(kind="test").update(due_at=until)
