"""Thousands of messages for receivers that are dead: they keep nobody else waiting, and end where people see them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from approvals import channels, clock, deliveries
from approvals.models import Channel, Delivery
from approvals.notifications import delivery
from tenants import events
from tenants.locks import hold
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast import runs
from tests.cast.people import actor
from tests.cast.requests import WORKER, park
from tests.db.test_notifications import Server, post
from tests.db.test_webhooks import fares, hook, later, sent
from tests.harness.outside import Receiver

__all__ = ["post"]
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def dead(admin: Member, name: str = "dead") -> channels.Made:
    """A webhook to where nobody listens."""
    with scope(admin.tenant_id):
        return channels.add_webhook(actor=actor(admin), url="http://127.0.0.1:9/", events=["run.commented"], name=name)


def backlog(made: channels.Made, number: int) -> None:
    """So many messages that have been due there for an hour."""
    with scope(made.channel.tenant_id):
        due = clock.now() - timedelta(hours=1)
        Delivery.objects.bulk_create(
            Delivery(
                tenant_id=made.channel.tenant_id,
                channel=made.channel,
                kind="run.commented",
                key=f"{made.channel.name}:{each}",
                transport="webhook",
                address=str(made.channel.pk),
                due_at=due,
                subject="run:x",
                seq=each + 1,
            )
            for each in range(number)
        )


def commented(tenant: Tenant) -> None:
    """The events that the messages are about; a message without its event is not tried."""
    with scope(tenant.pk):
        hold("run:x")
        for _number in range(60):
            events.append("run:x", "run.commented", actor=WORKER)


def swept_until(reached: Callable[[], bool]) -> None:
    """Sweep until then: while threads of a former test still hang, a sweep may find no hand free."""

    def look() -> bool:
        later()
        delivery.sweep()
        return reached()

    runs.so(look, within=60)


@pytest.mark.parametrize(("ways", "each"), [(1, 5000), (7, 30)])
def test_they_keep_nobody_else_waiting(
    post: Server,
    acme: Tenant,
    globex: Tenant,
    ravi: Member,
    alice: Member,
    stranger: Member,
    receiver: Receiver,
    ways: int,
    each: int,
) -> None:
    commented(acme)
    for number in range(ways):
        backlog(dead(ravi, f"dead {number}"), each)
    hook(ravi, receiver)
    hook(stranger, receiver)
    park(acme)
    park(globex)
    delivery.sweep(patience=2.0)
    assert len(receiver.got) == 2
    assert alice.email in [to for to, _text in post.mails]
    tries = [row.attempts for tenant in (acme, globex) for row in sent(tenant, kind="run.commented")]
    assert sum(tries) <= 3 * ways


def test_they_are_given_up_together_and_can_be_seen(acme: Tenant, ravi: Member, alice: Member, settings: Any) -> None:
    settings.OUTBOUND_NETWORKS = ["127.0.0.0/8"]
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    commented(acme)
    made = dead(ravi)
    backlog(made, 2000)
    for number in range(10):
        swept_until(lambda number=number: fares(made).failures > number)
    with scope(acme.pk):
        since = clock.now() - timedelta(seconds=settings.CHANNEL_FAILING_SECONDS + 60)
        Channel.objects.filter(pk=made.channel.pk).update(failing_since=since)
    swept_until(lambda: not fares(made).enabled)
    rows = sent(acme, channel=made.channel)
    assert {row.status for row in rows} == {"given_up"}
    assert sum(row.attempts for row in rows) <= 12
    with scope(acme.pk):
        failed = deliveries.Filters(status="failed", channel=made.channel.pk)
        assert deliveries.listed(failed).count() == 2000
        assert Delivery.objects.filter(kind="channel_off", member=ravi).count() == 1
