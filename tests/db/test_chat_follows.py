"""What a chat channel was told of is followed by how it ended: once, there alone, and never for what was not said."""

from datetime import timedelta
from typing import Any

import pytest

from approvals import channels, clock, escalation, requests, wishes
from approvals.models import Delivery
from approvals.notifications import delivery
from tenants.locks import hold
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import WORKER, a_call, fresh, park
from tests.db.test_chat import room, said
from tests.db.test_escalation import hours_pass
from tests.db.test_notifications import decide, later, rows
from tests.harness.outside import Receiver

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def follows(receiver: Receiver) -> list[dict[str, Any]]:
    """What was said after the question."""
    return [each for each in said(receiver) if "waits for your answer" not in each["title"]]


def test_a_room_hears_once_by_whom_it_was_decided(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    room(ravi, receiver)
    request = park(acme)
    delivery.sweep()
    decide(request, alice, "reject", comment="The customer lied.")
    for _each in range(3):
        delivery.sweep()
    (message,) = follows(receiver)
    assert message["title"].startswith("Refund was rejected")
    assert "Decided by Alice. Nobody need answer any more." in message["message"]
    assert "/t/acme/open/" in message["message"]
    for secret in ("1240", "A-1042", "lied"):
        assert secret not in str(message)


@pytest.mark.parametrize("how", ["decided before it was said", "never taken", "not chosen", "switched off"])
def test_nobody_hears_the_end_of_what_they_were_not_told_of(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver, how: str
) -> None:
    made = room(ravi, receiver)
    receiver.how = 500 if how == "never taken" else 200
    request = park(acme)
    if how != "decided before it was said":
        delivery.sweep()
    with scope(acme.pk):
        if how == "not chosen":
            channels.change(made.channel, actor=actor(ravi), changes={"kinds": ["asked"]})
        if how == "switched off":
            channels.change(made.channel, actor=actor(ravi), changes={"enabled": False})
    decide(request, alice)
    receiver.how = 200
    delivery.sweep()
    assert follows(receiver) == []
    assert not rows(request, kind="decided")


def test_silence_and_a_closed_run_are_told_as_what_they_are(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    room(ravi, receiver)
    silent, closed, moved = park(acme), park(acme), park(acme)
    delivery.sweep()
    hours_pass(silent, 25)
    escalation.handle(acme.pk, silent.pk)
    with scope(acme.pk):
        hold(closed.subject)
        requests.cancel_open(closed.subject, actor=WORKER, because="the run was cancelled")
    delivery.sweep()
    told = {each["title"].partition(" \u00b7 ")[0]: each["message"] for each in follows(receiver)}
    assert set(told) == {"Refund expired: nobody answered", "Refund: nobody is asked any more"}
    assert "It was closed without an answer." in told["Refund: nobody is asked any more"]
    assert fresh(moved).status == "pending"


def test_a_persons_own_channel_hears_it_but_not_of_their_own_answer(
    acme: Tenant, alice: Member, bo: Member, receiver: Receiver
) -> None:
    room(alice, receiver, name="alice", member=alice)
    room(bo, receiver, name="bo", member=bo)
    room(bo, receiver, name="bo-too", member=bo)
    request = park(acme)
    delivery.sweep()
    decide(request, alice)
    delivery.sweep()
    assert [(row.member_id, row.status) for row in rows(request, kind="decided")] == [(bo.pk, "sent")] * 2
    assert len(follows(receiver)) == 2


def test_what_is_being_said_while_it_is_decided_is_followed(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    room(ravi, receiver)
    request = park(acme)
    (row,) = rows(request, transport="chat")
    claimed = delivery.claim(acme.pk, row.pk)
    assert claimed is not None
    decide(request, alice)
    delivery.record(claimed, None)
    delivery.sweep()
    assert len(follows(receiver)) == 1


def test_who_was_told_in_vain_is_not_followed(acme: Tenant, ravi: Member, alice: Member, receiver: Receiver) -> None:
    """It was on its way when the answer came, and then not taken."""
    room(ravi, receiver)
    request = park(acme)
    (row,) = rows(request, transport="chat")
    claimed = delivery.claim(acme.pk, row.pk)
    assert claimed is not None
    decide(request, alice)
    delivery.record(claimed, delivery.Failure("error 500"))
    delivery.sweep()
    assert said(receiver) == []
    with scope(acme.pk):
        assert list(Delivery.objects.filter(kind="decided").values_list("status", "error")) == [
            ("given_up", "no longer needed")
        ]


def test_two_processes_that_end_it_say_it_once(acme: Tenant, ravi: Member, alice: Member, receiver: Receiver) -> None:
    room(ravi, receiver)
    request = park(acme, a_call())
    delivery.sweep()
    hours_pass(request, 25)
    for _each in range(3):
        escalation.sweep()
    assert len(rows(request, kind="decided")) == 1


def test_a_persons_own_channel_hears_it_in_the_morning(
    acme: Tenant, bo: Member, alice: Member, receiver: Receiver
) -> None:
    room(bo, receiver, name="bo", member=bo)
    request = park(acme)
    delivery.sweep()
    with scope(acme.pk):
        now = clock.now()
        quiet = {"from": f"{now - timedelta(hours=1):%H:%M}", "until": f"{now + timedelta(hours=2):%H:%M}"}
        wishes.change(bo, actor=actor(bo), changes={"quiet": quiet, "timezone": "UTC"})
    decide(request, alice)
    delivery.sweep()
    assert follows(receiver) == []
    (row,) = rows(request, kind="decided")
    assert row.due_at is not None
    assert row.due_at > now + timedelta(hours=1)
    with scope(acme.pk):
        wishes.change(bo, actor=actor(bo), changes={"quiet": None})
    later()
    delivery.sweep()
    assert len(follows(receiver)) == 1
